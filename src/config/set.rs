//! The profiles that hold in one place: built-in, the person's, the repo's; later ones replace earlier ones.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::profiles::{File, read};
use crate::config::settings::{GuardSigns, Settings};
use crate::deck::profile::{Profile, Profiles};
use crate::error::Result;

/// The starter set, in the order that decides ties among them: name and file.
const BUILT_IN: &[(&str, &str)] = &[
    ("plan", include_str!("../../profiles/plan.toml")),
    ("bugfix", include_str!("../../profiles/bugfix.toml")),
    ("incident", include_str!("../../profiles/incident.toml")),
    ("feature", include_str!("../../profiles/feature.toml")),
    ("refactor", include_str!("../../profiles/refactor.toml")),
    ("test", include_str!("../../profiles/test.toml")),
    ("review", include_str!("../../profiles/review.toml")),
    ("docs", include_str!("../../profiles/docs.toml")),
    ("research", include_str!("../../profiles/research.toml")),
    ("quick", include_str!("../../profiles/quick.toml")),
];

/// The agent whose models the starter set names; any other starts with its own default.
const STARTER_AGENT: &str = "claude";

/// The names that `extends` can name.
pub(crate) fn built_in_names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// The profiles of one place with the servers they may name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Set {
    pub(crate) profiles: Profiles,
    pub(crate) mcp: BTreeMap<String, toml::Table>,
    /// What the repo's file says that has no force until it is trusted, a line each.
    pub(crate) waiting: Vec<String>,
}

/// The set in a place.
pub(crate) fn merged(
    user: Vec<File>,
    repo: Option<File>,
    trusted: bool,
    settings: &Settings,
) -> Result<Set> {
    let mut set = Set::default();
    let mut guard = GuardSigns::default();
    let mut persons = Vec::new();
    for file in user {
        guard = guard.with(file.guard);
        set.mcp.extend(file.mcp);
        persons = over(persons, file.profiles);
    }
    let extends = repo.as_ref().map(|repo| repo.extends.clone());
    let earlier = prepend(persons, built_in(extends.as_deref(), settings)?);
    let mut repos = Vec::new();
    if let Some(mut repo) = repo {
        if !trusted {
            (repo, set.waiting) = harmless(repo);
        }
        guard = guard.with(repo.guard);
        set.mcp.extend(repo.mcp);
        repos = repo.profiles;
    }
    set.profiles = Profiles {
        // What the person wrote into config.toml goes before any profile file.
        signs: guard.with(settings.guard.clone()).signs(),
        profiles: prepend(repos, earlier),
    };
    Ok(set)
}

/// The starter set, or what a repo with profiles of its own takes from it.
fn built_in(extends: Option<&[String]>, settings: &Settings) -> Result<Vec<Profile>> {
    let mut profiles = Vec::new();
    for (name, text) in BUILT_IN {
        let named = |names: &[String]| names.iter().any(|known| known == name);
        if extends.is_none_or(named) {
            profiles.extend(read(text, Path::new(name), &[])?.profiles);
        }
    }
    if settings.default_agent != STARTER_AGENT {
        for profile in &mut profiles {
            profile.model = None;
        }
    }
    Ok(profiles)
}

/// The later profiles in their order, then the earlier ones that they do not replace.
fn prepend(mut later: Vec<Profile>, earlier: Vec<Profile>) -> Vec<Profile> {
    for profile in earlier {
        if !later.iter().any(|known| known.name == profile.name) {
            later.push(profile);
        }
    }
    later
}

/// The earlier profiles in their order, each replaced by a later one of its name; then the new ones.
fn over(mut earlier: Vec<Profile>, later: Vec<Profile>) -> Vec<Profile> {
    for profile in later {
        match earlier.iter_mut().find(|known| known.name == profile.name) {
            Some(known) => *known = profile,
            None => earlier.push(profile),
        }
    }
    earlier
}

/// What of a repo's file may hold before the person has trusted it, and the rest in lines.
fn harmless(file: File) -> (File, Vec<String>) {
    let mut waiting = Vec::new();
    let profiles = file
        .profiles
        .into_iter()
        .map(|profile| stripped(profile, &mut waiting))
        .collect();
    if file.guard != GuardSigns::default() {
        waiting.push("[guard]: other signs and figures for the topic check".to_owned());
    }
    for (name, table) in &file.mcp {
        let table = table
            .iter()
            .map(|(key, value)| format!("{key} = {value}"))
            .collect::<Vec<_>>()
            .join(", ");
        waiting.push(format!("[mcp.{}]: {table}", name.escape_debug()));
    }
    let file = File {
        profiles,
        extends: file.extends,
        ..File::default()
    };
    (file, waiting)
}

