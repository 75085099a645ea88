//! The rows of a transcript, in the shape of the real client's.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::script::Tool;
use super::tokens::Usage;

/// The version whose rows these are.
pub(super) const VERSION: &str = "2.1.332";

/// One thing worth a row or some.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Row {
    Prompt {
        prompt: u32,
        text: String,
    },
    /// Text that a hook gave the model, or a hook that failed.
    Attachment {
        event: &'static str,
        kind: &'static str,
        text: String,
    },
    /// One answer of the model: one row a block, all with the same id and usage.
    Message {
        blocks: Vec<Content>,
        usage: Usage,
        stop: &'static str,
    },
    ToolResult {
        tool: Tool,
        /// Instead of the tool's own output, why it did not run.
        refused: Option<String>,
    },
    /// A prompt that a hook held back: no user row.
    Blocked {
        content: String,
        reason: String,
    },
    Interrupted {
        text: &'static str,
    },
    /// Why a hook did not let the turn end.
    StopFeedback {
        text: String,
    },
    StopSummary {
        hooks: usize,
    },
    TurnDuration {
        milliseconds: u64,
    },
    Compacted {
        trigger: &'static str,
        before: u64,
        after: u64,
        summary: String,
    },
    LocalCommand {
        name: String,
        args: String,
        output: String,
    },
    ApiError {
        text: String,
    },
}

/// One block of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    Thinking(&'static str),
    Text(String),
    ToolUse(Tool),
}

impl Content {
    fn json(&self) -> Value {
        match self {
            Content::Thinking(text) => {
                json!({"type": "thinking", "thinking": text, "signature": "cHJhY3RpY2U="})
            }
            Content::Text(text) => json!({"type": "text", "text": text}),
            Content::ToolUse(tool) => {
                json!({"type": "tool_use", "id": tool.id, "name": tool.name, "input": tool.input})
            }
        }
    }
}

/// What rows of one conversation share, and where the next one hangs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) session_id: String,
    pub(super) cwd: String,
    pub(super) git_branch: String,
    pub(super) model: String,
    pub(super) effort: String,
    pub(super) permission_mode: String,
    /// The newest row's id.
    pub(super) parent: Option<String>,
    /// Rows so far; ids are made from it.
    pub(super) rows: u64,
    /// The current prompt, counted from 1; 0 before the first.
    pub(super) prompt: u32,
    /// The newest message's id, which an interruption names.
    pub(super) message: Option<String>,
    dropped: u64,
}

impl Chain {
    pub(super) fn new(session_id: String, cwd: String, git_branch: String) -> Self {
        Self {
            session_id,
            cwd,
            git_branch,
            model: String::new(),
            effort: String::new(),
            permission_mode: String::new(),
            parent: None,
            rows: 0,
            prompt: 0,
            message: None,
            dropped: 0,
        }
    }

    /// Rows that open a file, without ids of their own.
    pub(super) fn opening(&self) -> Vec<Value> {
        vec![
            json!({"type": "mode", "mode": "normal", "sessionId": self.session_id}),
            json!({"type": "permission-mode", "permissionMode": self.permission_mode, "sessionId": self.session_id}),
        ]
    }

    /// The id of a prompt, the same in hooks and rows.
    pub(super) fn prompt_id(&self, prompt: u32) -> String {
        self.id("prompt", u64::from(prompt))
    }

    /// The JSON of a row or, for an answer of several blocks, of its rows. `now` is RFC 3339 in UTC.
    pub(super) fn extend(&mut self, row: &Row, now: &str) -> Vec<Value> {
        self.own(row)
            .into_iter()
            .map(|own| self.envelope(own, now))
            .collect()
    }

