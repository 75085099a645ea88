//! Between the server and the keeper; PTY masters travel beside it by `SCM_RIGHTS`.
//!
//! A keeper lives as long as its agents do, so servers of many versions talk to it: whatever it does not know it
//! answers with [`Response::Failed`], and fields that a peer does not know are skipped.

use std::collections::VecDeque;
use std::io;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

pub(crate) use crate::terminal::Size;

/// Larger than the system lets an argument list and an environment be.
pub(crate) const LARGEST_REQUEST: usize = 8 << 20;
/// The keeper's answers hold figures and one sentence at most.
pub(crate) const LARGEST_ANSWER: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToKeeper {
    /// Chosen by the server, never 0; each answer carries it back.
    pub(crate) id: u64,
    pub(crate) request: Request,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// From now on this connection gets notices.
    Hello(Hello),
    Open(Open),
    /// All that is held: one [`Response::Held`] each, then [`Response::Done`].
    List,
    /// One signal, by its number, to every process of the session.
    Signal {
        session: u64,
        signal: i32,
    },
    /// Every process of the session is asked to end, then made to. The exit is kept until it is forgotten.
    End {
        session: u64,
    },
    /// Lets go of the PTY and the exit; what still lives in the session is ended first.
    Forget {
        session: u64,
    },
    /// Ends the keeper if it holds nothing; with `force` everything that it holds is ended and forgotten first.
    Stop {
        force: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) version: String,
    pub(crate) pid: u32,
}

/// A program to start in a PTY of its own. Arguments, names and paths are bytes, as the system has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Open {
    pub(crate) session: u64,
    pub(crate) argv: Vec<ByteBuf>,
    /// All of the child's environment; nothing is inherited.
    pub(crate) env: Vec<(ByteBuf, ByteBuf)>,
    /// Absolute.
    pub(crate) dir: ByteBuf,
    pub(crate) size: Size,
    /// None takes the mask that the keeper was started with.
    #[serde(default)]
    pub(crate) umask: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FromKeeper {
    /// The id of the request; 0 with a notice.
    pub(crate) id: u64,
    /// How many descriptors travel with this frame.
    #[serde(default)]
    pub(crate) descriptors: u32,
    pub(crate) body: Body,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Body {
    Response(Response),
    Notice(Notice),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Response {
    Hello(Hello),
    /// The PTY master travels with it.
    Opened {
        pid: u32,
    },
    /// The PTY master travels with it.
    Held(Held),
    Done,
    /// What, and where: one sentence for a person.
    Failed {
        text: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Notice {
    /// A program ended. [`Request::List`] says the same until the session is forgotten.
    Exited { session: u64, exit: Exit },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) session: u64,
    pub(crate) pid: u32,
    pub(crate) size: Size,
    /// Milliseconds since 1970.
    pub(crate) started: u64,
    /// None while the program runs.
    pub(crate) exit: Option<Exit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Exit {
    Code(i32),
    /// The number of the signal that ended it.
    Signal(i32),
}

/// What every version says in each frame, so that a frame that is not understood can still be answered or skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Envelope {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) descriptors: u32,
}

/// Bytes as they arrive, in any pieces, cut into the bodies of frames.
#[derive(Debug)]
pub(crate) struct Frames {
    bytes: VecDeque<u8>,
    largest: usize,
}

impl Frames {
    pub(crate) fn new(largest: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            largest,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// The next whole frame, without its length.
    ///
    /// # Errors
    /// The peer announced a frame larger than any honest one; nothing after it can be read.
    pub(crate) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut length = [0; 4];
        if self.bytes.len() < length.len() {
            return Ok(None);
        }
        for (to, from) in length.iter_mut().zip(&self.bytes) {
            *to = *from;
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > self.largest {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "message too large",
            ));
        }
        if self.bytes.len() < 4 + length {
            return Ok(None);
        }
        self.bytes.drain(..4);
        let body = self.bytes.drain(..length).collect();
        if self.bytes.is_empty() {
            self.bytes.shrink_to(64 << 10);
        }
        Ok(Some(body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::wire;

    fn request() -> ToKeeper {
        ToKeeper {
            id: 7,
            request: Request::Open(Open {
                session: 3,
                argv: vec![ByteBuf::from("cat"), ByteBuf::from(*b"\xff")],
                env: vec![(ByteBuf::from("A"), ByteBuf::from(*b"\xfe"))],
                dir: ByteBuf::from("/"),
                size: Size { cols: 80, rows: 24 },
                umask: None,
            }),
        }
    }

    #[test]
    fn frames_come_out_whole_whatever_the_pieces() {
        let mut stream = wire::encode(&request()).unwrap();
        stream.extend(
            wire::encode(&ToKeeper {
                id: 8,
                request: Request::List,
            })
            .unwrap(),
        );
        for piece in [1, 2, 3, 5, 64, stream.len()] {
            let mut frames = Frames::new(LARGEST_REQUEST);
            let mut seen = Vec::new();
            for bytes in stream.chunks(piece) {
                frames.push(bytes);
                while let Some(body) = frames.next().unwrap() {
                    seen.push(wire::decode::<ToKeeper>(&body).unwrap());
                }
            }
            assert_eq!(seen.len(), 2, "in pieces of {piece}");
            assert_eq!(seen[0], request(), "in pieces of {piece}");
            assert_eq!(seen[1].request, Request::List, "in pieces of {piece}");
        }
    }

    #[test]
    fn a_frame_larger_than_any_honest_one_is_refused_before_it_is_kept() {
        let mut frames = Frames::new(16);
        frames.push(&17u32.to_le_bytes());
        assert!(frames.next().is_err());
        let mut frames = Frames::new(16);
        frames.push(&16u32.to_le_bytes());
        assert_eq!(frames.next().unwrap(), None);
    }

    #[test]
    fn a_message_from_the_future_still_shows_its_envelope() {
        #[derive(Serialize)]
        struct Future {
            id: u64,
            urgency: u8,
            request: Unheard,
        }
        #[derive(Serialize)]
        enum Unheard {
            Adopt { pid: u32 },
        }
        let frame = wire::encode(&Future {
            id: 9,
            urgency: 1,
            request: Unheard::Adopt { pid: 4 },
        })
        .unwrap();
        assert!(wire::decode::<ToKeeper>(&frame[4..]).is_err());
        let envelope = wire::decode::<Envelope>(&frame[4..]).unwrap();
        assert_eq!((envelope.id, envelope.descriptors), (9, 0));
    }

    #[test]
    fn unknown_fields_are_skipped_and_missing_ones_have_defaults() {
        #[derive(Serialize)]
        struct Opening {
            id: u64,
            request: Newer,
        }
        #[derive(Serialize)]
        enum Newer {
            Open {
                session: u64,
                argv: Vec<ByteBuf>,
                env: Vec<(ByteBuf, ByteBuf)>,
                dir: ByteBuf,
                size: Size,
                nice: i32,
            },
        }
        let frame = wire::encode(&Opening {
            id: 1,
            request: Newer::Open {
                session: 2,
                argv: vec![ByteBuf::from("true")],
                env: Vec::new(),
                dir: ByteBuf::from("/"),
                size: Size { cols: 1, rows: 1 },
                nice: 5,
            },
        })
        .unwrap();
        let Request::Open(open) = wire::decode::<ToKeeper>(&frame[4..]).unwrap().request else {
            panic!("not an opening");
        };
        assert_eq!((open.session, open.umask), (2, None));
    }
}
