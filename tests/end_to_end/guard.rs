//! Twenty checks of the guard: what a subagent may do, by its own transcript, as the hook alone decides it.
//!
//! `tests/guard/mutations` breaks each rule in turn and demands that one of them notices.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::thread;

use serde_json::{Value, json};

use crate::hook::Chat;

/// A main conversation with a subagent, `a1`.
struct Parent {
    chat: Chat,
    rows: usize,
}

impl Parent {
    fn new() -> Self {
        Self {
            chat: Chat::new(),
            rows: 0,
        }
    }

    /// The subagent has had an answer after which its own context holds so much.
    fn agent_holds(&mut self, tokens: u64) -> &mut Self {
        self.agent_holds_with("claude-opus-5-5", tokens)
    }

    fn agent_holds_with(&mut self, model: &str, tokens: u64) -> &mut Self {
        self.rows += 1;
        let usage = json!({ "input_tokens": 7, "cache_read_input_tokens": tokens - 17, "output_tokens": 10 });
        let row = json!({ "type": "assistant", "isSidechain": true, "agentId": "a1", "message": {
            "id": format!("s{}", self.rows), "model": model, "usage": usage,
        } });
        self.chat.home.write(
            "transcripts/c1/subagents/agent-a1.jsonl",
            &format!("{row}\n"),
        );
        self
    }

    fn agent(&self, event: &str, mut fields: Value) -> Value {
        fields["agent_id"] = "a1".into();
        fields["agent_type"] = "general-purpose".into();
        self.chat.hook(event, &fields)
    }

    /// Why a tool of the subagent is denied; none if it may run.
    fn denied(&self, tool: &str, input: &Value) -> Option<String> {
        let said = self.agent(
            "PreToolUse",
            json!({ "tool_name": tool, "tool_input": input }),
        );
        if said.is_null() {
            return None;
        }
        assert_eq!(said["decision"], "block", "{said}");
        // It would let the tool run.
        assert!(said.get("continue").is_none(), "{said}");
        Some(said["reason"].as_str().expect("a reason").to_owned())
    }

    fn runs(&self) -> Option<String> {
        self.denied("Bash", &json!({ "command": "ls" }))
    }

    fn writes(&self, path: impl Into<PathBuf>) -> Option<String> {
        let path: PathBuf = path.into();
        self.denied("Write", &json!({ "file_path": path, "content": "x" }))
    }

    /// Whether the subagent is warned after a tool.
    fn warned(&self) -> Option<String> {
        context(&self.agent("PostToolUse", json!({ "tool_name": "Bash" })))
    }

    /// What the parent is told at an event of its own.
    fn hears(&self, event: &str, fields: &Value) -> Option<String> {
        context(&self.chat.hook(event, fields))
    }

    fn after_tool(&self) -> Option<String> {
        self.hears("PostToolUse", &json!({ "tool_name": "Bash" }))
    }

    /// Drops what was remembered.
    fn forget(&self) {
        let state = self.chat.home.path("deck/state/hooks/claude-c1.json");
        fs::remove_file(state).ok();
    }

    fn note(&self) -> PathBuf {
        let root = self.chat.home.repo().canonicalize().expect("a repository");
        root.join("docs/handoffs/agents/c1-a1.md")
    }

    /// Listens where the hooks tell the server what happened.
    fn server(&mut self) -> Server {
        let path = self.chat.home.path("told.sock");
        let listener = UnixListener::bind(&path).expect("a socket of our own");
        listener.set_nonblocking(true).expect("a socket of our own");
        self.chat.env("SESSDECK_SESSION", "1");
        self.chat.env("SESSDECK_SOCKET", &path.to_string_lossy());
        Server(listener)
    }

    fn write_note(&self) {
        let headings = [
            "Brief",
            "Goal",
            "Done",
            "Remains",
            "Next command",
            "State on disk",
            "Gotchas",
        ];
        let text = format!(
            "## {}\nfilled\n\nHANDOFF: {}\n",
            headings.join("\nfilled\n\n## "),
            self.note().display()
        );
        self.chat
            .home
            .write("repo/docs/handoffs/agents/c1-a1.md", &text);
    }
}

/// The session's socket. A hook that has ended has told what it had to tell.
struct Server(UnixListener);

impl Server {
    /// How often it was told since it was last asked that a subagent is stuck.
    fn stuck(&self) -> usize {
        let mut stuck = 0;
        while let Ok((mut stream, _)) = self.0.accept() {
            let mut line = String::new();
            stream.set_nonblocking(false).expect("a socket of our own");
            stream.read_to_string(&mut line).expect("a line");
            let told: Value = serde_json::from_str(&line).expect("JSON");
            if told["event"]["event"] == "stuck" {
                assert_eq!(told["subagent"], told["event"]["agent"]);
                stuck += 1;
            }
        }
        stuck
    }
}

