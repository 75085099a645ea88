//! A field that text is typed into, of one line or several.

use std::fmt;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::Widget;
use tui_textarea::{CursorMove, Input, Key as TextKey, TextArea, WrapMode};

use super::super::look;
use crate::config::keys::{Chord, Key as Code};
use crate::config::themes::Theme;

pub(super) struct Field {
    area: TextArea<'static>,
    lines: bool,
}

impl Field {
    /// A field of one line that holds `text`, with the cursor behind it.
    pub(super) fn line(text: &str) -> Self {
        Self::new(text, false)
    }

    /// A field of several lines that holds `text`, with the cursor behind it.
    pub(super) fn lines(text: &str) -> Self {
        Self::new(text, true)
    }

    fn new(text: &str, lines: bool) -> Self {
        let mut area = TextArea::default();
        area.set_cursor_line_style(Style::new());
        // The terminal's own cursor stands there, where input methods look for it.
        area.set_cursor_style(Style::new());
        if lines {
            area.set_wrap_mode(WrapMode::WordOrGlyph);
        }
        let mut field = Self { area, lines };
        field.insert(text);
        field.area.move_cursor(CursorMove::End);
        field
    }

    #[must_use]
    pub(super) fn hint(mut self, hint: &str, theme: &Theme) -> Self {
        self.area.set_placeholder_text(hint);
        self.area.set_placeholder_style(look::style(theme.dim));
        self
    }

    pub(super) fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.area.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Edits the text. The key of a new line is for the overlay to choose, see [`Field::newline`].
    pub(super) fn press(&mut self, key: Chord) {
        let text_key = match key.key() {
            Code::Char(char) => TextKey::Char(char),
            Code::Backspace => TextKey::Backspace,
            Code::Delete => TextKey::Delete,
            Code::Left => TextKey::Left,
            Code::Right => TextKey::Right,
            Code::Up => TextKey::Up,
            Code::Down => TextKey::Down,
            Code::Home => TextKey::Home,
            Code::End => TextKey::End,
            Code::PageUp
            | Code::PageDown
            | Code::Insert
            | Code::F(_)
            | Code::Enter
            | Code::Tab
            | Code::Esc => return,
        };
        let input = Input {
            key: text_key,
            ctrl: key.mods().ctrl,
            alt: key.mods().alt,
            shift: key.mods().shift,
        };
        // ctrl-m and ctrl-j are line breaks to the widget.
        let breaks = matches!(key.key(), Code::Char('m' | 'j')) && key.mods().ctrl;
        if !breaks {
            self.area.input(input);
        } else if self.lines {
            self.area.insert_newline();
        }
    }

    /// A line break in a field of several lines.
    pub(super) fn newline(&mut self) {
        if self.lines {
            self.area.insert_newline();
        }
    }

    /// Puts text in at the cursor; what a terminal would act on is left out.
    pub(super) fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text: String = text
            .chars()
            .filter_map(|char| match char {
                '\n' if self.lines => Some('\n'),
                '\n' | '\t' => Some(' '),
                other if other.is_control() => None,
                other => Some(other),
            })
            .collect();
        self.area.insert_str(text);
    }

    /// Draws the text and says where the cursor stands.
    pub(super) fn draw(&self, area: Rect, buf: &mut Buffer, theme: &Theme) -> Option<Position> {
        buf.set_style(area, look::style(theme.field));
        self.area.render(area, buf);
        let cursor = self.area.screen_cursor();
        let (top, left) = self.area.scroll_offset();
        let x = u16::try_from(cursor.col).ok()?.checked_sub(left)?;
        let y = u16::try_from(cursor.row).ok()?.checked_sub(top)?;
        let x = area.x + x.min(area.width.saturating_sub(1));
        (y < area.height).then(|| Position::new(x, area.y + y))
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Field").field(&self.text()).finish()
    }
}
