//! What the programs we run take for granted, after ECMA-48, xterm and kitty.

use super::super::{
    Attrs, Color, CursorShape, Event, Modes, Mouse, Progress, Run, StatusState, Style, Underline,
    Width,
};
use super::*;

/// What it is about, the size, the output; the rows and the cursor's column and row that come of it.
type Probe = (
    &'static str,
    (u16, u16),
    &'static str,
    &'static [&'static str],
    (u16, u16),
);

const PROBES: &[Probe] = &[
    (
        "a wide character wraps whole",
        (5, 3),
        "abcd漢",
        &["abcd", "漢"],
        (2, 1),
    ),
    (
        "half of a wide character blanks the other",
        (6, 1),
        "漢字\x1b[1;2Hx",
        &[" x字"],
        (2, 0),
    ),
    (
        "a family is two cells",
        (20, 1),
        "👩\u{200d}👩\u{200d}👧\u{200d}👦x",
        &["👩\u{200d}👩\u{200d}👧\u{200d}👦x"],
        (3, 0),
    ),
    (
        "VS16 widens",
        (20, 1),
        "❤\u{fe0f}x",
        &["❤\u{fe0f}x"],
        (3, 0),
    ),
    ("a flag is two cells", (20, 1), "🇩🇪x", &["🇩🇪x"], (3, 0)),
    (
        "a flag wraps whole, over a wide character too",
        (4, 2),
        "\x1b[2;1H漢x\x1b[1;1Habc🇩🇪y",
        &["abc", "🇩🇪y"],
        (3, 1),
    ),
    (
        "marks stay on their letter",
        (20, 1),
        "e\u{301}x",
        &["e\u{301}x"],
        (2, 0),
    ),
    (
        "the last column waits",
        (3, 2),
        "abc\r\ndef",
        &["abc", "def"],
        (2, 1),
    ),
    (
        "strings are swallowed",
        (20, 1),
        "a\x1b_Gq\x1b\\b\x1b^p\x1b\\c\x1bXs\x1b\\d\x1bP1|x\x1b\\e\x1b]999;x\x07f",
        &["abcdef"],
        (6, 0),
    ),
    (
        "CAN and ESC abort",
        (20, 1),
        "a\x1b[3\x18b\x1b[3\x1b[1mc\x1b[1\r;2Hd",
        &["adc"],
        (2, 0),
    ),
    (
        "regions scroll alone",
        (9, 5),
        "1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[4;1H\nX",
        &["1", "3", "4", "X", "5"],
        (1, 3),
    ),
    (
        "RI scrolls down",
        (9, 4),
        "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[2;1H\x1bMN",
        &["1", "N", "2", "4"],
        (1, 1),
    ),
    (
        "inserting and deleting",
        (9, 4),
        "abcdef\x1b[1;2H\x1b[2@XY\x1b[2P\x1b[1;1H\x1b[1X\r\n2\r\n3\x1b[2;1H\x1b[Lins",
        &[" XYdef", "ins", "2", "3"],
        (3, 1),
    ),
    (
        "tab stops",
        (40, 1),
        "\tA\x1b[3g\x1b[1;5H\x1bH\r\tB\x1b[Z",
        &["    B   A"],
        (4, 0),
    ),
    ("REP", (20, 1), "a\x1b[3b", &["aaaa"], (4, 0)),
    (
        "line drawing",
        (9, 1),
        "\x1b(0lqk\x1b(Bx",
        &["┌─┐x"],
        (4, 0),
    ),
    (
        "colons do not leak",
        (9, 1),
        "\x1b[38:2::1:2:3mx\x1b[0m\x1b[48:5:3my\x1b[0;38;5;300;9mz",
        &["xyz"],
        (3, 0),
    ),
    (
        "the alternate screen leaves no trace",
        (9, 3),
        "main\x1b[?1049h\x1b[H1\r\n2\r\n3\r\n4\x1b[?1049l",
        &["main"],
        (4, 0),
    ),
    (
        "its older names work too",
        (9, 3),
        "main\x1b[?47hx\x1b[?47l\x1b[?1047hy\x1b[?1047l",
        &["main"],
        (4, 0),
    ),
    (
        "Claude Code clears so",
        (9, 3),
        "1\r\n2\r\n3\r\n4\x1b[2J\x1b[3J\x1b[Hnew",
        &["new"],
        (3, 0),
    ),
    (
        "132 columns are not for a program to choose",
        (9, 2),
        "a\x1b[?3hb",
        &["ab"],
        (2, 0),
    ),
];

#[test]
fn output_lands_where_the_standards_put_it() {
    for &(what, (cols, rows), output, expected, cursor) in PROBES {
        let engine = fed(cols, rows, output);
        let place = (engine.cursor().col, engine.cursor().row);
        assert_eq!(
            (all_rows(&engine), place),
            (
                expected.iter().map(|row| (*row).to_owned()).collect(),
                cursor
            ),
            "{what}"
        );
    }
}

