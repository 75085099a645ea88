//! Bytes from the terminal to keys, pastes and the replies to our questions.

/// What came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Key(Key),
    Paste(String),
    /// Lines up (negative) or down.
    Wheel(i32),
    Reply(Reply),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) code: Code,
    pub(super) ctrl: bool,
    pub(super) alt: bool,
    pub(super) shift: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Char(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Esc,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
}

/// A terminal's answer to one of the questions we ask at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// To `CSI ? u`: it speaks the kitty keyboard protocol.
    Keyboard,
    /// To `OSC 7501 ; ?`: it wants to know our state.
    Status,
    /// To `CSI c`, which every terminal answers; what comes later was not answered.
    Device,
    /// To `CSI ? 2026 $ p`: it can hold a frame back until it is whole.
    Frames,
}

impl Key {
    pub(super) const fn plain(code: Code) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
            shift: false,
        }
    }

    pub(super) const fn ctrl(letter: char) -> Self {
        Self {
            ctrl: true,
            ..Self::plain(Code::Char(letter))
        }
    }

    /// The modifiers as kitty and xterm count them: 1 + a bit for each.
    fn with_modifiers(code: Code, modifiers: u32) -> Self {
        let bits = modifiers.saturating_sub(1);
        Self {
            code,
            shift: bits & 1 != 0,
            alt: bits & 2 != 0,
            ctrl: bits & 4 != 0,
        }
    }
}

/// Keeps the bytes of a sequence that is not complete yet.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    held: Vec<u8>,
}

const PASTE_END: &[u8] = b"\x1b[201~";

/// How one step over the held bytes went.
enum Step {
    /// So many bytes are done with, and gave this.
    Took(usize, Option<Input>),
    /// More bytes must come.
    Wait,
}

impl Decoder {
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        self.held.extend_from_slice(bytes);
        let mut inputs = Vec::new();
        let mut done = 0;
        while done < self.held.len() {
            match step(&self.held[done..]) {
                Step::Took(length, input) => {
                    done += length;
                    inputs.extend(input);
                }
                Step::Wait => break,
            }
        }
        self.held.drain(..done);
        inputs
    }

    /// Whether an ESC waits to become a key or the start of a sequence.
    pub(super) fn holds_escape(&self) -> bool {
        self.held == b"\x1b"
    }

    /// No more bytes came: a held ESC was the key.
    pub(super) fn flush(&mut self) -> Vec<Input> {
        if !self.holds_escape() {
            return Vec::new();
        }
        self.held.clear();
        vec![Input::Key(Key::plain(Code::Esc))]
    }
}

fn step(bytes: &[u8]) -> Step {
    match bytes[0] {
        0x1b => escape(bytes),
        _ => match single(bytes) {
            Some((length, key)) => Step::Took(length, key.map(Input::Key)),
            None => Step::Wait,
        },
    }
}

fn escape(bytes: &[u8]) -> Step {
    let Some(second) = bytes.get(1) else {
        return Step::Wait;
    };
    match second {
        b'[' => csi(bytes),
        b']' | b'P' | b'_' | b'^' | b'X' => string(bytes),
        b'O' => match bytes.get(2) {
            Some(letter) => Step::Took(3, cursor_key(*letter, 1)),
            None => Step::Wait,
        },
        0x1b => Step::Took(1, Some(Input::Key(Key::plain(Code::Esc)))),
        _ => match single(&bytes[1..]) {
            Some((length, key)) => Step::Took(
                length + 1,
                key.map(|key| Input::Key(Key { alt: true, ..key })),
            ),
            None => Step::Wait,
        },
    }
}

/// One key that is not an escape sequence; `None` while a UTF-8 letter is incomplete.
fn single(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    let key = match bytes[0] {
        b'\r' => Key::plain(Code::Enter),
        b'\t' => Key::plain(Code::Tab),
        0x7f | 0x08 => Key::plain(Code::Backspace),
        byte @ 1..=0x1a => Key::ctrl(char::from(byte - 1 + b'a')),
        0..=0x1f => return Some((1, None)),
        byte => {
            let length = match byte {
                0..=0x7f => 1,
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => return Some((1, None)),
            };
            let text = bytes.get(..length)?;
            let Some(letter) = std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.chars().next())
            else {
                return Some((1, None));
            };
            return Some((length, Some(Key::plain(Code::Char(letter)))));
        }
    };
    Some((1, Some(key)))
}

/// OSC, DCS and the like, which end in BEL or ST.
fn string(bytes: &[u8]) -> Step {
    let body = &bytes[2..];
    for (at, byte) in body.iter().enumerate() {
        let end = match byte {
            0x07 => at + 1,
            0x1b if body.get(at + 1) == Some(&b'\\') => at + 2,
            _ => continue,
        };
        let answered = bytes[1] == b']' && body[..at] == *b"7501;?";
        return Step::Took(2 + end, answered.then_some(Input::Reply(Reply::Status)));
    }
    Step::Wait
}

fn csi(bytes: &[u8]) -> Step {
    if let Some(rest) = bytes.strip_prefix(b"\x1b[200~") {
        return match rest
            .windows(PASTE_END.len())
            .position(|window| window == PASTE_END)
        {
            Some(end) => Step::Took(
                6 + end + PASTE_END.len(),
                Some(Input::Paste(
                    String::from_utf8_lossy(&rest[..end])
                        .replace("\r\n", "\n")
                        .replace('\r', "\n"),
                )),
            ),
            None => Step::Wait,
        };
    }
    let Some(end) = bytes[2..]
        .iter()
        .position(|byte| (0x40..=0x7e).contains(byte))
    else {
        return Step::Wait;
    };
    let parameters = String::from_utf8_lossy(&bytes[2..2 + end]).into_owned();
    Step::Took(3 + end, sequence(&parameters, bytes[2 + end]))
}

