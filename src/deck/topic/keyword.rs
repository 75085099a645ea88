//! Is a keyword in a text? Whole words, the last one with its regular endings.

use super::text::{is_blank, is_hyphen, is_word};

/// Whether a text holds a keyword, both in the form in which texts are compared.
pub(crate) fn holds(text: &str, keyword: &str) -> bool {
    let mut words: Vec<&str> = keyword
        .split(|c| is_blank(c) || is_hyphen(c))
        .filter(|word| !word.is_empty())
        .collect();
    let Some(last) = words.pop() else {
        return false;
    };
    let (stem, endings) = stem_and_endings(last);
    words.push(stem);
    // Most keywords are not there at all.
    if !words.iter().all(|word| text.contains(word)) {
        return false;
    }
    let first = words.remove(0);
    text.match_indices(first).any(|(at, _)| {
        // Next to Han, kana and Hangul, and at their own edges, there is always a boundary.
        let begins = !first.starts_with(is_word) || !text[..at].ends_with(is_word);
        begins && goes_on(&text[at + first.len()..], &words, &endings)
    })
}

/// Whether the text behind the first word goes on with the others and then with one of the endings.
fn goes_on(mut rest: &str, words: &[&str], endings: &Endings) -> bool {
    for word in words {
        match after_joint(rest).and_then(|rest| rest.strip_prefix(word)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    let ending = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
    match endings {
        Endings::Any => true,
        Endings::These(plain, doubled) => {
            plain.contains(&ending)
                || doubled.is_some_and(|(last, endings)| {
                    ending
                        .strip_prefix(last)
                        .is_some_and(|ending| endings.contains(&ending))
                })
        }
    }
}

/// What follows the blanks or the hyphen between two words. A hyphen among blanks is a dash or a bullet.
fn after_joint(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix(is_hyphen) {
        return Some(rest);
    }
    let rest = text.trim_start_matches(is_blank);
    let blanks = &text[..text.len() - rest.len()];
    (!blanks.is_empty() && blanks.matches('\n').count() < 2).then_some(rest)
}

/// What may follow the stem up to the end of the word.
enum Endings {
    /// The script or a sign ends the word.
    Any,
    /// One of these, or the last letter once more with one of those.
    These(
        &'static [&'static str],
        Option<(char, &'static [&'static str])>,
    ),
}

/// What all forms of a word share, and what makes plural, `-ed` and `-ing` of it. A possessive needs nothing, since
/// the apostrophe ends the word. Derived words (`-er`, `-ion`, `-ize`) are other words.
fn stem_and_endings(word: &str) -> (&str, Endings) {
    let letters: Vec<char> = word.chars().collect();
    let stem = &word[..word.len() - letters.last().map_or(0, |last| last.len_utf8())];
    let (stem, plain): (&str, &[&str]) = match letters[..] {
        [.., last] if !is_word(last) => return (word, Endings::Any),
        [_] => (word, &["", "s"]),
        [.., last] if !last.is_alphabetic() => (word, &["", "s"]),
        [.., 'e' | 'o' | 'y', 'e'] => (stem, &["e", "es", "ed", "eing"]),
        [.., 'e'] => (stem, &["e", "es", "ed", "ing"]),
        [.., before, 'y'] if is_vowel(before) => (stem, &["y", "ys", "yed", "ying"]),
        [.., 'y'] => (stem, &["y", "ies", "ied", "ying"]),
        // `planed` is of plane, not of plan; longer words are written both ways (`formated`).
        [.., 's' | 'z'] if doubles_its_end(&letters) && syllables(&letters) == 1 => {
            (word, &["", "es"])
        }
        _ if doubles_its_end(&letters) && syllables(&letters) == 1 => (word, &["", "s"]),
        [.., 's' | 'x' | 'z'] | [.., 's', 'h'] => (word, &["", "es", "ed", "ing"]),
        [.., 'o'] | [.., 'c', 'h'] => (word, &["", "s", "es", "ed", "ing"]),
        _ => (word, &["", "s", "ed", "ing"]),
    };
    let doubled: Option<(char, &[&str])> = match letters[..] {
        [.., last @ ('s' | 'z')] if doubles_its_end(&letters) => Some((last, &["es", "ed", "ing"])),
        [.., last] if doubles_its_end(&letters) => Some((last, &["ed", "ing"])),
        _ => None,
    };
    (stem, Endings::These(plain, doubled))
}

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u')
}

/// Groups of vowels.
fn syllables(letters: &[char]) -> usize {
    letters
        .chunk_by(|a, b| is_vowel(*a) == is_vowel(*b))
        .filter(|group| is_vowel(group[0]))
        .count()
}

