//! The server's side of the keeper: asks it for PTYs, hears of exits.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};
use serde_bytes::ByteBuf;

use crate::deck::SessionId;
use crate::error::{Error, Exit, Result};
use crate::protocol::PROTOCOL;
use crate::protocol::keeper::{
    self as wire_keeper, Body, Envelope, Frames, FromKeeper, Hello, LARGEST_ANSWER, Notice, Open,
    Request, Response, ToKeeper,
};
use crate::protocol::wire;
use crate::terminal::Size;

/// The keeper does one thing at a time, and the slowest, starting a program, takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection to the keeper. One question at a time; exits are told unasked.
pub(crate) struct Keeper {
    stream: UnixStream,
    answers: Receiver<Answer>,
    last: u64,
    pid: u32,
}

/// What the keeper tells unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Exited {
        session: SessionId,
        exit: wire_keeper::Exit,
    },
    /// The connection is over: no exit will be told on it any more. The programs and the masters live on.
    Gone,
}

/// What a program is started with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) argv: &'a [String],
    /// All of the program's environment.
    pub(crate) env: &'a BTreeMap<String, String>,
    /// Absolute.
    pub(crate) dir: &'a Path,
    pub(crate) size: Size,
}

#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) pid: u32,
    pub(crate) master: OwnedFd,
}

#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) session: SessionId,
    pub(crate) pid: u32,
    pub(crate) size: Size,
    /// None while the program runs.
    pub(crate) exit: Option<wire_keeper::Exit>,
    pub(crate) master: OwnedFd,
}

struct Answer {
    id: u64,
    response: Response,
    descriptors: Vec<OwnedFd>,
}

impl Keeper {
    /// Connects and says hello. `report` is called on a thread of its own, which ends after [`Report::Gone`].
    ///
    /// # Errors
    /// Nobody listens there, or no keeper answers.
    pub(crate) fn connect(socket: &Path, report: impl Fn(Report) + Send + 'static) -> Result<Self> {
        let place = |error: io::Error| {
            Error::new(Exit::Fault, format!("no keeper can be reached: {error}")).at(socket, None)
        };
        let stream = UnixStream::connect(socket).map_err(place)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(place)?;
        let heard = stream.try_clone().map_err(place)?;
        let (sender, answers) = mpsc::channel();
        thread::Builder::new()
            .name("keeper".to_owned())
            .spawn(move || listen(&heard, &sender, report))
            .map_err(place)?;
        let mut keeper = Self {
            stream,
            answers,
            last: 0,
            pid: 0,
        };
        let answer = keeper.ask(Request::Hello(Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
        }))?;
        let Response::Hello(hello) = answer.response else {
            return Err(beside_the_question());
        };
        keeper.pid = hello.pid;
        Ok(keeper)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Starts a program in a PTY of its own.
    ///
    /// # Errors
    /// What is missing and where, in a sentence for the person; then nothing was started.
    pub(crate) fn open(&mut self, session: SessionId, start: &Start<'_>) -> Result<Opened> {
        let bytes = |text: &String| ByteBuf::from(text.as_bytes());
        let answer = self.ask(Request::Open(Open {
            session: session.0,
            argv: start.argv.iter().map(bytes).collect(),
            env: start
                .env
                .iter()
                .map(|(name, value)| (bytes(name), bytes(value)))
                .collect(),
            dir: ByteBuf::from(start.dir.as_os_str().as_bytes()),
            size: start.size,
            umask: None,
        }))?;
        let Response::Opened { pid } = answer.response else {
            return Err(beside_the_question());
        };
        Ok(Opened {
            pid,
            master: one(answer.descriptors)?,
        })
    }

    /// All that the keeper holds, ended programs included.
    pub(crate) fn list(&mut self) -> Result<Vec<Held>> {
        let id = self.send(Request::List)?;
        let mut all = Vec::new();
        loop {
            let answer = self.answer(id)?;
            let Response::Held(held) = answer.response else {
                return Ok(all);
            };
            all.push(Held {
                session: SessionId(held.session),
                pid: held.pid,
                size: held.size,
                exit: held.exit,
                master: one(answer.descriptors)?,
            });
        }
    }

    /// One signal, by its number, to every process of the session.
    #[cfg(test)]
    pub(crate) fn signal(&mut self, session: SessionId, signal: i32) -> Result<()> {
        self.done(Request::Signal {
            session: session.0,
            signal,
        })
    }

    /// Ends every process of the session: asked first, killed in the end, all within five seconds. Returns at once; the
    /// exit is reported.
    pub(crate) fn end(&mut self, session: SessionId) -> Result<()> {
        self.done(Request::End { session: session.0 })
    }

