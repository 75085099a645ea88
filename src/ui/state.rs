//! The screen: what the server said, what we look at, what lies over it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::keymap::Keymap;
use super::mirror::Mirror;
use super::overlay::{Drafts, Modal};
use super::status::Status;
use super::tabs::Tabs;
use crate::config::themes::Theme;
use crate::protocol::client::{Ask, Inbox, Session};
use crate::terminal::Size;

/// A question that comes up while somebody types takes no keys before they paused for so long.
const PAUSE: Duration = Duration::from_millis(400);

/// How this window begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    /// Where the client was started.
    pub(crate) dir: PathBuf,
    /// The environment of the client, for the agents that it starts.
    pub(crate) env: BTreeMap<String, String>,
    /// The session to look at; none takes the first of this repo.
    pub(crate) session: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Screen {
    pub(super) mirror: Mirror,
    pub(super) tabs: Tabs,
    pub(super) overlays: Overlays,
    pub(super) keymap: Keymap,
    pub(super) status: Status,
    pub(super) theme: Theme,
    pub(super) mode: Mode,
    pub(super) size: Size,
    pub(super) start: Start,
    pub(super) wire: Wire,
    pub(super) typed: Typed,
    /// A button of the mouse went down over the program and was not let go yet.
    pub(super) grabbed: bool,
}

/// Whom keys speak to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The program, or what has the keys in its place.
    Program,
    /// The deck: the leader was pressed.
    Deck,
    /// The deck still: one tab after the other is looked at.
    Stepping,
}

/// What lies over the screen: what the person opened, and below it the question of the tab in front.
#[derive(Debug, Default)]
pub(super) struct Overlays {
    /// The last is on top. Each with a number that is never used again.
    stack: Vec<(u64, Box<dyn Modal>)>,
    opened: u64,
    pub(super) question: Option<Question>,
    pub(super) drafts: Drafts,
}

/// The ask that is shown over its tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) ask: u64,
    pub(super) stage: Stage,
}

/// A key answers a question only if the person can have seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not yet painted.
    Fresh,
    /// It came while somebody typed; keys go where they went.
    Held,
    /// It takes the keys.
    Armed,
}

/// When the last key came that may be followed by more of the same text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Typed {
    pub(super) last: Option<Instant>,
}

/// What is known of the connection.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) up: bool,
    /// The id of the last request.
    pub(super) last: u64,
    pub(super) waiting: BTreeMap<u64, Waiting>,
    /// What the server was last told that we look at.
    pub(super) looked: Option<(Option<u64>, Size)>,
    /// True once the first list came.
    pub(super) listed: bool,
}

/// Whom a response is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// An overlay's question about what it shows.
    Question(u64),
    /// What an overlay stays open for.
    Done(u64),
    /// An answer to an ask.
    Answer(u64),
    /// Anything else: only a failure is said.
    Deed,
}

impl Screen {
    pub(crate) fn new(keymap: Keymap, theme: Theme, start: Start, size: Size) -> Self {
        let tabs = Tabs {
            front: start.session,
            ..Tabs::default()
        };
        Self {
            mirror: Mirror::default(),
            tabs,
            overlays: Overlays::default(),
            keymap,
            status: Status::default(),
            theme,
            mode: Mode::Program,
            size,
            start,
            wire: Wire {
                up: true,
                last: 0,
                waiting: BTreeMap::new(),
                looked: None,
                listed: false,
            },
            typed: Typed::default(),
            grabbed: false,
        }
    }

    pub(super) fn front(&self) -> Option<&Session> {
        self.mirror.session(self.tabs.front?)
    }

    /// The directory that new sessions and thoughts belong to.
    pub(super) fn dir(&self) -> PathBuf {
        self.front()
            .map_or_else(|| self.start.dir.clone(), |session| session.dir.clone())
    }

    /// The inbox of the repo in front.
    pub(super) fn inbox(&self) -> Option<&Inbox> {
        self.mirror.inbox(&self.dir())
    }

