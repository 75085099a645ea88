//! The state of an engine written as output, so that a journal can begin anywhere and be read by any engine.
//!
//! Lines that wrapped are written so that they wrap again: otherwise the copy would not reflow as the original does.
//! Joining of code points (mode 2027) is on only inside a cluster, so that neighbours which came apart stay apart.

use std::io::Write as _;

use rio_vt::ansi::{CursorShape, KeyboardModes};
use rio_vt::codepoint_width::codepoint_width;
use rio_vt::crosswords::Mode;
use rio_vt::crosswords::grid::Grid;
use rio_vt::crosswords::pos::{
    CharsetIndex, Charsets, Column, Cursor, Line as Row, StandardCharset,
};
use rio_vt::crosswords::square::Square;
use rio_vt::performer::handler::Handler;

use super::cells::{Attrs, Color, Line, Run, Style, Underline, Width};
use super::damage::Term;
use super::rows::{self, End};
use super::side::Side;

/// How many sets of keyboard flags the engine keeps for a screen.
const KEYBOARD_STACK: usize = 8;

/// Private modes, and whether a fresh terminal has them on.
const PRIVATE: [(Mode, u16, bool); 13] = [
    (Mode::APP_CURSOR, 1, false),
    (Mode::LINE_WRAP, 7, true),
    (Mode::MOUSE_REPORT_X10, 9, false),
    (Mode::SHOW_CURSOR, 25, true),
    (Mode::MOUSE_REPORT_CLICK, 1000, false),
    (Mode::MOUSE_DRAG, 1002, false),
    (Mode::MOUSE_MOTION, 1003, false),
    (Mode::FOCUS_IN_OUT, 1004, false),
    (Mode::UTF8_MOUSE, 1005, false),
    (Mode::SGR_MOUSE, 1006, false),
    (Mode::ALTERNATE_SCROLL, 1007, true),
    (Mode::URGENCY_HINTS, 1042, true),
    (Mode::BRACKETED_PASTE, 2004, false),
];

const CHARSETS: [(CharsetIndex, char); 4] = [
    (CharsetIndex::G0, '('),
    (CharsetIndex::G1, ')'),
    (CharsetIndex::G2, '*'),
    (CharsetIndex::G3, '+'),
];

pub(super) fn take(term: &mut Term, side: &Side) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.put("\x1bc\x1b[?2027l");
    if term.mode().contains(Mode::ALT_SCREEN) {
        with_other_screen(term, |main| {
            writer.flowing(main);
            writer.position(&main.grid.cursor, 0);
            writer.pending_wrap(main, &main.grid.cursor);
            writer.pen(&main.grid, &main.grid.cursor);
            writer.keyboard(main);
        });
        writer.put("\x1b[?1049h");
        writer.plain_pen();
        writer.put("\x1b[2J");
        writer.fixed(term);
    } else {
        with_other_screen(term, |alternate| {
            writer.put("\x1b[?1049h");
            writer.saved(alternate);
            writer.keyboard(alternate);
            writer.put("\x1b[?1049l");
        });
        writer.flowing(term);
    }
    writer.state(term, side);
    writer.keyboard(term);
    writer.out
}

/// Brings forward the screen that does not show, since it can only be read so. Changing screens clears the alternate
/// one and moves cursors, so the one that shows steps aside meanwhile.
fn with_other_screen(term: &mut Term, look: impl FnOnce(&mut Term)) {
    let blank = Grid::new(term.screen_lines(), term.columns(), 0);
    let shown = std::mem::replace(&mut term.grid, blank);
    term.swap_alt();
    look(term);
    term.swap_alt();
    term.grid = shown;
    term.reset_damage();
}

/// The keyboard flags of a screen, the latest last. The engine's ring of them can only be read by taking it apart.
fn keyboard_stack(term: &mut Term) -> Vec<u8> {
    let mut stack: Vec<KeyboardModes> = (0..KEYBOARD_STACK)
        .map(|_| {
            let flags = term.keyboard_mode();
            Handler::pop_keyboard_modes(term, 1);
            flags
        })
        .collect();
    stack.reverse();
    for flags in &stack {
        Handler::push_keyboard_mode(term, *flags);
    }
    stack
        .into_iter()
        .map(|flags| flags.bits())
        .skip_while(|flags| *flags == 0)
        .collect()
}

#[derive(Default)]
struct Writer {
    out: Vec<u8>,
    style: Style,
    link: Option<String>,
    charsets: Charsets,
}

/// Writing into memory does not fail.
macro_rules! write_to {
    ($writer:expr, $($format:tt)*) => {
        drop(write!($writer.out, $($format)*))
    };
}

