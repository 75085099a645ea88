//! What `config.toml` can say, and what holds where it says nothing. `assets/config.toml` explains each to the user.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::config::keys::{Binding, Chord};
use crate::deck::brake::Step;
use crate::deck::profile::Signs;

/// The person's settings, and over them those of a repo that is trusted.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) theme: String,
    /// The agent of profiles that name none.
    pub(crate) default_agent: String,
    /// The inbox, from the repo's root.
    pub(crate) inbox: String,
    /// The folder of handoff notes, from the repo's root.
    pub(crate) handoffs: String,
    /// Rows of history that a session's grid keeps.
    pub(crate) scrollback: usize,
    /// Whether what runs inside an agent session may steer the deck.
    pub(crate) allow_control: bool,
    /// Who writes a prompt that begins with the park sign into the inbox.
    pub(crate) park: Park,
    /// Whether a conversation is told at its start that side ideas go into the repo's inbox.
    pub(crate) tell_inbox: bool,
    pub(crate) keys: Keys,
    pub(crate) journal: Journal,
    pub(crate) pacing: Pacing,
    pub(crate) hook: Hook,
    pub(crate) log: Log,
    pub(crate) brake: Brake,
    pub(crate) guard: GuardSigns,
    pub(crate) subagents: Subagents,
    pub(crate) agent: BTreeMap<String, Agent>,
    /// Context windows in tokens by model name.
    #[serde(deserialize_with = "over_known_windows")]
    pub(crate) window: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Keys {
    pub(crate) leader: Vec<Chord>,
    /// Actions by what they are bound to; `ui` knows the actions.
    pub(crate) bind: BTreeMap<Binding, String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Journal {
    /// Bytes after which a segment is closed.
    pub(crate) segment_bytes: u64,
    /// Segments kept for each session.
    pub(crate) segments: usize,
}

/// How often a screen is drawn, in milliseconds.
#[expect(
    clippy::struct_field_names,
    reason = "the user reads these names, and a figure needs its unit"
)]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Pacing {
    /// Between two frames under flood.
    pub(crate) frame_ms: u64,
    /// Between two frames while the echo of a key is awaited.
    pub(crate) key_frame_ms: u64,
    /// How long after a key its echo is awaited.
    pub(crate) after_key_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Hook {
    /// How long a hook waits for the server to take its message, in milliseconds.
    pub(crate) patience_ms: u64,
}

/// What the hook writes down of its decisions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    /// Bytes after which a file is closed and the next one begun.
    pub(crate) bytes: u64,
    /// Closed files that are kept.
    pub(crate) keep: u32,
    /// Whether prompts are written down too.
    pub(crate) prompts: bool,
}

/// The context sizes at which a session is asked to close.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Brake {
    /// Windows of so many tokens, and those nobody stated, count as large.
    pub(crate) large_from: u64,
    /// Checkpoint, soft, hard, stop in a large window, in tokens.
    #[serde(deserialize_with = "rising")]
    pub(crate) large: Vec<u64>,
    /// The same in a smaller window, in percent of it.
    #[serde(deserialize_with = "rising")]
    pub(crate) percent: Vec<u64>,
    /// Agents that compact by themselves: only checkpoints, in tokens.
    pub(crate) checkpoints: BTreeMap<String, Vec<u64>>,
}

/// Who writes a parked prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Park {
    /// The hook, at once: the prompt reaches no model.
    #[default]
    Hook,
    /// The model, in a turn of its own, before it goes on.
    Model,
}

