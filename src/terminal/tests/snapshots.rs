//! A snapshot fed to a fresh engine gives the same terminal, and it goes on in the same way.

use super::super::{Cursor, Modes};
use super::*;

#[derive(Debug, PartialEq)]
struct Everything {
    screen: Vec<Line>,
    history: Vec<Line>,
    cursor: Cursor,
    modes: Modes,
}

fn everything(engine: &Rio) -> Everything {
    Everything {
        screen: (0..engine.size().rows)
            .map(|row| engine.line(row))
            .collect(),
        history: (0..engine.history_len())
            .map(|n| engine.history_line(n))
            .collect(),
        cursor: engine.cursor(),
        modes: engine.modes(),
    }
}

fn copy_of(engine: &mut Rio) -> Rio {
    let mut copy = Rio::new(engine.size(), 100);
    copy.feed(&engine.snapshot());
    copy
}

#[test]
fn what_a_terminal_holds_is_in_its_snapshot() {
    for (what, output, more) in [
        ("nothing", "", "x"),
        ("text and history", "1\r\n2\r\n3\r\n4\r\n5\r\n6", "\x1b[3Jx"),
        (
            "styles",
            "\x1b[1;3;4:3;31;48;2;1;2;3;58;5;9mab\x1b[9;2mc\r\n\x1b[7m \x1b[0md",
            "e",
        ),
        ("the pen", "\x1b[31;1m", "red"),
        ("an open link", "\x1b]8;;http://a.b/\x07x", "y\x1b]8;;\x07z"),
        ("a wrapped line", "abcdefghijklmnop", "q"),
        ("the last column waits", "abcdefghij", "k"),
        ("it waits behind a wide character", "abcdefgh漢", "k"),
        ("it waits with a colour", "abcdefghi\x1b[41mj\x1b[42m", "k"),
        ("wide at the edge", "abcdefghi漢x", "y"),
        (
            "a coloured row that scrolled in",
            "1\r\n2\r\n3\r\n4\x1b[44m\r\nab",
            "c",
        ),
        (
            "a coloured wrap",
            "1\r\n2\r\n3\r\nabcdefghi\x1b[44mjkl\x1b[0m",
            "c",
        ),
        (
            "emoji and marks",
            "👩\u{200d}👩\u{200d}👧e\u{301}❤\u{fe0f}🇩🇪漢",
            "x",
        ),
        (
            "an emoji that could not widen",
            "\x1b[?7l\x1b[1;10H❤\u{fe0f}",
            "x",
        ),
        ("neighbours that would join", "  🇪\r🇩", "x"),
        (
            "the alternate screen",
            "main\r\n\x1b[31mred\x1b[?1049h\x1b[2;3Halt",
            "x\x1b[?1049ly",
        ),
        (
            "a coloured main screen below",
            "\x1b[44mmain\x1b[?1049h\x1b[0m",
            "x\x1b[?1049ly",
        ),
        (
            "keyboard flags of both screens",
            "\x1b[>5u\x1b[?1049h\x1b[>7u",
            "\x1b[?1049l",
        ),
        (
            "a scroll region",
            "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H",
            "\nx\n",
        ),
        ("origin mode", "\x1b[2;3r\x1b[?6h\x1b[2;2H", "x\x1b[1;1Hy"),
        (
            "a saved cursor",
            "ab\x1b[31m\x1b7\x1b[0m\x1b[3;3Hcd",
            "\x1b8e",
        ),
        ("line drawing", "\x1b(0q", "q\x1b(Bq"),
        ("the second character set", "\x1b)0\x0eq", "q\x0fq"),
        ("insert mode", "abc\x1b[1;1H\x1b[4h", "x"),
        ("no wrapping", "\x1b[?7labcdefghijkl", "mn"),
        (
            "modes",
            "\x1b[?1h\x1b=\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2004h\x1b[?1007l\x1b[?25l\x1b[>4;2m\x1b[3 q",
            "",
        ),
    ] {
        let mut engine = fed(10, 4, output);
        let mut copy = copy_of(&mut engine);
        assert_eq!(everything(&copy), everything(&engine), "{what}");
        assert_eq!(copy.take_replies(), b"", "{what}");
        for more in [more, "\x1b[3;1Hz"] {
            engine.feed(more.as_bytes());
            copy.feed(more.as_bytes());
            assert_eq!(
                everything(&copy),
                everything(&engine),
                "{what}, then {more:?}"
            );
        }
        for cols in [7, 13] {
            let size = Size { cols, rows: 4 };
            engine.resize(size);
            copy.resize(size);
            assert_eq!(
                all_rows(&copy),
                all_rows(&engine),
                "{what}, in {cols} columns"
            );
        }
    }
}

