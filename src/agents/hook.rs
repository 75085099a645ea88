//! What a client tells its hook on stdin, in the deck's words, and the answer that every client takes.
//!
//! Claude Code and Codex name their events and fields alike, so one reading serves both.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::json;

use super::text::{Text, bare};
use crate::deck::tool::Tool;

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
    /// The subagent's own transcript. May not exist.
    pub(crate) subagent_transcript: Option<PathBuf>,
    /// The model, where the client states it.
    pub(crate) model: Option<String>,
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
        /// The client's name of the tool.
        tool: String,
        does: Tool,
    },
    /// It has run, or failed.
    ToolEnded {
        tool: String,
    },
    /// A subagent begins.
    SubagentStarted,
    /// A subagent is over.
    SubagentEnded,
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

/// The answer that gives the model something to know beside what happened. The client takes it only under the event's
/// own name.
pub(crate) fn answer_context(event: &str, text: &str) -> String {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
        .to_string()
}

/// Reads what stood on stdin; none if it is no event.
pub(super) fn read(stdin: &[u8]) -> Option<HookCall> {
    let json = bare(stdin);
    let (fields, input) = fields::<ToolInput>(json)
        // A tool nobody knows may have our fields in another shape.
        .or_else(|| fields::<IgnoredAny>(json))?;
    let event = fields.event(&input);
    let starts = matches!(event, Event::Started { .. });
    let model = starts.then(|| stated_model(json)).flatten();
    Some(HookCall {
        event,
        name: fields.hook_event_name.0,
        conversation: fields.session_id.and_then(filled),
        transcript: fields.transcript_path.and_then(filled).map(PathBuf::from),
        dir: fields.cwd.and_then(filled).map(PathBuf::from),
        subagent: fields.agent_id.and_then(filled),
        subagent_transcript: fields
            .agent_transcript_path
            .and_then(filled)
            .map(PathBuf::from),
        model,
    })
}

fn fields<T: DeserializeOwned + Into<ToolInput>>(
    json: &[u8],
) -> Option<(Fields<IgnoredAny>, ToolInput)> {
    let fields: Fields<T> = serde_json::from_slice(json).ok()?;
    Some(fields.apart())
}

/// The model as the start of a conversation names it.
fn stated_model(json: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Stated {
        model: Text,
    }
    let stated: Stated = serde_json::from_slice(json).ok()?;
    filled(stated.model)
}

#[derive(Deserialize)]
struct Fields<T> {
    hook_event_name: Text,
    session_id: Option<Text>,
    transcript_path: Option<Text>,
    cwd: Option<Text>,
    agent_id: Option<Text>,
    agent_transcript_path: Option<Text>,
    source: Option<Text>,
    prompt: Option<Text>,
    tool_name: Option<Text>,
    tool_input: Option<T>,
    message: Option<Text>,
    notification_type: Option<Text>,
    reason: Option<Text>,
}

/// What the brake, the guard and a question have to know of a tool's input.
#[derive(Default, Deserialize)]
struct ToolInput {
    command: Option<Text>,
    file_path: Option<Text>,
    notebook_path: Option<Text>,
    url: Option<Text>,
    description: Option<Text>,
}

impl From<IgnoredAny> for ToolInput {
    fn from(_: IgnoredAny) -> Self {
        Self::default()
    }
}

impl ToolInput {
    /// What a tool of that name is about to do. Both clients' names are here; a name that only one of them has means
    /// nothing else to the other.
    fn does(&self, tool: &str) -> Tool {
        let path = |field: &Option<Text>| field.clone().and_then(filled).map(PathBuf::from);
        let file = path(&self.file_path);
        let notebook = path(&self.notebook_path);
        let command = self.command.clone().and_then(filled);
        match (tool, file, notebook, command) {
            ("Read", Some(path), _, _) | ("NotebookRead", _, Some(path), _) => Tool::Read { path },
            ("Glob" | "Grep" | "LS", ..) => Tool::Search,
            ("Write" | "Edit" | "MultiEdit", Some(path), _, _)
            | ("NotebookEdit", _, Some(path), _) => Tool::Write { paths: vec![path] },
            ("Bash", _, _, Some(command)) => Tool::Run { command },
            ("apply_patch", _, _, Some(diff)) => patched(&diff),
            _ => Tool::Other,
        }
    }
}