    /// What rows say beyond what every row says.
    #[expect(clippy::too_many_lines, reason = "one short arm for each kind of row")]
    fn own(&mut self, row: &Row) -> Vec<Value> {
        match row {
            Row::Prompt { prompt, text } => {
                self.prompt = *prompt;
                vec![self.user(
                    &json!(text),
                    json!({"permissionMode": self.permission_mode, "origin": {"kind": "human"},
                        "promptSource": "typed", "turnOrigin": "human",
                        "turnPosition": {"promptIndex": prompt, "turnIndex": prompt}}),
                )]
            }
            Row::Attachment { event, kind, text } => {
                let content = match *kind {
                    "hook_additional_context" => json!([text]),
                    _ => json!(text),
                };
                let id = format!("hook-{}", self.id("hook", self.rows));
                vec![
                    json!({"attachment": {"type": kind, "content": content, "hookName": event,
                    "toolUseID": id, "hookEvent": event}, "type": "attachment"}),
                ]
            }
            Row::Message {
                blocks,
                usage,
                stop,
            } => self.message(blocks, *usage, stop),
            Row::ToolResult { tool, refused } => {
                let content = refused.as_deref().unwrap_or(tool.output);
                let result = match refused {
                    Some(text) => json!(format!("Error: {text}")),
                    None => tool.response(),
                };
                vec![self.user(
                    &json!([{"tool_use_id": tool.id, "type": "tool_result", "content": content,
                        "is_error": refused.is_some()}]),
                    json!({"toolUseResult": result, "sourceToolAssistantUUID": self.parent}),
                )]
            }
            Row::Blocked { content, reason } => vec![system(
                "informational",
                json!({"content": content, "isMeta": false, "level": "warning",
                    "preventContinuation": true,
                    "promptSubmitEnding": {"ending": {"kind": "blocked_by_hook", "reason": reason},
                        "promptKept": false}}),
            )],
            Row::Interrupted { text } => vec![self.user(
                &json!([{"type": "text", "text": text}]),
                json!({"rowSource": "harness", "interruptedMessageId": self.message}),
            )],
            Row::StopFeedback { text } => vec![self.user(
                &json!(format!("Stop hook feedback:\n{text}")),
                json!({"isMeta": true, "rowSource": "hook", "hookText": true}),
            )],
            Row::StopSummary { hooks } => vec![system(
                "stop_hook_summary",
                json!({"hookCount": hooks, "hookInfos": [], "hookErrors": [],
                    "failedHookErrorIndexes": [], "hookAdditionalContext": [],
                    "preventedContinuation": false, "stopReason": "", "hasOutput": false,
                    "level": "suggestion", "toolUseID": self.id("stop", self.rows)}),
            )],
            Row::TurnDuration { milliseconds } => vec![system(
                "turn_duration",
                json!({"durationMs": milliseconds, "messageCount": self.rows, "isMeta": false}),
            )],
            Row::Compacted {
                trigger,
                before,
                after,
                summary,
            } => {
                self.dropped += before.saturating_sub(*after);
                let boundary = system(
                    "compact_boundary",
                    json!({"content": "Conversation compacted", "level": "info",
                        "compactMetadata": {"trigger": trigger, "preTokens": before,
                            "postTokens": after, "cumulativeDroppedTokens": self.dropped,
                            "durationMs": 400}}),
                );
                // The boundary begins a new chain and names the old one beside it.
                let link = json!({"logicalParentUuid": self.parent.take()});
                let summary = self.user(
                    &json!(summary),
                    json!({"isVisibleInTranscriptOnly": true, "isCompactSummary": true}),
                );
                vec![joined(link, boundary), summary]
            }
            Row::LocalCommand { name, args, output } => [
                format!("<command-name>{name}</command-name>\n<command-args>{args}</command-args>"),
                format!("<local-command-stdout>{output}</local-command-stdout>"),
            ]
            .iter()
            .map(|text| self.user(&json!(text), json!({"rowSource": "local"})))
            .collect(),
            Row::ApiError { text } => vec![json!({"type": "assistant",
                "message": {"id": self.id("error", self.rows), "type": "message",
                    "role": "assistant", "model": "<synthetic>",
                    "content": [{"type": "text", "text": text}],
                    "stop_reason": "stop_sequence", "stop_sequence": "",
                    "usage": usage_json(Usage::default())},
                "requestId": "req_practice", "error": "server_error", "isApiErrorMessage": true,
                "apiErrorStatus": 529, "apiErrorType": "overloaded_error"})],
        }
    }

