//! Claude Code: hooks by `--settings`, a conversation id of our choice, transcripts in JSON lines.

mod flags;
mod keys;
mod launch;
mod pasted;
mod settings;
mod transcript;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hook::{self, Event, HookCall};
use super::{CommandLine, Dialect, Ours, Question, Step, Trust, Wiring, typing};
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

/// Where a subagent writes: the client names that file only once it is over, and the main one before.
fn own_transcript(main: &Path, agent: &str) -> Option<PathBuf> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let named = !agent.is_empty() && agent.chars().all(is_name);
    named.then(|| {
        main.with_extension("")
            .join("subagents")
            .join(format!("agent-{agent}.jsonl"))
    })
}

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

    /// A path of this machine stands in it, so the project's is the one that is not shared.
    fn hooks_file(
        &self,
        env: &BTreeMap<String, String>,
        project: Option<&Path>,
    ) -> Option<PathBuf> {
        match project {
            Some(project) => Some(project.join(".claude/settings.local.json")),
            None => launch::home(env).map(|home| home.join("settings.json")),
        }
    }

    fn installed(&self, sessdeck: &str) -> Option<Ours> {
        Some(Ours {
            agent: "claude",
            events: &settings::EVENTS,
            command: sessdeck.into(),
            args: Some(["hook", "claude", "--installed"].map(String::from).into()),
        })
    }

    fn hooks_off(&self, files: &[(PathBuf, String)]) -> bool {
        settings::hooks_off(files, None)
    }

    fn installed_question(&self, _: &str, _: &Path) -> Option<Question> {
        None
    }

    fn installed_trusted(&self, _: &[u8], _: &str) -> Option<bool> {
        None
    }

    fn left_to_the_deck(&self) -> Option<&'static str> {
        None
    }

    fn hook(&self, stdin: &[u8]) -> Option<HookCall> {
        let mut call = hook::read(stdin)?;
        if let Event::Prompt { text } = &mut call.event {
            *text = pasted::unmarked(text);
        }
        call.subagent_transcript = call
            .subagent_transcript
            .or_else(|| own_transcript(call.transcript.as_deref()?, call.subagent.as_deref()?));
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

    fn empties_box(&self) -> Option<&'static str> {
        Some("ctrl+u, once for each line,")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagent_has_a_transcript_of_its_own() {
        let main = "/home/ada/.claude/projects/-app/c1.jsonl";
        for (agent, extra, own) in [
            (
                "a81f",
                "",
                Some("/home/ada/.claude/projects/-app/c1/subagents/agent-a81f.jsonl"),
            ),
            (
                "a81f",
                r#","agent_transcript_path":"/x/agent-a81f.jsonl""#,
                Some("/x/agent-a81f.jsonl"),
            ),
            ("../../etc/x", "", None),
            ("", "", None),
        ] {
            let json = format!(
                r#"{{"hook_event_name":"PreToolUse","agent_id":"{agent}","transcript_path":"{main}"{extra}}}"#
            );
            let call = Claude.hook(json.as_bytes()).unwrap();
            assert_eq!(call.subagent_transcript, own.map(PathBuf::from), "{agent}");
        }
    }
}
