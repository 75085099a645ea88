//! What outlives what: sessions their terminals, their server and their keeper; records the machine.

use rustix::process::Pid;

use crate::home::Home;
use crate::patience::wait_until;
use crate::terminal::Terminal;

/// Says what it reads, so that one sees whether it is alive.
const PARROT: &str = "echo parrot of $1; while read line; do echo \"$1 heard $line\"; done";

/// Two sessions, `one` and `two`, shown by a deck with the first in front.
fn two_sessions(home: &Home) -> Terminal {
    for name in ["one", "two"] {
        let mut words = vec!["new", "--exec", "--detach", "--title", name, "--"];
        words.extend(["bash", "--norc", "-c", PARROT, "bash", name]);
        home.sessdeck(&words).ok();
    }
    let deck = home.deck(&["attach", "one"]);
    deck.wait_for_text("parrot of one");
    deck
}

/// Says something to the session in front and waits for what it makes of it.
#[track_caller]
fn speak(deck: &Terminal, name: &str, word: &str) {
    deck.send(format!("{word}\r"));
    deck.wait_for_text(&format!("{name} heard {word}"));
}

/// Whether a program of ours is a part of the deck that `word` starts.
fn is_part(words: &str, part: &str) -> bool {
    words.split(' ').nth(1) == Some(part)
}

fn parts(home: &Home, part: &str) -> Vec<Pid> {
    let all = home.processes().into_iter();
    all.filter(|(_, words)| is_part(words, part))
        .map(|(pid, _)| pid)
        .collect()
}

#[test]
fn detached_sessions_go_on_and_are_there_again() {
    let home = Home::new();
    let deck = two_sessions(&home);
    speak(&deck, "one", "hello");
    let pids = home.pids();
    deck.keys("ctrl-space d");
    assert_eq!(deck.wait_exit(), 0);
    assert_eq!(home.pids(), pids);

    let deck = home.deck(&[]);
    let screen = deck.wait_for_text("one heard hello");
    assert!(screen.contains("parrot of one"), "{screen}");
    speak(&deck, "one", "again");
    deck.keys("ctrl-space 2");
    deck.wait_for_text("parrot of two");
    speak(&deck, "two", "there");
}

#[test]
fn a_closed_window_ends_the_client_alone() {
    let home = Home::new();
    let mut deck = two_sessions(&home);
    let pids = home.pids();
    deck.close();
    deck.wait_exit();
    assert_eq!(home.pids(), pids);
    let deck = home.deck(&[]);
    deck.wait_for_text("parrot of one");
    speak(&deck, "one", "hello");
}

#[test]
fn the_size_follows_who_typed_last() {
    let home = Home::new();
    // Bash runs a trap at once only while it waits.
    let script = "trap 'echo size $(stty size)' WINCH; echo size $(stty size)
        while :; do sleep 1000 & wait $!; kill $!; done";
    let large = home.deck_with_bash(script);
    large.wait_for_text("size 39 105");
    large.keys("a");
    large.wait_for_text("│a");

    // A small one looks on and shrinks nothing.
    let small = home.terminal(&[], 90, 30);
    small.wait_for_text("cut: the program has 105x39");
    large.keys("b c");
    let screen = small.wait_for_text("abc");
    assert!(!screen.contains("size 28 90"), "{screen}");
    // Who types in it has it fitted.
    small.keys("d");
    let screen = small.wait_for_text("size 28 90");
    assert!(!screen.contains("cut: the program"), "{screen}");
    large.keys("e");
    large.wait_for("the large size again", |screen| {
        screen.text().matches("size 39 105").count() == 2
    });
    // When the one who typed last leaves, it is fitted to who is left.
    large.keys("ctrl-space d");
    assert_eq!(large.wait_exit(), 0);
    small.wait_for("the small size again", |screen| {
        screen.text().matches("size 28 90").count() == 2
    });
    small.resize(80, 24);
    small.wait_for_text("size 22 80");
}

#[test]
fn two_terminals_look_at_sessions_of_their_own() {
    let home = Home::new();
    let one = two_sessions(&home);
    let two = home.deck(&["attach", "two"]);
    two.wait_for_text("parrot of two");
    speak(&one, "one", "first");
    speak(&two, "two", "second");
    let screen = one.screen();
    assert!(!screen.contains("heard second"), "{screen}");
    two.keys("ctrl-space 1");
    two.wait_for_text("one heard first");
    speak(&two, "one", "third");
    one.wait_for_text("one heard third");
}

