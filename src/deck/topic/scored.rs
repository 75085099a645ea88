//! The part of a prompt that counts: what a person typed in words, of a long one both ends.

use super::code::without_code;
use super::keyword::Keyword;
use super::machine::without_machine_lines;
use super::markup::without_markup;
use super::spans::{without_quotes, without_references};
use super::text::{GAP, fold, is_word, normal};

/// A text in the form in which keywords are looked for.
pub(crate) struct Scored(String);

impl Scored {
    /// Of a text that is longer than twice `edge_chars` characters only the first and the last so many count.
    pub(crate) fn new(text: &str, edge_chars: usize) -> Self {
        let text = without_markup(&without_code(&normal(text)));
        let text = without_references(&without_quotes(&without_machine_lines(&text)));
        Self(fold(&ends(text.trim(), edge_chars)))
    }

    /// Those of the keywords that it holds, each once.
    pub(crate) fn hits(&self, keywords: &[String]) -> Vec<String> {
        let mut seen = Vec::new();
        keywords
            .iter()
            .filter(|keyword| {
                let form = fold(&normal(keyword));
                let found = !seen.contains(&form) && Keyword::new(keyword).is_in(&self.0);
                seen.push(form);
                found
            })
            .cloned()
            .collect()
    }
}

/// Both ends without words that the cut halves: half a word may look like another one.
fn ends(text: &str, edge: usize) -> String {
    let len = text.chars().filter(|c| *c != GAP).count();
    if len <= edge.saturating_mul(2) {
        return text.to_owned();
    }
    let offset = |chars: usize| {
        text.char_indices()
            .nth(chars)
            .map_or(text.len(), |(at, _)| at)
    };
    let total = text.chars().count();
    let (mut head, mut tail) = (
        &text[..offset(edge)],
        &text[offset(total.saturating_sub(edge))..],
    );
    if text[head.len()..].starts_with(is_word) {
        head = head.trim_end_matches(is_word);
    }
    if text[..text.len() - tail.len()].ends_with(is_word) {
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
            ("abc def ghi", 4, "abc ¤ ghi"),
            ("abc def ghi", 5, "abc ¤ ghi"),
            ("abcdefghijkl", 3, "¤"),
            ("站点地图站点地图", 2, "站点¤地图"),
        ] {
            assert_eq!(ends(text, edge).replace(GAP, "¤"), counts, "{text}");
        }
    }
}