    /// The keeper lets go of the PTY and of the exit, and ends what still lives in the session.
    pub(crate) fn forget(&mut self, session: SessionId) -> Result<()> {
        self.done(Request::Forget { session: session.0 })
    }

    /// Ends the keeper, if it holds nothing; with `force` it ends and forgets everything first, which takes it up to five
    /// seconds after this returned. [`Report::Gone`] follows.
    pub(crate) fn stop(&mut self, force: bool) -> Result<()> {
        self.done(Request::Stop { force })
    }

    fn done(&mut self, request: Request) -> Result<()> {
        self.ask(request).map(drop)
    }

    fn ask(&mut self, request: Request) -> Result<Answer> {
        let id = self.send(request)?;
        self.answer(id)
    }

    fn send(&mut self, request: Request) -> Result<u64> {
        self.last += 1;
        let id = self.last;
        let frame = wire::encode(&ToKeeper { id, request })?;
        self.stream.write_all(&frame).map_err(|error| {
            // Half a frame may be out, so nothing that follows would be understood.
            self.hang_up();
            Error::new(
                Exit::Fault,
                format!("the keeper cannot be reached: {error}"),
            )
        })?;
        Ok(id)
    }

    /// The next answer to that request; answers to earlier ones, given up on, are dropped. A refusal is an error.
    fn answer(&self, id: u64) -> Result<Answer> {
        loop {
            match self.answers.recv_timeout(PATIENCE) {
                Ok(answer) if answer.id != id => {}
                Ok(Answer {
                    response: Response::Failed { text },
                    ..
                }) => return Err(Error::new(Exit::Fault, text)),
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Error::new(Exit::Fault, "the keeper does not answer"));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::new(Exit::Fault, "the keeper is gone"));
                }
            }
        }
    }

    /// Ends the listening thread too.
    fn hang_up(&self) {
        drop(self.stream.shutdown(Shutdown::Both));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.hang_up();
    }
}

fn beside_the_question() -> Error {
    Error::new(Exit::Fault, "the keeper answered something else")
}

fn one(descriptors: Vec<OwnedFd>) -> Result<OwnedFd> {
    descriptors.into_iter().next().ok_or_else(|| {
        Error::new(
            Exit::Fault,
            "the keeper's PTY did not arrive: too many files are open",
        )
        .mend("raise the limit with `ulimit -n`")
    })
}

/// Takes what the keeper says until the connection is over.
fn listen(stream: &UnixStream, answers: &Sender<Answer>, report: impl Fn(Report)) {
    let mut arriving = Arriving {
        frames: Frames::new(LARGEST_ANSWER),
        descriptors: VecDeque::new(),
    };
    while let Ok(true) = arriving.receive(stream) {
        while let Ok(Some(body)) = arriving.frames.next() {
            let Ok(Envelope { id, descriptors }) = wire::decode(&body) else {
                continue;
            };
            let descriptors = arriving.take(descriptors);
            let response = match wire::decode::<FromKeeper>(&body).map(|said| said.body) {
                Ok(Body::Response(response)) => response,
                Ok(Body::Notice(Notice::Exited { session, exit })) => {
                    let session = SessionId(session);
                    report(Report::Exited { session, exit });
                    continue;
                }
                // A notice of a newer keeper.
                Err(_) if id == 0 => continue,
                Err(_) => Response::Failed {
                    text: "the keeper's answer is not understood".to_owned(),
                },
            };
            // Nobody waits when the connection is being closed.
            drop(answers.send(Answer {
                id,
                response,
                descriptors,
            }));
        }
    }
    report(Report::Gone);
}

/// Bytes and descriptors on their way. Those of a frame arrive no later than its last byte, and in the same order.
struct Arriving {
    frames: Frames,
    /// None for one that the system could not give us.
    descriptors: VecDeque<Option<OwnedFd>>,
}

impl Arriving {
    /// Waits for more; false when the keeper closed the connection.
    fn receive(&mut self, stream: &UnixStream) -> io::Result<bool> {
        let mut bytes = [0; 16 << 10];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let received = loop {
            let mut into = [IoSliceMut::new(&mut bytes)];
            match recvmsg(stream, &mut into, &mut beside, RecvFlags::CMSG_CLOEXEC) {
                Err(Errno::INTR) => {}
                other => break other?,
            }
        };
        let before = self.descriptors.len();
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors.map(Some));
            }
        }
        // The keeper sends one at a time, so it is that one which is missing.
        if received.flags.contains(ReturnFlags::CTRUNC) && self.descriptors.len() == before {
            self.descriptors.push_back(None);
        }
        self.frames.push(&bytes[..received.bytes]);
        Ok(received.bytes > 0)
    }

    fn take(&mut self, count: u32) -> Vec<OwnedFd> {
        let count = self.descriptors.len().min(count as usize);
        self.descriptors.drain(..count).flatten().collect()
    }
}
