//! The tabs as one row on top, for terminals that are not wide.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::super::look::{self, sign, state_style, style};
use super::super::state::Screen;
use super::super::text;
use super::meter;
use crate::protocol::client::Session;

/// A tab in the strip and the columns it takes.
struct Piece {
    place: usize,
    title: String,
    start: usize,
    width: usize,
}

/// Titles are cut to this before tabs are left out.
const TITLES: [usize; 4] = [24, 14, 8, 0];

/// The tabs that fit into `width` cells: with titles as long as all of them allow, else numbers and signs with the
/// title of the front one, else those around it.
fn pieces(screen: &Screen, width: usize) -> Vec<Piece> {
    let sessions = &screen.mirror.sessions;
    let front = screen.tabs.front.and_then(|id| screen.mirror.place(id));
    let all = |most: usize, from: usize| {
        let mut start = 0;
        let mut pieces = Vec::new();
        for (place, session) in sessions.iter().enumerate().skip(from) {
            let most = if front == Some(place) {
                most.max(14)
            } else {
                most
            };
            let title = text::clean(&session.title).into_owned();
            let title = text::cut(&title, most).into_owned();
            let piece = Piece {
                width: width_of(screen, session, place, &title),
                place,
                title,
                start,
            };
            start += piece.width;
            pieces.push(piece);
        }
        (pieces, start)
    };
    for most in TITLES {
        let (pieces, used) = all(most, 0);
        if used <= width {
            return pieces;
        }
    }
    let front = front.unwrap_or(0);
    let ends = |pieces: &[Piece]| {
        let piece = pieces.iter().find(|piece| piece.place == front);
        piece.map_or(0, |piece| piece.start + piece.width)
    };
    let mut from = 0;
    let (mut shown, _) = all(0, from);
    while from < front && ends(&shown) > width {
        from += 1;
        (shown, _) = all(0, from);
    }
    shown.retain(|piece| piece.start + piece.width <= width);
    shown
}

/// ` 1 ● title `, and a mark if a question waits.
fn width_of(screen: &Screen, session: &Session, place: usize, title: &str) -> usize {
    let number = (place + 1).to_string().len();
    let title = match text::cells(title) {
        0 => 0,
        cells => cells + 1,
    };
    let mark = usize::from(screen.mirror.open_asks(session).next().is_some());
    1 + number + 1 + 1 + title + mark + 1
}

/// The session under that column.
pub(in super::super) fn session_at(screen: &Screen, area: Rect, x: u16) -> Option<u64> {
    let x = usize::from(x.checked_sub(area.x)?);
    let pieces = pieces(screen, usize::from(area.width) - tail(screen, area).width());
    let piece = pieces
        .iter()
        .find(|piece| (piece.start..piece.start + piece.width).contains(&x))?;
    screen
        .mirror
        .sessions
        .get(piece.place)
        .map(|session| session.id)
}

/// Profile and meter of the tab in front, where there is room for them.
fn tail(screen: &Screen, area: Rect) -> Line<'static> {
    let theme = &screen.theme;
    let Some(session) = screen.front() else {
        return Line::default();
    };
    if area.width < 60 {
        return Line::default();
    }
    let mut line = Line::raw(" ");
    if let Some(profile) = &session.profile {
        let tag = text::clean(profile).into_owned();
        let tag = text::cut(&tag, 12).into_owned();
        line.push_span(Span::styled(
            tag,
            look::tag(theme, session.color.as_deref()),
        ));
        line.push_span(Span::raw(" "));
    }
    line.spans
        .extend(meter::bar(&session.meter, 8, theme).spans);
    let figure = meter::figure(&session.meter);
    if !figure.is_empty() {
        line.push_span(Span::styled(
            format!(" {figure} "),
            meter::level(&session.meter, theme),
        ));
    }
    line
}

pub(super) fn draw(screen: &Screen, area: Rect, buf: &mut Buffer) {
    let theme = &screen.theme;
    if screen.mirror.sessions.is_empty() {
        let line = Line::styled(" no sessions", style(theme.dim));
        buf.set_line(area.x, area.y, &line, area.width);
        return;
    }
    let tail = tail(screen, area);
    let tail_width = u16::try_from(tail.width()).unwrap_or(0);
    let room = usize::from(area.width - tail_width);
    for piece in pieces(screen, room) {
        let session = &screen.mirror.sessions[piece.place];
        let x = area.x + u16::try_from(piece.start).unwrap_or(area.width);
        let width = u16::try_from(piece.width).unwrap_or(0);
        if screen.tabs.front == Some(session.id) {
            let place = Rect::new(x, area.y, width, 1);
            buf.set_style(place, style(theme.selection));
        }
        let mut line = Line::from(vec![
            Span::styled(format!(" {}", piece.place + 1), style(theme.dim)),
            Span::raw(" "),
            Span::styled(sign(session.state), state_style(theme, session.state)),
        ]);
        if !piece.title.is_empty() {
            line.push_span(Span::styled(format!(" {}", piece.title), style(theme.text)));
        }
        if screen.mirror.open_asks(session).next().is_some() {
            line.push_span(Span::styled("?", style(theme.alert)));
        }
        buf.set_line(x, area.y, &line, width);
    }
    buf.set_line(area.right() - tail_width, area.y, &tail, tail_width);
}
