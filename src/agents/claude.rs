//! Claude Code: hooks by `--settings`, a conversation id of our choice, transcripts in JSON lines.

mod settings;
mod transcript;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hook::{self, HookCall};
use super::words::{Word, take_apart};
use super::{CommandLine, Dialect, Question, Step, Trust, Wiring, typing};
use crate::deck::launch::{Flags, Recipe};
use crate::deck::meter::Fact;

pub(super) struct Claude;

/// Flags whose value may be left out stand as bare ones: with a value they are written `--flag=value`.
static FLAGS: Flags = Flags {
    value: &[
        "--agent",
        "--agents",
        "--append-system-prompt",
        "--append-system-prompt-file",
        "--autocompact",
        "--debug-file",
        "--effort",
        "--environment",
        "--fallback-model",
        "--input-format",
        "--json-schema",
        "--max-budget-usd",
        "--model",
        "--name",
        "-n",
        "--output-format",
        "--permission-mode",
        "--permission-prompt-tool",
        "--permission-prompts",
        "--plugin-dir",
        "--plugin-url",
        "--remote-control-session-name-prefix",
        "--session-id",
        "--setting-sources",
        "--settings",
        "--system-prompt",
        "--system-prompt-file",
        "--system-prompt-snapshot",
    ],
    bare: &[
        "--allow-dangerously-skip-permissions",
        "--ax-screen-reader",
        "--background",
        "--bare",
        "--bg",
        "--brief",
        "--chrome",
        "--cloud",
        "--continue",
        "-c",
        "--dangerously-skip-permissions",
        "--debug",
        "-d",
        "--desktop",
        "--disable-slash-commands",
        "--exclude-dynamic-system-prompt-sections",
        "--fork-session",
        "--forward-subagent-text",
        "--from-pr",
        "--help",
        "-h",
        "--ide",
        "--include-hook-events",
        "--include-partial-messages",
        "--no-chrome",
        "--no-session-persistence",
        "--print",
        "-p",
        "--prompt-suggestions",
        "--remote-control",
        "--replay-user-messages",
        "--restricted",
        "--resume",
        "--safe-mode",
        "--strict-mcp-config",
        "--teleport",
        "--tmux",
        "--verbose",
        "--version",
        "-v",
        "--worktree",
    ],
    variadic: &[
        "--add-dir",
        "--allowed-tools",
        "--allowedTools",
        "--betas",
        "--disallowed-tools",
        "--disallowedTools",
        "--file",
        "--mcp-config",
        "--tools",
    ],
    aliases: &[("-r", "--resume"), ("-w", "--worktree")],
};

/// Flags that say which conversation it is; beside them the client takes no id of our choice.
const NAME_A_CONVERSATION: [&str; 7] = [
    "--continue",
    "-c",
    "--from-pr",
    "--resume",
    "-r",
    "--session-id",
    "--teleport",
];

