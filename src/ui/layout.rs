//! Which part of the terminal belongs to what.

use ratatui::layout::Rect;

use crate::terminal::Size;

/// From this width on the tabs stand at the left; below they are a strip on top.
const WIDE: u16 = 100;
/// Below this nothing sensible can be drawn.
pub(super) const SMALLEST: Size = Size { cols: 40, rows: 10 };

/// The parts of a screen that is large enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Areas {
    pub(super) tabs: Rect,
    /// The line between tabs and program, where the tabs stand at the left.
    pub(super) divider: Option<Rect>,
    pub(super) pane: Rect,
    /// Its first row is the heading.
    pub(super) inbox: Option<Rect>,
    pub(super) hints: Rect,
}

impl Areas {
    /// None where the terminal is too small.
    pub(super) fn new(size: Size, inbox: bool) -> Option<Self> {
        if size.cols < SMALLEST.cols || size.rows < SMALLEST.rows {
            return None;
        }
        let Size { cols, rows } = size;
        let hints = Rect::new(0, rows - 1, cols, 1);
        let (tabs, divider, mut pane) = if cols >= WIDE {
            let list = (cols / 4).clamp(26, 34);
            (
                Rect::new(0, 0, list, rows - 1),
                Some(Rect::new(list, 0, 1, rows - 1)),
                Rect::new(list + 1, 0, cols - list - 1, rows - 1),
            )
        } else {
            (
                Rect::new(0, 0, cols, 1),
                None,
                Rect::new(0, 1, cols, rows - 2),
            )
        };
        let inbox = inbox.then(|| {
            let height = (pane.height / 3).clamp(4, 14);
            pane.height -= height;
            Rect::new(pane.x, pane.bottom(), pane.width, height)
        });
        Some(Self {
            tabs,
            divider,
            pane,
            inbox,
            hints,
        })
    }

    pub(super) fn program(&self) -> Size {
        Size {
            cols: self.pane.width,
            rows: self.pane.height,
        }
    }
}

/// A box of at most that size in the middle of `area`.
pub(super) fn middle(area: Rect, width: u16, height: u16) -> Rect {
    let width = width.min(area.width);
    let height = height.min(area.height);
    Rect::new(
        area.x + (area.width - width) / 2,
        area.y + (area.height - height) / 2,
        width,
        height,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_belongs_to_exactly_one_part() {
        for (cols, rows) in [
            (40, 10),
            (50, 12),
            (99, 30),
            (100, 30),
            (140, 40),
            (400, 120),
        ] {
            for inbox in [false, true] {
                let areas = Areas::new(Size { cols, rows }, inbox).unwrap();
                let parts = [
                    Some(areas.tabs),
                    areas.divider,
                    Some(areas.pane),
                    areas.inbox,
                ];
                let cells: u32 = parts.iter().flatten().map(|part| part.area()).sum();
                let whole = u32::from(cols) * u32::from(rows);
                assert_eq!(cells + areas.hints.area(), whole, "{cols}x{rows} {inbox}");
                assert!(areas.pane.height >= 3, "{cols}x{rows} {inbox}");
            }
        }
        for (cols, rows) in [(39, 10), (40, 9), (20, 5), (1, 1), (0, 0)] {
            assert_eq!(Areas::new(Size { cols, rows }, true), None);
        }
    }
}
