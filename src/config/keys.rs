//! Keys as text: `ctrl-space`, `f12`, `shift-tab`, `leader p`.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer};

use crate::config::parse::unknown;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// A letter as it appears: shift is part of it (`G`, not `shift-g`), except together with ctrl.
    Char(char),
    F(u8),
    Enter,
    Esc,
    Tab,
    Backspace,
    Delete,
    Insert,
    Home,
    End,
    PageUp,
    PageDown,
    Up,
    Down,
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Mods {
    pub(crate) ctrl: bool,
    pub(crate) alt: bool,
    pub(crate) shift: bool,
}

/// A key and what is held down with it. Made by [`Chord::new`], so that equal presses are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Chord {
    key: Key,
    mods: Mods,
}

/// What an action can be bound to: a chord, alone or after the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Binding {
    pub(crate) leader: bool,
    pub(crate) chord: Chord,
}

/// The word that is no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoKey(pub(crate) String);

const NAMES: &[(&str, Key)] = &[
    ("space", Key::Char(' ')),
    ("enter", Key::Enter),
    ("esc", Key::Esc),
    ("tab", Key::Tab),
    ("backspace", Key::Backspace),
    ("delete", Key::Delete),
    ("insert", Key::Insert),
    ("home", Key::Home),
    ("end", Key::End),
    ("pageup", Key::PageUp),
    ("pagedown", Key::PageDown),
    ("up", Key::Up),
    ("down", Key::Down),
    ("left", Key::Left),
    ("right", Key::Right),
];

/// Words that people write for the same keys.
const ALIASES: &[(&str, Key)] = &[
    ("return", Key::Enter),
    ("escape", Key::Esc),
    ("del", Key::Delete),
    ("ins", Key::Insert),
    ("pgup", Key::PageUp),
    ("pgdn", Key::PageDown),
];

impl Chord {
    /// The chord a terminal reports. Terminals differ in what they say about shift on letters; this evens it out:
    /// with ctrl a letter is lower case and shift is kept, else shift is in the letter.
    pub(crate) fn new(key: Key, mut mods: Mods) -> Self {
        let Key::Char(letter) = key else {
            return Self { key, mods };
        };
        let letter = if mods.ctrl {
            mods.shift |= letter.is_uppercase();
            lower(letter)
        } else if std::mem::take(&mut mods.shift) {
            upper(letter)
        } else {
            letter
        };
        let key = Key::Char(letter);
        Self { key, mods }
    }

    pub(crate) fn key(self) -> Key {
        self.key
    }

    pub(crate) fn mods(self) -> Mods {
        self.mods
    }
}

/// The one capital of a letter; a letter like `ß`, whose capital is several, stays.
fn upper(letter: char) -> char {
    let mut capitals = letter.to_uppercase();
    match (capitals.next(), capitals.next()) {
        (Some(capital), None) => capital,
        _ => letter,
    }
}

fn lower(letter: char) -> char {
    let mut small = letter.to_lowercase();
    match (small.next(), small.next()) {
        (Some(small), None) => small,
        _ => letter,
    }
}

impl FromStr for Chord {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let mut mods = Mods::default();
        let mut rest = text;
        loop {
            let (held, after) = match rest.split_once('-') {
                Some((held, after)) if !after.is_empty() => (held.to_ascii_lowercase(), after),
                _ => break,
            };
            match held.as_str() {
                "ctrl" => mods.ctrl = true,
                "alt" => mods.alt = true,
                "shift" => mods.shift = true,
                _ => return Err(NoKey(rest.to_owned())),
            }
            rest = after;
        }
        let key = key(rest).ok_or_else(|| NoKey(rest.to_owned()))?;
        Ok(Self::new(key, mods))
    }
}

fn key(name: &str) -> Option<Key> {
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return (!letter.is_control() && !letter.is_whitespace()).then_some(Key::Char(letter));
    }
    let name = name.to_ascii_lowercase();
    if let Some(number) = name.strip_prefix('f').and_then(|n| n.parse().ok()) {
        return (1..=24).contains(&number).then_some(Key::F(number));
    }
    NAMES
        .iter()
        .chain(ALIASES)
        .find(|(known, _)| *known == name)
        .map(|(_, key)| *key)
}

