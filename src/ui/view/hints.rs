//! The bottom line: what one can press now, or what was just said; at the right how the session in front is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::super::actions::Action;
use super::super::look::{self, state_style, state_words, style};
use super::super::state::{Mode, Screen};
use super::super::text;

pub(super) fn draw(screen: &Screen, area: Rect, buf: &mut Buffer) {
    buf.set_style(area, style(screen.theme.hints));
    let room = usize::from(area.width);
    let right = right(screen, room);
    let used = right.width();
    let left = match (&screen.status.said, screen.mode) {
        (Some(said), Mode::Program) => {
            let (sign, tone) = look::level(&screen.theme, said.level);
            let words = text::clean(&said.text).into_owned();
            let words = text::cut(&words, room.saturating_sub(used + 5)).into_owned();
            Line::styled(format!(" {sign} {words}"), tone)
        }
        (_, Mode::Deck | Mode::Stepping) => deck(screen, room.saturating_sub(used + 1)),
        (None, Mode::Program) if screen.tabs.inbox.focused => keys(
            screen,
            &[
                ("enter", "open as a session"),
                ("j/k", "choose"),
                ("p", "park"),
                ("esc", "back"),
            ],
            room.saturating_sub(used + 1),
        ),
        (None, Mode::Program) if screen.tabs.front.is_none() => {
            deck(screen, room.saturating_sub(used + 1))
        }
        (None, Mode::Program) => {
            let leader = screen.keymap.leader();
            keys(
                screen,
                &[(&leader, "keys of the deck")],
                room.saturating_sub(used + 1),
            )
        }
    };
    buf.set_line(area.x, area.y, &left, area.width);
    let at = area.right() - u16::try_from(used).unwrap_or(area.width);
    buf.set_line(at, area.y, &right, area.right() - at);
}

/// How the session in front is, where there is room to say it.
fn right(screen: &Screen, room: usize) -> Line<'static> {
    let theme = &screen.theme;
    let mut line = Line::default();
    if screen.mode != Mode::Program {
        return line;
    }
    let waiting = screen.waiting_elsewhere();
    if waiting > 0 {
        let words = match (waiting, room >= 70) {
            (waiting, false) => format!("▲ {waiting} "),
            (1, true) => "▲ 1 needs you ".to_owned(),
            (more, true) => format!("▲ {more} need you "),
        };
        line.push_span(Span::styled(words, style(theme.needs_you)));
        if room >= 70 {
            let key = screen.keymap.key(Action::Needed);
            let keys = format!("{} {key}  ", screen.keymap.leader());
            line.push_span(Span::styled(keys, style(theme.key)));
        }
    }
    let Some(session) = screen.front() else {
        return line;
    };
    if room < 70 {
        return line;
    }
    if session.profile.is_some() && !session.guarded {
        line.push_span(Span::styled("guard not active  ", style(theme.warn)));
    }
    let words = format!("{} {} ", look::sign(session.state), state_words(session));
    line.push_span(Span::styled(words, state_style(theme, session.state)));
    line
}

/// The keys of deck mode. The last, which shows all others, always fits.
fn deck(screen: &Screen, room: usize) -> Line<'static> {
    let theme = &screen.theme;
    let mut line = Line::default();
    if screen.mode != Mode::Program {
        line.push_span(Span::styled(" DECK ", style(theme.selection)));
    }
    let empty = screen.mirror.sessions.is_empty();
    let pieces: Vec<(Action, [Span<'static>; 2])> = Action::ALL
        .iter()
        .filter(|action| !(action.short().is_empty() || empty && of_a_session(**action)))
        .map(|action| (*action, screen.keymap.key(*action)))
        .filter(|(_, key)| !key.is_empty())
        .map(|(action, key)| (action, piece(screen, &key, action.short())))
        .collect();
    let width = |piece: &[Span<'_>; 2]| piece.iter().map(Span::width).sum::<usize>();
    let help: usize = pieces
        .iter()
        .filter(|(action, _)| *action == Action::Help)
        .map(|(_, piece)| width(piece))
        .sum();
    let mut used = line.width();
    for (action, piece) in pieces {
        let reserved = if action == Action::Help { 0 } else { help };
        if used + width(&piece) + reserved <= room {
            used += width(&piece);
            line.spans.extend(piece);
        }
    }
    line
}

/// True if it does nothing while there is no session.
fn of_a_session(action: Action) -> bool {
    [
        Action::NextTab,
        Action::PreviousTab,
        Action::Needed,
        Action::Rename,
        Action::End,
    ]
    .contains(&action)
}

fn keys(screen: &Screen, keys: &[(&str, &str)], room: usize) -> Line<'static> {
    let mut line = Line::default();
    for (key, words) in keys {
        let piece = piece(screen, key, words);
        let width: usize = piece.iter().map(Span::width).sum();
        if line.width() + width <= room {
            line.spans.extend(piece);
        }
    }
    line
}

fn piece(screen: &Screen, key: &str, words: &str) -> [Span<'static>; 2] {
    [
        Span::styled(format!(" {key}"), style(screen.theme.key)),
        Span::styled(format!(" {words} "), style(screen.theme.hints)),
    ]
}