/// What holds for subagents, which nobody watches.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Subagents {
    /// From here on a subagent is warned, in tokens of its own context.
    pub(crate) soft: u64,
    /// So many tokens lie between two warnings.
    pub(crate) every: u64,
    /// From here on it may do nothing but write its handoff file.
    pub(crate) hard: u64,
    /// Windows of at most so many tokens count as small.
    pub(crate) small_window: u64,
    /// `soft` in a small window.
    pub(crate) small_soft: u64,
    /// `hard` in a small window.
    pub(crate) small_hard: u64,
    /// Limits of single models, by what the model's name begins with.
    pub(crate) models: BTreeMap<String, ModelLimits>,
    /// Whether a subagent gets the working rule at its start.
    pub(crate) rule: bool,
    /// After so many identical denials their text shrinks and the person is told.
    pub(crate) patience: u32,
}

/// The limits of one model's subagents; what is missing is that of its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ModelLimits {
    pub(crate) soft: Option<u64>,
    pub(crate) hard: Option<u64>,
}

/// The `[guard]` table of a settings or profile file: what it names replaces what held before.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct GuardSigns {
    #[serde(deserialize_with = "sign")]
    pub(crate) force_prefix: Option<String>,
    #[serde(deserialize_with = "sign")]
    pub(crate) park_prefix: Option<String>,
    pub(crate) short_units: Option<usize>,
    pub(crate) min_hits: Option<usize>,
    pub(crate) edge_chars: Option<usize>,
}

/// How one agent is called.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Agent {
    #[serde(deserialize_with = "command")]
    pub(crate) command: Vec<String>,
    /// Added to the environment of its sessions.
    pub(crate) env: BTreeMap<String, String>,
}

/// What a repo's own `.sessdeck/config.toml` can say: nothing about the person's screen and keys.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RepoSettings {
    pub(crate) default_agent: Option<String>,
    pub(crate) inbox: Option<String>,
    pub(crate) handoffs: Option<String>,
    pub(crate) guard: GuardSigns,
    pub(crate) agent: BTreeMap<String, Agent>,
    pub(crate) window: BTreeMap<String, u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: "dark".into(),
            default_agent: "claude".into(),
            inbox: "hot-todo.md".into(),
            handoffs: "docs/handoffs".into(),
            scrollback: 5_000,
            allow_control: false,
            park: Park::default(),
            tell_inbox: true,
            keys: Keys::default(),
            journal: Journal::default(),
            pacing: Pacing::default(),
            hook: Hook::default(),
            log: Log::default(),
            brake: Brake::default(),
            guard: GuardSigns::default(),
            subagents: Subagents::default(),
            agent: BTreeMap::new(),
            window: known_windows(),
        }
    }
}

impl Default for Keys {
    fn default() -> Self {
        let leader = ["ctrl-space", "f12"]
            .iter()
            .filter_map(|key| key.parse().ok())
            .collect();
        Self {
            leader,
            bind: BTreeMap::new(),
        }
    }
}

impl Default for Journal {
    fn default() -> Self {
        Self {
            segment_bytes: 8 << 20,
            segments: 2,
        }
    }
}

impl Default for Pacing {
    fn default() -> Self {
        Self {
            frame_ms: 16,
            key_frame_ms: 2,
            after_key_ms: 30,
        }
    }
}

impl Default for Hook {
    fn default() -> Self {
        Self { patience_ms: 100 }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self {
            bytes: 4 << 20,
            keep: 3,
            prompts: false,
        }
    }
}

impl Default for Brake {
    fn default() -> Self {
        Self {
            large_from: 700_000,
            large: vec![250_000, 400_000, 550_000, 650_000],
            percent: vec![60, 70, 80, 90],
            checkpoints: [("codex".to_owned(), vec![120_000, 200_000, 240_000])].into(),
        }
    }
}

impl Default for Subagents {
    fn default() -> Self {
        Self {
            soft: 140_000,
            every: 20_000,
            hard: 200_000,
            small_window: 200_000,
            small_soft: 90_000,
            small_hard: 120_000,
            models: BTreeMap::new(),
            rule: true,
            patience: 5,
        }
    }
}

