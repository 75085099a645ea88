//! Brings to one client what it looks at: a thread that waits on its wake cell and writes to its socket.
//!
//! A frame goes out at once after quiet and in slots under flood; one is under way at most, the rest merges into the
//! next. Whatever else the server has to say to the client leaves by the same thread, so that a client that does not
//! read can hold up nobody but itself.

use std::collections::VecDeque;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::programs::Input;
use super::screens::{Glance, Screen};
use crate::config::settings::Pacing;
use crate::deck::SessionId;
use crate::protocol::client::{Frame, FromServer, Notice};
use crate::protocol::wire;
use crate::terminal::{Picture, Reader};

/// A client that lets so much pile up is gone or hostile.
const PATIENCE: usize = 32 << 20;

/// How long a program's own frame may stay half drawn before it is shown all the same.
const SYNCHRONIZED: Duration = Duration::from_millis(150);

/// How frames follow each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    frame: Duration,
    key_frame: Duration,
    after_key: Duration,
}

impl Pace {
    pub(crate) fn new(settings: &Pacing) -> Self {
        Self {
            frame: Duration::from_millis(settings.frame_ms),
            key_frame: Duration::from_millis(settings.key_frame_ms),
            after_key: Duration::from_millis(settings.after_key_ms),
        }
    }

    /// How long after one frame the next may follow.
    fn slot(&self, typed: Option<Instant>) -> Duration {
        let fresh = typed.is_some_and(|typed| typed.elapsed() < self.after_key);
        if fresh { self.key_frame } else { self.frame }
    }
}

/// What wakes a painter, and what it then looks at. The lock is held for a few assignments only.
#[derive(Default)]
pub(crate) struct Wake {
    cell: Mutex<Cell>,
    bell: Condvar,
}

#[derive(Default)]
struct Cell {
    look: Option<Look>,
    /// Where keys for what the client looks at go.
    input: Option<Input>,
    turns: u64,
    dirty: bool,
    /// A half-drawn frame is looked at all the same from then on.
    overdue: Option<Instant>,
    typed: Option<Instant>,
    under_way: Option<u64>,
    outbox: VecDeque<Vec<u8>>,
    waiting: usize,
    gone: bool,
    /// How many keys are on their way by the loop.
    detours: usize,
    /// The painter has ended: all that could be written was.
    left: bool,
}

#[derive(Clone, Debug)]
struct Look {
    session: SessionId,
    screen: Arc<Screen>,
    /// Counts the turns to another screen: what was read of the one before is no basis for this one.
    turn: u64,
}

enum Job {
    Write(Vec<u8>),
    /// `impatient`: also while the program is inside a frame of its own.
    Paint {
        look: Look,
        impatient: bool,
    },
    Leave,
}

impl Wake {
    /// The screen this wake's client looks at has changed.
    pub(crate) fn dirty(&self) {
        let mut cell = self.cell();
        if !cell.dirty {
            cell.dirty = true;
            self.bell.notify_one();
        }
    }

    /// The person typed: for a short while frames follow each other faster.
    pub(crate) fn typed(&self) {
        self.cell().typed = Some(now());
        self.bell.notify_one();
    }

    /// From now on the client looks at this screen, from its first row on, and types into that program.
    pub(crate) fn look(&self, look: Option<(SessionId, Arc<Screen>)>, input: Option<Input>) {
        let mut cell = self.cell();
        cell.input = input;
        cell.turns += 1;
        let turn = cell.turns;
        cell.look = look.map(|(session, screen)| Look {
            session,
            screen,
            turn,
        });
        cell.overdue = None;
        cell.under_way = None;
        cell.dirty = cell.look.is_some();
        self.bell.notify_one();
    }

    /// Keys of the client go by the loop; others must not overtake them.
    pub(crate) fn detour(&self) {
        self.cell().detours += 1;
    }

    /// The loop has handed over keys that came by it.
    pub(crate) fn arrived(&self) {
        let mut cell = self.cell();
        cell.detours = cell.detours.saturating_sub(1);
    }

    /// Where keys for that session go at once, if the client looks at it, its program runs, and no earlier keys are
    /// under way.
    pub(crate) fn input(&self, session: SessionId) -> Option<Input> {
        let cell = self.cell();
        if cell.detours > 0 {
            return None;
        }
        cell.look
            .as_ref()
            .filter(|look| look.session == session)
            .and(cell.input.clone())
    }

