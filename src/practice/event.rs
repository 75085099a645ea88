//! The events that hooks run at, and what a hook reads about each.

use serde_json::{Map, Value, json};

use super::script::Tool;

/// An event. The fields are those of the client that the stand-in stands in for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Hook {
    /// `model` is told at a start and after a compaction only.
    SessionStart {
        source: &'static str,
        model: Option<String>,
    },
    UserPromptSubmit {
        prompt: String,
    },
    PreToolUse(Tool),
    PermissionRequest(Tool),
    PostToolUse(Tool),
    Notification {
        kind: &'static str,
        message: &'static str,
    },
    Stop {
        again: bool,
        message: String,
    },
    StopFailure {
        message: String,
    },
    PreCompact {
        trigger: &'static str,
        instructions: Option<String>,
    },
    /// The compaction's own helper, which never had a start.
    SubagentStop {
        message: String,
    },
    PostCompact {
        trigger: &'static str,
        summary: String,
    },
    SessionEnd {
        reason: &'static str,
    },
}

/// What every event tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Common {
    pub(super) session_id: String,
    pub(super) transcript_path: String,
    pub(super) cwd: String,
    /// From the first prompt on.
    pub(super) prompt_id: Option<String>,
    pub(super) permission_mode: String,
    pub(super) effort: String,
}

