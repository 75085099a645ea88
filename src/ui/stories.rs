//! The screen told as stories: keys and notices in, requests out.

use super::message::{Command, Damage, Leave, Message};
use super::sample::{Stage, blocked, frame, inbox, last_id, many, requests, session, step, twelve};
use crate::protocol::client::{
    Choice, Failure, Level, Notice, Order, Plan, Request, Response, State,
};
use crate::terminal::{
    Button, Line, Modes, Mods, Mouse, MouseAction, MouseEvent, Run, Size, Style, Wheel, Width,
};

fn typed(commands: &[Command]) -> String {
    let bytes = requests(commands)
        .into_iter()
        .filter_map(|request| {
            if let Request::Input { bytes, .. } = request {
                Some(bytes)
            } else {
                None
            }
        })
        .flatten()
        .collect();
    String::from_utf8(bytes).unwrap()
}

fn front(stage: &Stage) -> Option<u64> {
    stage.screen.tabs.front
}

fn asks_are_answered(commands: &[Command]) -> Vec<(u64, Choice)> {
    requests(commands)
        .into_iter()
        .filter_map(|request| {
            if let Request::Answer { ask, choice } = request {
                Some((ask, choice))
            } else {
                None
            }
        })
        .collect()
}

#[test]
fn keys_go_to_the_program_until_the_leader_and_twice_sends_it_through() {
    for (keys, sent) in [
        ("l s enter", "ls\r"),
        ("ctrl-c", "\u{3}"),
        ("ctrl-space ctrl-space", "\0"),
        ("f12 f12", "\u{1b}[24~"),
        ("ctrl-space f12", "\u{1b}[24~"),
        ("a ctrl-space esc b", "ab"),
        // What means nothing to the deck was meant for the program.
        ("ctrl-space z y", "zy"),
        ("ctrl-space j k l", "l"),
    ] {
        let mut stage = Stage::with(120, 40, many());
        assert_eq!(typed(&stage.press(keys)), sent, "{keys}");
    }
}

#[test]
fn input_is_sent_before_anything_is_painted() {
    let mut stage = Stage::with(120, 40, many());
    let commands = stage.press("a");
    assert!(matches!(commands[..], [Command::Send(_)]), "{commands:?}");
}

#[test]
fn the_session_that_was_asked_for_is_in_front_from_the_start() {
    for (asked, expected) in [(None, 1), (Some(3), 3), (Some(99), 1)] {
        let mut stage = Stage::new(120, 40);
        stage.screen.tabs.front = asked;
        stage.hear(Notice::Sessions(many()));
        assert_eq!(front(&stage), Some(expected), "{asked:?}");
    }
}

#[test]
fn tabs_are_gone_to_by_step_number_need_and_click() {
    for (keys, expected) in [
        ("ctrl-space j", 2),
        ("ctrl-space j j j", 4),
        ("ctrl-space k", 8),
        ("ctrl-space down up up", 8),
        ("ctrl-space 5", 5),
        ("ctrl-space 9", 1),
        ("ctrl-space g", 2),
        ("ctrl-space 3 ctrl-space g", 2),
    ] {
        let mut stage = Stage::with(120, 40, many());
        stage.press(keys);
        assert_eq!(front(&stage), Some(expected), "{keys}");
    }
    let click = |stage: &mut Stage, col, row| {
        stage.message(Message::Mouse(MouseEvent {
            action: MouseAction::Press(Button::Left),
            col,
            row,
            held: Mods::NONE,
        }))
    };
    let mut stage = Stage::with(120, 40, many());
    let commands = click(&mut stage, 5, 7);
    assert_eq!(front(&stage), Some(3));
    assert_eq!(
        requests(&commands),
        [Request::Look {
            session: Some(3),
            size: Size { cols: 89, rows: 39 }
        }]
    );
    let mut stage = Stage::with(90, 30, many());
    click(&mut stage, 89, 0);
    assert_eq!(front(&stage), Some(1));
}

#[test]
fn the_session_of_this_repo_is_in_front_first() {
    let mut sessions = twelve();
    sessions.rotate_left(5);
    let stage = Stage::with(120, 40, sessions);
    assert_eq!(front(&stage), Some(1));
    let mut other = session(7, "elsewhere", State::Working);
    other.repo = "/home/ada/other".into();
    let stage = Stage::with(120, 40, vec![other]);
    assert_eq!(front(&stage), None);
}

#[test]
fn a_session_that_was_asked_for_is_in_front_first() {
    for (asked, expected) in [(5, 5), (77, 1)] {
        let mut stage = Stage::new(120, 40);
        stage.screen.tabs.front = Some(asked);
        stage.hear(Notice::Sessions(many()));
        assert_eq!(front(&stage), Some(expected), "{asked}");
    }
}

