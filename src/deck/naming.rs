//! The name that commands take: made of the title, unique in the deck.

/// Longer names are a burden to type; the title says the rest.
const LONGEST: usize = 32;

/// A name of lowercase words joined by dashes that `taken` does not know.
pub(crate) fn unique(title: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = String::new();
    for word in title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let joined = if name.is_empty() {
            word.to_lowercase()
        } else {
            format!("{name}-{}", word.to_lowercase())
        };
        if joined.chars().count() > LONGEST && !name.is_empty() {
            break;
        }
        name = joined;
    }
    // An id is a number, so a name never is one.
    if name.is_empty() || name.chars().all(|c| c.is_ascii_digit()) {
        name.insert_str(
            0,
            if name.is_empty() {
                "session"
            } else {
                "session-"
            },
        );
    }
    let name: String = name.chars().take(LONGEST).collect();
    if !taken(&name) {
        return name;
    }
    // More sessions of one name than this were never told apart by their names.
    (2..1_000_000)
        .map(|n| format!("{name}-{n}"))
        .find(|next| !taken(next))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_typable_unique_and_no_number() {
        for (title, taken, name) in [
            (
                "Fix the flaky login test",
                &[][..],
                "fix-the-flaky-login-test",
            ),
            ("fix  CI!", &["fix-ci"][..], "fix-ci-2"),
            ("fix ci", &["fix-ci", "fix-ci-2"][..], "fix-ci-3"),
            ("日本語 テスト", &[][..], "日本語-テスト"),
            ("…", &[][..], "session"),
            ("12", &[][..], "session-12"),
            (
                "a very long title that goes on and on for ever",
                &[][..],
                "a-very-long-title-that-goes-on",
            ),
        ] {
            assert_eq!(unique(title, |name| taken.contains(&name)), name, "{title}");
        }
    }
}
