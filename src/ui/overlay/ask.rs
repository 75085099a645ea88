//! A question of the deck to the person, over the tab that it concerns: a blocked prompt, a step of the brake.

use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::super::look::{self, style};
use super::super::text;
use super::super::view::meter;
use super::{LABEL, Scene, frame, labelled, single, wrapped, write};
use crate::config::keys::{Chord, Key as Code};
use crate::config::themes::Theme;
use crate::protocol::client::{Ask, AskKind, Choice, Meter, Session, Step};

/// What the key answers, if it answers anything.
pub(in super::super) fn choice(ask: &Ask, key: Chord) -> Option<Choice> {
    if key.mods().ctrl || key.mods().alt {
        return None;
    }
    match (&ask.kind, key.key()) {
        (AskKind::Blocked { .. } | AskKind::Note { .. }, Code::Char('o')) => Some(Choice::Open),
        (AskKind::Blocked { .. }, Code::Char('p')) => Some(Choice::Park),
        (AskKind::Blocked { .. } | AskKind::Note { .. }, Code::Esc)
        | (AskKind::Step { .. } | AskKind::Stuck { .. }, Code::Esc | Code::Enter) => {
            Some(Choice::Cancel)
        }
        (AskKind::Blocked { .. }, Code::Char('s'))
        | (
            AskKind::Step {
                step: Step::Stop, ..
            },
            Code::Char('w'),
        ) => Some(Choice::Send),
        _ => None,
    }
}

/// Draws the question. Until it is `armed` the keys go to the program, and it says so.
pub(in super::super) fn draw(
    session: &Session,
    ask: &Ask,
    armed: bool,
    area: Rect,
    buf: &mut Buffer,
    scene: Scene<'_>,
) {
    let unarmed: &[(&str, &str)] = &[("…", "keys go to the program while you type")];
    match &ask.kind {
        AskKind::Blocked {
            prompt,
            current,
            other,
            matched,
            command,
        } => {
            let title = format!("This prompt belongs to {other}, not to {current}");
            let keys: &[(&str, &str)] = &[
                ("o", "open"),
                ("p", "park"),
                ("s", "send anyway"),
                ("esc", "cancel"),
            ];
            let keys = if armed { keys } else { unarmed };
            let blocked = Blocked {
                prompt,
                other,
                matched,
                command,
            };
            let room = inside(area, (80, 20));
            let lines = blocked.lines(room, scene);
            let size = outside(80, lines.len());
            let inner = frame(area, size, &title, keys, buf, scene.theme);
            write(inner, lines, buf);
        }
        AskKind::Step { step, .. } => {
            let keys: &[(&str, &str)] = match step {
                Step::Stop if session.guarded => &[("enter", "read"), ("w", "let it work on")],
                Step::Checkpoint | Step::Soft | Step::Hard | Step::Stop => &[("enter", "read")],
            };
            let keys = if armed { keys } else { unarmed };
            let title = format!("{}: {}", step_name(*step), session.title);
            let (width, _) = inside(area, (70, 10));
            let lines = step_lines(session, ask, width, scene.theme);
            let size = outside(70, lines.len());
            let inner = frame(area, size, &title, keys, buf, scene.theme);
            write(inner, lines, buf);
        }
        AskKind::Stuck {
            agent,
            context_tokens,
            note,
        } => {
            let keys = if armed { &[("enter", "read")] } else { unarmed };
            let title = format!("A subagent of {} does not stop", session.title);
            let (width, _) = inside(area, (70, 12));
            let lines = stuck_lines(agent, *context_tokens, note, width, scene.theme);
            let size = outside(70, lines.len());
            let inner = frame(area, size, &title, keys, buf, scene.theme);
            write(inner, lines, buf);
        }
        AskKind::Note { path, missing } => {
            let keys: &[(&str, &str)] = &[("o", "open a fresh session from it"), ("esc", "later")];
            let keys = if armed { keys } else { unarmed };
            let title = format!("{} wrote its handoff note", session.title);
            let (width, _) = inside(area, (70, 12));
            let lines = note_lines(path, missing, width, scene.theme);
            let size = outside(70, lines.len());
            let inner = frame(area, size, &title, keys, buf, scene.theme);
            write(inner, lines, buf);
        }
    }
}

fn stuck_lines(
    agent: &str,
    context_tokens: u64,
    note: &Path,
    width: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let words = format!(
        "Its context holds {} tokens, and every tool is denied to it, but it keeps trying. Interrupt the agent if that \
         goes on; a fresh subagent can start from its note.",
        text::tokens(context_tokens)
    );
    let mut lines = wrapped(&words, width, 4, style(theme.text));
    lines.push(Line::default());
    let beside = width.saturating_sub(LABEL);
    let id = single(agent, beside, style(theme.text));
    lines.extend(labelled("subagent", [id], theme));
    let note = wrapped(&note.display().to_string(), beside, 2, style(theme.dim));
    lines.extend(labelled("its note", note, theme));
    lines
}

fn note_lines(path: &Path, missing: &[String], width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = wrapped(&path.display().to_string(), width, 2, style(theme.accent));
    lines.push(Line::default());
    if missing.is_empty() {
        let words = "Every heading is there and filled. A fresh session can go on from it.";
        lines.extend(wrapped(words, width, 3, style(theme.text)));
    } else {
        let words = format!("It is not complete yet: {}.", missing.join("; "));
        lines.extend(wrapped(&words, width, 6, style(theme.warn)));
    }
    lines
}

