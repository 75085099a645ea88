//! The terminal inside a tab: the engine behind one trait, keys to bytes, changed lines.

mod cells;
mod changed;
mod damage;
mod engine;
mod guard;
mod keys;
mod mouse;
mod replies;
mod rio;
mod rows;
mod side;
mod snapshot;
mod status;
mod strings;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use cells::Run;
pub(crate) use cells::{
    Attrs, Color, Cursor, CursorShape, Line, Modes, Mouse, Size, Style, Underline, Width,
};
pub(crate) use changed::{Picture, Reader};
pub(crate) use engine::{Engine, Event, Progress};
pub(crate) use keys::{Action, Key, KeyEvent, Mods, key_bytes};
pub(crate) use mouse::{
    Button, MouseAction, MouseEvent, Wheel, focus_bytes, mouse_bytes, paste_bytes,
};
use rio::Rio;
pub(crate) use status::StatusState;

/// The text on one line, without control characters: what comes from outside, made fit for a screen.
pub(crate) fn plain(text: &str) -> String {
    engine::plain(text, usize::MAX)
}

/// The engine that sessions run on, with so many rows of history.
pub(crate) fn engine(size: Size, scrollback: usize) -> Box<dyn Engine> {
    Box::new(Rio::new(size, scrollback))
}
