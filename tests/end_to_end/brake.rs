//! The brake as the hook alone decides it, from a transcript and what it remembers: no server, no client.

use std::fs::{self, FileTimes, OpenOptions};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::home::{Home, SESSDECK};
use crate::hook::Chat;

/// What each step says that no other does, in their order.
const STEPS: [(&str, &str); 4] = [
    ("checkpoint", "Checkpoint:"),
    ("soft", "Start closing:"),
    ("hard", "is due now"),
    ("stop", "Stop:"),
];

impl Chat {
    /// The step that a prompt brings.
    fn prompt(&self, text: &str) -> &'static str {
        step(&self.hook("UserPromptSubmit", &json!({ "prompt": text })))
    }

    fn go_on(&self) -> &'static str {
        self.prompt("go on")
    }

    fn after_tool(&self) -> &'static str {
        step(&self.hook("PostToolUse", &json!({ "tool_name": "Bash" })))
    }

    fn started(&self, source: &str) {
        let said = self.hook("SessionStart", &json!({ "source": source }));
        assert_eq!(said, Value::Null, "{source}");
    }

    /// Why a tool is refused; none if it may run.
    fn refused(&self, tool: &str, input: &Value) -> Option<String> {
        let said = self.hook(
            "PreToolUse",
            &json!({ "tool_name": tool, "tool_input": input }),
        );
        if said.is_null() {
            return None;
        }
        assert_eq!(said["decision"], "block", "{said}");
        Some(said["reason"].as_str().expect("a reason").to_owned())
    }

    fn touches(&self) -> Option<String> {
        self.refused("Bash", &json!({ "command": "touch x" }))
    }

    fn note(&self) -> PathBuf {
        self.home.path("repo/docs/handoffs/claude-c1.md")
    }

    fn write_note(&self) {
        let headings = [
            "Goal",
            "Done",
            "Left",
            "Open decisions",
            "Next step",
            "Files to open",
        ];
        let text = format!("## {}\nfilled\n", headings.join("\nfilled\n\n## "));
        self.home.write("repo/docs/handoffs/claude-c1.md", &text);
    }
}

fn step(said: &Value) -> &'static str {
    if said.is_null() {
        return "";
    }
    let told = &said["hookSpecificOutput"];
    let text = told["additionalContext"].as_str().expect("a text");
    let found: Vec<&str> = STEPS
        .iter()
        .filter(|(_, words)| text.contains(words))
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(found.len(), 1, "{text}");
    found[0]
}

#[test]
fn each_step_comes_once_at_prompts_and_after_tools() {
    let mut chat = Chat::new();
    assert_eq!(chat.go_on(), "", "nothing was answered yet");
    assert_eq!(chat.holds(200_000).go_on(), "");
    assert_eq!(chat.holds(260_000).after_tool(), "checkpoint");
    assert_eq!(chat.go_on(), "");
    assert_eq!(chat.holds(390_000).after_tool(), "");
    // Whatever the topic check says of a prompt that goes through.
    assert_eq!(
        chat.holds(410_000)
            .prompt("write the readme tutorial docs now !!"),
        "soft"
    );
    assert_eq!(chat.holds(560_000).prompt("/model opus"), "hard");
    assert_eq!(chat.holds(660_000).go_on(), "stop");
    assert_eq!(chat.holds(700_000).go_on(), "");
    // The same conversation in a new process of the client.
    chat.started("resume");
    assert_eq!(chat.holds(710_000).go_on(), "");
    // A window that fell re-arms what lies above.
    assert_eq!(chat.holds(300_000).go_on(), "");
    assert_eq!(chat.holds(700_000).go_on(), "stop");
}

#[test]
fn a_compaction_and_a_cleared_conversation_begin_anew() {
    let mut chat = Chat::new();
    assert_eq!(chat.holds(260_000).go_on(), "checkpoint");
    chat.add(
        &json!({ "type": "system", "subtype": "compact_boundary", "uuid": "u",
        "compactMetadata": { "trigger": "auto", "preTokens": 260_000 } }),
    );
    chat.started("compact");
    assert_eq!(chat.after_tool(), "", "what is left is not known yet");
    assert_eq!(chat.holds(255_000).go_on(), "checkpoint");
    assert_eq!(chat.go_on(), "");

    chat.id = "c2".into();
    chat.started("clear");
    assert_eq!(chat.go_on(), "");
    assert_eq!(chat.holds(410_000).go_on(), "soft", "the highest of two");
    assert_eq!(chat.holds(390_000).go_on(), "");
    chat.id = "c1".into();
    assert_eq!(chat.go_on(), "");
}