#[test]
fn what_is_typed_right_after_a_change_of_tabs_arrives_in_order() {
    let home = Home::new();
    let deck = two_sessions(&home);
    let words: Vec<String> = (10..30)
        .map(|number| format!("abcdefghij{number}"))
        .collect();
    for (number, word) in words.iter().enumerate() {
        deck.keys(if number % 2 == 0 {
            "ctrl-space 2"
        } else {
            "ctrl-space 1"
        });
        deck.send(format!("{word}\r"));
    }
    deck.wait_for_text("one heard abcdefghij29");
    let seen = ["one", "two"].map(|name| home.sessdeck(&["screen", name]).ok());
    for (number, word) in words.iter().enumerate() {
        let (name, seen) = if number % 2 == 0 {
            ("two", &seen[1])
        } else {
            ("one", &seen[0])
        };
        assert!(seen.contains(&format!("{name} heard {word}\n")), "{seen}");
    }
}

#[test]
fn a_server_that_is_killed_takes_nothing_along() {
    let home = Home::new();
    let deck = two_sessions(&home);
    speak(&deck, "one", "before");
    let (pids, keeper, server) = (home.pids(), home.pid_of("keeper_pid"), home.pid_of("pid"));
    home.kill(server);
    deck.wait_for_text("connected again");
    assert_eq!(home.pids(), pids);
    assert_eq!(home.pid_of("keeper_pid"), keeper);
    assert_ne!(home.pid_of("pid"), server);
    let screen = deck.wait_for_text("one heard before");
    assert!(screen.contains("parrot of one"), "{screen}");
    assert_eq!(home.sessions()[0]["state"], "unknown");
    speak(&deck, "one", "after");
    deck.keys("ctrl-space 2");
    deck.wait_for_text("parrot of two");
    speak(&deck, "two", "after");
}

#[test]
fn what_was_said_while_no_server_ran_is_on_the_screen() {
    let home = Home::new();
    let script = "while [ ! -e go ]; do sleep 0.02; done; echo said alone; touch gone; read";
    let deck = home.deck_with_bash(&format!("echo here; {script}"));
    deck.wait_for_text("here");
    deck.keys("ctrl-space d");
    deck.wait_exit();
    home.kill(home.pid_of("pid"));
    home.write("repo/go", "");
    wait_until("the program", || {
        home.path("repo/gone").exists().then_some(())
    });
    let deck = home.deck(&[]);
    let screen = deck.wait_for_text("said alone");
    assert!(screen.contains("here"), "{screen}");
}

#[test]
fn an_agent_is_asked_about_after_its_server_was_killed() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    home.kill(home.pid_of("pid"));
    deck.wait_for_text("connected again");
    deck.send("write the readme tutorial and changelog docs");
    deck.wait_for_text("❯ write the readme");
    deck.keys("enter");
    deck.wait_for_text("s send anyway");
    deck.keys("s");
    deck.wait_for_text("You said: \"write the readme tutorial");
    home.wait_for_session("the end of the turn", |it| it["state"] == "your_turn");
}

#[test]
fn a_restart_puts_another_server_under_all_clients() {
    let home = Home::new();
    let one = two_sessions(&home);
    let two = home.deck(&["attach", "two"]);
    two.wait_for_text("parrot of two");
    let (pids, server) = (home.pids(), home.pid_of("pid"));
    home.sessdeck(&["server", "restart"]).ok();
    assert_ne!(home.pid_of("pid"), server);
    assert_eq!(home.pids(), pids);
    for (deck, name) in [(&one, "one"), (&two, "two")] {
        deck.wait_for_text("connected again");
        speak(deck, name, "after");
    }
}

#[test]
fn a_stop_ends_the_clients_and_no_session() {
    let home = Home::new();
    let deck = two_sessions(&home);
    let pids = home.pids();
    home.sessdeck(&["server", "stop"]).ok();
    assert_eq!(deck.wait_exit(), 4);
    assert_eq!(home.sessdeck(&["ls"]).code, Some(4));
    assert!(parts(&home, "server").is_empty());
    home.sessdeck(&["server", "stop"]).ok();

    home.sessdeck(&["server", "start"]).ok();
    assert_eq!(home.pids(), pids);
    let deck = home.deck(&[]);
    deck.wait_for_text("parrot of one");
    speak(&deck, "one", "hello");
}