impl Hook {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Hook::SessionStart { .. } => "SessionStart",
            Hook::UserPromptSubmit { .. } => "UserPromptSubmit",
            Hook::PreToolUse(_) => "PreToolUse",
            Hook::PermissionRequest(_) => "PermissionRequest",
            Hook::PostToolUse(_) => "PostToolUse",
            Hook::Notification { .. } => "Notification",
            Hook::Stop { .. } => "Stop",
            Hook::StopFailure { .. } => "StopFailure",
            Hook::PreCompact { .. } => "PreCompact",
            Hook::SubagentStop { .. } => "SubagentStop",
            Hook::PostCompact { .. } => "PostCompact",
            Hook::SessionEnd { .. } => "SessionEnd",
        }
    }

    /// What a handler's matcher is held against.
    pub(super) fn subject(&self) -> &str {
        match self {
            Hook::SessionStart { source, .. } => source,
            Hook::PreToolUse(tool) | Hook::PermissionRequest(tool) | Hook::PostToolUse(tool) => {
                tool.name
            }
            Hook::Notification { kind, .. } => kind,
            Hook::PreCompact { trigger, .. } | Hook::PostCompact { trigger, .. } => trigger,
            Hook::SessionEnd { reason } => reason,
            Hook::UserPromptSubmit { .. }
            | Hook::Stop { .. }
            | Hook::StopFailure { .. }
            | Hook::SubagentStop { .. } => "",
        }
    }

    /// The line that a hook reads: one JSON object and a line feed.
    pub(super) fn input(&self, common: &Common) -> String {
        let mut object = Map::new();
        object.insert("session_id".into(), json!(common.session_id));
        object.insert("transcript_path".into(), json!(common.transcript_path));
        object.insert("cwd".into(), json!(common.cwd));
        if let Some(prompt_id) = &common.prompt_id {
            object.insert("prompt_id".into(), json!(prompt_id));
        }
        let (tells_mode, tells_effort) = self.tells();
        if tells_mode {
            object.insert("permission_mode".into(), json!(common.permission_mode));
        }
        if let Hook::SubagentStop { .. } = self {
            object.insert("agent_id".into(), json!("a0c0ffee000000000"));
            object.insert("agent_type".into(), json!(""));
        }
        if tells_effort {
            object.insert("effort".into(), json!({"level": common.effort}));
        }
        object.insert("hook_event_name".into(), json!(self.name()));
        if let Value::Object(fields) = self.fields(common) {
            object.extend(fields);
        }
        format!("{}\n", Value::Object(object))
    }

    /// Whether the event tells the permission mode and the effort.
    fn tells(&self) -> (bool, bool) {
        match self {
            Hook::UserPromptSubmit { .. } => (true, false),
            Hook::StopFailure { .. } => (false, true),
            Hook::PreToolUse(_)
            | Hook::PermissionRequest(_)
            | Hook::PostToolUse(_)
            | Hook::Stop { .. }
            | Hook::SubagentStop { .. } => (true, true),
            Hook::SessionStart { .. }
            | Hook::Notification { .. }
            | Hook::PreCompact { .. }
            | Hook::PostCompact { .. }
            | Hook::SessionEnd { .. } => (false, false),
        }
    }

    fn fields(&self, common: &Common) -> Value {
        match self {
            Hook::SessionStart { source, model } => match model {
                Some(model) => json!({"source": source, "model": model}),
                None => json!({"source": source}),
            },
            Hook::UserPromptSubmit { prompt } => json!({"prompt": prompt}),
            Hook::PreToolUse(tool) => json!({
                "tool_name": tool.name, "tool_input": tool.input, "tool_use_id": tool.id,
            }),
            Hook::PermissionRequest(tool) => json!({
                "tool_name": tool.name, "tool_input": tool.input,
                "permission_suggestions":
                    [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
            }),
            Hook::PostToolUse(tool) => json!({
                "tool_name": tool.name, "tool_input": tool.input,
                "tool_response": tool.response(), "tool_use_id": tool.id, "duration_ms": 250,
            }),
            Hook::Notification { kind, message } => {
                json!({"message": message, "notification_type": kind})
            }
            Hook::Stop { again, message } => json!({
                "stop_hook_active": again, "last_assistant_message": message,
                "background_tasks": [], "session_crons": [],
            }),
            Hook::StopFailure { message } => {
                json!({"error": "server_error", "last_assistant_message": message})
            }
            Hook::PreCompact {
                trigger,
                instructions,
            } => json!({"trigger": trigger, "custom_instructions": instructions}),
            Hook::SubagentStop { message } => json!({
                "stop_hook_active": false,
                "agent_transcript_path": format!(
                    "{}/subagents/agent-a0c0ffee000000000.jsonl",
                    common.transcript_path.trim_end_matches(".jsonl"),
                ),
                "last_assistant_message": message,
                "background_tasks": [], "session_crons": [],
            }),
            Hook::PostCompact { trigger, summary } => {
                json!({"trigger": trigger, "compact_summary": summary})
            }
            Hook::SessionEnd { reason } => json!({"reason": reason}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::practice::script;

    fn common() -> Common {
        Common {
            session_id: "7c1d".into(),
            transcript_path: "/home/dev/.claude/projects/-home-dev-shop/7c1d.jsonl".into(),
            cwd: "/home/dev/shop".into(),
            prompt_id: Some("b3f1".into()),
            permission_mode: "default".into(),
            effort: "medium".into(),
        }
    }

    #[test]
    fn each_event_has_the_fields_of_the_real_client_in_its_order() {
        let tool = script::plan("run the tests").tool.unwrap();
        let head = "session_id transcript_path cwd prompt_id ";
        for (hook, fields) in [
            (
                Hook::SessionStart {
                    source: "compact",
                    model: Some("m".into()),
                },
                "hook_event_name source model",
            ),
            (
                Hook::UserPromptSubmit { prompt: "p".into() },
                "permission_mode hook_event_name prompt",
            ),
            (
                Hook::PreToolUse(tool.clone()),
                "permission_mode effort hook_event_name tool_name tool_input tool_use_id",
            ),
            (
                Hook::PermissionRequest(tool.clone()),
                "permission_mode effort hook_event_name tool_name tool_input permission_suggestions",
            ),
            (
                Hook::PostToolUse(tool),
                "permission_mode effort hook_event_name tool_name tool_input tool_response tool_use_id duration_ms",
            ),
            (
                Hook::Notification {
                    kind: "idle_prompt",
                    message: "m",
                },
                "hook_event_name message notification_type",
            ),
            (
                Hook::Stop {
                    again: false,
                    message: "m".into(),
                },
                "permission_mode effort hook_event_name stop_hook_active last_assistant_message background_tasks session_crons",
            ),
            (
                Hook::StopFailure {
                    message: "m".into(),
                },
                "effort hook_event_name error last_assistant_message",
            ),
            (
                Hook::PreCompact {
                    trigger: "auto",
                    instructions: None,
                },
                "hook_event_name trigger custom_instructions",
            ),
            (
                Hook::SubagentStop {
                    message: "m".into(),
                },
                "permission_mode agent_id agent_type effort hook_event_name stop_hook_active agent_transcript_path last_assistant_message background_tasks session_crons",
            ),
            (
                Hook::PostCompact {
                    trigger: "manual",
                    summary: "s".into(),
                },
                "hook_event_name trigger compact_summary",
            ),
            (
                Hook::SessionEnd { reason: "clear" },
                "hook_event_name reason",
            ),
        ] {
            let line = hook.input(&common());
            let value: Value = serde_json::from_str(line.strip_suffix('\n').unwrap()).unwrap();
            let names: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
            assert_eq!(names.join(" "), format!("{head}{fields}"));
        }
    }

    #[test]
    fn before_the_first_prompt_no_prompt_is_named() {
        let common = Common {
            prompt_id: None,
            ..common()
        };
        let line = Hook::SessionStart {
            source: "clear",
            model: None,
        }
        .input(&common);
        assert_eq!(
            line,
            "{\"session_id\":\"7c1d\",\"transcript_path\":\"/home/dev/.claude/projects/-home-dev-shop/7c1d.jsonl\",\
             \"cwd\":\"/home/dev/shop\",\"hook_event_name\":\"SessionStart\",\"source\":\"clear\"}\n"
        );
    }
}
