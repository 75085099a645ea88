//! Text from outside on its way to the screen: without control characters, measured and cut in cells.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// How many cells the text takes.
pub(super) fn cells(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// The text on one line, without anything that a terminal would act on: line breaks and tabs become spaces, other
/// control characters and those that turn the direction of what follows are dropped.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\t' => clean.push(' '),
            other if acts(other) => {}
            other => clean.push(other),
        }
    }
    Cow::Owned(clean)
}

fn acts(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// The text in at most so many cells, cut between clusters, with `…` in place of what is missing.
pub(super) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if cells(text) <= width {
        return Cow::Borrowed(text);
    }
    let mut end = 0;
    let mut taken = 0;
    for (start, cluster) in text.grapheme_indices(true) {
        taken += cluster.width();
        if taken >= width {
            break;
        }
        end = start + cluster.len();
    }
    let mark = if width == 0 { "" } else { "…" };
    Cow::Owned(format!("{}{mark}", text[..end].trim_end()))
}

/// The text broken into lines of at most `width` cells, at spaces where there are any.
///
/// More than `most` lines end in one that says how many are missing.
pub(super) fn wrap(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.trim_end().split('\n') {
        let mut line = String::new();
        let mut used = 0;
        for word in clean(paragraph).split_inclusive(' ') {
            if used > 0 && used + cells(word.trim_end()) > width {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                used = 0;
            }
            for cluster in word.graphemes(true) {
                if used > 0 && used + cluster.width() > width && cluster != " " {
                    lines.push(std::mem::take(&mut line));
                    used = 0;
                }
                line.push_str(cluster);
                used += cluster.width();
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    if lines.len() > most {
        let missing = lines.len() - most + 1;
        lines.truncate(most.saturating_sub(1));
        let plural = if missing == 1 { "line" } else { "lines" };
        lines.push(format!("… {missing} more {plural}"));
    }
    lines
}

/// `987`, `12k`, `412k`, `1M`, `1.2M`.
pub(super) fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..999_500 => format!("{}k", (count + 500) / 1_000),
        _ => {
            let tenths = (count + 50_000) / 100_000;
            match tenths % 10 {
                0 => format!("{}M", tenths / 10),
                rest => format!("{}.{rest}M", tenths / 10),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_cut_between_clusters() {
        let title = "日本語テスト🙂➡️1️⃣";
        for (text, width, expected) in [
            ("short", 12, "short"),
            ("exactly twelv", 13, "exactly twelv"),
            ("one too long", 11, "one too lo…"),
            ("one two three", 8, "one two…"),
            (title, 18, title),
            (title, 17, "日本語テスト🙂➡️…"),
            (title, 16, "日本語テスト🙂…"),
            (title, 12, "日本語テス…"),
            (title, 2, "…"),
            (title, 1, "…"),
            (title, 0, ""),
            ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "👩‍👩‍👧‍👦…"),
        ] {
            let shown = cut(text, width);
            assert_eq!(shown, expected, "{text} in {width}");
            assert!(cells(&shown) <= width, "{shown} in {width}");
        }
    }

    #[test]
    fn nothing_that_acts_on_a_terminal_is_left() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a\u{1b}[31mred", "a[31mred"),
            ("two\nlines\tand", "two lines and"),
            ("bell\u{7}\u{9d}0;x\u{9c}", "bell0;x"),
            ("right\u{202e}tfel", "righttfel"),
        ] {
            assert_eq!(clean(text), expected);
        }
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        for (text, width, most, expected) in [
            ("", 10, 9, &[""] as &[&str]),
            ("fits well", 10, 9, &["fits well"]),
            ("breaks at spaces", 10, 9, &["breaks at", "spaces"]),
            ("says 'a quote'", 8, 9, &["says 'a", "quote'"]),
            ("abcdefghijkl", 5, 9, &["abcde", "fghij", "kl"]),
            ("日本語テスト", 5, 9, &["日本", "語テ", "スト"]),
            ("one\n\ntwo\n", 10, 9, &["one", "", "two"]),
            ("a b c d e", 1, 3, &["a", "b", "… 3 more lines"]),
        ] {
            assert_eq!(wrap(text, width, most), expected, "{text:?} in {width}");
        }
    }

    #[test]
    fn tokens_are_short() {
        for (count, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (12_499, "12k"),
            (412_345, "412k"),
            (999_499, "999k"),
            (999_500, "1M"),
            (1_000_000, "1M"),
            (1_049_000, "1M"),
            (1_250_000, "1.3M"),
        ] {
            assert_eq!(tokens(count), expected, "{count}");
        }
    }
}
