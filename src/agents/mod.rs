//! One dialect a file: launch line, hook JSON, transcript line, to and from the deck's words.

mod claude;
mod codex;
#[cfg(test)]
mod figures;
mod hook;
mod installed;
mod lines;
mod plain;
mod text;
mod typed;
mod typing;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::deck::launch::{Flags, Recipe};
use crate::deck::meter::Fact;

pub(crate) use hook::{Event, HookCall, TurnEnd, answer_block, answer_context};
pub(crate) use installed::Ours;
pub(crate) use lines::Lines;

/// The agents that have a dialect of their own, as `--agent` takes them.
pub(crate) const NAMES: [&str; 3] = ["claude", "codex", "shell"];

/// The dialect of that name. Any other command speaks [`plain`].
pub(crate) fn named(name: &str) -> Option<&'static dyn Dialect> {
    match name {
        "claude" => Some(&claude::Claude),
        "codex" => Some(&codex::Codex),
        "shell" => Some(&plain::Plain),
        _ => None,
    }
}

/// What every command speaks that is no agent: no hook, no transcript.
pub(crate) fn plain() -> &'static dyn Dialect {
    &plain::Plain
}

/// How one agent is started, heard and typed at. Pure: files and the environment come in as text.
pub(crate) trait Dialect: Sync {
    /// The agent's word in `--agent` and in `sessdeck hook`.
    fn name(&self) -> &'static str;

    /// How a person gets the program.
    fn install(&self) -> &'static str;

    /// The flags of the agent's own command line.
    fn flags(&self) -> &'static Flags;

    /// Files whose text the command line depends on, for a client with that environment. The caller hands those
    /// that exist in as [`Wiring::files`].
    fn reads(&self, recipe: &Recipe, env: &BTreeMap<String, String>) -> Vec<PathBuf>;

    /// Whether a conversation's id can be chosen before it begins ([`Recipe::conversation`]); else its first hook
    /// tells it.
    fn chooses_conversation(&self) -> bool;

    /// The program with its arguments, ready to be run without a shell.
    fn command_line(&self, recipe: &Recipe, wiring: &Wiring) -> CommandLine;

    /// How to ask the client for the trust entries that [`Wiring::trust`] wants; none if it wants none.
    fn trust_question(&self, recipe: &Recipe, wiring: &Wiring) -> Option<Question>;

    /// The trust entries in one line of the client's answer; none while it is another line.
    fn trust_answer(&self, line: &[u8]) -> Option<Vec<Trust>>;

    /// The client's own settings file that hooks stand in: the person's, or theirs alone in that project. None if the
    /// agent has none.
    fn hooks_file(&self, env: &BTreeMap<String, String>, project: Option<&Path>)
    -> Option<PathBuf>;

    /// Our hooks in that file; none if the agent has no hooks.
    fn installed(&self, sessdeck: &str) -> Option<Ours>;

    /// Whether the person's own settings switch all hooks off. `files` are those that [`Dialect::reads`] names.
    fn hooks_off(&self, files: &[(PathBuf, String)]) -> bool;

    /// How to ask the client whether it trusts our hooks in its settings file; none if it wants no trust.
    fn installed_question(&self, program: &str, dir: &Path) -> Option<Question>;

    /// Whether it does, in one line of its answer; none while it is another line, and where it knows of none.
    fn installed_trusted(&self, line: &[u8], sessdeck: &str) -> Option<bool>;

    /// What of the guard this client's hooks leave to the deck, in a sentence; none if nothing.
    fn left_to_the_deck(&self) -> Option<&'static str>;

    /// An event as the client writes it to its hook's stdin; none if it is no event.
    fn hook(&self, stdin: &[u8]) -> Option<HookCall>;

    /// What one complete line of a transcript tells the meter.
    fn facts(&self, line: &[u8]) -> Vec<Fact>;

    /// The smallest window that holds calls of that size, where the client never states it.
    fn window_at_least(&self, peak_context_tokens: Option<u64>) -> Option<u64>;

