//! A declared intent, and the set of them that holds in one place.

/// What a session is for, and how an agent is started for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) name: String,
    /// One line for the person.
    pub(crate) about: String,
    /// Sessions of an open profile are never blocked.
    pub(crate) open: bool,
    /// Profiles whose keywords are on topic here too. One step, not onward.
    pub(crate) covers: Vec<String>,
    /// Base forms; `deck::topic` says how they are matched.
    pub(crate) keywords: Vec<String>,
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    /// Names of `[mcp.NAME]` servers.
    pub(crate) mcp: Vec<String>,
    pub(crate) skill: Option<String>,
    pub(crate) start_file: Option<String>,
    /// Appended to the agent's system prompt.
    pub(crate) hint: Option<String>,
    /// Further flags of the agent, as they are.
    pub(crate) flags: Vec<String>,
    /// A colour name or `#rrggbb`.
    pub(crate) color: Option<String>,
    /// Taken when nothing matches.
    pub(crate) default: bool,
}

/// The `[guard]` table: the signs and figures of the topic check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signs {
    pub(crate) force: String,
    pub(crate) park: String,
    /// Prompts of at most so many units pass unscored.
    pub(crate) short_units: usize,
    /// Distinct keywords that another profile needs before it can block.
    pub(crate) min_hits: usize,
    /// Of longer prompts only the first and the last so many characters are scored.
    pub(crate) edge_chars: usize,
}

impl Default for Signs {
    fn default() -> Self {
        Self {
            force: "!!".into(),
            park: ">>".into(),
            short_units: 4,
            min_hits: 2,
            edge_chars: 600,
        }
    }
}

/// The profiles that take part in one place, in the order that decides ties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Profiles {
    pub(crate) signs: Signs,
    pub(crate) profiles: Vec<Profile>,
}

impl Profiles {
    pub(crate) fn named(&self, name: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.name == name)
    }
}
