//! A subagent over its line, with each real client: denied, handing over, and its parent told.

use serde_json::{Value, json};

use super::stage::{CLAUDE, CODEX, Client, ON_TOPIC, Stage};
use crate::patience::wait_until;

/// The one file it may write, as the denial names it.
const NOTE: &str = "{{find:/[^ ]*/docs/handoffs/agents/[a-z0-9-]+\\.md}}";

fn note() -> String {
    let headings = [
        "Brief",
        "Goal",
        "Done",
        "Remains",
        "Next command",
        "State on disk",
        "Gotchas",
    ];
    format!(
        "## {}\nfilled\n\nHANDOFF: {NOTE}\n",
        headings.join("\nfilled\n\n## ")
    )
}

fn usage(context: u64) -> Value {
    json!({ "input": 10, "cache_read": context - 20, "output": 10 })
}

/// Bodies of the requests in that lane.
fn bodies(stage: &Stage, lane: &str) -> Vec<String> {
    let all = stage.home.provider().requests();
    all.into_iter()
        .filter(|request| request["lane"] == lane)
        .map(|request| request["body"].to_string())
        .collect()
}

fn count(bodies: &[String], words: &str) -> usize {
    bodies.last().map_or(0, |body| body.matches(words).count())
}

/// What every client's subagent and its parent have to go through.
fn goes_through(client: &'static Client, lanes: &Value, flags: &[&str]) {
    let stage = Stage::with_lanes(client, &[client], lanes);
    let _terminal = stage.begin(&[flags, &[ON_TOPIC]].concat());
    wait_until("the end of the subagent", || {
        (bodies(&stage, "sub").len() == 5).then_some(())
    });
    wait_until("the parent to be told", || {
        (count(&bodies(&stage, "main"), "spawn a fresh one") == 1).then_some(())
    });
    let sub = bodies(&stage, "sub");
    assert!(
        sub[0].contains("do the one task you were given"),
        "{}",
        sub[0]
    );
    // The client may write a call down before its tool runs or after: then the denial comes with the next one.
    assert!(sub[3].contains("over the limit of 200k"), "{}", sub[3]);
    assert!(!stage.home.path("repo/forbidden").exists());
    let folder = stage.home.path("repo/docs/handoffs/agents");
    let notes: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert_eq!(notes.len(), 1);
    let path = notes[0].as_ref().unwrap().path();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains(&format!("HANDOFF: {}", path.display())),
        "{text}"
    );
    let told = bodies(&stage, "main").pop().unwrap();
    assert!(told.contains(&path.display().to_string()), "{told}");
}

#[test]
fn claude_code_denies_hands_over_and_tells_the_parent() {
    let bash = |command: &str, context: u64| {
        json!({ "text": "Working.", "usage": usage(context),
            "tools": [{ "name": "Bash", "input": { "command": command } }] })
    };
    let lanes = json!([
        { "name": "sub", "when": { "subagent": true }, "after": "last", "turns": [
            bash("true", 205_000),
            bash("true", 205_500),
            bash("touch forbidden", 206_000),
            { "text": "Handing over.", "usage": usage(207_000),
              "tools": [{ "name": "Write", "input": { "file_path": NOTE, "content": note() } }] },
            { "text": format!("HANDOFF: {NOTE}"), "usage": usage(208_000) },
        ] },
        { "name": "main", "when": { "tool": "Bash", "subagent": false }, "after": "last", "turns": [
            { "text": "I ask a helper.", "usage": usage(20_000), "tools": [{ "name": "Agent", "input": {
                "description": "Look around", "prompt": "List the files here.",
                "subagent_type": "general-purpose", "run_in_background": false } }] },
            { "text": "The helper has answered.", "usage": usage(21_000) },
        ] },
    ]);
    let flags = [
        "--permission-mode=dontAsk",
        "--allowedTools=Bash,Write,Agent",
    ];
    goes_through(&CLAUDE, &lanes, &flags);
}

#[test]
fn codex_denies_hands_over_and_tells_the_parent() {
    let exec = |command: &str, context: u64| {
        json!({ "text": "Working.", "usage": usage(context),
            "tools": [{ "name": "exec_command", "input": { "cmd": command } }] })
    };
    let added: String = note()
        .lines()
        .fold(String::new(), |all, line| all + "+" + line + "\n");
    let patch = format!("*** Begin Patch\n*** Add File: {NOTE}\n{added}*** End Patch\n");
    let lanes = json!([
        { "name": "sub", "when": { "subagent": true }, "after": "last", "turns": [
            exec("true", 205_000),
            exec("true", 205_500),
            exec("touch forbidden", 206_000),
            { "text": "Handing over.", "usage": usage(207_000),
              "tools": [{ "name": "apply_patch", "custom": true, "input": patch }] },
            { "text": format!("HANDOFF: {NOTE}"), "usage": usage(208_000) },
        ] },
        { "name": "main", "when": { "tool": "exec_command" }, "after": "last", "turns": [
            { "text": "I ask a helper.", "usage": usage(20_000), "tools": [{ "name": "spawn_agent",
                "namespace": "multi_agent_v1",
                "input": { "message": "List the files here.", "agent_type": "default" } }] },
            { "text": "I wait.", "usage": usage(21_000), "tools": [{ "name": "wait_agent",
                "namespace": "multi_agent_v1", "input": {
                    "targets": ["{{find:agent_id[^0-9a-f]+([0-9a-f-]{36})}}"], "timeout_ms": 20_000 } }] },
            { "text": "The helper has answered.", "usage": usage(22_000) },
        ] },
    ]);
    // Unknown models are not offered the tool that writes files.
    let flags = [
        "--model=gpt-5.5-codex",
        "--sandbox=danger-full-access",
        "--ask-for-approval=never",
    ];
    goes_through(&CODEX, &lanes, &flags);
}
