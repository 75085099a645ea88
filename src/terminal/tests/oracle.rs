//! The same output through a second engine, `alacritty_terminal`, must give the same screen.
//!
//! Left out is what the two are known to see differently: erased halves of wide characters, the history that ED 2
//! makes, insert mode.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line as Row};
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::Processor;

use super::*;

struct Oracle {
    term: Term<VoidListener>,
    parser: Processor,
}

struct Cells(Size);

impl Dimensions for Cells {
    fn total_lines(&self) -> usize {
        usize::from(self.0.rows)
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.0.rows)
    }

    fn columns(&self) -> usize {
        usize::from(self.0.cols)
    }
}

impl Oracle {
    fn new(size: Size) -> Self {
        let config = Config {
            scrolling_history: 100,
            kitty_keyboard: true,
            ..Config::default()
        };
        Oracle {
            term: Term::new(config, &Cells(size), VoidListener),
            parser: Processor::new(),
        }
    }

    fn all_rows(&self) -> Vec<String> {
        let grid = self.term.grid();
        let history = i32::try_from(grid.history_size()).unwrap();
        let screen = i32::try_from(grid.screen_lines()).unwrap();
        let row = |n| {
            let cells = (0..grid.columns()).map(|col| grid[Row(n)][Column(col)].c);
            let text: String = cells.map(|c| if c == '\t' { ' ' } else { c }).collect();
            text.trim_end().to_owned()
        };
        let mut rows: Vec<String> = (-history..screen).map(row).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    fn state(&self) -> (Vec<String>, (usize, i32), Vec<bool>) {
        let point = self.term.grid().cursor.point;
        let mode = self.term.mode();
        let modes = [
            TermMode::ALT_SCREEN,
            TermMode::APP_CURSOR,
            TermMode::BRACKETED_PASTE,
            TermMode::SHOW_CURSOR,
        ];
        (
            self.all_rows(),
            (point.column.0, point.line.0),
            modes.iter().map(|flag| mode.contains(*flag)).collect(),
        )
    }
}

fn state(engine: &Rio) -> (Vec<String>, (usize, i32), Vec<bool>) {
    let (cursor, modes) = (engine.cursor(), engine.modes());
    (
        all_rows(engine),
        (usize::from(cursor.col), i32::from(cursor.row)),
        vec![
            modes.alternate_screen,
            modes.application_cursor,
            modes.bracketed_paste,
            cursor.visible,
        ],
    )
}

#[test]
fn two_engines_agree() {
    let mut dice = Dice(2026);
    for round in 0..200 {
        let (cols, rows) = (10 + dice.roll(70), 3 + dice.roll(22));
        let size = Size {
            cols: u16::try_from(cols).unwrap(),
            rows: u16::try_from(rows).unwrap(),
        };
        let mut engine = engine(size.cols, size.rows);
        let mut oracle = Oracle::new(size);
        let mut log = Vec::new();
        for _ in 0..60 {
            let output = common(&mut dice, cols, rows);
            engine.feed(output.as_bytes());
            oracle.parser.advance(&mut oracle.term, output.as_bytes());
            log.push(output);
            assert_eq!(
                state(&engine),
                oracle.state(),
                "round {round}, {cols}x{rows}: {log:?}"
            );
        }
    }
}

/// Output that both engines understand alike.
fn common(dice: &mut Dice, cols: usize, rows: usize) -> String {
    match dice.roll(20) {
        0..=6 => dice.letters(30),
        7..=9 => "\r\n".to_owned(),
        10 => format!("\x1b[{};{}H", 1 + dice.roll(rows + 1), dice.roll(cols + 3)),
        11 => format!(
            "\x1b[{}{}",
            dice.roll(6),
            dice.pick(&["A", "B", "C", "D", "E", "F"])
        ),
        12 | 13 => format!(
            "\x1b[{}{}",
            1 + dice.roll(4),
            dice.pick(&["L", "M", "@", "P", "X", "S", "T", "G"])
        ),
        14 => {
            let top = 1 + dice.roll(rows - 1);
            format!("\x1b[{};{}r", top, top + 1 + dice.roll(rows - top))
        }
        15 => dice.pick(&["\x1b[r", "\x1bM", "\x1bD", "\x1bE"]).to_owned(),
        16 => dice.pick(&["\x1b7", "\x1b8", "\t", "\x08"]).to_owned(),
        17 => dice.pick(&["\x1b[?1049h", "\x1b[?1049l"]).to_owned(),
        18 => dice
            .pick(&[
                "\x1b[?7h",
                "\x1b[?7l",
                "\x1b[?25l",
                "\x1b[?25h",
                "\x1b[?1h",
                "\x1b[?2004h",
            ])
            .to_owned(),
        _ => format!("\x1b[3{}m", dice.roll(8)),
    }
}
