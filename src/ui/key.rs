//! A key of the terminal as a chord that actions are bound to.

use crate::config::keys::{Chord, Key, Mods};
use crate::terminal::{self, KeyEvent};

/// The chord of a key; none for what no setting can name, which is then the program's alone.
pub(super) fn chord(event: KeyEvent) -> Option<Chord> {
    let held = |mods| event.held.contains(mods);
    if held(terminal::Mods::SUPER) {
        return None;
    }
    let key = match event.key {
        terminal::Key::Char(char) | terminal::Key::Keypad(char) => Key::Char(char),
        terminal::Key::Enter | terminal::Key::KeypadEnter => Key::Enter,
        terminal::Key::Tab => Key::Tab,
        terminal::Key::Backspace => Key::Backspace,
        terminal::Key::Escape => Key::Esc,
        terminal::Key::Up => Key::Up,
        terminal::Key::Down => Key::Down,
        terminal::Key::Right => Key::Right,
        terminal::Key::Left => Key::Left,
        terminal::Key::Home => Key::Home,
        terminal::Key::End => Key::End,
        terminal::Key::Insert => Key::Insert,
        terminal::Key::Delete => Key::Delete,
        terminal::Key::PageUp => Key::PageUp,
        terminal::Key::PageDown => Key::PageDown,
        terminal::Key::F(number) => Key::F(number),
    };
    let mods = Mods {
        ctrl: held(terminal::Mods::CTRL),
        alt: held(terminal::Mods::ALT),
        shift: held(terminal::Mods::SHIFT),
    };
    Some(Chord::new(key, mods))
}
