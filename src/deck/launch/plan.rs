//! From what a person wants to the recipe of a session. What the person says goes before what the profile says.

use std::path::Path;

use super::hint::hint;
use super::split::{Owned, Wrong, owned, split, split_command};
use super::title::{given, title};
use super::{Choice, Flags, Recipe, Why, choose};
use crate::deck::profile::{Profile, Profiles};

/// What a person wants started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish<'a> {
    /// The rest of the command line as typed, without switches.
    pub(crate) raw: &'a [String],
    /// Text that is taken as it is, after the words of `raw`.
    pub(crate) task: Option<&'a str>,
    pub(crate) profile: Option<&'a str>,
    pub(crate) agent: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) effort: Option<&'a str>,
    pub(crate) title: Option<&'a str>,
    /// Where the wish came from; `--dir` counts from here.
    pub(crate) dir: &'a Path,
    /// `raw` is a program with its arguments.
    pub(crate) exec: bool,
}

/// What holds where the session is to start.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) set: &'a Profiles,
    pub(crate) default_agent: &'a str,
    pub(crate) inbox: &'a str,
    pub(crate) handoffs: &'a str,
    pub(crate) is_repo: bool,
    /// The flags of an agent by its name; of one without a dialect none.
    pub(crate) flags: &'a dyn Fn(&str) -> Flags,
}

/// What a wish comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) recipe: Recipe,
    pub(crate) color: Option<String>,
    pub(crate) choice: Choice,
    /// What the line said beside the recipe: note, inbox line, worktree, conversation to resume.
    pub(crate) owned: Owned,
    /// Sentences for the person.
    pub(crate) warnings: Vec<String>,
}

/// Plans a session; starts nothing.
pub(crate) fn plan(wish: &Wish<'_>, ground: &Ground<'_>) -> Result<Planned, Wrong> {
    if wish.exec {
        return command(wish);
    }
    let early = owned(wish.raw)?;
    let agent_with = |profile: Option<&Profile>| {
        let person = early.agent.as_deref().or(wish.agent);
        let profile = profile.and_then(|profile| profile.agent.as_deref());
        person
            .or(profile)
            .unwrap_or(ground.default_agent)
            .to_owned()
    };
    let choice = match early.profile.as_deref().or(wish.profile) {
        Some(name) => named(name, ground.set)?,
        // Which flags take a value depends on the agent, which the profile decides, which the words decide. The
        // agent that is likely reads the words; the one that is chosen reads the line below.
        None => choose(&words(wish, (ground.flags)(&agent_with(None)))?, ground.set),
    };
    let profile = choice.winner.as_deref();
    let profile = profile.and_then(|name| ground.set.named(name));
    let agent = agent_with(profile);
    let line = split(wish.raw, &(ground.flags)(&agent))?;
    let task = text(line.task(), wish.task);

    let mut warnings = said(&choice, task.is_some());
    if !ground.is_repo {
        warnings.push("no repo here, so only the generic profiles are known".to_owned());
    }
    warnings.extend(line.warnings);
    let owned = line.owned;
    let name = choice.winner.as_deref().unwrap_or(&agent);
    let mut recipe = Recipe {
        title: titled(wish, &owned, task.as_deref().unwrap_or_default(), name),
        agent,
        profile: choice.winner.clone(),
        dir: wish.dir.join(owned.dir.as_deref().unwrap_or_default()),
        effort: profile.and_then(|profile| profile.effort.clone()),
        hint: Some(hint(profile, ground.inbox, ground.handoffs)),
        task,
        ..Recipe::default()
    };
    if let Some(profile) = profile {
        warnings.extend(fill(&mut recipe, profile, ground.default_agent));
    }
    recipe.flags.extend(line.flags);
    let replace = |value: &mut Option<String>, new: Option<&str>| {
        if let Some(new) = new {
            *value = Some(new.to_owned());
        }
    };
    replace(&mut recipe.model, owned.model.as_deref().or(wish.model));
    replace(&mut recipe.effort, owned.effort.as_deref().or(wish.effort));
    Ok(Planned {
        recipe,
        color: profile.and_then(|profile| profile.color.clone()),
        choice,
        owned,
        warnings,
    })
}

/// The text of a wish, as far as it can be told before the agent is certain.
fn words(wish: &Wish<'_>, likely: Flags) -> Result<String, Wrong> {
    let read = split(wish.raw, &likely).or_else(|_| split(wish.raw, &Flags::default()))?;
    Ok(text(read.task(), wish.task).unwrap_or_default())
}

