//! The whole loop as a newcomer meets it, on the demo's own repo and deck.

use crate::home::Home;
use crate::processes::Marker;

/// The demo has a deck of its own, so its processes are known by the home of the user.
struct Demo {
    marker: Marker,
    home: Home,
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.marker.kill();
    }
}

#[test]
fn a_newcomer_is_blocked_parks_opens_what_was_parked_and_comes_back() {
    let home = Home::new();
    let marker = Marker::new("HOME", &home.path("home").to_string_lossy());
    let demo = Demo { marker, home };
    let deck = demo.home.terminal(&["demo"], 140, 40);
    deck.wait_for_text("You said: \"fix the flaky login test\"");
    deck.wait_for_text("your turn");
    deck.send("write the readme tutorial and changelog docs");
    deck.wait_for_text("❯ write the readme");
    deck.keys("enter");
    deck.wait_for_text("s send anyway");
    deck.keys("p");
    deck.wait_for_text("parked: - [ ]");
    deck.keys("ctrl-space i");
    deck.wait_for_text("inbox 4 open");
    deck.keys("end enter");
    deck.wait_for_text("You said: \"write the readme tutorial and changelog docs\"");
    deck.keys("ctrl-space d");
    assert_eq!(deck.wait_exit(), 0);

    let root = demo.home.path("deck/state/demo/1");
    let again = demo
        .home
        .program(crate::home::SESSDECK)
        .env("SESSDECK_HOME", root.join("home"))
        .folder(root.join("shop"))
        .open(140, 40);
    again.wait_for_text("You said: \"fix the flaky login test\"");
    again.keys("ctrl-space 2");
    again.wait_for_text("You said: \"write the readme tutorial and changelog docs\"");
}
