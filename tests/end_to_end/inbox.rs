//! The inbox: parked from the deck, a shell or an editor; shown as it changes; opened as a session.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::deck::prompts;
use crate::home::Home;
use crate::patience::wait_until;

const INBOX: &str = "repo/hot-todo.md";

/// Adds a line as an editor or a script does.
fn append(home: &Home, line: &str) {
    let path = home.path(INBOX);
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    writeln!(file, "{line}").unwrap();
}

#[test]
fn a_line_of_anyone_is_shown_within_a_second() {
    let home = Home::new();
    let deck = home.deck(&[]);
    deck.keys("ctrl-space i");
    deck.wait_for_text("nothing is parked");
    let waits: Vec<Duration> = ["first thought", "second thought", "third thought"]
        .into_iter()
        .map(|text| {
            let begin = Instant::now();
            append(&home, &format!("- [ ] 2026-12-01 #docs {text}"));
            deck.wait_for_text(text);
            begin.elapsed()
        })
        .collect();
    // A machine may be slow once.
    assert!(
        waits.iter().min() < Some(&Duration::from_secs(1)),
        "{waits:?}"
    );
    let screen = deck.wait_for_text("inbox 3 open");
    assert!(
        screen.contains("2026-12-01 #docs first thought"),
        "{screen}"
    );

    // A file that is replaced by another, as editors do, is followed too.
    home.write(
        "repo/.hot-todo.md.new",
        "# Ideas\n\n- [x] done → abc\n- [ ] the only one\n",
    );
    std::fs::rename(home.path("repo/.hot-todo.md.new"), home.path(INBOX)).unwrap();
    deck.wait_for_text("inbox 1 open");
    deck.wait_for_text("the only one");
    append(&home, "- [ ] and another");
    deck.wait_for_text("and another");
}

#[test]
fn enter_opens_a_line_as_a_session_of_its_profile() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    append(
        &home,
        "- [ ] 2026-12-01 #docs explain the `login` page → \"help\"\n  with a picture\n  and 漢字",
    );
    append(&home, "- [ ] 2026-12-01 #nowhere a tag that is no profile");
    deck.keys("ctrl-space i");
    deck.wait_for_text("inbox 2 open");
    deck.keys("enter");
    let opened = home.wait_for_session("the session of the line", |it| it["profile"] == "docs");
    deck.wait_for_text("You said: \"explain the `login` page");
    let opened = home.wait_for_session("its prompt", |it| {
        it["id"] == opened["id"] && !prompts(it).is_empty()
    });
    assert_eq!(
        prompts(&opened),
        ["explain the `login` page → \"help\"\nwith a picture\nand 漢字"]
    );
    let screen = deck.screen();
    let tag = screen.find("docs").expect("the tag on its tab");
    assert!(tag.1 < 35, "{screen}");
}

#[test]
fn a_line_whose_tag_is_no_profile_can_be_opened_all_the_same() {
    let home = Home::new().with_practice_agent();
    append(
        &home,
        "- [ ] 2026-12-01 #nowhere write the changelog and the readme",
    );
    let deck = home.deck(&[]);
    deck.keys("ctrl-space i");
    deck.wait_for_text("inbox 1 open");
    deck.keys("enter");
    deck.wait_for_text("You said: \"write the changelog and the readme\"");
}

#[test]
fn park_in_a_shell_guesses_the_profile_and_says_where_the_line_is() {
    let home = Home::new();
    let said = home
        .sessdeck(&["park", "the", "readme", "lacks", "a", "changelog"])
        .ok();
    assert!(
        said.contains("#docs the readme lacks a changelog"),
        "{said}"
    );
    assert!(said.contains("hot-todo.md"), "{said}");
    home.sessdeck(&[
        "park",
        "--profile",
        "bugfix",
        "a \x1b[31mred\x07 one\nwith detail",
    ])
    .ok();
    let inbox = home.read(INBOX);
    let lines: Vec<&str> = inbox.lines().collect();
    assert_eq!(lines.len(), 3, "{inbox}");
    assert!(
        lines[0].starts_with("- [ ] 20")
            && lines[0].ends_with(" #docs the readme lacks a changelog")
    );
    assert!(
        lines[1].contains(" #bugfix a ") && lines[2].trim() == "with detail",
        "{inbox}"
    );
    assert!(!inbox.contains(['\x1b', '\x07']), "{inbox:?}");
    let listed = home.sessdeck(&["inbox", "--json"]).json();
    assert_eq!(listed[0]["profile"], "docs");
    assert_eq!(listed[1]["detail"], "with detail");
    for words in [&["park"][..], &["park", "  "]] {
        assert_eq!(home.sessdeck(words).code, Some(2), "{words:?}");
    }
    assert_eq!(home.read(INBOX), inbox);
}

#[test]
fn park_inside_a_session_is_told_to_the_deck() {
    let home = Home::new();
    let deck = home.deck_with_bash("read; sessdeck park a thought from inside; read");
    deck.keys("ctrl-space i");
    deck.wait_for_text("nothing is parked");
    deck.keys("esc enter");
    deck.wait_for_text("parked: - [ ] 20");
    deck.wait_for_text("inbox 1 open");
}

#[test]
fn the_park_modal_keeps_what_was_typed_until_it_is_written() {
    let home = Home::new();
    let deck = home.deck_with_bash("echo program; read line; echo \"got:$line\"; read");
    deck.wait_for_text("program");
    deck.keys("ctrl-space p");
    deck.wait_for_text("Park a side thought");
    deck.send("the guide needs a glossary");
    deck.wait_for_text("because of guide, glossary");
    deck.keys("esc");
    deck.wait_for("the end of the modal", |screen| {
        !screen.contains("side thought")
    });
    assert_eq!(home.read(INBOX), "");
    deck.keys("ctrl-space p");
    deck.wait_for_text("the guide needs a glossary");
    deck.send(" and a faq");
    deck.paste("\nsecond line");
    deck.wait_for_text("second line");
    deck.keys("enter");
    let inbox = wait_until("the line", || {
        Some(home.read(INBOX)).filter(|text| !text.is_empty())
    });
    assert!(
        inbox.contains("#docs the guide needs a glossary and a faq\n"),
        "{inbox}"
    );
    assert!(inbox.ends_with("second line\n"), "{inbox}");
    deck.wait_for_text("parked in hot-todo.md");
    // None of it went to the program.
    deck.keys("o k enter");
    deck.wait_for_text("got:ok");
    deck.keys("ctrl-space p");
    let screen = deck.wait_for_text("what, and where");
    assert!(!screen.contains("second line"), "{screen}");
}

#[test]
fn a_thousand_lines_parked_at_once_are_all_whole() {
    let home = Home::new();
    for first in [1, 251, 501, 751] {
        // Fifty at a time.
        let script = format!(
            "seq {first} {} | xargs -P 50 -I@ sessdeck park \"thought @ of $(printf 'many words %.0s' {{1..20}})end\"",
            first + 249
        );
        home.program("bash").args(["-c", &script]).run().ok();
    }
    let inbox = home.read(INBOX);
    let mut numbers: Vec<usize> = inbox
        .lines()
        .map(|line| {
            let text = line
                .split_once("thought ")
                .unwrap_or_else(|| panic!("{line}"))
                .1;
            assert!(
                line.starts_with("- [ ] 20") && line.ends_with(" end"),
                "{line}"
            );
            text.split(' ').next().unwrap().parse().unwrap()
        })
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=1000).collect::<Vec<_>>());
}
