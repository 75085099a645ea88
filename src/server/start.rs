//! Starting the server: the lock, the keeper, the sockets, the sessions of the server before.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, SystemTime};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::launch::Planner;
use super::listen::{self, Insiders};
use super::painter::Pace;
use super::programs::{Held, Keeper, Program, Programs, Report};
use super::screens::{self, Screens};
use super::store::Store;
use super::tells::Tells;
use super::watch::Watcher;
use super::{Incoming, Server};
use crate::agents;
use crate::config::dirs::Dirs;
use crate::config::load;
use crate::deck::{Deck, Event, SessionId};
use crate::error::{Error, Exit, Result};
use crate::protocol::keeper::Exit as ProgramExit;

/// A new keeper listens within moments.
const KEEPER_TRIES: u32 = 1000;
const KEEPER_PAUSE: Duration = Duration::from_millis(5);

/// One server ends, or another begins to serve, within moments.
const LOCK_TRIES: u32 = 2000;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Runs the server until it is told to stop. `ready` is called once it listens, or once another one was found to.
pub(crate) fn run(dirs: &Dirs, ready: impl FnOnce()) -> Result<()> {
    // A session of its own: no terminal's keys or hang-ups reach it, and it fights for none.
    let _ = rustix::process::setsid();
    load::make(dirs)?;
    let Some(_lock) = lock(dirs)? else {
        ready();
        return Ok(());
    };
    let (settings, complaint) = match load::settings(dirs) {
        Ok(settings) => (settings, None),
        Err(error) => (crate::config::settings::Settings::default(), Some(error)),
    };
    let (loop_, incoming) = mpsc::channel();
    let keeper = keeper(dirs, &loop_)?;
    let socket = dirs.control_socket();
    // The lock says that whoever bound it is gone.
    drop(fs::remove_file(&socket));
    let listener =
        UnixListener::bind(&socket).map_err(|error| Error::from(error).at(&socket, None))?;
    let insiders = Arc::<Insiders>::default();
    let tells = loop_.clone();
    let seen = loop_.clone();
    let mut server = Server {
        deck: Deck::default(),
        screens: Screens::new(loop_.clone()),
        programs: Programs::new(keeper),
        clients: super::Clients::default(),
        watcher: Watcher::start(move |news| drop(seen.send(Incoming::Seen(news)))),
        tells: Tells::start(&dirs.runtime, move |session, tell| {
            drop(tells.send(Incoming::Told(session, tell)));
        })?,
        planner: Planner::start(dirs, loop_.clone()),
        store: Store::new(&dirs.state),
        inboxes: BTreeMap::new(),
        faults: BTreeMap::new(),
        insiders: Arc::clone(&insiders),
        loop_: loop_.clone(),
        starting: None,
        dirs: dirs.clone(),
        settings,
    };
    server.restore();
    if let Some(error) = complaint {
        server.fault(dirs.config.clone(), &error);
    }
    signals(&loop_)?;
    listen::start(
        listener,
        loop_,
        Pace::new(&server.settings.pacing),
        insiders,
    );
    ready();
    server.serve(&incoming);
    // First, so that a client that is let go does not come back to a server that is about to end.
    drop(fs::remove_file(&socket));
    server.clients.farewell();
    Ok(())
}

/// The lock that one server at a time holds; none if another one serves. It is let go with the process, which takes a
/// moment after a server has said its farewell: whoever holds the lock and does not answer is waited for.
fn lock(dirs: &Dirs) -> Result<Option<File>> {
    for _ in 0..LOCK_TRIES {
        if let Some(lock) = try_lock(dirs)? {
            return Ok(Some(lock));
        }
        if UnixStream::connect(dirs.control_socket()).is_ok() {
            break;
        }
        thread::sleep(LOCK_PAUSE);
    }
    Ok(None)
}

fn try_lock(dirs: &Dirs) -> Result<Option<File>> {
    let path = dirs.runtime.join("server.lock");
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(|error| Error::from(error).at(&path, None))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => return Ok(None),
        Err(fs::TryLockError::Error(error)) => return Err(Error::from(error).at(&path, None)),
    }
    file.set_len(0)?;
    file.write_all(format!("{}\n", std::process::id()).as_bytes())?;
    Ok(Some(file))
}

