//! What is the person's own stays as it was, and works beside ours.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::stage::{CLAUDE, CODEX, Client, MODAL, OFF_TOPIC, ON_TOPIC, Stage};
use super::with_both;
use crate::clients::installed;
use crate::home::SESSDECK;
use crate::patience::wait_until;

with_both!(
    nothing_of_the_persons_own_is_touched,
    a_session_without_hooks_says_so_and_blocks_nothing,
);

/// A hook of the person's own that leaves a mark.
fn marks(name: &str) -> Value {
    let hook = json!({ "type": "command", "command": format!("touch \"$HOME/{name}\"") });
    json!({ "UserPromptSubmit": [{ "hooks": [hook] }] })
}

fn nothing_of_the_persons_own_is_touched(client: &'static Client) {
    let stage = Stage::echo(client);
    let own = [
        "home/.claude/settings.json",
        "home/.codex/config.toml",
        "home/.gitconfig",
    ];
    let settings = json!({ "cleanupPeriodDays": 77, "hooks": marks("by-settings") });
    stage.home.write(own[0], &settings.to_string());
    let before = own.map(|file| stage.home.read(file));
    let claude_before = stage.home.read("home/.claude.json");

    let terminal = stage.waiting();
    client.say(&terminal, "", OFF_TOPIC);
    terminal.wait_for_text(MODAL);
    terminal.keys("s");
    stage.wait_for_prompt(OFF_TOPIC);
    stage.wait_for_state(1, "your_turn");
    if client.name == "claude" {
        wait_until("the person's hook", || {
            stage.home.path("home/by-settings").exists().then_some(())
        });
    }

    let [settings, codex, git] = own.map(|file| stage.home.read(file));
    assert_eq!((&settings, &git), (&before[0], &before[2]));
    // Codex itself puts what it has shown behind the rest.
    assert!(codex.starts_with(&before[1]), "{codex}");
    assert!(!codex.contains("hooks"), "{codex}");
    // Claude Code itself writes into this one; what stood there has to stay, and nothing of it may be ours.
    let claude = stage.home.read("home/.claude.json");
    if client.name == "codex" {
        assert_eq!(claude, claude_before);
    }
    let (now, then): (Value, Value) = (parsed(&claude), parsed(&claude_before));
    for (key, value) in then.as_object().unwrap() {
        assert!(holds(&now[key], value), "{key}: {now:#}");
    }
    // A transcript tells which hooks ran.
    let mut elsewhere = mentions(&stage.home.path("home"), SESSDECK);
    elsewhere.retain(|file| file.extension().is_none_or(|ending| ending != "jsonl"));
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Whether all that stands in `part` stands in `whole` too.
fn holds(whole: &Value, part: &Value) -> bool {
    part.as_object().map_or_else(
        || whole == part,
        |fields| fields.iter().all(|(key, value)| holds(&whole[key], value)),
    )
}

/// The files below this folder that hold the word.
fn mentions(folder: &Path, word: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(mentions(&path, word));
        } else if kind.is_file()
            && fs::read(&path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(word))
        {
            found.push(path);
        }
    }
    found
}

fn a_session_without_hooks_says_so_and_blocks_nothing(client: &'static Client) {
    let stage = Stage::echo(client);
    let words = [client.without_hooks, &[ON_TOPIC]].concat();
    let terminal = stage.begin(&words);
    terminal.wait_for_text("guard not active");
    terminal.wait_for_text(&format!("You said: {ON_TOPIC}"));
    client.wait_for_box(&terminal, "");
    client.say(&terminal, "", OFF_TOPIC);
    terminal.wait_for_text(&format!("You said: {OFF_TOPIC}"));
    let planned = stage
        .home
        .sessdeck(&[&["new", "--detach"], &words[..]].concat())
        .ok();
    assert!(
        planned.contains("the guard is not active in this session"),
        "{planned}"
    );
}

#[test]
fn settings_that_the_person_gives_are_merged_with_ours() {
    let stage = Stage::echo(&CLAUDE);
    let settings = json!({ "hooks": marks("by-flag"), "env": { "THEIRS": "kept" } });
    let settings = format!("--settings={settings}");
    let terminal = stage.begin(&[&settings, ON_TOPIC]);
    terminal.wait_for_text(&format!("You said: {ON_TOPIC}"));
    wait_until("the person's hook", || {
        stage.home.path("home/by-flag").exists().then_some(())
    });
    stage.wait_for_state(1, "your_turn");
    CLAUDE.wait_for_box(&terminal, "");
    CLAUDE.say(&terminal, "", OFF_TOPIC);
    terminal.wait_for_text(MODAL);
}

/// Codex runs no hook that it does not trust, and would ask about ours. It says itself how it will know it again: it is
/// asked once, and that is remembered.
#[test]
fn codex_trusts_our_hook_by_its_own_word() {
    let stage = Stage::echo(&CODEX);
    let real = installed(CODEX.name);
    let asked = stage.home.path("asked");
    let wrapper = format!(
        "#!/bin/sh\ncase \"$*\" in app-server*) echo asked >> {} ;; esac\nexec {} \"$@\"\n",
        asked.display(),
        real.display()
    );
    stage.home.script("bin/codex", &wrapper);
    for id in [1, 2] {
        let terminal = stage.begin(&[ON_TOPIC]);
        // An open question would take the place of the answer.
        terminal.wait_for_text(&format!("You said: {ON_TOPIC}"));
        stage.wait_for_state(id, "your_turn");
        CODEX.wait_for_box(&terminal, "");
        CODEX.say(&terminal, "", OFF_TOPIC);
        terminal.wait_for_text(MODAL);
        assert_eq!(stage.home.read("asked"), "asked\n");
    }
}
