//! Words for a session: what the deck makes of them is what the provider is asked.

use super::stage::{Client, HINT, Stage};
use super::with_both;

with_both!(
    words_become_a_session_of_their_profile,
    a_task_arrives_byte_for_byte,
    a_session_can_be_begun_on_the_screen,
    a_prompt_from_a_shell_arrives_byte_for_byte,
);

fn words_become_a_session_of_their_profile(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = stage.begin(&["fix", "the", "flaky", "login", "test"]);
    terminal.wait_for_text("You said: fix the flaky login test");

    let asked = stage.wait_for_prompt("fix the flaky login test");
    assert_eq!(asked["body"]["model"], client.model_sent);
    assert_eq!(client.effort(&asked), "high");
    assert!(asked["body"].to_string().contains(HINT), "{asked:#}");

    let session = stage.wait_for_state(1, "your_turn");
    assert_eq!(session["profile"], "bugfix");
    assert_eq!(session["agent"], client.name);
    assert_eq!(session["title"], "fix the flaky login test");
    assert_eq!(session["dir"], stage.home.repo().to_str().unwrap());

    let environment = format!("/proc/{}/environ", session["pid"]);
    let environment = stage.home.program("cat").args([environment]).run().ok();
    let socket = stage.home.path("deck/run/s1.sock").display().to_string();
    for (name, value) in [
        ("SESSDECK_PROFILE", "bugfix"),
        ("SESSDECK_SESSION", "1"),
        ("SESSDECK_SOCKET", &socket),
    ] {
        let line = format!("{name}={value}");
        assert!(environment.split('\0').any(|it| it == line), "{line}");
    }
}

fn a_task_arrives_byte_for_byte(client: &'static Client) {
    let task = "--model haiku\n\tmend  the \"$HOME\" `crash` 🦀 漢字\n\n- it's \\ 100%\n--";
    let stage = Stage::echo(client);
    let said = stage
        .home
        .sessdeck(&["new", "--detach", "--profile=bugfix", "--", task]);
    assert!(said.ok().contains("profile `bugfix`"));
    let asked = stage.wait_for_prompt(task);
    assert_eq!(asked["body"]["model"], client.model_sent);
}

fn a_session_can_be_begun_on_the_screen(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = stage.home.terminal(&[], 140, 40);
    terminal.wait_for_text("new");
    terminal.keys("n");
    terminal.wait_for_text("what should it do?");
    terminal.send("fix the flaky login test");
    terminal.wait_for_text("bugfix");
    terminal.keys("enter");
    terminal.wait_for_text("You said: fix the flaky login test");
    stage.wait_for_prompt("fix the flaky login test");
}

fn a_prompt_from_a_shell_arrives_byte_for_byte(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = stage.waiting();
    // Longer than what a client still takes for typed.
    let rows = "reproduce it  \"once\" more: $HOME `crash` \\ 🦀 漢字\n".repeat(30);
    let prompt = format!("{rows}\n/end, and @nothing");
    stage.home.sessdeck(&["send", "1", &prompt]).ok();
    stage.wait_for_prompt(&prompt);
    stage.sent_once(&prompt);
    stage.wait_for_state(1, "your_turn");
    client.wait_for_box(&terminal, "");
}
