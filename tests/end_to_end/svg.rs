//! A screen as an SVG: its text, colours, lines and cursor, the same whatever font the reader has.

#![expect(
    clippy::unreadable_literal,
    reason = "a colour is read as its six digits, two each"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, CursorShape, NamedColor, Rgb};

use crate::screen::Screen;

/// A cell in user units; a common monospaced font of that size fills it.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 17.0;
const FONT: f64 = 14.0;
/// From the top of a cell to the line that letters stand on.
const BASELINE: f64 = 13.0;
/// Around the cells.
const MARGIN: f64 = 12.0;

const FOREGROUND: Rgb = rgb(0xd4d7dd);
const BACKGROUND: Rgb = rgb(0x16181d);
const FRAME: Rgb = rgb(0x3a3f4b);

/// The sixteen colours that programs call by number.
const NAMED: [u32; 16] = [
    0x282c34, 0xe06c75, 0x98c379, 0xd7a65f, 0x61afef, 0xc678dd, 0x56b6c2, 0xabb2bf, 0x6b7280,
    0xff7a85, 0xb5e890, 0xf0c674, 0x7cc3ff, 0xd79bea, 0x74d0dc, 0xffffff,
];

/// Draws the screen. The title is what a reader hears who cannot see it.
pub(crate) fn draw(screen: &Screen, title: &str) -> String {
    let cells = screen.cells();
    let columns = cells.first().map_or(0, Vec::len);
    let (width, height) = (
        at(columns, WIDTH) + 2.0 * MARGIN,
        at(cells.len(), HEIGHT) + 2.0 * MARGIN,
    );
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" xml:space=\"preserve\" \
         font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"{}\"><title>{}</title>\n",
        number(width),
        number(height),
        number(FONT),
        escaped(title)
    );
    put(
        &mut out,
        format_args!(
            "<rect x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"{}\" stroke=\"{}\"/>\n\
             <g transform=\"translate({} {})\">\n<g shape-rendering=\"crispEdges\">\n",
            number(width - 1.0),
            number(height - 1.0),
            hex(BACKGROUND),
            hex(FRAME),
            number(MARGIN),
            number(MARGIN)
        ),
    );
    for (row, cells) in cells.iter().enumerate() {
        backgrounds(&mut out, cells, at(row, HEIGHT));
    }
    out.push_str("</g>\n");
    cursor(&mut out, screen);
    lines(&mut out, cells);
    for (row, cells) in cells.iter().enumerate() {
        words(&mut out, cells, at(row, HEIGHT) + BASELINE);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

fn backgrounds(out: &mut String, cells: &[Cell], y: f64) {
    for (column, run) in runs(cells, |one, next| colors(one).1 == colors(next).1) {
        let (_, background) = colors(&run[0]);
        if background != BACKGROUND {
            let x = at(column, WIDTH);
            put(
                out,
                format_args!(
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
                    number(x),
                    number(y),
                    number(at(run.len(), WIDTH)),
                    number(HEIGHT),
                    hex(background)
                ),
            );
        }
    }
}

fn cursor(out: &mut String, screen: &Screen) {
    let cursor = screen.cursor;
    let (x, y) = (at(cursor.column, WIDTH), at(cursor.row, HEIGHT));
    let (x, y, width, height) = match cursor.shape {
        CursorShape::Hidden => return,
        CursorShape::Block | CursorShape::HollowBlock => (x, y, WIDTH, HEIGHT),
        CursorShape::Beam => (x, y, 2.0, HEIGHT),
        CursorShape::Underline => (x, y + HEIGHT - 2.0, WIDTH, 2.0),
    };
    put(
        out,
        format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" opacity=\".7\"/>\n",
            number(x),
            number(y),
            number(width),
            number(height),
            hex(FOREGROUND)
        ),
    );
}

/// Lines and corners as strokes, since many fonts leave gaps between those of neighbouring cells.
fn lines(out: &mut String, cells: &[Vec<Cell>]) {
    let mut paths: BTreeMap<(String, &str), String> = BTreeMap::new();
    for (row, cells) in cells.iter().enumerate() {
        let same = |one: &Cell, next: &Cell| one.c == next.c && colors(one) == colors(next);
        for (column, run) in runs(cells, same) {
            let Some(stroke) = stroke(run[0].c) else {
                continue;
            };
            let path = paths.entry((hex(colors(&run[0]).0), stroke)).or_default();
            let x = at(column, WIDTH);
            let y = at(row, HEIGHT);
            if matches!(run[0].c, '─' | '━') {
                let length = at(run.len(), WIDTH);
                put(
                    path,
                    format_args!(
                        "M{} {}h{}",
                        number(x),
                        number(y + HEIGHT / 2.0),
                        number(length)
                    ),
                );
                continue;
            }
            for index in 0..run.len() {
                arms(path, run[0].c, x + at(index, WIDTH), y);
            }
        }
    }
    for ((color, stroke), path) in paths {
        put(
            out,
            format_args!(
                "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{stroke}\"/>\n"
            ),
        );
    }
}

/// How thick a character's strokes are, if it is drawn with strokes.
fn stroke(c: char) -> Option<&'static str> {
    match c {
        '─' | '│' | '╭' | '╮' | '╰' | '╯' | '┌' | '┐' | '└' | '┘' => {
            Some("1.2")
        }
        '━' => Some("3"),
        '▌' => Some("4.2"),
        _ => None,
    }
}

