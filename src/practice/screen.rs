//! Draws the conversation, the box or the permission question, and a line of figures.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line as Styled, Span};
use ratatui::widgets::{Block, BorderType, Borders, Paragraph};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::input_box::InputBox;
use super::script::GREETING;

/// One entry of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Prompt(String),
    Reply(String),
    /// A further sentence of the same reply.
    More(String),
    Tool(String),
    Result(String),
    Notice(String),
    Error(String),
}

/// Everything that is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) lines: &'a [Line],
    /// Lines that the conversation is scrolled up by.
    pub(super) scroll: usize,
    pub(super) input: &'a InputBox,
    /// The permission question, and whether its no is chosen.
    pub(super) question: Option<(&'a str, bool)>,
    pub(super) queued: &'a [&'a str],
    /// Tenths of a second that work has gone on.
    pub(super) working: Option<u64>,
    pub(super) hint: &'a str,
    pub(super) model: &'a str,
    pub(super) figures: &'a str,
}

const SPINNER: [&str; 6] = ["·", "✢", "✳", "✶", "✻", "✽"];
const ACCENT: Color = Color::Rgb(215, 119, 87);
/// The frame of the greeting is no wider.
const GREETING_WIDTH: usize = 86;
const PROMPT: &str = "❯ ";

/// Draws the view; returns how far it can be scrolled up at most.
pub(super) fn draw(frame: &mut Frame<'_>, view: &View<'_>) -> usize {
    let area = frame.area();
    let width = usize::from(area.width);
    let boxed = boxed_lines(view.input, width.saturating_sub(4).max(1));
    let most = (usize::from(area.height) / 2).max(1);
    let bottom = match view.question {
        Some((question, _)) => wrapped(question, width.saturating_sub(4)).len().min(2) + 5,
        None => boxed.lines.len().min(most) + 2,
    };
    let queued = view.queued.len().min(3);
    let above = queued
        + match (view.working, view.question) {
            (Some(_), _) => 2,
            (None, Some(_)) => 1,
            (None, None) => 0,
        };
    let [talk, middle, bottom, status] = Layout::vertical([
        Constraint::Min(1),
        Constraint::Length(short(above)),
        Constraint::Length(short(bottom)),
        Constraint::Length(1),
    ])
    .areas(area);

    let scrollable = draw_talk(frame, talk, view);
    draw_middle(frame, middle, view);
    match view.question {
        Some((question, no)) => draw_question(frame, bottom, question, no),
        None => draw_box(frame, bottom, &boxed),
    }
    draw_status(frame, status, view);
    scrollable
}

fn draw_talk(frame: &mut Frame<'_>, area: Rect, view: &View<'_>) -> usize {
    let mut text = greeting(usize::from(area.width));
    for line in view.lines {
        text.extend(styled(line, usize::from(area.width)));
    }
    let height = usize::from(area.height);
    let scrollable = text.len().saturating_sub(height);
    let first = scrollable.saturating_sub(view.scroll);
    let shown: Vec<Styled<'_>> = text.into_iter().skip(first).take(height).collect();
    frame.render_widget(Paragraph::new(shown), area);
    scrollable
}

/// What the newcomer sees first, framed where there is room.
fn greeting(width: usize) -> Vec<Styled<'static>> {
    let inner = width.saturating_sub(4).min(GREETING_WIDTH);
    let side = || Span::from("│").fg(ACCENT);
    let edge =
        |left, right| Styled::from(format!("{left}{}{right}", "─".repeat(inner + 2))).fg(ACCENT);
    let mut text = vec![edge('╭', '╮')];
    let lines = std::iter::once("✻ Practice agent").chain(GREETING);
    for (number, line) in lines.enumerate() {
        for part in wrapped(line, inner) {
            let mut spans = vec![side(), Span::from(" ")];
            // What stands between backquotes is to be typed.
            for (index, piece) in part.split('`').enumerate() {
                let marked = index % 2 == 1;
                let span = Span::from(piece.to_owned());
                spans.push(match (number, marked) {
                    (0, _) => span.bold(),
                    (_, true) => span.fg(ACCENT),
                    (_, false) => span.dim(),
                });
            }
            let filled: usize = spans.iter().skip(2).map(Span::width).sum();
            spans.push(Span::from(" ".repeat((inner + 1).saturating_sub(filled))));
            spans.push(side());
            text.push(Styled::from(spans));
        }
    }
    text.push(edge('╰', '╯'));
    text
}