    fn message(&mut self, blocks: &[Content], usage: Usage, stop: &str) -> Vec<Value> {
        let id = self.id("message", self.rows).replace('-', "");
        let id = format!("msg_01{}", &id[..22]);
        self.message = Some(id.clone());
        let request = self.id("request", self.rows);
        blocks
            .iter()
            .enumerate()
            .map(|(index, block)| {
                json!({"message": {"id": id, "type": "message", "role": "assistant",
                        "model": self.model, "content": [block.json()], "stop_reason": stop,
                        "stop_sequence": null, "usage": usage_json(usage)},
                    "apiBlockIndex": index, "requestRef": request,
                    "requestedModel": self.model, "type": "assistant", "effort": self.effort})
            })
            .collect()
    }

    /// A row of the person's side.
    fn user(&self, content: &Value, more: Value) -> Value {
        let user = json!({"promptId": self.prompt_id(self.prompt), "type": "user",
            "message": {"role": "user", "content": content}});
        joined(user, more)
    }

    /// Puts the fields that every row has around its own, and makes it the newest.
    fn envelope(&mut self, own: Value, now: &str) -> Value {
        let uuid = self.id("row", self.rows);
        self.rows += 1;
        let head = json!({"parentUuid": self.parent, "isSidechain": false});
        let tail = json!({"uuid": uuid, "timestamp": now, "userType": "external",
            "entrypoint": "cli", "cwd": self.cwd, "sessionId": self.session_id,
            "version": VERSION, "gitBranch": self.git_branch});
        self.parent = Some(uuid);
        joined(joined(head, own), tail)
    }

    /// An id that follows from the conversation, so that the same conversation has the same ids.
    fn id(&self, kind: &str, number: u64) -> String {
        let digest = Sha256::digest(format!("{} {kind} {number}", self.session_id));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_random_bytes(bytes)
            .into_uuid()
            .to_string()
    }
}

fn system(subtype: &str, more: Value) -> Value {
    joined(json!({"type": "system", "subtype": subtype}), more)
}

/// The fields of one object, then those of the other.
fn joined(mut first: Value, second: Value) -> Value {
    if let (Value::Object(first), Value::Object(second)) = (&mut first, second) {
        first.extend(second);
    }
    first
}

