//! One connection. It never blocks: what does not fit waits, and a peer that lets too much wait is dropped.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg, sockopt};

use crate::protocol::keeper::{Body, Frames, FromKeeper, LARGEST_REQUEST, Response};
use crate::protocol::wire;

/// Bytes that may wait for a peer. An honest one reads a list of thousands of sessions long before.
const MOST_WAITING: usize = 1 << 20;

pub(super) struct Peer {
    stream: UnixStream,
    frames: Frames,
    out: VecDeque<Outgoing>,
    waiting: usize,
    gone: bool,
    /// It said hello and gets notices.
    pub(super) greeted: bool,
}

struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    /// Travels with the first byte.
    master: Option<Rc<OwnedFd>>,
}

impl Peer {
    /// None for a peer of another user, and for one that is gone already.
    pub(super) fn new(stream: UnixStream) -> Option<Self> {
        let peer = sockopt::socket_peercred(&stream).ok()?;
        if peer.uid != rustix::process::geteuid() {
            return None;
        }
        stream.set_nonblocking(true).ok()?;
        Some(Self {
            stream,
            frames: Frames::new(LARGEST_REQUEST),
            out: VecDeque::new(),
            waiting: 0,
            gone: false,
            greeted: false,
        })
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    pub(super) fn interest(&self) -> PollFlags {
        if self.out.is_empty() {
            PollFlags::IN
        } else {
            PollFlags::IN | PollFlags::OUT
        }
    }

    pub(super) fn gone(&self) -> bool {
        self.gone
    }

    /// The connection is given up; the loop drops it.
    pub(super) fn leave(&mut self) {
        self.gone = true;
    }

    /// The bodies of the frames that are complete after one read, so that no peer keeps the loop for itself.
    pub(super) fn read(&mut self) -> Vec<Vec<u8>> {
        let mut bytes = [0; 16 << 10];
        match self.stream.read(&mut bytes) {
            Ok(0) => self.gone = true,
            Ok(count) => self.frames.push(&bytes[..count]),
            Err(error) if retry(&error) => {}
            Err(_) => self.gone = true,
        }
        let mut bodies = Vec::new();
        loop {
            match self.frames.next() {
                Ok(Some(body)) => bodies.push(body),
                Ok(None) => return bodies,
                Err(_) => {
                    self.gone = true;
                    return bodies;
                }
            }
        }
    }

    pub(super) fn answer(&mut self, id: u64, response: Response) {
        self.say(
            &FromKeeper {
                id,
                descriptors: 0,
                body: Body::Response(response),
            },
            None,
        );
    }

    /// Sends a message, with the PTY master that it tells of.
    pub(super) fn say(&mut self, message: &FromKeeper, master: Option<Rc<OwnedFd>>) {
        let Ok(bytes) = wire::encode(message) else {
            self.gone = true;
            return;
        };
        self.waiting += bytes.len();
        self.out.push_back(Outgoing {
            bytes,
            sent: 0,
            master,
        });
        self.flush();
        if self.waiting > MOST_WAITING {
            self.gone = true;
        }
    }

    /// Sends what the socket takes now.
    pub(super) fn flush(&mut self) {
        while let Some(next) = self.out.front_mut() {
            match send(&self.stream, next) {
                Ok(count) => {
                    next.sent += count;
                    next.master = None;
                    self.waiting -= count;
                    if next.sent == next.bytes.len() {
                        self.out.pop_front();
                    }
                }
                Err(Errno::INTR) => {}
                // TOOMANYREFS: descriptors under way that the peer has yet to take.
                Err(Errno::AGAIN | Errno::TOOMANYREFS) => return,
                Err(_) => {
                    self.gone = true;
                    return;
                }
            }
        }
    }
}

fn send(stream: &UnixStream, next: &Outgoing) -> rustix::io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    let master = next.master.as_ref().map(|master| [master.as_fd()]);
    if let Some(master) = &master {
        beside.push(SendAncillaryMessage::ScmRights(master));
    }
    let bytes = [IoSlice::new(&next.bytes[next.sent..])];
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    sendmsg(stream, &bytes, &mut beside, flags)
}

fn retry(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
