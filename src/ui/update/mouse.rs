//! The mouse: tabs and inbox lines are chosen by it; over the program it is the program's, if it asked.

use std::time::Instant;

use ratatui::layout::{Position, Rect};

use super::super::layout::Areas;
use super::super::message::{Command, Damage};
use super::super::state::Screen;
use super::super::view;
use crate::terminal::{self, Button, MouseAction, MouseEvent, Wheel};

impl Screen {
    pub(super) fn moused(
        &mut self,
        event: MouseEvent,
        now: Instant,
        commands: &mut Vec<Command>,
    ) -> Option<Damage> {
        let areas = self.areas()?;
        if self.overlays.top().is_some() {
            return None;
        }
        let at = Position::new(event.col, event.row);
        let held = matches!(event.action, MouseAction::Drag(_) | MouseAction::Release(_));
        if !(held && self.grabbed) {
            if areas.tabs.contains(at) {
                return self.mouse_on_tabs(event, areas);
            }
            if let Some(inbox) = areas.inbox.filter(|inbox| inbox.contains(at)) {
                return self.mouse_on_inbox(event, inbox);
            }
            if !areas.pane.contains(at) || view::covers_pane(self) {
                return None;
            }
        }
        let pressed = matches!(event.action, MouseAction::Press(_));
        if pressed || matches!(event.action, MouseAction::Release(_)) {
            self.grabbed = pressed;
        }
        let left = pressed && std::mem::take(&mut self.tabs.inbox.focused);
        // A button that went down over the program is the program's until it is let go, wherever the mouse is by then.
        let col = event.col.clamp(areas.pane.left(), areas.pane.right() - 1);
        let row = event.row.clamp(areas.pane.top(), areas.pane.bottom() - 1);
        let inside = MouseEvent {
            col: col - areas.pane.x,
            row: row - areas.pane.y,
            ..event
        };
        let bytes = terminal::mouse_bytes(inside, &self.modes()).unwrap_or_default();
        let said = self.input(bytes, pressed, now, commands);
        left.then_some(Damage::Everything).or(said)
    }

    fn mouse_on_tabs(&mut self, event: MouseEvent, areas: Areas) -> Option<Damage> {
        match event.action {
            MouseAction::Press(Button::Left) => {
                let session = if areas.divider.is_some() {
                    view::tabs::session_at(self, areas.tabs, event.row)
                } else {
                    view::strip::session_at(self, areas.tabs, event.col)
                };
                self.tabs.front = Some(session?);
                self.tabs.inbox.focused = false;
            }
            MouseAction::Wheel(Wheel::Down) => self.tabs.step(&self.mirror, 1),
            MouseAction::Wheel(Wheel::Up) => self.tabs.step(&self.mirror, -1),
            MouseAction::Press(_)
            | MouseAction::Release(_)
            | MouseAction::Drag(_)
            | MouseAction::Move
            | MouseAction::Wheel(_) => return None,
        }
        Some(Damage::Everything)
    }

    fn mouse_on_inbox(&mut self, event: MouseEvent, area: Rect) -> Option<Damage> {
        let last = self
            .inbox()
            .map_or(0, |inbox| inbox.lines.len().saturating_sub(1));
        let chosen = self.tabs.inbox.chosen.min(last);
        match event.action {
            MouseAction::Press(Button::Left) => {
                self.tabs.inbox.focused = true;
                if let Some(place) = view::inbox_line_at(self, area, event.row) {
                    self.tabs.inbox.chosen = place;
                }
            }
            MouseAction::Wheel(Wheel::Down) => self.tabs.inbox.chosen = (chosen + 1).min(last),
            MouseAction::Wheel(Wheel::Up) => self.tabs.inbox.chosen = chosen.saturating_sub(1),
            MouseAction::Press(_)
            | MouseAction::Release(_)
            | MouseAction::Drag(_)
            | MouseAction::Move
            | MouseAction::Wheel(_) => return None,
        }
        Some(Damage::Everything)
    }
}
