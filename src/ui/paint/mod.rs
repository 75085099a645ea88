//! Keeps what the terminal shows and tells it only what is new, in one write a frame.
//!
//! The widths of a program's clusters are the engine's; nothing here measures them again. After a glyph that terminals
//! may draw narrower or wider than we think, the cursor is placed anew, so a difference stays within its own cells.

mod cell;
mod encode;
mod tables;
#[cfg(test)]
mod tests;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthChar;

use self::cell::{Cell, Pen, SPACER};
use self::tables::Tables;
use crate::terminal::{Cursor, Line, Size};

/// Fewer blanks than this are shorter written out than erased.
const ERASE_FROM: usize = 8;

#[derive(Debug)]
pub(super) struct Painter {
    size: Size,
    /// Row after row.
    shown: Vec<Cell>,
    tables: Tables,
    cursor: Option<Cursor>,
    /// Mode 1003, which costs a wake-up for each motion of the mouse, is on.
    motion: bool,
    row: Vec<Cell>,
    out: Vec<u8>,
}

/// The program's part of the screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pane<'a> {
    pub(super) area: Rect,
    pub(super) lines: &'a [Line],
}

/// What a frame says besides its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outer {
    /// In cells of the terminal.
    pub(super) cursor: Cursor,
    /// The program wants every motion of the mouse.
    pub(super) motion: bool,
}

impl Painter {
    /// A painter for a terminal of which nothing is known.
    pub(super) fn new(size: Size) -> Self {
        let cells = usize::from(size.cols) * usize::from(size.rows);
        Self {
            size,
            shown: vec![Cell::UNKNOWN; cells],
            tables: Tables::new(),
            cursor: None,
            motion: false,
            row: Vec::new(),
            out: Vec::new(),
        }
    }

    /// The terminal has another size now, or may show anything.
    pub(super) fn forget(&mut self, size: Size) {
        let motion = self.motion;
        *self = Self::new(size);
        self.motion = motion;
    }

    /// True when single rows can no longer be painted and the next frame must be whole.
    pub(super) fn wants_whole(&self) -> bool {
        self.tables.full()
    }

    /// The bytes that bring the terminal to this picture: chrome, and the pane where chrome was skipped.
    pub(super) fn whole(&mut self, chrome: &Buffer, pane: Pane<'_>, outer: Outer) -> &[u8] {
        if self.tables.full() {
            self.forget(self.size);
        }
        let mut frame = self.begin();
        for y in 0..self.size.rows.min(chrome.area.height) {
            let mut row = std::mem::take(&mut self.row);
            row.clear();
            row.resize(usize::from(self.size.cols), Cell::BLANK);
            if let Some((line, from, to)) = pane.line(y, row.len()) {
                self.tables.fill(&mut row[from..to], line);
            }
            self.tables.cover(&mut row, chrome, y);
            self.change(&mut frame, usize::from(y), 0, &row);
            self.row = row;
        }
        self.end(frame, outer)
    }

    /// The same for single rows of a pane that nothing covers, counted from its top.
    pub(super) fn rows(&mut self, pane: Pane<'_>, rows: &[u16], outer: Outer) -> &[u8] {
        let mut frame = self.begin();
        for y in rows.iter().map(|row| pane.area.y.saturating_add(*row)) {
            if y >= self.size.rows {
                continue;
            }
            let mut row = std::mem::take(&mut self.row);
            if let Some((line, from, to)) = pane.line(y, usize::from(self.size.cols)) {
                row.clear();
                row.resize(to - from, Cell::BLANK);
                self.tables.fill(&mut row, line);
                self.change(&mut frame, usize::from(y), from, &row);
            }
            self.row = row;
        }
        self.end(frame, outer)
    }

    fn begin(&mut self) -> Frame {
        self.out.clear();
        self.out.extend_from_slice(encode::BEGIN);
        Frame {
            pen: Cell::BLANK.pen(),
            link: 0,
            at: None,
        }
    }

    /// Writes the cells of `row` that differ from what is shown from column `start` on.
    fn change(&mut self, frame: &mut Frame, y: usize, start: usize, row: &[Cell]) {
        let width = usize::from(self.size.cols);
        let shown = &mut self.shown[y * width + start..y * width + start + row.len()];
        if *shown == *row {
            return;
        }
        let mut x = 0;
        while x < row.len() {
            let cell = row[x];
            if shown[x] == cell {
                x += 1;
                continue;
            }
            if cell.glyph == SPACER {
                shown[x] = cell;
                x += 1;
                continue;
            }
            frame.go(&mut self.out, start + x, y);
            frame.dress(&mut self.out, &self.tables, cell.pen());
            let blanks = blanks(&row[x..]);
            if blanks >= ERASE_FROM {
                encode::erase(&mut self.out, blanks);
                shown[x..x + blanks].copy_from_slice(&row[x..x + blanks]);
                x += blanks;
                continue;
            }
            x += frame.write(&mut self.out, &self.tables, cell, start + x, y);
            shown[x - 1] = row[x - 1];
            if cell.wide() {
                shown[x - 2] = cell;
            }
        }
    }

