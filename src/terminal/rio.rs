//! The engine we use: rio-vt behind a guard.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rio_vt::ansi::CursorShape;
use rio_vt::crosswords::pos::Line as Row;
use rio_vt::crosswords::{Crosswords, CrosswordsSize};
use rio_vt::event::WindowId;
use rio_vt::performer::handler::Processor;

use super::cells::{Cursor, Line, Modes, Size};
use super::damage::{self, Damage, Term};
use super::engine::{Engine, Event, Still, plain};
use super::guard::Guard;
use super::replies::Replies;
use super::side::Side;
use super::status::{self, Report};
use super::strings::{Piece, Strings};
use super::{rows, snapshot};

/// How much the engine takes at once.
const PORTION: usize = 64 << 10;
/// A single column cannot hold a wide character.
const SMALLEST: Size = Size { cols: 2, rows: 1 };
/// No screen is larger, and a mistaken size must not cost gigabytes.
const LARGEST: Size = Size {
    cols: 1000,
    rows: 500,
};
const LONGEST_NOTICE: usize = 500;
/// What the parser sees in place of a string that it is not given: it ends whatever was begun, as the string would.
const NOTHING: &[u8] = b"\x1b\\";

pub(crate) struct Rio {
    strings: Strings,
    machine: Machine,
    scrollback: usize,
}

impl Rio {
    /// A fresh terminal that keeps so many rows of history.
    pub(crate) fn new(size: Size, scrollback: usize) -> Self {
        Rio {
            strings: Strings::default(),
            machine: Machine::new(bounded(size), scrollback, 1),
            scrollback,
        }
    }

    fn feed_portion(&mut self, bytes: &[u8]) {
        self.machine.side.feed_begins();
        let mut rest = bytes;
        while let Some(piece) = self.strings.next(&mut rest) {
            self.machine.take(&piece);
        }
    }

    /// Starts over after a fault of the engine. The screen is lost; the program, which knows nothing of it, goes on.
    fn rebuild(&mut self, size: Size) {
        let before = &mut self.machine.side;
        let revision = before.damage.revision() + 1;
        let events = before.take_events();
        let (title, colors) = (std::mem::take(&mut before.title), before.colors);
        self.strings = Strings::default();
        self.machine = Machine::new(size, self.scrollback, revision);
        self.machine.side.title = title;
        self.machine.side.colors = colors;
        for event in events {
            self.machine.side.announce(event);
        }
    }
}

impl Engine for Rio {
    fn feed(&mut self, bytes: &[u8]) {
        for portion in bytes.chunks(PORTION) {
            let size = self.size();
            let fed = catch_unwind(AssertUnwindSafe(|| {
                self.feed_portion(portion);
                self.machine.settle();
            }));
            if fed.is_err() {
                self.rebuild(size);
            }
        }
    }

    fn resize(&mut self, size: Size) {
        let size = bounded(size);
        if size == self.size() {
            return;
        }
        let resized = catch_unwind(AssertUnwindSafe(|| self.machine.resize(size)));
        if resized.is_err() {
            self.rebuild(size);
        }
    }

    fn size(&self) -> Size {
        damage::size(&self.machine.term)
    }

    fn line(&self, row: u16) -> Line {
        if row < self.size().rows {
            rows::line(&self.machine.term, Row(i32::from(row)))
        } else {
            Line::default()
        }
    }

    fn history_len(&self) -> usize {
        self.machine.term.history_size()
    }

    fn history_line(&self, n: usize) -> Line {
        match self.history_len().checked_sub(n).map(i32::try_from) {
            Some(Ok(above @ 1..)) => rows::line(&self.machine.term, Row(-above)),
            _ => Line::default(),
        }
    }

    fn revision(&self) -> u64 {
        self.machine.side.damage.revision()
    }

    fn changed_since(&self, revision: u64) -> Vec<u16> {
        self.machine.side.damage.changed_since(revision)
    }

    fn cursor(&self) -> Cursor {
        damage::cursor(&self.machine.term)
    }

    fn modes(&self) -> Modes {
        damage::modes(&self.machine.term)
    }

    fn synchronized(&self) -> bool {
        self.machine.term.synchronized_output()
    }

    fn hold(&mut self) {
        self.machine.side.hold = true;
    }

    fn still(&self) -> Option<&Still> {
        self.machine.side.still.as_ref()
    }

    fn take_replies(&mut self) -> Vec<u8> {
        self.machine.side.replies.take()
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.machine.side.take_events()
    }

    fn snapshot(&mut self) -> Vec<u8> {
        self.machine.settle();
        snapshot::take(&mut self.machine.term, &self.machine.side)
    }
}

/// Parser, grid and what stands beside it: all that a fault of the engine may leave broken.
struct Machine {
    parser: Processor,
    term: Term,
    side: Side,
}