/// The files that a patch of Codex adds or changes. One that takes files away is no plain writing.
fn patched(diff: &str) -> Tool {
    let mut paths = Vec::new();
    for line in diff.lines() {
        // The client takes white space off in front of what begins a file.
        let Some(rest) = line.trim_start().strip_prefix("*** ") else {
            continue;
        };
        match rest.split_once(": ") {
            Some(("Add File" | "Update File" | "Move to", file)) => {
                paths.push(PathBuf::from(file.trim()));
            }
            Some(("Delete File", _)) => return Tool::Other,
            _ => {}
        }
    }
    Tool::Write { paths }
}

impl<T: Into<ToolInput>> Fields<T> {
    fn apart(self) -> (Fields<IgnoredAny>, ToolInput) {
        let input = self.tool_input.map(Into::into).unwrap_or_default();
        let rest = Fields {
            hook_event_name: self.hook_event_name,
            session_id: self.session_id,
            transcript_path: self.transcript_path,
            cwd: self.cwd,
            agent_id: self.agent_id,
            agent_transcript_path: self.agent_transcript_path,
            source: self.source,
            prompt: self.prompt,
            tool_name: self.tool_name,
            tool_input: None,
            message: self.message,
            notification_type: self.notification_type,
            reason: self.reason,
        };
        (rest, input)
    }
}