    fn end(&mut self, mut frame: Frame, outer: Outer) -> &[u8] {
        frame.dress(&mut self.out, &self.tables, Cell::BLANK.pen());
        let painted = self.out.len() > encode::BEGIN.len();
        let Cursor {
            col, row, visible, ..
        } = outer.cursor;
        let before = self.cursor.replace(outer.cursor);
        if visible {
            if before.map(|cursor| (cursor.shape, cursor.blinking))
                != Some((outer.cursor.shape, outer.cursor.blinking))
            {
                encode::cursor_shape(&mut self.out, outer.cursor);
            }
            if painted || before != Some(outer.cursor) {
                encode::go(&mut self.out, usize::from(col), usize::from(row));
            }
        }
        if before.map(|cursor| cursor.visible) != Some(visible) {
            self.out.extend_from_slice(if visible {
                encode::SHOW_CURSOR
            } else {
                encode::HIDE_CURSOR
            });
        }
        if self.motion != outer.motion {
            self.motion = outer.motion;
            self.out.extend_from_slice(if outer.motion {
                b"\x1b[?1003h"
            } else {
                // 1003 off takes 1002 with it in some terminals.
                b"\x1b[?1003l\x1b[?1002h"
            });
        }
        if self.out.len() == encode::BEGIN.len() {
            return &[];
        }
        self.out.extend_from_slice(encode::END);
        &self.out
    }
}

impl<'a> Pane<'a> {
    /// The program's line on row `y` of the screen, and the columns it may fill.
    fn line(self, y: u16, width: usize) -> Option<(&'a Line, usize, usize)> {
        static EMPTY: Line = Line(Vec::new());
        if y < self.area.top() || y >= self.area.bottom() {
            return None;
        }
        let line = self.lines.get(usize::from(y - self.area.top()));
        let from = usize::from(self.area.left()).min(width);
        let to = usize::from(self.area.right()).min(width);
        Some((line.unwrap_or(&EMPTY), from, to))
    }
}

/// How many cells from the first on are blanks of one plain style.
fn blanks(row: &[Cell]) -> usize {
    let first = row[0];
    if first != Cell::BLANK {
        return 0;
    }
    row.iter().take_while(|cell| **cell == first).count()
}

/// Where the terminal's cursor and pen are while a frame is written.
struct Frame {
    pen: Pen,
    link: usize,
    /// None where the terminal may have moved differently than we think.
    at: Option<(usize, usize)>,
}

impl Frame {
    fn go(&mut self, out: &mut Vec<u8>, x: usize, y: usize) {
        if self.at != Some((x, y)) {
            encode::go(out, x, y);
        }
        self.at = Some((x, y));
    }

    fn dress(&mut self, out: &mut Vec<u8>, tables: &Tables, pen: Pen) {
        if self.pen == pen {
            return;
        }
        let look = pen.2;
        let extra = tables.extra(look);
        if pen == Cell::BLANK.pen() {
            out.extend_from_slice(encode::PLAIN);
        } else {
            let underline_color = extra.map_or(crate::terminal::Color::Default, |extra| extra.0);
            encode::style(out, pen, underline_color);
        }
        self.pen = pen;
        let link = if extra.is_some_and(|extra| extra.1.is_some()) {
            look.extra()
        } else {
            0
        };
        if self.link != link {
            match extra {
                Some(extra) if link > 0 => encode::open_link(out, link, extra),
                Some(_) | None => out.extend_from_slice(encode::CLOSE_LINK),
            }
            self.link = link;
        }
    }

    /// Writes one glyph at `x` and says how many cells it took.
    fn write(
        &mut self,
        out: &mut Vec<u8>,
        tables: &Tables,
        cell: Cell,
        x: usize,
        y: usize,
    ) -> usize {
        let cells = if cell.wide() { 2 } else { 1 };
        if let Some(index) = cell.cluster() {
            if cells == 2 {
                // A terminal that draws it in one cell would leave old text in the other.
                out.extend_from_slice(b"  ");
                encode::go(out, x, y);
            }
            out.extend_from_slice(tables.cluster(index).as_bytes());
            self.at = None;
            return cells;
        }
        let char = cell.char();
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        let trusted = char.is_ascii() || char.width() == Some(cells);
        self.at = trusted.then_some((x + cells, y));
        cells
    }
}