/// The title that was given, else one made of `words`, else `name`.
fn titled(wish: &Wish<'_>, owned: &Owned, words: &str, name: &str) -> String {
    let person = owned.title.as_deref().or(wish.title).map(given);
    [person, Some(title(words))]
        .into_iter()
        .flatten()
        .find(|title| !title.is_empty())
        .unwrap_or_else(|| name.to_owned())
}

/// Takes over what only the agent understands that the profile is written for. What another agent goes without is told.
fn fill(recipe: &mut Recipe, profile: &Profile, default_agent: &str) -> Option<String> {
    let meant_for = profile.agent.as_deref().unwrap_or(default_agent);
    if recipe.agent == meant_for {
        recipe.model.clone_from(&profile.model);
        recipe.flags.clone_from(&profile.flags);
        return None;
    }
    let lost = profile.model.iter().chain(&profile.flags);
    let lost: Vec<_> = lost.map(|part| format!("`{part}`")).collect();
    (!lost.is_empty()).then(|| {
        let (name, agent) = (&profile.name, &recipe.agent);
        let lost = lost.join(" ");
        format!("`{name}` is written for {meant_for}; {agent} starts without {lost}")
    })
}

/// A plain session: its recipe's flags are the whole command.
fn command(wish: &Wish<'_>) -> Result<Planned, Wrong> {
    let line = split_command(wish.raw)?;
    let Some(program) = line.words.first() else {
        return Err(Wrong {
            what: "no program is named".into(),
            mend: "`sessdeck new --exec -- PROGRAM ARGUMENT…`".into(),
        });
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let recipe = Recipe {
        agent: name.to_owned(),
        title: titled(wish, &line.owned, &line.words.join(" "), name),
        dir: wish.dir.join(line.owned.dir.as_deref().unwrap_or_default()),
        flags: line.words,
        ..Recipe::default()
    };
    Ok(Planned {
        recipe,
        owned: line.owned,
        warnings: line.warnings,
        ..Planned::default()
    })
}

/// The choice of a profile that the person named.
fn named(name: &str, set: &Profiles) -> Result<Choice, Wrong> {
    if set.named(name).is_some() {
        return Ok(Choice {
            winner: Some(name.to_owned()),
            why: Why::Named,
            ..Choice::default()
        });
    }
    let known: Vec<_> = set
        .profiles
        .iter()
        .map(|known| known.name.as_str())
        .collect();
    Err(Wrong {
        what: format!("no profile called `{}`", name.escape_debug()),
        mend: match known[..] {
            [] => "no profile is known here; leave `--profile` out".to_owned(),
            _ => format!("known here: `{}`", known.join("`, `")),
        },
    })
}

/// The words of the line, and after them the text that came beside it.
fn text(words: Option<String>, beside: Option<&str>) -> Option<String> {
    match (words, beside.filter(|text| !text.is_empty())) {
        (Some(words), Some(text)) => Some(format!("{words} {text}")),
        (words, text) => words.or_else(|| text.map(ToOwned::to_owned)),
    }
}

/// What the person should hear about a choice that is not plain.
fn said(choice: &Choice, has_task: bool) -> Vec<String> {
    let winner = choice.winner.as_deref().unwrap_or_default();
    let sentence = match choice.why {
        Why::Named | Why::Keywords => return Vec::new(),
        Why::Default | Why::Nothing if !has_task => return Vec::new(),
        Why::Tie => {
            let (other, words) = choice.runner_up.clone().unwrap_or_default();
            format!(
                "`{winner}` ({}) and `{other}` ({}) match alike; `{winner}` is taken, `--profile {other}` takes the other",
                choice.matched.join(", "),
                words.join(", ")
            )
        }
        Why::Name => format!(
            "no keyword matches; `{winner}` is taken for the word `{}`",
            choice.matched.join(" ")
        ),
        Why::Default => format!("no keyword matches; `{winner}` is taken, the default"),
        Why::Nothing => "no keyword matches, so the session has no profile".to_owned(),
    };
    vec![sentence]
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn set() -> Profiles {
        let text = |text: &str| Some(text.to_owned());
        Profiles {
            profiles: vec![
                Profile {
                    name: "bugfix".into(),
                    keywords: vec!["fix".into(), "bug".into()],
                    model: text("opus"),
                    effort: text("high"),
                    hint: text("Reproduce it."),
                    flags: vec!["--verbose".into()],
                    color: text("red"),
                    ..Profile::default()
                },
                Profile {
                    name: "rust".into(),
                    keywords: vec!["crate".into()],
                    agent: text("codex"),
                    model: text("gpt-5.5-codex"),
                    ..Profile::default()
                },
                Profile {
                    name: "quick".into(),
                    keywords: vec!["typo".into()],
                    default: true,
                    ..Profile::default()
                },
            ],
            ..Profiles::default()
        }
    }

    fn flags(agent: &str) -> Flags {
        match agent {
            "claude" => Flags {
                value: &["--permission-mode"],
                bare: &["--verbose", "-c"],
                ..Flags::default()
            },
            "codex" => Flags {
                value: &["-c"],
                aliases: &[("-m", "--model")],
                ..Flags::default()
            },
            _ => Flags::default(),
        }
    }

    fn wish(raw: &[String]) -> Wish<'_> {
        Wish {
            raw,
            task: None,
            profile: None,
            agent: None,
            model: None,
            effort: None,
            title: None,
            dir: Path::new("/repo"),
            exec: false,
        }
    }

    fn planned(change: impl FnOnce(&mut Wish<'_>), line: &str) -> Result<Planned, Wrong> {
        let raw = shlex::split(line).unwrap();
        let mut wish = wish(&raw);
        change(&mut wish);
        let set = set();
        let ground = Ground {
            set: &set,
            default_agent: "claude",
            inbox: "hot-todo.md",
            handoffs: "docs/handoffs",
            is_repo: true,
            flags: &flags,
        };
        plan(&wish, &ground)
    }

    #[test]
    fn the_profile_fills_and_the_person_replaces() {
        for (line, agent, profile, model, effort, flags) in [
            (
                "fix the bug",
                "claude",
                "bugfix",
                "opus",
                "high",
                "--verbose",
            ),
            (
                "fix it --model haiku",
                "claude",
                "bugfix",
                "haiku",
                "high",
                "--verbose",
            ),
            (
                "--effort=low fix it",
                "claude",
                "bugfix",
                "opus",
                "low",
                "--verbose",
            ),
            (
                "fix --permission-mode plan it",
                "claude",
                "bugfix",
                "opus",
                "high",
                "--verbose --permission-mode plan",
            ),
            ("split the crate", "codex", "rust", "gpt-5.5-codex", "", ""),
            (
                "split the crate -m gpt-x -c a=b",
                "codex",
                "rust",
                "gpt-x",
                "",
                "-c a=b",
            ),
            (
                "--profile rust fix it",
                "codex",
                "rust",
                "gpt-5.5-codex",
                "",
                "",
            ),
            ("--agent codex fix it", "codex", "bugfix", "", "high", ""),
            (
                "--agent codex -m x fix it",
                "codex",
                "bugfix",
                "x",
                "high",
                "",
            ),
            (
                "--agent claude --profile rust x",
                "claude",
                "rust",
                "",
                "",
                "",
            ),
            ("hello", "claude", "quick", "", "", ""),
            ("", "claude", "quick", "", "", ""),
        ] {
            let recipe = planned(|_| {}, line).unwrap().recipe;
            let text = Option::unwrap_or_default;
            let found = [
                recipe.agent,
                text(recipe.profile),
                text(recipe.model),
                text(recipe.effort),
                recipe.flags.join(" "),
            ];
            assert_eq!(found, [agent, profile, model, effort, flags], "{line}");
        }
    }

    #[test]
    fn what_a_client_chose_counts_unless_the_line_says_otherwise() {
        let chosen = |wish: &mut Wish<'_>| {
            wish.profile = Some("quick");
            wish.agent = Some("codex");
            wish.model = Some("m");
            wish.effort = Some("low");
            wish.title = Some("My title");
        };
        let found = planned(chosen, "fix it").unwrap();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(found.recipe.agent, "codex");
        assert_eq!(found.recipe.profile, text("quick"));
        assert_eq!(
            (found.recipe.model, found.recipe.effort),
            (text("m"), text("low"))
        );
        assert_eq!(found.recipe.title, "My title");
        let found = planned(
            chosen,
            "--model=n --profile bugfix --title 'The other' fix it",
        )
        .unwrap();
        assert_eq!(found.recipe.profile, text("bugfix"));
        assert_eq!(
            (found.recipe.model, found.recipe.title.as_str()),
            (text("n"), "The other")
        );
        assert_eq!(found.choice.why, Why::Named);
    }

    #[test]
    fn title_folder_and_hint_come_from_words_place_and_profile() {
        let found = planned(|_| {}, "--dir sub/x fix the bug in the login page today").unwrap();
        assert_eq!(found.recipe.title, "fix the bug in the login");
        assert_eq!(found.recipe.dir, Path::new("/repo/sub/x"));
        assert_eq!(found.color.as_deref(), Some("red"));
        let hint = found.recipe.hint.unwrap();
        for part in [
            "`bugfix`",
            "Reproduce it.",
            "`sessdeck park TEXT`",
            "`hot-todo.md`",
            "`docs/handoffs/`",
        ] {
            assert!(hint.contains(part), "{part}");
        }
        for line in ["--title ' ' \"\u{7} \"", "' '"] {
            assert_eq!(
                planned(|_| {}, line).unwrap().recipe.title,
                "quick",
                "{line:?}"
            );
        }
        let found = planned(|_| {}, "--dir /else").unwrap();
        assert_eq!(found.recipe.dir, Path::new("/else"));
        assert_eq!(
            (found.recipe.title.as_str(), found.recipe.task),
            ("quick", None)
        );
    }

    #[test]
    fn what_is_not_plain_is_said() {
        for (line, expected) in [
            ("fix it", &[][..]),
            ("", &[]),
            ("--profile rust", &[]),
            (
                "hello",
                &["no keyword matches; `quick` is taken, the default"],
            ),
            (
                "bugfx",
                &["no keyword matches; `bugfix` is taken for the word `bugfx`"],
            ),
            (
                "fix typo",
                &[
                    "`bugfix` (fix) and `quick` (typo) match alike; `bugfix` is taken, `--profile quick` takes the other",
                ],
            ),
            (
                "--agent codex fix it",
                &["`bugfix` is written for claude; codex starts without `opus` `--verbose`"],
            ),
        ] {
            assert_eq!(planned(|_| {}, line).unwrap().warnings, expected, "{line}");
        }
        let unknown = planned(|_| {}, "fix it --what").unwrap().warnings;
        assert!(unknown[0].starts_with("`--what` is no flag that is known here"));
        let error = planned(|_| {}, "--profile docs fix it").unwrap_err();
        assert_eq!(
            error.to_string(),
            "no profile called `docs`; known here: `bugfix`, `rust`, `quick`"
        );
    }

    #[test]
    fn a_plain_session_runs_its_command_as_it_is() {
        let exec = |wish: &mut Wish<'_>| wish.exec = true;
        let found = planned(exec, "--title top /usr/bin/htop --model x -- y")
            .unwrap()
            .recipe;
        assert_eq!(found.flags, ["/usr/bin/htop", "--model", "x", "--", "y"]);
        assert_eq!(
            (found.agent.as_str(), found.title.as_str()),
            ("htop", "top")
        );
        assert_eq!((found.profile, found.hint, found.task), (None, None, None));
        assert_eq!(
            planned(exec, "--title x --").unwrap_err().what,
            "no program is named"
        );
    }

    proptest! {
        #[test]
        fn the_task_is_what_was_typed(
            words in vec("[^\0]{0,12}", 0..6),
            beside in proptest::option::of("[^\0]{1,12}"),
        ) {
            let mut raw = vec!["--permission-mode".to_owned(), "plan".to_owned(), "--".to_owned()];
            raw.extend(words.clone());
            let set = set();
            let ground = Ground {
                set: &set,
                default_agent: "claude",
                inbox: "i",
                handoffs: "h",
                is_repo: true,
                flags: &flags,
            };
            let wish = Wish { task: beside.as_deref(), profile: Some("quick"), ..wish(&raw) };
            let recipe = plan(&wish, &ground).unwrap().recipe;
            let mut typed = words.join(" ");
            if let Some(beside) = beside {
                typed = if typed.is_empty() { beside } else { format!("{typed} {beside}") };
            }
            prop_assert_eq!(recipe.task.unwrap_or_default(), typed);
            prop_assert_eq!(recipe.flags, ["--permission-mode", "plan"]);
        }
    }
}