impl Fields<IgnoredAny> {
    fn event(&self, input: &ToolInput) -> Event {
        let text = |field: &Option<Text>| field.clone().unwrap_or_default().0;
        match (self.hook_event_name.0.as_str(), &self.prompt) {
            ("SessionStart", _) => Event::Started {
                source: text(&self.source),
            },
            ("UserPromptSubmit", Some(prompt)) => Event::Prompt {
                text: prompt.0.clone(),
            },
            ("PreToolUse", _) => {
                let tool = text(&self.tool_name);
                let does = input.does(&tool);
                Event::ToolStarts { tool, does }
            }
            ("PostToolUse" | "PostToolUseFailure", _) => Event::ToolEnded {
                tool: text(&self.tool_name),
            },
            ("SubagentStart", _) => Event::SubagentStarted,
            ("SubagentStop", _) => Event::SubagentEnded,
            ("PermissionRequest", _) => Event::Permission {
                question: self.question(input),
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

    fn question(&self, input: &ToolInput) -> String {
        let tool = self.tool_name.clone().unwrap_or_default().0;
        let subject = [
            &input.command,
            &input.file_path,
            &input.url,
            &input.description,
        ]
        .into_iter()
        .find_map(|field| field.clone().and_then(filled));
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn started(source: &str) -> Event {
        Event::Started {
            source: source.into(),
        }
    }

    fn prompt(text: &str) -> Event {
        Event::Prompt { text: text.into() }
    }

    fn tool_ended(tool: &str) -> Event {
        Event::ToolEnded { tool: tool.into() }
    }

    fn turn_ended(why: TurnEnd) -> Event {
        Event::TurnEnded { why }
    }

    #[test]
    fn recorded_events_are_read_in_the_decks_words() {
        let bash = |command: &str| Event::ToolStarts {
            tool: "Bash".into(),
            does: Tool::Run {
                command: command.into(),
            },
        };
        let ended = |reason: &str| Event::Ended {
            reason: reason.into(),
        };
        let wrong = prompt("Find why the basket total is wrong.");
        let permission = Event::Permission {
            question: "Bash: touch tested && cat basket.txt".into(),
        };
        let idle = Event::Waiting {
            message: "Claude is waiting for your input".into(),
        };
        for (agent, file, subagent, event) in [
            ("claude", "SessionStart", false, started("startup")),
            ("claude", "SessionStart.clear", false, started("clear")),
            ("claude", "SessionStart.compact", false, started("compact")),
            ("claude", "UserPromptSubmit", false, wrong.clone()),
            (
                "claude",
                "PreToolUse",
                false,
                bash("touch tested && cat basket.txt"),
            ),
            ("claude", "PostToolUse", false, tool_ended("Agent")),
            ("claude", "PostToolUseFailure", false, tool_ended("Bash")),
            ("claude", "PermissionRequest", false, permission.clone()),
            ("claude", "Notification.idle", false, idle),
            ("claude", "Notification.permission", false, Event::Other),
            ("claude", "Stop", false, turn_ended(TurnEnd::Done)),
            ("claude", "StopFailure", false, turn_ended(TurnEnd::Error)),
            ("claude", "SubagentStart", true, Event::SubagentStarted),
            ("claude", "SubagentStop", true, Event::SubagentEnded),
            (
                "claude",
                "SubagentStop.compaction",
                true,
                Event::SubagentEnded,
            ),
            ("claude", "PreCompact", false, Event::Other),
            ("claude", "PostCompact", false, Event::Other),
            ("claude", "SessionEnd", false, ended("prompt_input_exit")),
            ("codex", "SessionStart", false, started("startup")),
            ("codex", "UserPromptSubmit", false, wrong),
            (
                "codex",
                "UserPromptSubmit.subagent",
                true,
                prompt("Read src/money.rs and say how it rounds."),
            ),
            (
                "codex",
                "PreToolUse",
                false,
                bash("touch tested && cat basket.txt"),
            ),
            ("codex", "PostToolUse", false, tool_ended("Bash")),
            ("codex", "PermissionRequest", false, permission),
            ("codex", "Stop", false, turn_ended(TurnEnd::Done)),
            (
                "codex",
                "Interrupt",
                false,
                turn_ended(TurnEnd::Interrupted),
            ),
            ("codex", "SubagentStart", true, Event::SubagentStarted),
            ("codex", "SubagentStop", true, Event::SubagentEnded),
            ("codex", "PreCompact", false, Event::Other),
            ("codex", "PostCompact", false, Event::Other),
            ("codex", "SessionEnd", false, ended("other")),
        ] {
            let call = read(&recorded(agent, file)).unwrap();
            assert_eq!(call.event, event, "{agent} {file}");
            assert_eq!(call.subagent.is_some(), subagent, "{agent} {file}");
            assert_eq!(call.name, file.split('.').next().unwrap());
            assert_eq!(call.dir.as_deref(), Some(Path::new("/home/dev/shop")));
            let conversation = call.conversation.unwrap();
            let transcript = call.transcript.unwrap();
            assert!(
                subagent || transcript.to_string_lossy().contains(&conversation),
                "{agent} {file}"
            );
        }
    }

    #[test]
    fn what_the_client_put_there_can_be_told_from_a_prompt() {
        let Event::Prompt { text } =
            read(&recorded("claude", "UserPromptSubmit.task-notification"))
                .unwrap()
                .event
        else {
            panic!("a prompt");
        };
        assert!(text.starts_with("<task-notification>\n"), "{text}");
    }

    fn recorded(agent: &str, file: &str) -> Vec<u8> {
        let path = format!("tests/fixtures/{agent}/hooks/{file}.json");
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    }

    #[test]
    fn unsound_events_are_read_as_far_as_they_go() {
        let event = |json: &[u8]| read(json).map(|call| call.event);
        for (json, expected) in [
            (&b""[..], None),
            (b"not json", None),
            (b"{}", None),
            (b"[1]", None),
            (br#"{"hook_event_name":"NewThing","session_id":null}"#, Some(Event::Other)),
            (br#"{"hook_event_name":"UserPromptSubmit"}"#, Some(Event::Other)),
            (
                b"\xEF\xBB\xBF {\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"gr\xC3\xB6\xC3\x9Fe\"}\r\n",
                Some(prompt("gr\u{f6}\u{df}e")),
            ),
            (
                b"{\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"bad \xFF\"}",
                Some(prompt("bad \u{fffd}")),
            ),
            (
                br#"{"hook_event_name":"Stop","last_assistant_message":"half \ud83d"}"#,
                Some(turn_ended(TurnEnd::Done)),
            ),
            (
                br#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"a\n\u001b[31m b"}}"#,
                Some(Event::Permission {
                    question: "Bash: a [31m b".into(),
                }),
            ),
            (
                br#"{"hook_event_name":"PermissionRequest","tool_name":"mcp__x","tool_input":{}}"#,
                Some(Event::Permission {
                    question: "mcp__x".into(),
                }),
            ),
        ] {
            assert_eq!(event(json), expected, "{}", String::from_utf8_lossy(json));
        }
    }

    #[test]
    fn the_answer_has_the_one_form_that_every_client_takes() {
        assert_eq!(
            answer_block("not \"here\"\n"),
            r#"{"decision":"block","reason":"not \"here\"\n"}"#
        );
    }
}
