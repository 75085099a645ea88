//! What several painters see of one engine.

use super::super::{Picture, Reader};
use super::*;

fn rows(picture: &Picture) -> Vec<(u16, String)> {
    picture
        .rows
        .iter()
        .map(|(row, line)| (*row, line.text()))
        .collect()
}

fn row(n: u16, text: &str) -> (u16, String) {
    (n, text.to_owned())
}

#[test]
fn rows_carry_the_revision_that_changed_them() {
    let mut engine = fed(20, 4, "a\r\nb\r\nc");
    let before = engine.revision();
    assert_eq!(engine.changed_since(0), [0, 1, 2, 3]);
    assert_eq!(engine.changed_since(before), Vec::<u16>::new());
    engine.feed(b"\x1b[?7l");
    assert_eq!(engine.revision(), before, "nothing that shows");
    for (output, changed) in [
        ("\x1b[2;1HB", &[1][..]),
        ("\x1b[1;1H", &[]),
        ("\x1b[?25l", &[]),
        ("\x1b[4;1Hx\x1b[2;1Hy", &[1, 3]),
        ("\x1b[4;1H\n", &[0, 1, 2, 3]),
        ("\x1b[?1049h", &[0, 1, 2, 3]),
        ("\x1b[2;3r\x1b[3;1H\n", &[1, 2]),
    ] {
        let before = engine.revision();
        engine.feed(output.as_bytes());
        assert!(engine.revision() > before, "{output:?}");
        assert_eq!(engine.changed_since(before), changed, "{output:?}");
    }
    let before = engine.revision();
    engine.resize(Size { cols: 21, rows: 5 });
    assert_eq!(engine.changed_since(before), [0, 1, 2, 3, 4]);
}

#[test]
fn each_reader_gets_what_it_has_not_seen() {
    let mut engine = fed(20, 4, "a\r\nb");
    let (mut early, mut late) = (Reader::default(), Reader::default());
    let first = early.read(&mut engine, false).unwrap();
    assert!(first.whole);
    assert_eq!(
        rows(&first),
        [row(0, "a"), row(1, "b")],
        "blank rows go without saying"
    );
    assert_eq!(early.read(&mut engine, false), None);

    engine.feed(b"c\r\nd");
    let next = early.read(&mut engine, false).unwrap();
    assert!(!next.whole);
    assert_eq!(rows(&next), [row(1, "bc"), row(2, "d")]);
    engine.feed(b"\x1b[1;1H\x1b[K");
    assert_eq!(rows(&early.read(&mut engine, false).unwrap()), [row(0, "")]);
    assert_eq!(
        rows(&late.read(&mut engine, false).unwrap()),
        [row(1, "bc"), row(2, "d")]
    );

    engine.feed(b"\x1b[2;1Hbc");
    let moved = early.read(&mut engine, false).unwrap();
    assert_eq!(
        (rows(&moved), moved.cursor.col),
        (vec![], 2),
        "the same text again is no news"
    );

    engine.resize(Size { cols: 30, rows: 4 });
    assert!(early.read(&mut engine, false).unwrap().whole);
}

#[test]
fn no_reader_sees_half_a_frame() {
    let mut engine = fed(20, 2, "old");
    let mut reader = Reader::default();
    assert!(reader.read(&mut engine, false).is_some());

    engine.feed(b"\x1b[?2026h\x1b[Hhalf");
    assert!(engine.synchronized());
    assert_eq!(reader.read(&mut engine, false), None);
    // The frame ends and the next begins within one feed; the complete one between them is kept.
    engine.feed(b"\x1b[Hwhole\x1b[?2026l\x1b[?2026h\x1b[Hnext-half");
    assert_eq!(
        rows(&reader.read(&mut engine, false).unwrap()),
        [row(0, "whole")]
    );
    assert_eq!(reader.read(&mut engine, false), None);

    // Another reader, that did not ask in time, gets the same complete frame.
    let mut other = Reader::default();
    assert_eq!(
        rows(&other.read(&mut engine, false).unwrap()),
        [row(0, "whole")]
    );

    // A program that never ends its frame is shown after a while.
    assert_eq!(
        rows(&reader.read(&mut engine, true).unwrap()),
        [row(0, "next-half")]
    );
    engine.feed(b"\x1b[?2026l");
    assert_eq!(reader.read(&mut engine, false), None);
    engine.feed(b"\x1b[Hafter----");
    assert_eq!(
        rows(&reader.read(&mut engine, false).unwrap()),
        [row(0, "after----")]
    );
}

/// Whatever is drawn from pictures alone must be what the engine shows.
#[test]
fn pictures_add_up_to_the_screen() {
    let mut dice = Dice(5);
    let mut engine = engine(30, 8);
    let mut reader = Reader::default();
    let mut screen: Vec<Line> = Vec::new();
    for _ in 0..400 {
        for _ in 0..dice.roll(4) {
            let output = snapshots::scribble(&mut dice, 30, 8);
            engine.feed(output.as_bytes());
        }
        if dice.roll(40) == 0 {
            let (cols, rows) = (10 + dice.roll(30), 2 + dice.roll(10));
            engine.resize(Size {
                cols: u16::try_from(cols).unwrap(),
                rows: u16::try_from(rows).unwrap(),
            });
        }
        if let Some(picture) = reader.read(&mut engine, true) {
            if picture.whole {
                screen = vec![Line::default(); usize::from(picture.size.rows)];
            }
            for (row, line) in picture.rows {
                screen[usize::from(row)] = line;
            }
            assert_eq!(picture.cursor, engine.cursor());
        }
        let shown: Vec<Line> = (0..engine.size().rows)
            .map(|row| engine.line(row))
            .collect();
        assert_eq!(screen, shown);
    }
}
