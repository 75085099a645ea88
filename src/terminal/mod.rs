//! The terminal inside a tab: the engine behind one trait, keys to bytes, changed lines.

mod cells;

pub(crate) use cells::{
    Attrs, Color, Cursor, CursorShape, Line, Modes, Mouse, Run, Size, Style, Underline, Width,
};
