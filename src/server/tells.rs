//! The sockets that sessions themselves may write to: one each, one line of JSON a connection, no answer.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use super::peer;
use crate::deck::SessionId;
use crate::protocol::hook::Tell;

/// A tell is a few hundred bytes; who is slower or longer is not one of our hooks.
const PATIENCE: Duration = Duration::from_secs(1);
const LARGEST: u64 = 256 << 10;

/// The sockets of all sessions, listened to by one thread.
#[derive(Debug)]
pub(crate) struct Tells {
    folder: PathBuf,
    changes: Arc<Mutex<Vec<Change>>>,
    nudge: UnixStream,
}

#[derive(Debug)]
enum Change {
    Open(SessionId, UnixListener),
    Close(SessionId),
}

impl Tells {
    /// Starts the thread; `tell` is called for every whole line, on threads of its own.
    pub(crate) fn start(
        folder: &Path,
        tell: impl Fn(SessionId, Tell) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let (nudge, nudged) = UnixStream::pair()?;
        nudged.set_nonblocking(true)?;
        let changes = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&changes);
        thread::spawn(move || listen(&nudged, &told, &Arc::new(tell)));
        Ok(Self {
            folder: folder.to_owned(),
            changes,
            nudge,
        })
    }

    /// Where the hooks of this session write to.
    pub(crate) fn path(&self, session: SessionId) -> PathBuf {
        self.folder.join(format!("s{session}.sock"))
    }

    pub(crate) fn open(&self, session: SessionId) -> io::Result<()> {
        let path = self.path(session);
        // An earlier server may have left it; the lock says that it is gone.
        drop(fs::remove_file(&path));
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        self.change(Change::Open(session, listener))
    }

    pub(crate) fn close(&self, session: SessionId) -> io::Result<()> {
        drop(fs::remove_file(self.path(session)));
        self.change(Change::Close(session))
    }

    fn change(&self, change: Change) -> io::Result<()> {
        self.changes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(change);
        io::Write::write_all(&mut &self.nudge, b"!")
    }
}

fn listen(
    nudged: &UnixStream,
    changes: &Mutex<Vec<Change>>,
    tell: &Arc<impl Fn(SessionId, Tell) + Send + Sync + 'static>,
) {
    let mut open: HashMap<SessionId, UnixListener> = HashMap::new();
    // What was told first is passed on first, however the threads run.
    let mut told: HashMap<SessionId, Receiver<()>> = HashMap::new();
    loop {
        for change in std::mem::take(&mut *changes.lock().unwrap_or_else(PoisonError::into_inner)) {
            match change {
                Change::Open(session, listener) => drop(open.insert(session, listener)),
                Change::Close(session) => {
                    open.remove(&session);
                    told.remove(&session);
                }
            }
        }
        let mut waits = vec![PollFd::new(nudged, PollFlags::IN)];
        let sessions: Vec<_> = open.iter().collect();
        waits.extend(
            sessions
                .iter()
                .map(|(_, listener)| PollFd::new(*listener, PollFlags::IN)),
        );
        match poll(&mut waits, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        for ((session, listener), wait) in sessions.iter().zip(&waits[1..]) {
            if wait.revents().is_empty() {
                continue;
            }
            let Ok((stream, _)) = listener.accept() else {
                continue;
            };
            let (session, tell) = (**session, Arc::clone(tell));
            let (done, passed_on) = mpsc::channel();
            let before = told.insert(session, passed_on);
            thread::spawn(move || {
                let line = line(stream);
                // Nothing is ever sent: the end of the thread before is what is waited for.
                let _ = before.map(|before| before.recv());
                if let Some(line) = line {
                    tell(session, line);
                }
                drop::<Sender<()>>(done);
            });
        }
        match drain(nudged) {
            Ok(true) => {}
            // The server is gone, and with it this thread's purpose.
            Ok(false) | Err(_) => return,
        }
    }
}

/// Empties the nudge pipe; false when its other end is closed.
fn drain(mut nudged: &UnixStream) -> io::Result<bool> {
    let mut bytes = [0; 64];
    loop {
        match nudged.read(&mut bytes) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn line(stream: UnixStream) -> Option<Tell> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    if !peer::same_user(&stream) {
        return None;
    }
    let mut bytes = Vec::new();
    // The time-out ends the reading of a peer that neither writes nor closes.
    drop(stream.take(LARGEST).read_to_end(&mut bytes));
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    serde_json::from_slice(&bytes[..end]).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_session_tells_by_its_own_socket_until_that_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let (sender, told) = mpsc::channel();
        let tells = Tells::start(folder.path(), move |session, tell| {
            sender.send((session, tell)).unwrap();
        })
        .unwrap();
        for id in [SessionId(1), SessionId(2)] {
            tells.open(id).unwrap();
        }
        let tell = Tell::Parked {
            line: "- [ ] a".into(),
        };
        let line = serde_json::to_string(&tell).unwrap() + "\n";
        for bytes in ["garbage\n", "{\"tell\":", &line] {
            let mut socket = UnixStream::connect(tells.path(SessionId(2))).unwrap();
            socket.write_all(bytes.as_bytes()).unwrap();
        }
        assert_eq!(told.recv().unwrap(), (SessionId(2), tell));

        tells.close(SessionId(2)).unwrap();
        assert!(UnixStream::connect(tells.path(SessionId(2))).is_err());
        assert!(UnixStream::connect(tells.path(SessionId(1))).is_ok());
    }
    #[test]
    fn what_is_told_first_is_passed_on_first() {
        let folder = tempfile::tempdir().unwrap();
        let (sender, told) = mpsc::channel();
        let tells = Tells::start(folder.path(), move |_, tell| sender.send(tell).unwrap()).unwrap();
        tells.open(SessionId(1)).unwrap();
        let tell = |line: &str| Tell::Parked { line: line.into() };
        let bytes = |line: &str| serde_json::to_string(&tell(line)).unwrap() + "\n";
        let connect = || UnixStream::connect(tells.path(SessionId(1))).unwrap();
        let (mut first, mut second) = (connect(), connect());
        second.write_all(bytes("second").as_bytes()).unwrap();
        drop(second);
        first.write_all(bytes("first").as_bytes()).unwrap();
        drop(first);
        assert_eq!(
            told.iter().take(2).collect::<Vec<_>>(),
            [tell("first"), tell("second")]
        );
    }
}