impl Writer {
    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// History and screen, one row after the other, as if just printed.
    fn flowing(&mut self, term: &Term) {
        let rows = i32::try_from(term.screen_lines()).unwrap_or(i32::MAX);
        let first = -i32::try_from(term.history_size()).unwrap_or(0);
        let mut next = rows::line(term, Row(first));
        let mut wrapped = false;
        for row in first..rows {
            let line = std::mem::take(&mut next);
            let mut end = End::Hard;
            if row + 1 < rows {
                next = rows::line(term, Row(row + 1));
                end = rows::end(term, Row(row));
            }
            let mut width = line.cells();
            if wrapped && width == 0 {
                // Something must wrap; a blank at the end of a line does not show.
                self.pad(1);
                width = 1;
            }
            self.line(&line);
            match end {
                End::Hard => {
                    self.style(Style::default());
                    self.link(None);
                    if wrapped && width < term.columns() {
                        // A row that scrolled in has the colour of the character that made it.
                        self.put("\x1b[K");
                    }
                    if row + 1 < rows {
                        self.put("\r\n");
                    }
                }
                End::SoftBeforeWide if next.begins_wide() => {
                    self.pad((term.columns() - 1).saturating_sub(width));
                }
                End::Soft | End::SoftBeforeWide => self.pad(term.columns().saturating_sub(width)),
            }
            wrapped = end != End::Hard;
        }
    }

    /// The rows of the alternate screen, each at its place.
    fn fixed(&mut self, term: &Term) {
        let rows = i32::try_from(term.screen_lines()).unwrap_or(i32::MAX);
        for row in 0..rows {
            let line = rows::line(term, Row(row));
            if !line.0.is_empty() {
                write_to!(self, "\x1b[{}H", row + 1);
                self.line(&line);
            }
        }
    }

    /// Everything that is not on the screen, for the screen that shows.
    fn state(&mut self, term: &Term, side: &Side) {
        self.saved(term);
        let mode = term.mode();
        if let Some((first, last)) = side.region {
            write_to!(self, "\x1b[{first};{last}r");
        }
        // Restoring a cursor can bring it out of the region that rows are counted in.
        let origin = mode.contains(Mode::ORIGIN);
        let top = side.region.map_or(0, |(first, _)| first - 1);
        let row = usize::try_from(term.grid.cursor.pos.row.0).unwrap_or(0);
        let inside = side
            .region
            .is_none_or(|(_, last)| (top..last).contains(&row));
        if origin && inside {
            self.put("\x1b[?6h");
            self.position(&term.grid.cursor, top);
        } else {
            self.position(&term.grid.cursor, 0);
        }
        self.pending_wrap(term, &term.grid.cursor);
        if origin && !inside {
            self.put("\x1b[?6h");
        }
        for (flag, number, fresh) in PRIVATE {
            let on = mode.contains(flag);
            if on != fresh {
                write_to!(self, "\x1b[?{number}{}", if on { 'h' } else { 'l' });
            }
        }
        for (flag, text) in [
            (Mode::INSERT, "\x1b[4h"),
            (Mode::LINE_FEED_NEW_LINE, "\x1b[20h"),
            (Mode::APP_KEYPAD, "\x1b="),
            (Mode::GRAPHEME_CLUSTER, "\x1b[?2027h"),
        ] {
            if mode.contains(flag) {
                self.put(text);
            }
        }
        self.pen(&term.grid, &term.grid.cursor);
        if side.charset == CharsetIndex::G1 {
            self.put("\x0e");
        }
        let shape = match term.cursor_shape {
            CursorShape::Block | CursorShape::Hidden => 2,
            CursorShape::Underline => 4,
            CursorShape::Beam => 6,
        };
        write_to!(self, "\x1b[{} q", shape - u8::from(term.blinking_cursor));
        if !side.title.is_empty() {
            write_to!(self, "\x1b]2;{}\x07", side.title);
        }
        if let Some(level) = term.modify_other_keys() {
            write_to!(self, "\x1b[>4;{level}m");
        }
    }

    /// The cursor that the program may come back to.
    fn saved(&mut self, term: &Term) {
        let saved = &term.grid.saved_cursor;
        if *saved != Cursor::default() {
            self.position(saved, 0);
            self.pending_wrap(term, saved);
            self.pen(&term.grid, saved);
            self.put("\x1b7");
        }
        self.plain_pen();
    }

    fn keyboard(&mut self, term: &mut Term) {
        for flags in keyboard_stack(term) {
            write_to!(self, "\x1b[>{flags}u");
        }
    }

    fn position(&mut self, cursor: &Cursor<Square>, top: usize) {
        let row = usize::try_from(cursor.pos.row.0).unwrap_or(0);
        write_to!(
            self,
            "\x1b[{};{}H",
            row.saturating_sub(top) + 1,
            cursor.pos.col.0 + 1
        );
    }

