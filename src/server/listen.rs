//! The control socket: greets whoever connects and passes on what it asks.

use std::io::{self, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::Incoming;
use super::painter::{self, Pace, Wake};
use super::peer;
use crate::deck::{ClientId, SessionId};
use crate::protocol::PROTOCOL;
use crate::protocol::client::{Hello, Request, ToServer};
use crate::protocol::wire::{self, Broken};

/// A peer that connects and then says nothing is let go after so long.
const PATIENCE: Duration = Duration::from_secs(5);

/// The programs of agent sessions, so that what descends from one can be told apart.
#[derive(Debug, Default)]
pub(crate) struct Insiders(Mutex<Vec<(u32, SessionId)>>);

impl Insiders {
    pub(crate) fn set(&self, pids: Vec<(u32, SessionId)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = pids;
    }

    /// The agent session that the peer runs in, if it does.
    fn session_of(&self, stream: &UnixStream) -> Option<SessionId> {
        let pids = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let ancestry = peer::ancestry(stream);
        pids.iter()
            .find(|(pid, _)| ancestry.contains(pid))
            .map(|(_, session)| *session)
    }
}

/// Accepts on a thread of its own; ends when the loop has ended.
pub(crate) fn start(
    listener: UnixListener,
    loop_: Sender<Incoming>,
    pace: Pace,
    insiders: Arc<Insiders>,
) {
    let last = AtomicU64::new(0);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Out of descriptors, say. Those that are open go on; the next accept may do.
                thread::sleep(Duration::from_millis(50));
                continue;
            };
            if !peer::same_user(&stream) {
                continue;
            }
            let client = ClientId(last.fetch_add(1, Ordering::Relaxed) + 1);
            let (loop_, insiders) = (loop_.clone(), Arc::clone(&insiders));
            thread::spawn(move || {
                let insider = insiders.session_of(&stream);
                drop(converse(client, stream, &loop_, pace, insider));
                drop(loop_.send(Incoming::Left(client)));
            });
        }
    });
}

fn converse(
    client: ClientId,
    mut stream: UnixStream,
    loop_: &Sender<Incoming>,
    pace: Pace,
    insider: Option<SessionId>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    wire::send(&mut stream, &hello())?;
    let mut incoming = BufReader::new(stream.try_clone()?);
    let _peer: Hello = wire::receive(&mut incoming).map_err(broken)?;
    stream.set_read_timeout(None)?;
    let wake = Arc::<Wake>::default();
    painter::start(Arc::clone(&wake), stream, pace);
    let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
    loop_
        .send(Incoming::Connected(client, Arc::clone(&wake)))
        .map_err(|_| gone())?;
    loop {
        let ToServer { id, request } = match wire::receive(&mut incoming) {
            Ok(asked) => asked,
            // A newer client asks what we do not know: it gets no answer and goes on with what we do.
            Err(Broken::Unknown(_)) => continue,
            Err(Broken::Io(error)) => return Err(error),
        };
        let news = match (request, insider) {
            (
                Request::Input {
                    session,
                    bytes,
                    typed,
                },
                None,
            ) => typed_into(client, &wake, session, bytes, typed),
            (request, insider) => Incoming::Asked {
                client,
                id,
                request,
                insider,
            },
        };
        loop_.send(news).map_err(|_| gone())?;
    }
}

/// Keys for what the client looks at go to its program from here, since nothing is decided about them; the loop hears
/// of them. Others take the way of every request.
fn typed_into(
    client: ClientId,
    wake: &Wake,
    session: u64,
    bytes: Vec<u8>,
    typed: bool,
) -> Incoming {
    let Some(input) = wake.input(SessionId(session)) else {
        wake.detour();
        let request = Request::Input {
            session,
            bytes,
            typed,
        };
        return Incoming::Asked {
            client,
            id: 0,
            request,
            insider: None,
        };
    };
    let taken = if typed {
        wake.typed();
        input.typed(bytes)
    } else {
        input.write(bytes)
    };
    Incoming::Typed {
        client,
        session: SessionId(session),
        typed,
        taken,
    }
}

fn hello() -> Hello {
    Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
    }
}

fn broken(broken: Broken) -> io::Error {
    match broken {
        Broken::Io(error) => error,
        Broken::Unknown(what) => io::Error::new(io::ErrorKind::InvalidData, what),
    }
}
