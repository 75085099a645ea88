//! Leaves out text in quotes.

use std::borrow::Cow;

use super::text::{GAP, is_word};

/// What closes a quote that opens so.
fn closers(open: char) -> &'static [char] {
    match open {
        '"' => &['"'],
        '“' => &['”', '“'],
        '„' | '‟' => &['“', '”'],
        '”' => &['”'],
        '«' => &['»'],
        '»' => &['«'],
        '‹' => &['›'],
        '›' => &['‹'],
        '‘' | '‚' => &['’', '‘'],
        '「' => &['」'],
        '『' => &['』'],
        '〝' => &['〟', '〞'],
        _ => &[],
    }
}

/// Without text in double or typographic quotes that close in the same line.
pub(crate) fn without_quotes(line: &str) -> Cow<'_, str> {
    let opens = |c: char| !closers(c).is_empty();
    if !line.contains(opens) {
        return Cow::Borrowed(line);
    }
    let mut kept = String::with_capacity(line.len());
    let (mut from, mut seen) = (0, 0);
    // What nothing closes in the rest of the line. Else a line full of it would be searched anew for each.
    let mut unclosed: Vec<char> = Vec::new();
    while let Some((at, c)) = line[seen..].char_indices().find(|(_, c)| opens(*c)) {
        let at = seen + at;
        seen = at + c.len_utf8();
        // An inch sign or an apostrophe opens nothing.
        if line[..at].ends_with(is_word) || unclosed.contains(&c) {
            continue;
        }
        match closed(line, seen, closers(c)) {
            Some(end) => {
                kept.push_str(&line[from..at]);
                kept.push(GAP);
                (from, seen) = (end, end);
            }
            None => unclosed.push(c),
        }
    }
    kept.push_str(&line[from..]);
    Cow::Owned(kept)
}

/// Where the quote ends. What stands within a word is an apostrophe or opens another quote.
fn closed(line: &str, from: usize, closers: &[char]) -> Option<usize> {
    line[from..]
        .match_indices(closers)
        .map(|(at, sign)| from + at + sign.len())
        .find(|end| !line[*end..].starts_with(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_left_out_within_a_line() {
        for (text, kept) in [
            ("set \"a b\" to \"c\"", "set ¤ to ¤"),
            ("a “b” c", "a ¤ c"),
            ("a „b“ c", "a ¤ c"),
            ("a «b» c »d« e", "a ¤ c ¤ e"),
            ("a ‘don’t b’ c", "a ¤ c"),
            ("don’t touch the users’ b", "don’t touch the users’ b"),
            ("把\"站点地图\"改", "把¤改"),
            ("「地図」を", "¤を"),
            ("a 27\" and a 24\" screen", "a 27\" and a 24\" screen"),
            ("a \"b c", "a \"b c"),
            ("'a b' c", "'a b' c"),
            ("(\"a\")", "(¤)"),
        ] {
            assert_eq!(without_quotes(text).replace(GAP, "¤"), kept, "{text}");
        }
    }
}