#[test]
fn a_snapshot_changes_nothing_and_keeps_the_title() {
    let mut engine = fed(10, 4, "main\x1b]2;a title\x07\x1b[?1049halt");
    let (before, revision) = (everything(&engine), engine.revision());
    engine.take_events();
    let mut copy = copy_of(&mut engine);
    assert_eq!(copy.take_events(), engine_title("a title"));
    assert_eq!((everything(&engine), engine.revision()), (before, revision));
    assert_eq!(engine.take_events(), vec![]);
    engine.feed(b"\x1b[?1049l");
    assert_eq!(engine.text()[0], "main");
}

fn engine_title(title: &str) -> Vec<super::super::Event> {
    vec![super::super::Event::Title(title.to_owned())]
}

#[test]
fn random_terminals_come_back_and_go_on_alike() {
    let mut dice = Dice(99);
    for round in 0..200 {
        let (cols, rows) = (4 + dice.roll(30), 2 + dice.roll(10));
        let mut engine = engine(u16::try_from(cols).unwrap(), u16::try_from(rows).unwrap());
        let mut log = String::new();
        for _ in 0..dice.roll(60) {
            let output = scribble(&mut dice, cols, rows);
            log += &output;
            engine.feed(output.as_bytes());
        }
        let mut copy = copy_of(&mut engine);
        assert_eq!(
            everything(&copy),
            everything(&engine),
            "round {round}, {cols}x{rows}: {log:?}"
        );
        for _ in 0..20 {
            let output = scribble(&mut dice, cols, rows);
            if output == "\x1b[2J" {
                // How many blank rows this moves into the history hangs on colours that do not show.
                continue;
            }
            engine.feed(output.as_bytes());
            copy.feed(output.as_bytes());
            assert_eq!(
                everything(&copy),
                everything(&engine),
                "round {round}, {cols}x{rows}: {log:?}, then {output:?}"
            );
            log += &output;
        }
    }
}

/// One thing that a program might write. Without tab stops, which a snapshot does not hold, and without insert mode,
/// in which the engine tears wide characters apart.
pub(super) fn scribble(dice: &mut Dice, cols: usize, rows: usize) -> String {
    match dice.roll(24) {
        0..=5 => dice.letters(20),
        6 => "漢字仮".to_owned(),
        7 => dice
            .pick(&[
                "e\u{301}",
                "👩\u{200d}👧",
                "❤\u{fe0f}",
                "🇩🇪",
                "🇩",
                "é",
                "한",
            ])
            .to_owned(),
        8..=10 => "\r\n".to_owned(),
        11 | 12 => format!("\x1b[{};{}H", 1 + dice.roll(rows), 1 + dice.roll(cols)),
        13 => format!("\x1b[{}{}", dice.roll(3), dice.pick(&["J", "K"])),
        14 => format!(
            "\x1b[{}{}",
            1 + dice.roll(4),
            dice.pick(&["L", "M", "@", "P", "X", "S", "T", "A", "B", "C", "D"])
        ),
        15 => format!("\x1b[{};{}r", 1 + dice.roll(rows), 1 + dice.roll(rows)),
        16 => "\x1b[r".to_owned(),
        17 => dice
            .pick(&["\x1bM", "\x1bD", "\x1bE", "\x1b7", "\x1b8"])
            .to_owned(),
        18 => dice.pick(&["\x1b[?1049h", "\x1b[?1049l"]).to_owned(),
        19 => dice
            .pick(&["\x1b[?7h", "\x1b[?7l", "\x1b[?6h", "\x1b[?6l"])
            .to_owned(),
        20 => dice
            .pick(&[
                "\x1b[?25l",
                "\x1b[?25h",
                "\x1b[?2004h",
                "\x1b[>1u",
                "\x1b[<u",
                "\x1b[?1002h",
                "\x1b[5 q",
            ])
            .to_owned(),
        21 => dice
            .pick(&["\x1b]8;;http://a/\x07", "\x1b]8;;\x07", "\x1b(0", "\x1b(B"])
            .to_owned(),
        _ => format!(
            "\x1b[{}m",
            dice.pick(&["0", "31", "44", "1;7", "38;2;1;2;3", "48;5;200", "4:3", "0"])
        ),
    }
}
