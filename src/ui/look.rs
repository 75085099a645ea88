//! The theme in the widgets' terms, and the signs that say the same without colour.

use ratatui::style::{Color as ChromeColor, Modifier, Style as ChromeStyle};

use crate::config::colors;
use crate::config::themes::Theme;
use crate::protocol::client::{Level, Session, State};
use crate::terminal::{Attrs, Color, Style, Underline};

/// A style of the theme as widgets take it.
pub(super) fn style(style: Style) -> ChromeStyle {
    let mut chrome = ChromeStyle::new();
    if style.fg != Color::Default {
        chrome = chrome.fg(color(style.fg));
    }
    if style.bg != Color::Default {
        chrome = chrome.bg(color(style.bg));
    }
    for (attr, modifier) in [
        (Attrs::BOLD, Modifier::BOLD),
        (Attrs::DIM, Modifier::DIM),
        (Attrs::ITALIC, Modifier::ITALIC),
        (Attrs::REVERSE, Modifier::REVERSED),
        (Attrs::STRIKE, Modifier::CROSSED_OUT),
    ] {
        if style.attrs.contains(attr) {
            chrome = chrome.add_modifier(modifier);
        }
    }
    if style.underline != Underline::None {
        chrome = chrome.add_modifier(Modifier::UNDERLINED);
    }
    chrome
}

pub(super) fn color(color: Color) -> ChromeColor {
    match color {
        Color::Default => ChromeColor::Reset,
        Color::Indexed(index) => ChromeColor::Indexed(index),
        Color::Rgb(r, g, b) => ChromeColor::Rgb(r, g, b),
    }
}

/// The style of a profile's tag: its own colour if it names one that is known.
pub(super) fn tag(theme: &Theme, own: Option<&str>) -> ChromeStyle {
    match own.and_then(colors::color) {
        Some(own) => ChromeStyle::new().fg(color(own)),
        None => style(theme.tag),
    }
}

/// One cell that tells the state by its shape alone.
pub(super) fn sign(state: State) -> &'static str {
    match state {
        State::Working => "●",
        State::NeedsYou => "▲",
        State::YourTurn => "◆",
        State::Ended => "■",
        State::Asleep => "◌",
        State::Unknown => "·",
    }
}

pub(super) fn state_style(theme: &Theme, state: State) -> ChromeStyle {
    style(match state {
        State::Working => theme.working,
        State::NeedsYou => theme.needs_you,
        State::YourTurn => theme.your_turn,
        State::Ended => theme.ended,
        State::Asleep => theme.asleep,
        State::Unknown => theme.unknown,
    })
}

/// The state in words, with what the person most wants to know of it.
pub(super) fn state_words(session: &Session) -> String {
    match (session.state, session.exit_code) {
        (State::Working, _) => "working".into(),
        (State::NeedsYou, _) => "needs you".into(),
        (State::YourTurn, _) => "your turn".into(),
        (State::Ended, Some(code)) => format!("ended, exit {code}"),
        (State::Ended, None) => "ended".into(),
        (State::Asleep, _) => "asleep".into(),
        (State::Unknown, _) => "running".into(),
    }
}

/// A sign and a style for a line that tells the person something.
pub(super) fn level(theme: &Theme, level: Level) -> (&'static str, ChromeStyle) {
    match level {
        Level::Info => ("·", style(theme.ok)),
        Level::Warning => ("!", style(theme.warn)),
        Level::Error => ("✗", style(theme.alert)),
    }
}
