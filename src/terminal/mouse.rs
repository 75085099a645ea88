//! Mouse, wheel, paste and focus as the program asked for them.

use super::cells::{Modes, Mouse};
use super::keys::Mods;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Button {
    Left,
    Middle,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wheel {
    Up,
    Down,
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MouseAction {
    Press(Button),
    Release(Button),
    /// Motion with a button down.
    Drag(Button),
    /// Motion with none.
    Move,
    Wheel(Wheel),
}

/// Column and row count from 0 at the corner of the program's screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MouseEvent {
    pub(crate) action: MouseAction,
    pub(crate) col: u16,
    pub(crate) row: u16,
    pub(crate) held: Mods,
}

/// Arrow keys for one notch of the wheel, as terminals do for programs that know no mouse.
const NOTCH: usize = 3;

/// The bytes for the program; none if it did not ask for this event, which is then the deck's own.
pub(crate) fn mouse_bytes(event: MouseEvent, modes: &Modes) -> Option<Vec<u8>> {
    let wanted = match (modes.mouse, event.action) {
        (Mouse::Off, MouseAction::Wheel(wheel)) => return arrows(wheel, modes),
        (Mouse::Off, _)
        | (Mouse::Click, MouseAction::Drag(_) | MouseAction::Move)
        | (Mouse::Drag, MouseAction::Move) => false,
        (Mouse::Click | Mouse::Drag | Mouse::Motion, _) => true,
    };
    if !wanted {
        return None;
    }
    let code = code(event);
    let released = matches!(event.action, MouseAction::Release(_));
    let (col, row) = (u32::from(event.col) + 1, u32::from(event.row) + 1);
    if modes.sgr_mouse {
        let last = if released { 'm' } else { 'M' };
        return Some(format!("\x1b[<{code};{col};{row}{last}").into_bytes());
    }
    // The older form has one byte for each, and one code for the release of any button.
    let code = if released { code | 3 } else { code };
    let mut bytes = b"\x1b[M".to_vec();
    for value in [u32::from(code), col, row] {
        bytes.push(u8::try_from(value + 32).ok()?);
    }
    Some(bytes)
}

fn code(event: MouseEvent) -> u8 {
    let button = |button| match button {
        Button::Left => 0,
        Button::Middle => 1,
        Button::Right => 2,
    };
    let code = match event.action {
        MouseAction::Press(which) | MouseAction::Release(which) => button(which),
        MouseAction::Drag(which) => 32 + button(which),
        MouseAction::Move => 32 + 3,
        MouseAction::Wheel(Wheel::Up) => 64,
        MouseAction::Wheel(Wheel::Down) => 65,
        MouseAction::Wheel(Wheel::Left) => 66,
        MouseAction::Wheel(Wheel::Right) => 67,
    };
    [(Mods::SHIFT, 4), (Mods::ALT, 8), (Mods::CTRL, 16)]
        .into_iter()
        .filter(|(modifier, _)| event.held.contains(*modifier))
        .fold(code, |code, (_, bit)| code | bit)
}

fn arrows(wheel: Wheel, modes: &Modes) -> Option<Vec<u8>> {
    if !(modes.alternate_screen && modes.alternate_scroll) {
        return None;
    }
    let arrow: &[u8] = match (wheel, modes.application_cursor) {
        (Wheel::Up, true) => b"\x1bOA",
        (Wheel::Up, false) => b"\x1b[A",
        (Wheel::Down, true) => b"\x1bOB",
        (Wheel::Down, false) => b"\x1b[B",
        (Wheel::Left | Wheel::Right, _) => return None,
    };
    Some(arrow.repeat(NOTCH))
}

/// Pasted text. A program that knows pastes gets it between markers, which the text cannot close; any other gets it
/// as if typed.
pub(crate) fn paste_bytes(text: &str, modes: &Modes) -> Vec<u8> {
    let text = text.replace("\r\n", "\n");
    if modes.bracketed_paste {
        let inside: String = text
            .replace("\x1b[201~", "")
            .chars()
            .filter(|c| !matches!(c, '\x1b' | '\u{9b}'))
            .collect();
        format!("\x1b[200~{inside}\x1b[201~").into_bytes()
    } else {
        text.replace('\n', "\r").into_bytes()
    }
}

/// The program's tab came to the front or left it; none if it does not care.
pub(crate) fn focus_bytes(front: bool, modes: &Modes) -> Option<&'static [u8]> {
    let report: &[u8] = if front { b"\x1b[I" } else { b"\x1b[O" };
    modes.focus_reports.then_some(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(action: MouseAction, held: Mods, modes: &Modes) -> Option<String> {
        let event = MouseEvent {
            action,
            col: 9,
            row: 4,
            held,
        };
        mouse_bytes(event, modes).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    fn asked(mouse: Mouse, sgr_mouse: bool) -> Modes {
        Modes {
            mouse,
            sgr_mouse,
            ..Modes::default()
        }
    }

    #[test]
    fn a_program_gets_the_mouse_events_it_asked_for() {
        use MouseAction::{Drag, Move, Press, Release, Wheel as Turn};
        let none = Mods::NONE;
        for (mode, action, mods, bytes) in [
            (Mouse::Off, Press(Button::Left), none, None),
            (
                Mouse::Click,
                Press(Button::Left),
                none,
                Some("\x1b[<0;10;5M"),
            ),
            (
                Mouse::Click,
                Release(Button::Left),
                none,
                Some("\x1b[<0;10;5m"),
            ),
            (
                Mouse::Click,
                Press(Button::Right),
                Mods::CTRL,
                Some("\x1b[<18;10;5M"),
            ),
            (Mouse::Click, Drag(Button::Left), none, None),
            (
                Mouse::Click,
                Turn(Wheel::Down),
                none,
                Some("\x1b[<65;10;5M"),
            ),
            (
                Mouse::Drag,
                Drag(Button::Middle),
                none,
                Some("\x1b[<33;10;5M"),
            ),
            (Mouse::Drag, Move, none, None),
            (Mouse::Motion, Move, Mods::SHIFT, Some("\x1b[<39;10;5M")),
        ] {
            let sent = at(action, mods, &asked(mode, true));
            assert_eq!(sent.as_deref(), bytes, "{mode:?} {action:?}");
        }
    }

    #[test]
    fn the_older_form_ends_where_its_bytes_end() {
        use MouseAction::{Press, Release};
        let modes = asked(Mouse::Click, false);
        assert_eq!(
            at(Press(Button::Right), Mods::NONE, &modes).as_deref(),
            Some("\x1b[M\"*%")
        );
        assert_eq!(
            at(Release(Button::Right), Mods::NONE, &modes).as_deref(),
            Some("\x1b[M#*%")
        );
        for (col, fits) in [(222, true), (223, false)] {
            let event = MouseEvent {
                action: Press(Button::Left),
                col,
                row: 0,
                held: Mods::NONE,
            };
            assert_eq!(mouse_bytes(event, &modes).is_some(), fits, "column {col}");
        }
    }

    /// Three programs: one that reports the mouse, one on the alternate screen that does not, a plain one.
    #[test]
    fn the_wheel_goes_where_the_program_wants_it() {
        let pager = Modes {
            alternate_screen: true,
            alternate_scroll: true,
            ..Modes::default()
        };
        let keypad = Modes {
            application_cursor: true,
            ..pager
        };
        // Codex turns alternate scrolling off.
        let codex = Modes {
            alternate_scroll: false,
            ..pager
        };
        for (modes, bytes) in [
            (asked(Mouse::Motion, true), Some("\x1b[<64;10;5M")),
            (pager, Some("\x1b[A\x1b[A\x1b[A")),
            (keypad, Some("\x1bOA\x1bOA\x1bOA")),
            (codex, None),
            (Modes::default(), None),
        ] {
            let sent = at(MouseAction::Wheel(Wheel::Up), Mods::NONE, &modes);
            assert_eq!(sent.as_deref(), bytes, "{modes:?}");
        }
    }

    #[test]
    fn a_paste_stays_one_paste() {
        let marked = Modes {
            bracketed_paste: true,
            ..Modes::default()
        };
        for (text, modes, bytes) in [
            ("a\nb\nc", &marked, "\x1b[200~a\nb\nc\x1b[201~"),
            ("a\nb\r\nc", &Modes::default(), "a\rb\rc"),
            ("a\x1b[201~b", &marked, "\x1b[200~ab\x1b[201~"),
            // Taking one marker out must not join its neighbours into another.
            ("\x1b[2\x1b[201~01~x", &marked, "\x1b[200~[201~x\x1b[201~"),
            ("\u{9b}201~x", &marked, "\x1b[200~201~x\x1b[201~"),
        ] {
            let sent = String::from_utf8(paste_bytes(text, modes)).unwrap();
            assert_eq!(sent, bytes, "{text:?}");
        }
    }

    #[test]
    fn focus_is_told_to_those_who_asked() {
        let asked = Modes {
            focus_reports: true,
            ..Modes::default()
        };
        assert_eq!(focus_bytes(true, &asked), Some(&b"\x1b[I"[..]));
        assert_eq!(focus_bytes(false, &asked), Some(&b"\x1b[O"[..]));
        assert_eq!(focus_bytes(true, &Modes::default()), None);
    }
}
