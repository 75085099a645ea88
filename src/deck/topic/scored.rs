//! The part of a prompt that counts: what a person typed in words, of a long one both ends.

use super::code::without_code;
use super::keyword::holds;
use super::machine::Lines;
use super::markup::without_markup;
use super::quotes::without_quotes;
use super::references::without_references;
use super::text::{GAP, fold, is_word, normal};

/// A text in the form in which keywords are looked for.
pub(crate) struct Scored(String);

impl Scored {
    /// Of a text that is longer than twice `edge_chars` characters only the first and the last so many count.
    pub(crate) fn new(text: &str, edge_chars: usize) -> Self {
        let text = without_markup(without_code(normal(text)));
        Self(fold(&ends(&Lines::new(text.trim()), edge_chars)))
    }

    /// Those of the keywords that it holds, each once.
    pub(crate) fn hits(&self, keywords: &[String]) -> Vec<String> {
        let mut seen = Vec::new();
        keywords
            .iter()
            .filter(|keyword| {
                let form = fold(&normal(keyword));
                let is_hit = holds(&self.0, &form) && !seen.contains(&form);
                seen.push(form);
                is_hit
            })
            .cloned()
            .collect()
    }
}

/// What is left of the lines, or both ends of it. The middle of a long text is not even looked at.
fn ends(lines: &Lines<'_>, edge: usize) -> String {
    let most = edge.saturating_mul(2);
    let mut lines = lines.typed();
    let mut text = String::new();
    let mut len = 0;
    for line in lines.by_ref() {
        len += push_words(line, &mut text);
        if len > most {
            break;
        }
    }
    let mut tail: Vec<String> = Vec::new();
    let mut len = 0;
    while len <= edge
        && let Some(line) = lines.next_back()
    {
        let mut words = String::new();
        len += push_words(line, &mut words);
        tail.push(words);
    }
    if lines.next().is_some() {
        text.push(GAP);
    }
    text.extend(tail.into_iter().rev());
    both_ends(text.trim(), edge)
}

/// Adds the typed words of a line and says how many characters they have.
fn push_words(line: Option<&str>, text: &mut String) -> usize {
    let Some(line) = line else {
        text.push(GAP);
        return 0;
    };
    let words = without_quotes(line);
    let words = without_references(&words);
    text.push_str(&words);
    words.chars().filter(|c| *c != GAP).count()
}

/// The first and the last characters, without a word that the cut halves: half of it may look like another one.
fn both_ends(text: &str, edge: usize) -> String {
    if text.chars().filter(|c| *c != GAP).count() <= edge.saturating_mul(2) {
        return text.to_owned();
    }
    let end = text
        .char_indices()
        .nth(edge)
        .map_or(text.len(), |(at, _)| at);
    let start = text
        .char_indices()
        .rev()
        .take(edge)
        .last()
        .map_or(text.len(), |(at, _)| at);
    let halved = |at: usize| text[..at].ends_with(is_word) && text[at..].starts_with(is_word);
    let (mut head, mut tail) = (&text[..end], &text[start..]);
    if halved(end) {
        head = head.trim_end_matches(is_word);
    }
    if halved(start) {
        tail = tail.trim_start_matches(is_word);
    }
    format!("{head}{GAP}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_both_ends_count_without_halved_words() {
        for (text, edge, counts) in [
            ("abc def", 4, "abc def"),
            (" abc def \n", 4, "abc def"),
            ("abc def ghi", 4, "abc ¤ ghi"),
            ("abc def ghi", 5, "abc ¤ ghi"),
            ("abcdefghijkl", 3, "¤"),
            ("站点地图站点地图", 2, "站点¤地图"),
            ("a\nb\nc\nd\ne\nf\ng", 2, "a\n¤\ng"),
            ("abc\n> quoted\ndef", 4, "abc\n¤def"),
            ("abcdefg\n> quoted\nh", 2, "¤¤h"),
            ("a\nb", 0, "¤"),
        ] {
            let lines = Lines::new(text);
            assert_eq!(ends(&lines, edge).replace(GAP, "¤"), counts, "{text}");
        }
    }
}
