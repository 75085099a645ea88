//! The steps of the brake as the provider gets them, and what the stop step still lets through.

use std::process::Command;

use serde_json::{Value, json};

use super::stage::{CLAUDE, CODEX, Client, ON_TOPIC, Stage};
use crate::patience::wait_until;
use crate::terminal::Terminal;

/// Begins the text of every step.
const WARNING: &str = "Begin your reply with a one-line warning";
/// What each step says that no other does, in their order.
const STEPS: [&str; 4] = ["Checkpoint:", "Start closing:", "is due now", "Stop:"];
/// The note, as the texts of the steps name it.
const NOTE: &str = "{{find:/[^ ]*/docs/handoffs/[a-z0-9-]+\\.md}}";

fn usage(context: u64) -> Value {
    json!({ "input": 10, "cache_read": context - 20, "output": 10 })
}

fn says(text: &str, context: u64) -> Value {
    json!({ "text": text, "usage": usage(context) })
}

fn runs(command: &str, context: u64) -> Value {
    json!({
        "text": format!("I run {command}"),
        "tools": [{ "name": "Bash", "input": { "command": command } }],
        "usage": usage(context),
    })
}

/// How often a text stands in what the provider was sent last.
fn told(stage: &Stage, text: &str) -> usize {
    let last = stage.requests().pop().unwrap_or_default();
    last["body"].to_string().matches(text).count()
}

/// Gives the session a prompt and waits for the answer that the script has for it.
fn say(terminal: &Terminal, client: &Client, prompt: &str, answer: &str) {
    client.say(terminal, "", prompt);
    terminal.wait_for_text(answer);
}

/// Closes the deck's own question, which comes whenever the server has read the transcript.
fn read_question(terminal: &Terminal, title: &str) {
    terminal.wait_for_text(title);
    terminal.wait_for_text("enter read");
    terminal.keys("enter");
    terminal.wait_for("no question", |screen| !screen.contains(title));
}

const TITLES: [&str; 4] = [
    "Checkpoint: ",
    "The context is getting large: ",
    "The context is large: ",
    "The context is too large: ",
];

#[test]
fn four_steps_come_once_each_and_the_last_leaves_the_note_alone() {
    let headings = [
        "Goal",
        "Done",
        "Left",
        "Open decisions",
        "Next step",
        "Files to open",
    ];
    let note = format!(
        "# Note\n\n## {}\nfilled\n",
        headings.join("\nfilled\n\n## ")
    );
    let turns = json!([
        says("Rung 1.", 260_000),
        says("Rung 2.", 410_000),
        says("Rung 3.", 560_000),
        says("Rung 4.", 660_000),
        runs("touch forbidden", 661_000),
        runs("git add -A", 661_100),
        { "text": "I write the note.", "usage": usage(661_200),
          "tools": [{ "name": "Write", "input": { "file_path": NOTE, "content": note } }] },
        runs(&format!("git add -- {NOTE}"), 661_300),
        runs(&format!("git commit -q -m 'note: it is (all) done' -- {NOTE}"), 661_350),
        runs("touch allowed", 661_400),
        says("Rung 5.", 661_500),
        says("Rung 6.", 661_600),
    ]);
    let stage = Stage::new(&CLAUDE, &turns);
    let terminal = stage.begin(&[
        "--permission-mode=dontAsk",
        "--allowedTools=Bash,Write",
        ON_TOPIC,
    ]);
    terminal.wait_for_text("Rung 1.");
    for (at, title) in TITLES.iter().enumerate() {
        read_question(&terminal, title);
        stage.wait_for_state(1, "your_turn");
        assert_eq!(told(&stage, WARNING), at, "before step {at} is told");
        CLAUDE.say(&terminal, "", "go on");
        if at == 3 {
            terminal.wait_for_text("wrote its handoff note");
            terminal.wait_for_text("esc later");
            terminal.keys("esc");
        }
        terminal.wait_for_text(&format!("Rung {}.", at + 2));
        wait_until("the step at the provider", || {
            (told(&stage, WARNING) == at + 1).then_some(())
        });
    }
    stage.wait_for_state(1, "your_turn");
    say(&terminal, &CLAUDE, "and once more", "Rung 6.");
    let everything = |text| (told(&stage, text), text);
    wait_until("the last prompt at the provider", || {
        (told(&stage, "and once more") == 1).then_some(())
    });
    for step in STEPS {
        assert_eq!(everything(step), (1, step));
    }
    assert_eq!(told(&stage, WARNING), 4);

    let session = &stage.sessions()[0];
    let name = session["name"].as_str().unwrap();
    let path = stage.home.path(&format!("repo/docs/handoffs/{name}.md"));
    assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), note.trim());
    assert!(!stage.home.path("repo/forbidden").exists());
    assert!(stage.home.path("repo/allowed").exists());
    let committed = git(&stage, &["show", "--name-only", "--format=%s"]);
    let expected = format!("note: it is (all) done\n\ndocs/handoffs/{name}.md\n");
    assert_eq!(committed, expected);
    // Two were refused, each with what may be done instead.
    assert_eq!(told(&stage, "which is its end"), 2);
}

