//! Codex CLI: hooks and their trust by `-c`, a conversation id that the first hook tells, rollout files.

mod quote;
mod transcript;
mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hook::{self, HookCall};
use super::words::{Word, take_apart};
use super::{CommandLine, Dialect, Question, Step, Trust, Wiring, typing};
use crate::deck::launch::{Flags, Recipe};
use crate::deck::meter::Fact;

pub(super) struct Codex;

static FLAGS: Flags = Flags {
    value: &[
        "--add-dir",
        "--ask-for-approval",
        "-a",
        "--cd",
        "-C",
        "--config",
        "-c",
        "--disable",
        "--enable",
        "--local-provider",
        "--model",
        "-m",
        "--profile",
        "-p",
        "--remote",
        "--remote-auth-token-env",
        "--sandbox",
        "-s",
    ],
    bare: &[
        "--all",
        "--approve-for-me",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "--help",
        "-h",
        "--include-non-interactive",
        "--last",
        "--no-alt-screen",
        "--no-daemon",
        "--oss",
        "--search",
        "--strict-config",
        "--version",
        "-V",
        "--worktree",
    ],
    variadic: &["--image", "-i"],
    aliases: &[("-m", "--model"), ("-C", "--dir"), ("--cd", "--dir")],
};

/// What the client adds to the environment of what it starts.
pub(super) const PER_SESSION: &[&str] = &["CODEX_MANAGED_BY_NPM", "CODEX_MANAGED_PACKAGE_ROOT"];

/// The events that the deck hears, and the seconds after which the client goes on without us.
const EVENTS: [(&str, u64); 7] = [
    ("SessionStart", 5),
    ("UserPromptSubmit", 5),
    ("PostToolUse", 5),
    ("PermissionRequest", 5),
    ("Stop", 5),
    ("Interrupt", 1),
    ("SessionEnd", 1),
];

impl Dialect for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn program(&self) -> &'static str {
        "codex"
    }

    fn install(&self) -> &'static str {
        "npm install -g @openai/codex"
    }

    fn flags(&self) -> &'static Flags {
        &FLAGS
    }

    fn reads(&self, _: &Recipe, env: &BTreeMap<String, String>) -> Vec<PathBuf> {
        let home = match (env.get("CODEX_HOME"), env.get("HOME")) {
            (Some(dir), _) if !dir.is_empty() => Some(PathBuf::from(dir)),
            (_, Some(home)) => Some(Path::new(home).join(".codex")),
            (_, None) => None,
        };
        home.map(|home| home.join("config.toml"))
            .into_iter()
            .collect()
    }

    fn chooses_conversation(&self) -> bool {
        false
    }

    fn command_line(&self, recipe: &Recipe, wiring: &Wiring) -> CommandLine {
        let words = take_apart(&FLAGS, &recipe.flags);
        let resumed = recipe.conversation.as_ref().filter(|_| wiring.resume);
        let mut argv = vec![wiring.program.clone()];
        if resumed.is_some() {
            argv.push("resume".into());
        }
        argv.extend_from_slice(&recipe.flags);
        // The shared server would run our hooks in the environment of whoever started it first.
        if !words.iter().any(|word| word.flag == "--no-daemon") {
            argv.push("--no-daemon".into());
        }
        if let Some(model) = &recipe.model {
            argv.extend(["-m".into(), model.clone()]);
        }
        let mut set = |key: &str, value: &str| argv.extend(["-c".into(), format!("{key}={value}")]);
        if let Some(effort) = &recipe.effort {
            set("model_reasoning_effort", &quote::toml(effort));
        }
        // The client takes the last one only, and the person's own says more than ours.
        let instructed = settings(&words).any(|(key, _)| key == "developer_instructions");
        if let Some(hint) = recipe.hint.as_ref().filter(|_| !instructed) {
            set("developer_instructions", &quote::toml(hint));
        }
        for (key, value) in hooks(&wiring.sessdeck) {
            set(&key, &value);
        }
        argv.push(format!(
            "--config=hooks.state={}",
            trust::table(&wiring.trust)
        ));
        let words_after: Vec<&String> = resumed
            .into_iter()
            .chain(recipe.task.as_ref().filter(|task| !task.is_empty()))
            .collect();
        if !words_after.is_empty() {
            argv.push("--".into());
            argv.extend(words_after.into_iter().cloned());
        }
        CommandLine {
            argv,
            guarded: !wiring.trust.is_empty() && !hooks_off(&wiring.files, &words),
        }
    }

    fn trust_question(&self, recipe: &Recipe, wiring: &Wiring) -> Option<Question> {
        Some(trust::question(
            &wiring.program,
            &hooks(&wiring.sessdeck),
            &recipe.dir,
        ))
    }

    fn trust_answer(&self, line: &[u8]) -> Option<Vec<Trust>> {
        trust::answer(line)
    }

    fn hook(&self, stdin: &[u8]) -> Option<HookCall> {
        hook::read(stdin)
    }

    fn facts(&self, line: &[u8]) -> Vec<Fact> {
        transcript::facts(line)
    }

    /// The transcript states it.
    fn window(&self, _: &str) -> Option<u64> {
        None
    }

    fn window_at_least(&self, _: Option<u64>) -> Option<u64> {
        None
    }

    fn submit(&self, prompt: &str) -> Vec<Step> {
        typing::paste_and_enter(prompt)
    }

    /// The box is empty after a block.
    fn resubmit(&self, prompt: &str) -> Vec<Step> {
        typing::paste_and_enter(prompt)
    }

    fn clear_box(&self) -> Vec<Step> {
        vec![]
    }
}

/// Our hooks as keys and values for `-c`.
fn hooks(sessdeck: &str) -> Vec<(String, String)> {
    let command = quote::toml(&format!("{} hook codex", quote::shell(sessdeck)));
    EVENTS
        .iter()
        .map(|(event, timeout)| {
            (
                format!("hooks.{event}"),
                format!("[{{hooks=[{{type=\"command\",command={command},timeout={timeout}}}]}}]"),
            )
        })
        .collect()
}

/// What the flags set with `-c`.
fn settings<'a>(words: &'a [Word<'a>]) -> impl Iterator<Item = (&'a str, &'a str)> {
    words
        .iter()
        .filter(|word| matches!(word.flag, "-c" | "--config"))
        .filter_map(|word| word.value?.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
}

/// Whether hooks are switched off, by the config file or by a later flag.
fn hooks_off(files: &[(PathBuf, String)], words: &[Word<'_>]) -> bool {
    let in_file = files.iter().filter_map(|(_, text)| {
        let config: toml::Table = text.parse().ok()?;
        config.get("features")?.get("hooks")?.as_bool()
    });
    let in_flags = words
        .iter()
        .filter_map(|word| match (word.flag, word.value?) {
            ("--enable", "hooks") => Some(true),
            ("--disable", "hooks") => Some(false),
            ("-c" | "--config", setting) => match setting.split_once('=')? {
                ("features.hooks", value) => value.trim().parse().ok(),
                _ => None,
            },
            _ => None,
        });
    in_file.chain(in_flags).last() == Some(false)
}
