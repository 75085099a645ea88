//! The tabs at the left: two rows each while there is room, one when there is not.

use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::super::look::{self, sign, state_style, style};
use super::super::state::Screen;
use super::super::text;
use super::meter;
use crate::protocol::client::{Session, State};

/// What stands in the rows of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row<'a> {
    /// The repo of the tabs that follow.
    Repo(&'a Path),
    Title(usize),
    Detail(usize),
    Gap,
}

/// The rows of all tabs, as roomy as the height allows.
fn rows(screen: &Screen, height: usize) -> Vec<Row<'_>> {
    let sessions = &screen.mirror.sessions;
    let grouped = sessions.windows(2).any(|pair| pair[0].repo != pair[1].repo);
    let arranged = |details: bool, gaps: bool| {
        let mut rows = Vec::new();
        let mut repo = None;
        for (place, session) in sessions.iter().enumerate() {
            if grouped && repo != Some(&session.repo) {
                if !rows.is_empty() && details {
                    rows.push(Row::Gap);
                }
                rows.push(Row::Repo(&session.repo));
                repo = Some(&session.repo);
            } else if gaps && place > 0 {
                rows.push(Row::Gap);
            }
            rows.push(Row::Title(place));
            if details {
                rows.push(Row::Detail(place));
            }
        }
        rows
    };
    for (details, gaps) in [(true, true), (true, false)] {
        let rows = arranged(details, gaps);
        if rows.len() <= height {
            return rows;
        }
    }
    arranged(false, false)
}

/// The rows that are seen, so that the tab in front is among them, and how many are hidden above and below.
fn seen(screen: &Screen, height: usize) -> (Vec<Row<'_>>, usize, usize) {
    let mut rows = rows(screen, height);
    if rows.len() <= height {
        return (rows, 0, 0);
    }
    let front = screen.tabs.front.and_then(|id| screen.mirror.place(id));
    let front = front.and_then(|place| rows.iter().position(|row| *row == Row::Title(place)));
    // The first and the last row may be needed to say how many are hidden.
    let top = front.unwrap_or(0).saturating_sub(height / 2);
    let top = top.min(rows.len() - height);
    let below = rows.len() - height - top;
    rows.drain(..top);
    rows.truncate(height);
    (rows, top, below)
}

/// The session on that row of the list.
pub(in super::super) fn session_at(screen: &Screen, area: Rect, y: u16) -> Option<u64> {
    let (rows, _, _) = seen(screen, usize::from(area.height));
    match rows.get(usize::from(y.checked_sub(area.y)?))? {
        Row::Title(place) | Row::Detail(place) => {
            screen.mirror.sessions.get(*place).map(|session| session.id)
        }
        Row::Repo(_) | Row::Gap => None,
    }
}

pub(super) fn draw(screen: &Screen, area: Rect, buf: &mut Buffer) {
    let theme = &screen.theme;
    if screen.mirror.sessions.is_empty() {
        let line = Line::styled(" no sessions", style(theme.dim));
        buf.set_line(area.x, area.y, &line, area.width);
        return;
    }
    let (rows, above, below) = seen(screen, usize::from(area.height));
    let last = rows.len() - 1;
    for (index, (y, row)) in (area.top()..area.bottom()).zip(rows).enumerate() {
        let place = Rect {
            y,
            height: 1,
            ..area
        };
        let hidden = match index {
            0 if above > 0 => Some(format!("   ↑ {} more", above + 1)),
            _ if index == last && below > 0 => Some(format!("   ↓ {} more", below + 1)),
            _ => None,
        };
        let line = match (hidden, row) {
            (Some(hidden), _) => Line::styled(hidden, style(theme.dim)),
            (None, Row::Gap) => continue,
            (None, Row::Repo(repo)) => repo_line(screen, repo, area.width),
            (None, Row::Title(place) | Row::Detail(place)) => {
                let session = &screen.mirror.sessions[place];
                if screen.tabs.front == Some(session.id) {
                    buf.set_style(
                        Rect {
                            y,
                            height: 1,
                            ..area
                        },
                        style(theme.selection),
                    );
                }
                match row {
                    Row::Title(_) => title_line(screen, session, place, area.width),
                    Row::Detail(_) | Row::Repo(_) | Row::Gap => {
                        detail_line(screen, session, area.width)
                    }
                }
            }
        };
        buf.set_line(place.x, place.y, &line, place.width);
    }
}