fn git(stage: &Stage, words: &[&str]) -> String {
    let said = Command::new("git")
        .args(words)
        .current_dir(stage.home.path("repo"))
        .output()
        .unwrap();
    assert!(said.status.success(), "{said:?}");
    String::from_utf8_lossy(&said.stdout).into_owned()
}

#[test]
fn one_long_turn_is_told_every_step_on_its_way() {
    let turns = json!([
        runs("true 1", 260_000),
        runs("true 2", 270_000),
        runs("true 3", 410_000),
        runs("true 4", 420_000),
        // A jump over a step: the highest alone is told.
        runs("true 5", 655_000),
        runs("true 6", 656_000),
        says("The end.", 657_000),
    ]);
    let stage = Stage::new(&CLAUDE, &turns);
    let terminal = stage.begin(&["--permission-mode=dontAsk", "--allowedTools=Bash", ON_TOPIC]);
    stage.wait_for_state(1, "your_turn");
    wait_until("the whole turn", || {
        (stage.requests().len() == 7).then_some(())
    });
    // The client may write a call down only after its tool has run: then the step comes with the next one.
    for (request, (least, most)) in
        stage
            .requests()
            .iter()
            .zip([(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3), (3, 3)])
    {
        let times = request["body"].to_string().matches(WARNING).count();
        assert!(least <= times && times <= most, "{times}: {request}");
    }
    for (step, times) in STEPS.into_iter().zip([1, 1, 0, 1]) {
        assert_eq!((told(&stage, step), step), (times, step));
    }
    drop(terminal);
}

#[test]
fn a_compaction_arms_the_steps_again() {
    let lanes = |main: Value| {
        json!([
            { "name": "compaction", "when": { "compaction": true }, "after": "last",
              "turns": [says("<summary>\nThe basket crashed.\n</summary>", 261_000)] },
            { "name": "main", "when": { "tool": "Bash", "compaction": false }, "after": "last", "turns": main },
        ])
    };
    let stage = Stage::with_lanes(
        &CLAUDE,
        &[&CLAUDE],
        &lanes(json!([
            says("One.", 260_000),
            says("Two.", 261_000),
            says("Three.", 21_000),
            says("Four.", 262_000),
            says("Five.", 263_000),
        ])),
    );
    let terminal = stage.begin(&[ON_TOPIC]);
    terminal.wait_for_text("One.");
    read_question(&terminal, TITLES[0]);
    say(&terminal, &CLAUDE, "go on", "Two.");
    wait_until("the step", || {
        (told(&stage, "Checkpoint:") == 1).then_some(())
    });
    stage.wait_for_state(1, "your_turn");
    CLAUDE.say(&terminal, "", "/compact");
    terminal.wait_for_text("Compacted");
    CLAUDE.wait_for_box(&terminal, "");
    say(&terminal, &CLAUDE, "and now", "Three.");
    wait_until("the prompt", || {
        (told(&stage, "and now") == 1).then_some(())
    });
    assert_eq!(told(&stage, "Checkpoint:"), 0);
    say(&terminal, &CLAUDE, "more of it", "Four.");
    read_question(&terminal, TITLES[0]);
    say(&terminal, &CLAUDE, "the end", "Five.");
    wait_until("the step once more", || {
        (told(&stage, "Checkpoint:") == 1).then_some(())
    });
}

