//! Output made to hurt. Bounds are asserted by counting, never by the clock.

use super::super::Event;
use super::*;

const FAMILY: &str = "👩\u{200d}👩\u{200d}👧\u{200d}👦";

#[test]
fn a_cell_takes_so_many_marks_and_no_more() {
    for (what, output) in [
        (
            "combining marks",
            format!("e{}x", "\u{301}".repeat(100_000)),
        ),
        ("the same by REP", "e\u{301}\x1b[65535bx".to_owned()),
        (
            "joiners and emoji",
            format!("{}x", "👩\u{200d}".repeat(20_000)),
        ),
        ("a wide base", format!("漢{}x", "\u{301}".repeat(1000))),
    ] {
        let engine = fed(80, 24, &output);
        let longest = (0..24)
            .flat_map(|row| engine.line(row).0)
            .filter(|run| matches!(run.width, super::super::Width::Cluster(_)))
            .map(|run| run.text.chars().count())
            .max();
        assert!(longest.is_some_and(|len| len <= 34), "{what}: {longest:?}");
        let text = all_rows(&engine).concat();
        assert!(text.ends_with('x'), "{what}: what follows is shown");
    }
}

#[test]
fn strings_without_end_are_survived() {
    for intro in [
        "\x1b]2;",
        "\x1b]52;c;",
        "\x1bPq",
        "\x1bP+q",
        "\x1b_G",
        "\x1b^",
        "\x1bX",
    ] {
        let mut engine = fed(80, 24, intro);
        let filler = vec![b'A'; 3 << 20];
        engine.feed(&filler);
        engine.feed(b"\x1b\\alive");
        assert_eq!(engine.text()[0], "alive", "{intro:?}");
        assert_eq!(engine.take_events(), vec![], "{intro:?}");
    }
}

#[test]
fn a_clipboard_of_some_size_passes_whole() {
    let base64 = "QUJD".repeat(200_000);
    let mut engine = fed(80, 24, &format!("\x1b]52;c;{base64}\x07"));
    assert_eq!(engine.take_events(), vec![Event::Clipboard(base64)]);
}

#[test]
fn titles_links_and_answers_are_bounded() {
    let long = "t".repeat(100_000);
    let mut engine = fed(
        80,
        24,
        &format!("\x1b]2;{long}\x07\x1b]8;;http://{long}\x07x"),
    );
    let events = engine.take_events();
    assert!(matches!(&events[..], [Event::Title(title)] if title.len() <= 256));
    assert_eq!(engine.line(0).0[0].link, None);
    engine.feed("\x1b[22t".repeat(100_000).as_bytes());
    engine.feed("\x1b[c".repeat(100_000).as_bytes());
    assert!(engine.take_replies().len() <= 64 << 10);
    for n in 0..10_000 {
        engine.feed(format!("\x1b]9;notice {n}\x07").as_bytes());
    }
    assert!(engine.take_events().len() <= 256);
}

#[test]
fn control_characters_never_reach_a_line() {
    let mut dice = Dice(7);
    let mut engine = engine(30, 10);
    let c1: String = ('\u{80}'..='\u{9f}').collect();
    engine.feed(c1.as_bytes());
    engine.feed(b"\0\x01\x05\x0b\x0c\x0e\t\x0f\x11\x1d\x7fx\x1b(0\x7f\x5f\t\x1b(B");
    for _ in 0..300 {
        let noise: Vec<u8> = (0..100)
            .map(|_| u8::try_from(dice.roll(256)).unwrap())
            .collect();
        engine.feed(&noise);
        let rows = (0..10)
            .map(|row| engine.line(row))
            .chain((0..engine.history_len()).map(|n| engine.history_line(n)));
        for line in rows {
            assert!(!line.text().contains(char::is_control), "{line:?}");
            assert!(line.cells() <= 30, "{line:?}");
        }
    }
}

