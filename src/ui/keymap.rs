//! Which keys speak to the deck, and what they say.

use crate::config::keys::{Binding, Chord};
use crate::config::nearest;
use crate::config::settings::Keys;
use crate::error::{Error, Exit, Result};

use super::actions::Action;

#[derive(Clone, Debug)]
pub(crate) struct Keymap {
    leaders: Vec<Chord>,
    /// In the order of the table of actions.
    bindings: Vec<(Binding, Action)>,
}

impl Keymap {
    /// The keys of the table, and over them those of the settings, where `none` unbinds.
    pub(crate) fn new(keys: &Keys) -> Result<Self> {
        let mut bindings: Vec<(Binding, Action)> = Vec::new();
        let changed = |binding: &Binding| keys.bind.contains_key(binding);
        for action in Action::ALL {
            let chosen = keys.bind.iter().filter(|(_, name)| *name == action.name());
            bindings.extend(chosen.map(|(binding, _)| (*binding, *action)));
            let table = defaults(*action).filter(|binding| !changed(binding));
            bindings.extend(table.map(|binding| (binding, *action)));
        }
        for (binding, name) in &keys.bind {
            if name != NONE && Action::named(name).is_none() {
                return Err(unknown(*binding, name));
            }
        }
        Ok(Self {
            leaders: keys.leader.clone(),
            bindings,
        })
    }

    pub(super) fn leads(&self, chord: Chord) -> bool {
        self.leaders.contains(&chord)
    }

    /// What the chord does, after the leader or by itself.
    pub(super) fn action(&self, chord: Chord, leader: bool) -> Option<Action> {
        let pressed = Binding { leader, chord };
        self.bindings
            .iter()
            .find(|(bound, _)| *bound == pressed)
            .map(|(_, action)| *action)
    }

    /// The leader in words; the first where there are several.
    pub(super) fn leader(&self) -> String {
        self.leaders
            .first()
            .map_or_else(String::new, Chord::to_string)
    }

    /// The first key of an action in deck mode; empty if it has none.
    pub(super) fn key(&self, action: Action) -> String {
        self.bindings(action)
            .find(|binding| binding.leader)
            .map_or_else(String::new, |binding| binding.chord.to_string())
    }

    /// All keys of an action; those that need no leader are in brackets.
    pub(super) fn keys(&self, action: Action) -> Vec<String> {
        self.bindings(action)
            .map(|Binding { leader, chord }| {
                if leader {
                    chord.to_string()
                } else {
                    format!("({chord})")
                }
            })
            .collect()
    }

    /// All keys of an action, the chosen ones first.
    pub(crate) fn bindings(&self, action: Action) -> impl Iterator<Item = Binding> {
        self.bindings
            .iter()
            .filter(move |(_, bound)| *bound == action)
            .map(|(binding, _)| *binding)
    }
}

/// What the settings call a key that does nothing.
const NONE: &str = "none";

fn defaults(action: Action) -> impl Iterator<Item = Binding> {
    let chords = action.keys().split(' ').filter_map(|key| key.parse().ok());
    chords.map(|chord| Binding {
        leader: true,
        chord,
    })
}

fn unknown(binding: Binding, name: &str) -> Error {
    let names: Vec<&str> = Action::ALL.iter().map(|action| action.name()).collect();
    let error = Error::new(
        Exit::Settings,
        format!("`{binding}` is bound to `{name}`, which is no action"),
    );
    match nearest::nearest(name, names.iter().copied()) {
        Some(near) => error.mend(format!("`{near}`, or `none` to unbind the key")),
        None => error.mend(format!("one of `{}`, or `none`", names.join("`, `"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keymap(bind: &[(&str, &str)]) -> Result<Keymap> {
        let bind = bind
            .iter()
            .map(|(binding, action)| (binding.parse().unwrap(), (*action).to_owned()))
            .collect();
        Keymap::new(&Keys {
            bind,
            ..Keys::default()
        })
    }

    #[test]
    fn every_key_of_the_table_is_a_key() {
        for action in Action::ALL {
            let words = action.keys().split(' ').count();
            assert_eq!(defaults(*action).count(), words, "{action:?}");
        }
    }

    #[test]
    fn the_settings_take_keys_from_the_table() {
        let keymap = keymap(&[
            ("leader n", "park"),
            ("f5", "park"),
            ("leader ?", "none"),
            ("leader w", "new"),
        ])
        .unwrap();
        for (pressed, action) in [
            ("leader n", Some(Action::Park)),
            ("leader p", Some(Action::Park)),
            ("f5", Some(Action::Park)),
            ("leader f5", None),
            ("leader ?", None),
            ("leader w", Some(Action::New)),
            ("leader j", Some(Action::NextTab)),
            ("leader down", Some(Action::NextTab)),
            ("j", None),
        ] {
            let Binding { leader, chord } = pressed.parse().unwrap();
            assert_eq!(keymap.action(chord, leader), action, "{pressed}");
        }
        assert_eq!(keymap.key(Action::New), "w");
        assert_eq!(keymap.key(Action::Help), "");
        assert_eq!(keymap.keys(Action::Park), ["(f5)", "n", "p"]);
    }

    #[test]
    fn a_name_that_is_no_action_is_told() {
        let error = keymap(&[("leader n", "nwe")]).unwrap_err();
        assert_eq!(
            error.line(),
            "`leader n` is bound to `nwe`, which is no action; `new`, or `none` to unbind the key"
        );
    }
}