fn usage_json(usage: Usage) -> Value {
    json!({"input_tokens": usage.input, "cache_creation_input_tokens": usage.cache_creation,
        "cache_read_input_tokens": usage.cache_read, "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": 0},
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {"ephemeral_1h_input_tokens": 0,
            "ephemeral_5m_input_tokens": usage.cache_creation},
        "inference_geo": "", "iterations": [], "speed": "standard"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::practice::script;

    fn chain() -> Chain {
        Chain {
            model: "claude-sonnet-4-5".into(),
            effort: "medium".into(),
            permission_mode: "default".into(),
            ..Chain::new("7c1d".into(), "/home/dev/shop".into(), "main".into())
        }
    }

    /// The names of a row's fields.
    fn names(row: &Value) -> String {
        let names: Vec<_> = row.as_object().unwrap().keys().cloned().collect();
        names.join(" ")
    }

    #[test]
    fn rows_have_the_fields_of_the_real_client_in_its_order() {
        let tail = " uuid timestamp userType entrypoint cwd sessionId version gitBranch";
        let tool = script::plan("run the tests").tool.unwrap();
        for (row, fields) in [
            (
                Row::Prompt {
                    prompt: 1,
                    text: "hi".into(),
                },
                "promptId type message permissionMode origin promptSource turnOrigin turnPosition",
            ),
            (
                Row::Message {
                    blocks: vec![Content::Text("t".into())],
                    usage: Usage::default(),
                    stop: "end_turn",
                },
                "message apiBlockIndex requestRef requestedModel type effort",
            ),
            (
                Row::ToolResult {
                    tool,
                    refused: None,
                },
                "promptId type message toolUseResult sourceToolAssistantUUID",
            ),
            (
                Row::Blocked {
                    content: "c".into(),
                    reason: "r".into(),
                },
                "type subtype content isMeta level preventContinuation promptSubmitEnding",
            ),
            (
                Row::Attachment {
                    event: "Stop",
                    kind: "hook_additional_context",
                    text: "t".into(),
                },
                "attachment type",
            ),
            (
                Row::Compacted {
                    trigger: "manual",
                    before: 9,
                    after: 3,
                    summary: "s".into(),
                },
                "logicalParentUuid type subtype content level compactMetadata",
            ),
            (
                Row::Interrupted {
                    text: "[Request interrupted by user]",
                },
                "promptId type message rowSource interruptedMessageId",
            ),
            (
                Row::TurnDuration { milliseconds: 3 },
                "type subtype durationMs messageCount isMeta",
            ),
            (
                Row::ApiError { text: "t".into() },
                "type message requestId error isApiErrorMessage apiErrorStatus apiErrorType",
            ),
        ] {
            let rows = chain().extend(&row, "2026-11-03T09:00:20.540Z");
            assert_eq!(
                names(&rows[0]),
                format!("parentUuid isSidechain {fields}{tail}")
            );
        }
    }

    #[test]
    fn blocks_of_one_answer_share_its_id_and_hang_on_each_other() {
        let tool = script::plan("run the tests").tool.unwrap();
        let mut chain = chain();
        let rows = chain.extend(
            &Row::Message {
                blocks: vec![Content::Text("t".into()), Content::ToolUse(tool.clone())],
                usage: Usage {
                    input: 12,
                    cache_creation: 3,
                    cache_read: 4,
                    output: 5,
                },
                stop: "tool_use",
            },
            "now",
        );
        assert_eq!(rows[0]["message"]["id"], rows[1]["message"]["id"]);
        assert_eq!(rows[0]["message"]["usage"], rows[1]["message"]["usage"]);
        assert_eq!(rows[1]["parentUuid"], rows[0]["uuid"]);
        let result = chain.extend(
            &Row::ToolResult {
                tool,
                refused: None,
            },
            "now",
        );
        assert_eq!(result[0]["sourceToolAssistantUUID"], rows[1]["uuid"]);
        let other = chain.extend(
            &Row::Message {
                blocks: vec![Content::Text("t".into())],
                usage: Usage::default(),
                stop: "end_turn",
            },
            "now",
        );
        assert_ne!(other[0]["message"]["id"], rows[0]["message"]["id"]);
    }

    #[test]
    fn a_compaction_begins_a_new_chain_that_names_the_old() {
        let mut chain = chain();
        let prompt = chain.extend(
            &Row::Prompt {
                prompt: 1,
                text: "hi".into(),
            },
            "now",
        );
        let rows = chain.extend(
            &Row::Compacted {
                trigger: "manual",
                before: 90,
                after: 30,
                summary: "s".into(),
            },
            "now",
        );
        assert_eq!(rows[0]["parentUuid"], Value::Null);
        assert_eq!(rows[0]["logicalParentUuid"], prompt[0]["uuid"]);
        assert_eq!(rows[0]["compactMetadata"]["cumulativeDroppedTokens"], 60);
        assert_eq!(rows[1]["parentUuid"], rows[0]["uuid"]);
        assert_eq!(rows[1]["promptId"], prompt[0]["promptId"]);
    }
}