/// An emoji and a resize took another program's server down, and every agent with it.
#[test]
fn a_family_survives_two_hundred_resizes() {
    let mut dice = Dice(11);
    let mut engine = engine(80, 24);
    for n in 0..200 {
        engine.feed(format!("{FAMILY}漢字{FAMILY} ❤\u{fe0f}🇩🇪e\u{301}\r\n{FAMILY}").as_bytes());
        let (cols, rows) = if n % 10 == 0 {
            (1, 1)
        } else {
            (1 + dice.roll(130), 1 + dice.roll(50))
        };
        engine.resize(Size {
            cols: u16::try_from(cols).unwrap(),
            rows: u16::try_from(rows).unwrap(),
        });
        assert!(
            engine.cursor().col < engine.size().cols && engine.cursor().row < engine.size().rows
        );
    }
    engine.resize(Size { cols: 80, rows: 24 });
    engine.feed(format!("\x1bc{FAMILY}").as_bytes());
    assert_eq!(engine.text()[0], FAMILY);
}

/// Everything at once, in every size; what counts is that it ends and that the engine still works.
#[test]
fn noise_and_resizes_leave_a_working_engine() {
    let mut dice = Dice(42);
    for round in 0..40 {
        let mut engine = engine(
            u16::try_from(1 + dice.roll(60)).unwrap(),
            u16::try_from(1 + dice.roll(20)).unwrap(),
        );
        for _ in 0..30 {
            let mut output: Vec<u8> = Vec::new();
            for _ in 0..40 {
                noise(&mut dice, &mut output);
            }
            engine.feed(&output);
            if dice.roll(4) == 0 {
                engine.resize(Size {
                    cols: u16::try_from(dice.roll(130)).unwrap(),
                    rows: u16::try_from(dice.roll(45)).unwrap(),
                });
            }
            if dice.roll(8) == 0 {
                let mut copy = Rio::new(engine.size(), 100);
                copy.feed(&engine.snapshot());
            }
        }
        engine.feed(b"\x18\x1bc");
        engine.feed(b"ok");
        assert_eq!(engine.text()[0], "ok", "round {round}");
    }
}

fn noise(dice: &mut Dice, output: &mut Vec<u8>) {
    match dice.roll(8) {
        0 => output.push(u8::try_from(dice.roll(256)).unwrap()),
        1 => output.extend(format!("漢e\u{301}{FAMILY}❤️\u{fe0f}\u{200d}🇩🇪").bytes()),
        2 | 3 => {
            output.extend(b"\x1b[");
            output.extend(dice.pick(&["", "", "?", ">", "=", "<", "!"]).bytes());
            for _ in 0..dice.roll(4) {
                let values = [
                    "0",
                    "1",
                    "2",
                    "5",
                    "11",
                    "47",
                    "1047",
                    "1048",
                    "1049",
                    "2026",
                    "2027",
                    "6",
                    "7",
                    "4",
                    "3",
                    "65535",
                    "4294967295",
                ];
                output.extend(dice.pick(&values).bytes());
                output.extend(dice.pick(&[";", ";", ";", ":"]).bytes());
            }
            output.extend(dice.pick(&["", "", "", " ", "$", "'"]).bytes());
            let finals = b"@ABCDEFGHIJKLMPSTXZ`abcdefghilmnpqrstu";
            output.push(finals[dice.roll(finals.len())]);
        }
        4 => output.extend(dice.pick(&["\r\n", "\t", "\x08", "\n"]).bytes()),
        5 => {
            let bodies = [
                "0;t",
                "8;;http://x",
                "8;;",
                "52;c;aGk=",
                "10;?",
                "4;1;?",
                "133;A",
                "7;file:///x",
                "7501;?",
                "9;4;1;50",
            ];
            output.extend(b"\x1b]");
            output.extend(dice.pick(&bodies).bytes());
            output.extend(dice.pick(&["\x07", "\x1b\\", "\x18"]).bytes());
        }
        6 => {
            let short = [
                "\x1b7",
                "\x1b8",
                "\x1bM",
                "\x1bD",
                "\x1bE",
                "\x1bH",
                "\x1bc",
                "\x1b#8",
                "\x1b(0",
                "\x0e",
                "\x0f",
                "\x1bP1$r",
                "\x1b_Ga=T;",
                "\x1b\\",
            ];
            output.extend(dice.pick(&short).bytes());
        }
        _ => output.extend(dice.letters(12).bytes()),
    }
}