/// What the client adds to the environment of its hooks and tools.
pub(super) const PER_SESSION: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
];

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn program(&self) -> &'static str {
        "claude"
    }

    fn install(&self) -> &'static str {
        "npm install -g @anthropic-ai/claude-code"
    }

    fn flags(&self) -> &'static Flags {
        &FLAGS
    }

    fn reads(&self, recipe: &Recipe, env: &BTreeMap<String, String>) -> Vec<PathBuf> {
        let mut files = ambient(recipe, env);
        files.extend(given_settings(recipe).and_then(|given| settings_file(recipe, given)));
        files
    }

    fn chooses_conversation(&self) -> bool {
        true
    }

    fn command_line(&self, recipe: &Recipe, wiring: &Wiring) -> CommandLine {
        let words = take_apart(&FLAGS, &recipe.flags);
        let given = given_settings(recipe).map(|given| {
            settings_file(recipe, given).map_or(Some(given), |file| wiring.text_of(&file))
        });
        let settings = match given {
            None => Some(settings::ours(&wiring.sessdeck)),
            Some(text) => text.and_then(|text| settings::merged(text, &wiring.sessdeck)),
        };
        let switched_off = words
            .iter()
            .any(|word| matches!(word.flag, "--bare" | "--safe-mode"))
            || settings::hooks_off(&wiring.files, settings.as_deref());

        let mut argv = vec![wiring.program.clone()];
        // Theirs are part of ours now. Settings that cannot be merged stay, so that the client says why.
        let replaced = |word: &Word<'_>| match word.flag {
            "--settings" => settings.is_some(),
            "--append-system-prompt" => recipe.hint.is_some(),
            _ => false,
        };
        for word in words.iter().filter(|word| !replaced(word)) {
            argv.extend_from_slice(word.given);
        }
        let named = words
            .iter()
            .any(|word| NAME_A_CONVERSATION.contains(&word.flag));
        if let Some(id) = recipe.conversation.as_ref().filter(|_| !named) {
            let flag = if wiring.resume {
                "resume"
            } else {
                "session-id"
            };
            argv.push(format!("--{flag}={id}"));
        }
        let mut add = |flag: &str, value: &str| argv.push(format!("--{flag}={value}"));
        if let Some(model) = &recipe.model {
            add("model", model);
        }
        if let Some(effort) = &recipe.effort {
            add("effort", effort);
        }
        if let Some(hint) = hint(recipe, &words) {
            add("append-system-prompt", &hint);
        }
        if let Some(settings) = &settings {
            add("settings", settings);
        }
        if let Some(task) = recipe.task.as_ref().filter(|task| !task.is_empty()) {
            argv.extend(["--".into(), task.clone()]);
        }
        CommandLine {
            argv,
            guarded: settings.is_some() && !switched_off,
        }
    }

    fn trust_question(&self, _: &Recipe, _: &Wiring) -> Option<Question> {
        None
    }

    fn trust_answer(&self, _: &[u8]) -> Option<Vec<Trust>> {
        None
    }

    fn hook(&self, stdin: &[u8]) -> Option<HookCall> {
        hook::read(stdin)
    }

    fn facts(&self, line: &[u8]) -> Vec<Fact> {
        transcript::facts(line)
    }

    fn window(&self, model: &str) -> Option<u64> {
        const LARGE: u64 = 1_000_000;
        let name = model.strip_prefix("claude-").unwrap_or(model);
        let (family, version) = name.split_once('-').unwrap_or((name, ""));
        if model.ends_with("[1m]") {
            Some(LARGE)
        } else if family == "3" || version.starts_with('4') {
            Some(200_000)
        } else if matches!(family, "fable" | "haiku" | "opus" | "sonnet") {
            Some(LARGE)
        } else {
            None
        }
    }

    fn window_at_least(&self, peak_context_tokens: Option<u64>) -> Option<u64> {
        peak_context_tokens.map(|peak| if peak > 200_000 { 1_000_000 } else { 200_000 })
    }

    fn submit(&self, prompt: &str) -> Vec<Step> {
        typing::paste_and_enter(prompt)
    }

    /// The client has put the prompt back into its box.
    fn resubmit(&self, _: &str) -> Vec<Step> {
        vec![typing::enter()]
    }

    fn clear_box(&self) -> Vec<Step> {
        vec![]
    }
}

/// The settings files that a client reads by itself, the one that counts most last.
fn ambient(recipe: &Recipe, env: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let home = match (env.get("CLAUDE_CONFIG_DIR"), env.get("HOME")) {
        (Some(dir), _) if !dir.is_empty() => Some(PathBuf::from(dir)),
        (_, Some(home)) => Some(Path::new(home).join(".claude")),
        (_, None) => None,
    };
    let project = recipe.dir.join(".claude");
    home.map(|home| home.join("settings.json"))
        .into_iter()
        .chain(["settings.json", "settings.local.json"].map(|name| project.join(name)))
        .collect()
}

/// The value of the last `--settings`; the client drops earlier ones.
fn given_settings(recipe: &Recipe) -> Option<&str> {
    take_apart(&FLAGS, &recipe.flags)
        .into_iter()
        .rev()
        .find(|word| word.flag == "--settings")
        .and_then(|word| word.value)
}

/// The file that the value names; none if it is the settings themselves.
fn settings_file(recipe: &Recipe, value: &str) -> Option<PathBuf> {
    (!value.trim_start().starts_with('{')).then(|| recipe.dir.join(value))
}

/// The hint and what the flags append, since the client takes the last one only.
fn hint(recipe: &Recipe, words: &[Word<'_>]) -> Option<String> {
    let hint = recipe.hint.as_deref()?;
    let given = words
        .iter()
        .rev()
        .find(|word| word.flag == "--append-system-prompt")
        .and_then(|word| word.value);
    Some(match given {
        Some(given) => format!("{given}\n\n{hint}"),
        None => hint.into(),
    })
}