fn styled(line: &Line, width: usize) -> Vec<Styled<'static>> {
    let dim = Style::new().add_modifier(Modifier::DIM);
    let (sign, sign_style, text, style, gap) = match line {
        Line::Prompt(text) => (
            "❯ ",
            Style::new().fg(Color::Gray),
            text,
            Style::new().fg(Color::White).bg(Color::Rgb(55, 55, 55)),
            true,
        ),
        Line::Reply(text) => ("● ", Style::new(), text, Style::new(), true),
        Line::More(text) => ("  ", Style::new(), text, Style::new(), false),
        Line::Tool(text) => (
            "● ",
            Style::new().fg(Color::Green),
            text,
            Style::new().add_modifier(Modifier::BOLD),
            true,
        ),
        Line::Result(text) => ("  └  ", dim, text, dim, false),
        Line::Notice(text) => ("  └  ", dim, text, Style::new().fg(Color::Yellow), true),
        Line::Error(text) => ("  └  ", dim, text, Style::new().fg(Color::LightRed), true),
    };
    let indent = sign.width();
    let mut lines = Vec::new();
    if gap {
        lines.push(Styled::default());
    }
    for (index, part) in wrapped(text, width.saturating_sub(indent))
        .into_iter()
        .enumerate()
    {
        let start = if index == 0 {
            Span::styled(sign, sign_style)
        } else {
            Span::from(" ".repeat(indent))
        };
        lines.push(Styled::from(vec![start, Span::styled(part, style)]));
    }
    lines
}

fn draw_middle(frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
    let mut text = Vec::new();
    if let Some(tenths) = view.working {
        let step = usize::try_from(tenths).unwrap_or(0) % SPINNER.len();
        text.push(Styled::default());
        text.push(Styled::from(vec![
            Span::from(format!("{} Practising… ", SPINNER[step])).fg(ACCENT),
            Span::from(format!("({}s · esc to interrupt)", tenths / 10)).dim(),
        ]));
    }
    for queued in view.queued.iter().take(3) {
        let line = wrapped(queued, usize::from(area.width).saturating_sub(10));
        let line = line.into_iter().next().unwrap_or_default();
        text.push(Styled::from(format!("  queued: {line}")).dim());
    }
    frame.render_widget(Paragraph::new(text), area);
}

/// The box's text in lines of one width, and the cursor in them.
struct Boxed {
    lines: Vec<String>,
    column: usize,
    row: usize,
}

fn boxed_lines(input: &InputBox, width: usize) -> Boxed {
    let before = folded(input.before(), width);
    let lines = folded(input.text(), width);
    let row = before.len() - 1;
    Boxed {
        column: before[row].width(),
        row,
        lines,
    }
}

/// Cuts at the width, not at blanks, so that the cursor's place follows from the text before it.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut filled = 0;
    for grapheme in text.graphemes(true) {
        if grapheme == "\n" {
            lines.push(String::new());
            filled = 0;
            continue;
        }
        if filled + grapheme.width() > width {
            lines.push(String::new());
            filled = 0;
        }
        filled += grapheme.width();
        if let Some(last) = lines.last_mut() {
            last.push_str(grapheme);
        }
    }
    lines
}

fn draw_box(frame: &mut Frame<'_>, area: Rect, boxed: &Boxed) {
    let block = Block::new()
        .borders(Borders::TOP | Borders::BOTTOM)
        .border_style(Style::new().fg(Color::DarkGray));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let height = usize::from(inner.height).max(1);
    let first = (boxed.row + 1).saturating_sub(height);
    let text: Vec<Styled<'_>> = boxed
        .lines
        .iter()
        .enumerate()
        .skip(first)
        .take(height)
        .map(|(index, line)| {
            let sign = if index == 0 { PROMPT } else { "  " };
            Styled::from(vec![Span::from(sign), Span::from(line.as_str())])
        })
        .collect();
    frame.render_widget(Paragraph::new(text), inner);
    let x = inner.x.saturating_add(short(boxed.column + 2));
    let y = inner.y.saturating_add(short(boxed.row - first));
    if inner.height > 0 {
        frame.set_cursor_position(Position::new(x.min(inner.right().saturating_sub(1)), y));
    }
}