fn context(said: &Value) -> Option<String> {
    let text = &said["hookSpecificOutput"]["additionalContext"];
    text.as_str().map(str::to_owned)
}

#[test]
fn check_01_a_small_agent_of_a_large_parent_is_let_be() {
    let mut parent = Parent::new();
    parent.chat.holds(240_000);
    parent.agent_holds(20_000);
    assert_eq!((parent.runs(), parent.warned()), (None, None));
}

#[test]
fn check_02_a_large_agent_of_a_small_parent_is_denied() {
    let mut parent = Parent::new();
    parent.chat.holds(20_000);
    assert!(parent.agent_holds(210_000).runs().is_some());
    // The parent is none of its subagents.
    let said = parent.chat.hook(
        "PreToolUse",
        &json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } }),
    );
    assert_eq!(said, Value::Null);
}

#[test]
fn check_03_below_the_soft_line_nothing_is_said() {
    let mut parent = Parent::new();
    assert_eq!(parent.agent_holds(139_999).warned(), None);
}

#[test]
fn check_04_at_the_soft_line_it_is_warned_once() {
    let mut parent = Parent::new();
    let text = parent.agent_holds(140_000).warned().unwrap();
    assert!(text.contains("140k") && text.contains("200k"), "{text}");
    assert!(text.contains(parent.note().to_str().unwrap()), "{text}");
    assert_eq!(parent.warned(), None);
    assert_eq!(parent.agent_holds(159_999).warned(), None);
}

#[test]
fn check_05_each_further_step_is_a_warning_more() {
    let mut parent = Parent::new();
    assert!(parent.agent_holds(141_000).warned().is_some());
    assert!(parent.agent_holds(160_000).warned().is_some());
    assert_eq!(parent.agent_holds(179_000).warned(), None);
    assert!(parent.agent_holds(180_000).warned().is_some());
}

#[test]
fn check_06_a_jump_over_steps_is_one_warning_and_a_warned_agent_runs_on() {
    let mut parent = Parent::new();
    assert!(parent.agent_holds(199_000).warned().is_some());
    assert_eq!(parent.warned(), None);
    assert_eq!(parent.agent_holds(199_999).runs(), None);
}

#[test]
fn check_07_at_the_hard_line_every_tool_is_denied() {
    let mut parent = Parent::new();
    parent.agent_holds(200_000);
    for (tool, input) in [
        ("Bash", json!({ "command": "ls" })),
        ("Read", json!({ "file_path": "README.md" })),
        ("Grep", json!({ "pattern": "x" })),
        ("Edit", json!({ "file_path": "README.md" })),
        ("Agent", json!({ "prompt": "do it for me" })),
        ("WebFetch", json!({ "url": "https://example.com" })),
        ("mcp__db__query", json!({ "command": ["a"], "url": 7 })),
    ] {
        assert!(parent.denied(tool, &input).is_some(), "{tool}");
    }
    // There is nothing to warn of any more.
    assert_eq!(parent.warned(), None);
}

