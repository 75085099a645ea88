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

pub(super) fn state_name(state: State) -> &'static str {
    match state {
        State::Working => "working",
        State::NeedsYou => "needs you",
        State::YourTurn => "your turn",
        State::Ended => "ended",
        State::Asleep => "asleep",
        State::Unknown => "running",
    }
}

/// The state of a session in words, with how its program ended.
pub(super) fn state_words(session: &Session) -> String {
    let name = state_name(session.state);
    match session.exit_code {
        Some(code) if session.state == State::Ended => format!("{name}, exit {code}"),
        Some(_) | None => name.to_owned(),
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
