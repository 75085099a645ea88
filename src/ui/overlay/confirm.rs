//! Asks once more before a program is ended.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::super::look::{state_words, style};
use super::{Modal, Scene, Wish, frame, single, wrapped, write};
use crate::config::keys::{Chord, Key as Code};
use crate::protocol::client::Request;

/// End that session?
#[derive(Debug)]
pub(in super::super) struct Confirm {
    session: u64,
}

impl Confirm {
    pub(in super::super) fn end(session: u64) -> Self {
        Self { session }
    }
}

impl Modal for Confirm {
    fn press(&mut self, key: Chord, scene: Scene<'_>) -> Wish {
        // It may have ended, and gone, while the question stood.
        let gone = scene.mirror.session(self.session).is_none();
        if gone || matches!(key.key(), Code::Esc | Code::Char('n' | 'N' | 'q')) {
            return Wish::Close;
        }
        if matches!(key.key(), Code::Enter | Code::Char('y' | 'Y')) {
            let session = self.session;
            return Wish::Send(Box::new(Request::End { session }));
        }
        Wish::Stay
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, scene: Scene<'_>) -> Option<Position> {
        let theme = scene.theme;
        let keys = [("y", "end it"), ("n", "let it run")];
        let inner = frame(area, (60, 8), "End this session?", &keys, buf, theme);
        let width = usize::from(inner.width);
        let Some(session) = scene.mirror.session(self.session) else {
            write(inner, [Line::styled("it is gone", style(theme.dim))], buf);
            return None;
        };
        let mut lines = vec![
            single(&session.title, width, style(theme.title)),
            single(
                &format!("{} · {}", session.agent, state_words(session)),
                width,
                style(theme.dim),
            ),
            Line::default(),
        ];
        let what = "Its program is told to end. The conversation stays on disk.";
        lines.extend(wrapped(what, width, 3, style(theme.text)));
        write(inner, lines, buf);
        None
    }
}
