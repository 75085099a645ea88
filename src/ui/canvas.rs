//! From the state to the bytes that bring the terminal in line with it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::message::Damage;
use super::paint::{Outer, Painter, Pane};
use super::state::{Mode, Screen};
use super::view;
use crate::terminal::{Cursor, Mouse, Size};

#[derive(Debug)]
pub(super) struct Canvas {
    painter: Painter,
    chrome: Buffer,
    size: Size,
}

impl Canvas {
    pub(super) fn new(size: Size) -> Self {
        Self {
            painter: Painter::new(size),
            chrome: Buffer::default(),
            size,
        }
    }

    /// The bytes for one write; none if the terminal shows it already.
    pub(super) fn paint(&mut self, screen: &Screen, damage: &Damage) -> &[u8] {
        if self.size != screen.size {
            self.size = screen.size;
            self.painter.forget(screen.size);
        }
        let area = screen.areas().map_or(Rect::ZERO, |areas| areas.pane);
        let grid = screen.mirror.grid.as_ref();
        let lines = grid.map_or(&[][..], |grid| &grid.lines);
        let pane = Pane { area, lines };
        match damage {
            Damage::Rows(rows) if !self.painter.wants_whole() => {
                self.painter.rows(pane, rows, outer(screen, None))
            }
            Damage::Rows(_) | Damage::Everything => {
                let whole = Rect::new(0, 0, screen.size.cols, screen.size.rows);
                self.chrome.resize(whole);
                self.chrome.reset();
                let field = view::draw(screen, &mut self.chrome);
                self.painter.whole(&self.chrome, pane, outer(screen, field))
            }
        }
    }
}

/// The terminal's cursor stands in the field of an overlay, else where the program has it while it gets the keys.
fn outer(screen: &Screen, field: Option<Position>) -> Outer {
    let grid = screen.mirror.grid.as_ref();
    let motion = grid.is_some_and(|grid| grid.modes.mouse == Mouse::Motion);
    let hidden = Cursor::default();
    let cursor = if let Some(Position { x, y }) = field {
        Cursor {
            col: x,
            row: y,
            visible: true,
            ..hidden
        }
    } else {
        let speaks = screen.mode == Mode::Program && !screen.tabs.inbox.focused;
        let free = speaks && !view::covers_pane(screen);
        match (grid, screen.areas()) {
            (Some(grid), Some(areas)) if free => {
                let inside =
                    grid.cursor.col < areas.pane.width && grid.cursor.row < areas.pane.height;
                Cursor {
                    col: areas.pane.x + grid.cursor.col,
                    row: areas.pane.y + grid.cursor.row,
                    visible: grid.cursor.visible && inside,
                    ..grid.cursor
                }
            }
            _ => hidden,
        }
    };
    Outer { cursor, motion }
}
