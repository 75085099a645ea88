//! What a terminal is told: positions, styles, links, cursor.

use std::io::Write;

use super::cell::{Extra, Pen};
use crate::terminal::{Attrs, Color, Cursor, CursorShape, Underline};

pub(super) const BEGIN: &[u8] = b"\x1b[?2026h";
pub(super) const END: &[u8] = b"\x1b[?2026l";
pub(super) const PLAIN: &[u8] = b"\x1b[m";
pub(super) const CLOSE_LINK: &[u8] = b"\x1b]8;;\x1b\\";
pub(super) const HIDE_CURSOR: &[u8] = b"\x1b[?25l";
pub(super) const SHOW_CURSOR: &[u8] = b"\x1b[?25h";

/// Writing to a `Vec` cannot fail.
macro_rules! put {
    ($out:expr, $($text:tt)*) => { let _ = write!($out, $($text)*); };
}

/// Columns and rows count from 0 here and from 1 on the wire.
pub(super) fn go(out: &mut Vec<u8>, x: usize, y: usize) {
    put!(out, "\x1b[{};{}H", y + 1, x + 1);
}

/// Blanks so many cells from the cursor on, without moving it.
pub(super) fn erase(out: &mut Vec<u8>, cells: usize) {
    put!(out, "\x1b[{cells}X");
}

/// Sets the whole style, whatever was set before.
pub(super) fn style(out: &mut Vec<u8>, (fg, bg, look): Pen, underline_color: Color) {
    out.extend_from_slice(b"\x1b[");
    let start = out.len();
    let attrs = look.attrs();
    for (attr, code) in [
        (Attrs::BOLD, b";1"),
        (Attrs::DIM, b";2"),
        (Attrs::ITALIC, b";3"),
        (Attrs::BLINK, b";5"),
        (Attrs::REVERSE, b";7"),
        (Attrs::HIDDEN, b";8"),
        (Attrs::STRIKE, b";9"),
    ] {
        if attrs.contains(attr) {
            out.extend_from_slice(code);
        }
    }
    // Terminals that know no colon form ignore it; single is the form that all know.
    out.extend_from_slice(match look.underline() {
        Underline::None => b"",
        Underline::Single => b";4",
        Underline::Double => b";4:2",
        Underline::Curly => b";4:3",
        Underline::Dotted => b";4:4",
        Underline::Dashed => b";4:5",
    });
    color(out, fg.into(), 30);
    color(out, bg.into(), 40);
    match underline_color {
        Color::Default => {}
        Color::Indexed(index) => {
            put!(out, ";58:5:{index}");
        }
        Color::Rgb(r, g, b) => {
            put!(out, ";58:2::{r}:{g}:{b}");
        }
    }
    // An empty first parameter is 0: everything off before the rest goes on.
    if out.len() > start {
        out.insert(start, b'0');
    }
    out.push(b'm');
}

fn color(out: &mut Vec<u8>, color: Color, base: u8) {
    match color {
        Color::Default => {}
        Color::Indexed(index @ 0..8) => {
            put!(out, ";{}", base + index);
        }
        Color::Indexed(index @ 8..16) => {
            put!(out, ";{}", base + 60 + index - 8);
        }
        Color::Indexed(index) => {
            put!(out, ";{};5;{index}", base + 8);
        }
        Color::Rgb(r, g, b) => {
            put!(out, ";{};2;{r};{g};{b}", base + 8);
        }
    }
}

/// Opens a link; the id keeps together what is painted in pieces.
pub(super) fn open_link(out: &mut Vec<u8>, id: usize, (_, link): &Extra) {
    if let Some(link) = link {
        put!(out, "\x1b]8;id=d{id};{link}\x1b\\");
    }
}

pub(super) fn cursor_shape(out: &mut Vec<u8>, cursor: Cursor) {
    let steady = match cursor.shape {
        CursorShape::Block => 2,
        CursorShape::Underline => 4,
        CursorShape::Bar => 6,
    };
    put!(out, "\x1b[{} q", steady - u8::from(cursor.blinking));
}
