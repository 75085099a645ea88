//! What a hook's answer means. Whatever is not a clear block lets things go on.

use serde_json::Value;

/// How a hook's process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ended {
    /// `None` if it could not start, was killed, or took too long.
    pub(super) exit: Option<i32>,
    pub(super) timed_out: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// What one event's hooks said together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) block: Option<Block>,
    /// `PreToolUse` only: what the hook says about the permission question.
    pub(super) permission: Option<Permission>,
    /// `continue: false` with its reason.
    pub(super) stop: Option<String>,
    /// Text for the model.
    pub(super) context: Vec<Context>,
    /// Text for the person.
    pub(super) notices: Vec<String>,
    pub(super) failures: Vec<Failure>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) reason: String,
    /// The reason as the person sees it; after exit code 2 with the hook's command line.
    pub(super) shown: String,
    /// Leave the prompt out of what is shown.
    pub(super) hide_prompt: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permission {
    Allow,
    Ask,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Context {
    /// `hook_success` for plain text, `hook_additional_context` for the JSON form.
    pub(super) kind: &'static str,
    pub(super) text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// `hook_non_blocking_error` or `hook_cancelled`.
    pub(super) kind: &'static str,
    pub(super) text: String,
}

/// Events whose hooks can say no.
const BLOCKABLE: &[&str] = &[
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "PreCompact",
];

/// Events where plain text on standard output is context.
const PLAIN_TEXT: &[&str] = &["SessionStart", "UserPromptSubmit"];

/// Reads one hook's answer. `command` is its command line, which exit code 2 shows to the person.
pub(super) fn read(event: &str, command: &str, ended: &Ended) -> Outcome {
    let mut outcome = Outcome::default();
    if ended.timed_out {
        outcome.failures.push(Failure {
            kind: "hook_cancelled",
            text: format!("{event} hook took too long"),
        });
        return outcome;
    }
    let text = ended.stdout.trim();
    let answer = match serde_json::from_str::<Value>(text) {
        Ok(value @ Value::Object(_)) => Some(value),
        Ok(_) | Err(_) => None,
    };
    if let Some(answer) = &answer {
        read_json(event, answer, &mut outcome);
    } else if ended.exit == Some(0) && !text.is_empty() && PLAIN_TEXT.contains(&event) {
        outcome.context.push(Context {
            kind: "hook_success",
            text: text.to_owned(),
        });
    }
    match ended.exit {
        Some(2) if BLOCKABLE.contains(&event) => {
            outcome.block.get_or_insert_with(|| {
                let stderr = ended.stderr.trim();
                let reason = if stderr.is_empty() {
                    "No stderr output"
                } else {
                    stderr
                };
                Block {
                    reason: reason.to_owned(),
                    shown: format!("[{command}]: {reason}"),
                    hide_prompt: false,
                }
            });
        }
        Some(0) => {}
        code if answer.is_none() => outcome.failures.push(Failure {
            kind: "hook_non_blocking_error",
            text: match code {
                Some(code) => format!(
                    "{event} hook ended with code {code}: {}",
                    ended.stderr.trim()
                ),
                None => format!("{event} hook failed: {}", ended.stderr.trim()),
            },
        }),
        _ => {}
    }
    outcome
}

fn read_json(event: &str, answer: &Value, outcome: &mut Outcome) {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let specific = answer.get("hookSpecificOutput");
    let specific_of = |name: &str| specific.and_then(|specific| specific.get(name));
    let named = text(specific_of("hookEventName"));
    let reason = text(answer.get("reason"));
    if answer.get("decision") == Some(&Value::from("block")) && BLOCKABLE.contains(&event) {
        let reason = reason.unwrap_or_else(|| "no reason given".into());
        outcome.block = Some(Block {
            shown: reason.clone(),
            reason,
            hide_prompt: specific_of("suppressOriginalPrompt") == Some(&Value::Bool(true)),
        });
    }
    if answer.get("continue") == Some(&Value::Bool(false)) {
        outcome.stop = Some(text(answer.get("stopReason")).unwrap_or_default());
    }
    outcome.notices.extend(text(answer.get("systemMessage")));
    if specific.is_none() {
        return;
    }
    if named.as_deref() != Some(event) {
        outcome.failures.push(Failure {
            kind: "hook_non_blocking_error",
            text: format!("{event} hook answered without its hookEventName"),
        });
        return;
    }
    outcome
        .context
        .extend(text(specific_of("additionalContext")).map(|text| Context {
            kind: "hook_additional_context",
            text,
        }));
    if event == "PreToolUse" {
        match text(specific_of("permissionDecision")).as_deref() {
            Some("deny") => {
                let reason = text(specific_of("permissionDecisionReason")).unwrap_or_default();
                outcome.block = Some(Block {
                    shown: reason.clone(),
                    reason,
                    hide_prompt: false,
                });
            }
            Some("allow") => outcome.permission = Some(Permission::Allow),
            Some("ask") => outcome.permission = Some(Permission::Ask),
            _ => {}
        }
    }
}

impl Outcome {
    /// Adds what another hook of the same event said; the first no counts.
    pub(super) fn add(&mut self, other: Outcome) {
        self.block = self.block.take().or(other.block);
        self.permission = self.permission.or(other.permission);
        self.stop = self.stop.take().or(other.stop);
        self.context.extend(other.context);
        self.notices.extend(other.notices);
        self.failures.extend(other.failures);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(exit: i32, stdout: &str, stderr: &str) -> Ended {
        Ended {
            exit: Some(exit),
            timed_out: false,
            stdout: stdout.into(),
            stderr: stderr.into(),
        }
    }

    /// The reason shown, the context given, the kinds of failures.
    fn gist(outcome: &Outcome) -> (Option<&str>, Vec<&str>, usize) {
        (
            outcome.block.as_ref().map(|block| block.shown.as_str()),
            outcome
                .context
                .iter()
                .map(|context| context.text.as_str())
                .collect(),
            outcome.failures.len(),
        )
    }

    #[test]
    fn a_prompt_is_blocked_only_by_a_clear_no() {
        let block = r#"{"decision":"block","reason":"off topic"}"#;
        for (exit, stdout, stderr, expected) in [
            (0, "", "", (None, vec![], 0)),
            (2, "", "no", (Some("[guard]: no"), vec![], 0)),
            (2, "x", "", (Some("[guard]: No stderr output"), vec![], 0)),
            (0, block, "", (Some("off topic"), vec![], 0)),
            (1, block, "", (Some("off topic"), vec![], 0)),
            (2, block, "no", (Some("off topic"), vec![], 0)),
            (1, "", "oops", (None, vec![], 1)),
            (127, "", "", (None, vec![], 1)),
            (0, "be brief", "", (None, vec!["be brief"], 0)),
            (0, "{broken", "", (None, vec!["{broken"], 0)),
            (
                0,
                r#"note {"decision":"block"}"#,
                "",
                (None, vec![r#"note {"decision":"block"}"#], 0),
            ),
            (0, r#"{"additionalContext":"x"}"#, "", (None, vec![], 0)),
            (
                0,
                r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"x"}}"#,
                "",
                (None, vec!["x"], 0),
            ),
            (
                0,
                r#"{"hookSpecificOutput":{"additionalContext":"x"}}"#,
                "",
                (None, vec![], 1),
            ),
            (
                0,
                r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"x"}}"#,
                "",
                (None, vec![], 1),
            ),
        ] {
            let outcome = read("UserPromptSubmit", "guard", &ended(exit, stdout, stderr));
            assert_eq!(gist(&outcome), expected, "{exit} {stdout} {stderr}");
        }
    }

    #[test]
    fn each_event_takes_the_answers_that_fit_it() {
        let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
        let top_level_deny = r#"{"permissionDecision":"deny"}"#;
        for (event, exit, stdout, expected) in [
            ("PreToolUse", 0, deny, (Some("no"), vec![], 0)),
            ("PreToolUse", 0, top_level_deny, (None, vec![], 0)),
            ("PreToolUse", 0, "plain", (None, vec![], 0)),
            ("Stop", 0, "plain", (None, vec![], 0)),
            (
                "Stop",
                0,
                r#"{"decision":"block","reason":"go on"}"#,
                (Some("go on"), vec![], 0),
            ),
            ("SessionStart", 0, "plain", (None, vec!["plain"], 0)),
            ("SessionStart", 2, "", (None, vec![], 1)),
            (
                "SessionEnd",
                0,
                r#"{"decision":"block","reason":"x"}"#,
                (None, vec![], 0),
            ),
        ] {
            let outcome = read(event, "guard", &ended(exit, stdout, ""));
            assert_eq!(gist(&outcome), expected, "{event} {stdout}");
        }
    }

    #[test]
    fn permission_words_stops_and_notices_are_kept() {
        for (stdout, permission, stop, notices) in [
            (
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
                Some(Permission::Ask),
                None,
                0,
            ),
            (
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
                Some(Permission::Allow),
                None,
                0,
            ),
            (
                r#"{"continue":false,"stopReason":"enough"}"#,
                None,
                Some("enough"),
                0,
            ),
            (r#"{"systemMessage":"hello"}"#, None, None, 1),
        ] {
            let outcome = read("PreToolUse", "guard", &ended(0, stdout, ""));
            assert_eq!(outcome.permission, permission, "{stdout}");
            assert_eq!(outcome.stop.as_deref(), stop, "{stdout}");
            assert_eq!(outcome.notices.len(), notices, "{stdout}");
        }
    }

    #[test]
    fn a_hook_that_takes_too_long_lets_the_prompt_go_on() {
        let late = Ended {
            exit: Some(2),
            timed_out: true,
            ..Ended::default()
        };
        let outcome = read("UserPromptSubmit", "guard", &late);
        assert_eq!(outcome.block, None);
        assert_eq!(outcome.failures[0].kind, "hook_cancelled");
    }

    #[test]
    fn the_first_no_of_several_hooks_counts() {
        let say = |reason: &str| {
            let answer = format!(r#"{{"decision":"block","reason":"{reason}"}}"#);
            read("UserPromptSubmit", "guard", &ended(0, &answer, ""))
        };
        let mut all = Outcome::default();
        all.add(say("one"));
        all.add(say("two"));
        assert_eq!(gist(&all).0, Some("one"));
    }
}
