//! Pictures of every view and overlay, as the terminal shows them.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Style;

use super::canvas::Canvas;
use super::message::{Damage, Message};
use super::sample::{
    Stage, blocked, frame, inbox, last_id, many, note, session, step, stuck, twelve,
};
use crate::protocol::client::{Failure, Notice, Plan, Response, State};
use crate::terminal::{Button, Mods, MouseAction, MouseEvent, Size};

const SIZES: [(u16, u16); 4] = [(140, 40), (90, 30), (50, 12), (20, 5)];

struct Glass(Size);

impl Dimensions for Glass {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.0.rows)
    }

    fn columns(&self) -> usize {
        usize::from(self.0.cols)
    }
}

/// What a terminal of somebody else's making shows of our bytes.
fn shown(stage: &Stage) -> Term<VoidListener> {
    let size = stage.screen.size;
    let mut term = Term::new(Config::default(), &Glass(size), VoidListener);
    let mut canvas = Canvas::new(size);
    let bytes = canvas.paint(&stage.screen, &Damage::Everything).to_vec();
    Processor::<alacritty_terminal::vte::ansi::StdSyncHandler>::new().advance(&mut term, &bytes);
    term
}

/// The same on a backend of which pictures can be kept.
fn picture(stage: &Stage) -> Terminal<TestBackend> {
    let size = stage.screen.size;
    let term = shown(stage);
    let mut terminal = Terminal::new(TestBackend::new(size.cols, size.rows)).unwrap();
    terminal
        .draw(|frame| {
            let buf = frame.buffer_mut();
            for cell in term.grid().display_iter() {
                let x = u16::try_from(cell.point.column.0).unwrap();
                let y = u16::try_from(cell.point.line.0).unwrap();
                if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
                    continue;
                }
                let mut text = cell.c.to_string();
                text.extend(cell.zerowidth().into_iter().flatten());
                buf.set_string(x, y, text, Style::new());
            }
        })
        .unwrap();
    terminal
}

/// One picture of each size, of the screen that the story ends in.
fn pictures(name: &str, story: impl Fn(u16, u16) -> Stage) {
    for (cols, rows) in SIZES {
        let stage = story(cols, rows);
        let name = format!("{name}-{cols}x{rows}");
        insta::assert_snapshot!(name, picture(&stage).backend());
    }
}

fn plan() -> Plan {
    Plan {
        profile: Some("bugfix".into()),
        color: Some("#e06c75".into()),
        agent: "claude".into(),
        model: Some("opus".into()),
        effort: Some("high".into()),
        title: "fix the flaky login test".into(),
        matched: vec!["fix".into(), "flaky".into(), "test".into()],
        runner_up: Some(("tests".into(), vec!["test".into()])),
        argv: [
            "claude",
            "--model",
            "opus",
            "--effort",
            "high",
            "--session-id=0b3f7a52-6a2e-4f6e-9d51-0d1f6f0c2a11",
            "--",
            "fix the flaky login test, it's the clock\nand tell me why",
        ]
        .map(str::to_owned)
        .to_vec(),
        dir: "/home/ada/app".into(),
        profiles: vec!["bugfix".into(), "tests".into()],
        ..Plan::default()
    }
}

/// Opens the modal of new sessions, types, and lets the server plan it.
fn planned(cols: u16, rows: u16, words: &str, plan: Plan) -> Stage {
    let mut stage = Stage::with(cols, rows, many());
    let mut commands = stage.press("ctrl-space n");
    commands.extend(stage.write(words));
    stage.respond(last_id(&commands), Response::Plan(Box::new(plan)));
    stage
}

#[test]
fn the_deck_with_all_states() {
    pictures("deck", |cols, rows| Stage::with(cols, rows, many()));
}

#[test]
fn the_deck_with_twelve_tabs_in_three_repos() {
    pictures("twelve", |cols, rows| {
        let mut stage = Stage::with(cols, rows, twelve());
        stage.press("ctrl-space k esc");
        stage
    });
}

#[test]
fn the_empty_deck() {
    pictures("welcome", |cols, rows| Stage::with(cols, rows, Vec::new()));
}

