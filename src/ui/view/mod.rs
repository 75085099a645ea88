//! Draws the state; changes nothing. One file a part of the screen.

mod hints;
mod inbox;
pub(super) mod meter;
pub(super) mod strip;
pub(super) mod tabs;
mod welcome;

use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

pub(super) use self::inbox::line_at as inbox_line_at;

use super::layout::{Areas, SMALLEST, middle};
use super::look::style;
use super::overlay::{Scene, ask};
use super::state::Screen;
use super::text;

/// Draws everything but the program's own cells, whose place is marked to be skipped. Says where the cursor of a
/// field stands, if one is open.
pub(super) fn draw(screen: &Screen, buf: &mut Buffer) -> Option<Position> {
    let Some(areas) = screen.areas() else {
        too_small(screen, buf);
        return None;
    };
    let scene = screen.scene();
    match areas.divider {
        Some(divider) => {
            tabs::draw(screen, areas.tabs, buf);
            for y in divider.top()..divider.bottom() {
                buf.set_string(divider.x, y, "│", style(scene.theme.border));
            }
        }
        None => strip::draw(screen, areas.tabs, buf),
    }
    if screen.tabs.front.is_some() {
        pane(screen, areas.pane, buf);
    } else {
        welcome::draw(screen, areas.pane, buf);
    }
    if let Some(area) = areas.inbox {
        inbox::draw(screen, area, buf);
    }
    hints::draw(screen, areas.hints, buf);
    // The tabs at the left stay in view; a strip on top gives way.
    let left = areas.divider.map_or(0, Rect::right);
    let place = Rect {
        x: left,
        width: buf.area.width - left,
        height: buf.area.height - 1,
        ..buf.area
    };
    if let Some(modal) = screen.overlays.top() {
        return modal.draw(place, buf, scene);
    }
    if let Some((session, question, armed)) = screen.question() {
        ask::draw(session, question, armed, place, buf, scene);
    }
    None
}

/// Leaves the program's cells open, and marks a screen that is larger than its place.
fn pane(screen: &Screen, area: Rect, buf: &mut Buffer) {
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            buf[(x, y)].set_diff_option(CellDiffOption::Skip);
        }
    }
    if let Some(size) = screen.cut() {
        let mark = format!(" cut: the program has {}x{} ", size.cols, size.rows);
        let mark = text::cut(&mark, usize::from(area.width)).into_owned();
        let width = u16::try_from(text::cells(&mark)).unwrap_or(area.width);
        let place = Rect::new(area.right() - width, area.bottom() - 1, width, 1);
        for x in place.left()..place.right() {
            buf[(x, place.y)].reset();
        }
        buf.set_string(place.x, place.y, mark, style(screen.theme.selection));
    }
}

fn too_small(screen: &Screen, buf: &mut Buffer) {
    let area = buf.area;
    let words = format!(
        "sessdeck needs {}x{}; this is {}x{}. All sessions go on.",
        SMALLEST.cols, SMALLEST.rows, area.width, area.height
    );
    let lines = text::wrap(&words, usize::from(area.width), usize::from(area.height));
    let place = middle(area, area.width, u16::try_from(lines.len()).unwrap_or(1));
    for (y, line) in (place.y..place.bottom()).zip(lines) {
        let line = Line::styled(line, style(screen.theme.warn)).centered();
        ratatui::widgets::Widget::render(
            line,
            Rect {
                y,
                height: 1,
                ..place
            },
            buf,
        );
    }
}

/// Where the cursor of an open overlay is never the program's.
pub(super) fn covers_pane(screen: &Screen) -> bool {
    screen.overlays.top().is_some() || screen.question().is_some()
}

/// The scene is what overlays and views share.
impl Screen {
    pub(super) fn scene(&self) -> Scene<'_> {
        Scene {
            mirror: &self.mirror,
            theme: &self.theme,
            keymap: &self.keymap,
        }
    }

    pub(super) fn areas(&self) -> Option<Areas> {
        Areas::new(self.size, self.tabs.inbox.open)
    }
}
