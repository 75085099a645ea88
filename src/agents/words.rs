//! An agent's flags taken apart, so that no value is mistaken for a flag.

use crate::deck::launch::Flags;

/// One flag with the values that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// The flag without a value joined to it.
    pub(super) flag: &'a str,
    /// Joined by `=`, or the next word; of a variadic flag the first.
    pub(super) value: Option<&'a str>,
    /// The words as they were given.
    pub(super) given: &'a [String],
}

/// The flags in their order. A word that is neither flag nor value stands as a flag of its own.
pub(super) fn take_apart<'a>(flags: &Flags, words: &'a [String]) -> Vec<Word<'a>> {
    let mut apart = Vec::new();
    let mut rest = words;
    while let Some(first) = rest.first() {
        let joined = first
            .starts_with("--")
            .then(|| first.split_once('='))
            .flatten();
        let length = if joined.is_some() {
            1
        } else if flags.value.contains(&first.as_str()) {
            rest.len().min(2)
        } else if flags.variadic.contains(&first.as_str()) {
            let values = rest[1..].iter().take_while(|word| !word.starts_with('-'));
            1 + values.count()
        } else {
            1
        };
        let (given, after) = rest.split_at(length);
        apart.push(Word {
            flag: joined.map_or(first.as_str(), |(flag, _)| flag),
            value: joined
                .map(|(_, value)| value)
                .or_else(|| given.get(1).map(String::as_str)),
            given,
        });
        rest = after;
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_never_taken_for_a_flag() {
        let flags = Flags {
            value: &["--text", "-t"],
            bare: &["--bare"],
            variadic: &["--many"],
            aliases: &[],
        };
        for (line, expected) in [
            ("--bare --bare", "--bare|--bare"),
            ("--text --bare --bare", "--text=--bare|--bare"),
            ("--text=--bare -t x", "--text=--bare|-t=x"),
            ("--many a b --bare", "--many=a|--bare"),
            ("--many=a b", "--many=a|b"),
            ("--unknown x", "--unknown|x"),
            ("--text", "--text"),
            ("", ""),
        ] {
            let words: Vec<String> = line.split_whitespace().map(String::from).collect();
            let apart = take_apart(&flags, &words);
            let shown: Vec<String> = apart
                .iter()
                .map(|word| match word.value {
                    Some(value) => format!("{}={value}", word.flag),
                    None => word.flag.into(),
                })
                .collect();
            assert_eq!(shown.join("|"), expected, "{line}");
            let given: Vec<String> = apart.iter().flat_map(|word| word.given.to_vec()).collect();
            assert_eq!(given, words, "{line}");
        }
    }
}
