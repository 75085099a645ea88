//! Does a prompt belong to another profile? The rules stand in `tests/cases/README.md`.

mod client_text;
mod code;
mod diff;
mod keyword;
mod log;
mod machine;
mod markup;
mod quotes;
mod references;
mod scored;
mod source;
#[cfg(test)]
mod tests;
mod text;
mod trace;

use std::cmp::Reverse;

pub(crate) use client_text::OPENINGS;
pub(crate) use references::place;
pub(crate) use scored::Scored;

use super::profile::{Profile, Profiles, Signs};
use text::{after_sign, is_blank, is_cjk, is_invisible, normal};

/// What is to become of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Let through, nothing said.
    Pass,
    /// Let through because it is very short.
    Short,
    /// Let through because it is a command of the client.
    Slash,
    /// Let through because the person said so.
    Force,
    /// A side thought for the inbox: what was typed behind the sign, which may be nothing.
    Park { text: String },
    /// It belongs to another profile, for these of its keywords.
    Block {
        profile: String,
        matched: Vec<String>,
    },
}

/// Judges a prompt in a session of the profile named `current`. A session of no known profile has no topic to leave.
pub(crate) fn check(prompt: &str, current: &str, set: &Profiles) -> Verdict {
    let Some(typed) = client_text::typed(prompt) else {
        return Verdict::Pass;
    };
    let signs = &set.signs;
    if is_empty(typed) {
        return Verdict::Short;
    }
    if let Some(rest) = after_prefix(typed, &signs.park) {
        let text = rest.trim().to_owned();
        return Verdict::Park { text };
    }
    if after_prefix(typed, &signs.force).is_some() || ends_with_word(typed, &signs.force) {
        return Verdict::Force;
    }
    if is_slash_command(typed) {
        return Verdict::Slash;
    }
    if is_short(typed, signs.short_units) {
        return Verdict::Short;
    }
    match set.named(current) {
        Some(profile) if !profile.open => block(typed, profile, set).unwrap_or(Verdict::Pass),
        _ => Verdict::Pass,
    }
}

/// The keywords of a profile that words hold, each once; for the choice of a profile.
pub(crate) fn hits(text: &str, profile: &Profile) -> Vec<String> {
    Scored::new(text, Signs::default().edge_chars).hits(&profile.keywords)
}

fn block(typed: &str, current: &Profile, set: &Profiles) -> Option<Verdict> {
    let scored = Scored::new(typed, set.signs.edge_chars);
    let on_topic =
        |profile: &&Profile| profile.name == current.name || current.covers.contains(&profile.name);
    let (own, others): (Vec<&Profile>, Vec<&Profile>) = set.profiles.iter().partition(on_topic);
    let own = own
        .iter()
        .map(|profile| scored.hits(&profile.keywords).len())
        .max()
        .unwrap_or_default();
    let (profile, matched) = others
        .iter()
        .map(|profile| (profile, scored.hits(&profile.keywords)))
        // Of equals the first: the order of the file decides.
        .min_by_key(|(_, matched)| Reverse(matched.len()))?;
    (matched.len() >= set.signs.min_hits && matched.len() > own).then(|| Verdict::Block {
        profile: profile.name.clone(),
        matched,
    })
}

fn is_empty(text: &str) -> bool {
    text.chars().all(|c| is_blank(c) || is_invisible(c))
}

/// The text behind a sign at the start. A run of the sign's letter that is longer is something else (`>>>`), and a
/// sign that is a word has to end like one.
fn after_prefix<'a>(text: &'a str, sign: &str) -> Option<&'a str> {
    let rest = after_sign(text, sign)?;
    let last = sign.chars().next_back()?;
    let last = last.encode_utf8(&mut [0; 4]).to_owned();
    let is_run = sign.chars().all(|c| last.starts_with(c));
    let goes_on = (is_run && after_sign(rest, &last).is_some())
        || (last.starts_with(text::is_word) && rest.starts_with(text::is_word));
    (!goes_on).then_some(rest)
}

fn ends_with_word(text: &str, sign: &str) -> bool {
    let text = text.trim_end_matches(|c| is_blank(c) || is_invisible(c));
    text.char_indices()
        .rev()
        .find(|(_, c)| is_blank(*c))
        .and_then(|(at, c)| after_sign(&text[at + c.len_utf8()..], sign))
        .is_some_and(str::is_empty)
}

/// `/name`, `/plugin:name`; a path goes on with another slash or a stop.
fn is_slash_command(text: &str) -> bool {
    let Some(name) = after_sign(text, "/") else {
        return false;
    };
    let end = name
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':' | '-')))
        .unwrap_or(name.len());
    name.starts_with(char::is_alphabetic)
        && (end == name.len() || name[end..].starts_with(is_blank))
}

/// A unit is a word; of Han, kana and Hangul two letters, since they stand without blanks.
fn is_short(text: &str, most: usize) -> bool {
    let (mut words, mut letters) = (0, 0);
    for word in text.split(is_blank).filter(|word| !word.is_empty()) {
        let word = normal(word);
        letters += word.chars().filter(|c| is_cjk(*c)).count();
        words += word
            .split(is_cjk)
            .filter(|part| part.contains(char::is_alphanumeric))
            .count();
        if words * 2 + letters > most.saturating_mul(2) {
            return false;
        }
    }
    true
}
