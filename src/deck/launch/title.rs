//! A session's title, made of the words it was started with.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A title longer than this hides more of the tab list than it tells.
const WORDS: usize = 6;
const CELLS: usize = 40;

/// The first words of a text.
pub(crate) fn title(text: &str) -> String {
    of_words(text, WORDS, CELLS)
}

/// A title as a person gave it: whole, unless it is absurdly long.
pub(crate) fn given(text: &str) -> String {
    of_words(text, usize::MAX, 2 * CELLS)
}

/// The words on one line, without anything that could move the cursor or turn the text around.
fn of_words(text: &str, words: usize, cells: usize) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|c| !turns_around(*c))
        .collect();
    let words: Vec<&str> = clean.split_whitespace().take(words).collect();
    cut(&words.join(" "), cells)
}

/// Marks of bidirectional text: they change in which order a screen shows what stands around them.
fn turns_around(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text in at most so many cells, with `…` for what is missing.
fn cut(text: &str, cells: usize) -> String {
    if text.width() <= cells {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.graphemes(true) {
        if kept.width() + letter.width() >= cells {
            break;
        }
        kept.push_str(letter);
    }
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_a_few_words_on_one_line() {
        for (text, expected) in [
            ("fix the flaky login test", "fix the flaky login test"),
            (
                "one two three four five six seven",
                "one two three four five six",
            ),
            ("  a\n\tb\u{1b}[31m c ", "a b [31m c"),
            ("a\u{202e}b", "ab"),
            (
                "https://example.org/a/very/long/address/indeed",
                "https://example.org/a/very/long/address…",
            ),
            (
                "ログイン画面の不具合を直してください、お願いします",
                "ログイン画面の不具合を直してください、…",
            ),
            ("👩‍👩‍👧 fix", "👩‍👩‍👧 fix"),
            ("", ""),
        ] {
            assert_eq!(title(text), expected);
            assert!(title(text).width() <= CELLS);
        }
    }

    #[test]
    fn a_given_title_is_kept_on_one_line() {
        let long = "one two three four five six seven eight nine ten";
        for (text, expected) in [(long, long), (" a\nb\u{7} ", "a b")] {
            assert_eq!(given(text), expected);
        }
        assert_eq!(given(&"x".repeat(500)).width(), 2 * CELLS);
    }
}