/// The profile with name, keywords, covers, open and colour alone; the rest goes to `waiting`.
fn stripped(profile: Profile, waiting: &mut Vec<String>) -> Profile {
    let Profile {
        name,
        about,
        open,
        covers,
        keywords,
        agent,
        model,
        effort,
        mcp,
        skill,
        start_file,
        hint,
        flags,
        color,
        default,
    } = profile;
    let texts = [
        ("about", Some(about).filter(|about| !about.is_empty())),
        ("agent", agent),
        ("model", model),
        ("effort", effort),
        ("skill", skill),
        ("start_file", start_file),
        ("hint", hint),
        ("mcp", (!mcp.is_empty()).then(|| mcp.join(" "))),
        ("flags", (!flags.is_empty()).then(|| flags.join(" "))),
        ("default", default.then(|| "true".to_owned())),
    ];
    for (field, text) in texts {
        if let Some(text) = text {
            waiting.push(format!("{name}: {field} = {}", text.escape_debug()));
        }
    }
    Profile {
        name,
        open,
        covers,
        keywords,
        color,
        ..Profile::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck::launch::choose;

    fn file(text: &str) -> File {
        read(text, Path::new("p.toml"), &built_in_names()).unwrap()
    }

    /// Name and model of each profile, in the order of the set.
    fn listed(set: &Set) -> String {
        set.profiles
            .profiles
            .iter()
            .map(|profile| match &profile.model {
                Some(model) => format!("{}:{model}", profile.name),
                None => profile.name.clone(),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn merge(user: &[&str], repo: Option<&str>, trusted: bool) -> Set {
        let user = user.iter().map(|text| file(text)).collect();
        merged(user, repo.map(file), trusted, &Settings::default()).unwrap()
    }

    #[test]
    fn the_models_of_the_starter_set_are_for_its_agent_alone() {
        let settings = Settings {
            default_agent: "codex".into(),
            ..Settings::default()
        };
        let user = vec![file("[[profile]]\nname='own'\nmodel='gpt-5.5-codex'")];
        let set = merged(user, None, true, &settings).unwrap();
        assert!(listed(&set).starts_with("own:gpt-5.5-codex plan bugfix"));
    }

    #[test]
    fn every_built_in_file_holds_the_one_profile_it_is_named_for() {
        for (name, text) in BUILT_IN {
            let file = read(text, Path::new(name), &[]).unwrap();
            let names: Vec<_> = file.profiles.iter().map(|profile| &profile.name).collect();
            assert_eq!(names, [name]);
            let profile = &file.profiles[0];
            assert!(
                !profile.about.is_empty() && profile.color.is_some(),
                "{name}"
            );
            assert!(
                profile.model.is_some() && profile.keywords.len() >= 5,
                "{name}"
            );
        }
    }

    #[test]
    fn the_starter_set_has_one_default_covers_itself_and_shares_no_keyword() {
        let set = merge(&[], None, true).profiles.profiles;
        assert_eq!(set.iter().filter(|profile| profile.default).count(), 1);
        let mut keywords = BTreeMap::new();
        for profile in &set {
            for covered in &profile.covers {
                assert!(set.iter().any(|known| known.name == *covered), "{covered}");
            }
            for keyword in &profile.keywords {
                let other = keywords.insert(keyword, &profile.name);
                assert_eq!(other, None, "`{keyword}` of {}", profile.name);
            }
        }
    }

    #[test]
    fn words_of_every_day_find_their_starter_profile() {
        let set = merge(&[], None, true).profiles;
        for (words, expected) in [
            ("fix the flaky login test", "bugfix"),
            ("the build crashes with an exception on ARM", "bugfix"),
            (
                "production outage, roll back and write the postmortem",
                "incident",
            ),
            ("implement a webhook for new orders", "feature"),
            ("add dark mode to the settings page", "feature"),
            ("extract the parser and remove dead code", "refactor"),
            ("write unit tests for the date parser", "test"),
            ("review pull request 1234", "review"),
            ("update the readme and the changelog", "docs"),
            ("investigate how others do rate limiting", "research"),
            ("rename foo to bar everywhere", "quick"),
            ("brainstorm the roadmap for next quarter", "plan"),
            ("make it nicer", "feature"),
        ] {
            let choice = choose(words, &set);
            assert_eq!(
                choice.winner.as_deref(),
                Some(expected),
                "{words}: {choice:?}"
            );
        }
    }

    #[test]
    fn later_profiles_come_first_and_replace_earlier_ones_of_their_name() {
        let user = "[[profile]]\nname='docs'\nmodel='mine'\n[[profile]]\nname='own'";
        let built_in = listed(&merge(&[], None, true));
        assert!(built_in.starts_with("plan:"), "{built_in}");
        let with_user = listed(&merge(&[user], None, true));
        assert!(with_user.starts_with("docs:mine own plan:"), "{with_user}");
        assert_eq!(with_user.matches("docs").count(), 1);

        let repo = "extends = ['quick', 'docs']\n[[profile]]\nname='seo'\n[[profile]]\nname='own'\nmodel='repo'";
        let all = merge(&[user], Some(repo), true);
        let quick = merge(&[], Some("extends = ['quick']"), true);
        assert_eq!(
            listed(&all),
            format!("seo own:repo docs:mine {}", listed(&quick))
        );
    }

    #[test]
    fn a_repo_with_a_profile_file_has_no_built_in_ones_that_it_does_not_name() {
        assert_eq!(
            listed(&merge(&[], Some("[[profile]]\nname='seo'"), true)),
            "seo"
        );
        assert_eq!(listed(&merge(&[], Some(""), true)), "");
    }

    #[test]
    fn of_the_persons_files_the_later_replaces_in_place() {
        let set = merge(
            &[
                "[[profile]]\nname='a'\n[[profile]]\nname='b'",
                "[[profile]]\nname='a'\nmodel='new'",
            ],
            Some(""),
            true,
        );
        assert_eq!(listed(&set), "a:new b");
    }

    #[test]
    fn before_trust_only_what_matching_needs_is_taken_and_the_rest_is_listed() {
        let repo = r#"
            extends = ["quick"]
            [guard]
            force_prefix = "++"
            [[profile]]
            name = "seo"
            about = "a"
            open = true
            covers = ["docs"]
            keywords = ["sitemap"]
            color = "red"
            agent = "codex"
            model = "opus"
            effort = "high"
            mcp = ["x", "y"]
            skill = "s"
            start_file = "f.md"
            hint = "h\ni"
            flags = ["--dangerous"]
            default = true
            [mcp.x]
            command = "evil\u001b"
        "#;
        let set = merge(&[], Some(repo), false);
        let expected = Profile {
            name: "seo".into(),
            open: true,
            covers: vec!["docs".into()],
            keywords: vec!["sitemap".into()],
            color: Some("red".into()),
            ..Profile::default()
        };
        assert_eq!(set.profiles.profiles[0], expected);
        assert_eq!(set.profiles.profiles[1].name, "quick");
        assert_eq!(set.profiles.signs.force, "!!");
        assert!(set.mcp.is_empty());
        assert_eq!(
            set.waiting,
            [
                "seo: about = a",
                "seo: agent = codex",
                "seo: model = opus",
                "seo: effort = high",
                "seo: skill = s",
                "seo: start_file = f.md",
                "seo: hint = h\\ni",
                "seo: mcp = x y",
                "seo: flags = --dangerous",
                "seo: default = true",
                "[guard]: other signs and figures for the topic check",
                "[mcp.x]: command = \"evil\\u001B\"",
            ]
        );
        let trusted = merge(&[], Some(repo), true);
        assert_eq!(trusted.waiting, [""; 0]);
        assert_eq!(trusted.profiles.signs.force, "++");
        assert_eq!(trusted.profiles.profiles[0].model.as_deref(), Some("opus"));
    }

    #[test]
    fn signs_of_config_toml_go_before_those_of_profile_files() {
        let mut settings = Settings::default();
        settings.guard.force_prefix = Some("++".into());
        let user = vec![file(
            "[guard]\nforce_prefix='??'\nmin_hits=4\nshort_units=7",
        )];
        let repo = Some(file("[guard]\nmin_hits=3"));
        let signs = merged(user, repo, true, &settings).unwrap().profiles.signs;
        assert_eq!(
            (signs.force.as_str(), signs.min_hits, signs.short_units),
            ("++", 3, 7)
        );
    }
}
