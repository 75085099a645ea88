//! What the keeper holds: a PTY and a child each, until the server forgets it.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::{self, Pid, Signal, WaitOptions, WaitStatus};

use crate::protocol::keeper::Size;
use crate::protocol::keeper::{Exit, Held, Open};

use super::family::{self, Family};
use super::start;

/// How a session is ended: what its processes are sent, and how long they have to act on it. The last one is repeated.
/// An agent has a second and a half to write its transcript; all is over well within five.
const STEPS: [(Signal, Duration); 3] = [
    (Signal::HUP, Duration::from_millis(1500)),
    (Signal::TERM, Duration::from_millis(1500)),
    (Signal::KILL, Duration::from_millis(250)),
];
/// Processes that outlive so many KILLs wait in the system itself and cannot be ended.
const MOST_KILLS: usize = 20;

pub(super) struct Holdings {
    held: Vec<Child>,
    umask: u32,
}

struct Child {
    session: u64,
    pid: Pid,
    master: Rc<OwnedFd>,
    started: u64,
    exit: Option<Exit>,
    family: Family,
    ending: Option<Ending>,
    /// Only here until the last of its processes has ended.
    forgotten: bool,
}

struct Ending {
    step: usize,
    due: Instant,
}

impl Holdings {
    /// `umask` is what children get when the server does not say.
    pub(super) fn new(umask: u32) -> Self {
        Self {
            held: Vec::new(),
            umask,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.held.iter().filter(|child| !child.forgotten).count()
    }

    /// True while a program runs or something is being ended.
    pub(super) fn any_alive(&self) -> bool {
        self.held
            .iter()
            .any(|child| child.exit.is_none() || child.ending.is_some())
    }

    /// Starts a program; its pid and the PTY's master.
    pub(super) fn open(&mut self, open: &Open, clock: u64) -> Result<(u32, Rc<OwnedFd>), String> {
        if self.find(open.session).is_ok() {
            return Err(format!("session {} is held already", open.session));
        }
        let (pid, master) = start::start(open, self.umask)?;
        let master = Rc::new(master);
        self.held.push(Child {
            session: open.session,
            pid,
            master: Rc::clone(&master),
            started: clock,
            exit: None,
            family: Family::new(pid),
            ending: None,
            forgotten: false,
        });
        Ok((number(pid), master))
    }

    pub(super) fn list(&self) -> Vec<(Held, Rc<OwnedFd>)> {
        self.held
            .iter()
            .filter(|child| !child.forgotten)
            .map(|child| {
                let size = rustix::termios::tcgetwinsize(&child.master).map_or(
                    Size { cols: 0, rows: 0 },
                    |size| Size {
                        cols: size.ws_col,
                        rows: size.ws_row,
                    },
                );
                let held = Held {
                    session: child.session,
                    pid: number(child.pid),
                    size,
                    started: child.started,
                    exit: child.exit,
                };
                (held, Rc::clone(&child.master))
            })
            .collect()
    }

    pub(super) fn signal(&mut self, session: u64, signal: i32) -> Result<(), String> {
        let signal = Signal::from_named_raw(signal)
            .ok_or_else(|| format!("there is no signal with the number {signal}"))?;
        let child = self.find(session)?;
        for member in child.family.alive(&family::table()) {
            member.signal(signal);
        }
        Ok(())
    }

    /// Begins to end the session's processes; [`Holdings::tick`] goes on with it.
    pub(super) fn end(&mut self, session: u64, now: Instant) -> Result<(), String> {
        self.find(session)?.begin_ending(now);
        self.tick(now);
        Ok(())
    }

    pub(super) fn forget(&mut self, session: u64, now: Instant) -> Result<(), String> {
        let child = self.find(session)?;
        child.forgotten = true;
        child.begin_ending(now);
        self.tick(now);
        Ok(())
    }

    pub(super) fn forget_all(&mut self, now: Instant) {
        for child in &mut self.held {
            child.forgotten = true;
            child.begin_ending(now);
        }
        self.tick(now);
    }

    /// Takes note of every child that ended; those that the server knows of, with how. Orphans of a session are reaped
    /// too, and concern nobody.
    pub(super) fn reap(&mut self) -> Vec<(u64, Exit)> {
        let mut exits = Vec::new();
        while let Ok(Some((pid, status))) = process::wait(WaitOptions::NOHANG) {
            let Some(exit) = exit(status) else { continue };
            let Some(child) = self
                .held
                .iter_mut()
                .find(|child| child.pid == pid && child.exit.is_none())
            else {
                continue;
            };
            child.exit = Some(exit);
            child.family.leader_reaped(&family::table());
            if !child.forgotten {
                exits.push((child.session, exit));
            }
        }
        exits
    }

    /// Goes on with every ending that is due or has nobody left to wait for.
    pub(super) fn tick(&mut self, now: Instant) {
        if self.held.iter().all(|child| child.ending.is_none()) {
            return;
        }
        let table = family::table();
        for child in &mut self.held {
            child.go_on(&table, now);
        }
        self.held
            .retain(|child| !(child.forgotten && child.ending.is_none()));
    }

    /// When [`Holdings::tick`] has something to do.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.held
            .iter()
            .filter_map(|child| child.ending.as_ref())
            .map(|ending| ending.due)
            .min()
    }

    fn find(&mut self, session: u64) -> Result<&mut Child, String> {
        self.held
            .iter_mut()
            .find(|child| child.session == session && !child.forgotten)
            .ok_or_else(|| format!("no session {session} is held"))
    }
}

impl Child {
    fn begin_ending(&mut self, now: Instant) {
        self.ending.get_or_insert(Ending { step: 0, due: now });
    }

    fn go_on(&mut self, table: &[family::Row], now: Instant) {
        let Some(ending) = &mut self.ending else {
            return;
        };
        let alive = self.family.alive(table);
        let over = alive.is_empty() && self.exit.is_some();
        if over || ending.step >= STEPS.len() + MOST_KILLS {
            self.ending = None;
        } else if ending.due <= now {
            let (signal, patience) = STEPS[ending.step.min(STEPS.len() - 1)];
            for member in alive {
                member.signal(signal);
                // A stopped process acts on a signal only when it goes on.
                member.signal(Signal::CONT);
            }
            ending.step += 1;
            ending.due = now + patience;
        }
    }
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

/// None for a child that only stopped or went on.
fn exit(status: WaitStatus) -> Option<Exit> {
    let code = status.exit_status().map(Exit::Code);
    code.or_else(|| status.terminating_signal().map(Exit::Signal))
}