/// One vowel between consonants at the end, the last one of those that are doubled.
fn doubles_its_end(letters: &[char]) -> bool {
    match letters {
        [.., before, vowel, last] => {
            (!is_vowel(*before) || matches!(letters, [.., 'q', 'u', _, _]))
                && is_vowel(*vowel)
                && last.is_ascii_lowercase()
                && !is_vowel(*last)
                && !matches!(last, 'w' | 'x' | 'y')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::{fold, normal};
    use super::*;

    fn found(keyword: &str, text: &str) -> bool {
        holds(&fold(&normal(text)), &fold(&normal(keyword)))
    }

    #[test]
    fn a_keyword_is_found_in_its_forms_only() {
        for (keyword, hits, misses) in [
            (
                "bug",
                "bug Bugs bugged bugging bug's bugs' bug-free (bug) bug/bug \"bug\"",
                "debug debugger ladybug bugle buged bug2 _bug bug_ bugbear",
            ),
            (
                "fix",
                "fix fixes fixed fixing pre-fix",
                "fixture prefix fixer fixs",
            ),
            ("crash", "crash crashes crashed crashing", "crasher crashs"),
            (
                "plan",
                "plan plans planned planning",
                "plane planed planet planted explanation planner",
            ),
            (
                "format",
                "format formats formatted formated formatting",
                "formatter platform information formation",
            ),
            (
                "reproduce",
                "reproduce reproduces reproduced reproducing",
                "reproducible reproducer",
            ),
            (
                "guide",
                "guide guides guided guiding",
                "guid misguide guidance guideline",
            ),
            ("glossary", "glossary glossaries", "glossarys"),
            (
                "deploy",
                "deploy deploys deployed deploying",
                "deployment deploies",
            ),
            (
                "organic",
                "organic organics",
                "organize organization organically",
            ),
            (
                "conversion",
                "conversion conversions",
                "conversation convert",
            ),
            ("attribution", "attribution", "attribute attributes"),
            ("doc", "doc docs DOC", "docker doctor docked"),
            (
                "api",
                "api APIs API's API\u{2bc}s l'api api.",
                "capital rapid apiary apidae",
            ),
            ("sev1", "sev1 SEV1 sev1s", "sev12 sev"),
            ("analytics", "analytics analytics'", "analytic"),
            ("c++", "c++ C++ (c++)", "c+ abc++"),
            (
                "implement",
                "implemented implementing implements",
                "implementation implementer",
            ),
            ("query", "queries queried querying", "querie"),
            ("quiz", "quiz quizzes quizzed", "quize"),
            ("free", "freed freeing frees", "freing freedom"),
            (
                "documentación",
                "DOCUMENTACIÓN documentacio\u{301}n",
                "documentacion",
            ),
        ] {
            for word in hits.split(' ') {
                assert!(found(keyword, word), "{keyword} in {word}");
            }
            for word in misses.split(' ') {
                assert!(!found(keyword, word), "{keyword} in {word}");
            }
        }
    }

    #[test]
    fn words_of_a_keyword_are_joined_by_blanks_or_a_hyphen() {
        for (keyword, text, hit) in [
            ("meta description", "Meta  Descriptions", true),
            ("meta description", "meta-description", true),
            ("meta description", "meta\ndescription", true),
            ("meta description", "meta\u{a0}description", true),
            ("meta description", "meta\u{2011}descriptions", true),
            ("meta description", "meta\n\ndescription", false),
            ("meta description", "meta\n- description", false),
            ("meta description", "meta_description", false),
            ("meta description", "metadescription", false),
            ("meta description", "metadata description", false),
            ("meta description", "metas description", false),
            ("meta description", "meta, description", false),
            ("meta description", "meta\u{fffc}description", false),
            ("off-by-one", "off by one", true),
            ("off-by-one", "an off-by-one.", true),
            ("a/b test", "A/B-tests", true),
            ("a/b test", "a/b testing", true),
            ("a/b test", "a/ab test", false),
            ("failing test", "failing failing tests", true),
        ] {
            assert_eq!(found(keyword, text), hit, "{keyword} in {text}");
        }
    }

    #[test]
    fn scripts_without_blanks_need_no_boundary() {
        for (keyword, text, hit) in [
            ("站点地图", "加上站点地图吧", true),
            ("サイトマップ", "新サイトマップを", true),
            ("사이트맵", "사이트맵이", true),
            ("sitemap", "sitemapを", true),
            ("sitemap", "新sitemapsを", true),
            ("sitemap", "mysitemapを", false),
            ("seo対策", "このSEO対策は", true),
            ("seo対策", "XSEO対策", false),
            ("対策seo", "対策SEOs", true),
            ("対策seo", "対策SEOx", false),
            ("", "anything", false),
            ("- ", "- -", false),
        ] {
            assert_eq!(found(keyword, text), hit, "{keyword} in {text}");
        }
    }
}