#[test]
fn what_is_no_call_of_the_main_chat_moves_nothing() {
    let mut chat = Chat::new();
    assert_eq!(chat.holds(260_000).go_on(), "checkpoint");
    let zero = json!({ "input_tokens": 0, "output_tokens": 0 });
    chat.add(&json!({ "type": "assistant", "isApiErrorMessage": true,
        "message": { "id": "e", "model": "<synthetic>", "usage": zero } }));
    let big = json!({ "input_tokens": 900_000, "output_tokens": 0 });
    chat.add(&json!({ "type": "assistant", "isSidechain": true,
        "message": { "id": "s", "model": "claude-opus-5-5", "usage": big } }));
    assert_eq!(chat.go_on(), "");
    let inside = chat.hook(
        "PostToolUse",
        &json!({ "tool_name": "Bash", "agent_id": "a1" }),
    );
    assert_eq!(inside, Value::Null);
    let failed = chat.hook("PostToolUseFailure", &json!({ "tool_name": "Bash" }));
    assert_eq!(failed, Value::Null);
}

#[test]
fn the_window_decides_where_the_steps_are() {
    for (config, model, tokens, expected) in [
        ("", "claude-sonnet-4-5-20260101", 119_000, ""),
        ("", "claude-sonnet-4-5-20260101", 120_000, "checkpoint"),
        ("", "claude-sonnet-4-5-20260101", 180_000, "stop"),
        // It cannot be that small.
        ("", "claude-sonnet-4-5-20260101", 219_000, ""),
        ("", "nobody-knows-it", 240_000, ""),
        ("", "nobody-knows-it", 250_000, "checkpoint"),
        (
            "[window]\nnobody = 100000\n",
            "nobody-knows-it",
            70_000,
            "soft",
        ),
        (
            "[brake]\nlarge = [1000, 2000, 3000, 4000]\n",
            "claude-opus-5-5",
            3_500,
            "hard",
        ),
        (
            "[brake.checkpoints]\nclaude = [10, 20, 30]\n",
            "claude-opus-5-5",
            700_000,
            "checkpoint",
        ),
    ] {
        let mut chat = Chat::new();
        chat.home.write("deck/config/config.toml", config);
        chat.holds_with(model, tokens);
        assert_eq!(chat.go_on(), expected, "{config} {model} {tokens}");
    }
    // The start names a variant that the rows leave out.
    let mut chat = Chat::new();
    let model = "claude-sonnet-4-5[1m]";
    chat.hook(
        "SessionStart",
        &json!({ "source": "startup", "model": model }),
    );
    chat.holds_with("claude-sonnet-4-5", 199_000);
    assert_eq!(chat.go_on(), "");
}