fn repo_line(screen: &Screen, repo: &Path, width: u16) -> Line<'static> {
    let name = repo.file_name().unwrap_or(repo.as_os_str());
    let name = text::clean(&name.to_string_lossy()).into_owned();
    let name = text::cut(&name, usize::from(width) - 2).into_owned();
    Line::styled(format!(" {name}"), style(screen.theme.title))
}

/// `▌1 ● fix the flaky login test   ?`
fn title_line(screen: &Screen, session: &Session, place: usize, width: u16) -> Line<'static> {
    let theme = &screen.theme;
    let front = screen.tabs.front == Some(session.id);
    let bar = if front { "▌" } else { " " };
    let asks = screen.mirror.open_asks(session).count();
    let mark = match asks {
        0 => String::new(),
        1 => " ? ".into(),
        more => format!(" ?{more} "),
    };
    let number = format!("{:>2}", place + 1);
    let room = usize::from(width).saturating_sub(number.len() + 5 + mark.len());
    let title = text::clean(&session.title).into_owned();
    let title = text::cut(&title, room).into_owned();
    let gap = room.saturating_sub(text::cells(&title)) + 1;
    Line::from(vec![
        Span::styled(bar, style(theme.accent)),
        Span::styled(number, style(theme.dim)),
        Span::raw(" "),
        Span::styled(sign(session.state), state_style(theme, session.state)),
        Span::raw(" "),
        Span::styled(title, style(theme.text)),
        Span::raw(" ".repeat(gap - 1)),
        Span::styled(mark, style(theme.alert)),
    ])
}

/// Cells of a bar; a shorter one says nothing.
const SHORTEST_BAR: usize = 4;

/// `       bugfix  ━━━━━━──── 412k/1M`; without the window where the bar would become too short.
fn detail_line(screen: &Screen, session: &Session, width: u16) -> Line<'static> {
    let theme = &screen.theme;
    let front = screen.tabs.front == Some(session.id);
    let room = usize::from(width).saturating_sub(8);
    let tag = session.profile.as_deref().unwrap_or(&session.agent);
    let tag = text::clean(tag).into_owned();
    let tag = text::cut(&tag, (room / 2).clamp(4, 12)).into_owned();
    let tag_style = match session.profile {
        Some(_) => look::tag(theme, session.color.as_deref()),
        None => style(theme.dim),
    };
    let ending = session.exit_code.map(|code| format!("exit {code}"));
    let ending = (session.state == State::Ended).then(|| ending.unwrap_or("ended".into()));
    let beside = ending.as_deref().map_or(SHORTEST_BAR, text::cells);
    let room = room.saturating_sub(text::cells(&tag) + 1);
    let figure = Some(meter::figure(&session.meter))
        .filter(|figure| beside + 1 + figure.len() <= room)
        .unwrap_or_else(|| meter::tokens(&session.meter));
    let room = room.saturating_sub(figure.len());
    let mut line = Line::from(vec![
        Span::styled(if front { "▌" } else { " " }, style(theme.accent)),
        Span::raw("     "),
        Span::styled(tag, tag_style),
        Span::raw(" "),
    ]);
    if let Some(words) = ending {
        let words = text::cut(&words, room.saturating_sub(1)).into_owned();
        let gap = room.saturating_sub(text::cells(&words));
        let tone = match session.exit_code {
            Some(0) | None => theme.dim,
            Some(_) => theme.alert,
        };
        line.push_span(Span::styled(words, style(tone)));
        line.push_span(Span::raw(" ".repeat(gap)));
    } else {
        let cells = room.saturating_sub(1);
        let bar = if cells >= SHORTEST_BAR {
            let cells = u16::try_from(cells).unwrap_or(u16::MAX);
            meter::bar(&session.meter, cells, theme)
        } else {
            Line::default()
        };
        let gap = room.saturating_sub(text::cells(&bar.to_string()));
        line.spans.extend(bar.spans);
        line.push_span(Span::raw(" ".repeat(gap)));
    }
    line.push_span(Span::styled(figure, meter::level(&session.meter, theme)));
    line
}
