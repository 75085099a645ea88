//! A prompt that belongs elsewhere is blocked, and each answer of the modal does what it says.

use super::stage::{Client, OFF_TOPIC, ON_TOPIC, Stage};
use super::with_both;
use crate::patience::wait_until;
use crate::terminal::Terminal;

with_both!(
    an_off_topic_prompt_is_opened_as_its_own_session,
    an_off_topic_prompt_is_parked,
    an_off_topic_prompt_is_sent_anyway_once,
    an_off_topic_prompt_is_cancelled_and_forced,
    a_park_sign_costs_no_turn,
);

const MODAL: &str = "This prompt belongs to docs, not to bugfix";

/// A session that had its first answer and waits.
fn waiting(stage: &Stage) -> Terminal {
    let terminal = stage.begin(&[ON_TOPIC]);
    terminal.wait_for_text(&format!("You said: {ON_TOPIC}"));
    stage.wait_for_state(1, "your_turn");
    stage.wait_for_box(&terminal, "");
    terminal
}

/// Types what does not belong here, and is asked.
fn blocked(stage: &Stage) -> Terminal {
    let terminal = waiting(stage);
    stage.say(&terminal, "", OFF_TOPIC);
    let screen = terminal.wait_for_text(MODAL);
    assert!(screen.contains("readme, tutorial"), "{screen}");
    assert!(stage.times_sent(OFF_TOPIC) == 0);
    terminal
}

fn an_off_topic_prompt_is_opened_as_its_own_session(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = waiting(&stage);
    let prompt = format!("{OFF_TOPIC}\nline two\n  line three\n\nline five\nline six\nthe end 🦀");
    terminal.paste(&prompt);
    terminal.wait_for("the paste in the box", |screen| {
        screen.contains(client.pasted) || screen.contains("the end 🦀")
    });
    terminal.keys("enter");
    terminal.wait_for_text(MODAL);
    assert!(stage.times_sent(&prompt) == 0);
    terminal.keys("o");
    stage.wait_for_prompt(&prompt);
    let session = stage.wait_for_state(2, "your_turn");
    assert_eq!(session["profile"], "docs");
    assert_eq!(session["agent"], client.name);
    assert!(stage.screen_of(1).contains(client.blocked));
    stage.wait_for_empty_box_of(1);
    assert_eq!(stage.times_sent(&prompt), 1);
}

fn an_off_topic_prompt_is_parked(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = blocked(&stage);
    terminal.keys("p");
    let line = wait_until("the line", || {
        let inbox = stage.home.read("repo/hot-todo.md");
        inbox
            .lines()
            .find(|line| line.contains(OFF_TOPIC))
            .map(str::to_owned)
    });
    assert!(line.starts_with("- [ ] 20"), "{line}");
    assert!(line.ends_with(&format!(" #docs {OFF_TOPIC}")), "{line}");
    terminal.wait_for_text(client.blocked);
    stage.wait_for_box(&terminal, "");
    stage.say(&terminal, "", "reproduce it once more please");
    terminal.wait_for_text("You said: reproduce it once more please");
    assert_eq!(stage.times_sent(OFF_TOPIC), 0);
}

fn an_off_topic_prompt_is_sent_anyway_once(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = blocked(&stage);
    terminal.keys("s");
    terminal.wait_for_text(&format!("You said: {OFF_TOPIC}"));
    stage.wait_for_state(1, "your_turn");
    stage.wait_for_box(&terminal, "");
    assert_eq!(stage.times_sent(OFF_TOPIC), 1);

    stage.say(&terminal, "", OFF_TOPIC);
    terminal.wait_for_text(MODAL);
    assert_eq!(stage.times_sent(OFF_TOPIC), 1);
}

fn an_off_topic_prompt_is_cancelled_and_forced(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = blocked(&stage);
    terminal.keys("esc");
    terminal.wait_for("no modal", |screen| !screen.contains(MODAL));
    terminal.wait_for_text(client.blocked);
    let forced = format!("{OFF_TOPIC} !!");
    if client.puts_back {
        stage.wait_for_box(&terminal, OFF_TOPIC);
        stage.say(&terminal, OFF_TOPIC, " !!");
    } else {
        stage.wait_for_box(&terminal, "");
        stage.say(&terminal, "", &forced);
    }
    terminal.wait_for_text(&format!("You said: {forced}"));
    assert_eq!(stage.times_sent(&forced), 1);
}

fn a_park_sign_costs_no_turn(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = waiting(&stage);
    stage.say(&terminal, "", ">> the start is slow, see cli/main");
    terminal.wait_for_text("parked: - [ ] 20");
    let inbox = stage.home.read("repo/hot-todo.md");
    assert!(
        inbox.ends_with(" the start is slow, see cli/main\n"),
        "{inbox}"
    );
    terminal.wait_for_text(client.blocked);
    stage.wait_for_box(&terminal, "");
    assert!(
        !stage
            .home
            .read("provider/requests.jsonl")
            .contains("start is slow")
    );
}