#[test]
fn broken_utf8_shows_and_split_utf8_does_not() {
    let mut engine = engine(20, 1);
    for part in [
        &b"a\xc3(b\xff"[..],
        b"\xe6\xbc",
        b"\xa2\xf0\x9f",
        b"\x9a\x80",
    ] {
        engine.feed(part);
    }
    assert_eq!(engine.text(), ["a\u{fffd}(b\u{fffd}漢🚀"]);
}

/// Codex inserts its history by scrolling a region that starts at the top.
#[test]
fn lines_that_leave_a_region_at_the_top_enter_the_history() {
    let mut engine = fed(40, 24, "\x1b[1;20r\x1b[20;1H");
    for n in 0..50 {
        engine.feed(format!("\r\nline {n}").as_bytes());
    }
    let rows = all_rows(&engine);
    for n in 0..50 {
        assert!(rows.contains(&format!("line {n}")), "line {n} in {rows:?}");
    }
    assert_eq!(engine.history_line(engine.history_len()), Line::default());
}

#[test]
fn text_survives_every_change_of_width() {
    let mut engine = Rio::new(
        Size {
            cols: 120,
            rows: 40,
        },
        5000,
    );
    for n in 0..60_usize {
        let letters: String = (0..10 + n * 7 % 290)
            .map(|k| char::from(b'a' + u8::try_from((k + n) % 26).unwrap()))
            .collect();
        engine.feed(format!("{n:03}{letters}\r\n").as_bytes());
    }
    let before = all_rows(&engine);
    for (cols, rows) in [(60, 40), (33, 20), (7, 3), (200, 60), (120, 40)] {
        engine.resize(Size { cols, rows });
    }
    assert_eq!(all_rows(&engine), before);
}

#[test]
fn sizes_are_brought_into_bounds() {
    for ((cols, rows), bounded) in [
        ((0, 0), (2, 1)),
        ((1, 1), (2, 1)),
        ((80, 24), (80, 24)),
        ((65535, 65535), (1000, 500)),
    ] {
        let asked = Size { cols, rows };
        let fresh = Rio::new(asked, 10).size();
        let mut resized = engine(10, 10);
        resized.resize(asked);
        let (cols, rows) = bounded;
        assert_eq!(
            (fresh, resized.size()),
            (Size { cols, rows }, Size { cols, rows }),
            "{asked:?}"
        );
    }
}

#[test]
fn lines_are_runs_that_look_alike() {
    let run = |text: &str, width, style, link: Option<&str>| Run {
        text: text.to_owned(),
        style,
        width,
        link: link.map(str::to_owned),
    };
    let plain = Style::default();
    let fg = |fg| Style { fg, ..plain };
    let underlined = Style {
        underline: Underline::Curly,
        underline_color: Color::Rgb(1, 2, 3),
        ..plain
    };
    let bold = Style {
        attrs: Attrs::BOLD.with(Attrs::REVERSE),
        ..fg(Color::Indexed(9))
    };
    let filled = Style {
        bg: Color::Indexed(4),
        ..plain
    };
    for (output, runs) in [
        ("", vec![]),
        (
            "ab  \x1b[31m  ",
            vec![run("ab", Width::Narrow, plain, None)],
        ),
        ("a\tb", vec![run("a       b", Width::Narrow, plain, None)]),
        ("\x1b[3Cx", vec![run("   x", Width::Narrow, plain, None)]),
        (
            "a\x1b[31mb\x1b[38;5;1mc \x1b[38;2;1;2;3md",
            vec![
                run("a", Width::Narrow, plain, None),
                run("bc ", Width::Narrow, fg(Color::Indexed(1)), None),
                run("d", Width::Narrow, fg(Color::Rgb(1, 2, 3)), None),
            ],
        ),
        (
            "\x1b[4:3;58:2::1:2:3mx\x1b[0;1;7;91my",
            vec![
                run("x", Width::Narrow, underlined, None),
                run("y", Width::Narrow, bold, None),
            ],
        ),
        (
            "a漢字b",
            vec![
                run("a", Width::Narrow, plain, None),
                run("漢字", Width::Wide, plain, None),
                run("b", Width::Narrow, plain, None),
            ],
        ),
        (
            "e\u{301}e\u{301}❤\u{fe0f}",
            vec![
                run("e\u{301}", Width::Cluster(1), plain, None),
                run("e\u{301}", Width::Cluster(1), plain, None),
                run("❤\u{fe0f}", Width::Cluster(2), plain, None),
            ],
        ),
        (
            "\x1b]8;id=1;https://a.b/\x1b\\ab\x1b]8;;\x1b\\c",
            vec![
                run("ab", Width::Narrow, plain, Some("https://a.b/")),
                run("c", Width::Narrow, plain, None),
            ],
        ),
        // Erased with a colour: the row is full of it.
        (
            "\x1b[44m\x1b[K",
            vec![run(&" ".repeat(20), Width::Narrow, filled, None)],
        ),
        (
            "\x1b[44m\x1b[2K\x1b[0mab",
            vec![
                run("ab", Width::Narrow, plain, None),
                run(&" ".repeat(18), Width::Narrow, filled, None),
            ],
        ),
    ] {
        assert_eq!(fed(20, 2, output).line(0), Line(runs), "{output:?}");
    }
    assert_eq!(
        fed(20, 2, "x").line(7),
        Line::default(),
        "a row that is not there"
    );
}

