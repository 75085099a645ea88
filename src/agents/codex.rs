//! Codex CLI: hooks and their trust by `-c`, a conversation id that the first hook tells, rollout files.

mod quote;
mod transcript;
mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hook::{self, Event, HookCall};
use super::words::{Word, take_apart};
use super::{CommandLine, Dialect, Ours, Question, Step, Trust, Wiring, typing};
use crate::deck::brake::stop::words;
use crate::deck::launch::{Flags, Recipe};
use crate::deck::meter::Fact;
use crate::deck::tool::Tool;

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
pub(super) const PER_SESSION: &[&str] = &[
    "CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS",
    "CODEX_CI",
    "CODEX_MANAGED_BY_NPM",
    "CODEX_MANAGED_PACKAGE_ROOT",
    "CODEX_PERMISSION_PROFILE",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_TOOL_CALL_ID",
    "CODEX_VERSION",
];

/// The events that the deck hears, and the seconds after which the client goes on without us.
static EVENTS: [(&str, u64); 10] = [
    ("SessionStart", 5),
    ("UserPromptSubmit", 5),
    ("PreToolUse", 5),
    ("SubagentStart", 5),
    ("SubagentStop", 5),
    ("PostToolUse", 5),
    ("PermissionRequest", 5),
    ("Stop", 5),
    ("Interrupt", 5),
    ("SessionEnd", 1),
];

impl Dialect for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn install(&self) -> &'static str {
        "npm install -g @openai/codex"
    }

    fn flags(&self) -> &'static Flags {
        &FLAGS
    }

    fn reads(&self, _: &Recipe, env: &BTreeMap<String, String>) -> Vec<PathBuf> {
        home(env)
            .map(|home| home.join("config.toml"))
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

    fn hooks_file(
        &self,
        env: &BTreeMap<String, String>,
        project: Option<&Path>,
    ) -> Option<PathBuf> {
        let folder = match project {
            Some(project) => project.join(".codex"),
            None => home(env)?,
        };
        Some(folder.join("hooks.json"))
    }

    fn installed(&self, sessdeck: &str) -> Option<Ours> {
        Some(Ours {
            agent: "codex",
            events: &EVENTS,
            command: format!("{} hook codex --installed", quote::shell(sessdeck)),
            args: None,
        })
    }

    fn hooks_off(&self, files: &[(PathBuf, String)]) -> bool {
        hooks_off(files, &[])
    }

    fn installed_question(&self, program: &str, dir: &Path) -> Option<Question> {
        Some(trust::question(program, &[], dir))
    }

    fn installed_trusted(&self, line: &[u8], sessdeck: &str) -> Option<bool> {
        trust::trusted(line, &self.installed(sessdeck)?.command)
    }

    fn left_to_the_deck(&self) -> Option<&'static str> {
        Some(
            "it runs no hook after an API error and reads files by its shell alone; it compacts by itself, so the brake \
             has checkpoints and no stop; the deck reads its rollout from outside for the meter and for what it asks you",
        )
    }

    fn hook(&self, stdin: &[u8]) -> Option<HookCall> {
        let mut call = hook::read(stdin)?;
        // In a subagent this client names the subagent's own file, but at its end.
        if call.subagent.is_some() && call.subagent_transcript.is_none() {
            call.subagent_transcript.clone_from(&call.transcript);
        }
        // It reads files by its shell alone.
        if let Event::ToolStarts { does, .. } = &mut call.event
            && let Tool::Run { command } = &*does
            && let Some([cat, path]) = words(command).as_deref()
            && cat == "cat"
        {
            *does = Tool::Read { path: path.into() };
        }
        Some(call)
    }

    fn facts(&self, line: &[u8]) -> Vec<Fact> {
        transcript::facts(line)
    }

    fn window_at_least(&self, _: Option<u64>) -> Option<u64> {
        None
    }

    /// The blank, which the client drops, closes a list of files or skills that a last word like `@src` has opened, and
    /// that would take the Enter.
    fn submit(&self, prompt: &str) -> Vec<Step> {
        typing::then(format!("{} ", typing::paste(prompt)), typing::enter())
    }

    /// The box is empty after a block.
    fn resubmit(&self, prompt: &str) -> Vec<Step> {
        self.submit(prompt)
    }

    fn clear_box(&self, _: &str) -> Vec<Step> {
        vec![]
    }

    fn empties_box(&self) -> Option<&'static str> {
        None
    }
}

