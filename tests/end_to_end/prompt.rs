//! A prompt that belongs to another profile: it is blocked, and each answer of the modal does what it says.

use std::path::Path;

use serde_json::Value;

use crate::home::Home;
use crate::patience::wait_until;
use crate::terminal::Terminal;

const ON_TOPIC: &str = "fix the flaky login test";
const OFF_TOPIC: &str = "write the readme tutorial and changelog docs";

/// A deck with a bugfix session that has answered its task.
fn deck(home: &Home) -> Terminal {
    let deck = home.deck(&["new", "fix", "the", "flaky", "login", "test"]);
    deck.wait_for_text("You said: \"fix the flaky login test\"");
    home.wait_for_session("the end of the turn", |it| it["state"] == "your_turn");
    deck
}

/// Types a prompt that is off topic and waits for the modal over it.
fn block(deck: &Terminal, prompt: &str) {
    deck.send(prompt);
    deck.wait_for("the typed prompt", |screen| {
        screen.contains(&format!("❯ {}", prompt.lines().next().unwrap()))
    });
    deck.keys("enter");
    deck.wait_for_text("s send anyway");
}

/// What the person has said in a session, by its transcript: what reached the agent.
fn prompts(session: &Value) -> Vec<String> {
    let path = session["transcript"].as_str().expect("a transcript");
    let text = std::fs::read_to_string(Path::new(path)).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|row| row["type"] == "user")
        .filter_map(|row| row["message"]["content"].as_str().map(str::to_owned))
        .collect()
}

fn first(home: &Home) -> Value {
    home.sessions().into_iter().next().expect("a session")
}

fn box_is_empty(deck: &Terminal) {
    deck.wait_for("an empty box", |screen| {
        !screen.contains(&format!("❯ {OFF_TOPIC}")) && !screen.contains("s send anyway")
    });
}

#[test]
fn a_prompt_on_topic_goes_through() {
    let home = Home::new().with_practice_agent();
    let deck = deck(&home);
    deck.send("why does the login crash with an error?\r");
    deck.wait_for_text("You said: \"why does the login crash with an error?\"");
    let session = first(&home);
    assert_eq!(session["profile"], "bugfix");
    assert_eq!(
        prompts(&session),
        [ON_TOPIC, "why does the login crash with an error?"]
    );
}

#[test]
fn a_prompt_off_topic_is_asked_about() {
    let home = Home::new().with_practice_agent();
    let deck = deck(&home);
    block(&deck, OFF_TOPIC);
    let screen = deck.screen();
    for text in [
        "This prompt belongs to docs, not to bugfix",
        "readme, changelog, tutorial",
        "sessdeck new --profile docs",
    ] {
        assert!(screen.contains(text), "no `{text}` on\n{screen}");
    }
    assert_eq!(prompts(&first(&home)), [ON_TOPIC]);
    let listed = home.sessdeck(&["blocked"]).ok();
    assert!(listed.contains(OFF_TOPIC), "{listed}");
}

#[test]
fn open_starts_a_session_with_the_whole_prompt() {
    let home = Home::new().with_practice_agent();
    let deck = deck(&home);
    // What is pasted keeps its lines, and all of them are the prompt.
    let prompt = format!("{OFF_TOPIC}\n\n  - with `$(date)` and \"quotes\"\n  - and 漢字");
    deck.paste(&prompt);
    deck.wait_for_text("and 漢字");
    deck.keys("enter");
    deck.wait_for_text("s send anyway");
    deck.keys("o");
    let opened = home.wait_for_session("the docs session", |it| it["profile"] == "docs");
    deck.wait_for_text("You said: \"write the readme tutorial");
    let opened = home.wait_for_session("its transcript", |it| {
        it["id"] == opened["id"] && it["transcript"].is_string() && !prompts(it).is_empty()
    });
    assert_eq!(prompts(&opened), [prompt.clone()]);
    assert_eq!(prompts(&first(&home)), [ON_TOPIC]);
    // The first session's box is empty again.
    deck.keys("ctrl-space 1");
    let screen = deck.wait_for_text("fix the flaky login test\".");
    assert!(!screen.contains("s send anyway"), "{screen}");
    deck.wait_for("an empty box", |screen| !screen.contains("❯ write"));
}

