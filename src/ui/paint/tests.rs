//! The painter against a terminal of somebody else's making.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::cell::Cell as Shown;
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::{Processor, StdSyncHandler};
use proptest::prelude::*;
use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::Rect;

use super::{Outer, Painter, Pane};
use crate::terminal::{
    Attrs, Color, Cursor, CursorShape, Line, Run, Size, Style, Underline, Width,
};

const SIZE: Size = Size { cols: 24, rows: 5 };
const AREA: Rect = Rect::new(5, 0, 19, 4);

struct Glass;

impl Dimensions for Glass {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        usize::from(SIZE.rows)
    }

    fn columns(&self) -> usize {
        usize::from(SIZE.cols)
    }
}

struct Screen {
    term: Term<VoidListener>,
    parser: Processor<StdSyncHandler>,
}

impl Screen {
    fn new() -> Self {
        Self {
            term: Term::new(Config::default(), &Glass, VoidListener),
            parser: Processor::new(),
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.term, bytes);
    }

    fn cells(&self) -> Vec<Shown> {
        let cells = self.term.grid().display_iter();
        cells.map(|cell| cell.cell.clone()).collect()
    }

    fn text(&self, row: usize) -> String {
        let cells = self.cells();
        let row = &cells[row * Glass.columns()..(row + 1) * Glass.columns()];
        row.iter().map(|cell| cell.c).collect()
    }
}

/// Tabs at the left, a line of hints, the pane left open.
fn chrome(hints: &str) -> Buffer {
    let mut chrome = Buffer::empty(Rect::new(0, 0, SIZE.cols, SIZE.rows));
    for y in AREA.top()..AREA.bottom() {
        for x in AREA.left()..AREA.right() {
            chrome[(x, y)].set_diff_option(CellDiffOption::Skip);
        }
        chrome.set_string(0, y, "tab │", ratatui::style::Style::new());
    }
    chrome.set_string(0, SIZE.rows - 1, hints, ratatui::style::Style::new());
    chrome
}

fn pane(lines: &[Line]) -> Pane<'_> {
    Pane { area: AREA, lines }
}

const STILL: Outer = Outer {
    cursor: Cursor {
        col: 7,
        row: 1,
        visible: true,
        shape: CursorShape::Bar,
        blinking: false,
    },
    motion: false,
};

fn plain(text: &str) -> Line {
    Line(vec![run(text, Width::Narrow, Style::default(), None)])
}

fn run(text: &str, width: Width, style: Style, link: Option<&str>) -> Run {
    Run {
        text: text.into(),
        style,
        width,
        link: link.map(str::to_owned),
    }
}

#[test]
fn one_changed_letter_is_one_short_write() {
    let mut painter = Painter::new(SIZE);
    let mut lines = vec![plain("ab"), plain("cd")];
    painter.whole(&chrome("hint"), pane(&lines), STILL);
    assert_eq!(painter.rows(pane(&lines), &[0, 1], STILL), b"");
    lines[1] = plain("cx");
    let bytes = painter.rows(pane(&lines), &[1], STILL);
    assert_eq!(
        String::from_utf8_lossy(bytes),
        "\u{1b}[?2026h\u{1b}[2;7Hx\u{1b}[2;8H\u{1b}[?2026l"
    );
}

#[test]
fn a_whole_frame_and_rows_of_it_show_the_same() {
    let mut painter = Painter::new(SIZE);
    let mut screen = Screen::new();
    let lines = vec![
        plain("one"),
        plain("two"),
        plain("three is cut at the edge"),
    ];
    screen.take(painter.whole(&chrome("all hints"), pane(&lines), STILL));
    assert_eq!(screen.text(0), "tab │one                ");
    assert_eq!(screen.text(2), "tab │three is cut at the");
    assert_eq!(screen.text(4), "all hints               ");
    let cursor = screen.term.grid().cursor.point;
    assert_eq!((cursor.column.0, cursor.line.0), (7, 1));
}

#[test]
fn a_cluster_moves_nothing_whatever_the_terminal_thinks_of_its_width() {
    let mut painter = Painter::new(SIZE);
    let mut screen = Screen::new();
    screen.take(painter.whole(&chrome(""), pane(&[plain("xxxxxxxxxx")]), STILL));
    let style = Style::default();
    let lines = [Line(vec![
        run("❤\u{fe0f}", Width::Cluster(2), style, None),
        run("👩‍👩‍👧‍👦", Width::Cluster(2), style, None),
        run("e\u{301}", Width::Cluster(1), style, None),
        run("|end", Width::Narrow, style, None),
    ])];
    screen.take(painter.rows(pane(&lines), &[0], STILL));
    // The family may have been drawn wider than two cells; what stands behind it stands where it should.
    assert_eq!(
        &screen.text(0).chars().rev().collect::<String>()[..14],
        "          dne|"
    );
}

