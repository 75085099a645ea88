//! Gives a session another title.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::field::Field;
use super::{Modal, Scene, Wish, frame};
use crate::config::keys::{Chord, Key as Code};
use crate::protocol::client::Request;

#[derive(Debug)]
pub(in super::super) struct Rename {
    session: u64,
    title: Field,
}

impl Rename {
    pub(in super::super) fn new(session: u64, title: &str) -> Self {
        Self {
            session,
            title: Field::line(title),
        }
    }
}

impl Modal for Rename {
    fn press(&mut self, key: Chord, _scene: Scene<'_>) -> Wish {
        if key.key() == Code::Esc {
            return Wish::Close;
        }
        if key.key() != Code::Enter {
            self.title.press(key);
            return Wish::Stay;
        }
        if self.title.is_empty() {
            return Wish::Close;
        }
        Wish::Send(Box::new(Request::Rename {
            session: self.session,
            title: self.title.text().trim().to_owned(),
        }))
    }

    fn paste(&mut self, text: &str) {
        self.title.insert(text);
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, scene: Scene<'_>) -> Option<Position> {
        let keys = [("enter", "rename"), ("esc", "leave it")];
        let inner = frame(area, (60, 3), "Another title", &keys, buf, scene.theme);
        self.title.draw(inner, buf, scene.theme)
    }
}
