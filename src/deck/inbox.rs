//! The hot-todo inbox: one line an idea, in a Markdown file that anyone may edit. All else in the file stays as it is.

use std::fmt;
use std::ops::Range;

use sha2::{Digest, Sha256};

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

/// A line and where its parts stand in the file, in bytes.
struct Item {
    line: Line,
    /// The columns before its bullet.
    indent: usize,
    /// The blank or the cross between the brackets.
    mark: Range<usize>,
    /// The words between the tag and the link.
    words: Range<usize>,
    /// The first row without its line end.
    head: Range<usize>,
    /// All rows with their line ends.
    whole: Range<usize>,
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

/// A row of the file without its line end, and where it stands.
struct Row<'a> {
    text: &'a str,
    at: Range<usize>,
}

fn items(text: &str) -> Vec<Item> {
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

fn is_tag(c: char) -> bool {
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

fn indented(row: &str, indent: usize, end: &str) -> String {
    if row.is_empty() {
        return end.to_owned();
    }
    format!("{}{row}{end}", " ".repeat(indent + 2))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INBOX: &str = "\
# Hot todo

- [ ] 2026-12-01 #bugfix the cart is empty, src/cart.rs
  seen twice

  - [ ] look at the log
      deeper
text of somebody
* [x] 2026-11-30 #seo sitemap → #12
+ [ ] no date
1. [ ] not ours
- [-] not ours
- [ ]
```
- [ ] example
```
<!-- - [ ] template
- [ ] template -->
- [X] 2026-11-29 by hand
";

    /// Number, row, done, date, profile, text, detail, link.
    fn shown(text: &str) -> Vec<String> {
        lines(text)
            .iter()
            .map(|line| {
                format!(
                    "{} {} {} {} {} | {} | {} | {}",
                    line.n,
                    line.row,
                    if line.done { "x" } else { "-" },
                    line.date.as_deref().unwrap_or("-"),
                    line.profile.as_deref().unwrap_or("-"),
                    line.text,
                    line.detail.replace('\n', "/"),
                    line.link.as_deref().unwrap_or("-"),
                )
            })
            .collect()
    }

    fn hash_of(text: &str, words: &str) -> String {
        let line = lines(text).into_iter().find(|line| line.text == words);
        line.unwrap().hash
    }

    #[test]
    fn task_lines_are_read_and_all_else_is_left() {
        assert_eq!(
            shown(INBOX),
            [
                "1 3 - 2026-12-01 bugfix | the cart is empty, src/cart.rs | seen twice//- [ ] look at the log/    deeper | -",
                "2 9 x 2026-11-30 seo | sitemap |  | #12",
                "3 10 - - - | no date |  | -",
                "4 19 x 2026-11-29 - | by hand |  | -",
            ]
        );
        assert_eq!(open_lines(INBOX).len(), 2);
    }

    #[test]
    fn odd_task_lines() {
        for (text, expect) in [
            ("- [ ] #12 is broken", "1 1 - - - | #12 is broken |  | -"),
            ("- [ ] #bugfix, now", "1 1 - - - | #bugfix, now |  | -"),
            ("- [ ] 2026-12-1 x", "1 1 - - - | 2026-12-1 x |  | -"),
            ("- [ ] a → b", "1 1 - - - | a → b |  | -"),
            ("- [x] a → b → c", "1 1 x - - | a → b |  | c"),
            ("- [ ] a\r\n\tb\r\n", "1 1 - - - | a |   b | -"),
            ("-   [ ]   a  ", "1 1 - - - | a |  | -"),
            (
                "group\n  - [ ] a\n  - [ ] b",
                "1 2 - - - | a |  | -\n2 3 - - - | b |  | -",
            ),
            (
                "- [ ] a\n - [ ] b",
                "1 1 - - - | a |  | -\n2 2 - - - | b |  | -",
            ),
            ("-[ ] a", ""),
            ("- [ ]a", ""),
            ("- [ ] 2026-12-01 #bugfix", ""),
            ("- [ ", ""),
            ("- [é] a", ""),
        ] {
            assert_eq!(shown(text).join("\n"), expect, "{text}");
        }
    }

    #[test]
    fn a_parked_text_becomes_one_line_with_detail() {
        for (profile, text, expect) in [
            (Some("bugfix"), "a", "- [ ] 2026-12-01 #bugfix a\n"),
            (None, "  a  ", "- [ ] 2026-12-01 a\n"),
            (
                Some("my set"),
                "a\n\n  b\nc\n\n",
                "- [ ] 2026-12-01 #myset a\n\n    b\n  c\n",
            ),
            (None, "a\r\nb\rc", "- [ ] 2026-12-01 a\n  b\n  c\n"),
            (
                None,
                "a\x1b[31m\u{202e}\tb\x07",
                "- [ ] 2026-12-01 a[31m    b\n",
            ),
            (None, "", ""),
            (Some("x"), " \n\t\x1b\n", ""),
        ] {
            assert_eq!(line("2026-12-01", profile, text), expect, "{text:?}");
        }
    }

    #[test]
    fn closing_dropping_and_editing_touch_one_line() {
        let dos = INBOX.replace('\n', "\r\n");
        for inbox in [INBOX, &dos] {
            let end = if inbox == INBOX { "\n" } else { "\r\n" };
            let hash = hash_of(inbox, "the cart is empty, src/cart.rs");
            let closed = close(inbox, &hash, "abc\n123").unwrap();
            let expect = inbox
                .replace("- [ ] 2026-12-01", "- [x] 2026-12-01")
                .replace("cart.rs", "cart.rs → abc 123");
            assert_eq!(closed, expect);
            assert_eq!(hash_of(&closed, "the cart is empty, src/cart.rs"), hash);
            assert_eq!(close(&closed, &hash, "x"), Err(Refusal::Closed));
            assert_eq!(edit(&closed, &hash, "x"), Err(Refusal::Closed));
            assert_eq!(close(inbox, "no such", "x"), Err(Refusal::Gone));
            assert_eq!(edit(inbox, &hash, " \n"), Err(Refusal::Empty));

            let detail =
                format!("  seen twice{end}{end}  - [ ] look at the log{end}      deeper{end}");
            let head = format!("- [ ] 2026-12-01 #bugfix the cart is empty, src/cart.rs{end}");
            let left = drop(&closed, &hash).unwrap();
            assert_eq!(left, inbox.replace(&format!("{head}{detail}"), ""));
            let edited = edit(inbox, &hash, "new\n\n  words").unwrap();
            let words = format!("- [ ] 2026-12-01 #bugfix new{end}{end}    words{end}");
            assert_eq!(edited, inbox.replace(&format!("{head}{detail}"), &words));
        }
    }

    #[test]
    fn the_last_line_may_lack_its_end() {
        let inbox = "- [ ] a\n- [ ] b";
        let hash = hash_of(inbox, "b");
        assert_eq!(close(inbox, &hash, "").unwrap(), "- [ ] a\n- [x] b");
        assert_eq!(close(inbox, &hash, "#1").unwrap(), "- [ ] a\n- [x] b → #1");
        assert_eq!(drop(inbox, &hash).unwrap(), "- [ ] a\n");
        assert_eq!(edit(inbox, &hash, "c\nd").unwrap(), "- [ ] a\n- [ ] c\n  d");
        assert_eq!(drop(inbox, &hash_of(inbox, "a")).unwrap(), "- [ ] b");
    }

    #[test]
    fn of_two_equal_lines_the_first_open_one_is_closed() {
        let inbox = "- [ ] a\n- [ ] a\n";
        let hash = hash_of(inbox, "a");
        let once = close(inbox, &hash, "").unwrap();
        assert_eq!(once, "- [x] a\n- [ ] a\n");
        assert_eq!(close(&once, &hash, "").unwrap(), "- [x] a\n- [x] a\n");
    }

    fn row() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(String::new()),
            "( |\t){0,3}[-*+] \\[[ xX]\\] (2026-12-01 )?(#[a-z]{1,3} )?[a-z →#é]{0,6}",
            "( |\t){0,6}[a-z]{1,4}",
            Just("```".to_owned()),
            Just("<!-- x".to_owned()),
            Just("# heading".to_owned()),
        ]
    }

    fn inbox() -> impl Strategy<Value = String> {
        let end = prop_oneof![Just("\n"), Just("\r\n")];
        (prop::collection::vec((row(), end), 0..12), any::<bool>()).prop_map(|(rows, ended)| {
            let text: String = rows
                .iter()
                .flat_map(|(row, end)| [row.as_str(), end])
                .collect();
            if ended {
                text
            } else {
                text.trim_end().to_owned()
            }
        })
    }

    proptest! {
        #[test]
        fn what_is_parked_is_read_back(words in "[^#]\\PC{0,20}(\n[ \\PC]{0,10}){0,3}") {
            let printed = line("2026-12-01", Some("p"), &words);
            let read = lines(&printed);
            if printed.is_empty() {
                prop_assert!(read.is_empty());
            } else {
                prop_assert_eq!(read.len(), 1);
                prop_assert_eq!(line("2026-12-01", Some("p"), &prompt_of(&read[0])), printed.clone());
                let expect = clean_rows(&words).join("\n");
                prop_assert_eq!(prompt_of(&read[0]), expect);
            }
        }

        #[test]
        fn a_change_leaves_every_other_line_as_it_was(inbox in inbox(), pick in any::<prop::sample::Index>()) {
            let all = lines(&inbox);
            let open = open_lines(&inbox);
            if open.is_empty() {
                return Ok(());
            }
            let chosen = &open[pick.index(open.len())];
            let closed = lines(&close(&inbox, &chosen.hash, "l").unwrap());
            prop_assert_eq!(closed.len(), all.len());
            let changed: Vec<_> = closed.iter().zip(&all).filter(|(a, b)| a != b).collect();
            prop_assert_eq!(changed.len(), 1);
            let (now, then) = changed[0];
            prop_assert_eq!(now, &Line { done: true, link: Some("l".into()), ..then.clone() });

            let edited = edit(&inbox, &chosen.hash, "new\nwords").unwrap();
            let edited = lines(&edited);
            prop_assert_eq!(edited.len(), all.len());
            prop_assert_eq!(edited.iter().filter(|line| line.detail == "words").count(), 1);

            let mut left = items(&inbox);
            left.retain(|item| item.line.hash == chosen.hash);
            let bytes = inbox.len() - left[0].whole.len();
            prop_assert_eq!(drop(&inbox, &chosen.hash).unwrap().len(), bytes);
        }
    }
}
