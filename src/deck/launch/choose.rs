//! From words to a profile.

use fuzzy_matcher::FuzzyMatcher;
use fuzzy_matcher::skim::SkimMatcherV2;

use crate::deck::profile::{Profile, Profiles};
use crate::deck::topic::hits;

/// Which profile words belong to, and what decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// None only where nothing matched and no profile is the default.
    pub(crate) winner: Option<String>,
    pub(crate) why: Why,
    /// The keywords, or the words that look like its name; none for a default.
    pub(crate) matched: Vec<String>,
    /// The next best profile with its keywords.
    pub(crate) runner_up: Option<(String, Vec<String>)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Why {
    /// The person named it.
    Named,
    /// It has the most keywords.
    Keywords,
    /// The runner-up has as many keywords; the winner stands before it in the set.
    Tie,
    /// No keyword matched, a word looks like its name.
    Name,
    /// Nothing matched.
    Default,
    /// Nothing matched, and no profile is the default.
    #[default]
    Nothing,
}

/// The profile for a text; keywords decide, names only where no keyword is found.
pub(crate) fn choose(text: &str, set: &Profiles) -> Choice {
    let mut found: Vec<(&Profile, Vec<String>)> = set
        .profiles
        .iter()
        .map(|profile| (profile, hits(text, profile)))
        .filter(|(_, hits)| !hits.is_empty())
        .collect();
    // Stable, so that a tie goes by the order of the set.
    found.sort_by_key(|(_, hits)| std::cmp::Reverse(hits.len()));
    let mut found = found.into_iter();
    let Some((winner, matched)) = found.next() else {
        return without_keywords(text, set);
    };
    let runner_up = found.next();
    let is_tie = runner_up
        .as_ref()
        .is_some_and(|(_, hits)| hits.len() == matched.len());
    Choice {
        winner: Some(winner.name.clone()),
        why: if is_tie { Why::Tie } else { Why::Keywords },
        matched,
        runner_up: runner_up.map(|(profile, hits)| (profile.name.clone(), hits)),
    }
}

fn without_keywords(text: &str, set: &Profiles) -> Choice {
    let matcher = SkimMatcherV2::default().ignore_case();
    let named = text
        .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
        .flat_map(|word| set.profiles.iter().map(move |profile| (word, profile)))
        .filter_map(|(word, profile)| Some((alike(&matcher, word, &profile.name)?, word, profile)))
        .max_by_key(|(score, _, _)| *score);
    if let Some((_, word, profile)) = named {
        return Choice {
            winner: Some(profile.name.clone()),
            why: Why::Name,
            matched: vec![word.to_owned()],
            runner_up: None,
        };
    }
    match set.profiles.iter().find(|profile| profile.default) {
        Some(profile) => Choice {
            winner: Some(profile.name.clone()),
            why: Why::Default,
            ..Choice::default()
        },
        None => Choice::default(),
    }
}

/// How much a word looks like a name with letters left out. Two letters at most, and no short words: `for` is in
/// `refactor`, but nobody means it.
fn alike(matcher: &SkimMatcherV2, word: &str, name: &str) -> Option<i64> {
    let missing = name.chars().count().checked_sub(word.chars().count())?;
    let is_name = missing == 0 || (missing <= 2 && word.chars().count() >= 4);
    is_name.then(|| matcher.fuzzy_match(name, word)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> Profiles {
        let profile = |name: &str, keywords: &str| Profile {
            name: name.into(),
            keywords: keywords.split(' ').map(Into::into).collect(),
            default: name == "quick",
            ..Profile::default()
        };
        Profiles {
            profiles: vec![
                profile("bugfix", "bug fix crash"),
                profile("docs", "readme guide tutorial"),
                profile("refactor", "restructure"),
                profile("quick", "typo"),
            ],
            ..Profiles::default()
        }
    }

    #[test]
    fn most_keywords_win_then_a_name_then_the_default() {
        for (text, winner, why, matched, runner_up) in [
            (
                "fix the crash in the guide",
                "bugfix",
                Why::Keywords,
                "fix crash",
                Some("docs"),
            ),
            (
                "guide and tutorial for the bug",
                "docs",
                Why::Keywords,
                "guide tutorial",
                Some("bugfix"),
            ),
            ("fix the guide", "bugfix", Why::Tie, "fix", Some("docs")),
            ("a typo", "quick", Why::Keywords, "typo", None),
            ("Refactr the parser", "refactor", Why::Name, "Refactr", None),
            ("more docs", "docs", Why::Name, "docs", None),
            ("wait for it", "quick", Why::Default, "", None),
            ("upgrade react", "quick", Why::Default, "", None),
            ("", "quick", Why::Default, "", None),
        ] {
            let choice = choose(text, &set());
            let found = choice.matched.join(" ");
            let second = choice.runner_up.map(|(name, _)| name);
            assert_eq!(
                (
                    choice.winner.as_deref(),
                    choice.why,
                    found.as_str(),
                    second.as_deref()
                ),
                (Some(winner), why, matched, runner_up),
                "{text}"
            );
        }
    }

    #[test]
    fn without_a_default_nothing_is_chosen() {
        assert_eq!(
            choose("wait for it", &Profiles::default()),
            Choice::default()
        );
    }
}
