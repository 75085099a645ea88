//! A handoff note is checked, offered on its tab, and opens a fresh session that goes on from it.

use std::fs;

use serde_json::Value;

use crate::deck::{TASK, prompts};
use crate::home::Home;

const NOTE: &str = "---\nthread: login\nagent: claude\n---\n# Login\n\n## Goal\nNo flaky test.\n\n## Done\n- found it\n\n\
    ## Left\n- mend it\n\n## Open decisions\nnone\n\n## Next step\n`make test`\n\n## Files to open\n- src/login.py\n";

/// The note of the first session, inside the home.
fn note_of(home: &Home) -> String {
    let session = home.sessions().remove(0);
    format!(
        "repo/docs/handoffs/{}.md",
        session["name"].as_str().expect("a session has a name")
    )
}

fn successor(session: &Value) -> bool {
    session["handoff_from"].is_string()
}

#[test]
fn a_whole_note_is_offered_and_a_fresh_session_begins_with_it() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    let note = note_of(&home);
    home.write(&note, NOTE);
    // It may have been seen half written first.
    let screen = deck.wait_for_text("Every heading is there and filled.");
    assert!(screen.contains("wrote its handoff note"), "{screen}");
    deck.wait_for_text("o open a fresh session");
    deck.keys("o");
    deck.wait_for_text("You said: \"Read the handoff note");
    let fresh = home.wait_for_session("the fresh session", |it| {
        successor(it) && !prompts(it).is_empty()
    });
    let path = home.path(&note);
    assert_eq!(
        prompts(&fresh),
        [format!(
            "Read the handoff note {} and go on from it.",
            path.display()
        )]
    );
    assert_eq!(fresh["handoff_from"], path.to_str().unwrap());
    assert_eq!(fresh["profile"], "bugfix");
    let old = home.sessions().remove(0);
    assert_eq!(fresh["thread"], old["name"]);
    assert_ne!(fresh["conversation_id"], old["conversation_id"]);
    assert_eq!(prompts(&old), [TASK]);
}

#[test]
fn what_a_note_lacks_is_said_and_a_better_one_is_offered_anew() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    let note = note_of(&home);
    home.write(
        &note,
        &NOTE
            .replace("## Next step\n`make test`\n", "")
            .replace("- mend it", ""),
    );
    let screen = deck.wait_for_text("It is not complete yet");
    assert!(screen.contains("`Left` is empty"), "{screen}");
    assert!(screen.contains("no heading `Next step`"), "{screen}");
    deck.wait_for_text("esc later");
    deck.keys("esc");
    deck.wait_for("the end of the modal", |screen| {
        !screen.contains("esc later")
    });

    home.write(&note, NOTE);
    deck.wait_for_text("Every heading is there and filled.");
    deck.wait_for_text("esc later");
    deck.keys("esc");
    deck.wait_for("the end of the modal", |screen| {
        !screen.contains("esc later")
    });

    // A folder that went and came back is watched again.
    fs::remove_dir_all(home.path("repo/docs")).unwrap();
    home.write("repo/docs/handoffs/other.md", "no session of ours\n");
    home.write(&note, &format!("{NOTE}\n## Questions\nnone\n"));
    deck.wait_for_text("Every heading is there and filled.");
}

#[test]
fn a_note_of_no_session_is_nobodys_question() {
    let home = Home::new().with_practice_agent();
    let deck = home.deck_with_agent();
    home.write("repo/docs/handoffs/somebody-else.md", NOTE);
    home.write("repo/docs/handoffs/README.md", "# Notes\n");
    // A note that names its session by id, in a file of any name, is seen after those.
    home.write(
        "repo/docs/handoffs/zz.md",
        &NOTE.replace("thread: login", "session: 1"),
    );
    let screen = deck.wait_for_text("wrote its handoff note");
    assert!(screen.contains("docs/handoffs/zz.md"), "{screen}");
}

#[test]
fn a_session_is_begun_from_a_note_by_a_command() {
    let home = Home::new().with_practice_agent();
    home.write("repo/docs/handoffs/login.md", NOTE);
    home.sessdeck(&[
        "new",
        "--detach",
        "--profile",
        "bugfix",
        "--from",
        "docs/handoffs/login.md",
    ])
    .ok();
    let fresh = home.wait_for_session("its prompt", |it| !prompts(it).is_empty());
    let path = home.path("repo/docs/handoffs/login.md");
    assert_eq!(
        prompts(&fresh),
        [format!(
            "Read the handoff note {} and go on from it.",
            path.display()
        )]
    );
    assert_eq!(fresh["thread"], "login");
    assert_eq!(fresh["handoff_from"], path.to_str().unwrap());
}