/// The client's folder of the person's.
fn home(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    match (env.get("CODEX_HOME"), env.get("HOME")) {
        (Some(dir), _) if !dir.is_empty() => Some(PathBuf::from(dir)),
        (_, Some(home)) => Some(Path::new(home).join(".codex")),
        (_, None) => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(flags: &[&str]) -> Recipe {
        Recipe {
            agent: "codex".into(),
            dir: "/home/dev/shop".into(),
            flags: flags.iter().map(|flag| (*flag).into()).collect(),
            ..Recipe::default()
        }
    }

    fn wiring() -> Wiring {
        Wiring {
            program: "codex".into(),
            sessdeck: "/opt/my deck/sessdeck".into(),
            trust: vec![Trust {
                key: "/<session-flags>/config.toml:stop:0:0".into(),
                hash: "sha256:b5c4".into(),
            }],
            ..Wiring::default()
        }
    }

    /// The line without our hooks, which have a test of their own.
    fn shown(recipe: &Recipe, wiring: &Wiring) -> String {
        let argv = Codex.command_line(recipe, wiring).argv;
        let hooks: Vec<String> = hooks(&wiring.sessdeck)
            .into_iter()
            .flat_map(|(key, value)| ["-c".to_owned(), format!("{key}={value}")])
            .collect();
        argv.join("|")
            .replace(&format!("{}|", hooks.join("|")), "HOOKS|")
            .replace(
                r#"--config=hooks.state={"/<session-flags>/config.toml:stop:0:0"={trusted_hash="sha256:b5c4"}}"#,
                "TRUST",
            )
    }

    #[test]
    fn the_line_ends_in_a_closed_flag_and_the_whole_task() {
        let full = Recipe {
            model: Some("gpt-5.5-codex".into()),
            effort: Some("high".into()),
            hint: Some("Fix bugs.\n\"Only\" that.".into()),
            task: Some("--model x\ndo it".into()),
            ..recipe(&["-i", "a.png", "b.png"])
        };
        for (recipe, expected) in [
            (recipe(&[]), "codex|--no-daemon|HOOKS|TRUST"),
            (
                full,
                "codex|-i|a.png|b.png|--no-daemon|-m|gpt-5.5-codex|-c|model_reasoning_effort=\"high\"|-c|\
                 developer_instructions=\"Fix bugs.\\n\\\"Only\\\" that.\"|HOOKS|TRUST|--|--model x\ndo it",
            ),
            (
                Recipe {
                    hint: Some("ours".into()),
                    ..recipe(&["--no-daemon", "-c", "developer_instructions='theirs'"])
                },
                "codex|--no-daemon|-c|developer_instructions='theirs'|HOOKS|TRUST",
            ),
            // No id can be chosen for a conversation that begins.
            (
                Recipe {
                    conversation: Some("id".into()),
                    ..recipe(&[])
                },
                "codex|--no-daemon|HOOKS|TRUST",
            ),
        ] {
            assert_eq!(shown(&recipe, &wiring()), expected);
        }
        let resumed = Recipe {
            conversation: Some("019f2a10".into()),
            task: Some("go on".into()),
            ..recipe(&["--search"])
        };
        let wiring = Wiring {
            resume: true,
            ..wiring()
        };
        assert_eq!(
            shown(&resumed, &wiring),
            "codex|resume|--search|--no-daemon|HOOKS|TRUST|--|019f2a10|go on"
        );
    }

    #[test]
    fn the_hooks_are_values_that_the_client_reads() {
        let hooks = hooks("/opt/my \"deck\"/it's");
        assert_eq!(hooks.len(), EVENTS.len());
        for (key, value) in hooks {
            let table: toml::Table = format!("{key}={value}").parse().unwrap();
            let (_, groups) = table["hooks"].as_table().unwrap().iter().next().unwrap();
            let hook = &groups[0]["hooks"][0];
            assert_eq!(
                hook["command"].as_str(),
                Some(r#"'/opt/my "deck"/it'\''s' hook codex"#)
            );
        }
    }

    #[test]
    fn a_session_without_hooks_is_not_guarded() {
        let config = |text: &str| vec![(PathBuf::from("config.toml"), text.to_owned())];
        for (flags, files, guarded) in [
            (vec![], vec![], true),
            (vec!["--disable", "hooks"], vec![], false),
            (vec!["--disable=hooks", "--enable=hooks"], vec![], true),
            (vec!["-c", "features.hooks=false"], vec![], false),
            (vec!["-m", "--disable", "hooks"], vec![], true),
            (vec![], config("[features]\nhooks = false"), false),
            (
                vec!["--enable", "hooks"],
                config("[features]\nhooks = false"),
                true,
            ),
            (vec![], config("broken ["), true),
        ] {
            let wiring = Wiring { files, ..wiring() };
            assert_eq!(
                Codex.command_line(&recipe(&flags), &wiring).guarded,
                guarded,
                "{flags:?} {:?}",
                wiring.files
            );
        }
        let untrusted = Wiring {
            trust: vec![],
            ..wiring()
        };
        assert!(!Codex.command_line(&recipe(&[]), &untrusted).guarded);
    }
    #[test]
    fn a_prompt_is_one_paste_with_a_blank_behind() {
        let steps = Codex.resubmit("see @src\n");
        assert_eq!(
            steps[0],
            Step::Bytes(b"\x1b[200~see @src\n\x1b[201~ ".to_vec())
        );
        assert_eq!(steps.last(), Some(&typing::enter()));
    }

    #[test]
    fn what_a_tool_is_about_to_do_is_read_as_far_as_it_matters() {
        let run = |command: &str| Tool::Run {
            command: command.into(),
        };
        let write = |paths: &[&str]| Tool::Write {
            paths: paths.iter().map(PathBuf::from).collect(),
        };
        let patch = "*** Begin Patch\\n*** Update File: src/a.rs\\n*** Move to: b.rs\\n@@\\n-x\\n+*** y\\n*** End Patch";
        for (tool, input, does) in [
            (
                "Bash",
                r#"{"command":"cat 'my note.md'"}"#,
                Tool::Read {
                    path: "my note.md".into(),
                },
            ),
            ("Bash", r#"{"command":"cat a b"}"#, run("cat a b")),
            ("Bash", r#"{"command":"cat a; rm b"}"#, run("cat a; rm b")),
            ("Bash", r#"{"command":["cat","a"]}"#, Tool::Other),
            (
                "apply_patch",
                &format!(r#"{{"command":"{patch}"}}"#),
                write(&["src/a.rs", "b.rs"]),
            ),
            (
                "apply_patch",
                r#"{"command":"*** Delete File: a"}"#,
                Tool::Other,
            ),
            // The client takes these for beginnings of files too.
            (
                "apply_patch",
                r#"{"command":"*** Add File: a\n+x\n \t*** Add File: b\n+x"}"#,
                write(&["a", "b"]),
            ),
            (
                "apply_patch",
                r#"{"command":"*** Add File: a\n+x\n\u00a0*** Delete File: b"}"#,
                Tool::Other,
            ),
            (
                "Read",
                r#"{"file_path":"/a"}"#,
                Tool::Read { path: "/a".into() },
            ),
            ("Grep", r#"{"pattern":"x"}"#, Tool::Search),
            (
                "Edit",
                r#"{"file_path":"/a","old_string":"x"}"#,
                write(&["/a"]),
            ),
            (
                "NotebookEdit",
                r#"{"notebook_path":"/a.ipynb"}"#,
                write(&["/a.ipynb"]),
            ),
            ("Write", "{}", Tool::Other),
            (
                "mcp__db__query",
                r#"{"command":{"sql":1},"url":7}"#,
                Tool::Other,
            ),
        ] {
            let json = format!(
                r#"{{"hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input}}}"#
            );
            let event = Codex.hook(json.as_bytes()).map(|call| call.event);
            let tool = tool.to_owned();
            assert_eq!(event, Some(Event::ToolStarts { tool, does }), "{input}");
        }
    }
}
