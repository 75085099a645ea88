//! The transcript of a session, read as it grows, moves the meter on its tab; a step of the brake asks.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::{Value, json};

use crate::deck::rows;
use crate::home::Home;

/// What the context holds by the last call that the transcript tells of.
fn context(session: &Value) -> u64 {
    let rows = rows(session);
    let last = rows.iter().rfind(|row| row["type"] == "assistant");
    let usage = &last.expect("the agent has answered")["message"]["usage"];
    let part = |name: &str| usage[name].as_u64().expect("a figure");
    part("input_tokens")
        + part("cache_creation_input_tokens")
        + part("cache_read_input_tokens")
        + part("output_tokens")
}

/// Waits until the meter shows what the transcript says, and that is at least so much.
fn settled(home: &Home, at_least: u64) -> u64 {
    let session = home.wait_for_session("a meter that agrees with the transcript", |it| {
        it["context_tokens"].as_u64().is_some_and(|tokens| {
            tokens >= at_least && it["state"] == "your_turn" && tokens == context(it)
        })
    });
    session["context_tokens"].as_u64().unwrap()
}

/// As the tab shows it, rounded to thousands.
fn figure(tokens: u64) -> String {
    format!("{}k/1M", (tokens + 500) / 1_000)
}

/// Adds to a transcript as the agent does.
fn append(session: &Value, text: &str) {
    let path = session["transcript"].as_str().expect("a transcript");
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn call(id: &str, tokens: u64) -> String {
    let usage = json!({ "input_tokens": tokens, "output_tokens": 0 });
    json!({ "type": "assistant", "requestId": id, "message": {
        "id": id, "role": "assistant", "model": "claude-opus-5-5", "usage": usage, "content": [],
    } })
    .to_string()
}

#[test]
fn the_meter_moves_with_the_transcript_and_agrees_with_it() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    let first = settled(&home, 1);
    deck.wait_for_text(&figure(first));
    deck.send("grow 60k\r");
    let second = settled(&home, first + 60_000);
    let screen = deck.wait_for_text(&figure(second));
    // A tenth of the window is a tenth of the bar.
    assert!(screen.contains("━─"), "{screen}");
    deck.send("grow 90k\r");
    let third = settled(&home, second + 90_000);
    deck.wait_for_text(&figure(third));
    assert_eq!(home.sessions()[0]["window"], 1_000_000);
}

#[test]
fn each_session_is_measured_by_its_own_transcript() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    deck.send("grow 60k\r");
    let first = settled(&home, 60_000);
    home.sessdeck(&["new", "--detach", "write", "the", "changelog", "docs"])
        .ok();
    let second = home.wait_for_session("the second session's meter", |it| {
        it["profile"] == "docs" && it["context_tokens"].as_u64().is_some()
    });
    assert_ne!(home.sessions()[0]["transcript"], second["transcript"]);
    // Both write to the same folder at the same time.
    deck.send("grow 20k\r");
    let grown = settled(&home, first + 20_000);
    let second = home.wait_for_session("the second session", |it| {
        it["profile"] == "docs" && it["state"] == "your_turn"
    });
    assert_eq!(second["context_tokens"], context(&second));
    deck.wait_for_text(&figure(grown));
}

#[test]
fn a_step_is_asked_about_once_and_again_after_the_context_fell() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    deck.send("grow 260k\r");
    deck.wait_for_text("Checkpoint: fix the flaky login test");
    deck.wait_for_text("enter read");
    deck.keys("enter");
    deck.wait_for("the end of the modal", |screen| {
        !screen.contains("enter read")
    });
    let first = settled(&home, 260_000);

    deck.send("grow 10k\r");
    settled(&home, first + 10_000);
    let screen = deck.screen();
    assert!(!screen.contains("enter read"), "{screen}");

    // A jump over two steps asks about the higher one only.
    deck.send("grow 300k\r");
    let screen = deck.wait_for_text("enter read");
    assert!(
        screen.contains("The context is large: fix the flaky login test"),
        "{screen}"
    );
    deck.keys("enter");
    deck.wait_for("the end of the modal", |screen| {
        !screen.contains("enter read")
    });

    deck.send("/compact\r");
    home.wait_for_session("a small context", |it| {
        it["context_tokens"]
            .as_u64()
            .is_some_and(|tokens| tokens < 100_000)
    });
    deck.send("grow 250k\r");
    deck.wait_for_text("Checkpoint: fix the flaky login test");
}

#[test]
fn a_row_that_is_half_written_counts_once_it_is_whole() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    let before = settled(&home, 1);
    let session = home.sessions().remove(0);
    let (whole, torn) = (call("one", 111_000), call("two", 222_000));
    let (begun, rest) = torn.split_at(torn.len() / 2);
    append(&session, begun);
    // What comes after it in another session has been read: the torn row was looked at.
    home.sessdeck(&["new", "--detach", "write", "the", "changelog", "docs"])
        .ok();
    home.wait_for_session("the other meter", |it| {
        it["profile"] == "docs" && it["context_tokens"].as_u64().is_some()
    });
    assert_eq!(home.sessions()[0]["context_tokens"], before);
    append(&session, &format!("{rest}\n"));
    deck.wait_for_text("222k/1M");

    // A row that stays torn spoils the one that is written after it, and no more.
    append(&session, &format!("{begun}{whole}\n"));
    append(&session, &format!("{}\n", call("three", 123_000)));
    deck.wait_for_text("123k/1M");
    assert_eq!(home.sessions()[0]["context_tokens"], 123_000);
}

#[test]
fn the_meter_is_there_again_after_the_server_was_lost() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    deck.send("grow 60k\r");
    let before = settled(&home, 60_000);
    home.kill(home.pid_of("pid"));
    deck.wait_for_text("connected again");
    home.wait_for_session("the meter", |it| it["context_tokens"] == before);
    deck.send("grow 30k\r");
    let after = settled(&home, before + 30_000);
    deck.wait_for_text(&figure(after));
}
