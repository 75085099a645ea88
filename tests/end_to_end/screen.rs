//! What a terminal shows at one moment.

use std::fmt;

use alacritty_terminal::Term;
use alacritty_terminal::event::EventListener;
use alacritty_terminal::index::{Column, Line, Point};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::CursorShape;

/// A copy of the cells, so that nothing moves while a test looks. Rows and columns count from 0.
#[derive(Clone)]
pub(crate) struct Screen {
    cells: Vec<Vec<Cell>>,
    pub(crate) cursor: Cursor,
    pub(crate) modes: TermMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) row: usize,
    pub(crate) column: usize,
    /// `Hidden` while the program hides it.
    pub(crate) shape: CursorShape,
}

impl Screen {
    pub(crate) fn of<T: EventListener>(term: &Term<T>, rows: usize, columns: usize) -> Self {
        let content = term.renderable_content();
        let row = |row: usize| {
            let line = Line(i32::try_from(row).expect("a screen has few rows"));
            (0..columns)
                .map(|column| term.grid()[Point::new(line, Column(column))].clone())
                .collect()
        };
        Self {
            cells: (0..rows).map(row).collect(),
            cursor: Cursor {
                row: usize::try_from(content.cursor.point.line.0).expect("on the screen"),
                column: content.cursor.point.column.0,
                shape: content.cursor.shape,
            },
            modes: content.mode,
        }
    }

    pub(crate) fn cells(&self) -> &[Vec<Cell>] {
        &self.cells
    }

    /// The rows as lines, blank ends left out.
    pub(crate) fn text(&self) -> String {
        let rows: Vec<String> = (0..self.cells.len()).map(|row| self.row(row)).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// One row without its blank end.
    pub(crate) fn row(&self, row: usize) -> String {
        let text: String = self.glyphs(row).map(|(_, glyph)| glyph).collect();
        text.trim_end().to_owned()
    }

    /// Whether the text stands within one row.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// Row and column of the first place where the text stands within one row.
    pub(crate) fn find(&self, text: &str) -> Option<(usize, usize)> {
        (0..self.cells.len()).find_map(|row| {
            let line: String = self.glyphs(row).map(|(_, glyph)| glyph).collect();
            let at = line.find(text)?;
            let mut length = 0;
            let (column, _) = self.glyphs(row).find(|(_, glyph)| {
                length += glyph.len();
                length > at
            })?;
            Some((row, column))
        })
    }

    /// The first cell of the text, for its colours and flags.
    pub(crate) fn cell_of(&self, text: &str) -> &Cell {
        let (row, column) = self
            .find(text)
            .unwrap_or_else(|| panic!("no `{text}` on\n{self}"));
        &self.cells[row][column]
    }

    /// The column and text of each cell that begins a character.
    fn glyphs(&self, row: usize) -> impl Iterator<Item = (usize, String)> {
        let cells = self.cells.get(row).map_or(&[][..], Vec::as_slice);
        let spacer = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
        cells
            .iter()
            .enumerate()
            .filter(move |(_, cell)| !cell.flags.intersects(spacer))
            .map(|(column, cell)| {
                let marks = cell.zerowidth().unwrap_or_default();
                (column, std::iter::once(&cell.c).chain(marks).collect())
            })
    }
}

/// The screen in a frame, with its cursor: what a failed test prints.
impl fmt::Display for Screen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let edge = "─".repeat(self.cells.first().map_or(0, Vec::len));
        writeln!(out, "┌{edge}┐")?;
        for row in 0..self.cells.len() {
            writeln!(out, "│{}", self.row(row))?;
        }
        let Cursor { row, column, shape } = self.cursor;
        write!(out, "└{edge}┘ cursor {row},{column} {shape:?}")
    }
}
