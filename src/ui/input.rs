//! Reads what the terminal sends. The only place that knows crossterm.

use std::sync::mpsc::Sender;
use std::{io, thread};

use crossterm::event::{
    self, Event, KeyCode, KeyEventKind, KeyEventState, KeyModifiers, MouseButton, MouseEventKind,
};
use crossterm::terminal;

use super::message::{Leave, Message};
use crate::terminal::{Action, Button, Key, KeyEvent, Mods, MouseAction, MouseEvent, Size, Wheel};

/// Sends what the terminal sends until nobody listens any more, or the terminal is gone.
pub(super) fn listen(to: Sender<Message>) -> io::Result<()> {
    let read = move || {
        loop {
            let message = match event::read() {
                Ok(event) => message(event),
                Err(error) => {
                    let why = format!("the terminal cannot be read: {error}");
                    drop(to.send(Message::End(Leave::Lost(why))));
                    return;
                }
            };
            if let Some(message) = message
                && to.send(message).is_err()
            {
                return;
            }
        }
    };
    thread::Builder::new().name("input".into()).spawn(read)?;
    Ok(())
}

/// Whether the terminal hands over each key as it is. Crossterm does it, since it reads line feeds differently while it
/// thinks that the terminal is not raw.
pub(super) fn raw(on: bool) -> io::Result<()> {
    if on {
        terminal::enable_raw_mode()
    } else {
        terminal::disable_raw_mode()
    }
}

fn message(event: Event) -> Option<Message> {
    match event {
        Event::Key(event) => key(event).map(Message::Key),
        Event::Mouse(event) => Some(Message::Mouse(MouseEvent {
            action: mouse(event.kind),
            col: event.column,
            row: event.row,
            held: mods(event.modifiers),
        })),
        Event::Paste(text) => Some(Message::Paste(text)),
        Event::FocusGained => Some(Message::Focus(true)),
        Event::FocusLost => Some(Message::Focus(false)),
        Event::Resize(cols, rows) => Some(Message::Resize(Size { cols, rows })),
    }
}

fn key(event: event::KeyEvent) -> Option<KeyEvent> {
    let mut held = mods(event.modifiers);
    let keypad = event.state.contains(KeyEventState::KEYPAD);
    let key = match event.code {
        KeyCode::Char(char) if keypad => Key::Keypad(char),
        KeyCode::Char(char) => {
            // Terminals that report the shifted key drop shift from it; those that report the key itself leave it
            // small. A program is told of both.
            let char = match one(char.to_uppercase()) {
                Some(capital) if held.contains(Mods::SHIFT) => capital,
                Some(_) | None => char,
            };
            if char.is_uppercase() {
                held = held.with(Mods::SHIFT);
            }
            Key::Char(char)
        }
        KeyCode::Enter if keypad => Key::KeypadEnter,
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => {
            held = held.with(Mods::SHIFT);
            Key::Tab
        }
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Esc => Key::Escape,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Insert => Key::Insert,
        KeyCode::Delete => Key::Delete,
        KeyCode::F(number) => Key::F(number),
        KeyCode::Null
        | KeyCode::CapsLock
        | KeyCode::ScrollLock
        | KeyCode::NumLock
        | KeyCode::PrintScreen
        | KeyCode::Pause
        | KeyCode::Menu
        | KeyCode::KeypadBegin
        | KeyCode::Media(_)
        | KeyCode::Modifier(_) => return None,
    };
    let action = match event.kind {
        KeyEventKind::Press => Action::Press,
        KeyEventKind::Repeat => Action::Repeat,
        KeyEventKind::Release => return None,
    };
    Some(KeyEvent { key, held, action })
}

fn one(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next();
    first.filter(|_| chars.next().is_none())
}

fn mods(held: KeyModifiers) -> Mods {
    [
        (KeyModifiers::SHIFT, Mods::SHIFT),
        (KeyModifiers::ALT, Mods::ALT),
        (KeyModifiers::CONTROL, Mods::CTRL),
        (KeyModifiers::SUPER, Mods::SUPER),
    ]
    .into_iter()
    .filter(|(modifier, _)| held.contains(*modifier))
    .fold(Mods::NONE, |all, (_, mods)| all.with(mods))
}

fn mouse(kind: MouseEventKind) -> MouseAction {
    let button = |button| match button {
        MouseButton::Left => Button::Left,
        MouseButton::Middle => Button::Middle,
        MouseButton::Right => Button::Right,
    };
    match kind {
        MouseEventKind::Down(which) => MouseAction::Press(button(which)),
        MouseEventKind::Up(which) => MouseAction::Release(button(which)),
        MouseEventKind::Drag(which) => MouseAction::Drag(button(which)),
        MouseEventKind::Moved => MouseAction::Move,
        MouseEventKind::ScrollUp => MouseAction::Wheel(Wheel::Up),
        MouseEventKind::ScrollDown => MouseAction::Wheel(Wheel::Down),
        MouseEventKind::ScrollLeft => MouseAction::Wheel(Wheel::Left),
        MouseEventKind::ScrollRight => MouseAction::Wheel(Wheel::Right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_is_in_the_letter_and_beside_it() {
        let shift = KeyModifiers::SHIFT;
        let ctrl = KeyModifiers::CONTROL;
        for (code, modifiers, expected, held) in [
            (
                KeyCode::Char('a'),
                KeyModifiers::NONE,
                Key::Char('a'),
                Mods::NONE,
            ),
            (KeyCode::Char('A'), shift, Key::Char('A'), Mods::SHIFT),
            (
                KeyCode::Char('A'),
                KeyModifiers::NONE,
                Key::Char('A'),
                Mods::SHIFT,
            ),
            (
                KeyCode::Char('a'),
                ctrl | shift,
                Key::Char('A'),
                Mods::CTRL.with(Mods::SHIFT),
            ),
            (KeyCode::Char('ß'), shift, Key::Char('ß'), Mods::SHIFT),
            (
                KeyCode::Char('?'),
                KeyModifiers::NONE,
                Key::Char('?'),
                Mods::NONE,
            ),
            (KeyCode::BackTab, shift, Key::Tab, Mods::SHIFT),
            (KeyCode::Char(' '), ctrl, Key::Char(' '), Mods::CTRL),
        ] {
            let event = event::KeyEvent::new(code, modifiers);
            let key = key(event).map(|event| (event.key, event.held));
            assert_eq!(key, Some((expected, held)), "{code:?} {modifiers:?}");
        }
    }
}