impl Settings {
    /// The program and first arguments of an agent.
    pub(crate) fn command(&self, agent: &str) -> Vec<String> {
        match self.agent.get(agent) {
            Some(Agent { command, .. }) if !command.is_empty() => command.clone(),
            _ => vec![agent.to_owned()],
        }
    }

    /// The context window of a model in tokens: that of the longest name in the table which `model` begins with,
    /// since transcripts name models with dates and providers behind.
    pub(crate) fn window_of(&self, model: &str) -> Option<u64> {
        self.window
            .iter()
            .filter(|(name, _)| model.starts_with(name.as_str()))
            .max_by_key(|(name, _)| name.len())
            .map(|(_, window)| *window)
    }

    /// The window of a conversation that does not state it. `started_with` is the model as its start named it, with a
    /// variant that rows leave out; `model` that of its last call. A window that the context does not fit into is not
    /// the one.
    pub(crate) fn window(
        &self,
        started_with: Option<&str>,
        model: Option<&str>,
        context_tokens: Option<u64>,
    ) -> Option<u64> {
        let named = match (started_with, model) {
            (Some(started), Some(model)) if started.starts_with(model) => started,
            (started, model) => model.or(started)?,
        };
        self.window_of(named)
            .filter(|window| context_tokens.is_none_or(|held| held <= *window))
    }

    /// These settings with a repo's own over them.
    #[must_use]
    pub(crate) fn with(mut self, repo: RepoSettings) -> Self {
        let replace = |value: &mut String, new: Option<String>| {
            if let Some(new) = new {
                *value = new;
            }
        };
        replace(&mut self.default_agent, repo.default_agent);
        replace(&mut self.inbox, repo.inbox);
        replace(&mut self.handoffs, repo.handoffs);
        self.guard = self.guard.with(repo.guard);
        self.agent.extend(repo.agent);
        self.window.extend(repo.window);
        self
    }
}

impl Brake {
    fn steps(&self, agent: &str, window: Option<u64>) -> Vec<u64> {
        if let Some(checkpoints) = self.checkpoints.get(agent) {
            let fits = |step: &u64| window.is_none_or(|window| *step < window);
            if checkpoints.iter().all(fits) {
                return checkpoints.clone();
            }
        }
        match window {
            Some(window) if window < self.large_from => self
                .percent
                .iter()
                .map(|percent| window * percent / 100)
                .collect(),
            _ => self.large.clone(),
        }
    }

    /// The steps of an agent in that window, lowest first, with what each of them asks for.
    pub(crate) fn of(&self, agent: &str, window: Option<u64>) -> Vec<(Step, u64)> {
        let names = if self.checkpoints.contains_key(agent) {
            [Step::Checkpoint; 4]
        } else {
            [Step::Checkpoint, Step::Soft, Step::Hard, Step::Stop]
        };
        names.into_iter().zip(self.steps(agent, window)).collect()
    }
}

impl GuardSigns {
    /// These signs with a later table over them.
    #[must_use]
    pub(crate) fn with(self, later: Self) -> Self {
        Self {
            force_prefix: later.force_prefix.or(self.force_prefix),
            park_prefix: later.park_prefix.or(self.park_prefix),
            short_units: later.short_units.or(self.short_units),
            min_hits: later.min_hits.or(self.min_hits),
            edge_chars: later.edge_chars.or(self.edge_chars),
        }
    }

    /// The signs that hold, where those not named are the ones that always did.
    pub(crate) fn signs(self) -> Signs {
        let known = Signs::default();
        Signs {
            force: self.force_prefix.unwrap_or(known.force),
            park: self.park_prefix.unwrap_or(known.park),
            short_units: self.short_units.unwrap_or(known.short_units),
            min_hits: self.min_hits.unwrap_or(known.min_hits),
            edge_chars: self.edge_chars.unwrap_or(known.edge_chars),
        }
    }
}

