//! Leaves out markup: comments, elements with what is in them, and lone tags.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::text::GAP;

/// What is longer is no tag. Bounds the search for its end.
const LONGEST_TAG: usize = 4096;

pub(crate) fn without_markup(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('<') {
        return text;
    }
    let text = without_comments(&text);
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for range in marked(&text) {
        // Sorted by where they begin; one may hold others.
        if range.start >= from {
            kept.push_str(&text[from..range.start]);
            kept.push(GAP);
        }
        from = from.max(range.end);
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept)
}

/// An unclosed comment runs to the end if it opens a line; elsewhere its sign is only mentioned.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<!--") {
        let before = &rest[..at];
        let opens_line = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .trim()
            .is_empty();
        let end = rest[at..].find("-->").map(|end| at + end + "-->".len());
        match end {
            Some(end) => {
                kept.push_str(before);
                kept.push(GAP);
                rest = &rest[end..];
            }
            None if opens_line => {
                kept.push_str(before);
                kept.push(GAP);
                return kept;
            }
            None => break,
        }
    }
    kept.push_str(rest);
    kept
}

enum Kind {
    Open,
    Close,
    /// `<br/>`, `<!doctype …>`, `<?xml …?>`
    Alone,
}

struct Tag<'a> {
    /// In small letters.
    name: Cow<'a, str>,
    kind: Kind,
    len: usize,
}

/// The ranges of all tags and of all elements that are closed, sorted by where they begin.
fn marked(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    // Open tags by name, as indices into `ranges`; an element that closes takes those inside it along.
    let mut open: Vec<(usize, Cow<'_, str>)> = Vec::new();
    let mut count: HashMap<Cow<'_, str>, usize> = HashMap::new();
    let mut from = 0;
    while let Some(found) = text[from..].find('<') {
        let at = from + found;
        let Some(tag) = tag(&text[at..]) else {
            from = at + 1;
            continue;
        };
        from = at + tag.len;
        ranges.push(at..from);
        match tag.kind {
            Kind::Open => {
                *count.entry(tag.name.clone()).or_default() += 1;
                open.push((ranges.len() - 1, tag.name));
            }
            Kind::Close if count.get(&tag.name).is_some_and(|count| *count > 0) => {
                while let Some((index, name)) = open.pop() {
                    if let Some(count) = count.get_mut(&name) {
                        *count -= 1;
                    }
                    if name == tag.name {
                        ranges[index].end = from;
                        break;
                    }
                }
            }
            Kind::Close | Kind::Alone => {}
        }
    }
    ranges
}

/// The tag that `text` starts with.
fn tag(text: &str) -> Option<Tag<'_>> {
    let rest = text.strip_prefix('<')?;
    let (kind, rest) = match rest.chars().next()? {
        '/' => (Kind::Close, &rest[1..]),
        '!' | '?' => (Kind::Alone, &rest[1..]),
        _ => (Kind::Open, rest),
    };
    let name_len = rest
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.')))
        .unwrap_or(rest.len());
    let name = &rest[..name_len];
    let behind = rest[name_len..].chars().next()?;
    let is_fragment = name.is_empty() && behind == '>';
    let is_named = name.starts_with(char::is_alphabetic)
        && (behind.is_whitespace() || matches!(behind, '/' | '>' | '?'));
    if !is_fragment && !is_named {
        return None;
    }
    let (len, is_empty) = tag_end(text)?;
    // Over several lines a lone `<` and a later `>` are no tag.
    let inside = &text[..len];
    if inside.contains('\n') && !inside.contains('=') && !is_empty {
        return None;
    }
    Some(Tag {
        name: if name.contains(char::is_uppercase) {
            Cow::Owned(name.to_lowercase())
        } else {
            Cow::Borrowed(name)
        },
        kind: if is_empty && matches!(kind, Kind::Open) {
            Kind::Alone
        } else {
            kind
        },
        len,
    })
}

/// Where the tag that `text` starts with ends, and whether it is an empty element (`<tag/>`). Quotes may hide a `>`.
pub(crate) fn tag_end(text: &str) -> Option<(usize, bool)> {
    let mut quote = None;
    let mut hidden = None;
    for (at, c) in text.char_indices().skip(1) {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '>') => return Some((at + 1, text[..at].ends_with('/'))),
            (None, '<') => break,
            (Some(_), '>') => hidden = hidden.or(Some(at)),
            _ => {}
        }
        if at > LONGEST_TAG {
            break;
        }
    }
    // A quote that never ends hides nothing.
    hidden
        .filter(|_| quote.is_some())
        .map(|at| (at + 1, text[..at].ends_with('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_left_out() {
        for (text, kept) in [
            ("a < b and c > d", "a < b and c > d"),
            ("i <3 it", "i <3 it"),
            ("a <!-- b\n c --> d", "a ¤ d"),
            ("<!-- b", "¤"),
            ("what does <!-- do", "what does <!-- do"),
            ("fix the <title> so that", "fix the ¤ so that"),
            ("a <p>b</p> c", "a ¤ c"),
            ("a <p>b <b>c</b> d</P> e", "a ¤ e"),
            ("a <p>b<br>c</p> d", "a ¤ d"),
            ("a <p><p>b</p> c</p> d", "a ¤ d"),
            ("a <ul>\n<li>b\n</ul>\nc", "a ¤\nc"),
            ("a </p> b", "a ¤ b"),
            ("a <img src=\"x>y\"> b", "a ¤ b"),
            ("a <img alt='don> b", "a ¤ b"),
            ("a <link\n rel=\"canonical\"\n> b", "a ¤ b"),
            ("if x <limit\nthen > b", "if x <limit\nthen > b"),
            ("<!doctype html><?xml v?>a", "¤¤a"),
            ("a <Foo.Bar x={1}/> b", "a ¤ b"),
            ("a <></> b", "a ¤ b"),
            ("Vec<String> b", "Vec¤ b"),
            ("Map<K, V> b", "Map<K, V> b"),
            ("a <b c <d>e</d>", "a <b c ¤"),
        ] {
            assert_eq!(
                without_markup(text.into()).replace(GAP, "¤"),
                kept,
                "{text}"
            );
        }
    }
}