#[test]
fn a_stop_with_agents_leaves_no_process() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    home.start_bash(
        "stubborn",
        "trap '' TERM HUP INT; echo here; while :; do read; done",
    );
    home.sessdeck(&["server", "stop", "--agents"]).ok();
    deck.wait_exit();
    wait_until("the end of all processes", || {
        home.processes().is_empty().then_some(())
    });
}

#[test]
fn a_keeper_that_is_killed_costs_exit_codes_alone() {
    let home = Home::new();
    let deck = two_sessions(&home);
    let pids = home.pids();
    let keeper = home.pid_of("keeper_pid");
    home.kill(keeper);
    deck.wait_for_text("the keeper is gone");
    speak(&deck, "one", "hello");
    assert_eq!(home.pids(), pids);

    // A program that ends is seen to, by itself or when it is told to.
    deck.keys("ctrl-d");
    let ended = |title: &'static str| {
        home.wait_for_session("its end", |it| {
            it["title"] == title && it["state"] == "ended"
        })
    };
    assert!(ended("one")["exit_code"].is_null());
    deck.keys("ctrl-space 2");
    speak(&deck, "two", "hello");

    // Another program has another keeper, which knows how it ends.
    home.start_bash("three", "echo third is here; read; exit 3");
    assert_ne!(home.pid_of("keeper_pid"), keeper);
    deck.wait_for_text("three");
    deck.keys("ctrl-space 3");
    deck.wait_for_text("third is here");
    home.sessdeck(&["kill", "two"]).ok();
    ended("two");
    deck.keys("enter");
    assert_eq!(ended("three")["exit_code"], 3);
    home.sessdeck(&["server", "stop", "--agents"]).ok();
    deck.wait_exit();
    wait_until("the end of all processes", || {
        home.processes().is_empty().then_some(())
    });
}

#[test]
fn many_clients_at_once_start_one_server() {
    let home = Home::new();
    let decks: Vec<Terminal> = (0..6).map(|_| home.deck(&[])).collect();
    for deck in &decks {
        deck.wait_for_text("Press n to start a session");
    }
    wait_until("the losers of the race to leave", || {
        (parts(&home, "server").len() == 1 && parts(&home, "keeper").len() == 1).then_some(())
    });
    home.start_bash("one", "echo one for all; read");
    for deck in &decks {
        deck.wait_for_text(" 1 · one");
        deck.keys("ctrl-space 1");
        deck.wait_for_text("one for all");
    }
}

#[test]
fn sessions_that_are_started_at_once_all_run() {
    let home = Home::new();
    let script = "
        for n in {1..12}; do
            sessdeck new --exec --detach --title \"number $n\" -- sleep 1000 || echo failed $n
        done
        for n in {13..24}; do
            sessdeck new --exec --detach --title \"number $n\" -- sleep 1000 || echo failed $n &
        done
        wait";
    let said = home.program("bash").args(["-c", script]).run().ok();
    assert!(!said.contains("failed"), "{said}");
    let mut pids = home.pids();
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), 24);
}

#[test]
fn after_a_reboot_sessions_are_asleep_with_their_last_screen() {
    let home = Home::new();
    let deck = two_sessions(&home);
    speak(&deck, "one", "last words");
    // A power cut: nobody can prepare for it, and the sockets are left behind.
    home.kill_all();

    let deck = home.deck(&[]);
    let screen = deck.wait_for_text("one heard last words");
    assert!(screen.contains("parrot of one"), "{screen}");
    deck.wait_for_text("asleep");
    for session in home.sessions() {
        assert_eq!(session["state"], "asleep");
        assert!(session["pid"].is_null());
    }
    let text = home.sessdeck(&["screen", "one"]).ok();
    assert!(text.contains("one heard last words"), "{text}");
    // Another session gets a number of its own, and a sleeping one can be taken off the list.
    home.start_bash("three", "echo third; read");
    let ids: Vec<u64> = home
        .sessions()
        .iter()
        .filter_map(|it| it["id"].as_u64())
        .collect();
    assert_eq!(ids, [1, 2, 3]);
    home.sessdeck(&["kill", "one"]).ok();
    assert_eq!(home.sessions().len(), 2);
}