#[test]
fn modes_say_what_the_program_asked_for() {
    let fresh = Modes {
        alternate_scroll: true,
        ..Modes::default()
    };
    assert_eq!(engine(20, 4).modes(), fresh);
    for (output, modes) in [
        (
            "\x1b[?1h\x1b=",
            Modes {
                application_cursor: true,
                application_keypad: true,
                ..fresh
            },
        ),
        (
            "\x1b[?2004h\x1b[?1004h",
            Modes {
                bracketed_paste: true,
                focus_reports: true,
                ..fresh
            },
        ),
        (
            "\x1b[?2004h\x1b[?2004l\x1b[?1007l",
            Modes {
                alternate_scroll: false,
                ..fresh
            },
        ),
        (
            "\x1b[?1000h",
            Modes {
                mouse: Mouse::Click,
                ..fresh
            },
        ),
        (
            "\x1b[?1000h\x1b[?1002h\x1b[?1006h",
            Modes {
                mouse: Mouse::Drag,
                sgr_mouse: true,
                ..fresh
            },
        ),
        (
            "\x1b[?1000h\x1b[?1002h\x1b[?1003h",
            Modes {
                mouse: Mouse::Motion,
                ..fresh
            },
        ),
        ("\x1b[?1003h\x1b[?1003l", fresh),
        (
            "\x1b[>5u\x1b[>4;2m",
            Modes {
                kitty: 5,
                modify_other_keys: 2,
                ..fresh
            },
        ),
        ("\x1b[>5u\x1b[<u", fresh),
        (
            "\x1b[=7;1u\x1b[?1049h",
            Modes {
                alternate_screen: true,
                ..fresh
            },
        ),
        (
            "\x1b[=7;1u\x1b[?1049h\x1b[?1049l",
            Modes { kitty: 7, ..fresh },
        ),
        ("\x1b[?2004h\x1b[>5u\x1b[?1003h\x1bc", fresh),
    ] {
        assert_eq!(fed(20, 4, output).modes(), modes, "{output:?}");
    }
}

#[test]
fn the_cursor_has_a_shape_and_can_hide() {
    for (output, shape, blinking, visible) in [
        ("", CursorShape::Block, false, true),
        ("\x1b[6 q", CursorShape::Bar, false, true),
        ("\x1b[3 q", CursorShape::Underline, true, true),
        ("\x1b[?25l", CursorShape::Block, false, false),
    ] {
        let cursor = fed(20, 4, output).cursor();
        assert_eq!(
            (cursor.shape, cursor.blinking, cursor.visible),
            (shape, blinking, visible),
            "{output:?}"
        );
    }
}

#[test]
fn questions_are_answered_though_nobody_watches() {
    let version = concat!("\x1bP>|sessdeck ", env!("CARGO_PKG_VERSION"), "\x1b\\");
    for (question, answer) in [
        ("\x1b[c", "\x1b[?62;22;52c"),
        ("\x1b[>0q", version),
        ("\x1b[?u", "\x1b[?0u"),
        ("\x1b[>5u\x1b[?u", "\x1b[?5u"),
        ("\x1b[?2026$p", "\x1b[?2026;2$y"),
        ("\x1b[?2026h\x1b[?2026$p", "\x1b[?2026;1$y"),
        ("\x1b[?1007$p", "\x1b[?1007;1$y"),
        ("\x1b[?1016$p", "\x1b[?1016;0$y"),
        ("\x1b[5n", "\x1b[0n"),
        ("\r\nab\x1b[6n", "\x1b[2;3R"),
        ("\x1b[18t", "\x1b[8;4;20t"),
        ("\x1b]10;?\x07", "\x1b]10;rgb:d0d0/d0d0/d0d0\x07"),
        ("\x1b]11;?\x1b\\", "\x1b]11;rgb:1010/1010/1010\x1b\\"),
        (
            "\x1b]11;#102030\x07\x1b]11;?\x07",
            "\x1b]11;rgb:1010/2020/3030\x07",
        ),
        ("\x1b]4;1;?\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x07"),
        // What we cannot know or do not allow: sizes in pixels, images, the clipboard.
        (
            "\x1b[16t\x1b[14t\x1b_Ga=q,i=1;AAAA\x1b\\\x1b]52;c;?\x07",
            "",
        ),
    ] {
        let mut engine = engine(20, 4);
        assert_eq!(replies(&mut engine, question), answer, "{question:?}");
        assert_eq!(replies(&mut engine, ""), "", "answered once");
    }
}

