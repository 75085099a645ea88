//! Is a keyword in a text? Whole words, the last one with its regular endings.

use super::text::{GAP, fold, is_blank, is_hyphen, is_word, normal};

/// A keyword in the form in which it is looked for.
pub(crate) struct Keyword {
    /// Its words, split at blanks and hyphens, the last one without what its endings replace. Empty: matches nothing.
    words: Vec<String>,
    /// What may follow, up to the end of the word; `None` where the script or a sign ends it anyway.
    endings: Option<Vec<String>>,
}

impl Keyword {
    pub(crate) fn new(base_form: &str) -> Self {
        let mut words: Vec<String> = fold(&normal(base_form))
            .split(|c| is_blank(c) || is_hyphen(c))
            .filter(|word| !word.is_empty() && !word.contains(GAP))
            .map(str::to_owned)
            .collect();
        let endings = words
            .last_mut()
            .filter(|word| word.ends_with(is_word))
            .map(split_endings);
        Self { words, endings }
    }

    /// Whether a folded text holds the keyword.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let Some((first, others)) = self.words.split_first() else {
            return false;
        };
        text.match_indices(first.as_str()).any(|(at, _)| {
            let begins = !first.starts_with(is_word) || !text[..at].ends_with(is_word);
            begins && self.goes_on(&text[at + first.len()..], others)
        })
    }

    /// Whether the text behind the first word goes on with the others and ends as it may.
    fn goes_on(&self, mut rest: &str, others: &[String]) -> bool {
        for word in others {
            match after_joint(rest).and_then(|rest| rest.strip_prefix(word.as_str())) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        let Some(endings) = &self.endings else {
            return true;
        };
        let ending = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        endings.iter().any(|known| known == ending)
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

/// Cuts `word` down to what all its forms share and gives the endings of plural, `-ed` and `-ing`. A possessive needs
/// none, since the apostrophe ends the word. Derived words (`-er`, `-ion`, `-ize`) are other words.
fn split_endings(word: &mut String) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let last = letters.last().copied().unwrap_or_default();
    let before = letters.iter().rev().nth(1).copied();
    let own = |endings: &[&str]| endings.iter().map(|&ending| ending.to_owned()).collect();
    if !last.is_alphabetic() || before.is_none() {
        return own(&["", "s"]);
    }
    if last == 'e' {
        word.pop();
        return match before {
            Some('e' | 'o' | 'y') => own(&["e", "es", "ed", "eing"]),
            _ => own(&["e", "es", "ed", "ing"]),
        };
    }
    if last == 'y' {
        word.pop();
        return match before {
            Some(before) if is_vowel(before) => own(&["y", "ys", "yed", "ying"]),
            _ => own(&["y", "ies", "ied", "ying"]),
        };
    }
    let mut endings: Vec<String> = own(&[""]);
    if matches!(last, 's' | 'x' | 'z' | 'o') || word.ends_with("ch") || word.ends_with("sh") {
        endings.push("es".into());
    }
    if !matches!(last, 's' | 'x' | 'z') && !word.ends_with("sh") {
        endings.push("s".into());
    }
    let doubles = doubles_its_end(&letters);
    if doubles {
        endings.extend([format!("{last}ed"), format!("{last}ing")]);
    }
    if doubles && matches!(last, 's' | 'z') {
        endings.push(format!("{last}es"));
    }
    // `planed` is of plane, not of plan; longer words are written both ways (`formated`).
    if !doubles || syllables(&letters) > 1 {
        endings.extend(own(&["ed", "ing"]) as Vec<String>);
    }
    endings
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
    use super::*;

    fn found(keyword: &str, text: &str) -> bool {
        Keyword::new(keyword).is_in(&fold(&normal(text)))
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
                "api APIs API's l'api api.",
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
