//! The screens of all sessions. Each has a reader thread that journals the program's output and feeds the grid.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Incoming;
use super::journal::{self, Journal, Limits};
use super::painter::Wake;
use super::programs::{Input, Output};
use crate::config::settings::Settings;
use crate::deck::SessionId;
use crate::terminal::{self, Cursor, Engine, Picture, Reader, Size};

/// A PTY of Linux hands over a few KiB a read, other systems more.
const READ: usize = 64 << 10;

/// One session's grid, with whoever looks at it.
pub(crate) struct Screen {
    grid: Mutex<Grid>,
}

/// What the lock of a screen guards.
pub(crate) struct Grid {
    engine: Box<dyn Engine>,
    /// None for a program that is over.
    journal: Option<Journal>,
    watchers: Vec<Arc<Wake>>,
}

/// What a look at a screen comes to.
pub(crate) enum Glance {
    /// The program is inside a frame of its own; its end will wake the painter.
    Held,
    Nothing,
    News(Picture),
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").finish_non_exhaustive()
    }
}

impl Screen {
    fn new(engine: Box<dyn Engine>, journal: Option<Journal>) -> Arc<Self> {
        Arc::new(Self {
            grid: Mutex::new(Grid {
                engine,
                journal,
                watchers: Vec::new(),
            }),
        })
    }

    fn grid(&self) -> MutexGuard<'_, Grid> {
        self.grid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is new to this reader. A frame that is half drawn is not looked at, but by the impatient.
    pub(crate) fn glance(&self, reader: &mut Reader, impatient: bool) -> Glance {
        let mut grid = self.grid();
        match reader.read(grid.engine.as_mut(), impatient) {
            Some(picture) => Glance::News(picture),
            None if grid.engine.synchronized() && !impatient => Glance::Held,
            None => Glance::Nothing,
        }
    }

    /// Wakes this painter whenever the screen changes.
    pub(crate) fn watch(&self, wake: &Arc<Wake>) {
        let mut grid = self.grid();
        if !grid.watchers.iter().any(|other| Arc::ptr_eq(other, wake)) {
            grid.watchers.push(Arc::clone(wake));
        }
    }

    /// The visible rows as text, after those that scrolled off if they are wanted too.
    pub(crate) fn text(&self, history: bool) -> (Vec<String>, Cursor) {
        let grid = self.grid();
        let engine = &grid.engine;
        let above = if history {
            0..engine.history_len()
        } else {
            0..0
        };
        let mut rows: Vec<String> = above
            .map(|n| engine.history_line(n).text().trim_end().to_owned())
            .collect();
        rows.extend(engine.text());
        (rows, engine.cursor())
    }

    fn unwatch(&self, wake: &Arc<Wake>) {
        self.grid()
            .watchers
            .retain(|other| !Arc::ptr_eq(other, wake));
    }
}

impl Grid {
    /// Takes output: to the journal first, so that what was shown can always be folded again.
    fn feed(&mut self, bytes: &[u8]) -> Fed {
        let Self {
            engine,
            journal,
            watchers,
        } = self;
        if let Some(journal) = journal {
            // What cannot be written becomes a gap that the fold shows.
            drop(journal.append_output(now(), bytes, || engine.snapshot()));
        }
        engine.feed(bytes);
        Fed {
            replies: engine.take_replies(),
            events: engine.take_events(),
            watchers: watchers.clone(),
        }
    }

    fn resize(&mut self, size: Size) {
        if let Some(journal) = &mut self.journal {
            drop(journal.append_resize(now(), size));
        }
        self.engine.resize(size);
    }
}

/// What came of a piece of output.
struct Fed {
    replies: Vec<u8>,
    events: Vec<terminal::Event>,
    watchers: Vec<Arc<Wake>>,
}

/// All screens there are. Those of ended sessions are folded from their journals when somebody looks.
pub(crate) struct Screens {
    screens: HashMap<SessionId, Arc<Screen>>,
    loop_: Sender<Incoming>,
}

impl Screens {
    pub(crate) fn new(loop_: Sender<Incoming>) -> Self {
        Self {
            screens: HashMap::new(),
            loop_,
        }
    }