/// Claude Code waits for this answer only until its DA1 query is answered.
#[test]
fn the_status_query_is_answered_in_its_place_among_the_others() {
    let questions = "\x1b[>0q\x1b[?u\x1b]7501;?\x07\x1b[c\x1b]7501;?\x1b\\\x1b[5n";
    let version = concat!("\x1bP>|sessdeck ", env!("CARGO_PKG_VERSION"), "\x1b\\");
    let answers =
        format!("{version}\x1b[?0u\x1b]7501;?\x07\x1b[?62;22;52c\x1b]7501;?\x1b\\\x1b[0n");
    assert_eq!(replies(&mut engine(20, 4), questions), answers);
    for cut in 0..questions.len() {
        let (head, tail) = questions.split_at(cut);
        let mut engine = engine(20, 4);
        let got = replies(&mut engine, head) + &replies(&mut engine, tail);
        assert_eq!(got, answers, "cut at {cut}");
    }
    assert_eq!(
        fed(20, 4, questions).text().concat(),
        "",
        "nothing of it shows"
    );
}

#[test]
fn what_a_program_tells_beside_the_screen_becomes_events() {
    let notice = |title: &str, body: &str| Event::Notification {
        title: title.into(),
        body: body.into(),
    };
    let progress = |state, percent| Event::Progress { state, percent };
    for (output, events) in [
        ("\x1b]0;one\x07", vec![Event::Title("one".into())]),
        ("\x1b]2;two; tü\x1b\\", vec![Event::Title("two; tü".into())]),
        (
            "\x1b]2;a\x07\x1b[22;0t\x1b]2;b\x07\x1b[23;0t",
            vec![Event::Title("a".into())],
        ),
        ("\x1b]2;a\x07\x1bc", vec![Event::Title(String::new())]),
        // A spinner in the title is one event a feed, not twenty.
        (
            "\x1b]2;◐ x\x07\x1b]2;◑ x\x07",
            vec![Event::Title("◑ x".into())],
        ),
        ("\x07\x07", vec![Event::Bell]),
        (
            "\x1b]7;file:///tmp/x%20y\x07",
            vec![Event::Cwd("/tmp/x y".into())],
        ),
        (
            "\x1b]7;file:///a%20%20b\x07",
            vec![Event::Cwd("/a  b".into())],
        ),
        ("\x1b]7;file:///a%0ab\x07", vec![]),
        ("\x1b]9;done; really\x07", vec![notice("", "done; really")]),
        ("\x1b]9;2;box\x07", vec![]),
        (
            "\x1b]777;notify;Claude Code;waits\x07",
            vec![notice("Claude Code", "waits")],
        ),
        ("\x1b]9;4;1;50\x07", vec![progress(Progress::Set, Some(50))]),
        (
            "\x1b]9;4;3\x07",
            vec![progress(Progress::Indeterminate, None)],
        ),
        ("\x1b]9;4;0\x07", vec![progress(Progress::Remove, None)]),
        (
            "\x1b]52;c;aGVsbG8=\x07",
            vec![Event::Clipboard("aGVsbG8=".into())],
        ),
        ("\x1b]52;c;a\x02b\x07", vec![Event::Clipboard("ab".into())]),
        ("\x1b]52;c;not base64!\x07", vec![]),
        ("\x1b]7501;state=nonsense\x07", vec![]),
    ] {
        let mut engine = fed(20, 4, output);
        assert_eq!(engine.take_events(), events, "{output:?}");
        assert_eq!(engine.take_events(), vec![], "told once");
    }
}

#[test]
fn a_status_arrives_however_it_is_cut() {
    let output =
        "\x1b]7501;state=blocked:app=codex:kind=permission\x07\x1b]7501;state=working\x1b\\";
    for cut in 0..output.len() {
        let (head, tail) = output.split_at(cut);
        let mut engine = fed(20, 4, head);
        engine.feed(tail.as_bytes());
        let states: Vec<StatusState> = engine
            .take_events()
            .into_iter()
            .filter_map(|event| {
                if let Event::Status(status) = event {
                    Some(status.state)
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(
            states,
            [StatusState::Blocked, StatusState::Working],
            "cut at {cut}"
        );
    }
}