#[test]
fn the_neighbour_comes_to_the_front_when_a_session_goes() {
    for (gone, expected) in [(0, Some(2)), (3, Some(1)), (7, Some(1))] {
        let mut stage = Stage::with(120, 40, many());
        let mut left = many();
        left.remove(gone);
        stage.hear(Notice::Sessions(left));
        assert_eq!(front(&stage), expected, "{gone}");
    }
    let mut stage = Stage::with(120, 40, many());
    stage.press("ctrl-space 8");
    let mut left = many();
    left.pop();
    stage.hear(Notice::Sessions(left));
    assert_eq!(front(&stage), Some(7));
    stage.hear(Notice::Sessions(Vec::new()));
    assert_eq!(front(&stage), None);
}

#[test]
fn a_blocked_prompt_is_answered_with_one_key() {
    for (key, choice) in [
        ("o", Choice::Open),
        ("p", Choice::Park),
        ("s", Choice::Send),
        ("esc", Choice::Cancel),
    ] {
        let mut stage = Stage::with(120, 40, many());
        stage.press("w h y enter");
        let mut sessions = many();
        sessions[0].asks = vec![blocked(5)];
        stage.hear(Notice::Sessions(sessions.clone()));
        stage.screen.painted();
        let commands = stage.press(key);
        assert_eq!(asks_are_answered(&commands), [(5, choice)], "{key}");
        // The server's list still has it; it does not come up again, and keys are the program's.
        stage.hear(Notice::Sessions(sessions));
        assert_eq!(typed(&stage.press("o")), "o", "{key}");
    }
}

#[test]
fn an_answer_that_failed_leaves_the_question() {
    let mut sessions = many();
    sessions[0].asks = vec![blocked(5)];
    let mut stage = Stage::with(120, 40, sessions);
    let id = last_id(&stage.press("o"));
    let failed = Failure {
        exit: 1,
        text: "no room".into(),
    };
    stage.respond(id, Response::Failed(failed));
    stage.screen.painted();
    assert_eq!(asks_are_answered(&stage.press("p")), [(5, Choice::Park)]);
}

#[test]
fn a_question_that_comes_while_somebody_types_takes_no_key_before_a_pause() {
    let mut stage = Stage::with(120, 40, many());
    stage.press("h e l l");
    let mut sessions = many();
    sessions[0].asks = vec![step(5)];
    stage.hear(Notice::Sessions(sessions));
    stage.screen.painted();
    let commands = stage.press("o enter");
    assert_eq!(typed(&commands), "o\r");
    assert_eq!(asks_are_answered(&commands), []);
    stage.press("x");
    stage.wait(500);
    stage.message(Message::Tick);
    let commands = stage.press("z enter");
    assert_eq!(typed(&commands), "");
    assert_eq!(asks_are_answered(&commands), [(5, Choice::Cancel)]);
}

#[test]
fn a_key_that_was_pressed_before_the_question_was_painted_is_the_programs() {
    let mut stage = Stage::with(120, 40, many());
    let mut sessions = many();
    sessions[0].asks = vec![blocked(5)];
    stage.hear(Notice::Sessions(sessions));
    // No paint in between.
    let commands = stage.press("s");
    assert_eq!(
        (typed(&commands).as_str(), asks_are_answered(&commands)),
        ("s", vec![])
    );
}

#[test]
fn a_question_of_another_tab_waits_and_is_told() {
    let mut stage = Stage::with(120, 40, many());
    let mut sessions = many();
    sessions[2].asks = vec![blocked(5)];
    stage.hear(Notice::Sessions(sessions));
    let said = stage.screen.status.said.clone().unwrap();
    assert_eq!(said.level, Level::Warning);
    assert_eq!(
        said.text,
        "3 release notes: a prompt belongs to docs and waits"
    );
    assert_eq!(typed(&stage.press("o p s")), "ops");
    stage.wait(1000);
    stage.press("ctrl-space 3");
    assert_eq!(asks_are_answered(&stage.press("o")), [(5, Choice::Open)]);
}

#[test]
fn an_open_overlay_keeps_its_keys_when_a_question_comes() {
    let mut stage = Stage::with(120, 40, many());
    stage.press("ctrl-space p");
    stage.write("so");
    let mut sessions = many();
    sessions[0].asks = vec![blocked(5)];
    stage.hear(Notice::Sessions(sessions));
    assert_eq!(asks_are_answered(&stage.press("o p s esc")), []);
    assert_eq!(stage.screen.overlays.drafts.park, "soops");
    stage.wait(1000);
    stage.message(Message::Tick);
    assert_eq!(asks_are_answered(&stage.press("o")), [(5, Choice::Open)]);
}

