//! Which hooks are set: the launcher's settings, the user's and the project's.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::error::{Error, Exit, Result};

/// One command that runs at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Handler {
    event: String,
    /// Alternatives joined by `|`; empty or `*` takes all.
    matcher: String,
    pub(super) command: String,
    /// With arguments no shell is asked.
    pub(super) args: Option<Vec<String>>,
    pub(super) timeout: Option<Duration>,
}

/// All handlers, in the order they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hooks {
    handlers: Vec<Handler>,
}

/// Reads `--settings`, which is JSON or a file's path, and the files that stand for themselves.
/// A file of the user's or the project's that is missing or broken counts as empty.
pub(super) fn hooks(given: Option<&str>, own_files: &[&Path]) -> Result<Hooks> {
    let given = match given {
        Some(text) => read_given(text)?,
        None => Value::Null,
    };
    let own: Vec<Value> = own_files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .filter_map(|text| serde_json::from_str(&text).ok())
        .collect();
    Ok(merge(&given, &own))
}

fn read_given(text: &str) -> Result<Value> {
    if let Ok(value @ Value::Object(_)) = serde_json::from_str(text) {
        return Ok(value);
    }
    let file = Path::new(text);
    let content = std::fs::read_to_string(file)
        .map_err(|_| Error::new(Exit::Fault, "settings file not found").at(file, None))?;
    serde_json::from_str(&content).map_err(|error| {
        Error::new(Exit::Fault, "settings file is not JSON")
            .at(file, Some((error.line(), error.column())))
    })
}

/// Hooks of all places add up; `disableAllHooks` in one of the own files switches all off unless the launcher's
/// settings say `false`.
fn merge(given: &Value, own: &[Value]) -> Hooks {
    let disabled = match given.get("disableAllHooks").and_then(Value::as_bool) {
        Some(said) => said,
        None => own
            .iter()
            .any(|value| value.get("disableAllHooks") == Some(&Value::Bool(true))),
    };
    let mut hooks = Hooks::default();
    if disabled {
        return hooks;
    }
    for value in own.iter().chain([given]) {
        for handler in handlers(value) {
            // The same command in two places runs once.
            if !hooks.handlers.contains(&handler) {
                hooks.handlers.push(handler);
            }
        }
    }
    hooks
}

/// Entries of a wrong shape are passed over.
fn handlers(settings: &Value) -> Vec<Handler> {
    let Some(events) = settings.get("hooks").and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (event, groups) in events {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or("");
            let entries = group.get("hooks").and_then(Value::as_array);
            for entry in entries.into_iter().flatten() {
                let Some(command) = entry.get("command").and_then(Value::as_str) else {
                    continue;
                };
                if entry.get("type").and_then(Value::as_str) != Some("command") {
                    continue;
                }
                let args = entry.get("args").and_then(Value::as_array).map(|args| {
                    args.iter()
                        .filter_map(Value::as_str)
                        .map(str::to_owned)
                        .collect()
                });
                let timeout = entry
                    .get("timeout")
                    .and_then(Value::as_f64)
                    .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                found.push(Handler {
                    event: event.clone(),
                    matcher: matcher.to_owned(),
                    command: command.to_owned(),
                    args,
                    timeout,
                });
            }
        }
    }
    found
}

impl Hooks {
    /// The handlers of an event whose matcher takes the subject (a tool's name, a source, a reason).
    pub(super) fn at(&self, event: &str, subject: &str) -> Vec<Handler> {
        self.handlers
            .iter()
            .filter(|handler| handler.event == event && takes(&handler.matcher, subject))
            .cloned()
            .collect()
    }
}

fn takes(matcher: &str, subject: &str) -> bool {
    matcher.is_empty()
        || matcher
            .split('|')
            .any(|word| match word.trim().strip_suffix('*') {
                Some(start) => subject.starts_with(start.trim_end_matches('.')),
                None => word.trim() == subject,
            })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(command: &str) -> Value {
        json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    }

    fn commands(hooks: &Hooks, event: &str, subject: &str) -> Vec<String> {
        hooks
            .at(event, subject)
            .into_iter()
            .map(|handler| handler.command)
            .collect()
    }

    #[test]
    fn hooks_of_all_places_run_unless_switched_off() {
        let off = json!({"disableAllHooks": true});
        let mut kept = entry("given");
        kept["disableAllHooks"] = json!(false);
        for (given, own, expected) in [
            (entry("given"), vec![entry("user")], vec!["user", "given"]),
            (entry("same"), vec![entry("same")], vec!["same"]),
            (entry("given"), vec![off.clone()], vec![]),
            (kept, vec![off], vec!["given"]),
            (Value::Null, vec![entry("user")], vec!["user"]),
        ] {
            assert_eq!(
                commands(&merge(&given, &own), "Stop", ""),
                expected,
                "{given}"
            );
        }
    }

    #[test]
    fn a_matcher_chooses_by_the_subject() {
        let settings = |matcher: &str| {
            json!({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [
                {"type": "command", "command": "c"},
                {"type": "prompt", "command": "other kind"},
                {"command": "no kind"}]}],
                "Stop": [{"type": "command", "command": "flat"}]}})
        };
        for (matcher, tool, runs) in [
            ("", "Bash", true),
            ("*", "Bash", true),
            (".*", "Bash", true),
            ("Bash|Write", "Write", true),
            ("Bash|Write", "WriteAll", false),
            ("mcp__.*", "mcp__files", true),
            ("Read", "Bash", false),
        ] {
            let hooks = merge(&settings(matcher), &[]);
            assert_eq!(
                commands(&hooks, "PreToolUse", tool),
                vec!["c"; usize::from(runs)],
                "{matcher}"
            );
            assert!(hooks.at("Stop", "").is_empty());
        }
    }

    #[test]
    fn arguments_and_a_time_limit_are_read() {
        let settings = json!({"hooks": {"Stop": [{"hooks": [
            {"type": "command", "command": "c", "args": ["hook", "a b"], "timeout": 0.5}]}]}});
        let handler = &merge(&settings, &[]).at("Stop", "")[0];
        assert_eq!(handler.args, Some(vec!["hook".into(), "a b".into()]));
        assert_eq!(handler.timeout, Some(Duration::from_millis(500)));
    }

    #[test]
    fn settings_that_are_no_json_are_taken_for_a_file() {
        let error = hooks(Some("{broken"), &[]).unwrap_err();
        assert_eq!(error.line(), "settings file not found ({broken)");
    }
}
