//! What lies over the screen and takes the keys: one file a modal.

pub(super) mod ask;
mod confirm;
mod field;
mod find;
mod help;
mod new;
mod park;
mod planner;
mod rename;

use std::fmt;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Padding, Widget};

pub(super) use self::confirm::Confirm;
pub(super) use self::find::Find;
pub(super) use self::help::Help;
pub(super) use self::new::NewSession;
pub(super) use self::park::Park;
pub(super) use self::rename::Rename;

use super::actions::Action;
use super::keymap::Keymap;
use super::layout::middle;
use super::look::style;
use super::mirror::Mirror;
use super::text;
use crate::config::keys::Chord;
use crate::config::themes::Theme;
use crate::protocol::client::{Request, Response};

/// What an overlay may look at while it draws and takes keys.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) mirror: &'a Mirror,
    pub(super) theme: &'a Theme,
    pub(super) keymap: &'a Keymap,
}

/// What an overlay wants after a key or a response.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    /// Nothing; it stays.
    Stay,
    Close,
    /// To be closed, and this asked of the server.
    Send(Box<Request>),
    /// This asked of the server; it stays until the response came.
    Await(Box<Request>),
    Look(u64),
    Act(Action),
}

/// Text that outlives the overlay it was typed in.
#[derive(Clone, Debug, Default)]
pub(super) struct Drafts {
    pub(super) new: String,
    pub(super) park: String,
}

pub(super) trait Modal: fmt::Debug {
    fn press(&mut self, key: Chord, scene: Scene<'_>) -> Wish;

    fn paste(&mut self, _text: &str) {}

    /// What it would like to know now, if nothing of it is under way.
    fn question(&mut self) -> Option<Request> {
        None
    }

    /// The response to its last question.
    fn answered(&mut self, _response: Response) {}

    /// The response to what it waits for; the response is handed back if it is for the screen to say.
    fn done(&mut self, _response: &Response) -> Wish {
        Wish::Close
    }

    /// The connection broke: what was under way will not be answered.
    fn lost(&mut self) {}

    /// Saves what was typed, when it closes.
    fn save(&self, _drafts: &mut Drafts) {}

    /// Draws it and says where the cursor stands, if it has one.
    fn draw(&self, area: Rect, buf: &mut Buffer, scene: Scene<'_>) -> Option<Position>;
}

/// A frame of its own in the middle of `area`, with a title and keys in its border; the inside is handed back.
fn frame(
    area: Rect,
    (width, height): (u16, u16),
    title: &str,
    keys: &[(&str, &str)],
    buf: &mut Buffer,
    theme: &Theme,
) -> Rect {
    let place = middle(area, width, height);
    let inside = usize::from(place.width.saturating_sub(4));
    let title = format!(" {} ", text::cut(&text::clean(title), inside));
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(style(theme.border_focus))
        .style(style(theme.modal))
        .title(Span::styled(title, style(theme.title)))
        .title_bottom(hints(keys, inside, theme))
        .padding(Padding::horizontal(1));
    Clear.render(place, buf);
    let inner = block.inner(place);
    block.render(place, buf);
    inner
}

/// ` enter start · esc close `, as many as fit.
fn hints(keys: &[(&str, &str)], width: usize, theme: &Theme) -> Line<'static> {
    let mut line = Line::default();
    let mut used = 1;
    for (key, words) in keys {
        let wide = text::cells(key) + text::cells(words) + 3;
        if used + wide > width + 2 {
            break;
        }
        used += wide;
        line.push_span(Span::raw(if line.spans.is_empty() { " " } else { "  " }));
        line.push_span(Span::styled((*key).to_owned(), style(theme.key)));
        line.push_span(Span::styled(format!(" {words}"), style(theme.hints)));
    }
    if !line.spans.is_empty() {
        line.push_span(Span::raw(" "));
    }
    line
}

/// Writes lines from the top of `area` on and says what is left below them.
fn write<'a>(area: Rect, lines: impl IntoIterator<Item = Line<'a>>, buf: &mut Buffer) -> Rect {
    let mut y = area.y;
    for line in lines {
        if y >= area.bottom() {
            break;
        }
        buf.set_line(area.x, y, &line, area.width);
        y += 1;
    }
    Rect {
        y,
        height: area.bottom() - y,
        ..area
    }
}

/// Lines with a word at the left that says what they are; the word stands at the first only.
fn labelled(
    label: &str,
    lines: impl IntoIterator<Item = Line<'static>>,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let mut labels = std::iter::once(label).chain(std::iter::repeat(""));
    lines
        .into_iter()
        .map(|mut line| {
            let label = format!("{:<LABEL$}", labels.next().unwrap_or_default());
            // A style of the whole line is its text's, not the label's.
            let line_style = std::mem::take(&mut line.style);
            for span in &mut line.spans {
                span.style = line_style.patch(span.style);
            }
            line.spans.insert(0, Span::styled(label, style(theme.dim)));
            line
        })
        .collect()
}

/// Text of somebody else in lines of that style.
fn wrapped(text: &str, width: usize, most: usize, style: Style) -> Vec<Line<'static>> {
    let lines = text::wrap(text, width, most).into_iter();
    lines.map(|line| Line::styled(line, style)).collect()
}

/// Text of somebody else on one line of that style.
fn single(text: &str, width: usize, style: Style) -> Line<'static> {
    Line::styled(text::cut(&text::clean(text), width).into_owned(), style)
}

/// Cells of the column of words at the left.
const LABEL: usize = 10;

/// The argument vector as a person would type it, on one line. Long values are cut, so that the task at its end is
/// seen; `sessdeck new --print` has every letter.
fn command(argv: &[String]) -> String {
    let last = argv.len().saturating_sub(1);
    let words: Vec<String> = argv
        .iter()
        .enumerate()
        .map(|(place, word)| {
            let quoted = shlex::try_quote(word).unwrap_or("�".into());
            let most = if place == last { 160 } else { 44 };
            text::cut(&quoted.replace('\n', "⏎"), most).into_owned()
        })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_shows_its_task_behind_long_values() {
        let long = format!("--hint=a {}", "long ".repeat(40));
        let argv = ["claude", long.as_str(), "--", "fix\nit's"].map(str::to_owned);
        assert_eq!(
            command(&argv),
            "claude '--hint=a long long long long long long lon… -- \"fix⏎it's\""
        );
    }
}