fn draw_question(frame: &mut Frame<'_>, area: Rect, question: &str, no: bool) {
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(Style::new().fg(Color::LightBlue))
        .title(" Permission ");
    let inner = block.inner(area);
    let width = usize::from(inner.width).saturating_sub(2);
    let mut text: Vec<Styled<'_>> = wrapped(question, width)
        .into_iter()
        .take(2)
        .map(|line| Styled::from(format!(" {line}")).bold())
        .collect();
    text.push(Styled::default());
    for (chosen, label) in [
        (!no, "1. Yes"),
        (no, "2. No, and say what to do instead (esc)"),
    ] {
        let (sign, style) = if chosen {
            (PROMPT, Style::new().fg(Color::LightBlue))
        } else {
            ("  ", Style::new())
        };
        text.push(Styled::styled(format!(" {sign}{label}"), style));
    }
    frame.render_widget(block, area);
    frame.render_widget(Paragraph::new(text), inner);
}

/// The figures, then as much else as has room: the model, the hint.
fn draw_status(frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
    let width = usize::from(area.width);
    let mut right = view.figures.to_owned();
    if right.width() + view.model.width() + 3 < width {
        right = format!("{} · {right}", view.model);
    }
    let status = Paragraph::new(right.as_str()).fg(ACCENT);
    frame.render_widget(status.right_aligned(), area);
    if right.width() + view.hint.width() + 2 < width {
        let left = Rect {
            width: short(view.hint.width()),
            ..area
        };
        frame.render_widget(Paragraph::new(view.hint).fg(Color::Reset).dim(), left);
    }
}

/// Breaks at blanks where it can. Control characters are dropped: the text may come from a hook.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let clean: String = paragraph
            .chars()
            .filter(|letter| !letter.is_control())
            .collect();
        let mut line = String::new();
        for word in clean.split_inclusive(' ') {
            if line.width() + word.trim_end().width() > width && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            if word.width() <= width {
                line.push_str(word);
                continue;
            }
            let mut parts = folded(word, width);
            line = parts.pop().unwrap_or_default();
            lines.append(&mut parts);
        }
        lines.push(line);
    }
    lines
}

fn short(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    #[test]
    fn text_is_wrapped_at_blanks_and_cleaned() {
        for (text, width, expected) in [
            ("one two three", 8, vec!["one two ", "three"]),
            ("abcdefgh", 3, vec!["abc", "def", "gh"]),
            ("a\n\nb", 9, vec!["a", "", "b"]),
            ("\x1b[31mred\x07", 9, vec!["[31mred"]),
            ("漢字漢字", 5, vec!["漢字", "漢字"]),
            ("", 5, vec![""]),
        ] {
            assert_eq!(wrapped(text, width), expected, "{text:?}");
        }
    }

    fn picture(width: u16, height: u16, view: &View<'_>) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal
            .draw(|frame| {
                draw(frame, view);
            })
            .unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn the_newest_lines_the_box_and_the_figures_are_seen() {
        let mut input = InputBox::default();
        input.insert("second line of\nthe box");
        let lines = [
            Line::Prompt("fix it".into()),
            Line::Tool("Bash(make)".into()),
            Line::Result("ok".into()),
            Line::Reply("Done.".into()),
        ];
        let view = View {
            lines: &lines,
            scroll: 0,
            input: &input,
            question: None,
            queued: &["and then"],
            working: Some(12),
            hint: "/help",
            model: "m",
            figures: "25k/200k",
        };
        let shown = picture(60, 18, &view);
        for part in [
            "❯ fix it",
            "● Bash(make)",
            "  └  ok",
            "● Done.",
            "queued: and then",
            "(1s · esc to interrupt)",
            "❯ second line of",
            "  the box",
            "25k/200k",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        let asked = View {
            question: Some(("Run Bash(make)?", true)),
            ..view
        };
        let shown = picture(60, 18, &asked);
        assert!(shown.contains("❯ 2. No"), "{shown}");
        assert!(!shown.contains("second line of"), "{shown}");
    }

    #[test]
    fn no_size_is_too_small() {
        let mut input = InputBox::default();
        input.insert("漢字\n\n\nx");
        for (width, height) in [(1, 1), (2, 3), (5, 4), (20, 5), (3, 40)] {
            for question in [None, Some(("Run?", false))] {
                let view = View {
                    lines: &[Line::Reply("漢字 text".into())],
                    scroll: 3,
                    input: &input,
                    question,
                    queued: &["q"],
                    working: Some(3),
                    hint: "h",
                    model: "m",
                    figures: "f",
                };
                picture(width, height, &view);
            }
        }
    }
}