    /// A cursor that stands behind the last column got there by printing the last cell, so that is done again.
    fn pending_wrap(&mut self, term: &Term, cursor: &Cursor<Square>) {
        let last = Column(term.columns() - 1);
        if !cursor.should_wrap || cursor.pos.col != last {
            return;
        }
        let row = cursor.pos.row;
        let line = rows::line(term, row);
        let spacer = term.grid[row].last().is_some_and(|cell| cell.is_spacer());
        let before = last.0 - usize::from(spacer);
        if spacer {
            self.put("\x1b[D");
        }
        match line.rest_from(before) {
            Some(run) => self.run(&run),
            None => self.pad(1),
        }
    }

    /// The style, link and character sets that the cursor prints with.
    fn pen(&mut self, grid: &Grid<Square>, cursor: &Cursor<Square>) {
        self.style(rows::style(cursor.pending_style));
        self.link(rows::link(grid, cursor.template));
        for (index, name) in CHARSETS {
            let charset = cursor.charsets[index];
            if self.charsets[index] != charset {
                self.charsets[index] = charset;
                let last = match charset {
                    StandardCharset::Ascii => 'B',
                    StandardCharset::SpecialCharacterAndLineDrawing => '0',
                };
                write_to!(self, "\x1b{name}{last}");
            }
        }
    }

    fn plain_pen(&mut self) {
        self.pen(&Grid::new(1, 1, 0), &Cursor::default());
    }

    fn pad(&mut self, cells: usize) {
        if cells > 0 {
            self.style(Style::default());
            self.link(None);
            self.out.resize(self.out.len() + cells, b' ');
        }
    }

    fn line(&mut self, line: &Line) {
        for run in &line.0 {
            self.run(run);
        }
    }

    fn run(&mut self, run: &Run) {
        self.style(run.style);
        self.link(run.link.clone());
        let mut text = run.text.chars();
        let (Width::Cluster(cells), Some(first)) = (run.width, text.next()) else {
            self.put(&run.text);
            return;
        };
        let marks = text.as_str();
        if cells == 1 && width_of(first) == 1 && marks.chars().all(|c| width_of(c) == 0) {
            // Joining may make the first character wide; without it, marks never do.
            self.put(&run.text);
        } else if cells == 1 {
            // What could not become wide, for want of a column and of wrapping, cannot now.
            write_to!(self, "{first}\x1b[?2027h\x1b[?7l{marks}\x1b[?2027l\x1b[?7h");
        } else {
            write_to!(self, "{first}\x1b[?2027h{marks}\x1b[?2027l");
        }
    }

    fn link(&mut self, link: Option<String>) {
        if self.link != link {
            write_to!(self, "\x1b]8;;{}\x07", link.as_deref().unwrap_or(""));
            self.link = link;
        }
    }

    fn style(&mut self, style: Style) {
        if self.style == style {
            return;
        }
        self.style = style;
        self.put("\x1b[0");
        for (attr, number) in [
            (Attrs::BOLD, 1),
            (Attrs::DIM, 2),
            (Attrs::ITALIC, 3),
            (Attrs::BLINK, 5),
            (Attrs::REVERSE, 7),
            (Attrs::HIDDEN, 8),
            (Attrs::STRIKE, 9),
        ] {
            if style.attrs.contains(attr) {
                write_to!(self, ";{number}");
            }
        }
        self.put(match style.underline {
            Underline::None => "",
            Underline::Single => ";4",
            Underline::Double => ";4:2",
            Underline::Curly => ";4:3",
            Underline::Dotted => ";4:4",
            Underline::Dashed => ";4:5",
        });
        for (kind, color) in [(38, style.fg), (48, style.bg), (58, style.underline_color)] {
            match color {
                Color::Default => {}
                Color::Indexed(n) => write_to!(self, ";{kind};5;{n}"),
                Color::Rgb(r, g, b) => write_to!(self, ";{kind};2;{r};{g};{b}"),
            }
        }
        self.put("m");
    }
}

fn width_of(c: char) -> u8 {
    codepoint_width(u32::from(c)).unwrap_or(0)
}

impl Line {
    fn begins_wide(&self) -> bool {
        self.0
            .first()
            .is_some_and(|run| matches!(run.width, Width::Wide | Width::Cluster(2)))
    }

    /// What stands in the line from that cell on, if a character begins there.
    fn rest_from(&self, cell: usize) -> Option<Run> {
        let mut at = 0;
        for run in &self.0 {
            if cell < at + run.cells() {
                let text = match run.width {
                    Width::Cluster(_) => run.text.clone(),
                    Width::Narrow => run.text.chars().skip(cell - at).collect(),
                    Width::Wide => run.text.chars().skip((cell - at) / 2).collect(),
                };
                return Some(Run {
                    text,
                    ..run.clone()
                });
            }
            at += run.cells();
        }
        None
    }
}