/// The room for lines in a frame of at most that size.
fn inside(area: Rect, (width, height): (u16, u16)) -> (usize, usize) {
    (
        usize::from(area.width.min(width).saturating_sub(4)),
        usize::from(area.height.min(height).saturating_sub(2)),
    )
}

/// The size of a frame around so many lines.
fn outside(width: u16, lines: usize) -> (u16, u16) {
    (width, u16::try_from(lines + 2).unwrap_or(u16::MAX))
}

struct Blocked<'a> {
    prompt: &'a str,
    other: &'a str,
    matched: &'a [String],
    command: &'a str,
}

impl Blocked<'_> {
    fn lines(&self, (width, height): (usize, usize), scene: Scene<'_>) -> Vec<Line<'static>> {
        let theme = scene.theme;
        let beside = width.saturating_sub(LABEL);
        let matched = style(theme.matched);
        let mut below = labelled(
            "because",
            [single(&self.matched.join(", "), beside, style(theme.text))],
            theme,
        );
        // Where there is little room, the keys in the border say enough.
        let roomy = height >= 14;
        let most = if roomy { 3 } else { 2 };
        let runs = wrapped(self.command, beside, most, style(theme.dim));
        below.extend(labelled("opens as", runs, theme));
        let choices = [
            ("o", format!("open it as its own {} session", self.other)),
            ("p", "park it in the inbox".into()),
            ("s", "send it anyway, this once".into()),
            (
                "esc",
                "cancel; the words stay where the agent keeps them".into(),
            ),
        ];
        if roomy {
            below.push(Line::default());
        }
        for (key, words) in choices.into_iter().filter(|_| roomy) {
            below.push(Line::from(vec![
                Span::styled(format!(" {key:>3} "), style(theme.key)),
                Span::raw(" "),
                Span::styled(text::clean(&words).into_owned(), style(theme.text)),
            ]));
        }
        let room = height.saturating_sub(below.len() + 1).max(1);
        let mut lines: Vec<Line<'static>> = text::wrap(self.prompt, width, room)
            .into_iter()
            .map(|line| highlighted(&line, self.matched, matched))
            .collect();
        lines.push(Line::default());
        lines.append(&mut below);
        lines
    }
}

/// The line with the words that decided set off.
fn highlighted(line: &str, words: &[String], style: ratatui::style::Style) -> Line<'static> {
    let lower = line.to_lowercase();
    let mut marked = vec![false; line.len()];
    // Lower case may be of another length; then nothing is set off rather than the wrong letters.
    if lower.len() == line.len() {
        for word in words.iter().map(|word| word.to_lowercase()) {
            for (start, found) in lower.match_indices(&word) {
                let inside = lower[..start].ends_with(|char: char| char.is_ascii_alphanumeric());
                if !inside {
                    marked[start..start + found.len()].fill(true);
                }
            }
        }
    }
    let mut line_out = Line::default();
    let mut start = 0;
    while start < line.len() {
        let on = marked[start];
        let end = (start..line.len())
            .find(|at| marked[*at] != on && line.is_char_boundary(*at))
            .unwrap_or(line.len());
        let part = line[start..end].to_owned();
        line_out.push_span(if on {
            Span::styled(part, style)
        } else {
            Span::raw(part)
        });
        start = end;
    }
    line_out
}

fn step_name(step: Step) -> &'static str {
    match step {
        Step::Checkpoint => "Checkpoint",
        Step::Soft => "The context is getting large",
        Step::Hard => "The context is large",
        Step::Stop => "The context is too large",
    }
}

fn step_lines(session: &Session, ask: &Ask, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let AskKind::Step {
        step,
        context_tokens,
        window,
    } = &ask.kind
    else {
        return Vec::new();
    };
    let figure = match window {
        Some(window) => format!(
            "{} of {}",
            text::tokens(*context_tokens),
            text::tokens(*window)
        ),
        None => text::tokens(*context_tokens),
    };
    let bar = u16::try_from(width.saturating_sub(figure.len() + 9)).unwrap_or(0);
    let then = Meter {
        context_tokens: Some(*context_tokens),
        window: *window,
        ..session.meter.clone()
    };
    let mut line = meter::bar(&then, bar, theme);
    line.push_span(Span::styled(format!(" {figure} tokens"), style(theme.text)));
    let what = match (step, session.guarded) {
        (Step::Checkpoint, true) => {
            "The agent is told to write down where it stands, and to go on. Nothing is asked of you."
        }
        (Step::Checkpoint, false) => {
            "A good moment to have the agent write down where it stands, before it goes on."
        }
        (Step::Soft, true) => {
            "The agent is told to bring this to a close. Give it no new subject; start a fresh session for that."
        }
        (Step::Soft, false) => {
            "Bring it to a close. Give it no new subject; start a fresh session for that."
        }
        (Step::Hard, true) => {
            "Every further turn reads all of this again. The agent is told to write its handoff note now; a fresh \
             session goes on from it."
        }
        (Step::Hard, false) => {
            "Every further turn reads all of this again. Have the agent write its handoff note now."
        }
        (Step::Stop, true) => {
            "All but the handoff note is refused from here on. Once the note is complete, a fresh session goes on from \
             it with one key."
        }
        (Step::Stop, false) => {
            "There is hardly room left. Have the handoff note written and go on in a fresh session."
        }
    };
    let mut lines = vec![line, Line::default()];
    lines.extend(wrapped(what, width, 4, style(theme.text)));
    if let Some(profile) = &session.profile {
        lines.push(Line::default());
        let name = Line::styled(
            text::clean(profile).into_owned(),
            look::tag(theme, session.color.as_deref()),
        );
        lines.extend(labelled("profile", [name], theme));
    }
    lines
}
