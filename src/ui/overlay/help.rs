//! All keys, from the table of actions; typing filters them, Enter does the one that is chosen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::super::actions::Action;
use super::super::keymap::Keymap;
use super::super::look::{sign, state_name, state_style, style};
use super::super::text;
use super::field::Field;
use super::{Modal, Scene, Wish, frame, write};
use crate::config::keys::{Chord, Key as Code};
use crate::protocol::client::State;

#[derive(Debug)]
pub(in super::super) struct Help {
    filter: Field,
    chosen: usize,
}

impl Help {
    pub(in super::super) fn new(scene: Scene<'_>) -> Self {
        Self {
            filter: Field::line("").hint("type to filter", scene.theme),
            chosen: 0,
        }
    }

    /// Those whose words, name or keys have all words of the filter.
    fn shown(&self, keymap: &Keymap) -> Vec<Action> {
        let filter = self.filter.text().to_lowercase();
        Action::ALL
            .iter()
            .copied()
            .filter(|action| {
                let keys = keymap.keys(*action);
                let text = format!("{} {} {}", action.words(), action.name(), keys.join(" "));
                let text = text.to_lowercase();
                filter.split_whitespace().all(|word| text.contains(word))
            })
            .collect()
    }
}

impl Modal for Help {
    fn press(&mut self, key: Chord, scene: Scene<'_>) -> Wish {
        let shown = self.shown(scene.keymap);
        let last = shown.len().saturating_sub(1);
        match (key.key(), key.mods().ctrl) {
            (Code::Esc, _) => return Wish::Close,
            (Code::Down, _) | (Code::Char('n'), true) => self.chosen = (self.chosen + 1).min(last),
            (Code::Up, _) | (Code::Char('p'), true) => self.chosen = self.chosen.saturating_sub(1),
            (Code::PageDown, _) => self.chosen = (self.chosen + 10).min(last),
            (Code::PageUp, _) => self.chosen = self.chosen.saturating_sub(10),
            (Code::Enter, _) => {
                return shown
                    .get(self.chosen)
                    .map_or(Wish::Stay, |action| Wish::Act(*action));
            }
            _ => {
                self.filter.press(key);
                self.chosen = 0;
            }
        }
        Wish::Stay
    }

    fn paste(&mut self, text: &str) {
        self.filter.insert(text);
        self.chosen = 0;
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, scene: Scene<'_>) -> Option<Position> {
        let theme = scene.theme;
        let leader = scene.keymap.leader();
        let title = format!("All keys, after {leader}");
        let keys = [("enter", "do it"), ("↑↓", "choose"), ("esc", "close")];
        let height = u16::try_from(Action::ALL.len()).unwrap_or(u16::MAX);
        let inner = frame(area, (78, height + 7), &title, &keys, buf, theme);
        let field = Rect {
            height: inner.height.min(1),
            ..inner
        };
        let cursor = self.filter.draw(field, buf, theme);
        let room = inner.height.saturating_sub(field.height);
        let notes = if room > 12 { 3 } else { 0 };
        let list = Rect {
            y: field.bottom() + 1,
            height: room.saturating_sub(1 + notes),
            ..inner
        };
        let shown = self.shown(scene.keymap);
        if shown.is_empty() {
            let nothing = Line::styled("no key does that", style(theme.dim));
            write(list, [nothing], buf);
        }
        let top = (self.chosen + 1).saturating_sub(usize::from(list.height));
        let rows = shown.iter().enumerate().skip(top);
        for (y, (index, action)) in (list.y..list.bottom()).zip(rows) {
            if index == self.chosen {
                let row = Rect {
                    y,
                    height: 1,
                    ..list
                };
                buf.set_style(row, style(theme.selection));
            }
            let keys = scene.keymap.keys(*action);
            let line = Line::from(vec![
                Span::styled(format!(" {:<11}", keys.join(" ")), style(theme.key)),
                Span::raw(action.words()),
            ]);
            buf.set_line(list.x, y, &line, list.width);
        }
        let notes = Rect {
            y: list.bottom(),
            height: inner.bottom().saturating_sub(list.bottom()),
            ..list
        };
        let twice = format!("{leader} twice sends it to the program. Shift and drag select text.");
        let twice = text::cut(&twice, usize::from(notes.width)).into_owned();
        let legend = [
            State::Working,
            State::NeedsYou,
            State::YourTurn,
            State::Ended,
            State::Asleep,
            State::Unknown,
        ];
        let legend = legend.into_iter().flat_map(|state| {
            let words = format!(" {}  ", state_name(state));
            [
                Span::styled(sign(state), state_style(theme, state)),
                Span::styled(words, style(theme.dim)),
            ]
        });
        let twice = Line::styled(twice, style(theme.dim));
        write(notes, [Line::default(), legend.collect(), twice], buf);
        cursor
    }
}