#[test]
fn check_08_the_denial_says_what_to_write_and_how_to_end() {
    let mut parent = Parent::new();
    let text = parent.agent_holds(205_000).runs().unwrap();
    let note = parent.note().display().to_string();
    for words in [
        "205k",
        "200k",
        "## Brief",
        "## Next command",
        "59 lines",
        &format!("`HANDOFF: {note}`"),
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn check_09_its_own_handoff_file_stays_open() {
    let mut parent = Parent::new();
    parent.agent_holds(250_000);
    assert_eq!(parent.writes(parent.note()), None);
    assert_eq!(parent.writes("docs/handoffs/agents/c1-a1.md"), None);
    let path = json!({ "file_path": parent.note() });
    assert_eq!(parent.denied("Read", &path), None);
    assert_eq!(parent.denied("Edit", &path), None);
}

#[test]
fn check_10_the_file_of_another_is_closed() {
    let mut parent = Parent::new();
    parent.agent_holds(250_000);
    for other in [
        "docs/handoffs/agents/c1-a2.md",
        "docs/handoffs/agents/c1-a1.md.sh",
        "docs/handoffs/claude-c1.md",
        "c1-a1.md",
        "/tmp/docs/handoffs/agents/c1-a1.md",
    ] {
        assert!(parent.writes(other).is_some(), "{other}");
    }
}

#[test]
fn check_11_no_path_climbs_to_it_or_from_it() {
    let mut parent = Parent::new();
    parent.agent_holds(250_000);
    let folder = parent.note().parent().unwrap().to_owned();
    fs::create_dir_all(&folder).unwrap();
    let folder = folder.display();
    for path in [
        format!("{folder}/../agents/c1-a1.md"),
        format!("{folder}/c1-a1.md/../../../../README.md"),
        format!("{folder}/../../../README.md"),
    ] {
        assert!(parent.writes(&path).is_some(), "{path}");
    }
}

#[test]
fn check_12_no_link_passes_for_it() {
    let mut parent = Parent::new();
    parent.agent_holds(250_000);
    let note = parent.note();
    fs::create_dir_all(note.parent().unwrap()).unwrap();
    symlink("../../../README.md", &note).unwrap();
    assert!(parent.writes(&note).is_some());
    assert!(
        parent
            .denied("Read", &json!({ "file_path": note }))
            .is_some()
    );
    fs::remove_file(&note).unwrap();
    // A link to its folder leads to the same file.
    symlink("docs/handoffs/agents", parent.chat.home.path("repo/link")).unwrap();
    assert_eq!(parent.writes("link/c1-a1.md"), None);
    // A folder that is a link to another one of the repo is named by its real path, which stays open.
    fs::remove_dir(note.parent().unwrap()).unwrap();
    fs::create_dir(parent.chat.home.path("repo/notes")).unwrap();
    symlink("../../notes", note.parent().unwrap()).unwrap();
    parent.forget();
    let real = parent.chat.home.repo().canonicalize().unwrap();
    let real = real.join("notes/c1-a1.md");
    let denial = parent.runs().unwrap();
    assert!(denial.contains(real.to_str().unwrap()), "{denial}");
    assert_eq!((parent.writes(&real), parent.writes(&note)), (None, None));
    parent.forget();
    // A folder that is a link out of the repo is nobody's place for notes.
    fs::remove_file(note.parent().unwrap()).unwrap();
    symlink("/tmp", note.parent().unwrap()).unwrap();
    assert!(parent.writes(&note).is_some());
}

#[test]
fn check_13_small_windows_have_lower_lines() {
    let mut parent = Parent::new();
    let small = "claude-sonnet-4-5-20260101";
    assert_eq!(parent.agent_holds_with(small, 89_000).warned(), None);
    assert!(parent.agent_holds_with(small, 90_000).warned().is_some());
    assert_eq!(parent.agent_holds_with(small, 119_000).runs(), None);
    assert!(parent.agent_holds_with(small, 120_000).runs().is_some());
    assert_eq!(
        parent.agent_holds_with("nobody-knows-it", 130_000).runs(),
        None
    );
}

#[test]
fn check_14_settings_set_the_lines_for_all_and_for_one_model() {
    let mut parent = Parent::new();
    let config =
        "[subagents]\nhard = 50000\n[subagents.models]\n\"claude-haiku\" = { hard = 30000 }\n";
    parent.chat.home.write("deck/config/config.toml", config);
    assert!(parent.agent_holds(50_000).runs().is_some());
    assert_eq!(parent.agent_holds(49_000).runs(), None);
    assert!(
        parent
            .agent_holds_with("claude-haiku-5-5", 30_000)
            .runs()
            .is_some()
    );
}

#[test]
fn check_15_the_environment_goes_before_the_settings() {
    let mut parent = Parent::new();
    parent
        .chat
        .home
        .write("deck/config/config.toml", "[subagents]\nhard = 50000\n");
    parent.chat.env("SESSDECK_GUARD_HARD", "70000");
    parent.chat.env("SESSDECK_GUARD_HARD_HAIKU", "40000");
    // No number is no limit.
    parent.chat.env("SESSDECK_GUARD_HARD_OPUS", "many");
    parent.chat.env("SESSDECK_GUARD_SOFT", "10000");
    assert_eq!(parent.agent_holds(69_000).runs(), None);
    assert!(parent.warned().is_some());
    assert!(parent.agent_holds(70_000).runs().is_some());
    assert!(
        parent
            .agent_holds_with("claude-haiku-5-5", 40_000)
            .runs()
            .is_some()
    );
}

#[test]
fn check_16_it_can_be_switched_off() {
    let mut parent = Parent::new();
    parent.agent_holds(250_000);
    parent.chat.env("SESSDECK_GUARD_OFF_HAIKU", "1");
    assert!(parent.runs().is_some());
    parent.chat.env("SESSDECK_GUARD_OFF", "1");
    assert_eq!(parent.runs(), None);

    let mut parent = Parent::new();
    assert!(parent.agent_holds(250_000).runs().is_some());
    parent.chat.home.sessdeck(&["guard", "off", "c1"]).ok();
    assert_eq!((parent.runs(), parent.warned()), (None, None));
    parent.chat.home.sessdeck(&["guard", "on", "c1"]).ok();
    assert!(parent.runs().is_some());
}

#[test]
fn check_17_what_cannot_be_read_is_let_be() {
    let mut parent = Parent::new();
    assert_eq!(parent.runs(), None, "no file yet");
    let own = "transcripts/c1/subagents/agent-a1.jsonl";
    for text in ["", "{\"type\":\"user\"}\n", "no row\n\u{0}"] {
        parent.chat.home.write(own, text);
        assert_eq!(parent.runs(), None, "{text:?}");
    }
    parent.agent_holds(250_000);
    let climbing = json!({ "agent_id": "../../c1", "tool_name": "Bash", "tool_input": {} });
    assert_eq!(parent.chat.hook("PreToolUse", &climbing), Value::Null);
    // What was remembered is lost; the line is not.
    parent
        .chat
        .home
        .write("deck/state/hooks/claude-c1.json", "{");
    assert!(parent.runs().is_some());
}

#[test]
fn check_18_a_denial_never_lapses_and_grows_short() {
    let mut parent = Parent::new();
    parent.agent_holds(210_000);
    let server = parent.server();
    for round in 0..5 {
        assert!(parent.runs().unwrap().contains("## Brief"), "{round}");
    }
    assert_eq!(server.stuck(), 0);
    let short = format!(
        "Denied. End your turn now with the line `HANDOFF: {}`.",
        parent.note().display()
    );
    for round in 5..12 {
        assert_eq!(parent.runs().as_deref(), Some(short.as_str()), "{round}");
    }
    // Having written its note opens nothing.
    parent.write_note();
    assert!(parent.runs().is_some());
    assert_eq!(server.stuck(), 1, "the person is told once");
    // Also where the client runs tools side by side.
    for round in 0..3 {
        parent.forget();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| parent.runs());
            }
        });
        assert_eq!(server.stuck(), 1, "{round}");
    }
}

