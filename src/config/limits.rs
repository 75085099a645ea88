//! The limits of a subagent: settings, and over them the environment.

use std::collections::BTreeMap;

use crate::config::settings::Subagents;
use crate::deck::guard::Limits;

/// What all variables of this kind begin with: `SESSDECK_GUARD_SOFT`, `_HARD`, `_OFF`, each also with a model behind.
pub(crate) const VARIABLES: &str = "SESSDECK_GUARD_";

/// The limits for a subagent on that model in that window; none where the guard is off. A window that nobody knows
/// counts as large.
pub(crate) fn limits(
    settings: &Subagents,
    environment: &BTreeMap<String, String>,
    model: Option<&str>,
    window: Option<u64>,
) -> Option<Limits> {
    let model = model.unwrap_or_default();
    if is_off(environment, model) {
        return None;
    }
    let small = is_small(settings, window);
    let own = of_model(settings, model);
    let by_window = |small_limit, large_limit| if small { small_limit } else { large_limit };
    let soft = number(environment, "SOFT", model)
        .or(own.0)
        .unwrap_or_else(|| by_window(settings.small_soft, settings.soft));
    let hard = number(environment, "HARD", model)
        .or(own.1)
        .unwrap_or_else(|| by_window(settings.small_hard, settings.hard));
    Some(Limits {
        soft,
        every: settings.every,
        hard,
    })
}

/// Whether the window has the limits of small ones.
fn is_small(settings: &Subagents, window: Option<u64>) -> bool {
    window.is_some_and(|window| window <= settings.small_window)
}

/// What the settings say of that model: the longest name that it begins with.
fn of_model(settings: &Subagents, model: &str) -> (Option<u64>, Option<u64>) {
    settings
        .models
        .iter()
        .filter(|(name, _)| model.starts_with(name.as_str()))
        .max_by_key(|(name, _)| name.len())
        .map_or((None, None), |(_, limits)| (limits.soft, limits.hard))
}

fn is_off(environment: &BTreeMap<String, String>, model: &str) -> bool {
    let read = |value: &str| Some(!matches!(value, "" | "0" | "false"));
    value(environment, "OFF", model, read).unwrap_or(false)
}

/// A limit out of the environment. What is no number is no limit.
fn number(environment: &BTreeMap<String, String>, what: &str, model: &str) -> Option<u64> {
    value(environment, what, model, |value| value.trim().parse().ok())
}

/// The variable of that kind that says most about the model: the longest name of a model that it fits, else the plain
/// one. What cannot be read is not there.
fn value<T>(
    environment: &BTreeMap<String, String>,
    what: &str,
    model: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let plain = format!("{VARIABLES}{what}");
    let whole = format!("_{}_", upper(model));
    environment
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix(&plain)?, value.as_str())))
        .filter(|(name, _)| {
            name.is_empty()
                || name
                    .strip_prefix('_')
                    .is_some_and(|name| !name.is_empty() && whole.contains(&format!("_{name}_")))
        })
        .filter_map(|(name, value)| Some((name, read(value)?)))
        .max_by_key(|(name, _)| name.len())
        .map(|(_, value)| value)
}

/// A model's name as it stands in a variable: `CLAUDE_HAIKU_5_5`.
fn upper(model: &str) -> String {
    model
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::ModelLimits;

    #[test]
    fn the_environment_goes_before_the_model_and_that_before_the_window() {
        let mut settings = Subagents::default();
        let one = ModelLimits {
            soft: Some(10),
            hard: None,
        };
        settings.models.insert("claude-opus".into(), one);
        for (environment, model, window, expected) in [
            (&[][..], None, None, Some((140_000, 200_000))),
            (&[], Some("x"), Some(200_001), Some((140_000, 200_000))),
            (&[], Some("x"), Some(200_000), Some((90_000, 120_000))),
            (
                &[],
                Some("claude-opus-5-5"),
                Some(200_000),
                Some((10, 120_000)),
            ),
            (&[("HARD", "7")], Some("x"), None, Some((140_000, 7))),
            (
                &[("SOFT", "5"), ("HARD", " 7 ")],
                Some("claude-opus-5-5"),
                None,
                Some((5, 7)),
            ),
            (
                &[("HARD", "7"), ("HARD_HAIKU", "8")],
                Some("claude-haiku-5-5"),
                None,
                Some((140_000, 8)),
            ),
            (
                &[("HARD_HAIKU", "8"), ("HARD_HAIKU_5_5", "9")],
                Some("claude-haiku-5-5"),
                None,
                Some((140_000, 9)),
            ),
            (
                &[("HARD_HAI", "8"), ("HARD_", "9")],
                Some("claude-haiku-5-5"),
                None,
                Some((140_000, 200_000)),
            ),
            (
                &[("HARD", "many")],
                Some("x"),
                None,
                Some((140_000, 200_000)),
            ),
            (
                &[("HARD", "7"), ("HARD_HAIKU", "many")],
                Some("claude-haiku-5-5"),
                None,
                Some((140_000, 7)),
            ),
            (&[("OFF", "1")], Some("x"), None, None),
            (&[("OFF", "0")], Some("x"), None, Some((140_000, 200_000))),
            (
                &[("OFF_HAIKU", "1")],
                Some("claude-opus-5-5"),
                None,
                Some((10, 200_000)),
            ),
            (&[("OFF_HAIKU", "1")], Some("claude-haiku-5-5"), None, None),
            (
                &[("OFF", "1"), ("OFF_OPUS", "0")],
                Some("claude-opus-5-5"),
                None,
                Some((10, 200_000)),
            ),
        ] {
            let environment: BTreeMap<String, String> = environment
                .iter()
                .map(|(name, value)| (format!("{VARIABLES}{name}"), (*value).to_owned()))
                .collect();
            let found = limits(&settings, &environment, model, window);
            let found = found.map(|limits| (limits.soft, limits.hard));
            assert_eq!(found, expected, "{environment:?} {model:?} {window:?}");
        }
    }
}
