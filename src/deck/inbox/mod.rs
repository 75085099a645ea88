//! The hot-todo inbox: one line an idea, in a Markdown file that anyone may edit. All else in the file stays as it is.

mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

use parse::{Item, is_tag, items};

/// Between a closed line and the link to what settled it.
const ARROW: &str = " → ";

/// An idea of the inbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The how many-th of the file, closed ones counted, from 1. Closing another one changes no number.
    pub(crate) n: usize,
    /// The row of the file, from 1.
    pub(crate) row: usize,
    pub(crate) done: bool,
    /// As it stands there, `2026-12-01`.
    pub(crate) date: Option<String>,
    pub(crate) profile: Option<String>,
    pub(crate) text: String,
    /// The indented lines below, without their indentation; empty if there are none.
    pub(crate) detail: String,
    /// Where the change is that settled it.
    pub(crate) link: Option<String>,
    /// Names the line by what it says, open or closed. Two lines that say the same share it.
    pub(crate) hash: String,
}

/// Why the inbox is left as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No line has that hash: somebody edited or dropped it.
    Gone,
    /// It is closed already.
    Closed,
    /// There is nothing to write.
    Empty,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Gone => "the inbox no longer holds that line",
            Refusal::Closed => "that line is closed already",
            Refusal::Empty => "there is nothing to write",
        })
    }
}

/// All ideas, in the order of the file.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    items(text).into_iter().map(|item| item.line).collect()
}

/// The ideas that nobody has settled yet.
pub(crate) fn open_lines(text: &str) -> Vec<Line> {
    lines(text).into_iter().filter(|line| !line.done).collect()
}

/// What is appended for a parked text, with the line feed; empty for an empty text. `date` is `2026-12-01`.
pub(crate) fn line(date: &str, profile: Option<&str>, text: &str) -> String {
    let mut rows = clean_rows(text).into_iter();
    let Some(first) = rows.next() else {
        return String::new();
    };
    let tag: String = profile
        .into_iter()
        .flat_map(str::chars)
        .filter(|c| is_tag(*c))
        .collect();
    let tag = if tag.is_empty() {
        tag
    } else {
        format!("#{tag} ")
    };
    let mut line = format!("- [ ] {date} {tag}{first}\n");
    for row in rows {
        line.push_str(&indented(&row, 0, "\n"));
    }
    line
}

/// The inbox with that line closed by a link; without one if `link` is empty.
pub(crate) fn close(text: &str, hash: &str, link: &str) -> Result<String, Refusal> {
    let item = open_item(text, hash)?;
    let link = clean_rows(link).join(" ");
    let mut closed = text.to_owned();
    if !link.is_empty() {
        closed.replace_range(item.words.end..item.head.end, &format!("{ARROW}{link}"));
    }
    closed.replace_range(item.mark, "x");
    Ok(closed)
}

/// The inbox without that line and its detail.
pub(crate) fn drop(text: &str, hash: &str) -> Result<String, Refusal> {
    let item = items(text)
        .into_iter()
        .find(|item| item.line.hash == hash)
        .ok_or(Refusal::Gone)?;
    let mut left = text.to_owned();
    left.replace_range(item.whole, "");
    Ok(left)
}

/// The inbox with other words in that open line: its mark, date and profile stay.
pub(crate) fn edit(text: &str, hash: &str, words: &str) -> Result<String, Refusal> {
    let item = open_item(text, hash)?;
    let mut rows = clean_rows(words).into_iter();
    let first = rows.next().ok_or(Refusal::Empty)?;
    let ending = |row: &str| match row {
        row if row.ends_with("\r\n") => "\r\n",
        row if row.ends_with('\n') => "\n",
        _ => "",
    };
    let last = ending(&text[item.whole.clone()]);
    let between = match ending(&text[..item.whole.end]) {
        "" if text.contains("\r\n") => "\r\n",
        "" => "\n",
        between => between,
    };
    let mut block = first;
    for row in rows {
        block.push_str(between);
        block.push_str(&indented(&row, item.indent, ""));
    }
    block.push_str(last);
    let mut edited = text.to_owned();
    edited.replace_range(item.words.start..item.whole.end, &block);
    Ok(edited)
}

/// The task of a session that is opened from the line.
pub(crate) fn prompt_of(line: &Line) -> String {
    if line.detail.is_empty() {
        return line.text.clone();
    }
    format!("{}\n{}", line.text, line.detail)
}

fn open_item(text: &str, hash: &str) -> Result<Item, Refusal> {
    let mut refusal = Refusal::Gone;
    for item in items(text) {
        if item.line.hash == hash {
            if !item.line.done {
                return Ok(item);
            }
            refusal = Refusal::Closed;
        }
    }
    Err(refusal)
}

fn indented(row: &str, indent: usize, end: &str) -> String {
    if row.is_empty() {
        return end.to_owned();
    }
    format!("{}{row}{end}", " ".repeat(indent + 2))
}

/// The rows of a typed text: no control characters, no blank rows around it, none wider at its end than its words.
fn clean_rows(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let mut rows: Vec<String> = text
        .split([
            '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
        ])
        .map(|row| {
            let row = row.replace('\t', "    ");
            let row: String = row.chars().filter(|c| !is_control(*c)).collect();
            row.trim_end().to_owned()
        })
        .skip_while(String::is_empty)
        .collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    if let Some(first) = rows.first_mut() {
        *first = first.trim_start().to_owned();
    }
    rows
}

/// Control characters, and those that turn the direction of the text around them.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