#[test]
fn park_writes_a_line_and_empties_the_box() {
    let home = Home::new().with_practice_agent();
    let deck = deck(&home);
    block(&deck, OFF_TOPIC);
    deck.keys("p");
    let line = wait_until("the parked line", || {
        let inbox = home.read("repo/hot-todo.md");
        inbox
            .lines()
            .find(|line| line.contains(OFF_TOPIC))
            .map(str::to_owned)
    });
    assert!(
        line.starts_with("- [ ] ") && line.contains(" #docs "),
        "{line}"
    );
    box_is_empty(&deck);
    assert_eq!(prompts(&first(&home)), [ON_TOPIC]);
    // The agent goes on as if nothing had been typed.
    deck.send("why is it flaky?\r");
    deck.wait_for_text("You said: \"why is it flaky?\"");
    assert_eq!(prompts(&first(&home)), [ON_TOPIC, "why is it flaky?"]);
}

#[test]
fn send_anyway_lets_exactly_this_prompt_through_once() {
    let home = Home::new().with_practice_agent();
    let deck = deck(&home);
    block(&deck, OFF_TOPIC);
    deck.keys("s");
    deck.wait_for_text(&format!("You said: \"{OFF_TOPIC}\""));
    home.wait_for_session("the end of the turn", |it| it["state"] == "your_turn");
    assert_eq!(prompts(&first(&home)), [ON_TOPIC, OFF_TOPIC]);

    block(&deck, OFF_TOPIC);
    assert_eq!(prompts(&first(&home)), [ON_TOPIC, OFF_TOPIC]);
}

#[test]
fn cancel_leaves_the_words_in_the_box() {
    let home = Home::new().with_practice_agent();
    let deck = deck(&home);
    block(&deck, OFF_TOPIC);
    deck.keys("esc");
    deck.wait_for("the words in the box", |screen| {
        !screen.contains("s send anyway") && screen.contains(&format!("❯ {OFF_TOPIC}"))
    });
    assert_eq!(prompts(&first(&home)), [ON_TOPIC]);
    // They can be made into what was meant, and go through.
    deck.send(" !!\r");
    deck.wait_for_text("You said: \"write the readme");
    assert_eq!(
        prompts(&first(&home)),
        [ON_TOPIC.to_owned(), format!("{OFF_TOPIC} !!")]
    );
}

#[test]
fn a_sign_parks_from_the_prompt_itself() {
    let home = Home::new().with_practice_agent();
    let deck = deck(&home);
    deck.send(">> the login page needs a favicon");
    deck.wait_for_text("❯ >> the login page");
    deck.keys("enter");
    let inbox = wait_until("the parked line", || {
        Some(home.read("repo/hot-todo.md")).filter(|text| text.contains("favicon"))
    });
    assert!(
        inbox.ends_with("the login page needs a favicon\n"),
        "{inbox}"
    );
    deck.wait_for("an empty box", |screen| !screen.contains("❯ >>"));
    assert_eq!(prompts(&first(&home)), [ON_TOPIC]);
}

#[test]
fn a_question_over_another_tab_waits_there() {
    let home = Home::new().with_practice_agent();
    let deck = deck(&home);
    deck.send(OFF_TOPIC);
    deck.wait_for_text(&format!("❯ {OFF_TOPIC}"));
    home.start_bash(
        "other",
        "echo other is here; read line; echo got $line; read",
    );
    home.wait_for_session("the other session", |it| it["title"] == "other");
    // Enter and the way to the other tab at once: the block comes when that is in front.
    deck.keys("enter ctrl-space 2");
    deck.wait_for_text("other is here");
    home.wait_for_session("the question", |_| {
        home.sessdeck(&["blocked"]).out.contains(OFF_TOPIC)
    });
    deck.wait_for_text("1 needs you");
    let screen = deck.screen();
    assert!(!screen.contains("s send anyway"), "{screen}");
    deck.keys("o k enter");
    deck.wait_for_text("got ok");
    deck.keys("ctrl-space g");
    deck.wait_for_text("s send anyway");
    deck.keys("esc");
    deck.wait_for_text(&format!("❯ {OFF_TOPIC}"));
}
