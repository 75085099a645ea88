//! Where the real clients live, and that they do: they start in a home of ours, ask nothing and are answered.
//!
//! All tests of this module need the clients or their namespace; `tests/run --without-clients` skips them.

use serde_json::json;

use crate::home::Home;
use crate::processes::Marker;

/// Asks the provider as a client does and prints the status and the text of the answer.
const ASK: &str = "
import json, os, sys, urllib.request
body = {'model': 'm', 'max_tokens': 9, 'messages': [{'role': 'user', 'content': sys.argv[1]}]}
request = urllib.request.Request(os.environ['ANTHROPIC_BASE_URL'] + '/v1/messages',
    json.dumps(body).encode(), {'content-type': 'application/json', 'x-api-key': 'k'})
with urllib.request.urlopen(request) as answer:
    print(answer.status, json.load(answer)['content'][0]['text'])
";

#[test]
fn the_provider_answers_and_nobody_else_can() {
    let scenario = json!({ "turns": [{ "text": "pong" }] });
    let home = Home::new().with_provider(&scenario, &[]);
    let ask = |script: &str, word: &str| home.program("python3").args(["-c", script, word]).run();

    assert_eq!(ask(ASK, "ping").ok(), "200 pong\n");
    let provider = home.provider();
    let asked = provider.wait_for("the request", |request| request["path"] == "/v1/messages");
    assert_eq!(asked["body"]["messages"][0]["content"], "ping");

    let outside = "import socket; socket.create_connection(('192.0.2.1', 80), 5)";
    let refused = ask(outside, "");
    assert!(
        refused.err.contains("Network is unreachable"),
        "{refused:?}"
    );
}

#[test]
fn all_terminals_of_a_home_are_in_one_world() {
    let home = Home::new().with_provider(&json!({}), &[]);
    // Its own process, group and session lead the terminal, by numbers of this world.
    let script = r"setsid --fork sleep 1000 </dev/null >/dev/null 2>&1
        readlink /proc/self/cwd; read -a stat < /proc/$$/stat
        echo leads: $(( $$ == stat[4] && $$ == stat[5] && $$ == stat[7] )); read; exit 5";
    let first = home.program("bash").args(["-c", script]).open(80, 24);
    let screen = first.wait_for_text("leads: 1");
    assert_eq!(screen.row(0), home.repo().to_string_lossy());

    let list = r"for p in /proc/[0-9]*; do tr '\0' ' ' < $p/cmdline; echo; done";
    let second = home.program("bash").args(["-c", list]).open(200, 24);
    second.wait_for_text("sleep 1000");
    second.wait_for_text("run_in_ns.sh --inside");
    first.keys("enter");
    assert_eq!(first.wait_exit(), 5);

    let marker = Marker::new("SESSDECK_HOME", &home.path("deck").to_string_lossy());
    assert!(marker.processes().len() >= 3, "{:?}", marker.processes());
    drop(home);
    assert_eq!(marker.processes(), []);
}

#[test]
fn claude_code_is_answered() {
    let scenario = json!({ "lanes": [{
        "when": { "tools": true },
        "turns": [{ "text": "You said: {{last_user}}" }],
    }] });
    let home = Home::new().with_provider(&scenario, &["claude"]);
    let terminal = home.program("claude").open(120, 40);
    terminal.wait_for_text("❯");
    terminal.send("hello there");
    terminal.wait_for_text("hello there");
    terminal.keys("enter");
    terminal.wait_for_text("● You said: hello there");
}

#[test]
fn codex_is_answered() {
    let scenario = json!({ "lanes": [{
        "when": { "tool": "exec_command" },
        "turns": [{ "text": "You said: {{last_user}}" }],
    }] });
    let home = Home::new().with_provider(&scenario, &["codex"]);
    let terminal = home.program("codex").args(["--no-daemon"]).open(120, 40);
    terminal.wait_for_text("›");
    terminal.send("hello there");
    terminal.wait_for_text("hello there");
    terminal.keys("enter");
    terminal.wait_for_text("• You said: hello there");
}