#[test]
fn at_the_stop_step_nothing_but_the_note_goes_on() {
    let mut chat = Chat::new();
    chat.holds(649_000);
    assert_eq!(chat.touches(), None);
    chat.holds(651_000);
    let note = chat.note();
    let refusal = chat.touches().unwrap();
    for words in [
        "Stop:",
        "not written yet",
        note.to_str().unwrap(),
        "sessdeck new --dir ",
        " --from /",
        "git add -- ",
    ] {
        assert!(refusal.contains(words), "{words} in {refusal}");
    }
    // It said the whole of it; from now on it says what is lacking.
    assert_eq!(chat.go_on(), "");
    assert!(!chat.touches().unwrap().contains("Stop:"));

    let outside = chat.home.path("repo/docs/handoffs/other.md");
    fs::create_dir_all(note.parent().unwrap()).unwrap();
    symlink("../../README.md", &outside).unwrap();
    symlink("docs/handoffs", chat.home.path("repo/link")).unwrap();
    let write = |path: &str| json!({ "file_path": path, "content": "x" });
    let through_dots = format!(
        "{}/../handoffs/claude-c1.md",
        note.parent().unwrap().display()
    );
    for (tool, input, allowed) in [
        ("Read", json!({ "file_path": "src/a.rs" }), true),
        ("Grep", json!({ "pattern": "x" }), true),
        ("Glob", json!({ "pattern": "*" }), true),
        ("Write", write(note.to_str().unwrap()), true),
        ("Edit", write("docs/handoffs/claude-c1.md"), true),
        ("Write", write("link/claude-c1.md"), true),
        ("Write", write(&through_dots), false),
        ("Write", write(outside.to_str().unwrap()), false),
        ("Write", write("README.md"), false),
        (
            "Bash",
            json!({ "command": "git add -- docs/handoffs/claude-c1.md" }),
            true,
        ),
        (
            "Bash",
            json!({ "command": "git commit -m 'a note' -- docs/handoffs/claude-c1.md" }),
            true,
        ),
        ("Bash", json!({ "command": "git add -A" }), false),
        (
            "Bash",
            json!({ "command": "git add -- docs/handoffs/claude-c1.md; make" }),
            false,
        ),
        ("Agent", json!({ "prompt": "do it for me" }), false),
        ("WebFetch", json!({ "url": "https://example.com" }), false),
        (
            "mcp__db__query",
            json!({ "command": ["a"], "url": 7 }),
            false,
        ),
    ] {
        let refused = chat.refused(tool, &input);
        assert_eq!(refused.is_none(), allowed, "{tool} {input}");
    }

    // A note that is another file's name is no note of this thread.
    symlink("../../README.md", &note).unwrap();
    assert!(
        chat.refused("Write", &write(note.to_str().unwrap()))
            .is_some()
    );
    fs::remove_file(&note).unwrap();

    chat.home
        .write("repo/docs/handoffs/claude-c1.md", "## Goal\nx\n");
    assert!(chat.touches().unwrap().contains("no heading `Done`"));
    chat.write_note();
    assert_eq!(chat.touches(), None);
    // As it stood before the step, it says nothing of what was done since.
    let before = SystemTime::now() - Duration::from_secs(60);
    let file = OpenOptions::new().write(true).open(&note).unwrap();
    file.set_times(FileTimes::new().set_modified(before))
        .unwrap();
    assert!(chat.touches().unwrap().contains("older than this step"));

    let out = chat.home.sessdeck(&["guard", "off", "c1"]).ok();
    assert!(out.contains("off"), "{out}");
    assert_eq!(chat.touches(), None);
    chat.home.sessdeck(&["guard", "on", "c1"]).ok();
    assert!(chat.touches().is_some());
}

#[test]
fn an_agent_does_not_take_its_own_brake_off() {
    let home = Home::new();
    let said = home
        .program(SESSDECK)
        .args(["guard", "off", "c1"])
        .env("CLAUDECODE", "1")
        .run();
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("its own brake"), "{}", said.err);
    let said = home.sessdeck(&["guard", "off", "nobody"]);
    assert_ne!(said.code, Some(0));
}

#[test]
fn the_note_is_named_for_the_thread() {
    let mut chat = Chat::new();
    chat.holds(651_000);
    let named = |chat: &Chat| {
        let refusal = chat.touches().unwrap();
        let at = refusal.find("writing ").unwrap() + "writing ".len();
        let path = refusal[at..].split(',').next().unwrap();
        let root = chat.home.repo().canonicalize().unwrap();
        PathBuf::from(path).strip_prefix(root).unwrap().to_owned()
    };
    assert_eq!(named(&chat), PathBuf::from("docs/handoffs/claude-c1.md"));
    chat.env("SESSDECK_PROFILE", "bugfix");
    assert_eq!(named(&chat), PathBuf::from("docs/handoffs/bugfix-c1.md"));
    chat.env("SESSDECK_THREAD", "fix-it");
    assert_eq!(named(&chat), PathBuf::from("docs/handoffs/fix-it.md"));
    // It goes on from a note that lies elsewhere in the repo, and brings that up to date.
    chat.home.write("repo/notes/login.md", "x");
    let older = chat.home.path("repo/notes/login.md");
    chat.env("SESSDECK_THREAD", older.to_str().unwrap());
    assert_eq!(named(&chat), PathBuf::from("notes/login.md"));
}
