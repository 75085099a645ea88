//! From words and flags to what an agent is started with. Flags never turn into words, nor words into flags.

mod split;

use std::path::PathBuf;

pub(crate) use split::{Choosable, Owned, Split, Switches, Wrong, split, split_command, switches};

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
    /// The agent's own flags with their values, profile's first, then the person's.
    pub(crate) flags: Vec<String>,
    /// Byte for byte what the person typed.
    pub(crate) task: Option<String>,
    /// The conversation's id, where the client lets us choose it (a UUID).
    pub(crate) conversation: Option<String>,
}
