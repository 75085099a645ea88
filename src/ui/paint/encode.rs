//! What a terminal is told: positions, styles, links, cursor.

use super::cell::Pen;
use super::tables::Extra;
use crate::terminal::{Attrs, Color, Cursor, CursorShape, Underline};

pub(super) const BEGIN: &[u8] = b"\x1b[?2026h";
pub(super) const END: &[u8] = b"\x1b[?2026l";
pub(super) const PLAIN: &[u8] = b"\x1b[m";
pub(super) const CLOSE_LINK: &[u8] = b"\x1b]8;;\x1b\\";
pub(super) const HIDE_CURSOR: &[u8] = b"\x1b[?25l";
pub(super) const SHOW_CURSOR: &[u8] = b"\x1b[?25h";

/// Columns and rows count from 0 here and from 1 on the wire.
pub(super) fn go(out: &mut Vec<u8>, x: usize, y: usize) {
    out.extend_from_slice(b"\x1b[");
    number(out, y + 1);
    out.push(b';');
    number(out, x + 1);
    out.push(b'H');
}

/// Blanks so many cells from the cursor on, without moving it.
pub(super) fn erase(out: &mut Vec<u8>, cells: usize) {
    out.extend_from_slice(b"\x1b[");
    number(out, cells);
    out.push(b'X');
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
        Color::Indexed(index) => parts(out, b";58:5", b':', &[index]),
        Color::Rgb(r, g, b) => parts(out, b";58:2:", b':', &[r, g, b]),
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
        Color::Indexed(index @ 0..8) => parts(out, b"", b';', &[base + index]),
        Color::Indexed(index @ 8..16) => parts(out, b"", b';', &[base + 52 + index]),
        Color::Indexed(index) => parts(out, b"", b';', &[base + 8, 5, index]),
        Color::Rgb(r, g, b) => parts(out, b"", b';', &[base + 8, 2, r, g, b]),
    }
}

/// Opens a link; the id keeps together what is painted in pieces.
pub(super) fn open_link(out: &mut Vec<u8>, id: usize, (_, link): &Extra) {
    if let Some(link) = link {
        out.extend_from_slice(b"\x1b]8;id=d");
        number(out, id);
        out.push(b';');
        out.extend_from_slice(link.as_bytes());
        out.extend_from_slice(b"\x1b\\");
    }
}

pub(super) fn cursor_shape(out: &mut Vec<u8>, cursor: Cursor) {
    let steady = match cursor.shape {
        CursorShape::Block => b'2',
        CursorShape::Underline => b'4',
        CursorShape::Bar => b'6',
    };
    out.extend_from_slice(b"\x1b[");
    out.push(steady - u8::from(cursor.blinking));
    out.extend_from_slice(b" q");
}

/// `start`, then each number with `mark` before it.
fn parts(out: &mut Vec<u8>, start: &[u8], mark: u8, numbers: &[u8]) {
    out.extend_from_slice(start);
    for value in numbers {
        out.push(mark);
        number(out, usize::from(*value));
    }
}

fn number(out: &mut Vec<u8>, mut value: usize) {
    let start = out.len();
    loop {
        out.push(b'0' + u8::try_from(value % 10).unwrap_or(0));
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out[start..].reverse();
}
