//! One connection to the server: ask and wait, or split into a voice and a stream of what comes.

use std::io::{self, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::error::{Error, Exit, Result};
use crate::protocol::PROTOCOL;
use crate::protocol::client::{Failure, FromServer, Hello, Request, Response, ToServer};
use crate::protocol::wire::{self, Broken};

/// A connection after both sides have said who they are.
#[derive(Debug)]
pub(crate) struct Link {
    voice: Voice,
    incoming: BufReader<UnixStream>,
    server: Hello,
}

/// The half that asks.
#[derive(Debug)]
pub(crate) struct Voice {
    socket: UnixStream,
    last: u64,
}

impl Link {
    /// Connects to the server behind this socket; `Err` with the system's reason if there is none.
    pub(crate) fn connect(socket: &Path) -> io::Result<Self> {
        let mut stream = UnixStream::connect(socket)?;
        let hello = Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
        };
        wire::send(&mut stream, &hello)?;
        let mut incoming = BufReader::new(stream.try_clone()?);
        let server = match wire::receive(&mut incoming) {
            Ok(server) => server,
            Err(Broken::Io(error)) => return Err(error),
            Err(Broken::Unknown(what)) => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
        };
        Ok(Self {
            voice: Voice {
                socket: stream,
                last: 0,
            },
            incoming,
            server,
        })
    }

    /// Whether the screen can be shown: with another protocol a client can only list, read and stop.
    pub(crate) fn agree(&self) -> Result<()> {
        if self.server.protocol == PROTOCOL {
            return Ok(());
        }
        let what = format!(
            "the server that runs is version {}, this is {}",
            self.server.version,
            env!("CARGO_PKG_VERSION")
        );
        Err(Error::new(Exit::NoServer, what)
            .mend("`sessdeck server restart` puts this version in its place; agents run on"))
    }

    /// Waits until the server has hung up.
    pub(crate) fn wait_for_end(mut self) {
        while receive(&mut self.incoming).is_ok() {}
    }

    /// Sends a request and waits for its response; a failure becomes an error with the exit code the server chose.
    pub(crate) fn ask(&mut self, request: Request) -> Result<Response> {
        let id = self.voice.ask(request)?;
        loop {
            match receive(&mut self.incoming)? {
                Some(FromServer::Response { id: of, response }) if of == id => {
                    return settled(response);
                }
                Some(FromServer::Response { .. } | FromServer::Notice(_)) | None => {}
            }
        }
    }

    /// The half that asks, and what comes, one message after the other until the server is gone.
    pub(crate) fn split(self) -> (Voice, impl Iterator<Item = FromServer> + Send) {
        let mut incoming = self.incoming;
        let messages = std::iter::from_fn(move || {
            loop {
                match receive(&mut incoming) {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => {}
                    Err(_) => return None,
                }
            }
        });
        (self.voice, messages)
    }
}

impl Voice {
    /// Sends a message whose number was chosen by the caller.
    pub(crate) fn send(&mut self, message: &ToServer) -> io::Result<()> {
        wire::send(&mut self.socket, message)
    }

    /// Sends a request; the response will carry the number that is returned.
    fn ask(&mut self, request: Request) -> io::Result<u64> {
        self.last += 1;
        wire::send(
            &mut self.socket,
            &ToServer {
                id: self.last,
                request,
            },
        )?;
        Ok(self.last)
    }
}

/// One message, or none where a newer server says something we do not know.
fn receive(incoming: &mut impl Read) -> Result<Option<FromServer>> {
    match wire::receive(incoming) {
        Ok(message) => Ok(Some(message)),
        Err(Broken::Unknown(_)) => Ok(None),
        Err(Broken::Io(error)) => Err(Error::new(
            Exit::NoServer,
            format!("the server is gone: {error}"),
        )
        .mend("`sessdeck` starts it again; agents have kept running")),
    }
}

fn settled(response: Response) -> Result<Response> {
    match response {
        Response::Failed(Failure { exit, text }) => {
            Err(Error::from_text(Exit::from_code(exit), &text))
        }
        done @ (Response::Done
        | Response::Status(_)
        | Response::Sessions(_)
        | Response::Session(_)
        | Response::Plan(_)
        | Response::Parked { .. }
        | Response::Screen { .. }) => Ok(done),
    }
}
