//! Between a client and the server: requests with a number, responses to them, notices unasked.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::terminal::{Cursor, Line, Modes, Size};

/// The first frame each way. Its fields never change meaning, so that any two versions can talk this far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) version: String,
    pub(crate) pid: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToServer {
    /// Chosen by the client; the response carries it back. 0 wants no response.
    pub(crate) id: u64,
    pub(crate) request: Request,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum FromServer {
    Response { id: u64, response: Response },
    Notice(Notice),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Request {
    Status,
    List,
    /// From now on this connection gets notices. `dir` is where the client was started.
    Attach {
        dir: PathBuf,
        env: BTreeMap<String, String>,
    },
    /// This client looks at that session (or none), in a program area of that size.
    Look {
        session: Option<u64>,
        size: Size,
    },
    /// The frame of that number is on the person's screen; the next may come.
    Shown {
        frame: u64,
    },
    /// Bytes for the program, encoded for its modes. `typed` is false for mouse motion and focus reports, which
    /// must not make this client the one whose size counts.
    Input {
        session: u64,
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        typed: bool,
    },
    /// What would be started; nothing is.
    Plan(Order),
    Launch(Order),
    Answer {
        ask: u64,
        choice: Choice,
    },
    /// One line into the inbox of the repo that `dir` lies in, or of that session's repo.
    Park {
        dir: PathBuf,
        text: String,
        profile: Option<String>,
        session: Option<u64>,
    },
    Rename {
        session: u64,
        title: String,
    },
    /// Ends the program, or takes an ended session off the list.
    End {
        session: u64,
    },
    /// The screen as text, for scripts; with `history` also the rows that scrolled off its top.
    Screen {
        session: u64,
        #[serde(default)]
        history: bool,
    },
    /// Types a prompt into the session and sends it, in the way its agent needs.
    Prompt {
        session: u64,
        text: String,
    },
    /// Ends the server. Agents live on in the keeper unless `agents` says that they end too.
    Stop {
        agents: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Response {
    Done,
    Status(Status),
    Sessions(Vec<Session>),
    Session(Box<Session>),
    Plan(Box<Plan>),
    /// The line as it was written, and the file.
    Parked {
        line: String,
        file: PathBuf,
    },
    Screen {
        lines: Vec<String>,
        cursor: Cursor,
    },
    Failed(Failure),
}

/// An error on its way to the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The exit code of DESIGN section 6.
    pub(crate) exit: u8,
    /// What, where, how to mend; several lines.
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Notice {
    /// All sessions, whenever one of them changed. Those of one repo stand together.
    Sessions(Vec<Session>),
    /// What changed on the session this client looks at.
    Frame(Box<Frame>),
    /// The open lines of a repo's inbox, whenever they changed.
    Inbox(Inbox),
    /// A line for the person.
    Message(Message),
    /// An agent wrote to the clipboard (OSC 52): base64 as it came.
    Clipboard {
        session: u64,
        base64: String,
    },
    Bell {
        session: u64,
    },
    /// What this client asked for by an answer has become this session: look at it.
    Show {
        session: u64,
    },
    /// The server ends; a new one may follow.
    Leaving,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) level: Level,
    pub(crate) text: String,
    pub(crate) session: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Level {
    Info,
    Warning,
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Status {
    pub(crate) pid: u32,
    pub(crate) keeper_pid: Option<u32>,
    pub(crate) version: String,
    pub(crate) protocol: u32,
    pub(crate) sessions: usize,
    pub(crate) socket: PathBuf,
}

/// A session as every client sees it; `ls --json` prints the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) id: u64,
    /// Unique among the sessions, made of the title; what commands take.
    pub(crate) name: String,
    pub(crate) title: String,
    /// The declared intent; none for a plain session.
    pub(crate) profile: Option<String>,
    /// The colour of the profile as its file writes it (a name or `#rrggbb`).
    pub(crate) color: Option<String>,
    pub(crate) agent: String,
    pub(crate) dir: PathBuf,
    /// The root of the repo that `dir` lies in; `dir` itself outside any.
    pub(crate) repo: PathBuf,
    pub(crate) pid: Option<u32>,
    pub(crate) state: State,
    /// Which signal said so: `hook osc7501 osc9 output transcript process`.
    pub(crate) state_signal: String,
    /// RFC 3339, UTC.
    pub(crate) state_since: String,
    pub(crate) meter: Meter,
    pub(crate) conversation_id: Option<String>,
    pub(crate) transcript: Option<PathBuf>,
    pub(crate) exit_code: Option<i32>,
    /// False where the session's hooks cannot act: plain sessions, hooks switched off.
    pub(crate) guarded: bool,
    /// The handoff note this session goes on from.
    #[serde(default)]
    pub(crate) handoff_from: Option<PathBuf>,
    /// What waits for the person on this tab, oldest first.
    pub(crate) asks: Vec<Ask>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Working,
    NeedsYou,
    YourTurn,
    Ended,
    Asleep,
    Unknown,
}

/// The context meter of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meter {
    /// None before the first call, and after a compaction that names no figure.
    pub(crate) context_tokens: Option<u64>,
    /// None where nobody stated it.
    pub(crate) window: Option<u64>,
    /// The figure is a lower bound or the client's estimate.
    pub(crate) estimate: bool,
    /// The brake's steps in tokens, lowest first: checkpoint, soft, hard, stop.
    pub(crate) steps: Vec<u64>,
    pub(crate) compactions: u32,
}

/// A question that waits on a tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) id: u64,
    pub(crate) kind: AskKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AskKind {
    /// The topic check blocked a prompt.
    Blocked {
        prompt: String,
        current: String,
        other: String,
        /// The words that decided.
        matched: Vec<String>,
        /// The exact command that opens it as its own session.
        command: String,
    },
    /// The context crossed a step of the brake.
    Step {
        step: Step,
        context_tokens: u64,
        window: Option<u64>,
    },
    /// A subagent over its limit keeps trying what is denied to it.
    Stuck {
        agent: String,
        context_tokens: u64,
        note: PathBuf,
    },
    /// The session wrote a handoff note; `missing` is what its check found.
    Note { path: PathBuf, missing: Vec<String> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    Checkpoint,
    Soft,
    Hard,
    Stop,
}

/// What a person answers to an [`Ask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Choice {
    /// Open the blocked prompt as its own session, or a fresh one from the note.
    Open,
    Park,
    /// Let exactly this prompt pass, once.
    Send,
    /// Leave the text where the client leaves it. Also: an escalation or a note was read.
    Cancel,
}

/// What a person wants started, before profiles and dialects were asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Order {
    /// The rest of the command line as it was typed: words and flags of the agent (split by `deck::launch`).
    pub(crate) raw: Vec<String>,
    /// Text taken as it is, after `raw`: what a modal or an inbox line holds. Never split, never read as flags.
    pub(crate) task: Option<String>,
    pub(crate) profile: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) dir: PathBuf,
    /// `raw` is a command to run as it is, without agent and hook.
    pub(crate) exec: bool,
    /// The inbox line (its hash) that this session works off.
    pub(crate) inbox: Option<String>,
    /// The handoff note that this session goes on from.
    pub(crate) note: Option<PathBuf>,
    /// The environment of the client that asks. Never stored, never logged.
    pub(crate) env: BTreeMap<String, String>,
    /// The program's first size; none takes the server's default.
    pub(crate) size: Option<Size>,
}

/// What an [`Order`] comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Plan {
    pub(crate) profile: Option<String>,
    pub(crate) color: Option<String>,
    pub(crate) agent: String,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    pub(crate) title: String,
    /// The keywords that decided for `profile`; empty when it was named or is the default.
    pub(crate) matched: Vec<String>,
    /// The next best profile and its words.
    pub(crate) runner_up: Option<(String, Vec<String>)>,
    pub(crate) argv: Vec<String>,
    /// What the deck adds to the environment.
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) dir: PathBuf,
    /// All profiles that hold in `dir`, in their order.
    pub(crate) profiles: Vec<String>,
    /// Sentences for the person: nothing matched, a flag was dropped, the agent is not installed.
    pub(crate) warnings: Vec<String>,
    /// Why it cannot be started, and how to mend that; none if it can.
    pub(crate) obstacle: Option<String>,
}

/// Changed lines of a session's screen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Frame {
    pub(crate) number: u64,
    pub(crate) session: u64,
    /// The program's size, which may differ from the client's area.
    pub(crate) size: Size,
    /// All rows follow; those not named are blank.
    pub(crate) whole: bool,
    pub(crate) rows: Vec<(u16, Line)>,
    pub(crate) cursor: Cursor,
    pub(crate) modes: Modes,
}

/// The open lines of one repo's inbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Inbox {
    pub(crate) repo: PathBuf,
    pub(crate) file: PathBuf,
    pub(crate) lines: Vec<InboxLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InboxLine {
    /// 1 for the first open line.
    pub(crate) n: usize,
    /// `2026-12-01`, if the line has a date.
    pub(crate) date: Option<String>,
    pub(crate) profile: Option<String>,
    pub(crate) text: String,
    /// Indented lines below it, without the indent.
    pub(crate) detail: Vec<String>,
    /// Names the line whatever its number has become.
    pub(crate) hash: String,
}
