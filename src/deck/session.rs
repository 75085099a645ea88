//! One agent run in a PTY: what it is for, where it stands, what waits for the person.

use std::path::PathBuf;
use std::time::SystemTime;

use super::brake::{Brake, Step};
use super::event::Effect;
use super::id::{AskId, SessionId};
use super::meter::Meter;

/// What a session stands at. Code and question belong to the state they make sense in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Working,
    /// A permission or a question waits for the person.
    NeedsYou,
    YourTurn,
    Ended {
        code: Option<i32>,
    },
    /// Its program is gone with the machine or the keeper; the conversation can be resumed.
    Asleep,
    Unknown,
}

/// Which signal set the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Hook,
    /// OSC 7501, which both clients send on every change.
    ProgramStatus,
    /// OSC 9;4.
    Progress,
    Process,
}

/// What was asked of the person on this tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) id: AskId,
    pub(crate) question: Question,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Blocked(Blocked),
    Step { step: Step, context_tokens: u64 },
    Note(Note),
    Stuck(Stuck),
}

/// A subagent over its limit that keeps trying what is denied to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    /// The client's id of it.
    pub(crate) agent: String,
    pub(crate) context_tokens: u64,
    /// Where it is to hand over.
    pub(crate) note: PathBuf,
}

/// A prompt that the topic check held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blocked {
    pub(crate) prompt: String,
    pub(crate) current: String,
    pub(crate) other: String,
    pub(crate) matched: Vec<String>,
    pub(crate) command: String,
}

/// A handoff note that this session wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) path: PathBuf,
    /// What its check found; empty when the note is good.
    pub(crate) missing: Vec<String>,
}

/// What a session is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seed {
    pub(crate) title: String,
    pub(crate) profile: Option<String>,
    pub(crate) color: Option<String>,
    pub(crate) agent: String,
    /// The model it is started with, if that is said.
    pub(crate) model: Option<String>,
    pub(crate) dir: PathBuf,
    pub(crate) repo: PathBuf,
    pub(crate) argv: Vec<String>,
    /// The conversation's id, if the client let us choose it.
    pub(crate) conversation: Option<String>,
    /// The steps of the brake in tokens; empty where there are none.
    pub(crate) brake: Brake,
    /// The window, where settings or the model table know it.
    pub(crate) window: Option<u64>,
    pub(crate) guarded: bool,
    /// The note this session goes on from.
    pub(crate) handoff_from: Option<PathBuf>,
    /// The hash of the inbox line it works off.
    pub(crate) inbox: Option<String>,
}

/// A prompt was blocked and the client has not yet shown what became of it. What is typed at it now would come
/// before its own doing: into a box that it fills only then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unsettled {
    pub(super) block: u64,
    /// To be done as soon as it has.
    pub(super) then: Vec<Effect>,
}

#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) name: String,
    pub(crate) seed: Seed,
    pub(crate) pid: Option<u32>,
    pub(crate) state: State,
    pub(crate) signal: Signal,
    pub(crate) since: SystemTime,
    pub(crate) conversation: Option<String>,
    pub(crate) transcript: Option<PathBuf>,
    pub(crate) meter: Meter,
    pub(crate) asks: Vec<Ask>,
    pub(super) unsettled: Option<Unsettled>,
}

impl Session {
    /// A session whose program is still to be started.
    pub(crate) fn new(id: SessionId, name: String, seed: Seed, now: SystemTime) -> Self {
        Self {
            id,
            name,
            conversation: seed.conversation.clone(),
            seed,
            pid: None,
            state: State::Unknown,
            signal: Signal::Process,
            since: now,
            transcript: None,
            meter: Meter::default(),
            asks: Vec::new(),
            unsettled: None,
        }
    }

    /// A block begins; returns what still waited for the one before, and what ends this one in any case.
    pub(super) fn unsettle(&mut self, block: u64) -> Vec<Effect> {
        let mut effects = self.settle();
        let session = self.id;
        let then = Vec::new();
        self.unsettled = Some(Unsettled { block, then });
        effects.push(Effect::Settle { session, block });
        effects
    }

    /// The effect, unless it has to wait until the client is done with a block.
    pub(super) fn once_settled(&mut self, effect: Effect) -> Option<Effect> {
        match &mut self.unsettled {
            Some(unsettled) => {
                unsettled.then.push(effect);
                None
            }
            None => Some(effect),
        }
    }

    /// What waited for the client to be done with a block.
    pub(super) fn settle(&mut self) -> Vec<Effect> {
        self.unsettled
            .take()
            .map_or_else(Vec::new, |unsettled| unsettled.then)
    }

    /// The window that percentages are taken of: what the client states, else what the model table knows as long as
    /// no call has shown that to be too small.
    pub(crate) fn window(&self) -> Option<u64> {
        let figures = self.meter.figures();
        let fits = |window: &u64| {
            figures
                .peak_context_tokens
                .is_none_or(|peak| peak <= *window)
        };
        figures.window.or(self.seed.window.filter(fits))
    }

    /// Whether the program has ended, whatever the reason.
    pub(crate) fn over(&self) -> bool {
        matches!(self.state, State::Ended { .. } | State::Asleep)
    }

    /// Sets the state; true if that changed something a person sees.
    pub(crate) fn stand(&mut self, state: State, signal: Signal, now: SystemTime) -> bool {
        let changed = self.state != state;
        if changed {
            self.since = now;
        }
        self.state = state;
        self.signal = signal;
        changed
    }

    /// Takes off every question that `moot` names; true if there was one.
    pub(crate) fn drop_asks(&mut self, moot: impl Fn(&Question) -> bool) -> bool {
        let before = self.asks.len();
        self.asks.retain(|ask| !moot(&ask.question));
        self.asks.len() != before
    }
}
