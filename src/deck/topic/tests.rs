//! The labelled cases, and a table for each rule.

use super::*;

/// The profile set of the cases.
fn default_set() -> Profiles {
    let file: toml::Table = include_str!("../../../tests/cases/profiles.toml")
        .parse()
        .unwrap();
    let words = |value: &toml::Value| {
        let words = value.as_array().unwrap();
        words
            .iter()
            .map(|word| word.as_str().unwrap().to_owned())
            .collect()
    };
    let profiles = file["profile"].as_array().unwrap();
    Profiles {
        signs: Signs::default(),
        profiles: profiles
            .iter()
            .map(|profile| Profile {
                name: profile["name"].as_str().unwrap().into(),
                open: profile["open"].as_bool().unwrap(),
                covers: words(&profile["covers"]),
                keywords: words(&profile["keywords"]),
                ..Profile::default()
            })
            .collect(),
    }
}

fn label(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Pass => "pass".into(),
        Verdict::Short => "short".into(),
        Verdict::Slash => "slash".into(),
        Verdict::Force => "force".into(),
        Verdict::Park { .. } => "park".into(),
        Verdict::Block { profile, .. } => format!("block:{profile}"),
    }
}

#[test]
fn the_labelled_cases_are_judged_as_labelled() {
    let set = default_set();
    let (mut false_blocks, mut misses, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let cases = include_str!("../../../tests/cases/off_topic.jsonl");
    for case in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(case).unwrap();
        let field = |name: &str| case[name].as_str().unwrap();
        let verdict = check(field("prompt"), field("current"), &set);
        let (got, expect) = (label(&verdict), field("expect"));
        if got == expect {
            continue;
        }
        let line = format!(
            "{} {expect}, not {verdict:?}: {}",
            field("id"),
            field("why")
        );
        if expect.starts_with("block:") {
            misses.push(line);
        } else if got.starts_with("block:") {
            false_blocks.push(line);
        } else {
            others.push(line);
        }
    }
    assert_eq!(cases.lines().count(), 129);
    assert!(
        false_blocks.is_empty() && misses.is_empty() && others.is_empty(),
        "{} false blocks {false_blocks:#?}\n{} misses {misses:#?}\n{} other {others:#?}",
        false_blocks.len(),
        misses.len(),
        others.len(),
    );
}

/// Rows of a prompt in a bugfix session and its label.
fn judged_in_a_bugfix_session(rows: &[(&str, &str)]) {
    let set = default_set();
    for (prompt, expect) in rows {
        assert_eq!(label(&check(prompt, "bugfix", &set)), *expect, "{prompt}");
    }
}

#[test]
fn the_first_rule_that_applies_decides() {
    judged_in_a_bugfix_session(&[
        ("", "short"),
        ("\u{feff} \u{3000}\n", "short"),
        ("<system-reminder>x</system-reminder>", "pass"),
        ("<system-reminder>x</system-reminder> !! y", "force"),
        ("<system-reminder>x</system-reminder>\n/clear", "slash"),
        ("<system-reminder>x</system-reminder>\nyes", "short"),
        ("!! /clear", "force"),
        ("!!", "force"),
        ("!!! the sitemap and the canonical", "block:seo"),
        ("the sitemap and the canonical !!", "force"),
        ("the sitemap and the canonical\n！！ \n", "force"),
        ("the sitemap and the canonical!!", "block:seo"),
        ("the sitemap and the canonical !!!", "block:seo"),
        ("the sitemap !! and the canonical", "block:seo"),
        ("the sitemap and the canonical >>", "block:seo"),
        (">> the sitemap !!", "park"),
        (">>", "park"),
        (">>> the sitemap and the canonical", "pass"),
        ("＞>＞ the sitemap and the canonical", "pass"),
        ("/a-b:c_1\nthe sitemap and canonical", "slash"),
        ("/1 the sitemap and the canonical", "block:seo"),
        ("/a. the sitemap and the canonical", "block:seo"),
        ("/a/b the sitemap and the canonical", "block:seo"),
        ("/ the sitemap and the canonical", "block:seo"),
    ]);
}

#[test]
fn very_short_is_counted_in_units() {
    judged_in_a_bugfix_session(&[
        ("seo sitemap canonical hreflang", "short"),
        ("seo sitemap canonical hreflang serp", "block:seo"),
        ("seo - sitemap - canonical - hreflang", "short"),
        ("seo-sitemap canonical/hreflang serp backlink", "short"),
        ("站点地图canonical", "short"),
        ("站点地图在哪里呢", "short"),
        ("站点地图在哪里呢？seo", "block:seo"),
        ("sitemap的canonical在哪", "short"),
        ("사이트맵 canonical 확인해 주세요", "block:seo"),
    ]);
}

