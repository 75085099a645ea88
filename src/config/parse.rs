//! TOML text to a type, with errors that name line, column and the nearest right word.

use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::config::nearest::nearest;
use crate::error::{Error, Exit, Result};

/// The value in `text`; an error says what was expected where in `file`.
pub(crate) fn parse<T: DeserializeOwned>(text: &str, file: &Path) -> Result<T> {
    toml::from_str(text).map_err(|error| {
        let (what, mend) = explained(error.message());
        let mut told = wrong(file, text, error.span(), what);
        if let Some(mend) = mend {
            told = told.mend(mend);
        }
        told
    })
}

/// A settings error at the start of `span`, which counts bytes of `text`.
pub(crate) fn wrong(
    file: &Path,
    text: &str,
    span: Option<Range<usize>>,
    what: impl Into<String>,
) -> Error {
    Error::new(Exit::Settings, what).at(file, span.map(|span| position(text, span.start)))
}

/// Line and column, both from 1; columns count characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

/// The parser's message as a sentence of ours, and the word that was probably meant.
fn explained(message: &str) -> (String, Option<String>) {
    let message = message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("; ");
    let Some((head, tail)) = message.split_once(", expected ") else {
        return (message, None);
    };
    if let Some(expected) = in_plain_words(tail) {
        return (format!("{head}, expected {expected}"), None);
    }
    let known: Vec<&str> = tail.split('`').skip(1).step_by(2).collect();
    let (true, Some(word)) = (head.starts_with("unknown "), head.split('`').nth(1)) else {
        return (message, None);
    };
    let mend = (!known.is_empty()).then(|| format!("known here: `{}`", known.join("`, `")));
    match nearest(word, known.iter().copied()) {
        Some(near) => (format!("{head}, expected `{near}`"), mend),
        None => (head.to_owned(), mend),
    }
}

/// What a parser expects, said to somebody who writes no Rust.
fn in_plain_words(expected: &str) -> Option<&'static str> {
    Some(match expected {
        "usize" | "u64" => "a whole number",
        "a boolean" => "`true` or `false`",
        "a string" => "a text in quotes",
        "a sequence" => "a list",
        "an array of length 4" => "a list of four",
        "a map" => "a table",
        _ if expected.starts_with("struct ") => "a table",
        _ => return None,
    })
}

/// The error of a word that is none of `known`, in the form that [`parse`] finds the nearest word in.
pub(crate) fn unknown<E: serde::de::Error>(kind: &str, word: &str, known: &[&str]) -> E {
    E::custom(format_args!(
        "unknown {kind} `{word}`, expected one of `{}`",
        known.join("`, `")
    ))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the errors are read")]
    struct Sample {
        #[serde(default)]
        theme: String,
        #[serde(default)]
        rows: usize,
        #[serde(default)]
        park: Option<Park>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Park {
        Hook,
        Model,
    }

    #[test]
    fn an_error_names_line_column_and_the_nearest_word() {
        for (text, expected) in [
            (
                "\nthem = 1",
                "unknown field `them`, expected `theme` (a.toml:2:1); known here: `theme`, `rows`, `park`",
            ),
            (
                "zebra = 1",
                "unknown field `zebra` (a.toml:1:1); known here: `theme`, `rows`, `park`",
            ),
            (
                "theme = \"äöü\"\nrows = \"5\"",
                "invalid type: string \"5\", expected a whole number (a.toml:2:8)",
            ),
            (
                "park = \"modle\"",
                "unknown variant `modle`, expected `model` (a.toml:1:8); known here: `hook`, `model`",
            ),
            (
                "theme = \"ä\" rows",
                "unexpected key or value, expected newline, `#` (a.toml:1:13)",
            ),
            ("rows = 1\nrows = 2", "duplicate key (a.toml:2:1)"),
        ] {
            let error = parse::<Sample>(text, Path::new("a.toml")).unwrap_err();
            assert_eq!(
                (error.line().as_str(), error.exit()),
                (expected, Exit::Settings)
            );
        }
    }
}