    /// Types `prompt` into the empty input box and sends it.
    fn submit(&self, prompt: &str) -> Vec<Step>;

    /// Sends `prompt`, which was just blocked, again. Its hook will see the same prompt, byte for byte.
    fn resubmit(&self, prompt: &str) -> Vec<Step>;

    /// Empties the input box after `prompt` was blocked. Does nothing to an empty box or to a running turn.
    fn clear_box(&self, prompt: &str) -> Vec<Step>;

    /// The key by which a person empties the box, where the client puts a blocked prompt back into it.
    fn empties_box(&self) -> Option<&'static str>;
}

/// What a command line needs beside the recipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wiring {
    /// The agent's program, a name or a path.
    pub(crate) program: String,
    /// The absolute path of our own program, which the agent runs as its hook.
    pub(crate) sessdeck: String,
    /// The files that [`Dialect::reads`] names and their text, in its order.
    pub(crate) files: Vec<(PathBuf, String)>,
    /// What [`Dialect::trust_answer`] gave.
    pub(crate) trust: Vec<Trust>,
    /// [`Recipe::conversation`] is gone on with, not begun.
    pub(crate) resume: bool,
}

impl Wiring {
    fn text_of(&self, file: &Path) -> Option<&str> {
        self.files
            .iter()
            .find(|(path, _)| path == file)
            .map(|(_, text)| text.as_str())
    }
}

/// A command line, and whether our hook acts in what it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    pub(crate) argv: Vec<String>,
    /// False where hooks are switched off or the agent has none.
    pub(crate) guarded: bool,
}

/// A program to run and lines for its stdin. It answers on stdout with lines, and is ended by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) argv: Vec<String>,
    pub(crate) stdin: String,
}

/// A hook as the client names it, and the hash by which it knows the hook again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trust {
    pub(crate) key: String,
    pub(crate) hash: String,
}

/// One step of typing at a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Bytes(Vec<u8>),
    /// The client needs so long before it takes the next bytes for what they are.
    Pause(Duration),
}

/// Whether an agent puts that variable into what it starts, to say which session it is. A session that is
/// started from inside another one must not inherit it. Settings of the person's are none of these.
pub(crate) fn dropped(variable: &str) -> bool {
    claude::PER_SESSION.contains(&variable) || codex::PER_SESSION.contains(&variable)
}

/// Whether a process with these variables runs inside an agent.
pub(crate) fn is_inside<'a>(mut variables: impl Iterator<Item = &'a str>) -> bool {
    variables.any(|variable| {
        dropped(variable) && (variable.starts_with("CLAUDE") || variable.starts_with("CODEX"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_outer_session_says_of_itself_is_dropped_and_settings_stay() {
        for (variable, gone) in [
            ("CLAUDECODE", true),
            ("CLAUDE_CODE_SESSION_ID", true),
            ("CLAUDE_CODE_MESSAGING_TOKEN", true),
            ("CODEX_THREAD_ID", true),
            ("COLUMNS", true),
            ("CLAUDE_CONFIG_DIR", false),
            ("CLAUDE_CODE_USE_BEDROCK", false),
            ("CLAUDE_CODE_MAX_RETRIES", false),
            ("CODEX_HOME", false),
            ("ANTHROPIC_API_KEY", false),
            ("PATH", false),
        ] {
            assert_eq!(dropped(variable), gone, "{variable}");
        }
    }

    #[test]
    fn an_agent_is_known_by_what_it_adds() {
        for (variables, inside) in [
            (&["HOME", "CLAUDE_CONFIG_DIR", "COLUMNS"][..], false),
            (&["HOME", "CLAUDECODE"], true),
            (&["CODEX_THREAD_ID"], true),
        ] {
            assert_eq!(
                is_inside(variables.iter().copied()),
                inside,
                "{variables:?}"
            );
        }
    }

    #[test]
    fn every_name_has_its_dialect() {
        for name in NAMES {
            assert_eq!(named(name).map(Dialect::name), Some(name));
        }
        assert!(named("htop").is_none());
        assert_eq!(plain().name(), "shell");
    }
}