#[test]
fn deck_mode_shows_its_keys() {
    pictures("keys", |cols, rows| {
        let mut stage = Stage::with(cols, rows, many());
        stage.press("ctrl-space");
        stage
    });
}

#[test]
fn the_inbox_below_the_program() {
    pictures("inbox", |cols, rows| {
        let mut stage = Stage::with(cols, rows, many());
        stage.hear(Notice::Inbox(inbox()));
        stage.press("ctrl-space i j");
        stage
    });
    pictures("inbox-empty", |cols, rows| {
        let mut stage = Stage::with(cols, rows, many());
        stage.press("ctrl-space i");
        stage
    });
}

#[test]
fn a_blocked_prompt() {
    pictures("blocked", |cols, rows| {
        let mut sessions = many();
        sessions[0].asks = vec![blocked(1)];
        Stage::with(cols, rows, sessions)
    });
}

#[test]
fn a_step_of_the_brake() {
    pictures("step", |cols, rows| {
        let mut sessions = many();
        sessions[0].meter.context_tokens = Some(412_345);
        sessions[0].asks = vec![step(1)];
        Stage::with(cols, rows, sessions)
    });
    pictures("step-held", |cols, rows| {
        let mut stage = Stage::with(cols, rows, many());
        stage.press("a");
        let mut sessions = many();
        sessions[0].asks = vec![step(1)];
        stage.hear(Notice::Sessions(sessions));
        stage
    });
}

#[test]
fn a_subagent_that_does_not_stop() {
    pictures("stuck", |cols, rows| {
        let mut sessions = many();
        sessions[0].asks = vec![stuck(1)];
        Stage::with(cols, rows, sessions)
    });
}

#[test]
fn a_handoff_note() {
    for (name, missing) in [
        ("note", &[][..]),
        (
            "note-incomplete",
            &["`Next step` is empty", "12 lines, at least 40"],
        ),
    ] {
        pictures(name, |cols, rows| {
            let mut sessions = many();
            sessions[0].asks = vec![note(1, missing)];
            Stage::with(cols, rows, sessions)
        });
    }
}

#[test]
fn a_new_session() {
    pictures("new", |cols, rows| {
        planned(
            cols,
            rows,
            "fix the flaky login test, it's the clock",
            plan(),
        )
    });
    pictures("new-obstacle", |cols, rows| {
        let plan = Plan {
            agent: "codex".into(),
            matched: Vec::new(),
            runner_up: None,
            warnings: vec![
                "`--modle` is no flag of codex and is not passed on; write `--modle=…` to pass it"
                    .into(),
            ],
            obstacle: Some(
                "`codex` is not installed; `npm install -g @openai/codex` gets it".into(),
            ),
            ..plan()
        };
        planned(cols, rows, "", plan)
    });
    pictures("new-failed", |cols, rows| {
        let mut stage = planned(
            cols,
            rows,
            "日本語で書いた、とても長い依頼の文章です。幅で折り返されます。",
            plan(),
        );
        let commands = stage.press("enter");
        let failed = Failure {
            exit: 1,
            text: "error: `/home/ada/app` is gone\n  try: start it elsewhere".into(),
        };
        stage.respond(last_id(&commands), Response::Failed(failed));
        stage
    });
}

#[test]
fn parking() {
    pictures("park", |cols, rows| {
        let mut stage = Stage::with(cols, rows, many());
        stage.press("ctrl-space p");
        let commands = stage.write("retry count is off by one");
        stage.respond(last_id(&commands), Response::Plan(Box::new(plan())));
        stage
    });
}

#[test]
fn small_overlays() {
    pictures("confirm", |cols, rows| {
        let mut stage = Stage::with(cols, rows, many());
        stage.press("ctrl-space x");
        stage
    });
    pictures("rename", |cols, rows| {
        let mut stage = Stage::with(cols, rows, many());
        stage.press("ctrl-space r");
        stage
    });
}

#[test]
fn find_and_help() {
    pictures("find", |cols, rows| {
        let mut stage = Stage::with(cols, rows, many());
        stage.hear(Notice::Inbox(inbox()));
        stage.press("ctrl-space /");
        stage.write("in");
        stage.press("down");
        stage
    });
    pictures("help", |cols, rows| {
        let mut stage = Stage::with(cols, rows, many());
        stage.press("ctrl-space ?");
        stage
    });
}

