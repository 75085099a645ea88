//! The inbox of the repo in front: its open lines, as wide as the program above it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::super::look::style;
use super::super::state::Screen;
use super::super::text;

/// The first line that is seen, so that the chosen one is.
fn top(screen: &Screen, height: usize) -> usize {
    (screen.tabs.inbox.chosen + 1).saturating_sub(height)
}

/// The place of the line on that row of the pane, whose first row is the heading.
pub(in super::super) fn line_at(screen: &Screen, area: Rect, y: u16) -> Option<usize> {
    let row = usize::from(y.checked_sub(area.y + 1)?);
    let place = row + top(screen, usize::from(area.height) - 1);
    let lines = screen.inbox().map_or(0, |inbox| inbox.lines.len());
    (place < lines).then_some(place)
}

pub(super) fn draw(screen: &Screen, area: Rect, buf: &mut Buffer) {
    let theme = &screen.theme;
    let inbox = screen.inbox();
    let focused = screen.tabs.inbox.focused;
    let lines = inbox
        .map(|inbox| inbox.lines.as_slice())
        .unwrap_or_default();
    heading(screen, area, lines.len(), buf);
    let list = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    if lines.is_empty() {
        let key = format!("{} p", screen.keymap.leader());
        let words = format!(" nothing is parked; {key} parks a side thought");
        let line = Line::styled(words, style(theme.dim));
        buf.set_line(list.x, list.y, &line, list.width);
        return;
    }
    let rows = lines
        .iter()
        .enumerate()
        .skip(top(screen, usize::from(list.height)));
    for (y, (place, line)) in (list.top()..list.bottom()).zip(rows) {
        let chosen = focused && place == screen.tabs.inbox.chosen;
        if chosen {
            let row = Rect {
                y,
                height: 1,
                ..list
            };
            buf.set_style(row, style(theme.selection));
        }
        let date = line.date.as_deref().unwrap_or_default();
        let date = text::cut(&text::clean(date), 10).into_owned();
        let tag = line.profile.as_ref().map(|tag| format!("#{tag} "));
        let tag = tag.unwrap_or_default();
        let tag = text::cut(&text::clean(&tag), 16).into_owned();
        let more = match line.detail.len() {
            0 => String::new(),
            more => format!(" +{more}"),
        };
        let used = 5 + 11 + text::cells(&tag) + more.len() + 1;
        let what = text::clean(&line.text).into_owned();
        let what = text::cut(&what, usize::from(list.width).saturating_sub(used)).into_owned();
        let line = Line::from(vec![
            Span::styled(if chosen { "▌" } else { " " }, style(theme.accent)),
            Span::styled(format!("{:>2} ", line.n), style(theme.dim)),
            Span::styled(format!("{date:<10} "), style(theme.dim)),
            Span::styled(tag, style(theme.tag)),
            Span::styled(what, style(theme.text)),
            Span::styled(more, style(theme.dim)),
        ]);
        buf.set_line(list.x, y, &line, list.width);
    }
}

/// `── inbox 3 ── hot-todo.md ─────`
fn heading(screen: &Screen, area: Rect, open: usize, buf: &mut Buffer) {
    let theme = &screen.theme;
    let rule = if screen.tabs.inbox.focused {
        style(theme.border_focus)
    } else {
        style(theme.border)
    };
    buf.set_string(area.x, area.y, "─".repeat(usize::from(area.width)), rule);
    let mut line = Line::from(vec![
        Span::styled(" inbox ", style(theme.title)),
        Span::styled(format!("{open} open "), style(theme.dim)),
    ]);
    if let Some(inbox) = screen.inbox() {
        let file = inbox.file.strip_prefix(&inbox.repo).unwrap_or(&inbox.file);
        let file = text::clean(&file.to_string_lossy()).into_owned();
        let room = usize::from(area.width).saturating_sub(28);
        let file = text::cut(&file, room).into_owned();
        line.push_span(Span::styled(format!("{file} "), style(theme.dim)));
    }
    buf.set_line(area.x + 2, area.y, &line, area.width.saturating_sub(2));
}