/// Windows as the clients of these models state them.
fn known_windows() -> BTreeMap<String, u64> {
    [
        ("fable", 1_000_000),
        ("opus", 1_000_000),
        ("sonnet", 1_000_000),
        ("haiku", 1_000_000),
        ("claude-fable-5-2", 1_000_000),
        ("claude-opus-5-5", 1_000_000),
        ("claude-sonnet-5-5", 1_000_000),
        ("claude-haiku-5-5", 1_000_000),
        ("claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-5[1m]", 1_000_000),
        ("gpt-5.5-codex", 258_400),
    ]
    .map(|(model, window)| (model.to_owned(), window))
    .into()
}

fn over_known_windows<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, u64>, D::Error> {
    let mut windows = known_windows();
    windows.extend(BTreeMap::<String, u64>::deserialize(deserializer)?);
    Ok(windows)
}

fn rising<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    let steps = <[u64; 4]>::deserialize(deserializer)?;
    if steps.is_sorted_by(|lower, higher| lower < higher) {
        Ok(steps.into())
    } else {
        Err(D::Error::custom(
            "each step must be higher than the one before",
        ))
    }
}

fn sign<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let sign = String::deserialize(deserializer)?;
    if sign.is_empty() || sign.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(D::Error::custom("a sign is one word without blanks"));
    }
    Ok(Some(sign))
}

