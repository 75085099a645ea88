//! What the deck is told and what it says must be done: closed sets of values.

use std::path::PathBuf;

use super::brake::Step;
use super::id::{AskId, ClientId, SessionId};
use super::meter::Fact;
use super::session::{Blocked, Note, Seed, Stuck};

/// Something happened.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A person wants this started; the plan is made and possible.
    Ordered {
        seed: Box<Seed>,
    },
    Started {
        session: SessionId,
        pid: u32,
    },
    /// The keeper could not start it.
    NotStarted {
        session: SessionId,
    },
    /// None: the exit code could not be learned.
    Exited {
        session: SessionId,
        code: Option<i32>,
    },
    Hook {
        session: SessionId,
        call: Call,
    },
    /// The session's model has other steps than it was started with: their lines in tokens, and the window they are of.
    Steps {
        session: SessionId,
        steps: Vec<(Step, u64)>,
        window: Option<u64>,
    },
    /// Rows were added to the session's transcript; `afresh`: these are its rows from the start.
    Facts {
        session: SessionId,
        facts: Vec<Fact>,
        afresh: bool,
    },
    /// The program said how it stands, by an escape sequence.
    Status {
        session: SessionId,
        status: Status,
    },
    Answered {
        ask: AskId,
        choice: Choice,
        by: ClientId,
    },
    /// The client has had its time to show what became of this block.
    Settled {
        session: SessionId,
        block: u64,
    },
    Renamed {
        session: SessionId,
        title: String,
    },
    /// A person ends the program, or takes an ended session off the list.
    Dismissed {
        session: SessionId,
    },
    /// A handoff note in this repo was written.
    NoteWritten {
        repo: PathBuf,
        thread: String,
        note: Note,
    },
}

/// One run of the hook inside a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) conversation: Option<String>,
    pub(crate) transcript: Option<PathBuf>,
    pub(crate) subagent: bool,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// `source` in the client's word: startup, resume, clear, fork, compact.
    ConversationStarted {
        source: String,
    },
    Prompt,
    Blocked(Blocked),
    Parked {
        line: String,
        /// As the client has put it back into its box.
        prompt: String,
    },
    Tool,
    /// A subagent over its limit keeps trying.
    Stuck(Stuck),
    Permission,
    /// The turn is over, or the client waits for the person.
    TurnEnded,
    Other,
}

/// What the two status sequences come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// OSC 7501.
    Idle,
    Working,
    Blocked,
    Done,
    Failed,
    Cleared,
    /// OSC 9;4.
    Progress {
        busy: bool,
    },
}

/// What a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Open,
    Park,
    Send,
    Cancel,
}

/// Something to do, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Start the program of this session.
    Start { session: SessionId },
    /// Read this transcript from now on, and no other for this session.
    Follow {
        session: SessionId,
        transcript: PathBuf,
    },
    /// What clients see of the sessions changed.
    Announce,
    /// The session's record must reach the disk.
    Save { session: SessionId },
    /// Say [`Event::Settled`] in a moment, for a client that does not say itself when it is done with a block.
    Settle { session: SessionId, block: u64 },
    /// Let exactly this prompt pass once, then send it as this client needs it.
    SendAnyway { session: SessionId, prompt: String },
    /// Let this session work on past its stop step: brake and guard refuse nothing in it any more.
    TakeOffBrake { session: SessionId },
    /// Empty the client's input box, which holds this prompt.
    ClearBox { session: SessionId, prompt: String },
    /// Write the prompt into the inbox of the session's repo.
    Park {
        session: SessionId,
        text: String,
        profile: String,
    },
    /// Open a session for this task.
    Open {
        task: String,
        profile: Option<String>,
        from: SessionId,
        note: Option<PathBuf>,
        by: ClientId,
    },
    /// End the program: its whole process group.
    End { session: SessionId },
    /// Forget the session: its record, its journal, its place in the keeper.
    Forget { session: SessionId },
    /// A line for whoever looks.
    Say { session: SessionId, text: String },
}
