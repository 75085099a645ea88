//! What a hook tells the server: one JSON line on the session's own socket, no answer awaited.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One line on a session's socket. The socket takes nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "snake_case")]
pub(crate) enum Tell {
    /// A hook ran.
    Hook(HookReport),
    /// `sessdeck park` ran inside the session and has written the line already.
    Parked { line: String },
}

/// One run of `sessdeck hook`, after it has decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HookReport {
    /// The id the server gave the session (`SESSDECK_SESSION`).
    pub(crate) session: u64,
    /// The dialect, e.g. `claude`.
    pub(crate) agent: String,
    pub(crate) event: HookEvent,
    /// The conversation the client names in the event.
    pub(crate) conversation: Option<String>,
    pub(crate) transcript: Option<PathBuf>,
    /// Set in events of subagents, which change nothing about the session's state.
    pub(crate) subagent: Option<String>,
}

/// What happened, in the deck's words whatever the client calls it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum HookEvent {
    /// A conversation began, was resumed, cleared or compacted (`source`, in the client's word).
    Started { source: String },
    /// A prompt went through.
    Prompt,
    /// A prompt was blocked; the stored copy is named, so that the line stays short.
    Blocked(Blocked),
    /// A prompt was parked by its sign and blocked; `prompt` is what the client puts back into its box.
    Parked { line: String, prompt: String },
    /// A subagent over its limit keeps trying tools that are denied to it.
    Stuck(Stuck),
    /// A tool is about to run.
    ToolStarts { tool: String },
    /// A tool has run.
    ToolEnded { tool: String },
    /// The client asks the person for permission.
    Permission { question: String },
    /// The client says that it waits for the person (`idle_prompt` of Claude Code).
    Waiting { message: String },
    /// The turn ended: normally, by an error, or by the person's interrupt.
    TurnEnded { why: TurnEnd },
    /// The conversation ended.
    Ended { reason: String },
    /// An event that changes nothing.
    Other { name: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TurnEnd {
    Done,
    Error,
    Interrupted,
}

/// A prompt that the topic check blocked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Blocked {
    /// The file in `<state>/blocked/` that holds the whole prompt, mode 0600.
    pub(crate) stored: PathBuf,
    /// The profile the session was started with.
    pub(crate) current: String,
    /// The profile the prompt belongs to.
    pub(crate) other: String,
    /// The words that decided, as keywords of `other`.
    pub(crate) matched: Vec<String>,
    /// The command that opens the prompt as its own session, as it was shown.
    pub(crate) command: String,
}

/// A subagent that does not take no for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stuck {
    /// The client's id of it.
    pub(crate) agent: String,
    pub(crate) context_tokens: u64,
    /// Where it is to hand over.
    pub(crate) note: PathBuf,
}