    /// The client has shown the frame of that number.
    pub(crate) fn shown(&self, frame: u64) {
        let mut cell = self.cell();
        if cell.under_way == Some(frame) {
            cell.under_way = None;
            self.bell.notify_one();
        }
    }

    /// Queues a message; false if the client has stopped reading and is to be dropped.
    pub(crate) fn post(&self, message: &FromServer) -> bool {
        let Ok(bytes) = wire::encode(message) else {
            return true;
        };
        let mut cell = self.cell();
        cell.waiting += bytes.len();
        cell.outbox.push_back(bytes);
        self.bell.notify_one();
        cell.waiting <= PATIENCE
    }

    /// Ends the painter once what is queued has been written.
    pub(crate) fn leave(&self) {
        self.cell().gone = true;
        self.bell.notify_one();
    }

    /// Waits until the painter has left, but not for a client that does not read.
    pub(crate) fn wait_until_left(&self, patience: Duration) {
        let cell = self.cell();
        drop(
            self.bell
                .wait_timeout_while(cell, patience, |cell| !cell.left),
        );
    }

    fn cell(&self) -> MutexGuard<'_, Cell> {
        self.cell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something to do and the time for it has come.
    fn next(&self, pace: Pace, last: Instant) -> Job {
        let mut cell = self.cell();
        loop {
            if let Some(bytes) = cell.outbox.pop_front() {
                cell.waiting -= bytes.len();
                return Job::Write(bytes);
            }
            if cell.gone {
                return Job::Leave;
            }
            let due = match (
                &cell.look,
                cell.under_way.is_none(),
                cell.dirty,
                cell.overdue,
            ) {
                (Some(_), true, true, _) => last + pace.slot(cell.typed),
                (Some(_), true, false, Some(overdue)) => overdue,
                (Some(_) | None, ..) => {
                    cell = self.bell.wait(cell).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            };
            let left = due.saturating_duration_since(now());
            if left.is_zero()
                && let Some(look) = cell.look.clone()
            {
                cell.dirty = false;
                let impatient = cell.overdue.is_some_and(|overdue| overdue <= now());
                return Job::Paint { look, impatient };
            }
            // A wait, not a sleep: a key cuts the slot short.
            cell = self
                .bell
                .wait_timeout(cell, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

/// Starts the painter of one client; it ends with the connection or by [`Wake::leave`].
pub(crate) fn start(wake: Arc<Wake>, mut socket: UnixStream, pace: Pace) {
    thread::spawn(move || {
        let mut frames = 0;
        let mut read = (0, Reader::default());
        let mut last = now().checked_sub(pace.frame).unwrap_or_else(now);
        loop {
            let bytes = match wake.next(pace, last) {
                Job::Leave => break,
                Job::Write(bytes) => bytes,
                Job::Paint { look, impatient } => {
                    if read.0 != look.turn {
                        read = (look.turn, Reader::default());
                    }
                    let Some(bytes) = paint(&wake, &look, &mut read.1, frames + 1, impatient)
                    else {
                        continue;
                    };
                    frames += 1;
                    last = now();
                    bytes
                }
            };
            if socket.write_all(&bytes).is_err() {
                break;
            }
        }
        // The reader of this connection ends with it and tells the loop.
        drop(socket.shutdown(std::net::Shutdown::Both));
        wake.cell().left = true;
        wake.bell.notify_all();
    });
}

/// The next frame as it goes over the wire; none if there is nothing to see, or not yet.
fn paint(
    wake: &Wake,
    look: &Look,
    reader: &mut Reader,
    number: u64,
    impatient: bool,
) -> Option<Vec<u8>> {
    let picture = look.screen.glance(reader, impatient);
    let mut cell = wake.cell();
    let picture = match picture {
        Glance::Held => {
            cell.overdue.get_or_insert_with(|| now() + SYNCHRONIZED);
            return None;
        }
        Glance::Nothing => {
            cell.overdue = None;
            return None;
        }
        Glance::News(picture) => picture,
    };
    cell.overdue = None;
    // The person may have turned to another tab meanwhile.
    if cell.turns != look.turn {
        return None;
    }
    cell.under_way = Some(number);
    drop(cell);
    let Picture {
        size,
        whole,
        rows,
        cursor,
        modes,
    } = picture;
    let frame = Frame {
        number,
        session: look.session.0,
        size,
        whole,
        rows,
        cursor,
        modes,
    };
    wire::encode(&FromServer::Notice(Notice::Frame(Box::new(frame)))).ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "pacing frames is this thread's own business, nothing is decided by it"
)]
fn now() -> Instant {
    Instant::now()
}