/// The strokes of one cell whose corner is there.
fn arms(path: &mut String, c: char, x: f64, y: f64) {
    let (middle, right) = (x + WIDTH / 2.0, x + WIDTH);
    let (center, bottom) = (y + HEIGHT / 2.0, y + HEIGHT);
    let (vertical, horizontal) = match c {
        '│' => {
            put(
                path,
                format_args!("M{} {}v{}", number(middle), number(y), number(HEIGHT)),
            );
            return;
        }
        '▌' => {
            put(
                path,
                format_args!("M{} {}v{}", number(x + 2.1), number(y), number(HEIGHT)),
            );
            return;
        }
        '╭' | '┌' => (bottom, right),
        '╮' | '┐' => (bottom, x),
        '╰' | '└' => (y, right),
        _ => (y, x),
    };
    let bend = if "╭╮╰╯".contains(c) { "Q" } else { "L" };
    put(
        path,
        format_args!(
            "M{} {}{bend}{} {} {} {}",
            number(middle),
            number(vertical),
            number(middle),
            number(center),
            number(horizontal),
            number(center)
        ),
    );
}

fn words(out: &mut String, cells: &[Cell], y: f64) {
    let style = |cell: &Cell| {
        let shown = Flags::BOLD | Flags::ITALIC | Flags::ALL_UNDERLINES | Flags::STRIKEOUT;
        (colors(cell).0, cell.flags & shown, cell.c.is_ascii())
    };
    let drawn = |cell: &Cell| stroke(cell.c).is_some() || cell.flags.contains(Flags::HIDDEN);
    let same = |one: &Cell, next: &Cell| style(one) == style(next) && !drawn(one) && !drawn(next);
    for (column, run) in runs(cells, same) {
        if drawn(&run[0]) {
            continue;
        }
        let text: String = run
            .iter()
            .filter(|cell| !is_spacer(cell))
            .flat_map(letters)
            .collect();
        let before = text.len() - text.trim_start().len();
        let after = text.len() - text.trim_end().len();
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        let (color, flags, _) = style(&run[0]);
        let mut attributes = String::new();
        for (flag, attribute) in [
            (Flags::BOLD, " font-weight=\"bold\""),
            (Flags::ITALIC, " font-style=\"italic\""),
            (Flags::UNDERLINE, " text-decoration=\"underline\""),
            (Flags::STRIKEOUT, " text-decoration=\"line-through\""),
        ] {
            if flags.contains(flag) {
                attributes.push_str(attribute);
            }
        }
        put(
            out,
            format_args!(
                "<text x=\"{}\" y=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\" \
                 fill=\"{}\"{attributes}>{}</text>\n",
                number(at(column + before, WIDTH)),
                number(y),
                number(at(run.len() - before - after, WIDTH)),
                hex(color),
                escaped(text)
            ),
        );
    }
}

fn letters(cell: &Cell) -> impl Iterator<Item = char> {
    std::iter::once(cell.c).chain(cell.zerowidth().unwrap_or_default().iter().copied())
}

fn is_spacer(cell: &Cell) -> bool {
    let spacer = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
    cell.flags.intersects(spacer)
}

/// The parts of a row whose neighbouring cells are the same in that way, each with the column where it begins.
fn runs(
    cells: &[Cell],
    same: impl Fn(&Cell, &Cell) -> bool,
) -> impl Iterator<Item = (usize, &[Cell])> {
    let mut column = 0;
    cells.chunk_by(same).map(move |run| {
        column += run.len();
        (column - run.len(), run)
    })
}

/// The colours of a cell as they are seen: letters, ground.
fn colors(cell: &Cell) -> (Rgb, Rgb) {
    let (mut letters, ground) = (color(cell.fg), color(cell.bg));
    if cell.flags.contains(Flags::DIM) {
        let mixed = |one: u8, other: u8| u8::try_from((u16::from(one) * 2 + u16::from(other)) / 3);
        let mixed = |one, other| mixed(one, other).expect("between two bytes");
        letters = Rgb {
            r: mixed(letters.r, ground.r),
            g: mixed(letters.g, ground.g),
            b: mixed(letters.b, ground.b),
        };
    }
    if cell.flags.contains(Flags::INVERSE) {
        (ground, letters)
    } else {
        (letters, ground)
    }
}

fn color(color: Color) -> Rgb {
    match color {
        Color::Spec(rgb) => rgb,
        Color::Indexed(index) => indexed(index),
        Color::Named(NamedColor::Background) => BACKGROUND,
        Color::Named(name) => match u8::try_from(name as usize) {
            Ok(index) => indexed(index),
            Err(_) => FOREGROUND,
        },
    }
}

/// One of the 256 colours: sixteen named ones, a cube of 6x6x6, a ramp of greys.
fn indexed(index: u8) -> Rgb {
    if let Some(named) = NAMED.get(usize::from(index)) {
        return rgb(*named);
    }
    if index >= 232 {
        let grey = 8 + 10 * (index - 232);
        return Rgb {
            r: grey,
            g: grey,
            b: grey,
        };
    }
    let step = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
    let place = index - 16;
    Rgb {
        r: step(place / 36),
        g: step(place / 6 % 6),
        b: step(place % 6),
    }
}

const fn rgb(hex: u32) -> Rgb {
    let [_, r, g, b] = hex.to_be_bytes();
    Rgb { r, g, b }
}

fn hex(color: Rgb) -> String {
    format!("#{:02x}{:02x}{:02x}", color.r, color.g, color.b)
}

/// So many cells in user units.
fn at(cells: usize, unit: f64) -> f64 {
    f64::from(u16::try_from(cells).expect("a screen has few cells")) * unit
}

/// With one decimal where it needs one.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn put(out: &mut String, words: std::fmt::Arguments<'_>) {
    out.write_fmt(words).expect("a string takes all");
}
