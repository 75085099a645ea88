//! Lines of a program and chrome of ours as cells, with aside what does not fit into one.

use std::collections::HashMap;
use std::hash::Hash;

use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::style::{Color as ChromeColor, Modifier};
use unicode_width::UnicodeWidthStr;

use super::cell::{CLUSTER, Cell, Look, SPACER, WIDE};
use crate::terminal::{Attrs, Color, Line, Style, Underline, Width};

/// Underline colour and hyperlink, rare enough to stand aside.
pub(super) type Extra = (Color, Option<String>);

/// What does not fit into 16 bytes.
#[derive(Debug)]
pub(super) struct Tables {
    clusters: Interned<String>,
    extras: Interned<Extra>,
}

impl Tables {
    /// More entries than this are old ones that no cell shows any more.
    const ENOUGH: usize = 4096;

    pub(super) fn new() -> Self {
        let mut extras = Interned::new();
        extras.index((Color::Default, None));
        Self {
            clusters: Interned::new(),
            extras,
        }
    }

    /// True when it is time to begin with new tables and to draw everything again.
    pub(super) fn full(&self) -> bool {
        self.clusters.values.len().max(self.extras.values.len()) > Self::ENOUGH
    }

    pub(super) fn cluster(&self, index: usize) -> &str {
        self.clusters.values.get(index).map_or(" ", String::as_str)
    }

    pub(super) fn extra(&self, look: Look) -> Option<&Extra> {
        self.extras.values.get(look.extra())
    }

    fn look(&mut self, style: Style, link: Option<&str>) -> Look {
        let color = match style.underline {
            Underline::None => Color::Default,
            Underline::Single
            | Underline::Double
            | Underline::Curly
            | Underline::Dotted
            | Underline::Dashed => style.underline_color,
        };
        let extra = match link.and_then(safe_link) {
            None if color == Color::Default => 0,
            link => u16::try_from(self.extras.index((color, link))).unwrap_or(0),
        };
        Look::new(style.attrs, style.underline, extra)
    }

    fn glyph(&mut self, text: &str, wide: bool) -> u32 {
        let mut chars = text.chars();
        let value = match (chars.next(), chars.next()) {
            (None, _) => u32::from(' '),
            (Some(one), None) if one.is_control() => u32::from(' '),
            (Some(one), None) => u32::from(one),
            (Some(_), Some(_)) if text.contains(char::is_control) => u32::from(' '),
            (Some(_), Some(_)) => {
                CLUSTER | u32::try_from(self.clusters.index(text.to_owned())).unwrap_or(0)
            }
        };
        value | if wide { WIDE } else { 0 }
    }

    /// Fills `row` with a program's line; what the line leaves open is blank, what does not fit is cut.
    pub(super) fn fill(&mut self, row: &mut [Cell], line: &Line) {
        let mut at = 0;
        for run in &line.0 {
            let style = Cell {
                glyph: ' ' as u32,
                fg: run.style.fg.into(),
                bg: run.style.bg.into(),
                look: self.look(run.style, run.link.as_deref()),
            };
            match run.width {
                Width::Narrow | Width::Wide => {
                    let wide = run.width == Width::Wide;
                    for char in run.text.chars() {
                        let mut bytes = [0; 4];
                        let glyph = match char {
                            ' '..='~' => u32::from(char),
                            _ => self.glyph(char.encode_utf8(&mut bytes), wide),
                        };
                        at = put(row, at, glyph, if wide { 2 } else { 1 }, style);
                    }
                }
                Width::Cluster(cells) => {
                    let glyph = self.glyph(&run.text, cells > 1);
                    at = put(row, at, glyph, usize::from(cells.max(1)), style);
                }
            }
            if at >= row.len() {
                return;
            }
        }
        row[at..].fill(Cell::BLANK);
    }

