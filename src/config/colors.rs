//! Colours and styles as files write them: `bright-red`, `208`, `#ff8800`, `bold red on default`.

use crate::terminal::{Attrs, Color, Style, Underline};

/// The names that stand for palette colours. The first 16 are the terminal's own, so they follow its scheme.
const NAMES: &[(&str, u8)] = &[
    ("black", 0),
    ("red", 1),
    ("green", 2),
    ("yellow", 3),
    ("blue", 4),
    ("magenta", 5),
    ("cyan", 6),
    ("white", 7),
    ("gray", 8),
    ("grey", 8),
    ("bright-black", 8),
    ("bright-red", 9),
    ("bright-green", 10),
    ("bright-yellow", 11),
    ("bright-blue", 12),
    ("bright-magenta", 13),
    ("bright-cyan", 14),
    ("bright-white", 15),
    ("orange", 208),
    ("purple", 141),
    ("pink", 211),
    ("teal", 37),
    ("brown", 137),
];

/// The colour that `text` names: `default`, a name, a palette number or `#rrggbb`.
pub(crate) fn color(text: &str) -> Option<Color> {
    if text == "default" {
        return Some(Color::Default);
    }
    if let Some(hex) = text.strip_prefix('#') {
        let [r, g, b] = hex.as_bytes().as_chunks::<2>().0 else {
            return None;
        };
        if hex.len() != 6 {
            return None;
        }
        return Some(Color::Rgb(byte(*r)?, byte(*g)?, byte(*b)?));
    }
    if let Ok(number) = text.parse::<u8>() {
        return Some(Color::Indexed(number));
    }
    NAMES
        .iter()
        .find(|(name, _)| *name == text)
        .map(|(_, number)| Color::Indexed(*number))
}

fn byte(digits: [u8; 2]) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()
}

/// All words that [`color`] takes besides numbers.
pub(crate) fn color_names() -> Vec<&'static str> {
    let mut names = vec!["default", "#rrggbb"];
    names.extend(NAMES.iter().map(|(name, _)| *name));
    names
}

const ATTRIBUTES: &[(&str, Attrs)] = &[
    ("bold", Attrs::BOLD),
    ("dim", Attrs::DIM),
    ("italic", Attrs::ITALIC),
    ("reverse", Attrs::REVERSE),
    ("strike", Attrs::STRIKE),
];

/// The style in words: attributes and a colour in any order, `on` before the background.
///
/// The error is the word that means nothing.
pub(crate) fn style(text: &str) -> Result<Style, String> {
    let mut style = Style::default();
    let mut background = false;
    for word in text.split_whitespace() {
        if word == "on" {
            background = true;
        } else if word == "underline" {
            style.underline = Underline::Single;
        } else if let Some((_, attr)) = ATTRIBUTES.iter().find(|(name, _)| *name == word) {
            style.attrs = style.attrs.with(*attr);
        } else {
            let color = color(word).ok_or_else(|| word.to_owned())?;
            if std::mem::take(&mut background) {
                style.bg = color;
            } else {
                style.fg = color;
            }
        }
    }
    if background {
        return Err("on".to_owned());
    }
    Ok(style)
}

/// All words that [`style`] takes besides numbers.
pub(crate) fn style_words() -> Vec<&'static str> {
    let mut words = vec!["underline", "on"];
    words.extend(ATTRIBUTES.iter().map(|(name, _)| *name));
    words.extend(color_names());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_names_numbers_or_hex() {
        for (text, expected) in [
            ("default", Some(Color::Default)),
            ("red", Some(Color::Indexed(1))),
            ("grey", Some(Color::Indexed(8))),
            ("208", Some(Color::Indexed(208))),
            ("#ff8800", Some(Color::Rgb(255, 136, 0))),
            ("#FF8800", Some(Color::Rgb(255, 136, 0))),
            ("#f80", None),
            ("#ff88000", None),
            ("#ff88000a", None),
            ("#ffgg00", None),
            ("#äöü", None),
            ("256", None),
            ("rot", None),
            ("", None),
        ] {
            assert_eq!(color(text), expected, "{text}");
        }
    }

    #[test]
    fn a_style_is_attributes_and_two_colors() {
        let red = Color::Indexed(1);
        for (text, expected) in [
            ("", Ok(Style::default())),
            (
                "bold red",
                Ok(Style {
                    fg: red,
                    attrs: Attrs::BOLD,
                    ..Style::default()
                }),
            ),
            (
                "default on red underline dim italic",
                Ok(Style {
                    bg: red,
                    underline: Underline::Single,
                    attrs: Attrs::DIM.with(Attrs::ITALIC),
                    ..Style::default()
                }),
            ),
            ("bold rot", Err("rot".to_owned())),
            ("red on", Err("on".to_owned())),
        ] {
            assert_eq!(style(text), expected, "{text}");
        }
    }
}
