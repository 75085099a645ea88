//! A prompt that belongs to another profile: it is blocked, and each answer of the modal does what it says.

use serde_json::Value;

use crate::deck::{TASK, prompts};
use crate::home::Home;
use crate::patience::wait_until;
use crate::terminal::Terminal;

const OFF_TOPIC: &str = "write the readme tutorial and changelog docs";

/// Types a prompt that is off topic and waits for the modal over it.
fn block(deck: &Terminal, prompt: &str) {
    deck.send(prompt);
    deck.wait_for("the typed prompt", |screen| {
        screen.contains(&format!("❯ {}", prompt.lines().next().unwrap()))
    });
    deck.keys("enter");
    deck.wait_for_text("s send anyway");
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
    let deck = home.deck_with_agent();
    deck.send("why does the login crash with an error?\r");
    deck.wait_for_text("You said: \"why does the login crash with an error?\"");
    let session = first(&home);
    assert_eq!(session["profile"], "bugfix");
    assert_eq!(
        prompts(&session),
        [TASK, "why does the login crash with an error?"]
    );
}

#[test]
fn a_prompt_off_topic_is_asked_about() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    block(&deck, OFF_TOPIC);
    let screen = deck.screen();
    for text in [
        "This prompt belongs to docs, not to bugfix",
        "readme, changelog, tutorial",
        "sessdeck new --profile docs",
    ] {
        assert!(screen.contains(text), "no `{text}` on\n{screen}");
    }
    assert_eq!(prompts(&first(&home)), [TASK]);
    let listed = home.sessdeck(&["blocked"]).ok();
    assert!(listed.contains(OFF_TOPIC), "{listed}");
}

#[test]
fn open_starts_a_session_with_the_whole_prompt() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
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
    assert_eq!(prompts(&opened), std::slice::from_ref(&prompt));
    assert_eq!(prompts(&first(&home)), [TASK]);
    // The first session's box is empty again.
    deck.keys("ctrl-space 1");
    let screen = deck.wait_for_text("fix the flaky login test\".");
    assert!(!screen.contains("s send anyway"), "{screen}");
    deck.wait_for("an empty box", |screen| !screen.contains("❯ write"));
}

#[test]
fn park_writes_a_line_and_empties_the_box() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
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
    assert_eq!(prompts(&first(&home)), [TASK]);
    // The agent goes on as if nothing had been typed.
    deck.send("why is it flaky?\r");
    deck.wait_for_text("You said: \"why is it flaky?\"");
    assert_eq!(prompts(&first(&home)), [TASK, "why is it flaky?"]);
}

#[test]
fn send_anyway_lets_exactly_this_prompt_through_once() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    block(&deck, OFF_TOPIC);
    deck.keys("s");
    deck.wait_for_text(&format!("You said: \"{OFF_TOPIC}\""));
    home.wait_for_session("the end of the turn", |it| it["state"] == "your_turn");
    assert_eq!(prompts(&first(&home)), [TASK, OFF_TOPIC]);

    block(&deck, OFF_TOPIC);
    assert_eq!(prompts(&first(&home)), [TASK, OFF_TOPIC]);
}

#[test]
fn cancel_leaves_the_words_in_the_box() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    block(&deck, OFF_TOPIC);
    deck.keys("esc");
    deck.wait_for("the words in the box", |screen| {
        !screen.contains("s send anyway") && screen.contains(&format!("❯ {OFF_TOPIC}"))
    });
    assert_eq!(prompts(&first(&home)), [TASK]);
    // They can be made into what was meant, and go through.
    deck.send(" !!\r");
    deck.wait_for_text("You said: \"write the readme");
    assert_eq!(
        prompts(&first(&home)),
        [TASK.to_owned(), format!("{OFF_TOPIC} !!")]
    );
}

#[test]
fn a_sign_parks_from_the_prompt_itself() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
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
    assert_eq!(prompts(&first(&home)), [TASK]);
}

#[test]
fn a_question_over_another_tab_waits_there() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    deck.send(OFF_TOPIC);
    deck.wait_for_text(&format!("❯ {OFF_TOPIC}"));
    home.start_bash(
        "other",
        "echo other is here; read line; echo got $line; read",
    );
    deck.wait_for_text(" other");
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
