//! The engine as a whole: what programs rely on, what hostile output may cost, and a second opinion.

mod behaviour;
mod hostile;
mod oracle;
mod painting;
mod snapshots;

use super::{Engine, Line, Rio, Size};

fn engine(cols: u16, rows: u16) -> Rio {
    Rio::new(Size { cols, rows }, 100)
}

/// An engine that was fed this.
fn fed(cols: u16, rows: u16, output: &str) -> Rio {
    let mut engine = engine(cols, rows);
    engine.feed(output.as_bytes());
    engine
}

/// The bytes that the program gets back for this output.
fn replies(engine: &mut Rio, output: &str) -> String {
    engine.feed(output.as_bytes());
    String::from_utf8(engine.take_replies()).unwrap()
}

/// History and screen from the top, without the blank rows at the end.
fn all_rows(engine: &dyn Engine) -> Vec<String> {
    let history = (0..engine.history_len()).map(|n| trimmed(&engine.history_line(n)));
    let mut rows: Vec<String> = history.chain(engine.text()).collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

fn trimmed(line: &Line) -> String {
    line.text().trim_end().to_owned()
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.roll(choices.len())]
    }

    fn letters(&mut self, most: usize) -> String {
        let count = 1 + self.roll(most);
        (0..count)
            .map(|_| char::from(b'a' + u8::try_from(self.roll(26)).unwrap()))
            .collect()
    }
}