#[test]
fn what_is_left_after_quoting_and_code_is_judged() {
    judged_in_a_bugfix_session(&[
        ("is “sitemap” the same as the canonical here", "pass"),
        ("is 'sitemap' the same as the canonical here", "block:seo"),
        ("look at this sitemap `x` canonical of ours", "block:seo"),
        ("the meta `x` description and the title `y` tag", "pass"),
        ("the meta\n> quoted\ndescription and the sitemap", "pass"),
        (
            "the docs/sitemap and docs/canonical folders are empty",
            "block:seo",
        ),
        (
            "the a/docs/sitemap and a/docs/canonical folders are empty",
            "pass",
        ),
        ("use sitemap_url and canonical_url in this place", "pass"),
        ("use sitemapUrl and canonicalUrl in this place", "pass"),
        ("use --sitemap and --canonical in this place", "block:seo"),
        (
            "<task>write the sitemap and the canonical</task> please do it",
            "pass",
        ),
    ]);
}

#[test]
fn signs_and_figures_are_those_of_the_set() {
    let mut set = default_set();
    set.signs = Signs {
        force: "force".into(),
        park: String::new(),
        short_units: 0,
        min_hits: 1,
        edge_chars: 10,
    };
    for (prompt, expect) in [
        ("force sitemap", "force"),
        ("Force: sitemap", "force"),
        ("forced sitemap", "block:seo"),
        ("sitemap please force", "force"),
        ("sitemap !!", "block:seo"),
        (">> sitemap", "pass"),
        ("sitemap", "block:seo"),
        ("aaaa aaaa aaaa sitemap aaaa aaaa aaaa", "pass"),
        ("aaaa aaaa aaaa aaaa aaaa aa sitemap", "block:seo"),
    ] {
        assert_eq!(label(&check(prompt, "bugfix", &set)), expect, "{prompt}");
    }
    assert_eq!(check("sitemap", "gone", &set), Verdict::Pass);
}

#[test]
fn a_parked_text_is_what_was_typed() {
    let set = default_set();
    for (prompt, text) in [
        (
            ">> Ｆix the `cart`\n  - twice\n",
            "Ｆix the `cart`\n  - twice",
        ),
        (" ＞＞a", "a"),
        (">>  \n", ""),
    ] {
        let text = text.to_owned();
        assert_eq!(check(prompt, "seo", &set), Verdict::Park { text });
    }
}

#[test]
fn a_block_names_the_words_as_the_profile_has_them() {
    let prompt = "the META-descriptions, the Sitemaps and the sitemap are outdated";
    let verdict = Verdict::Block {
        profile: "seo".into(),
        matched: vec!["sitemap".into(), "meta description".into()],
    };
    assert_eq!(check(prompt, "bugfix", &default_set()), verdict);
}

#[test]
fn the_same_keyword_twice_in_a_list_is_one_hit() {
    let profile = Profile {
        keywords: vec!["SEO".into(), "ｓｅｏ".into(), String::new()],
        ..Profile::default()
    };
    assert_eq!(hits("our seo and SEO", &profile), ["SEO"]);
}

mod any_prompt {
    use super::*;
    use proptest::prelude::*;

    /// Pieces that open or close something, in any order.
    const PIECES: &[&str] = &[
        "<",
        ">",
        "</",
        "<system-reminder>",
        "</system-reminder>",
        "<!--",
        "-->",
        "<p>",
        "</p>",
        "`",
        "```",
        "\n",
        "~~~",
        "\"",
        "“",
        "’",
        "@@ -1,2 +1,2 @@",
        "+",
        "-",
        "|",
        "---|---",
        "/",
        "\\",
        ":",
        "@",
        ".ts",
        "https://",
        "地図",
        "é",
        "e\u{301}",
        "İ",
        "ß",
        "ﬁ",
        "\u{fffc}",
        "\u{200b}",
        "\u{feff}",
        "{",
        "}",
        "(",
        ")",
        "at ",
        "12:3",
        "$ ",
        "!!",
        ">>",
        "sitemap",
        "canonical",
        "meta",
        " ",
        "\t",
        "\r\n",
        "File \"a\", line 1",
        "\"a\":",
        "#",
        "INFO ",
        "2026-09-01 12:00:01",
    ];

    proptest! {
        #[test]
        fn is_judged_without_a_fault(
            pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
            noise in ".{0,20}",
            edge_chars in 0..40_usize,
        ) {
            let mut set = default_set();
            set.signs.edge_chars = edge_chars;
            check(&format!("{}{noise}", pieces.concat()), "bugfix", &set);
        }

        #[test]
        fn is_judged_alike_in_capitals_and_in_full_width(words in "[a-z]{0,6}( [a-z]{1,5}){0,2}( sitemap| canonical| fix| bug| s| crash){0,4}") {
            let set = default_set();
            let wide: String = words
                .chars()
                .map(|c| if c == ' ' { ' ' } else { char::from_u32(c as u32 + 0xfee0).unwrap() })
                .collect();
            let verdict = check(&words, "bugfix", &set);
            prop_assert_eq!(&check(&words.to_uppercase(), "bugfix", &set), &verdict);
            prop_assert_eq!(&check(&wide, "bugfix", &set), &verdict);
        }
    }
}
