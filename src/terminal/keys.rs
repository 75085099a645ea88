//! Keys to bytes, in the encoding that the program asked for: legacy, xterm's modifyOtherKeys, or kitty's.
//!
//! Rests on xterm's control sequences (modified keys) and the kitty keyboard protocol. What no encoding can say is
//! not sent at all, so that a program never gets half a key.

use super::cells::Modes;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// The character as the layout makes it: with shift `A`, not `a`.
    Char(char),
    Enter,
    Tab,
    Backspace,
    Escape,
    Up,
    Down,
    Right,
    Left,
    Home,
    End,
    Insert,
    Delete,
    PageUp,
    PageDown,
    /// 1 to 35.
    F(u8),
    /// A key of the number pad: a digit or one of `.+-*/=`.
    Keypad(char),
    KeypadEnter,
}

/// The modifiers that are held, one bit each, as the kitty protocol counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Mods(pub(crate) u8);

impl Mods {
    pub(crate) const NONE: Mods = Mods(0);
    pub(crate) const SHIFT: Mods = Mods(1);
    pub(crate) const ALT: Mods = Mods(2);
    pub(crate) const CTRL: Mods = Mods(4);
    pub(crate) const SUPER: Mods = Mods(8);

    pub(crate) fn contains(self, other: Mods) -> bool {
        self.0 & other.0 == other.0
    }

    #[must_use]
    pub(crate) fn with(self, other: Mods) -> Mods {
        Mods(self.0 | other.0)
    }

    /// The same without shift, which the character shows already.
    fn beside_shift(self) -> Mods {
        Mods(self.0 & !Mods::SHIFT.0)
    }

