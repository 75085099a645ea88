//! What the deck says of a session: its meter and its state, from what the client really does.

use serde_json::json;

use super::stage::{Client, Stage};
use super::with_both;

with_both!(
    the_meter_shows_what_the_provider_counted,
    a_session_works_until_it_is_interrupted,
    a_permission_question_needs_the_person,
);

fn the_meter_shows_what_the_provider_counted(client: &'static Client) {
    let usage = |cache_read| json!({ "input": 1_210, "cache_read": cache_read, "cache_write": 433, "output": 77 });
    let turns = json!([
        { "text": "first", "usage": usage(61_000) },
        { "text": "second", "usage": usage(70_500) },
    ]);
    let stage = Stage::new(client, &turns);
    let terminal = stage.begin(&["fix the flaky login test"]);
    for (text, tokens, shown) in [("first", 62_720, "63k"), ("second", 72_220, "72k")] {
        stage.wait_for_session(1, "the figure", |it| it["context_tokens"] == tokens);
        let session = stage.wait_for_state(1, "your_turn");
        assert_eq!(session["window"], client.window);
        terminal.wait_for_text(&format!("{} {text}", client.answer));
        let of = if client.window == 1_000_000 {
            "1M"
        } else {
            "258k"
        };
        terminal.wait_for_text(&format!(" {shown}/{of}"));
        client.wait_for_box(&terminal, "");
        if text == "first" {
            client.say(&terminal, "", "and again");
        }
    }
}

fn a_session_works_until_it_is_interrupted(client: &'static Client) {
    let stage = Stage::new(client, &json!([{ "text": "never", "delay": 600 }]));
    let terminal = stage.begin(&["fix the flaky login test"]);
    let session = stage.wait_for_state(1, "working");
    assert!(
        ["hook", "osc7501"].contains(&session["state_signal"].as_str().unwrap()),
        "{session}"
    );
    terminal.wait_for_text("esc to interrupt");
    terminal.keys("esc");
    stage.wait_for_state(1, "your_turn");
}

fn a_permission_question_needs_the_person(client: &'static Client) {
    let turns = json!([
        { "text": "May I?", "tools": [client.call("touch tested; cat README.md")] },
        { "text": "Done: {{last_result}}" },
    ]);
    let stage = Stage::new(client, &turns);
    let words = [client.asks, &["run", "the", "flaky", "test"]].concat();
    let terminal = stage.begin(&words);
    terminal.wait_for_text(client.question);
    let session = stage.wait_for_state(1, "needs_you");
    assert_eq!(session["profile"], "bugfix");
    terminal.wait_for_text("needs you");
    terminal.press_until("enter", "# A repository");
    stage.wait_for_state(1, "your_turn");
    assert!(stage.home.path("repo/tested").exists());
}
