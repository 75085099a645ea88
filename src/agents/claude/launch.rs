//! The command line of a session: the person's flags, ours after them, the task last.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::words::{Word, take_apart};
use super::super::{CommandLine, Wiring};
use super::flags::{FLAGS, NAME_A_CONVERSATION};
use super::settings;
use crate::deck::launch::Recipe;

pub(super) fn command_line(recipe: &Recipe, wiring: &Wiring) -> CommandLine {
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

/// The settings files that count, the one given on the line last.
pub(super) fn reads(recipe: &Recipe, env: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let mut files = ambient(recipe, env);
    files.extend(given_settings(recipe).and_then(|given| settings_file(recipe, given)));
    files
}

/// The settings files that a client reads by itself, the one that counts most last.
fn ambient(recipe: &Recipe, env: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let project = recipe.dir.join(".claude");
    home(env)
        .map(|home| home.join("settings.json"))
        .into_iter()
        .chain(["settings.json", "settings.local.json"].map(|name| project.join(name)))
        .collect()
}

/// The client's folder of the person's.
pub(super) fn home(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    match (env.get("CLAUDE_CONFIG_DIR"), env.get("HOME")) {
        (Some(dir), _) if !dir.is_empty() => Some(PathBuf::from(dir)),
        (_, Some(home)) => Some(Path::new(home).join(".claude")),
        (_, None) => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    fn recipe(flags: &[&str]) -> Recipe {
        Recipe {
            agent: "claude".into(),
            dir: "/home/dev/shop".into(),
            flags: flags.iter().map(|flag| (*flag).into()).collect(),
            ..Recipe::default()
        }
    }

    fn wiring() -> Wiring {
        Wiring {
            program: "claude".into(),
            sessdeck: "/opt/my deck/sessdeck".into(),
            ..Wiring::default()
        }
    }

    /// The line with `S` for the settings, which have tests of their own.
    fn shown(recipe: &Recipe, wiring: &Wiring) -> (String, bool) {
        let line = command_line(recipe, wiring);
        let argv: Vec<String> = line
            .argv
            .into_iter()
            .map(|word| match word.strip_prefix("--settings=") {
                Some(text) if text.starts_with('{') => "--settings=S".into(),
                _ => word,
            })
            .collect();
        (argv.join("|"), line.guarded)
    }

    fn settings_of(recipe: &Recipe, wiring: &Wiring) -> Value {
        let line = command_line(recipe, wiring);
        let text = line
            .argv
            .iter()
            .find_map(|word| word.strip_prefix("--settings="))
            .unwrap();
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_line_ends_in_a_closed_flag_and_the_whole_task() {
        let full = Recipe {
            model: Some("opus".into()),
            effort: Some("high".into()),
            hint: Some("Fix bugs.\n\"Only\" that.".into()),
            task: Some("--model haiku\n'do' it".into()),
            conversation: Some("7c1d0a52-3b6e-4f18-9a47-5d2e8f60b1c3".into()),
            ..recipe(&["--mcp-config", "a.json", "b.json"])
        };
        let cases = [
            (recipe(&[]), "claude|--settings=S"),
            (
                Recipe {
                    task: Some(String::new()),
                    ..recipe(&[])
                },
                "claude|--settings=S",
            ),
            (
                full.clone(),
                "claude|--mcp-config|a.json|b.json|--session-id=7c1d0a52-3b6e-4f18-9a47-5d2e8f60b1c3|--model=opus|\
                 --effort=high|--append-system-prompt=Fix bugs.\n\"Only\" that.|--settings=S|--|--model haiku\n'do' it",
            ),
            (
                Recipe {
                    hint: Some("ours".into()),
                    ..recipe(&["--append-system-prompt", "--bare", "--verbose"])
                },
                "claude|--verbose|--append-system-prompt=--bare\n\nours|--settings=S",
            ),
            (
                Recipe {
                    conversation: Some("id".into()),
                    ..recipe(&["--resume=other"])
                },
                "claude|--resume=other|--settings=S",
            ),
        ];
        for (recipe, expected) in cases {
            assert_eq!(shown(&recipe, &wiring()), (expected.into(), true));
        }
        let resumed = Wiring {
            resume: true,
            ..wiring()
        };
        let gone_on = Recipe {
            conversation: Some("id".into()),
            task: Some("go on".into()),
            ..recipe(&[])
        };
        assert_eq!(
            shown(&gone_on, &resumed).0,
            "claude|--resume=id|--settings=S|--|go on"
        );
    }

    #[test]
    fn a_person_s_settings_keep_working_beside_our_hooks() {
        let theirs = r#"{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"bell"}]}],"Setup":7}}"#;
        let file = PathBuf::from("/home/dev/shop/mine.json");
        let with_file = Wiring {
            files: vec![(file.clone(), theirs.into())],
            ..wiring()
        };
        for (flags, wiring) in [
            (vec!["--settings", theirs], wiring()),
            (vec!["--settings=mine.json"], with_file.clone()),
            (
                vec!["--settings", "{}", "--settings", "mine.json"],
                with_file,
            ),
        ] {
            let recipe = recipe(&flags);
            assert_eq!(
                shown(&recipe, &wiring),
                ("claude|--settings=S".into(), true)
            );
            let merged = settings_of(&recipe, &wiring);
            assert_eq!(merged["model"], "opus");
            assert_eq!(merged["hooks"]["Setup"], 7);
            let stop = &merged["hooks"]["Stop"];
            assert_eq!(stop[0]["hooks"][0]["command"], "bell");
            assert_eq!(stop[1]["hooks"][0]["command"], "/opt/my deck/sessdeck");
            assert_eq!(stop[1]["hooks"][0]["args"][1], "claude");
            let prompt = &merged["hooks"]["UserPromptSubmit"];
            assert_eq!(prompt[0]["hooks"][0]["timeout"], 5);
        }
        assert_eq!(
            reads(&recipe(&["--settings=mine.json"]), &BTreeMap::new()),
            [
                PathBuf::from("/home/dev/shop/.claude/settings.json"),
                "/home/dev/shop/.claude/settings.local.json".into(),
                file
            ]
        );
    }

    #[test]
    fn settings_that_cannot_be_merged_stay_for_the_client_to_refuse() {
        for flags in ["--settings=missing.json", "--settings {broken"] {
            let flags = words(flags);
            let line = command_line(
                &Recipe {
                    flags: flags.clone(),
                    ..recipe(&[])
                },
                &wiring(),
            );
            assert_eq!(line.argv[1..], flags);
            assert!(!line.guarded);
        }
    }

    #[test]
    fn a_session_without_hooks_is_not_guarded() {
        let user = PathBuf::from("/home/dev/.claude/settings.json");
        let project = PathBuf::from("/home/dev/shop/.claude/settings.json");
        let off: String = r#"{"disableAllHooks":true}"#.into();
        let on: String = r#"{"disableAllHooks":false}"#.into();
        for (flags, files, guarded) in [
            (vec![], vec![], true),
            (vec!["--bare"], vec![], false),
            (vec!["--safe-mode"], vec![], false),
            (vec!["--append-system-prompt", "--bare"], vec![], true),
            (vec![], vec![(&user, &off)], false),
            (vec![], vec![(&user, &off), (&project, &on)], true),
            (vec![], vec![(&user, &on), (&project, &off)], false),
            (vec!["--settings", &on], vec![(&project, &off)], true),
            (vec!["--settings", &off], vec![], false),
        ] {
            let files = files
                .into_iter()
                .map(|(file, text)| (file.clone(), text.clone()))
                .collect();
            let wiring = Wiring { files, ..wiring() };
            assert_eq!(
                command_line(&recipe(&flags), &wiring).guarded,
                guarded,
                "{flags:?} {:?}",
                wiring.files
            );
        }
    }
}