#[test]
fn a_client_that_compacts_by_itself_gets_checkpoints_alone() {
    let turn = |text: &str, context: u64| json!({ "text": text, "usage": usage(context) });
    let turns = json!([
        turn("One.", 130_000),
        turn("Two.", 210_000),
        turn("Three.", 243_000),
        turn("Four.", 244_000),
    ]);
    let stage = Stage::new(&CODEX, &turns);
    let terminal = stage.begin(&[ON_TOPIC]);
    terminal.wait_for_text("One.");
    for (at, answer) in ["Two.", "Three.", "Four."].into_iter().enumerate() {
        read_question(&terminal, TITLES[0]);
        stage.wait_for_state(1, "your_turn");
        say(&terminal, &CODEX, "go on", answer);
        wait_until("the step", || {
            (told(&stage, "Checkpoint:") == at + 1).then_some(())
        });
    }
    for step in &STEPS[1..] {
        assert_eq!(told(&stage, step), 0, "{step}");
    }
}

#[test]
fn the_person_lets_a_session_work_on_past_its_stop() {
    let turns = json!([
        says("One.", 660_000),
        runs("touch first", 661_000),
        says("Two.", 661_100),
        runs("touch second", 661_200),
        says("Three.", 661_300),
    ]);
    let stage = Stage::new(&CLAUDE, &turns);
    let flags = ["--permission-mode=dontAsk", "--allowedTools=Bash"];
    let terminal = stage.begin(&[&flags[..], &[ON_TOPIC]].concat());
    terminal.wait_for_text(TITLES[3]);
    terminal.wait_for_text("w let it work on");
    terminal.keys("w");
    terminal.wait_for_text("nothing is refused any more");
    say(&terminal, &CLAUDE, "go on", "Two.");
    stage.wait_for_state(1, "your_turn");
    assert!(stage.home.path("repo/first").exists());

    let name = stage.sessions()[0]["name"].as_str().unwrap().to_owned();
    let said = stage.home.sessdeck(&["guard", "on", &name]).ok();
    assert!(said.contains("brake and guard are on"), "{said}");
    say(&terminal, &CLAUDE, "go on", "Three.");
    assert!(!stage.home.path("repo/second").exists());
}

#[test]
fn one_long_turn_of_codex_is_told_too() {
    let runs = |command: &str, context: u64| {
        json!({
            "text": format!("I run {command}"),
            "tools": [{ "name": "exec_command", "input": { "cmd": command } }],
            "usage": usage(context),
        })
    };
    let turns = json!([
        runs("true 1", 130_000),
        runs("true 2", 131_000),
        runs("true 3", 210_000),
        runs("true 4", 211_000),
        says("The end.", 212_000),
    ]);
    let stage = Stage::new(&CODEX, &turns);
    let _terminal = stage.begin(&[
        "--sandbox=danger-full-access",
        "--ask-for-approval=never",
        ON_TOPIC,
    ]);
    wait_until("the whole turn", || {
        (stage.requests().len() == 5).then_some(())
    });
    let counts: Vec<usize> = stage
        .requests()
        .iter()
        .map(|request| request["body"].to_string().matches(WARNING).count())
        .collect();
    assert!(counts[2] == 1 && counts[4] == 2, "{counts:?}");
}