    /// Puts the drawn cells of a chrome row over `row`; those that were skipped keep what is there.
    pub(super) fn cover(&mut self, row: &mut [Cell], chrome: &Buffer, y: u16) {
        let width = usize::from(chrome.area.width);
        let start = usize::from(y) * width;
        let mut covered = 0;
        for (x, cell) in chrome.content[start..start + width].iter().enumerate() {
            if covered > 0 {
                covered -= 1;
                continue;
            }
            if cell.diff_option == CellDiffOption::Skip {
                continue;
            }
            let (attrs, underline) = modifiers(cell.modifier);
            let style = Style {
                underline,
                attrs,
                ..Style::default()
            };
            let style = Cell {
                glyph: ' ' as u32,
                fg: chrome_color(cell.fg).into(),
                bg: chrome_color(cell.bg).into(),
                look: self.look(style, None),
            };
            let symbol = cell.symbol();
            let cells = if symbol.len() == 1 { 1 } else { symbol.width() }.max(1);
            let glyph = self.glyph(symbol, cells > 1);
            put(row, x, glyph, cells, style);
            covered = cells - 1;
        }
        mend(row);
    }
}

/// Puts one glyph of `cells` cells; a wide one that does not fit becomes a blank. Says where the next one goes.
fn put(row: &mut [Cell], at: usize, glyph: u32, cells: usize, style: Cell) -> usize {
    let end = at + cells;
    let fits = end <= row.len();
    for (offset, cell) in row.iter_mut().skip(at).take(cells).enumerate() {
        cell.glyph = match offset {
            _ if !fits => u32::from(' '),
            0 => glyph,
            1 if glyph & WIDE != 0 => SPACER,
            _ => u32::from(' '),
        };
        (cell.fg, cell.bg, cell.look) = style.pen();
    }
    end.min(row.len())
}

/// Blanks the halves of wide glyphs whose other half was drawn over.
fn mend(row: &mut [Cell]) {
    for x in 0..row.len() {
        let led = x > 0 && row[x - 1].wide();
        let followed = row.get(x + 1).is_some_and(|next| next.glyph == SPACER);
        if (row[x].glyph == SPACER && !led) || (row[x].wide() && !followed) {
            row[x] = row[x].blanked();
        }
    }
}

/// A link that may go to a terminal: printable ASCII of a length that terminals keep.
fn safe_link(link: &str) -> Option<String> {
    let printable = link.bytes().all(|byte| (b'!'..=b'~').contains(&byte));
    (printable && !link.is_empty() && link.len() <= 2000).then(|| link.to_owned())
}

fn modifiers(modifier: Modifier) -> (Attrs, Underline) {
    let mut attrs = Attrs::default();
    for (flag, attr) in [
        (Modifier::BOLD, Attrs::BOLD),
        (Modifier::DIM, Attrs::DIM),
        (Modifier::ITALIC, Attrs::ITALIC),
        (Modifier::REVERSED, Attrs::REVERSE),
        (Modifier::HIDDEN, Attrs::HIDDEN),
        (Modifier::CROSSED_OUT, Attrs::STRIKE),
    ] {
        if modifier.contains(flag) {
            attrs = attrs.with(attr);
        }
    }
    let underline = if modifier.contains(Modifier::UNDERLINED) {
        Underline::Single
    } else {
        Underline::None
    };
    (attrs, underline)
}

fn chrome_color(color: ChromeColor) -> Color {
    match color {
        ChromeColor::Reset => Color::Default,
        ChromeColor::Black => Color::Indexed(0),
        ChromeColor::Red => Color::Indexed(1),
        ChromeColor::Green => Color::Indexed(2),
        ChromeColor::Yellow => Color::Indexed(3),
        ChromeColor::Blue => Color::Indexed(4),
        ChromeColor::Magenta => Color::Indexed(5),
        ChromeColor::Cyan => Color::Indexed(6),
        ChromeColor::Gray => Color::Indexed(7),
        ChromeColor::DarkGray => Color::Indexed(8),
        ChromeColor::LightRed => Color::Indexed(9),
        ChromeColor::LightGreen => Color::Indexed(10),
        ChromeColor::LightYellow => Color::Indexed(11),
        ChromeColor::LightBlue => Color::Indexed(12),
        ChromeColor::LightMagenta => Color::Indexed(13),
        ChromeColor::LightCyan => Color::Indexed(14),
        ChromeColor::White => Color::Indexed(15),
        ChromeColor::Indexed(index) => Color::Indexed(index),
        ChromeColor::Rgb(r, g, b) => Color::Rgb(r, g, b),
    }
}