#[test]
fn a_session_is_started_from_words_and_looked_at() {
    let mut stage = Stage::with(120, 40, many());
    let commands = stage.press("ctrl-space n");
    let order = |task: Option<&str>, profile: Option<&str>| Order {
        task: task.map(str::to_owned),
        profile: profile.map(str::to_owned),
        dir: "/home/ada/app".into(),
        ..Order::default()
    };
    assert_eq!(requests(&commands), [Request::Plan(order(None, None))]);
    // One question is under way, so nothing is asked while it is typed.
    assert_eq!(requests(&stage.write("fix it")), []);
    let plan = Plan {
        profiles: vec!["bugfix".into(), "docs".into()],
        ..Plan::default()
    };
    let next = stage.respond(last_id(&commands), Response::Plan(Box::new(plan)));
    assert_eq!(
        requests(&next),
        [Request::Plan(order(Some("fix it"), None))]
    );
    stage.press("shift-enter");
    stage.write("now");
    stage.press("tab tab");
    let commands = stage.press("enter");
    let mut expected = order(Some("fix it\nnow"), Some("docs"));
    expected.size = Some(Size { cols: 89, rows: 39 });
    assert_eq!(requests(&commands), [Request::Launch(expected)]);
    let new = session(30, "fix it", State::Working);
    stage.respond(last_id(&commands), Response::Session(Box::new(new)));
    assert_eq!(front(&stage), Some(30));
    assert!(stage.screen.overlays.top().is_none());
    assert_eq!(stage.screen.overlays.drafts.new, "");
}

#[test]
fn what_was_typed_outlives_its_overlay_and_a_failure() {
    let mut stage = Stage::with(120, 40, many());
    stage.press("ctrl-space n");
    stage.write("build a bridge");
    stage.press("esc ctrl-space n");
    let commands = stage.press("enter");
    let failed = Failure {
        exit: 1,
        text: "`claude` is not installed".into(),
    };
    stage.respond(last_id(&commands), Response::Failed(failed));
    assert!(stage.screen.overlays.top().is_some());
    stage.message(Message::Gone);
    stage.press("esc");
    assert_eq!(stage.screen.overlays.drafts.new, "build a bridge");
}

#[test]
fn a_thought_is_parked_with_its_guessed_profile() {
    let mut stage = Stage::with(120, 40, many());
    stage.press("ctrl-space p");
    let commands = stage.write("readme is old");
    let plan = Plan {
        profile: Some("docs".into()),
        matched: vec!["readme".into()],
        ..Plan::default()
    };
    stage.respond(last_id(&commands), Response::Plan(Box::new(plan)));
    let commands = stage.press("enter");
    assert_eq!(
        requests(&commands),
        [Request::Park {
            dir: "/home/ada/app".into(),
            text: "readme is old".into(),
            profile: Some("docs".into()),
            session: Some(1),
        }]
    );
    // It is still there until it is written.
    assert!(stage.screen.overlays.top().is_some());
    let parked = Response::Parked {
        line: "- [ ] 2026-12-01 #docs readme is old".into(),
        file: "/home/ada/app/hot-todo.md".into(),
    };
    stage.respond(last_id(&commands), parked);
    assert!(stage.screen.overlays.top().is_none());
    assert_eq!(stage.screen.overlays.drafts.park, "");
}

#[test]
fn an_inbox_line_is_opened_as_a_session() {
    let mut stage = Stage::with(120, 40, many());
    stage.hear(Notice::Inbox(inbox()));
    stage.press("ctrl-space i j");
    let commands = stage.press("enter");
    let Some(Request::Launch(order)) = requests(&commands).pop() else {
        panic!("{commands:?}");
    };
    let line = &inbox().lines[1];
    let task = format!("{}\nsee the second heading\nand the picture", line.text);
    assert_eq!(order.task, Some(task));
    assert_eq!(order.profile.as_deref(), Some("docs"));
    assert_eq!(order.inbox.as_deref(), Some("hash2"));
    // Escape gives the keys back, the pane stays; the leader's key closes it.
    assert_eq!(typed(&stage.press("esc x")), "x");
    assert!(stage.screen.tabs.inbox.open);
    stage.press("ctrl-space i ctrl-space i");
    assert!(!stage.screen.tabs.inbox.open);
}

#[test]
fn only_a_running_session_is_asked_about_before_it_ends() {
    let mut stage = Stage::with(120, 40, many());
    assert_eq!(requests(&stage.press("ctrl-space x")), []);
    assert_eq!(requests(&stage.press("n ctrl-space x")), []);
    assert_eq!(requests(&stage.press("y")), [Request::End { session: 1 }]);
    stage.press("ctrl-space 5");
    let ended = stage.press("ctrl-space x");
    assert_eq!(requests(&ended), [Request::End { session: 5 }]);
    assert_eq!(typed(&stage.press("a")), "");
}

