//! Cuts the output of a program into plain runs and whole control strings, before the engine sees it.
//!
//! Engines keep an unfinished string however long it grows, and tell nobody of strings they do not know. Here a
//! string is held until it is complete, bounded, and then given to whoever reads it.

/// A clipboard of about 768 KiB; nothing else comes near.
const LONGEST_OSC: usize = 1 << 20;
/// Only short queries come as DCS; images are not shown.
const LONGEST_DCS: usize = 4 << 10;
/// What is kept for the next string; a longer one gives its memory back.
const KEPT: usize = 16 << 10;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Bytes for the engine as they are. May end in an ESC that begins the next piece.
    Plain(&'a [u8]),
    /// A complete OSC without its frame; `bell` says how it ended.
    Osc { body: &'a [u8], bell: bool },
    /// A complete DCS without its frame.
    Dcs(&'a [u8]),
    /// A string that was cancelled, too long, or of a kind that nobody reads (APC, PM, SOS).
    Dropped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Osc,
    Dcs,
    Other,
}

impl Kind {
    /// The string that ESC and this byte begin.
    fn begun_by(byte: u8) -> Option<Kind> {
        match byte {
            b']' => Some(Kind::Osc),
            b'P' => Some(Kind::Dcs),
            b'_' | b'^' | b'X' => Some(Kind::Other),
            _ => None,
        }
    }

    fn longest(self) -> usize {
        match self {
            Kind::Osc => LONGEST_OSC,
            Kind::Dcs => LONGEST_DCS,
            Kind::Other => 0,
        }
    }

    fn ends_with(self, byte: u8) -> bool {
        matches!(byte, ESC | CAN | SUB) || (byte == BEL && self != Kind::Dcs)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// An ESC was given out as the end of a plain run.
    Escape,
    Inside(Kind),
    /// An ESC ended a string. It was not given out: it may be half of ST.
    Ended,
}

#[derive(Debug, Default)]
pub(super) struct Strings {
    state: State,
    body: Vec<u8>,
    too_long: bool,
}

impl Strings {
    /// Takes the next piece off the front of `bytes`; none when what is left only continues a string.
    pub(super) fn next<'a, 'b: 'a>(&'a mut self, bytes: &mut &'b [u8]) -> Option<Piece<'a>> {
        loop {
            match self.state {
                State::Ground | State::Escape => {
                    let run = self.plain_run(bytes);
                    if !run.is_empty() {
                        return Some(Piece::Plain(run));
                    }
                    if bytes.is_empty() {
                        return None;
                    }
                }
                State::Ended => {
                    let (first, rest) = bytes.split_first()?;
                    if *first == b'\\' {
                        self.state = State::Ground;
                        *bytes = rest;
                    } else if let Some(kind) = Kind::begun_by(*first) {
                        self.begin(kind);
                        *bytes = rest;
                    } else {
                        self.state = State::Escape;
                        return Some(Piece::Plain(&[ESC]));
                    }
                }
                State::Inside(kind) => {
                    let end = bytes.iter().position(|byte| kind.ends_with(*byte));
                    let (body, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
                    *bytes = rest;
                    self.keep(kind, body);
                    let (last, rest) = rest.split_first()?;
                    *bytes = rest;
                    self.state = if *last == ESC {
                        State::Ended
                    } else {
                        State::Ground
                    };
                    return Some(self.complete(kind, *last));
                }
            }
        }
    }

    /// Splits off what comes before the next string, and the bytes that introduce it.
    fn plain_run<'a>(&mut self, bytes: &mut &'a [u8]) -> &'a [u8] {
        let all = *bytes;
        let mut at = 0;
        loop {
            if self.state == State::Ground {
                let Some(found) = find_escape(&all[at..]) else {
                    *bytes = &[];
                    return all;
                };
                at += found + 1;
                self.state = State::Escape;
            }
            let Some(byte) = all.get(at) else {
                *bytes = &[];
                return all;
            };
            if let Some(kind) = Kind::begun_by(*byte) {
                self.begin(kind);
                *bytes = &all[at + 1..];
                return &all[..at];
            }
            // Other control characters act and leave the escape sequence open; so do bytes that have no meaning in it.
            if !matches!(*byte, 0..=0x17 | 0x19 | 0x1b..=0x1f | 0x7f..) {
                self.state = State::Ground;
            }
            at += 1;
        }
    }

    fn begin(&mut self, kind: Kind) {
        self.state = State::Inside(kind);
        self.too_long = false;
        self.body.clear();
        self.body.shrink_to(KEPT);
    }

    fn keep(&mut self, kind: Kind, more: &[u8]) {
        if self.too_long || self.body.len() + more.len() > kind.longest() {
            self.too_long = true;
            self.body.clear();
        } else {
            self.body.extend_from_slice(more);
        }
    }

    fn complete(&self, kind: Kind, last: u8) -> Piece<'_> {
        match kind {
            _ if self.too_long || matches!(last, CAN | SUB) => Piece::Dropped,
            Kind::Other => Piece::Dropped,
            Kind::Osc => Piece::Osc {
                body: &self.body,
                bell: last == BEL,
            },
            Kind::Dcs => Piece::Dcs(&self.body),
        }
    }
}

/// The first ESC. Most output has long stretches without one, and whether a block has any is quickly seen.
fn find_escape(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 256;
    let (n, block) = (0..)
        .zip(bytes.chunks(BLOCK))
        .find(|(_, block)| block.contains(&ESC))?;
    let within = block.iter().position(|byte| *byte == ESC)?;
    Some(n * BLOCK + within)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pieces of the input given in these parts, neighbouring plain runs joined.
    fn pieces(parts: &[&[u8]]) -> Vec<String> {
        let mut strings = Strings::default();
        let mut found: Vec<String> = Vec::new();
        for part in parts {
            let mut rest = *part;
            while let Some(piece) = strings.next(&mut rest) {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\x1b', "E");
                match piece {
                    Piece::Plain(run) => match found.last_mut() {
                        Some(last) if last.starts_with("plain ") => last.push_str(&text(run)),
                        _ => found.push(format!("plain {}", text(run))),
                    },
                    Piece::Osc { body, bell } => found.push(format!("osc {} {bell}", text(body))),
                    Piece::Dcs(body) => found.push(format!("dcs {}", text(body))),
                    Piece::Dropped => found.push("dropped".to_owned()),
                }
            }
        }
        found
    }

    #[test]
    fn strings_are_cut_out_whole_however_the_bytes_arrive() {
        for (input, expected) in [
            ("abc", vec!["plain abc"]),
            (
                "a\x1b]0;t\x07b",
                vec!["plain aE", "osc 0;t true", "plain b"],
            ),
            (
                "\x1b]0;t\x1b\\b",
                vec!["plain E", "osc 0;t false", "plain b"],
            ),
            (
                "\x1b]1;x\x1b]2;y\x07",
                vec!["plain E", "osc 1;x false", "osc 2;y true"],
            ),
            (
                "\x1b]1;x\x1b[1mz",
                vec!["plain E", "osc 1;x false", "plain E[1mz"],
            ),
            ("\x1b]1;x\x18z", vec!["plain E", "dropped", "plain z"]),
            ("\x1b_Ga=q\x1b\\z", vec!["plain E", "dropped", "plain z"]),
            (
                "\x1bXs\x07\x1b^p\x07",
                vec!["plain E", "dropped", "plain E", "dropped"],
            ),
            (
                "\x1bP+q544e\x07\x1b\\z",
                vec!["plain E", "dcs +q544e\x07", "plain z"],
            ),
            ("\x1b\n]7;x\x07", vec!["plain E\n", "osc 7;x true"]),
            ("\x1b\x1b]7;x\x07", vec!["plain EE", "osc 7;x true"]),
            ("\x1b(]7\x07", vec!["plain E(]7\x07"]),
            (
                "\x1b[3\x1b]7\x07c",
                vec!["plain E[3E", "osc 7 true", "plain c"],
            ),
            ("\x1b\x18]7\x07", vec!["plain E\x18]7\x07"]),
        ] {
            let input = input.as_bytes();
            let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(pieces(&[input]), expected, "{input:?} at once");
            let single: Vec<&[u8]> = input.chunks(1).collect();
            assert_eq!(pieces(&single), expected, "{input:?} byte by byte");
            for cut in 0..input.len() {
                let (head, tail) = input.split_at(cut);
                assert_eq!(pieces(&[head, tail]), expected, "{input:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn a_string_without_end_is_dropped_and_costs_no_memory() {
        let mut strings = Strings::default();
        let long = vec![b'A'; LONGEST_OSC];
        for kind in [&b"\x1b]52;c;"[..], b"\x1bPq", b"\x1b_G"] {
            assert_eq!(strings.next(&mut &*kind), Some(Piece::Plain(b"\x1b")));
            let mut rest = &kind[2..];
            assert_eq!(strings.next(&mut rest), None);
            for _ in 0..3 {
                assert_eq!(strings.next(&mut &long[..]), None);
            }
            assert!(strings.body.is_empty());
            assert_eq!(strings.next(&mut &b"\x1b"[..]), Some(Piece::Dropped));
            assert_eq!(strings.next(&mut &b"\\"[..]), None);
        }
        strings.begin(Kind::Osc);
        assert!(strings.body.capacity() <= KEPT);
    }

    #[test]
    fn an_escape_is_found_wherever_it_stands() {
        for len in [0, 1, 255, 256, 257, 600] {
            assert_eq!(find_escape(&vec![b'a'; len]), None);
            for at in 0..len {
                let mut bytes = vec![b'a'; len];
                bytes[at] = ESC;
                assert_eq!(find_escape(&bytes), Some(at), "{at} of {len}");
            }
        }
    }
}