#[test]
fn check_19_the_parent_is_told_once_when_there_is_a_note_or_an_end() {
    let mut parent = Parent::new();
    parent.agent_holds(210_000);
    assert_eq!(parent.after_tool(), None);
    parent.runs();
    assert_eq!(parent.after_tool(), None, "it has still to write");
    parent.write_note();
    // A prompt that is held back reaches no model.
    parent.chat.env("SESSDECK_PROFILE", "bugfix");
    let off_topic = json!({ "prompt": "write the readme tutorial and changelog docs" });
    let said = parent.chat.hook("UserPromptSubmit", &off_topic);
    assert_eq!(said["decision"], "block");
    let told = json!({ "prompt": "<task-notification>\ndone\n</task-notification>" });
    let news = parent.hears("UserPromptSubmit", &told).unwrap();
    let note = parent.note().display().to_string();
    assert!(
        news.contains(&note) && news.contains("spawn a fresh one"),
        "{news}"
    );
    assert_eq!(parent.after_tool(), None);
    assert_eq!(parent.hears("UserPromptSubmit", &told), None);

    let mut parent = Parent::new();
    parent.agent_holds(210_000);
    parent.runs();
    parent.agent("SubagentStop", json!({}));
    let news = parent.after_tool().unwrap();
    assert!(news.contains("left no handoff note"), "{news}");
    assert_eq!(parent.after_tool(), None);
    // One that was never stopped is no news; one that was resumed and then stopped has still to write.
    let mut parent = Parent::new();
    parent.agent_holds(150_000);
    assert!(parent.warned().is_some());
    parent.agent("SubagentStop", json!({}));
    assert_eq!(parent.after_tool(), None);
    parent.agent_holds(210_000).runs();
    assert_eq!(parent.after_tool(), None);
    // Where it works by now does not move its note, nor does where its parent works.
    fs::create_dir_all(parent.chat.home.path("repo/sub/.git")).unwrap();
    let elsewhere = parent.chat.home.path("repo/sub");
    let tool = json!({ "cwd": elsewhere, "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let denial = parent.agent("PreToolUse", tool.clone());
    let note = parent.note().display().to_string();
    assert!(
        denial["reason"].as_str().unwrap().contains(&note),
        "{denial}"
    );
    parent.write_note();
    let news = parent.hears("PostToolUse", &tool).unwrap();
    assert!(
        news.contains(&format!("its handoff note, {note}.")),
        "{news}"
    );
}

#[test]
fn check_20_the_working_rule_comes_at_the_start() {
    let parent = Parent::new();
    let rule = context(&parent.agent("SubagentStart", json!({}))).unwrap();
    for words in ["one task", "tail", "compact JSON", "by range", "100 turns"] {
        assert!(rule.contains(words), "{words} in {rule}");
    }
    parent
        .chat
        .home
        .write("deck/config/config.toml", "[subagents]\nrule = false\n");
    assert_eq!(context(&parent.agent("SubagentStart", json!({}))), None);
}
