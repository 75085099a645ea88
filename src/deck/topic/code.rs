//! Leaves out code that is marked as such: fences and backticks.

use std::borrow::Cow;
use std::collections::HashMap;

use super::text::GAP;

pub(crate) fn without_code(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('`') && !text.contains("~~~") {
        return text;
    }
    Cow::Owned(without_inline_code(&without_fences(&text)))
}

/// An open fence.
struct Fence {
    sign: char,
    len: usize,
    /// It opened behind other words, as in chats, so it may close among words too.
    among_words: bool,
}

/// Fences as in Markdown, and as people type them: the opening one at the end of a line, the closing one at the end of
/// the code or with words behind it. An unclosed fence runs to the end.
fn without_fences(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut open: Option<Fence> = None;
    for line in text.split_inclusive('\n') {
        if let Some(fence) = &open {
            if let Some(rest) = after_closing(line, fence) {
                kept.push_str(rest);
                open = None;
            }
        } else if let Some((before, fence)) = opening(line) {
            kept.push_str(before);
            kept.push(GAP);
            open = Some(fence);
        } else {
            kept.push_str(line);
        }
    }
    kept
}

/// How many times `sign` stands at the start of `text`.
fn run(text: &str, sign: char) -> usize {
    text.len() - text.trim_start_matches(sign).len()
}

fn opening(line: &str) -> Option<(&str, Fence)> {
    let trimmed = line.trim_start();
    for sign in ['`', '~'] {
        let len = run(trimmed, sign);
        if len >= 3 && !(sign == '`' && trimmed[len..].contains('`')) {
            let fence = Fence {
                sign,
                len,
                among_words: false,
            };
            return Some(("", fence));
        }
    }
    let (at, len, runs) = last_long_run(line)?;
    let language = line[at + len..].trim_end();
    let ends_the_line = !language.contains(char::is_whitespace) && !language.contains('`');
    (runs % 2 == 1 && ends_the_line).then(|| {
        let fence = Fence {
            sign: '`',
            len,
            among_words: true,
        };
        (&line[..at], fence)
    })
}

/// The last run of three or more backticks of a line: where, how long, and the how many-th.
fn last_long_run(line: &str) -> Option<(usize, usize, usize)> {
    let mut last = None;
    for (at, len) in runs(line).filter(|(_, len)| *len >= 3) {
        let count = last.map_or(1, |(_, _, count)| count + 1);
        last = Some((at, len, count));
    }
    last
}

fn after_closing<'a>(line: &'a str, fence: &Fence) -> Option<&'a str> {
    let trimmed = line.trim_start();
    let len = run(trimmed, fence.sign);
    let rest = &trimmed[len..];
    // One word behind the run is the language of a fence inside this one.
    if len >= fence.len && (rest.trim().is_empty() || is_sentence(rest)) {
        return Some(rest);
    }
    if fence.sign != '`' {
        return None;
    }
    let (at, len) = runs(line).find(|(_, len)| *len >= fence.len)?;
    let rest = &line[at + len..];
    let closes = if fence.among_words {
        len < line.trim().len() || rest.trim().is_empty()
    } else {
        at > 0 && !line[..at].trim().is_empty() && rest.trim().is_empty()
    };
    closes.then_some(rest)
}

fn is_sentence(rest: &str) -> bool {
    rest.starts_with(char::is_whitespace) && rest.split_whitespace().nth(1).is_some()
}

/// Each run of backticks: where, and how long.
fn runs(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find('`')?;
        let len = run(&text[at..], '`');
        from = at + len;
        Some((at, len))
    })
}

/// A run of backticks opens code that the next run of the same length closes, one and two only in the same line.
fn without_inline_code(text: &str) -> String {
    let mut line = 0;
    let mut seen = 0;
    let marks: Vec<(usize, usize, Option<usize>)> = runs(text)
        .map(|(at, len)| {
            line += text[seen..at].matches('\n').count();
            seen = at;
            (at, len, (len < 3).then_some(line))
        })
        .collect();
    // From behind, so that each run finds its partner at once however many there are.
    let mut next = HashMap::new();
    let mut partners: Vec<Option<usize>> = (0..marks.len())
        .rev()
        .map(|index| {
            let (_, len, line) = marks[index];
            next.insert((len, line), index)
        })
        .collect();
    partners.reverse();

    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    let mut index = 0;
    while index < marks.len() {
        let Some(partner) = partners[index] else {
            index += 1;
            continue;
        };
        kept.push_str(&text[from..marks[index].0]);
        kept.push(GAP);
        from = marks[partner].0 + marks[partner].1;
        index = partner + 1;
    }
    kept.push_str(&text[from..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_code_is_left_out() {
        for (text, kept) in [
            ("no code", "no code"),
            ("a `b` c", "a ¤ c"),
            ("a ``b ` c`` d", "a ¤ d"),
            ("a ` b", "a ` b"),
            ("a ` b\nc ` d", "a ` b\nc ` d"),
            ("a `b``c` d", "a ¤ d"),
            ("a\n```\nb\n```\nc", "a\n¤\nc"),
            ("a\n```ts\nb\n```  \nc", "a\n¤  \nc"),
            ("a\n~~~\nb\n```\n~~~\nc", "a\n¤\nc"),
            ("a\n````\nb\n```\nc\n````\nd", "a\n¤\nd"),
            ("a\n```\nb\n```ts\nc\n```\nd", "a\n¤\nd"),
            ("a\n```\nb", "a\n¤"),
            ("a\n  ```\n  b\n  ```\nc", "a\n¤\nc"),
            ("a\n```\nb\n``` then do c", "a\n¤ then do c"),
            ("a\n```\nb```\nc", "a\n¤\nc"),
            ("a ```b``` c", "a ¤ c"),
            ("```b``` c", "¤ c"),
            ("a: ```js\nb\n```\nc", "a: ¤\nc"),
            ("a: ```\nb\nb``` c\nd", "a: ¤ c\nd"),
            ("a ``` b c d", "a ``` b c d"),
            ("- a\n  ```\n  b\n  ```\n- c", "- a\n¤\n- c"),
            ("```````````` and more", "¤"),
            ("a ~~b~~ c", "a ~~b~~ c"),
        ] {
            assert_eq!(without_code(text.into()).replace(GAP, "¤"), kept, "{text}");
        }
    }
}