/// The keeper that runs, or a new one.
pub(super) fn keeper(dirs: &Dirs, loop_: &Sender<Incoming>) -> Result<Keeper> {
    let socket = dirs.keeper_socket();
    let connect = || {
        let loop_ = loop_.clone();
        Keeper::connect(&socket, move |report| {
            drop(loop_.send(match report {
                Report::Exited { session, exit } => Incoming::Exited(session, Some(code(exit))),
                Report::Gone => Incoming::KeeperGone,
            }));
        })
    };
    if let Ok(keeper) = connect() {
        return Ok(keeper);
    }
    let program = std::env::current_exe()?;
    let mut child = Command::new(&program)
        .arg("keeper")
        .arg(&socket)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| {
            Error::new(Exit::Fault, format!("cannot start the keeper: {error}")).at(&program, None)
        })?;
    // A keeper outlives us; as long as we live, its end is ours to reap.
    thread::spawn(move || child.wait());
    let mut last = connect();
    for _ in 0..KEEPER_TRIES {
        if last.is_ok() {
            break;
        }
        // Its socket appears once it takes connections.
        thread::sleep(KEEPER_PAUSE);
        last = connect();
    }
    last
}

/// The exit code as a shell would say it.
fn code(exit: ProgramExit) -> i32 {
    match exit {
        ProgramExit::Code(code) => code,
        ProgramExit::Signal(signal) => 128 + signal,
    }
}

fn signals(loop_: &Sender<Incoming>) -> Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let loop_ = loop_.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            if signal != SIGHUP {
                drop(loop_.send(Incoming::Stop));
                return;
            }
        }
    });
    Ok(())
}

impl Server {
    /// Takes over what the server before left: its records, and the programs that the keeper holds.
    fn restore(&mut self) {
        let mut held: BTreeMap<SessionId, Held> =
            match self.programs.keeper().and_then(Keeper::list) {
                Ok(held) => held.into_iter().map(|held| (held.session, held)).collect(),
                Err(_) => BTreeMap::new(),
            };
        let last = held
            .keys()
            .map(|id| id.0)
            .max()
            .unwrap_or(0)
            .max(self.store.last_id());
        self.deck.begin_after(last);
        for session in self.store.load() {
            let id = session.id;
            self.deck.restore(session);
            if let Some(held) = held.remove(&id) {
                self.take_over(held);
            }
            if let (Some(dialect), Some(transcript)) = (
                self.dialect(id),
                self.deck
                    .session(id)
                    .and_then(|session| session.transcript.clone()),
            ) {
                self.watcher.follow(id, transcript, dialect);
            }
        }
        // Programs whose record is lost still run: they come back as plain sessions rather than not at all.
        for (id, held) in held {
            self.deck.restore(super::sessions::foundling(id, now()));
            self.take_over(held);
        }
        self.insiders_changed();
    }

    fn take_over(&mut self, held: Held) {
        let Held {
            session: id,
            pid,
            size,
            exit,
            master,
            ..
        } = held;
        if let Ok((program, output)) = Program::new(master) {
            let input = program.input();
            self.programs.insert(id, program);
            let program = screens::Program {
                output,
                input,
                size,
                known: true,
            };
            self.screens
                .open(id, program, &self.store.journal(id), &self.settings);
            drop(self.tells.open(id));
        }
        self.deck(Event::Started { session: id, pid });
        if let Some(exit) = exit {
            self.deck(Event::Exited {
                session: id,
                code: Some(code(exit)),
            });
        }
    }
}

/// Whether that agent has hooks and a transcript.
pub(super) fn is_agent(name: &str) -> bool {
    name != "shell" && agents::named(name).is_some()
}

#[expect(
    clippy::disallowed_methods,
    reason = "what comes back without a record is as old as this server"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_waits_for_the_one_before_unless_that_still_serves() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("home").into_os_string();
        let dirs = Dirs::by(
            |name| (name == "SESSDECK_HOME").then(|| home.clone()),
            load::user(),
        )
        .unwrap();
        load::make(&dirs).unwrap();
        let before = lock(&dirs).unwrap().unwrap();
        let (tried, trying) = mpsc::channel();
        thread::scope(|scope| {
            let next = scope.spawn(|| {
                tried.send(()).unwrap();
                lock(&dirs)
            });
            trying.recv().unwrap();
            // It holds the lock and has no socket any more: it is about to be gone.
            drop(before);
            assert!(next.join().unwrap().unwrap().is_some());
        });
        let _serves = lock(&dirs).unwrap().unwrap();
        let _socket = UnixListener::bind(dirs.control_socket()).unwrap();
        assert!(lock(&dirs).unwrap().is_none());
    }
}
