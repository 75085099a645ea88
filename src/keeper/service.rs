//! The keeper's loop: waits for peers, children and signals, and does what they call for.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::protocol::PROTOCOL;
use crate::protocol::keeper::{
    Body, Envelope, FromKeeper, Hello, Notice, Request, Response, ToKeeper,
};
use crate::protocol::wire;

use super::holdings::Holdings;
use super::peer::Peer;

/// Connections at one time; a server needs one, a server that takes over needs a second.
const MOST_PEERS: usize = 32;
/// How long the keeper leaves the listener alone after a connection could not be taken (no descriptors left).
const BREATH: Duration = Duration::from_millis(200);

/// What signals write to: the reading ends, which do not block.
pub(super) struct Signals {
    pub(super) child: UnixStream,
    pub(super) term: UnixStream,
}

pub(super) struct Service {
    listener: UnixListener,
    signals: Signals,
    peers: Vec<Peer>,
    holdings: Holdings,
    /// End as soon as no child lives.
    leaving: bool,
    /// The last connection could not be taken.
    breathing: bool,
}

/// What one wait found ready.
struct Ready {
    connection: bool,
    child: bool,
    term: bool,
    peers: Vec<PollFlags>,
}

impl Service {
    /// `umask` is what children get.
    pub(super) fn new(listener: UnixListener, signals: Signals, umask: u32) -> Self {
        Self {
            listener,
            signals,
            peers: Vec::new(),
            holdings: Holdings::new(umask),
            leaving: false,
            breathing: false,
        }
    }

    /// Until it shall leave and no child lives.
    pub(super) fn serve(mut self) {
        while !self.leaving || self.holdings.any_alive() {
            let Some(ready) = self.wait() else {
                continue;
            };
            if ready.child {
                empty(&mut self.signals.child);
            }
            if ready.term {
                empty(&mut self.signals.term);
                self.leaving = true;
            }
            // Also without the signal: children that end in a row may share one.
            self.reap();
            self.holdings.tick(now());
            for (index, flags) in ready.peers.iter().enumerate() {
                self.attend(index, *flags);
            }
            self.peers.retain(|peer| !peer.gone());
            if ready.connection {
                self.accept();
            }
        }
        for peer in &mut self.peers {
            peer.flush();
        }
    }

    /// None when a signal cut the wait short.
    fn wait(&mut self) -> Option<Ready> {
        let mut timeout = self
            .holdings
            .next_deadline()
            .map(|deadline| deadline.saturating_duration_since(now()));
        if self.breathing {
            timeout = Some(timeout.unwrap_or(BREATH).min(BREATH));
        }
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(timeout.subsec_nanos()),
        });
        let listened = if self.breathing {
            PollFlags::empty()
        } else {
            PollFlags::IN
        };
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.listener.as_fd(), listened),
            PollFd::from_borrowed_fd(self.signals.child.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.signals.term.as_fd(), PollFlags::IN),
        ];
        fds.extend(
            self.peers
                .iter()
                .map(|peer| PollFd::from_borrowed_fd(peer.as_fd(), peer.interest())),
        );
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            // No memory for the wait or a signal: the next round tries again.
            Err(Errno::INTR | Errno::AGAIN | Errno::NOMEM) => return None,
            // Only a broken descriptor of ours is left, and no round would mend it; a peer's is dropped.
            Err(_) => {
                self.peers.clear();
                return None;
            }
        }
        self.breathing = false;
        let mut ready = fds.iter().map(PollFd::revents);
        let mut some = || ready.next().is_some_and(|flags| !flags.is_empty());
        let (connection, child, term) = (some(), some(), some());
        Some(Ready {
            connection,
            child,
            term,
            peers: ready.collect(),
        })
    }

    fn accept(&mut self) {
        for _ in 0..MOST_PEERS {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if self.peers.len() >= MOST_PEERS {
                        let Some(idle) = self.peers.iter().position(|peer| !peer.greeted) else {
                            continue;
                        };
                        self.peers.remove(idle);
                    }
                    self.peers.extend(Peer::new(stream));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    self.breathing = true;
                    return;
                }
            }
        }
    }

    fn reap(&mut self) {
        for (session, exit) in self.holdings.reap() {
            for peer in self.peers.iter_mut().filter(|peer| peer.greeted) {
                peer.say(
                    &FromKeeper {
                        id: 0,
                        descriptors: 0,
                        body: Body::Notice(Notice::Exited { session, exit }),
                    },
                    None,
                );
            }
        }
    }

    fn attend(&mut self, index: usize, flags: PollFlags) {
        let peer = &mut self.peers[index];
        if flags.intersects(PollFlags::OUT) {
            peer.flush();
        }
        if !flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return;
        }
        for body in peer.read() {
            if let Ok(asked) = wire::decode::<ToKeeper>(&body) {
                // Who opens a session wants a keeper, whatever was asked before.
                let opens = matches!(asked.request, Request::Open(_));
                let leaves = answer(&mut self.holdings, peer, asked);
                self.leaving = leaves || (self.leaving && !opens);
            } else if let Ok(Envelope { id, .. }) = wire::decode(&body) {
                let text = "this keeper does not know that request".to_owned();
                peer.answer(id, Response::Failed { text });
            } else {
                peer.leave();
                return;
            }
        }
    }
}

/// Does what a peer asks and says how it went. True when the keeper shall leave.
fn answer(holdings: &mut Holdings, peer: &mut Peer, asked: ToKeeper) -> bool {
    let ToKeeper { id, request } = asked;
    let mut leaving = false;
    let done = match request {
        Request::Hello(_) => {
            peer.greeted = true;
            Ok(Response::Hello(Hello {
                protocol: PROTOCOL,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                pid: std::process::id(),
            }))
        }
        Request::Open(open) => match holdings.open(&open, wall_clock()) {
            Ok((pid, master)) => {
                peer.say(
                    &FromKeeper {
                        id,
                        descriptors: 1,
                        body: Body::Response(Response::Opened { pid }),
                    },
                    Some(master),
                );
                return false;
            }
            Err(text) => Err(text),
        },
        Request::List => {
            for (held, master) in holdings.list() {
                peer.say(
                    &FromKeeper {
                        id,
                        descriptors: 1,
                        body: Body::Response(Response::Held(held)),
                    },
                    Some(master),
                );
            }
            Ok(Response::Done)
        }
        Request::Signal { session, signal } => {
            holdings.signal(session, signal).map(|()| Response::Done)
        }
        Request::End { session } => holdings.end(session, now()).map(|()| Response::Done),
        Request::Forget { session } => holdings.forget(session, now()).map(|()| Response::Done),
        Request::Stop { force } => {
            if force {
                holdings.forget_all(now());
            }
            match holdings.count() {
                0 => {
                    leaving = true;
                    Ok(Response::Done)
                }
                held => Err(format!("the keeper still holds {held} sessions")),
            }
        }
    };
    peer.answer(id, done.unwrap_or_else(|text| Response::Failed { text }));
    leaving
}

fn empty(pipe: &mut UnixStream) {
    let mut bytes = [0; 64];
    while pipe
        .read(&mut bytes)
        .is_ok_and(|count| count == bytes.len())
    {}
}

#[expect(
    clippy::disallowed_methods,
    reason = "the keeper's loop is where its time is read"
)]
fn now() -> Instant {
    Instant::now()
}

/// Milliseconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "the keeper's loop is where its time is read"
)]
fn wall_clock() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
}
