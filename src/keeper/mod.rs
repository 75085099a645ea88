//! Holds PTYs and children. Single-threaded, tiny, never needs an update.

mod family;
mod holdings;
mod peer;
mod service;
mod start;

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::fs::Mode;
use rustix::process;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::{flag, low_level};

use crate::error::{Error, Exit, Result};

use service::{Service, Signals};

pub(crate) use family::leads_session;

/// How a keeper came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Ending {
    /// It was asked to stop and holds nothing.
    Stopped,
    /// Another keeper serves this socket.
    Taken,
}

/// Serves `socket` until it is told to stop. Its folder must exist and belong to the user alone.
///
/// The socket appears under its name only once it takes connections, so who starts a keeper waits for that. Of two
/// keepers for one socket the second returns [`Ending::Taken`] at once.
///
/// The process becomes the leader of a session without terminal, in `/`, with a mask of 077, and its standard streams
/// go nowhere; it must not lead a process group when it starts.
///
/// # Errors
/// The socket or its lock cannot be made, or the process cannot leave its session.
pub(crate) fn run(socket: &Path) -> Result<Ending> {
    let socket = std::path::absolute(socket)?;
    let Some(_lock) = lock(&socket)? else {
        return Ok(Ending::Taken);
    };
    let umask = leave_session()?;
    let signals = listen_to_signals()?;
    let listener = listen(&socket).map_err(|error| Error::from(error).at(&socket, None))?;
    Service::new(listener, signals, umask).serve();
    // A socket that stays behind is refused by connect and replaced by the next keeper.
    drop(std::fs::remove_file(&socket));
    Ok(Ending::Stopped)
}

/// The lock that makes one keeper of two; None if another has it. The file stays, since removing it would race.
fn lock(socket: &Path) -> Result<Option<File>> {
    let path = socket.with_extension("lock");
    let place = |error: io::Error| Error::from(error).at(&path, None);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(place)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(place(error)),
    }
}

/// Cuts what ties the process to where it was started. Returns the mask it was started with, for the children.
fn leave_session() -> Result<u32> {
    if let Err(error) = process::setsid()
        && !leads_session(process::getpid())
    {
        return Err(Error::new(
            Exit::Fault,
            format!("the keeper cannot leave its session: {error}"),
        )
        .mend("start it with `sessdeck server start`"));
    }
    let umask = process::umask(Mode::from_raw_mode(0o077));
    process::chdir("/").map_err(io::Error::from)?;
    // Orphans of a session come to the keeper, so each is reaped even where process 1 reaps nothing.
    process::set_child_subreaper(Some(process::getpid())).map_err(io::Error::from)?;
    let nowhere = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nowhere).map_err(io::Error::from)?;
    rustix::stdio::dup2_stdout(&nowhere).map_err(io::Error::from)?;
    rustix::stdio::dup2_stderr(&nowhere).map_err(io::Error::from)?;
    Ok(umask.as_raw_mode())
}

/// The ends of two pipes that say something whenever a child changed or the keeper is asked to leave.
///
/// No signal but KILL ends a keeper with live children: a stray one would take every agent with it. TERM makes it leave
/// once the last child has ended, so it does not hold up a shutdown, where the children get TERM too. The handlers (not
/// "ignore") are there so that children start with the default.
fn listen_to_signals() -> io::Result<Signals> {
    let (child, child_writer) = UnixStream::pair()?;
    let (term, term_writer) = UnixStream::pair()?;
    child.set_nonblocking(true)?;
    term.set_nonblocking(true)?;
    low_level::pipe::register(SIGCHLD, child_writer)?;
    low_level::pipe::register(SIGTERM, term_writer)?;
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2] {
        flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(Signals { child, term })
}

/// Binds beside the name and moves the socket there: whoever sees it can connect.
fn listen(socket: &Path) -> io::Result<UnixListener> {
    let unready: PathBuf = socket.with_extension("new");
    match std::fs::remove_file(&unready) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&unready)?;
    listener.set_nonblocking(true)?;
    std::fs::rename(&unready, socket)?;
    Ok(listener)
}