#[test]
fn rename_find_and_help_do_what_they_say() {
    let mut stage = Stage::with(120, 40, many());
    stage.press("ctrl-space r");
    stage.write(" again");
    let commands = stage.press("enter");
    assert_eq!(
        requests(&commands),
        [Request::Rename {
            session: 1,
            title: "fix the flaky login test again".into()
        }]
    );
    stage.press("ctrl-space /");
    stage.write("rlsnotes");
    stage.press("enter");
    assert_eq!(front(&stage), Some(3));
    stage.press("ctrl-space ?");
    stage.write("detach");
    let commands = stage.press("enter");
    assert!(commands.contains(&Command::Quit(Leave::Detached)));
}

#[test]
fn the_empty_deck_takes_deck_keys_without_the_leader() {
    let mut stage = Stage::with(120, 40, Vec::new());
    stage.press("n");
    assert!(stage.screen.overlays.top().is_some());
    stage.press("esc");
    assert!(stage.press("d").contains(&Command::Quit(Leave::Detached)));
}

#[test]
fn a_lost_connection_keeps_what_is_there_and_asks_again_when_it_is_back() {
    let mut stage = Stage::with(120, 40, many());
    stage.message(Message::Gone);
    assert_eq!(requests(&stage.press("a b ctrl-space j")), []);
    let commands = stage.message(Message::Back);
    let asked = requests(&commands);
    assert!(matches!(
        asked[..],
        [
            Request::Attach { .. },
            Request::Look {
                session: Some(2),
                ..
            }
        ]
    ));
    assert!(
        stage
            .press("ctrl-space d")
            .contains(&Command::Quit(Leave::Detached))
    );
}

#[test]
fn a_frame_is_shown_and_only_its_rows_are_painted() {
    let mut stage = Stage::with(120, 40, many());
    let row = Line(vec![Run {
        text: "new".into(),
        style: Style::default(),
        width: Width::Narrow,
        link: None,
    }]);
    let mut next = frame(&stage.screen);
    next.whole = false;
    next.number = 2;
    next.rows = vec![(3, row)];
    let hear = |stage: &mut Stage, session| {
        let mut frame = next.clone();
        frame.session = session;
        stage.hear(Notice::Frame(Box::new(frame)))
    };
    let shown = Command::Shown { frame: 2 };
    let rows = Command::Paint(Damage::Rows(vec![3]));
    let all = Command::Paint(Damage::Everything);
    assert_eq!(hear(&mut stage, 1), [shown.clone(), rows]);
    // Another session's frame is late, but the server waits for it.
    assert_eq!(hear(&mut stage, 2), std::slice::from_ref(&shown));
    stage.press("ctrl-space ?");
    assert_eq!(hear(&mut stage, 1), [shown, all]);
}

#[test]
fn the_mouse_is_the_programs_only_if_it_asked() {
    let mut stage = Stage::with(120, 40, many());
    let mouse = |stage: &mut Stage, action| {
        let commands = stage.message(Message::Mouse(MouseEvent {
            action,
            col: 41,
            row: 4,
            held: Mods::NONE,
        }));
        typed(&commands)
    };
    let wheel = MouseAction::Wheel(Wheel::Up);
    assert_eq!(mouse(&mut stage, wheel), "");
    let mut asked = frame(&stage.screen);
    asked.modes = Modes {
        mouse: Mouse::Click,
        sgr_mouse: true,
        ..Modes::default()
    };
    stage.hear(Notice::Frame(Box::new(asked)));
    assert_eq!(mouse(&mut stage, wheel), "\u{1b}[<64;11;5M");
    let click = MouseAction::Press(Button::Left);
    assert_eq!(mouse(&mut stage, click), "\u{1b}[<0;11;5M");
    stage.press("ctrl-space ?");
    assert_eq!(mouse(&mut stage, click), "");
}

#[test]
fn a_paste_goes_where_the_keys_go() {
    let mut stage = Stage::with(120, 40, many());
    let paste = || Message::Paste("a\nb".into());
    assert_eq!(typed(&stage.message(paste())), "a\rb");
    stage.press("ctrl-space p");
    assert_eq!(typed(&stage.message(paste())), "");
    stage.press("esc");
    assert_eq!(stage.screen.overlays.drafts.park, "a\nb");
}

#[test]
fn a_terminal_too_small_keeps_the_programs_size_and_its_keys() {
    let mut stage = Stage::with(120, 40, many());
    let small = Size { cols: 20, rows: 5 };
    let commands = stage.message(Message::Resize(small));
    assert_eq!(requests(&commands), []);
    assert_eq!(typed(&stage.press("a")), "a");
    assert!(
        stage
            .press("ctrl-space d")
            .contains(&Command::Quit(Leave::Detached))
    );
}
