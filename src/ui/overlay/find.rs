//! Finds a session, an inbox line or an action by a few letters of it.

use fuzzy_matcher::FuzzyMatcher;
use fuzzy_matcher::skim::SkimMatcherV2;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::actions::Action;
use super::super::look::{self, sign, state_style, style};
use super::super::tabs::open_line;
use super::super::text;
use super::field::Field;
use super::{Modal, Scene, Wish, frame, write};
use crate::config::keys::{Chord, Key as Code};
use crate::protocol::client::{Inbox, InboxLine, Request, Session};

#[derive(Debug)]
pub(in super::super) struct Find {
    letters: Field,
    chosen: usize,
}

/// What can be found, with the text that the letters are looked for in.
struct Found<'a> {
    what: What<'a>,
    text: String,
    /// Places of the letters in `text`, in chars.
    letters: Vec<usize>,
}

enum What<'a> {
    Session(&'a Session),
    Line(&'a Inbox, &'a InboxLine),
    Action(Action),
}

impl Find {
    pub(in super::super) fn new(scene: Scene<'_>) -> Self {
        Self {
            letters: Field::line("").hint("a session, an inbox line, an action", scene.theme),
            chosen: 0,
        }
    }

    /// The best first; all there is while nothing was typed.
    fn found<'a>(&self, scene: Scene<'a>) -> Vec<Found<'a>> {
        let sessions = scene.mirror.sessions.iter().map(|session| {
            let profile = session.profile.as_deref().unwrap_or(&session.agent);
            let text = format!("{} {profile}", session.title);
            (What::Session(session), text)
        });
        let lines = scene.mirror.inboxes().flat_map(|inbox| {
            inbox
                .lines
                .iter()
                .map(|line| (What::Line(inbox, line), line.text.clone()))
        });
        let actions = Action::ALL
            .iter()
            .filter(|action| !action.short().is_empty() && **action != Action::Find)
            .map(|action| (What::Action(*action), action.words().to_owned()));
        let letters = self.letters.text();
        let matcher = SkimMatcherV2::default().smart_case();
        let mut found: Vec<(i64, Found<'a>)> = sessions
            .chain(lines)
            .chain(actions)
            .filter_map(|(what, text)| {
                let text = text::clean(&text).into_owned();
                let (score, letters) = matcher.fuzzy_indices(&text, letters.trim())?;
                let found = Found {
                    what,
                    text,
                    letters,
                };
                Some((score, found))
            })
            .collect();
        // A stable sort keeps sessions before lines before actions where the letters fit alike.
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        found.into_iter().map(|(_, found)| found).collect()
    }
}

impl Modal for Find {
    fn press(&mut self, key: Chord, scene: Scene<'_>) -> Wish {
        match (key.key(), key.mods().ctrl) {
            (Code::Esc, _) => return Wish::Close,
            (Code::Down | Code::Tab, _) | (Code::Char('n' | 'j'), true) => self.chosen += 1,
            (Code::Up, _) | (Code::Char('p' | 'k'), true) => {
                self.chosen = self.chosen.saturating_sub(1);
            }
            (Code::Enter, _) => {
                let found = self.found(scene);
                let chosen = self.chosen.min(found.len().saturating_sub(1));
                return match found.into_iter().nth(chosen).map(|found| found.what) {
                    None => Wish::Stay,
                    Some(What::Session(session)) => Wish::Look(session.id),
                    Some(What::Line(inbox, line)) => {
                        Wish::Send(Box::new(Request::Launch(open_line(inbox, line, None))))
                    }
                    Some(What::Action(action)) => Wish::Act(action),
                };
            }
            _ => {
                self.letters.press(key);
                self.chosen = 0;
                return Wish::Stay;
            }
        }
        let last = self.found(scene).len().saturating_sub(1);
        self.chosen = self.chosen.min(last);
        Wish::Stay
    }

    fn paste(&mut self, text: &str) {
        self.letters.insert(text);
        self.chosen = 0;
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, scene: Scene<'_>) -> Option<Position> {
        let keys = [("enter", "go"), ("↑↓", "choose"), ("esc", "close")];
        let inner = frame(area, (76, 22), "Find", &keys, buf, scene.theme);
        let field = Rect {
            height: inner.height.min(1),
            ..inner
        };
        let cursor = self.letters.draw(field, buf, scene.theme);
        let list = Rect {
            y: field.bottom() + 1,
            height: inner.height.saturating_sub(2),
            ..inner
        };
        let found = self.found(scene);
        if found.is_empty() {
            let nothing = Line::styled("nothing has these letters", style(scene.theme.dim));
            write(list, [nothing], buf);
        }
        let top = (self.chosen + 1).saturating_sub(usize::from(list.height));
        let rows = found.iter().enumerate().skip(top);
        for (y, (index, found)) in (list.y..list.bottom()).zip(rows) {
            let row = Rect {
                y,
                height: 1,
                ..list
            };
            if index == self.chosen {
                buf.set_style(row, style(scene.theme.selection));
            }
            buf.set_line(row.x, row.y, &found.line(list.width, scene), row.width);
        }
        cursor
    }
}

impl Found<'_> {
    fn line(&self, width: u16, scene: Scene<'_>) -> Line<'static> {
        let theme = scene.theme;
        let (head, head_style) = match &self.what {
            What::Session(session) => (sign(session.state), state_style(theme, session.state)),
            What::Line(..) => ("☐", style(theme.dim)),
            What::Action(_) => ("›", style(theme.dim)),
        };
        let (tail, tail_style) = match &self.what {
            What::Session(session) => {
                let tag = session.profile.as_deref().unwrap_or_default();
                (tag.to_owned(), look::tag(theme, session.color.as_deref()))
            }
            What::Line(_, line) => {
                let tag = line.profile.as_ref().map(|tag| format!("#{tag}"));
                (tag.unwrap_or_default(), style(theme.tag))
            }
            What::Action(action) => {
                let keys = [scene.keymap.leader(), scene.keymap.key(*action)];
                (keys.join(" "), style(theme.key))
            }
        };
        let tail = text::clean(&tail).into_owned();
        let mut shown = self.text.as_str();
        if let What::Session(session) = &self.what {
            // The profile stands at the right.
            let title = text::clean(&session.title).len();
            shown = shown.get(..title).unwrap_or(shown);
        }
        let room = usize::from(width).saturating_sub(text::cells(&tail) + 5);
        let shown = text::cut(shown, room).into_owned();
        let gap = room.saturating_sub(text::cells(&shown)) + 2;
        let mut line = Line::from(Span::styled(format!(" {head} "), head_style));
        for span in marked(&shown, &self.letters, style(theme.matched)) {
            line.push_span(span);
        }
        line.push_span(Span::raw(" ".repeat(gap)));
        line.push_span(Span::styled(tail, tail_style));
        line
    }
}

/// The text in spans, with the chars at `places` set off.
pub(super) fn marked(text: &str, places: &[usize], style: Style) -> Vec<Span<'static>> {
    let mut spans: Vec<(bool, String)> = Vec::new();
    for (place, char) in text.chars().enumerate() {
        let on = places.contains(&place);
        match spans.last_mut() {
            Some((last, text)) if *last == on => text.push(char),
            Some(_) | None => spans.push((on, char.to_string())),
        }
    }
    spans
        .into_iter()
        .map(|(on, text)| {
            if on {
                Span::styled(text, style)
            } else {
                Span::raw(text)
            }
        })
        .collect()
}