    /// The question over the tab in front, with whether it takes keys. An open overlay hides it.
    pub(super) fn question(&self) -> Option<(&Session, &Ask, bool)> {
        let question = self.overlays.question?;
        if self.overlays.top().is_some() || self.areas().is_none() {
            return None;
        }
        let session = self.front()?;
        let ask = session.asks.iter().find(|ask| ask.id == question.ask)?;
        Some((session, ask, question.stage != Stage::Held))
    }

    /// How many tabs that are not in front wait for the person.
    pub(super) fn waiting_elsewhere(&self) -> usize {
        let behind = |session: &&Session| self.tabs.front != Some(session.id);
        self.mirror
            .sessions
            .iter()
            .filter(behind)
            .filter(|session| self.mirror.waits(session))
            .count()
    }

    /// The size of the program's place. A terminal too small for one leaves it as it was.
    pub(super) fn program(&self) -> Option<Size> {
        self.areas().map(|areas| areas.program())
    }

    /// The size of a program whose screen is larger than its place, since another window types in it.
    pub(super) fn cut(&self) -> Option<Size> {
        let grid = self.mirror.grid.as_ref().filter(|grid| grid.current)?;
        let place = self.program()?;
        let larger = grid.size.cols > place.cols || grid.size.rows > place.rows;
        larger.then_some(grid.size)
    }

    /// When the screen wants a [`super::Message::Tick`], if nothing else happens before.
    pub(crate) fn due(&self) -> Option<Instant> {
        let held = self
            .overlays
            .question
            .filter(|question| question.stage == Stage::Held)
            .and_then(|_| self.typed.last?.checked_add(PAUSE));
        [self.status.due(), held].into_iter().flatten().min()
    }
}

impl Overlays {
    pub(super) fn top(&self) -> Option<&dyn Modal> {
        self.stack.last().map(|(_, modal)| modal.as_ref())
    }

    pub(super) fn top_mut(&mut self) -> Option<(u64, &mut dyn Modal)> {
        let (number, modal) = self.stack.last_mut()?;
        Some((*number, modal.as_mut()))
    }

    pub(super) fn numbered(&mut self, number: u64) -> Option<&mut dyn Modal> {
        let (_, modal) = self.stack.iter_mut().find(|(known, _)| *known == number)?;
        Some(modal.as_mut())
    }

    pub(super) fn open(&mut self, modal: impl Modal + 'static) {
        self.opened += 1;
        self.stack.push((self.opened, Box::new(modal)));
    }

    /// Closes that overlay; what was typed in it is kept.
    pub(super) fn close(&mut self, number: u64) {
        if let Some(at) = self.stack.iter().position(|(known, _)| *known == number) {
            let (_, modal) = self.stack.remove(at);
            modal.save(&mut self.drafts);
        }
        // A question that was hidden is seen anew.
        if let Some(question) = &mut self.question {
            question.stage = Stage::Fresh;
        }
    }

    pub(super) fn lost(&mut self) {
        for (_, modal) in &mut self.stack {
            modal.lost();
        }
    }

    /// The question was painted: from now on keys may answer it.
    pub(super) fn painted(&mut self) {
        if let Some(question) = &mut self.question
            && question.stage == Stage::Fresh
        {
            question.stage = Stage::Armed;
        }
    }

    /// Somebody who typed has paused: the question takes the keys. Says whether that is new.
    pub(super) fn arm(&mut self) -> bool {
        match &mut self.question {
            Some(question) if question.stage == Stage::Held => {
                question.stage = Stage::Armed;
                true
            }
            Some(_) | None => false,
        }
    }
}

impl Typed {
    /// True if the last key was one of a text that may go on.
    pub(super) fn under_way(self, now: Instant) -> bool {
        self.last
            .is_some_and(|last| now.saturating_duration_since(last) < PAUSE)
    }
}