    /// The number that stands for them in a sequence.
    fn number(self) -> u8 {
        self.0.saturating_add(1)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    #[default]
    Press,
    Repeat,
    Release,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeyEvent {
    pub(crate) key: Key,
    pub(crate) held: Mods,
    pub(crate) action: Action,
}

#[cfg(test)]
impl KeyEvent {
    pub(crate) fn press(key: Key, held: Mods) -> Self {
        KeyEvent {
            key,
            held,
            action: Action::Press,
        }
    }
}

/// Flags of the kitty protocol.
const DISAMBIGUATE: u8 = 1;
const EVENT_TYPES: u8 = 2;
const ALTERNATES: u8 = 4;
const ALL_KEYS: u8 = 8;
const TEXT: u8 = 16;

/// The bytes for the program; empty where its encoding has none for this event.
pub(crate) fn key_bytes(event: KeyEvent, modes: &Modes) -> Vec<u8> {
    if event.action == Action::Release && modes.kitty & EVENT_TYPES == 0 {
        return Vec::new();
    }
    if modes.kitty & (DISAMBIGUATE | ALL_KEYS) != 0 {
        return kitty(event, modes.kitty);
    }
    // Event types alone say nothing of keys that keep their legacy form.
    if event.action == Action::Release {
        return Vec::new();
    }
    other_keys(event, modes).unwrap_or_else(|| legacy(event, modes))
}

/// How a key is written as `CSI number ; mods final`.
struct Form {
    number: u32,
    last: char,
}

/// Keys that have a sequence in every encoding.
fn function_key(key: Key) -> Option<Form> {
    let form = |number, last| Some(Form { number, last });
    match key {
        Key::Up => form(1, 'A'),
        Key::Down => form(1, 'B'),
        Key::Right => form(1, 'C'),
        Key::Left => form(1, 'D'),
        Key::Home => form(1, 'H'),
        Key::End => form(1, 'F'),
        Key::F(1) => form(1, 'P'),
        Key::F(2) => form(1, 'Q'),
        Key::F(3) => form(1, 'R'),
        Key::F(4) => form(1, 'S'),
        Key::F(n @ 5..=20) => {
            const NUMBERS: [u32; 16] = [
                15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34,
            ];
            form(NUMBERS[usize::from(n - 5)], '~')
        }
        Key::Insert => form(2, '~'),
        Key::Delete => form(3, '~'),
        Key::PageUp => form(5, '~'),
        Key::PageDown => form(6, '~'),
        Key::Char(_)
        | Key::Enter
        | Key::Tab
        | Key::Backspace
        | Key::Escape
        | Key::F(_)
        | Key::Keypad(_)
        | Key::KeypadEnter => None,
    }
}

/// Keys that have been control characters ever since.
fn control_key(key: Key) -> Option<u8> {
    [
        (Key::Enter, b'\r'),
        (Key::Tab, b'\t'),
        (Key::Backspace, 0x7f),
        (Key::Escape, 0x1b),
    ]
    .into_iter()
    .find(|(known, _)| *known == key)
    .map(|(_, control)| control)
}

fn legacy(event: KeyEvent, modes: &Modes) -> Vec<u8> {
    let KeyEvent { key, held, .. } = event;
    let held = Mods(held.0 & (Mods::SHIFT.0 | Mods::ALT.0 | Mods::CTRL.0));
    if let Some(form) = function_key(key) {
        return match (form.last, held) {
            ('~', Mods::NONE) => format!("\x1b[{}~", form.number),
            ('P'..='S', Mods::NONE) => format!("\x1bO{}", form.last),
            (last, Mods::NONE) if modes.application_cursor => format!("\x1bO{last}"),
            (last, Mods::NONE) => format!("\x1b[{last}"),
            (last, held) => format!("\x1b[{};{}{last}", form.number, held.number()),
        }
        .into_bytes();
    }
    if key == Key::Tab && held.contains(Mods::SHIFT) {
        return b"\x1b[Z".to_vec();
    }
    if let Some(last) = application_keypad(key).filter(|_| modes.application_keypad) {
        return vec![0x1b, b'O', last];
    }
    let ctrl = held.contains(Mods::CTRL);
    let mut bytes = Vec::new();
    // Shift+Enter has no legacy form. What Alt+Enter sends, programs take as a new line too.
    if held.contains(Mods::ALT) || (key == Key::Enter && held.contains(Mods::SHIFT)) {
        bytes.push(0x1b);
    }
    if let Key::Char(c) | Key::Keypad(c) = key {
        match control_of(c).filter(|_| ctrl) {
            Some(control) => bytes.push(control),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    } else if key == Key::KeypadEnter {
        bytes.push(b'\r');
    } else if key == Key::Backspace && ctrl {
        bytes.push(0x08);
    } else if let Some(control) = control_key(key) {
        bytes.push(control);
    } else {
        return Vec::new();
    }
    bytes
}

/// xterm's modifyOtherKeys: `CSI 27 ; mods ; code ~` for keys that legacy cannot tell apart.
fn other_keys(event: KeyEvent, modes: &Modes) -> Option<Vec<u8>> {
    let KeyEvent { key, held, .. } = event;
    // Back tab is older than all of this.
    let known = key == Key::Tab && held == Mods::SHIFT;
    if modes.modify_other_keys == 0 || held == Mods::NONE || known {
        return None;
    }
    let code = if let Key::Char(c) = key {
        let beside = held.beside_shift();
        // Level 1 leaves alone what legacy has a code for.
        let known = beside == Mods::ALT || (beside.contains(Mods::CTRL) && control_of(c).is_some());
        if beside == Mods::NONE || (modes.modify_other_keys == 1 && known) {
            return None;
        }
        u32::from(c)
    } else {
        u32::from(control_key(key)?)
    };
    Some(format!("\x1b[27;{};{code}~", held.number()).into_bytes())
}

fn kitty(event: KeyEvent, flags: u8) -> Vec<u8> {
    let KeyEvent { key, held, action } = event;
    let all = flags & ALL_KEYS != 0;
    let text = if let Key::Char(c) = key {
        Some(c).filter(|_| held.beside_shift() == Mods::NONE)
    } else {
        None
    };
    // Text and the oldest keys stay what they were, so that a shell left behind by a crashed program can be typed at.
    if let Some(c) = text
        && !all
        && action != Action::Release
    {
        return c.to_string().into_bytes();
    }
    if let Some(control) = control_key(key)
        && !all
        && key != Key::Escape
    {
        if action == Action::Release {
            return Vec::new();
        }
        if held == Mods::NONE {
            return vec![control];
        }
    }
    let Some(Form { number, last }) = kitty_form(key) else {
        return Vec::new();
    };
    let kind = match action {
        Action::Repeat if flags & EVENT_TYPES != 0 => ":2",
        Action::Release => ":3",
        Action::Press | Action::Repeat => "",
    };
    let text = text.filter(|_| flags & TEXT != 0 && action != Action::Release);
    let modified = held != Mods::NONE || !kind.is_empty();
    let number_shown = if number != 1 || modified {
        number.to_string()
    } else {
        String::new()
    };
    let shifted = if let Key::Char(c) = key
        && flags & ALTERNATES != 0
        && held.contains(Mods::SHIFT)
        && u32::from(c) != number
    {
        format!(":{}", u32::from(c))
    } else {
        String::new()
    };
    let modifiers = if modified {
        format!(";{}{kind}", held.number())
    } else {
        String::new()
    };
    let text = text.map_or_else(String::new, |c| {
        let skipped = if modified { "" } else { ";" };
        format!("{skipped};{}", u32::from(c))
    });
    format!("\x1b[{number_shown}{shifted}{modifiers}{text}{last}").into_bytes()
}

fn kitty_form(key: Key) -> Option<Form> {
    let form = |number| Some(Form { number, last: 'u' });
    if let Key::Char(c) = key {
        form(u32::from(unshifted(c)))
    } else if let Key::Keypad(c) = key {
        form(keypad_code(c)?)
    } else if key == Key::KeypadEnter {
        form(57414)
    } else if key == Key::F(3) {
        // `CSI R` would be a cursor report.
        Some(Form {
            number: 13,
            last: '~',
        })
    } else if let Key::F(n @ 13..=35) = key {
        form(57376 + u32::from(n - 13))
    } else if let Some(control) = control_key(key) {
        form(u32::from(control))
    } else {
        function_key(key)
    }
}

/// The key that makes this character together with shift; only letters are the same on every layout.
fn unshifted(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(single), None) => single,
        _ => c,
    }
}

/// What a key together with ctrl has sent since terminals had keyboards.
fn control_of(c: char) -> Option<u8> {
    match c.to_ascii_lowercase() {
        letter @ 'a'..='z' => Some(letter as u8 & 0x1f),
        ' ' | '@' | '2' => Some(0x00),
        '[' | '3' => Some(0x1b),
        '\\' | '4' => Some(0x1c),
        ']' | '5' => Some(0x1d),
        '^' | '6' | '~' => Some(0x1e),
        '_' | '/' | '7' => Some(0x1f),
        '?' | '8' => Some(0x7f),
        _ => None,
    }
}

fn application_keypad(key: Key) -> Option<u8> {
    if key == Key::KeypadEnter {
        return Some(b'M');
    }
    let Key::Keypad(c) = key else {
        return None;
    };
    match c {
        '0'..='9' => Some(b'p' + (c as u8 - b'0')),
        '*' => Some(b'j'),
        '+' => Some(b'k'),
        '-' => Some(b'm'),
        '.' => Some(b'n'),
        '/' => Some(b'o'),
        '=' => Some(b'X'),
        _ => None,
    }
}

fn keypad_code(c: char) -> Option<u32> {
    match c {
        '0'..='9' => Some(57399 + u32::from(c) - u32::from('0')),
        '.' => Some(57409),
        '/' => Some(57410),
        '*' => Some(57411),
        '-' => Some(57412),
        '+' => Some(57413),
        '=' => Some(57415),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kitty(flags: u8) -> Modes {
        Modes {
            kitty: flags,
            ..Modes::default()
        }
    }

    fn sent(key: Key, held: Mods, action: Action, modes: &Modes) -> String {
        let event = KeyEvent { key, held, action };
        String::from_utf8(key_bytes(event, modes)).unwrap()
    }

    const SHIFT: Mods = Mods::SHIFT;
    const ALT: Mods = Mods::ALT;
    const CTRL: Mods = Mods::CTRL;
    const NONE: Mods = Mods::NONE;

    #[test]
    fn legacy_keys_are_what_terminals_always_sent() {
        let plain = Modes::default();
        for (key, mods, bytes) in [
            (Key::Char('a'), NONE, "a"),
            (Key::Char('A'), SHIFT, "A"),
            (Key::Char('ü'), NONE, "ü"),
            (Key::Char('x'), ALT, "\x1bx"),
            (Key::Char('ü'), ALT, "\x1bü"),
            (Key::Char('c'), CTRL, "\x03"),
            (Key::Char('C'), CTRL.with(SHIFT), "\x03"),
            (Key::Char('c'), CTRL.with(ALT), "\x1b\x03"),
            (Key::Char(' '), CTRL, "\0"),
            (Key::Char('/'), CTRL, "\x1f"),
            (Key::Char('\\'), CTRL, "\x1c"),
            (Key::Char('é'), CTRL, "é"),
            (Key::Enter, NONE, "\r"),
            (Key::Enter, ALT, "\x1b\r"),
            (Key::Enter, CTRL, "\r"),
            (Key::Tab, NONE, "\t"),
            (Key::Tab, SHIFT, "\x1b[Z"),
            (Key::Backspace, NONE, "\x7f"),
            (Key::Backspace, CTRL, "\x08"),
            (Key::Backspace, ALT, "\x1b\x7f"),
            (Key::Escape, NONE, "\x1b"),
            (Key::Escape, ALT, "\x1b\x1b"),
            (Key::Up, NONE, "\x1b[A"),
            (Key::Left, CTRL, "\x1b[1;5D"),
            (Key::Home, SHIFT, "\x1b[1;2H"),
            (Key::End, NONE, "\x1b[F"),
            (Key::Delete, NONE, "\x1b[3~"),
            (Key::PageUp, CTRL.with(SHIFT), "\x1b[5;6~"),
            (Key::F(1), NONE, "\x1bOP"),
            (Key::F(3), ALT, "\x1b[1;3R"),
            (Key::F(5), NONE, "\x1b[15~"),
            (Key::F(12), SHIFT, "\x1b[24;2~"),
            (Key::F(20), NONE, "\x1b[34~"),
            (Key::F(30), NONE, ""),
            (Key::Keypad('5'), NONE, "5"),
            (Key::KeypadEnter, NONE, "\r"),
            (Key::Char('v'), Mods::SUPER, "v"),
        ] {
            assert_eq!(
                sent(key, mods, Action::Press, &plain),
                bytes,
                "{key:?} {mods:?}"
            );
            assert_eq!(
                sent(key, mods, Action::Repeat, &plain),
                bytes,
                "{key:?} {mods:?}"
            );
            assert_eq!(
                sent(key, mods, Action::Release, &plain),
                "",
                "{key:?} {mods:?}"
            );
        }
    }

    #[test]
    fn application_modes_change_arrows_and_the_number_pad() {
        let modes = Modes {
            application_cursor: true,
            application_keypad: true,
            ..Modes::default()
        };
        for (key, mods, bytes) in [
            (Key::Up, NONE, "\x1bOA"),
            (Key::Home, NONE, "\x1bOH"),
            (Key::Up, SHIFT, "\x1b[1;2A"),
            (Key::Delete, NONE, "\x1b[3~"),
            (Key::Keypad('5'), NONE, "\x1bOu"),
            (Key::Keypad('+'), NONE, "\x1bOk"),
            (Key::KeypadEnter, NONE, "\x1bOM"),
        ] {
            assert_eq!(sent(key, mods, Action::Press, &modes), bytes, "{key:?}");
        }
    }

    /// A program gets shift+enter in the form it asked for, and where it asked for none, one that means a new line.
    #[test]
    fn shift_enter_never_sends_the_line() {
        let other = |level| Modes {
            modify_other_keys: level,
            ..Modes::default()
        };
        // Claude Code pushes 5 and sets modifyOtherKeys too; Codex pushes 7.
        let claude = Modes {
            kitty: 5,
            modify_other_keys: 2,
            ..Modes::default()
        };
        for (modes, bytes) in [
            (Modes::default(), "\x1b\r"),
            (claude, "\x1b[13;2u"),
            (kitty(7), "\x1b[13;2u"),
            (kitty(1), "\x1b[13;2u"),
            (other(2), "\x1b[27;2;13~"),
            (other(1), "\x1b[27;2;13~"),
            // Event types alone do not tell keys apart.
            (kitty(2), "\x1b\r"),
        ] {
            assert_eq!(
                sent(Key::Enter, SHIFT, Action::Press, &modes),
                bytes,
                "{modes:?}"
            );
        }
    }

    #[test]
    fn modify_other_keys_marks_what_legacy_cannot_say() {
        for (level, key, mods, bytes) in [
            (1, Key::Char('c'), CTRL, "\x03"),
            (2, Key::Char('c'), CTRL, "\x1b[27;5;99~"),
            (1, Key::Char('x'), ALT, "\x1bx"),
            (2, Key::Char('x'), ALT, "\x1b[27;3;120~"),
            (1, Key::Char('!'), CTRL.with(SHIFT), "\x1b[27;6;33~"),
            (2, Key::Char('A'), SHIFT, "A"),
            (2, Key::Char('a'), NONE, "a"),
            (2, Key::Enter, NONE, "\r"),
            (2, Key::Enter, CTRL, "\x1b[27;5;13~"),
            (2, Key::Tab, SHIFT, "\x1b[Z"),
            (2, Key::Tab, CTRL, "\x1b[27;5;9~"),
            (2, Key::Backspace, CTRL, "\x1b[27;5;127~"),
            (2, Key::Up, CTRL, "\x1b[1;5A"),
        ] {
            let modes = Modes {
                modify_other_keys: level,
                ..Modes::default()
            };
            assert_eq!(
                sent(key, mods, Action::Press, &modes),
                bytes,
                "level {level} {key:?} {mods:?}"
            );
        }
    }

    #[test]
    fn kitty_flags_add_up() {
        use Action::{Press, Release, Repeat};
        for (flags, key, mods, action, bytes) in [
            (1, Key::Char('a'), NONE, Press, "a"),
            (1, Key::Char('A'), SHIFT, Press, "A"),
            (1, Key::Char('c'), CTRL, Press, "\x1b[99;5u"),
            (1, Key::Char('C'), CTRL.with(SHIFT), Press, "\x1b[99;6u"),
            (5, Key::Char('C'), CTRL.with(SHIFT), Press, "\x1b[99:67;6u"),
            (1, Key::Char('x'), ALT, Press, "\x1b[120;3u"),
            (1, Key::Char('v'), Mods::SUPER, Press, "\x1b[118;9u"),
            (1, Key::Escape, NONE, Press, "\x1b[27u"),
            (1, Key::Enter, NONE, Press, "\r"),
            (1, Key::Enter, CTRL, Press, "\x1b[13;5u"),
            (1, Key::Tab, SHIFT, Press, "\x1b[9;2u"),
            (1, Key::Backspace, NONE, Press, "\x7f"),
            (1, Key::Backspace, ALT, Press, "\x1b[127;3u"),
            (1, Key::Up, NONE, Press, "\x1b[A"),
            (1, Key::Up, SHIFT, Press, "\x1b[1;2A"),
            (1, Key::Delete, NONE, Press, "\x1b[3~"),
            (1, Key::F(1), NONE, Press, "\x1b[P"),
            (1, Key::F(3), NONE, Press, "\x1b[13~"),
            (1, Key::F(3), CTRL, Press, "\x1b[13;5~"),
            (1, Key::F(13), NONE, Press, "\x1b[57376u"),
            (1, Key::Keypad('5'), NONE, Press, "\x1b[57404u"),
            (1, Key::KeypadEnter, NONE, Press, "\x1b[57414u"),
            (1, Key::Char('a'), NONE, Release, ""),
            (1, Key::Up, NONE, Repeat, "\x1b[A"),
            (3, Key::Up, NONE, Repeat, "\x1b[1;1:2A"),
            (3, Key::Up, NONE, Release, "\x1b[1;1:3A"),
            (3, Key::Char('a'), NONE, Repeat, "a"),
            (3, Key::Char('a'), NONE, Release, "\x1b[97;1:3u"),
            (3, Key::Char('c'), CTRL, Release, "\x1b[99;5:3u"),
            (3, Key::Enter, NONE, Release, ""),
            (3, Key::Escape, NONE, Release, "\x1b[27;1:3u"),
            (8, Key::Char('a'), NONE, Press, "\x1b[97u"),
            (8, Key::Enter, NONE, Press, "\x1b[13u"),
            (10, Key::Enter, NONE, Release, "\x1b[13;1:3u"),
            (12, Key::Char('A'), SHIFT, Press, "\x1b[97:65;2u"),
            (24, Key::Char('a'), NONE, Press, "\x1b[97;;97u"),
            (31, Key::Char('A'), SHIFT, Press, "\x1b[97:65;2;65u"),
            (31, Key::Char('a'), NONE, Release, "\x1b[97;1:3u"),
            (31, Key::Char('c'), CTRL, Press, "\x1b[99;5u"),
        ] {
            assert_eq!(
                sent(key, mods, action, &kitty(flags)),
                bytes,
                "flags {flags} {key:?} {mods:?} {action:?}"
            );
        }
    }
}
