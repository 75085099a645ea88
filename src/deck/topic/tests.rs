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