impl Machine {
    fn new(size: Size, scrollback: usize, revision: u64) -> Self {
        let replies = Replies::default();
        let term = Crosswords::new(
            cells(size),
            CursorShape::Block,
            replies.clone(),
            WindowId::from(0),
            0,
            scrollback,
        );
        let damage = Damage::new(&term, revision);
        Machine {
            parser: Processor::default(),
            term,
            side: Side::new(replies, damage),
        }
    }

    fn take(&mut self, piece: &Piece<'_>) {
        match *piece {
            Piece::Plain(bytes) => self.advance(&[bytes]),
            Piece::Osc { body, bell } => self.osc(body, bell),
            // XTGETTCAP, and synchronized updates in their older form.
            Piece::Dcs(body) if body.starts_with(b"+q") || body.starts_with(b"=") => {
                self.advance(&[b"\x1bP", body, b"\x1b\\"]);
            }
            Piece::Dcs(_) | Piece::Dropped => self.advance(&[NOTHING]),
        }
    }

    fn osc(&mut self, body: &[u8], bell: bool) {
        let end: &[u8] = if bell { b"\x07" } else { b"\x1b\\" };
        if let Some(rest) = body.strip_prefix(b"7501;") {
            match status::parse(rest) {
                Some(Report::Query) => self.side.replies.push(&[b"\x1b]7501;?", end].concat()),
                Some(Report::Status(status)) => self.side.announce(Event::Status(status)),
                None => {}
            }
        } else if let Some(text) = notice(body) {
            // The engine would cut the text at its first semicolon.
            self.side.announce(Event::Notification {
                title: String::new(),
                body: plain(&String::from_utf8_lossy(text), LONGEST_NOTICE),
            });
        } else if !is_useless(body) {
            self.advance(&[b"\x1b]", body, end]);
            return;
        }
        self.advance(&[NOTHING]);
    }

    fn advance(&mut self, parts: &[&[u8]]) {
        let mut guard = Guard {
            term: &mut self.term,
            side: &mut self.side,
        };
        for part in parts {
            self.parser.advance(&mut guard, part);
        }
    }

    fn settle(&mut self) {
        self.side.damage.settle(&mut self.term);
    }

    fn resize(&mut self, size: Size) {
        self.term.resize(cells(size));
        self.side.region = None;
        self.side.still = None;
        self.side.hold = false;
        self.side.damage = Damage::new(&self.term, self.side.damage.revision() + 1);
        self.settle();
    }
}

/// The text of an OSC 9, which is a notification unless a number comes first.
fn notice(body: &[u8]) -> Option<&[u8]> {
    body.strip_prefix(b"9;")
        .filter(|text| command(text).is_none())
}

/// An OSC 9 with a number that nobody here knows: 4 is progress, 9 the directory.
fn is_useless(body: &[u8]) -> bool {
    let number = body.strip_prefix(b"9;").and_then(command);
    number.is_some_and(|number| number != b"4" && number != b"9")
}

fn command(text: &[u8]) -> Option<&[u8]> {
    let first = text.split(|byte| *byte == b';').next()?;
    (!first.is_empty() && first.len() <= 2 && first.iter().all(u8::is_ascii_digit)).then_some(first)
}

fn bounded(size: Size) -> Size {
    Size {
        cols: size.cols.clamp(SMALLEST.cols, LARGEST.cols),
        rows: size.rows.clamp(SMALLEST.rows, LARGEST.rows),
    }
}

fn cells(size: Size) -> CrosswordsSize {
    CrosswordsSize::new(usize::from(size.cols), usize::from(size.rows))
}

#[cfg(test)]
mod tests {
    use rio_vt::crosswords::pos::Column;

    use super::*;

    /// A cursor outside the grid stands for whatever fault the engine may have.
    #[test]
    fn a_fault_of_the_engine_costs_its_screen_and_nothing_else() {
        let size = Size { cols: 20, rows: 4 };
        let mut engine = Rio::new(size, 10);
        engine.feed(b"\x1b]2;title\x07\x1b[?2004hlost\x1b]2;unfin");
        for fault in [0, 1] {
            let before = engine.revision();
            engine.machine.term.grid.cursor.pos.col = Column(9999);
            engine.machine.term.grid.cursor.pos.row = Row(9999);
            if fault == 0 {
                engine.feed(b"ished\x07x");
            } else {
                engine.resize(Size { cols: 3, rows: 2 });
            }
            assert!(engine.revision() > before);
            assert_eq!(
                engine.changed_since(before).len(),
                usize::from(engine.size().rows)
            );
            assert_eq!(engine.modes(), Rio::new(size, 10).modes());
            engine.feed(b"\x1b[Halive\x1b]11;?\x07");
            assert_eq!(engine.text().concat(), "alive");
            assert_eq!(engine.take_replies(), b"\x1b]11;rgb:1010/1010/1010\x07");
        }
        assert_eq!(engine.size(), Size { cols: 3, rows: 2 });
    }
}
