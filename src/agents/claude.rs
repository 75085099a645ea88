//! Claude Code: hooks by `--settings`, a conversation id of our choice, transcripts in JSON lines.

mod flags;
mod keys;
mod launch;
mod pasted;
mod settings;
mod transcript;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::hook::{self, Event, HookCall};
use super::{CommandLine, Dialect, Question, Step, Trust, Wiring, typing};
use crate::deck::launch::{Flags, Recipe};
use crate::deck::meter::Fact;

pub(super) struct Claude;

/// What the client adds to the environment of its hooks and tools.
pub(super) const PER_SESSION: &[&str] = &[
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_NOTES_DIR",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "COLUMNS",
    "LINES",
];

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn install(&self) -> &'static str {
        "npm install -g @anthropic-ai/claude-code"
    }

    fn flags(&self) -> &'static Flags {
        &flags::FLAGS
    }

    fn reads(&self, recipe: &Recipe, env: &BTreeMap<String, String>) -> Vec<PathBuf> {
        launch::reads(recipe, env)
    }

    fn chooses_conversation(&self) -> bool {
        true
    }

    fn command_line(&self, recipe: &Recipe, wiring: &Wiring) -> CommandLine {
        launch::command_line(recipe, wiring)
    }

    fn trust_question(&self, _: &Recipe, _: &Wiring) -> Option<Question> {
        None
    }

    fn trust_answer(&self, _: &[u8]) -> Option<Vec<Trust>> {
        None
    }

    fn hook(&self, stdin: &[u8]) -> Option<HookCall> {
        let mut call = hook::read(stdin)?;
        if let Event::Prompt { text } = &mut call.event {
            *text = pasted::unmarked(text);
        }
        Some(call)
    }

    fn facts(&self, line: &[u8]) -> Vec<Fact> {
        transcript::facts(line)
    }

    fn window_at_least(&self, peak_context_tokens: Option<u64>) -> Option<u64> {
        peak_context_tokens.map(|peak| if peak > 200_000 { 1_000_000 } else { 200_000 })
    }

    fn submit(&self, prompt: &str) -> Vec<Step> {
        typing::then(keys::typed(prompt), keys::enter())
    }

    /// The client has put the prompt back into its box, with the cursor at the end.
    fn resubmit(&self, _: &str) -> Vec<Step> {
        vec![keys::enter()]
    }

    fn clear_box(&self, prompt: &str) -> Vec<Step> {
        vec![Step::Bytes(keys::clear(prompt))]
    }
}
