//! From words and flags to what an agent is started with. Flags never turn into words, nor words into flags.

mod choose;
mod hint;
mod plan;
mod split;
mod title;

use std::path::PathBuf;

pub(crate) use choose::{Choice, Why, choose};
pub(crate) use plan::{Ground, Planned, Wish, plan};
pub(crate) use split::{Choosable, Owned, Switches, Wrong, owned, split_command, switches};

/// The flags that an agent's command line knows, each as it is written (`--model`, `-m`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    /// Take exactly one value.
    pub(crate) value: &'static [&'static str],
    /// Take no value.
    pub(crate) bare: &'static [&'static str],
    /// Take every word that follows, up to the next flag.
    pub(crate) variadic: &'static [&'static str],
    /// Other spellings of flags that the deck owns, e.g. `("-m", "--model")`.
    pub(crate) aliases: &'static [(&'static str, &'static str)],
}

/// What a session is started with, in the deck's words; the agent's dialect makes the command line of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recipe {
    pub(crate) agent: String,
    pub(crate) profile: Option<String>,
    pub(crate) title: String,
    pub(crate) dir: PathBuf,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    /// Appended to the system prompt.
    pub(crate) hint: Option<String>,
    /// The agent's own flags with their values, profile's first, then the person's; in a plain session the whole
    /// command.
    pub(crate) flags: Vec<String>,
    /// Byte for byte what the person typed.
    pub(crate) task: Option<String>,
    /// The conversation's id, where the client lets us choose it (a UUID).
    pub(crate) conversation: Option<String>,
}

/// The command line as a person can paste it into a shell.
pub(crate) fn shell_quoted(argv: &[String]) -> String {
    shlex::Quoter::new()
        .allow_nul(true)
        .join(argv.iter().map(String::as_str))
        .expect("only a NUL cannot be quoted, and that is let through")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_quoted_command_reads_as_typed() {
        for (argv, expected) in [
            (
                &["claude", "--model", "opus", "--", "fix it"][..],
                "claude --model opus -- 'fix it'",
            ),
            (&["", "$(x)", "a\nb"], "'' '$(x)' 'a\nb'"),
        ] {
            let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
            assert_eq!(shell_quoted(&argv), expected);
        }
    }

    proptest! {
        #[test]
        fn what_is_quoted_comes_back(argv in proptest::collection::vec("[^\0]{0,12}", 1..6)) {
            prop_assert_eq!(shlex::split(&shell_quoted(&argv)), Some(argv));
        }
    }
}