    /// Starts the reader of a program: with an empty grid, or with the one its journal gives.
    pub(crate) fn open(
        &mut self,
        id: SessionId,
        program: Program,
        journal: &Path,
        settings: &Settings,
    ) {
        let Program {
            output,
            input,
            size,
            known,
        } = program;
        let limits = Limits {
            segment: settings.journal.segment_bytes,
            segments: settings.journal.segments,
        };
        let mut engine = terminal::engine(size, settings.scrollback);
        if known {
            fold(journal, &mut engine);
            engine.resize(size);
        }
        let snapshot = engine.snapshot();
        // A journal that cannot be written marks a gap and tries again; the session goes on.
        let (journal, _trouble) = Journal::create(journal, limits, size, now(), || snapshot);
        let screen = Screen::new(engine, Some(journal));
        self.screens.insert(id, Arc::clone(&screen));
        let loop_ = self.loop_.clone();
        thread::spawn(move || {
            read(id, &output, &input, &screen, &loop_);
            drop(loop_.send(Incoming::Drained(id)));
        });
    }

    /// The screen of a session, folded from its journal if its program is over.
    pub(crate) fn show(
        &mut self,
        id: SessionId,
        journal: &Path,
        size: Size,
        settings: &Settings,
    ) -> Arc<Screen> {
        let screen = self.screens.entry(id).or_insert_with(|| {
            let mut engine = terminal::engine(size, settings.scrollback);
            fold(journal, &mut engine);
            Screen::new(engine, None)
        });
        Arc::clone(screen)
    }

    pub(crate) fn unwatch(&self, id: SessionId, wake: &Arc<Wake>) {
        if let Some(screen) = self.screens.get(&id) {
            screen.unwatch(wake);
        }
    }

    /// Brings a screen to that size; true if it had another.
    pub(crate) fn resize(&self, id: SessionId, size: Size) -> bool {
        let Some(screen) = self.screens.get(&id) else {
            return false;
        };
        let watchers = {
            let mut grid = screen.grid();
            if grid.engine.size() == size || grid.journal.is_none() {
                return false;
            }
            grid.resize(size);
            grid.watchers.clone()
        };
        for wake in watchers {
            wake.dirty();
        }
        true
    }

    /// The program is over: its journal is complete.
    pub(crate) fn close(&self, id: SessionId) {
        if let Some(screen) = self.screens.get(&id) {
            screen.grid().journal = None;
        }
    }

    pub(crate) fn forget(&mut self, id: SessionId) {
        self.screens.remove(&id);
    }
}

/// A running program as its reader needs it.
pub(crate) struct Program {
    pub(crate) output: Output,
    pub(crate) input: Input,
    pub(crate) size: Size,
    /// An earlier server has journaled what it wrote so far.
    pub(crate) known: bool,
}

/// Reads until the program's end of the PTY is closed.
fn read(id: SessionId, output: &Output, input: &Input, screen: &Screen, loop_: &Sender<Incoming>) {
    let mut bytes = vec![0; READ];
    while let Ok(read @ 1..) = output.read(&mut bytes) {
        let fed = screen.grid().feed(&bytes[..read]);
        if !fed.replies.is_empty() {
            // A program that asks without reading loses answers, not the deck.
            let _ = input.write(fed.replies);
        }
        for wake in &fed.watchers {
            wake.dirty();
        }
        let telling = fed
            .events
            .into_iter()
            .filter(tells_something)
            .collect::<Vec<_>>();
        if !telling.is_empty() {
            drop(loop_.send(Incoming::Program(id, telling)));
        }
    }
}

/// Titles come ten times a second from a busy agent, and nothing is decided by them.
fn tells_something(event: &terminal::Event) -> bool {
    match event {
        terminal::Event::Title(_)
        | terminal::Event::Cwd(_)
        | terminal::Event::Notification { .. } => false,
        terminal::Event::Bell
        | terminal::Event::Progress { .. }
        | terminal::Event::Clipboard(_)
        | terminal::Event::Status(_) => true,
    }
}

/// Brings an engine to where the journal ends. What the output asks or says was answered and heard already.
fn fold(journal: &Path, engine: &mut Box<dyn Engine>) {
    let outcome = journal::fold(journal, |record| match record.event {
        journal::Event::Resize(size) => engine.resize(size),
        journal::Event::Snapshot(bytes) | journal::Event::Output(bytes) => {
            engine.feed(bytes);
            drop(engine.take_replies());
            drop(engine.take_events());
        }
        journal::Event::Gap { .. } => {}
    });
    // Without a journal the screen starts empty, which is all that can be done.
    drop(outcome);
}

/// Milliseconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "the journal's records carry the time at which they were read"
)]
fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