fn command<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let command = Vec::<String>::deserialize(deserializer)?;
    if command.first().is_none_or(String::is_empty) {
        return Err(D::Error::custom("a command names its program first"));
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::parse::parse;

    const DOCUMENTED: &str = include_str!("../../assets/config.toml");

    fn settings(text: &str) -> Result<Settings, String> {
        parse(text, Path::new("config.toml")).map_err(|error| error.line())
    }

    /// The documented file with its examples in force.
    fn with_examples() -> String {
        let plain = |line: &str| match line.strip_prefix('#') {
            Some(example) if example.starts_with(|c: char| !c.is_whitespace()) => {
                example.to_owned()
            }
            _ => line.to_owned(),
        };
        DOCUMENTED.lines().map(|line| plain(line) + "\n").collect()
    }

    #[test]
    fn a_window_is_that_of_the_model_in_use_and_large_enough() {
        let settings = Settings::default();
        for (started, model, context, window) in [
            (None, Some("claude-opus-5-5"), 9, Some(1_000_000)),
            (None, Some("claude-sonnet-4-5"), 9, Some(200_000)),
            (
                Some("claude-sonnet-4-5[1m]"),
                Some("claude-sonnet-4-5"),
                9,
                Some(1_000_000),
            ),
            (None, Some("claude-sonnet-4-5"), 219_000, None),
            // The person has changed the model since.
            (
                Some("claude-opus-5-5"),
                Some("claude-sonnet-4-5"),
                9,
                Some(200_000),
            ),
            (Some("claude-opus-5-5"), None, 9, Some(1_000_000)),
            (None, Some("new-model"), 9, None),
            (None, None, 9, None),
        ] {
            let found = settings.window(started, model, Some(context));
            assert_eq!(found, window, "{started:?} {model:?}");
        }
    }

    #[test]
    fn the_documented_file_says_what_holds_without_it() {
        assert_eq!(settings(DOCUMENTED), Ok(Settings::default()));
        assert_eq!(settings(""), Ok(Settings::default()));
    }

    #[test]
    fn the_examples_of_the_documented_file_are_valid_and_show_the_defaults() {
        let shown = settings(&with_examples()).unwrap();
        assert_eq!(shown.guard.clone().signs(), Signs::default());
        assert_eq!(shown.command("claude"), ["claude"]);
        assert_eq!(shown.keys.bind.len(), 2);
    }

    #[test]
    fn every_setting_is_documented() {
        let documented = with_examples();
        for table in [
            "",
            "[keys]",
            "[journal]",
            "[pacing]",
            "[hook]",
            "[brake]",
            "[guard]",
            "[agent.claude]",
        ] {
            let error = settings(&format!("{table}\nzzzz = 1")).unwrap_err();
            let (_, known) = error.split_once("known here: ").unwrap();
            for setting in known.split('`').skip(1).step_by(2) {
                let prefix = table.trim_matches(['[', ']']);
                let dotted = [prefix, setting].join(".");
                let dotted = dotted.trim_start_matches('.');
                let as_value = documented.contains(&format!("\n{setting} = "));
                let as_table = documented.contains(&format!("\n[{dotted}"));
                assert!(as_value || as_table, "{dotted}");
            }
        }
    }

    #[test]
    fn a_wrong_setting_is_told_with_its_place() {
        for (text, expected) in [
            (
                "inbx = 'a'",
                "unknown field `inbx`, expected `inbox` (config.toml:1:1)",
            ),
            (
                "[keys]\nleader = ['ctrl-spcae']",
                "unknown key `spcae`, expected `space` (config.toml:2:10)",
            ),
            (
                "[keys.bind]\n'leader nix' = 'new'",
                "unknown key `nix` (config.toml:2:1)",
            ),
            (
                "[brake]\nlarge = [1, 2, 2, 4]",
                "each step must be higher than the one before (config.toml:2:9)",
            ),
            (
                "[brake]\nlarge = [1, 2, 3]",
                "invalid length 3, expected a list of four (config.toml:2:9)",
            ),
            (
                "[guard]\nforce_prefix = 'a b'",
                "a sign is one word without blanks (config.toml:2:16)",
            ),
            (
                "[agent.claude]\ncommand = []",
                "a command names its program first (config.toml:2:11)",
            ),
        ] {
            let error = settings(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn steps_depend_on_agent_and_window() {
        let brake = Brake::default();
        let large = [250_000, 400_000, 550_000, 650_000];
        let small = [120_000, 140_000, 160_000, 180_000];
        for (agent, window, steps) in [
            ("claude", None, &large[..]),
            ("claude", Some(1_000_000), &large),
            ("claude", Some(700_000), &large),
            ("claude", Some(200_000), &small),
            ("codex", Some(258_400), &[120_000, 200_000, 240_000]),
            ("codex", None, &[120_000, 200_000, 240_000]),
            ("codex", Some(200_000), &small),
        ] {
            assert_eq!(brake.steps(agent, window), steps, "{agent} {window:?}");
        }
    }

    #[test]
    fn a_model_takes_the_window_of_the_longest_name_it_begins_with() {
        let settings = settings("[window]\n'local-' = 32000").unwrap();
        for (model, window) in [
            ("claude-opus-5-5", Some(1_000_000)),
            ("claude-sonnet-4-5-20250929", Some(200_000)),
            ("claude-sonnet-4-5[1m]", Some(1_000_000)),
            ("local-7b", Some(32_000)),
            ("another", None),
        ] {
            assert_eq!(settings.window_of(model), window, "{model}");
        }
    }

    #[test]
    fn a_repo_sets_what_concerns_its_sessions_and_no_more() {
        let repo: RepoSettings = parse(
            "inbox = 'todo.md'\n[guard]\nmin_hits = 3\n[agent.claude]\ncommand = ['./in-box', 'claude']",
            Path::new("config.toml"),
        )
        .unwrap();
        let person =
            settings("handoffs = 'notes'\n[guard]\nmin_hits = 2\nshort_units = 9").unwrap();
        let both = person.with(repo);
        assert_eq!(
            (both.inbox.as_str(), both.handoffs.as_str()),
            ("todo.md", "notes")
        );
        let signs = both.guard.clone().signs();
        assert_eq!((signs.min_hits, signs.short_units), (3, 9));
        assert_eq!(both.command("claude"), ["./in-box", "claude"]);
        assert_eq!(both.command("codex"), ["codex"]);
        let refused = parse::<RepoSettings>("theme = 'dark'", Path::new("config.toml"));
        assert!(refused.is_err());
    }
}
