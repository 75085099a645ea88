//! The programs of all sessions, and the keeper that is their parent.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::thread;

use rustix::process::{Pid, Signal};

use super::{Input, Keeper, Program, Refused};
use crate::agents::Step;
use crate::deck::SessionId;
use crate::error::{Error, Exit, Result};
use crate::keeper::leads_session;
use crate::terminal::Size;

/// What runs, by session. When the keeper is gone all goes on; another one is only needed to start a program.
pub(crate) struct Programs {
    keeper: Option<Keeper>,
    running: HashMap<SessionId, Program>,
    /// Programs whose keeper is gone: nobody learns how they exit, and their PTYs are held here alone.
    orphans: HashSet<SessionId>,
}

impl Programs {
    pub(crate) fn new(keeper: Keeper) -> Self {
        Self {
            keeper: Some(keeper),
            running: HashMap::new(),
            orphans: HashSet::new(),
        }
    }

    pub(crate) fn keeper_pid(&self) -> Option<u32> {
        self.keeper.as_ref().map(Keeper::pid)
    }

    /// The keeper.
    ///
    /// # Errors
    /// It is gone.
    pub(crate) fn keeper(&mut self) -> Result<&mut Keeper> {
        let gone = || Error::new(Exit::Fault, "the keeper is gone");
        self.keeper.as_mut().ok_or_else(gone)
    }

    pub(crate) fn keeper_gone(&mut self) {
        self.keeper = None;
        self.orphans.extend(self.running.keys());
    }

    /// Another keeper, in the place of one that is gone.
    pub(crate) fn keeper_is(&mut self, keeper: Keeper) {
        self.keeper = Some(keeper);
    }

    pub(crate) fn is_orphan(&self, id: SessionId) -> bool {
        self.orphans.contains(&id)
    }

    pub(crate) fn insert(&mut self, id: SessionId, program: Program) {
        self.running.insert(id, program);
    }

    pub(crate) fn runs(&self, id: SessionId) -> bool {
        self.running.contains_key(&id)
    }

    pub(crate) fn input(&self, id: SessionId) -> Option<Input> {
        self.running.get(&id).map(Program::input)
    }

    pub(crate) fn resize(&self, id: SessionId, size: Size) -> std::io::Result<()> {
        self.running
            .get(&id)
            .map_or(Ok(()), |program| program.resize(size))
    }

    /// Types these steps one after the other. The pauses are waited for on a thread of their own.
    pub(crate) fn type_in(&self, id: SessionId, steps: Vec<Step>) {
        let Some(input) = self.running.get(&id).map(Program::input) else {
            return;
        };
        thread::spawn(move || {
            for step in steps {
                if !take(&input, step) {
                    return;
                }
            }
        });
    }

    /// Types these steps, which empty the box one types into, and again what the person has in it.
    pub(crate) fn clear(&self, id: SessionId, mut steps: Vec<Step>) {
        match (steps.pop(), steps.is_empty()) {
            (Some(Step::Bytes(keys)), true) => {
                if let Some(input) = self.input(id) {
                    input.clear(keys);
                }
            }
            (Some(last), _) => {
                steps.push(last);
                self.type_in(id, steps);
            }
            (None, _) => {}
        }
    }

    /// Ends a program; `pid` leads its session.
    pub(crate) fn end(&mut self, id: SessionId, pid: Option<u32>) -> Result<()> {
        if self.is_orphan(id) {
            hang_up(pid);
            return Ok(());
        }
        self.keeper()?.end(id)
    }

    /// Ends the threads that write to a program and read from it.
    pub(crate) fn close(&mut self, id: SessionId) {
        self.running.remove(&id);
    }

    /// Lets the keeper go of a program that is over.
    pub(crate) fn forget(&mut self, id: SessionId) {
        if self.orphans.remove(&id) {
            return;
        }
        if let Some(keeper) = &mut self.keeper {
            // A keeper that went at this moment has forgotten it too.
            drop(keeper.forget(id));
        }
    }

    /// Ends every program and the keeper itself.
    pub(crate) fn end_all(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stop(true));
        }
    }
}

/// Asks the processes of a terminal to end, as when its window is closed, and then as `kill` does.
fn hang_up(pid: Option<u32>) {
    let pid = pid
        .and_then(|pid| i32::try_from(pid).ok())
        .and_then(Pid::from_raw);
    // A number that leads no session any more is somebody else's by now.
    let Some(leader) = pid.filter(|pid| leads_session(*pid)) else {
        return;
    };
    for signal in [Signal::HUP, Signal::TERM] {
        // A group that has ended already is what is wanted.
        let _ = rustix::process::kill_process_group(leader, signal);
    }
}

/// Takes one step; false if the program is gone.
fn take(input: &Input, step: Step) -> bool {
    match step {
        Step::Bytes(bytes) => input.write(bytes) != Err(Refused::Ended),
        Step::Pause(time) => {
            thread::sleep(time);
            true
        }
    }
}

/// The whole environment of a program: what the asking client has, without what an outer agent set for itself, with
/// what the deck adds. A program that says nothing of its terminal gets ours.
pub(crate) fn environment(
    client: BTreeMap<String, String>,
    added: &BTreeMap<String, String>,
    dropped: impl Fn(&str) -> bool,
) -> BTreeMap<String, String> {
    let mut env: BTreeMap<_, _> = client
        .into_iter()
        .filter(|(name, _)| !dropped(name))
        .collect();
    for outer in [
        "SESSDECK_SESSION",
        "SESSDECK_SOCKET",
        "SESSDECK_PROFILE",
        "SESSDECK_TASK",
        "SESSDECK_THREAD",
        "SESSDECK_HOOKS",
        "COLUMNS",
        "LINES",
        "TMUX",
        "TMUX_PANE",
        "ZELLIJ",
        "ZELLIJ_SESSION_NAME",
        "ZELLIJ_PANE_ID",
        "STY",
    ] {
        env.remove(outer);
    }
    for (name, value) in [
        ("TERM", "xterm-256color"),
        ("COLORTERM", "truecolor"),
        ("TERM_PROGRAM", "sessdeck"),
        ("TERM_PROGRAM_VERSION", env!("CARGO_PKG_VERSION")),
    ] {
        env.insert(name.to_owned(), value.to_owned());
    }
    env.extend(added.clone());
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_program_gets_the_clients_environment_less_the_outer_agents_plus_ours() {
        let client = map(&[
            ("PATH", "/bin"),
            ("TERM", "tmux"),
            ("TMUX", "x"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("SESSDECK_SESSION", "1"),
        ]);
        let env = environment(
            client,
            &map(&[("SESSDECK_SESSION", "7")]),
            crate::agents::dropped,
        );
        for (name, value) in [
            ("PATH", Some("/bin")),
            ("TERM", Some("xterm-256color")),
            ("TMUX", None),
            ("CLAUDECODE", None),
            ("CLAUDE_CONFIG_DIR", Some("/c")),
            ("SESSDECK_SESSION", Some("7")),
        ] {
            assert_eq!(env.get(name).map(String::as_str), value, "{name}");
        }
    }
}