#[test]
fn what_is_said_and_what_is_larger_than_its_place() {
    pictures("gone", |cols, rows| {
        let mut stage = Stage::with(cols, rows, many());
        let mut larger = frame(&stage.screen);
        larger.size.cols += 20;
        stage.hear(Notice::Frame(Box::new(larger)));
        stage.message(Message::Gone);
        stage
    });
}

/// Bug of others: an arrow with a selector, a keycap, CJK shifted the border.
#[test]
fn the_border_is_straight_whatever_the_titles_are() {
    let titles = [
        "日本語テスト🙂➡️1️⃣",
        "👩‍👩‍👧‍👦 family",
        "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}",
        "🇩🇪🇯🇵 flags 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
        "ทดสอบภาษาไทยยาวมาก ๆ",
        "\u{1b}[31mred\u{7}",
        "ﾞﾟ half marks ｶﾞ",
    ];
    for cols in 100..=140 {
        let sessions = (1..).zip(titles);
        let sessions = sessions.map(|(id, title)| session(id, title, State::Working));
        let stage = Stage::with(cols, 30, sessions.collect());
        let divider = stage.screen.areas().unwrap().divider.unwrap();
        let term = shown(&stage);
        for cell in term.grid().display_iter() {
            let border = cell.point.column.0 == usize::from(divider.x);
            let row = usize::try_from(cell.point.line.0).unwrap();
            if border && row < usize::from(divider.height) {
                assert_eq!(cell.c, '│', "row {row} at {cols} columns");
            }
        }
    }
}

/// `cargo test dump_pictures -- --ignored` writes what a terminal can show with `cat`.
#[test]
#[ignore = "writes files"]
fn dump_pictures() {
    let dir = std::path::Path::new("target/pictures");
    std::fs::create_dir_all(dir).unwrap();
    let dump = |name: &str, stage: &Stage| {
        let mut canvas = Canvas::new(stage.screen.size);
        let bytes = canvas.paint(&stage.screen, &Damage::Everything).to_vec();
        std::fs::write(dir.join(format!("{name}.ansi")), bytes).unwrap();
    };
    dump("deck", &Stage::with(140, 40, many()));
    let mut stage = Stage::with(120, 36, twelve());
    stage.hear(Notice::Inbox(inbox()));
    stage.press("ctrl-space i j");
    dump("inbox", &stage);
    let mut sessions = many();
    sessions[0].asks = vec![blocked(1)];
    dump("blocked", &Stage::with(120, 36, sessions));
    dump(
        "new",
        &planned(120, 36, "fix the flaky login test, it's the clock", plan()),
    );
    dump("welcome", &Stage::with(90, 30, Vec::new()));
    let mut stage = Stage::with(90, 30, many());
    stage.hear(Notice::Inbox(inbox()));
    stage.press("ctrl-space /");
    stage.write("in");
    dump("find", &stage);
}

#[test]
fn every_size_can_be_drawn() {
    let open = [
        "a",
        "ctrl-space i",
        "ctrl-space n a",
        "ctrl-space p",
        "ctrl-space /",
        "ctrl-space ?",
        "ctrl-space r",
        "ctrl-space x",
        "ctrl-space 2",
    ];
    for keys in open {
        let mut stage = Stage::with(120, 40, twelve());
        stage.hear(Notice::Inbox(inbox()));
        stage.press(keys);
        let mut canvas = Canvas::new(stage.screen.size);
        for cols in [0, 1, 39, 40, 41, 59, 60, 99, 100, 101, 140] {
            for rows in [0, 1, 9, 10, 11, 14, 31] {
                stage.message(Message::Resize(Size { cols, rows }));
                canvas.paint(&stage.screen, &Damage::Everything);
                canvas.paint(&stage.screen, &Damage::Rows(vec![0, 7, 200]));
                for (col, row) in [(0, 0), (cols / 2, 0), (cols, rows), (cols / 2, rows / 2)] {
                    stage.message(Message::Mouse(MouseEvent {
                        action: MouseAction::Press(Button::Left),
                        col,
                        row,
                        held: Mods::NONE,
                    }));
                }
            }
        }
    }
}
