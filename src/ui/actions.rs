//! Every action of the screen, declared once: its name in the settings, its keys, what it does in words.
//!
//! Keymap, hints, help, find and README read this table.

macro_rules! actions {
    ($($action:ident $name:literal $keys:literal $short:literal $words:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Action { $($action,)* }

        impl Action {
            pub(crate) const ALL: &[Action] = &[$(Action::$action,)*];

            /// What config.toml calls it.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Action::$action => $name,)* }
            }

            /// Its keys after the leader unless the settings say otherwise, with a space between.
            pub(crate) fn keys(self) -> &'static str {
                match self { $(Action::$action => $keys,)* }
            }

            /// One word for the line of hints; empty where it has no place there.
            pub(crate) fn short(self) -> &'static str {
                match self { $(Action::$action => $short,)* }
            }

            /// What it does, for help and find.
            pub(crate) fn words(self) -> &'static str {
                match self { $(Action::$action => $words,)* }
            }
        }
    };
}

actions! {
    New        "new"         "n"     "new"     "Start a session from plain words",
    Park       "park"        "p"     "park"    "Park a side thought in the inbox",
    Inbox      "inbox"       "i"     "inbox"   "Show the inbox and go to it; once more closes it",
    NextTab    "next-tab"    "j down"  "next"  "Go to the next session",
    PreviousTab "previous-tab" "k up" "back"   "Go to the session before",
    Needed     "needed"      "g"     "needed"  "Go to the next session that needs me",
    Detach     "detach"      "d"     "detach"  "Leave the deck; everything goes on",
    Find       "find"        "/"     "find"    "Find a session, an inbox line or an action",
    Rename     "rename"      "r"     "rename"  "Give the session another title",
    End        "end"         "x"     "end"     "End the session, or take an ended one off the list",
    Help       "help"        "?"     "all keys" "Show all keys",
    Tab1       "tab-1"       "1"     ""        "Go to session 1",
    Tab2       "tab-2"       "2"     ""        "Go to session 2",
    Tab3       "tab-3"       "3"     ""        "Go to session 3",
    Tab4       "tab-4"       "4"     ""        "Go to session 4",
    Tab5       "tab-5"       "5"     ""        "Go to session 5",
    Tab6       "tab-6"       "6"     ""        "Go to session 6",
    Tab7       "tab-7"       "7"     ""        "Go to session 7",
    Tab8       "tab-8"       "8"     ""        "Go to session 8",
    Tab9       "tab-9"       "9"     ""        "Go to session 9",
    Back       "back"        "esc enter" ""    "Leave deck mode; keys go to the program again",
}

impl Action {
    pub(crate) fn named(name: &str) -> Option<Action> {
        Self::ALL
            .iter()
            .copied()
            .find(|action| action.name() == name)
    }

    /// The place in the list that it goes to, from 0.
    pub(super) fn tab(self) -> Option<usize> {
        let first = Action::Tab1 as usize;
        let last = Action::Tab9 as usize;
        (first..=last)
            .contains(&(self as usize))
            .then(|| self as usize - first)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_actions_share_a_name_or_a_key() {
        let mut names = BTreeSet::new();
        let mut keys = BTreeSet::new();
        for action in Action::ALL {
            assert!(names.insert(action.name()), "{action:?}");
            assert_eq!(Action::named(action.name()), Some(*action));
            for key in action.keys().split(' ') {
                assert!(keys.insert(key), "{key} of {action:?}");
            }
        }
    }

    #[test]
    fn the_readme_lists_them_all() {
        let code = |words: String| format!("`{}`", words.replace(' ', "` or `"));
        let mut expected: Vec<String> = Vec::new();
        for action in Action::ALL {
            let (keys, words, name) = match action.tab() {
                Some(0) => (
                    "`1` … `9`".to_owned(),
                    "Go to session 1 … 9",
                    "`tab-1` … `tab-9`".to_owned(),
                ),
                Some(_) => continue,
                None => (
                    code(action.keys().to_owned()),
                    action.words(),
                    code(action.name().to_owned()),
                ),
            };
            expected.push(format!("| {keys} | {words} | {name} |"));
        }
        let readme = include_str!("../../README.md");
        let table = readme
            .lines()
            .skip_while(|line| !line.starts_with("| key |"));
        let rows: Vec<&str> = table
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn numbers_go_to_their_tab() {
        for (action, tab) in [
            (Action::Tab1, Some(0)),
            (Action::Tab9, Some(8)),
            (Action::Help, None),
            (Action::Back, None),
        ] {
            assert_eq!(action.tab(), tab, "{action:?}");
        }
    }
}