#[test]
fn styles_reach_the_terminal_whole() {
    let curly = Style {
        fg: Color::Rgb(1, 2, 3),
        bg: Color::Indexed(9),
        underline: Underline::Curly,
        underline_color: Color::Indexed(160),
        attrs: Attrs::BOLD.with(Attrs::STRIKE),
    };
    let link = Some("https://example.org");
    let lines = [Line(vec![run("abc", Width::Narrow, curly, link)])];
    let mut painter = Painter::new(SIZE);
    painter.whole(&chrome(""), pane(&[]), STILL);
    let bytes = painter.rows(pane(&lines), &[0], STILL);
    insta::assert_snapshot!(String::from_utf8_lossy(bytes).replace('\u{1b}', "␛"));
}

#[test]
fn the_cursor_and_the_mouse_are_told_once() {
    let mut painter = Painter::new(SIZE);
    painter.whole(&chrome(""), pane(&[]), STILL);
    let moved = Outer {
        cursor: Cursor {
            visible: false,
            ..STILL.cursor
        },
        motion: true,
    };
    let mut screen = Screen::new();
    screen.take(painter.rows(pane(&[]), &[], moved));
    let mode = screen.term.mode();
    assert!(!mode.contains(TermMode::SHOW_CURSOR) && mode.contains(TermMode::MOUSE_MOTION));
    assert_eq!(painter.rows(pane(&[]), &[], moved), b"");
    screen.take(painter.rows(pane(&[]), &[], STILL));
    let mode = screen.term.mode();
    assert!(mode.contains(TermMode::SHOW_CURSOR) && !mode.contains(TermMode::MOUSE_MOTION));
}

fn any_run() -> impl Strategy<Value = Run> {
    let text = prop_oneof![
        "[ -~]{1,8}".prop_map(|text| (text, Width::Narrow)),
        " {8,20}".prop_map(|text| (text, Width::Narrow)),
        "[│─●é]{1,4}".prop_map(|text| (text, Width::Narrow)),
        "[日本語]{1,4}".prop_map(|text| (text, Width::Wide)),
        Just(("e\u{301}".into(), Width::Cluster(1))),
        Just(("❤\u{fe0f}".into(), Width::Cluster(2))),
        Just(("🇩🇪".into(), Width::Cluster(2))),
    ];
    let style = (0..3u8, 0..2u8, 0..3usize).prop_map(|(fg, bg, underline)| Style {
        fg: Color::Indexed(fg),
        bg: [Color::Default, Color::Rgb(9, 9, 9)][usize::from(bg)],
        underline: [Underline::None, Underline::Curly, Underline::Single][underline],
        ..Style::default()
    });
    let link = prop_oneof![3 => Just(None), 1 => Just(Some("https://example.org".to_owned()))];
    (text, style, link).prop_map(|((text, width), style, link)| Run {
        text,
        style,
        width,
        link,
    })
}

fn any_lines() -> impl Strategy<Value = Vec<Line>> {
    let line = prop::collection::vec(any_run(), 0..5).prop_map(Line);
    prop::collection::vec(line, 0..=usize::from(AREA.height))
}

proptest! {
    /// Painting differences, rows only or all, ends in what painting the last state alone shows.
    #[test]
    fn differences_add_up(frames in prop::collection::vec((any_lines(), any::<bool>()), 1..6)) {
        let mut painter = Painter::new(SIZE);
        let mut screen = Screen::new();
        screen.take(painter.whole(&chrome("start"), pane(&[]), STILL));
        let mut last = (Vec::new(), "start".to_owned());
        for (number, (lines, whole)) in frames.into_iter().enumerate() {
            if whole {
                let hints = format!("hints 日本 {number}");
                screen.take(painter.whole(&chrome(&hints), pane(&lines), STILL));
                last = (lines, hints);
            } else {
                let rows: Vec<u16> = (0..AREA.height).collect();
                screen.take(painter.rows(pane(&lines), &rows, STILL));
                last.0 = lines;
            }
        }
        let mut alone = Screen::new();
        let mut fresh = Painter::new(SIZE);
        alone.take(fresh.whole(&chrome(&last.1), pane(&last.0), STILL));
        let links = |cells: Vec<Shown>| {
            // Ids of links count up in each painter.
            let cells = cells.into_iter().map(|mut cell| {
                let link = cell.hyperlink().map(|link| link.uri().to_owned());
                cell.set_hyperlink(None);
                (cell, link)
            });
            cells.collect::<Vec<_>>()
        };
        prop_assert_eq!(links(screen.cells()), links(alone.cells()));
    }
}
