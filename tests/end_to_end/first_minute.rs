//! What a newcomer does first, on the demo. With `SESSDECK_PICTURES=1` it draws the pictures of the README.

use std::fs;
use std::path::Path;

use crate::home::{Home, SESSDECK};
use crate::processes::Marker;
use crate::screen::Screen;
use crate::svg;
use crate::terminal::Terminal;

/// The demo's deck has another folder than the home's, so its processes are known by their user's home.
struct Demo(Marker);

impl Drop for Demo {
    fn drop(&mut self) {
        self.0.kill();
    }
}

impl Demo {
    fn of(home: &Home) -> Self {
        Self(Marker::new("HOME", &home.path("home").to_string_lossy()))
    }

    fn runs(&self) -> bool {
        !self.0.processes().is_empty()
    }
}

fn open(home: &Home) -> Terminal {
    // The demo shows the path of its program.
    let program = home.path("sessdeck");
    if !program.exists() {
        let linked = fs::hard_link(SESSDECK, &program);
        linked
            .or_else(|_| fs::copy(SESSDECK, &program).map(drop))
            .expect("a program of our own");
    }
    let demo = home.program(program).args(["demo"]);
    // The stand-in loses no time.
    demo.env("SESSDECK_PRACTICE_PACE", "0").open(100, 30)
}

/// Waits until the session in front has answered and nothing moves any more.
fn answered(deck: &Terminal, profile: &str, title: &str) -> Screen {
    let said = format!("This session is for `{profile}`");
    deck.wait_for(&format!("the answer of {profile}"), |screen| {
        let ready = ["◆ your turn", title, &said];
        ready.iter().all(|text| screen.contains(text))
            && !screen.contains("cut:")
            && !screen.contains("esc to interrupt")
            && screen.row(1).contains("━")
    })
}

/// Keeps a screen as `assets/NAME.svg`.
fn picture(home: &Home, name: &str, title: &str, screen: &Screen) {
    if std::env::var_os("SESSDECK_PICTURES").is_none() {
        return;
    }
    let folder = home
        .path("")
        .to_string_lossy()
        .trim_end_matches('/')
        .to_owned();
    // Of the same length, so that nothing moves.
    let picture = svg::draw(screen, title).replace(&folder, "/home/dev/demo");
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    fs::write(assets.join(format!("{name}.svg")), picture).expect("assets can be written");
}

#[test]
fn a_newcomer_sees_the_whole_loop() {
    let home = Home::new();
    let demo = Demo::of(&home);
    let mut deck = open(&home);
    let screen = answered(&deck, "bugfix", "1 ◆ fix the flaky");
    picture(
        &home,
        "session",
        "A session for a bug fix, its profile and its context meter",
        &screen,
    );

    deck.keys("ctrl-space n");
    deck.wait_for_text("New session");
    deck.send("add a checkout button to the api");
    let screen = deck.wait_for_text("because of");
    picture(
        &home,
        "new",
        "A new session from words: the profile they match and the command that will run",
        &screen,
    );
    deck.keys("esc");
    deck.wait_for("the modal to go", |screen| !screen.contains("New session"));

    deck.send("write the readme tutorial and changelog docs");
    deck.wait_for_text("❯ write the readme tutorial and changelog docs");
    deck.keys("enter");
    deck.wait_for_text("This prompt belongs to docs, not to bugfix");
    let screen = deck.wait_for("the choices", |screen| {
        screen.contains("s send anyway")
            && screen.contains("◆ your turn")
            && !screen.contains("esc to interrupt")
    });
    picture(
        &home,
        "blocked",
        "A prompt that belongs to another profile is held back, and the deck asks",
        &screen,
    );
    deck.keys("o");
    answered(&deck, "docs", "2 ◆ write the readme");

    deck.keys("ctrl-space p");
    deck.wait_for_text("Park a side thought");
    deck.send("the login button should remember the name");
    let screen = deck.wait_for_text("because of");
    picture(
        &home,
        "park",
        "A side thought is parked in one line",
        &screen,
    );
    deck.keys("enter");
    deck.wait_for_text("parked in hot-todo.md");

    deck.keys("ctrl-space i");
    deck.wait_for_text("4 open");
    deck.keys("down down down");
    let screen = deck.wait_for("the chosen line", |screen| {
        screen.contains("▌ 4") && screen.contains("/help ·") && !screen.contains("cut:")
    });
    picture(
        &home,
        "inbox",
        "The inbox below the session: one line an idea",
        &screen,
    );
    deck.keys("enter");
    let screen = answered(&deck, "feature", "3 ◆ the login button");
    picture(
        &home,
        "opened",
        "The parked line runs as a session of its own",
        &screen,
    );

    deck.keys("ctrl-space d");
    assert_eq!(deck.wait_exit(), 0);
    assert!(
        deck.screen().contains("`sessdeck demo` brings you back"),
        "{}",
        deck.screen()
    );
    deck = open(&home);
    deck.wait_for("the same three sessions", |screen| {
        screen.contains("1 ◆ fix the flaky") && screen.contains("3 ◆ the login button")
    });
    deck.keys("ctrl-space d");
    assert_eq!(deck.wait_exit(), 0);

    assert!(demo.runs());
    home.sessdeck(&["demo", "--end"]).ok();
    crate::patience::wait_until("the end of all that ran", || (!demo.runs()).then_some(()));
}

#[test]
fn the_deck_goes_on_asking_when_its_server_was_killed() {
    let home = Home::new();
    let demo = Demo::of(&home);
    let deck = open(&home);
    answered(&deck, "bugfix", "1 ◆ fix the flaky");
    let (server, _) = demo
        .0
        .processes()
        .into_iter()
        .find(|(_, words)| words.ends_with(" server run "))
        .expect("the server of the demo");
    rustix::process::kill_process(server, rustix::process::Signal::KILL).expect("it runs");
    let screen = deck.wait_for_text("connected again");
    assert!(screen.contains("You said"), "{screen}");
    deck.send("write the readme tutorial and changelog docs");
    deck.wait_for_text("❯ write the readme tutorial and changelog docs");
    deck.keys("enter");
    deck.wait_for_text("This prompt belongs to docs, not to bugfix");
}
