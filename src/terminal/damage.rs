//! Which rows changed when: one revision number a row, for readers that come at different times.

use rio_vt::ansi::CursorShape as RioShape;
use rio_vt::crosswords::pos::Line as Row;
use rio_vt::crosswords::{Crosswords, Mode};

use super::cells::{Cursor, CursorShape, Modes, Mouse, Size};
use super::engine::Still;
use super::replies::Replies;
use super::rows;

pub(super) type Term = Crosswords<Replies>;

#[derive(Debug)]
pub(super) struct Damage {
    revision: u64,
    /// The revision that changed each visible row last.
    rows: Vec<u64>,
    cursor: Cursor,
    modes: Modes,
}

impl Damage {
    /// Everything is new.
    pub(super) fn new(term: &Term, revision: u64) -> Self {
        Damage {
            revision,
            rows: vec![revision; term.screen_lines()],
            cursor: cursor(term),
            modes: modes(term),
        }
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) fn changed_since(&self, revision: u64) -> Vec<u16> {
        if revision >= self.revision {
            return Vec::new();
        }
        (0..)
            .zip(&self.rows)
            .filter(|(_, changed)| **changed > revision)
            .map(|(row, _)| row)
            .collect()
    }

    /// Turns the marks that the engine left on its rows into revision numbers, and takes the marks away.
    pub(super) fn settle(&mut self, term: &mut Term) {
        let next = self.revision + 1;
        let whole = term.is_fully_damaged();
        let mut changed = false;
        for (n, revision) in (0..).zip(&mut self.rows) {
            let row = &mut term.grid[Row(n)];
            if whole || row.dirty {
                row.dirty = false;
                *revision = next;
                changed = true;
            }
        }
        term.reset_damage();
        let (cursor, modes) = (cursor(term), modes(term));
        if changed || cursor != self.cursor || modes != self.modes {
            self.revision = next;
            (self.cursor, self.modes) = (cursor, modes);
        }
    }

    /// The screen as it is now. [`Damage::settle`] comes first.
    pub(super) fn still(&self, term: &Term) -> Still {
        Still {
            revision: self.revision,
            size: size(term),
            rows: (0..)
                .zip(&self.rows)
                .map(|(row, revision)| (*revision, rows::line(term, Row(row))))
                .collect(),
            cursor: self.cursor,
            modes: self.modes,
        }
    }
}

pub(super) fn size(term: &Term) -> Size {
    let cells = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    Size {
        cols: cells(term.columns()),
        rows: cells(term.screen_lines()),
    }
}

pub(super) fn cursor(term: &Term) -> Cursor {
    let pos = term.cursor().pos;
    Cursor {
        col: u16::try_from(pos.col.0).unwrap_or(u16::MAX),
        row: u16::try_from(pos.row.0).unwrap_or(0),
        visible: term.mode().contains(Mode::SHOW_CURSOR),
        shape: match term.cursor_shape {
            RioShape::Underline => CursorShape::Underline,
            RioShape::Beam => CursorShape::Bar,
            RioShape::Block | RioShape::Hidden => CursorShape::Block,
        },
        blinking: term.blinking_cursor,
    }
}

pub(super) fn modes(term: &Term) -> Modes {
    let mode = term.mode();
    let mouse = if mode.contains(Mode::MOUSE_MOTION) {
        Mouse::Motion
    } else if mode.contains(Mode::MOUSE_DRAG) {
        Mouse::Drag
    } else if mode.intersects(Mode::MOUSE_REPORT_CLICK | Mode::MOUSE_REPORT_X10) {
        Mouse::Click
    } else {
        Mouse::Off
    };
    Modes {
        alternate_screen: mode.contains(Mode::ALT_SCREEN),
        application_cursor: mode.contains(Mode::APP_CURSOR),
        application_keypad: mode.contains(Mode::APP_KEYPAD),
        bracketed_paste: mode.contains(Mode::BRACKETED_PASTE),
        focus_reports: mode.contains(Mode::FOCUS_IN_OUT),
        alternate_scroll: mode.contains(Mode::ALTERNATE_SCROLL),
        mouse,
        sgr_mouse: mode.contains(Mode::SGR_MOUSE),
        kitty: term.keyboard_mode().bits(),
        modify_other_keys: term.modify_other_keys().unwrap_or(0),
    }
}
