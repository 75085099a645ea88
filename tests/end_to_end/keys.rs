//! Keys and clicks as a terminal sends them.

use alacritty_terminal::term::TermMode;

/// The bytes of one key by its name: `x`, `enter`, `ctrl-c`, `alt-x`, `shift-tab`, `f12`, `space`. They depend on
/// what the program asked its terminal for.
pub(crate) fn key(name: &str, modes: TermMode) -> Vec<u8> {
    let arrow = if modes.contains(TermMode::APP_CURSOR) {
        "\x1bO"
    } else {
        "\x1b["
    };
    let kitty = modes.contains(TermMode::DISAMBIGUATE_ESC_CODES);
    let bytes = match name {
        "enter" => "\r".to_owned(),
        "tab" => "\t".to_owned(),
        "backspace" => "\x7f".to_owned(),
        "space" => " ".to_owned(),
        "esc" if kitty => "\x1b[27u".to_owned(),
        "esc" => "\x1b".to_owned(),
        "shift-tab" if kitty => "\x1b[9;2u".to_owned(),
        "shift-tab" => "\x1b[Z".to_owned(),
        "up" => format!("{arrow}A"),
        "down" => format!("{arrow}B"),
        "right" => format!("{arrow}C"),
        "left" => format!("{arrow}D"),
        "home" => format!("{arrow}H"),
        "end" => format!("{arrow}F"),
        "delete" => "\x1b[3~".to_owned(),
        "pageup" => "\x1b[5~".to_owned(),
        "pagedown" => "\x1b[6~".to_owned(),
        "f1" => "\x1bOP".to_owned(),
        "f12" => "\x1b[24~".to_owned(),
        _ => return character(name, kitty),
    };
    bytes.into_bytes()
}

/// A character, alone or held with ctrl or alt.
fn character(name: &str, kitty: bool) -> Vec<u8> {
    let (modifier, base) = match name.split_once('-') {
        Some((modifier @ ("ctrl" | "alt"), base)) if !base.is_empty() => (modifier, base),
        _ => ("", name),
    };
    let base = if base == "space" { " " } else { base };
    let mut chars = base.chars();
    let (Some(c), None) = (chars.next(), chars.next()) else {
        panic!("no key is called `{name}`");
    };
    match (modifier, kitty) {
        ("ctrl", true) => format!("\x1b[{};5u", u32::from(c)).into_bytes(),
        ("alt", true) => format!("\x1b[{};3u", u32::from(c)).into_bytes(),
        ("ctrl", false) => {
            let code = u8::try_from(c).expect("ctrl goes with an ASCII character");
            vec![if c == ' ' { 0 } else { code & 0x1f }]
        }
        ("alt", false) => format!("\x1b{c}").into_bytes(),
        _ => c.to_string().into_bytes(),
    }
}

/// The text as a paste: bracketed where the program asked for that.
pub(crate) fn paste(text: &str, modes: TermMode) -> Vec<u8> {
    let text = text.replace('\n', "\r");
    if modes.contains(TermMode::BRACKETED_PASTE) {
        format!("\x1b[200~{text}\x1b[201~").into_bytes()
    } else {
        text.into_bytes()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mouse {
    /// The left button, pressed and let go.
    Click,
    WheelUp,
    WheelDown,
}

/// The report of a mouse event over a cell; `None` if the program did not ask for any.
pub(crate) fn mouse(event: Mouse, row: usize, column: usize, modes: TermMode) -> Option<Vec<u8>> {
    if !modes.intersects(TermMode::MOUSE_MODE) || !modes.contains(TermMode::SGR_MOUSE) {
        return None;
    }
    let report = |button: u8, end: char| format!("\x1b[<{button};{};{}{end}", column + 1, row + 1);
    let bytes = match event {
        Mouse::Click => report(0, 'M') + &report(0, 'm'),
        Mouse::WheelUp => report(64, 'M'),
        Mouse::WheelDown => report(65, 'M'),
    };
    Some(bytes.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sent_as_the_program_asked_for_them() {
        let plain = TermMode::empty();
        let kitty = TermMode::DISAMBIGUATE_ESC_CODES;
        for (name, modes, bytes) in [
            ("x", plain, "x"),
            ("-", plain, "-"),
            ("é", plain, "é"),
            ("ctrl-space", plain, "\0"),
            ("ctrl-c", plain, "\x03"),
            ("alt-x", plain, "\x1bx"),
            ("esc", plain, "\x1b"),
            ("shift-tab", plain, "\x1b[Z"),
            ("up", plain, "\x1b[A"),
            ("up", TermMode::APP_CURSOR, "\x1bOA"),
            ("f12", plain, "\x1b[24~"),
            ("esc", kitty, "\x1b[27u"),
            ("ctrl-space", kitty, "\x1b[32;5u"),
            ("enter", kitty, "\r"),
            ("x", kitty, "x"),
        ] {
            assert_eq!(key(name, modes), bytes.as_bytes(), "{name} under {modes:?}");
        }
    }

    #[test]
    fn the_mouse_is_silent_until_it_is_asked_for() {
        let asked = TermMode::MOUSE_REPORT_CLICK | TermMode::SGR_MOUSE;
        for (event, modes, bytes) in [
            (Mouse::Click, TermMode::empty(), None),
            (Mouse::Click, asked, Some("\x1b[<0;8;3M\x1b[<0;8;3m")),
            (Mouse::WheelUp, asked, Some("\x1b[<64;8;3M")),
            (Mouse::WheelDown, asked, Some("\x1b[<65;8;3M")),
        ] {
            let bytes = bytes.map(|bytes| bytes.as_bytes().to_vec());
            assert_eq!(mouse(event, 2, 7, modes), bytes, "{event:?}");
        }
    }
}
