//! What a client tells its hook on stdin, in the deck's words, and the two answers that every client takes.
//!
//! Claude Code and Codex name their events and fields alike, so one reading serves both.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;

use super::text::{Text, bare};

/// One run of the hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HookCall {
    pub(crate) event: Event,
    /// The client's own name of the event, which an answer repeats.
    pub(crate) name: String,
    /// The conversation. In a subagent: the main one's.
    pub(crate) conversation: Option<String>,
    /// May not exist yet. In a subagent: the main conversation's with Claude Code, its own with Codex.
    pub(crate) transcript: Option<PathBuf>,
    /// Where the client works, symlinks resolved.
    pub(crate) dir: Option<PathBuf>,
    /// The subagent that the event is about. None of it is a person's doing.
    pub(crate) subagent: Option<String>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A conversation began, was resumed, cleared or compacted (`source`, in the client's word).
    Started {
        source: String,
    },
    /// A prompt is about to go to the model. Whether a person typed it or the client put it there, only
    /// [`HookCall::subagent`] and the text tell.
    Prompt {
        text: String,
    },
    ToolStarts {
        tool: String,
    },
    /// It has run, or failed.
    ToolEnded {
        tool: String,
    },
    /// The client asks the person for permission: the tool and, on one line, what it would do.
    Permission {
        question: String,
    },
    /// The client waits for the person.
    Waiting {
        message: String,
    },
    TurnEnded {
        why: TurnEnd,
    },
    /// The conversation ended.
    Ended {
        reason: String,
    },
    /// An event that changes nothing.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    Done,
    Error,
    Interrupted,
}

/// The answer that blocks a prompt or a tool. Goes to stdout, with exit code 0.
pub(crate) fn answer_block(reason: &str) -> String {
    json!({ "decision": "block", "reason": reason }).to_string()
}

/// The answer that hands the model further text. `name` is [`HookCall::name`].
pub(crate) fn answer_context(name: &str, text: &str) -> String {
    json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": text } })
        .to_string()
}

/// Reads what stood on stdin; none if it is no event.
pub(super) fn read(stdin: &[u8]) -> Option<HookCall> {
    let fields: Fields = serde_json::from_slice(bare(stdin)).ok()?;
    let name = fields.hook_event_name.0.clone();
    Some(HookCall {
        event: fields.event(),
        name,
        conversation: fields.session_id.and_then(filled),
        transcript: fields.transcript_path.and_then(filled).map(PathBuf::from),
        dir: fields.cwd.and_then(filled).map(PathBuf::from),
        subagent: fields.agent_id.and_then(filled),
    })
}

#[derive(Deserialize)]
struct Fields {
    hook_event_name: Text,
    session_id: Option<Text>,
    transcript_path: Option<Text>,
    cwd: Option<Text>,
    agent_id: Option<Text>,
    source: Option<Text>,
    prompt: Option<Text>,
    tool_name: Option<Text>,
    tool_input: Option<ToolInput>,
    message: Option<Text>,
    notification_type: Option<Text>,
    #[serde(default)]
    is_interrupt: bool,
    reason: Option<Text>,
}

/// What a question about a tool names, the first that is there.
#[derive(Default, Deserialize)]
struct ToolInput {
    command: Option<Text>,
    file_path: Option<Text>,
    url: Option<Text>,
    description: Option<Text>,
}

impl Fields {
    fn event(&self) -> Event {
        let text = |field: &Option<Text>| field.clone().unwrap_or_default().0;
        match (self.hook_event_name.0.as_str(), &self.prompt) {
            ("SessionStart", _) => Event::Started {
                source: text(&self.source),
            },
            ("UserPromptSubmit", Some(prompt)) => Event::Prompt {
                text: prompt.0.clone(),
            },
            ("PreToolUse", _) => Event::ToolStarts {
                tool: text(&self.tool_name),
            },
            ("PostToolUseFailure", _) if self.is_interrupt => Event::TurnEnded {
                why: TurnEnd::Interrupted,
            },
            ("PostToolUse" | "PostToolUseFailure", _) => Event::ToolEnded {
                tool: text(&self.tool_name),
            },
            ("PermissionRequest", _) => Event::Permission {
                question: self.question(),
            },
            ("Notification", _) if text(&self.notification_type) == "idle_prompt" => {
                Event::Waiting {
                    message: text(&self.message),
                }
            }
            ("Stop", _) => Event::TurnEnded { why: TurnEnd::Done },
            ("StopFailure", _) => Event::TurnEnded {
                why: TurnEnd::Error,
            },
            ("Interrupt", _) => Event::TurnEnded {
                why: TurnEnd::Interrupted,
            },
            ("SessionEnd", _) => Event::Ended {
                reason: text(&self.reason),
            },
            _ => Event::Other,
        }
    }

    fn question(&self) -> String {
        let tool = self.tool_name.clone().unwrap_or_default().0;
        let subject = self.tool_input.as_ref().and_then(|input| {
            [
                &input.command,
                &input.file_path,
                &input.url,
                &input.description,
            ]
            .into_iter()
            .find_map(|field| field.clone().and_then(filled))
        });
        match subject {
            Some(subject) => format!("{tool}: {}", one_line(&subject)),
            None => tool,
        }
    }
}

fn filled(text: Text) -> Option<String> {
    Some(text.0).filter(|text| !text.is_empty())
}

/// The text with every run of white space and control characters as one blank.
fn one_line(text: &str) -> String {
    text.split(|letter: char| letter.is_whitespace() || letter.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
