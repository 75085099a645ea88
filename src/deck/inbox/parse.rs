//! Finds the task lines of a Markdown file, with their details, and where each part stands.

use std::ops::Range;

use sha2::{Digest, Sha256};

use super::{ARROW, Line};

/// A line and where its parts stand in the file, in bytes.
pub(crate) struct Item {
    pub(crate) line: Line,
    /// The columns before its bullet.
    pub(crate) indent: usize,
    /// The blank or the cross between the brackets.
    pub(crate) mark: Range<usize>,
    /// The words between the tag and the link.
    pub(crate) words: Range<usize>,
    /// The first row without its line end.
    pub(crate) head: Range<usize>,
    /// All rows with their line ends.
    pub(crate) whole: Range<usize>,
}

/// A row of the file without its line end, and where it stands.
struct Row<'a> {
    text: &'a str,
    at: Range<usize>,
}

pub(crate) fn items(text: &str) -> Vec<Item> {
    let mut at = 0;
    let rows: Vec<Row<'_>> = text
        .split_inclusive('\n')
        .map(|row| {
            at += row.len();
            Row {
                text: row.trim_end_matches(['\n', '\r']),
                at: at - row.len()..at,
            }
        })
        .collect();
    let mut items: Vec<Item> = Vec::new();
    let mut example: Option<&str> = None;
    let mut index = 0;
    while index < rows.len() {
        let row = &rows[index];
        index += 1;
        if let Some(end) = example {
            example = (!row.text.contains(end)).then_some(end);
        } else if let Some(mut item) = head(row) {
            let detail = detail_rows(&rows[index..], item.indent);
            item.line.n = items.len() + 1;
            item.line.row = index;
            item.line.detail = dedented(&rows[index..index + detail], item.indent);
            item.line.hash = hash(&item.line);
            index += detail;
            item.whole.end = rows[index - 1].at.end;
            items.push(item);
        } else {
            example = example_end(row.text);
        }
    }
    items
}

/// What ends the code block or comment that opens in this row. Task lines in it are examples.
fn example_end(row: &str) -> Option<&'static str> {
    let trimmed = row.trim_start();
    if let Some((_, comment)) = row.split_once("<!--") {
        return (!comment.contains("-->")).then_some("-->");
    }
    ["```", "~~~"].into_iter().find(|fence| {
        trimmed
            .strip_prefix(fence)
            .is_some_and(|rest| !rest.contains('`'))
    })
}

/// The task line that stands in this row, as far as one row tells.
fn head(row: &Row<'_>) -> Option<Item> {
    let text = row.text;
    let (indent, start) = indentation(text);
    let rest = text[start..].strip_prefix(['-', '*', '+'])?;
    let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let mark = start + 1 + gap + 1;
    let done = match rest[gap..].get(..3)? {
        "[ ]" => false,
        "[x]" | "[X]" => true,
        _ => return None,
    };
    let mut words = text.get(mark + 2..)?;
    if gap == 0 || !words.starts_with([' ', '\t']) {
        return None;
    }
    words = words.trim();
    let mut line = Line {
        done,
        ..Line::default()
    };
    if let Some((date, rest)) = first_word(words).filter(|(word, _)| is_date(word)) {
        line.date = Some(date.to_owned());
        words = rest;
    }
    if let Some((tag, rest)) =
        first_word(words).and_then(|(word, rest)| Some((profile(word)?, rest)))
    {
        line.profile = Some(tag.to_owned());
        words = rest;
    }
    if words.is_empty() {
        return None;
    }
    let words_at = text.trim_end().len() - words.len();
    if done && let Some((before, link)) = words.rsplit_once(ARROW) {
        line.link = Some(link.trim().to_owned());
        words = before.trim_end();
    }
    words.clone_into(&mut line.text);
    let offset = row.at.start;
    Some(Item {
        line,
        indent,
        mark: offset + mark..offset + mark + 1,
        words: offset + words_at..offset + words_at + words.len(),
        head: offset..offset + text.len(),
        whole: row.at.clone(),
    })
}

/// The first word and the text behind it.
fn first_word(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (!word.is_empty()).then(|| (word, rest.trim_start()))
}

fn is_date(word: &str) -> bool {
    word.len() == 10
        && word.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

pub(crate) fn is_tag(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// `#bugfix`, but not `#12`, which is the number of an issue.
fn profile(word: &str) -> Option<&str> {
    let name = word.strip_prefix('#')?;
    let is_name = name.chars().all(is_tag) && name.contains(char::is_alphabetic);
    is_name.then_some(name)
}

/// The columns of blanks at the start of a row, and their bytes. A tab reaches to the next fourth column.
fn indentation(row: &str) -> (usize, usize) {
    let mut columns = 0;
    for (at, c) in row.char_indices() {
        match c {
            ' ' => columns += 1,
            '\t' => columns += 4 - columns % 4,
            _ => return (columns, at),
        }
    }
    (columns, row.len())
}

/// How many rows below a task line at that column are its detail. Blank rows count if more detail follows.
fn detail_rows(rows: &[Row<'_>], indent: usize) -> usize {
    let mut detail = 0;
    for (index, row) in rows.iter().enumerate() {
        if row.text.trim().is_empty() {
            continue;
        }
        let (columns, _) = indentation(row.text);
        // One blank more makes no list within a list.
        let is_sibling = columns < indent + 2 && head(row).is_some();
        if columns <= indent || is_sibling {
            break;
        }
        detail = index + 1;
    }
    detail
}

/// The rows without the indentation that the bullet asks for; what stands further in stays further in.
fn dedented(rows: &[Row<'_>], indent: usize) -> String {
    let strip = |row: &Row<'_>| {
        let (columns, blanks) = indentation(row.text);
        let text = &row.text[blanks..];
        let left = if text.is_empty() {
            0
        } else {
            columns.saturating_sub(indent + 2)
        };
        format!("{}{}", " ".repeat(left), text.trim_end())
    };
    rows.iter().map(strip).collect::<Vec<_>>().join("\n")
}

/// Twelve digits tell the lines of any inbox apart.
fn hash(line: &Line) -> String {
    let mut hash = Sha256::new();
    for part in [
        line.date.as_deref().unwrap_or_default(),
        line.profile.as_deref().unwrap_or_default(),
        &line.text,
        &line.detail,
    ] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    format!("{:x}", hash.finalize())[..12].to_owned()
}