fn sequence(parameters: &str, last: u8) -> Option<Input> {
    let number = |index: usize| -> Option<u32> {
        parameters
            .split(';')
            .nth(index)?
            .split(':')
            .next()?
            .parse()
            .ok()
    };
    match last {
        b'u' if parameters.starts_with('?') => Some(Input::Reply(Reply::Keyboard)),
        b'c' if parameters.starts_with('?') => Some(Input::Reply(Reply::Device)),
        b'y' if parameters.starts_with("?2026;1") || parameters.starts_with("?2026;2") => {
            Some(Input::Reply(Reply::Frames))
        }
        b'M' if parameters.starts_with('<') => match parameters[1..].split(';').next() {
            Some("64") => Some(Input::Wheel(-3)),
            Some("65") => Some(Input::Wheel(3)),
            _ => None,
        },
        b'u' => {
            // The third part of `modifiers:event` is a release, which says nothing new.
            let released = parameters
                .split(';')
                .nth(1)
                .is_some_and(|part| part.ends_with(":3"));
            let code = from_codepoint(number(0)?)?;
            (!released).then(|| Input::Key(Key::with_modifiers(code, number(1).unwrap_or(1))))
        }
        b'~' => {
            let (code, modifiers) = match number(0)? {
                1 | 7 => (Code::Home, number(1)),
                3 => (Code::Delete, number(1)),
                4 | 8 => (Code::End, number(1)),
                5 => (Code::PageUp, number(1)),
                6 => (Code::PageDown, number(1)),
                27 => (from_codepoint(number(2)?)?, number(1)),
                _ => return None,
            };
            Some(Input::Key(Key::with_modifiers(
                code,
                modifiers.unwrap_or(1),
            )))
        }
        letter => cursor_key(letter, number(1).unwrap_or(1)),
    }
}

fn cursor_key(letter: u8, modifiers: u32) -> Option<Input> {
    let code = match letter {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'M' => Code::Enter,
        _ => return None,
    };
    Some(Input::Key(Key::with_modifiers(code, modifiers)))
}

fn from_codepoint(number: u32) -> Option<Code> {
    Some(match number {
        9 => Code::Tab,
        13 => Code::Enter,
        27 => Code::Esc,
        127 => Code::Backspace,
        // Kitty's private letters for keys without text (keypad, media, modifiers).
        57344..=63743 => return None,
        other => Code::Char(char::from_u32(other).filter(|letter| !letter.is_control())?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: Code) -> Vec<Input> {
        vec![Input::Key(Key::plain(code))]
    }

    #[test]
    fn bytes_become_keys() {
        let with = |code, modifiers| vec![Input::Key(Key::with_modifiers(code, modifiers))];
        for (bytes, expected) in [
            (&b"a"[..], key(Code::Char('a'))),
            ("é".as_bytes(), key(Code::Char('é'))),
            (b"\r", key(Code::Enter)),
            (b"\n", vec![Input::Key(Key::ctrl('j'))]),
            (b"\x1b\r", with(Code::Enter, 3)),
            (b"\x1b[13;2u", with(Code::Enter, 2)),
            (b"\x1b[27;2;13~", with(Code::Enter, 2)),
            (b"\x03", vec![Input::Key(Key::ctrl('c'))]),
            (b"\x1b[99;5u", vec![Input::Key(Key::ctrl('c'))]),
            (b"\x1b[99:67;5:1u", vec![Input::Key(Key::ctrl('c'))]),
            (b"\x1b[99;5:3u", vec![]),
            (b"\x1b[27u", key(Code::Esc)),
            (b"\x1b[A", key(Code::Up)),
            (b"\x1bOD", key(Code::Left)),
            (b"\x1b[1;5C", with(Code::Right, 5)),
            (b"\x1b[3~", key(Code::Delete)),
            (
                b"\x1b[200~a\r\nb\x1b[201~",
                vec![Input::Paste("a\nb".into())],
            ),
            (b"\x1b[<64;3;4M", vec![Input::Wheel(-3)]),
            (b"\x1b[<35;3;4M", vec![]),
            (b"\x1b[I", vec![]),
            (b"\x1b[?1u", vec![Input::Reply(Reply::Keyboard)]),
            (b"\x1b]7501;?\x07", vec![Input::Reply(Reply::Status)]),
            (b"\x1b]7501;?\x1b\\", vec![Input::Reply(Reply::Status)]),
            (b"\x1b]11;rgb:0/0/0\x07", vec![]),
            (b"\x1bP>|term 1\x1b\\", vec![]),
            (b"\x1b[?62;22c", vec![Input::Reply(Reply::Device)]),
            (b"\x1b[?2026;2$y", vec![Input::Reply(Reply::Frames)]),
            (b"\x1b[?2026;0$y", vec![]),
            (b"\xff\x00", vec![]),
        ] {
            assert_eq!(Decoder::default().feed(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_sequence_may_come_in_pieces() {
        let whole = b"a\x1b[200~x\x1b[201~\x1b]7501;?\x07\xc3\xa9\x1b[A";
        let mut at_once = Decoder::default();
        let mut in_bytes = Decoder::default();
        let pieces: Vec<Input> = whole
            .iter()
            .flat_map(|byte| in_bytes.feed(&[*byte]))
            .collect();
        assert_eq!(pieces, at_once.feed(whole));
        assert_eq!(pieces.len(), 5);
    }

    #[test]
    fn a_lone_escape_becomes_the_key_when_nothing_follows() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(b"\x1b"), vec![]);
        assert!(decoder.holds_escape());
        assert_eq!(decoder.flush(), key(Code::Esc));
        assert_eq!(decoder.flush(), vec![]);
    }
}