impl FromStr for Binding {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let text = text.trim();
        let (leader, chord) = match text.split_once(char::is_whitespace) {
            Some(("leader", chord)) => (true, chord.trim_start()),
            _ => (false, text),
        };
        Ok(Self {
            leader,
            chord: chord.parse()?,
        })
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [
            (self.mods.ctrl, "ctrl-"),
            (self.mods.alt, "alt-"),
            (self.mods.shift, "shift-"),
        ] {
            if held {
                f.write_str(name)?;
            }
        }
        if let Some((name, _)) = NAMES.iter().find(|(_, known)| *known == self.key) {
            return f.write_str(name);
        }
        if let Key::F(number) = self.key {
            return write!(f, "f{number}");
        }
        let Key::Char(letter) = self.key else {
            return Err(fmt::Error);
        };
        write!(f, "{letter}")
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.leader {
            f.write_str("leader ")?;
        }
        self.chord.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Chord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer)
    }
}

impl<'de> Deserialize<'de> for Binding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer)
    }
}

fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err = NoKey>>(
    deserializer: D,
) -> Result<T, D::Error> {
    String::deserialize(deserializer)?
        .parse()
        .map_err(|NoKey(word)| {
            let mut known = vec!["ctrl-", "alt-", "shift-", "leader "];
            known.extend(NAMES.iter().map(|(name, _)| *name));
            unknown("key", &word, &known)
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_is_read_and_written_back() {
        for (text, written) in [
            ("ctrl-space", "ctrl-space"),
            ("f12", "f12"),
            ("F12", "f12"),
            ("leader p", "leader p"),
            ("leader  P", "leader P"),
            ("leader shift-p", "leader P"),
            ("alt-enter", "alt-enter"),
            ("shift-tab", "shift-tab"),
            ("Ctrl-Alt-Del", "ctrl-alt-delete"),
            ("ctrl-P", "ctrl-shift-p"),
            ("alt-shift-p", "alt-P"),
            ("-", "-"),
            ("ctrl--", "ctrl--"),
            ("leader [", "leader ["),
            ("leader ?", "leader ?"),
            ("leader space", "leader space"),
            ("ß", "ß"),
            ("shift-ß", "ß"),
        ] {
            let binding: Binding = text.parse().unwrap();
            assert_eq!(binding.to_string(), written, "{text}");
        }
    }

    #[test]
    fn what_is_no_key_is_named() {
        for (text, word) in [
            ("ctrl-spcae", "spcae"),
            ("leader", "leader"),
            ("strg-a", "strg-a"),
            ("f0", "f0"),
            ("f25", "f25"),
            ("", ""),
            ("ctrl-", "ctrl-"),
            ("\u{1b}", "\u{1b}"),
            ("leader a b", "a b"),
        ] {
            assert_eq!(text.parse::<Binding>(), Err(NoKey(word.into())), "{text}");
        }
    }

    #[test]
    fn terminals_that_report_shift_differently_give_the_same_chord() {
        let held = |ctrl, shift| Mods {
            ctrl,
            shift,
            alt: false,
        };
        for (key, mods, text) in [
            ('G', held(false, true), "G"),
            ('G', held(false, false), "G"),
            ('g', held(false, true), "G"),
            ('?', held(false, true), "?"),
            ('P', held(true, true), "ctrl-shift-p"),
            ('P', held(true, false), "ctrl-shift-p"),
        ] {
            assert_eq!(Chord::new(Key::Char(key), mods).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn every_chord_survives_being_written(
            key in prop_oneof![
                any::<char>().prop_filter("can be written", |c| !c.is_control() && !c.is_whitespace()).prop_map(Key::Char),
                (1..=24u8).prop_map(Key::F),
                proptest::sample::select(NAMES.iter().map(|(_, key)| *key).collect::<Vec<_>>()),
            ],
            ctrl: bool, alt: bool, shift: bool, leader: bool,
        ) {
            let chord = Chord::new(key, Mods { ctrl, alt, shift });
            let binding = Binding { leader, chord };
            prop_assert_eq!(binding.to_string().parse(), Ok(binding));
        }
    }
}
