//! Our hook in the client's own settings, outside the deck and inside.

use super::stage::{Client, MODAL, OFF_TOPIC, ON_TOPIC, Stage};
use super::with_both;
use crate::terminal::Terminal;

with_both!(
    an_installed_hook_acts_outside_the_deck,
    an_installed_hook_leaves_the_decks_sessions_to_their_own,
);

/// The client without the deck, on a terminal of its own.
fn alone(stage: &Stage) -> Terminal {
    stage
        .home
        .program(stage.client.name)
        .env("SESSDECK_PROFILE", "bugfix")
        .open(160, 50)
}

fn accept_hooks(client: &Client, terminal: &Terminal) {
    if client.name == "codex" {
        terminal.wait_for_text("Trust all and continue");
        // For its first seconds the client drops what is typed, and gives up where that does not end.
        terminal.press_later_until("2", "› 2. Trust all");
        terminal.keys("enter");
    }
}

fn say(client: &Client, terminal: &Terminal, prompt: &str) {
    for (at, letter) in prompt.char_indices() {
        terminal.send(letter.to_string());
        let so_far = &prompt[..at + letter.len_utf8()];
        terminal.wait_for(so_far, |screen| {
            let rows = screen.text();
            client.in_box(rows.lines()) == Some(so_far.trim_end())
        });
    }
    terminal.keys("enter");
}

fn an_installed_hook_acts_outside_the_deck(client: &'static Client) {
    let stage = Stage::echo(client);
    stage.home.sessdeck(&["hooks", "install"]).ok();
    let terminal = alone(&stage);
    accept_hooks(client, &terminal);
    terminal.wait_for("an empty box", |screen| {
        let rows = screen.text();
        client.in_box(rows.lines()) == Some("")
    });
    say(client, &terminal, OFF_TOPIC);
    terminal.wait_for_text("matched: readme, tutorial");
    assert_eq!(stage.times_sent(OFF_TOPIC), 0);
    let doctor = stage.home.sessdeck(&["doctor"]);
    let trusted = doctor.out.contains("the installed hooks are trusted");
    assert_eq!(trusted, client.name == "codex", "{}", doctor.out);
    assert!(!doctor.out.contains("fail "), "{}", doctor.out);
}

fn an_installed_hook_leaves_the_decks_sessions_to_their_own(client: &'static Client) {
    let stage = Stage::echo(client);
    stage.home.sessdeck(&["hooks", "install"]).ok();
    let terminal = stage.begin(&[ON_TOPIC]);
    accept_hooks(client, &terminal);
    terminal.wait_for_text(&format!("You said: {ON_TOPIC}"));
    stage.wait_for_state(1, "your_turn");
    client.wait_for_box(&terminal, "");
    // Twice the hook would park it twice, and let nothing pass that one of them has let pass.
    client.say(&terminal, "", ">> the start is slow, see cli/main");
    terminal.wait_for_text(client.blocked);
    client.wait_for_box(&terminal, "");
    let inbox = stage.home.read("repo/hot-todo.md");
    assert_eq!(inbox.matches("the start is slow").count(), 1, "{inbox}");
    client.say(&terminal, "", OFF_TOPIC);
    terminal.wait_for_text(MODAL);
    terminal.keys("s");
    terminal.wait_for_text(&format!("You said: {OFF_TOPIC}"));
}
