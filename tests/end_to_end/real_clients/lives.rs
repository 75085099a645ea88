//! Agents outlive whatever looks at them: the terminal, and the server itself.

use super::stage::{CLAUDE, CODEX, Client, MODAL, OFF_TOPIC, ON_TOPIC, Stage, echo};
use super::with_both;

with_both!(a_session_goes_on_without_a_terminal);

fn a_session_goes_on_without_a_terminal(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = stage.waiting();
    let before = &stage.sessions()[0];
    terminal.keys("ctrl-space d");
    assert_eq!(terminal.wait_exit(), 0);

    let terminal = stage.home.terminal(&[], 140, 40);
    terminal.wait_for_text(&format!("You said: {ON_TOPIC}"));
    client.wait_for_box(&terminal, "");
    client.say(&terminal, "", OFF_TOPIC);
    terminal.wait_for_text(MODAL);
    assert_eq!(stage.sessions()[0]["pid"], before["pid"]);
}

/// In one deck, since it is one server that dies under both.
#[test]
fn both_clients_outlive_a_killed_server() {
    let clients = [&CLAUDE, &CODEX];
    let stage = Stage::of(&CLAUDE, &clients, &echo());
    let terminals = [(1, &CLAUDE), (2, &CODEX)].map(|(id, client)| {
        let agent = format!("--agent={}", client.name);
        let terminal = stage.begin(&[&agent, ON_TOPIC]);
        terminal.wait_for_text(&format!("You said: {ON_TOPIC}"));
        stage.wait_for_state(id, "your_turn");
        terminal
    });
    let pids = || -> Vec<_> {
        let sessions = stage.sessions();
        sessions.iter().map(|it| it["pid"].clone()).collect()
    };
    let status = || stage.home.sessdeck(&["server", "status", "--json"]).json();
    let (before, killed) = (pids(), status()["pid"].to_string());
    assert!(before.iter().all(serde_json::Value::is_u64), "{before:?}");
    stage.home.program("kill").args(["-9", &killed]).run().ok();

    // The windows that were open find their way back by themselves.
    for terminal in &terminals {
        terminal.wait_for_text("connected again");
    }
    for (client, terminal) in clients.iter().zip(&terminals) {
        terminal.wait_for_text(&format!("You said: {ON_TOPIC}"));
        client.wait_for_box(terminal, "");
        client.say(terminal, "", OFF_TOPIC);
        terminal.wait_for_text(MODAL);
    }
    assert_ne!(status()["pid"].to_string(), killed);
    assert_eq!(pids(), before);
    for pid in before {
        stage
            .home
            .program("kill")
            .args(["-0", &pid.to_string()])
            .run()
            .ok();
    }
}
