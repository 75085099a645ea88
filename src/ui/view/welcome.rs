//! What stands where no program does: how to begin, and the three things to know.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::super::actions::Action;
use super::super::layout::middle;
use super::super::look::style;
use super::super::state::Screen;
use super::super::text;

pub(super) fn draw(screen: &Screen, area: Rect, buf: &mut Buffer) {
    let theme = &screen.theme;
    let width = area.width.saturating_sub(4).min(64);
    let room = usize::from(width);
    let leader = screen.keymap.leader();
    let key = |action| screen.keymap.key(action);
    let mut lines = vec![
        Line::styled("sessdeck", style(theme.title)),
        Line::default(),
        Line::from(vec![
            Span::raw("Press "),
            Span::styled(key(Action::New), style(theme.key)),
            Span::raw(" to start a session from plain words."),
        ]),
        Line::default(),
    ];
    if !screen.mirror.sessions.is_empty() {
        lines[2].push_span(Span::styled(
            " Other repos have sessions.",
            style(theme.dim),
        ));
    }
    let things = [
        "Each session has one intent. A prompt that belongs to another is stopped, and you choose what happens to it."
            .to_owned(),
        format!(
            "{leader}, then {}, parks a side thought, so that it costs you neither the thread nor the thought.",
            key(Action::Park)
        ),
        format!(
            "{leader}, then {}, leaves. Everything goes on, and `sessdeck` brings you back.",
            key(Action::Detach)
        ),
    ];
    for (number, thing) in things.iter().enumerate() {
        let mut number = (number + 1).to_string();
        for line in text::wrap(thing, room.saturating_sub(3), 4) {
            lines.push(Line::from(vec![
                Span::styled(format!("{number:<3}"), style(theme.accent)),
                Span::styled(line, style(theme.text)),
            ]));
            number.clear();
        }
    }
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let place = middle(area, width, height);
    for (y, line) in (place.top()..place.bottom()).zip(lines) {
        buf.set_line(place.x, y, &line, place.width);
    }
}