/// Values with a number each, the same value always with the same.
#[derive(Debug)]
struct Interned<T> {
    values: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T: Clone + Eq + Hash> Interned<T> {
    fn new() -> Self {
        Self {
            values: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    fn index(&mut self, value: T) -> usize {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let number = self.values.len();
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;
    use crate::terminal::Run;

    fn run(text: &str, width: Width) -> Run {
        Run {
            text: text.into(),
            style: Style::default(),
            width,
            link: None,
        }
    }

    /// `<` for a spacer, so that cells can be counted.
    fn text(tables: &Tables, row: &[Cell]) -> String {
        let mut text = String::new();
        for cell in row {
            match cell.cluster() {
                Some(index) => text.push_str(tables.cluster(index)),
                None if cell.glyph == SPACER => text.push('<'),
                None => text.push(cell.char()),
            }
        }
        text
    }

    #[test]
    fn the_runs_decide_how_many_cells_their_text_takes() {
        for (runs, shown) in [
            (vec![run("ab", Width::Narrow)], "ab    "),
            (
                vec![run("日本", Width::Wide), run("x", Width::Narrow)],
                "日<本<x ",
            ),
            (
                vec![run("❤\u{fe0f}", Width::Cluster(2)), run("x", Width::Narrow)],
                "❤\u{fe0f}<x   ",
            ),
            (
                vec![run("e\u{301}", Width::Cluster(1)), run("x", Width::Narrow)],
                "e\u{301}x    ",
            ),
            (
                vec![run("abcde", Width::Narrow), run("日", Width::Wide)],
                "abcde ",
            ),
            (vec![run("abcdefgh", Width::Narrow)], "abcdef"),
            (vec![run("a\tb\u{9b}", Width::Narrow)], "a b   "),
        ] {
            let mut tables = Tables::new();
            let mut row = [Cell::UNKNOWN; 6];
            tables.fill(&mut row, &Line(runs.clone()));
            assert_eq!(text(&tables, &row), shown, "{runs:?}");
        }
    }

    #[test]
    fn chrome_over_half_a_wide_glyph_blanks_the_other_half() {
        for (x, shown) in [(0, "# 本<"), (1, " #本<"), (2, "日<# "), (3, "日< #")] {
            let mut tables = Tables::new();
            let mut row = [Cell::UNKNOWN; 4];
            tables.fill(&mut row, &Line(vec![run("日本", Width::Wide)]));
            let mut chrome = Buffer::empty(Rect::new(0, 0, 4, 1));
            for cell in &mut chrome.content {
                cell.set_diff_option(CellDiffOption::Skip);
            }
            chrome[(x, 0)].reset();
            chrome[(x, 0)].set_char('#');
            tables.cover(&mut row, &chrome, 0);
            assert_eq!(text(&tables, &row), shown, "{x}");
        }
    }

    #[test]
    fn a_link_that_could_break_out_of_its_sequence_is_dropped() {
        for (link, safe) in [
            ("https://example.org/?q=a%20b", true),
            ("", false),
            ("https://a\u{1b}\\b", false),
            ("https://a\u{7}b", false),
            ("https://a b", false),
            ("https://ä", false),
        ] {
            assert_eq!(safe_link(link).is_some(), safe, "{link:?}");
        }
    }
}
