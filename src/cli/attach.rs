//! `sessdeck` and `sessdeck attach`: the deck in this terminal.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;

use super::{demo, find, ls};
use crate::client::{self, Link, Voice};
use crate::config::dirs::Dirs;
use crate::config::load;
use crate::error::{Error, Exit, Result};
use crate::protocol::client::{FromServer, Notice, ToServer};
use crate::ui::{self, Keymap, Leave, Mailbox, Message, Start};

/// Show the deck, with that session in front.
#[derive(Debug, Args)]
pub(crate) struct Attach {
    /// Its name or id.
    session: Option<String>,
}

impl Attach {
    pub(crate) fn run(&self, dirs: &Dirs) -> Result<ExitCode> {
        let session = match &self.session {
            Some(name) => Some(find(&ls::sessions(dirs)?, name)?.id),
            None => None,
        };
        show(dirs, session)
    }
}

/// A new server after an orderly stop comes within this, or not at all.
const RESTART_PATIENCE: Duration = Duration::from_secs(3);

/// The deck for the repo one is in.
pub(crate) fn deck(dirs: &Dirs) -> Result<ExitCode> {
    show(dirs, None)
}

/// Shows the deck in this terminal until the person leaves.
pub(crate) fn show(dirs: &Dirs, session: Option<u64>) -> Result<ExitCode> {
    needs_terminal()?;
    let settings = load::settings(dirs)?;
    let keymap = Keymap::new(&settings.keys)?;
    let theme = load::theme(dirs, &settings)?;
    let link = client::find_or_start(dirs)?;
    link.agree()?;
    let mailbox = Mailbox::new();
    let (voice, messages) = link.split();
    let voice = Arc::new(Mutex::new(voice));
    let connection = Connection {
        dirs: dirs.clone(),
        voice: Arc::clone(&voice),
        to: mailbox.sender(),
    };
    thread::spawn(move || connection.read(messages));
    let start = Start {
        dir: std::env::current_dir()?,
        env: load::environment(),
        session,
    };
    match ui::run(Speech(voice), mailbox, keymap, theme, start)? {
        Leave::Detached => {
            let back = if demo::is_of(dirs) {
                "`sessdeck demo` brings you back, `sessdeck demo --end` ends it"
            } else {
                "`sessdeck` brings you back"
            };
            writeln!(io::stdout(), "everything goes on; {back}")?;
            Ok(ExitCode::SUCCESS)
        }
        Leave::Lost(why) => {
            Err(Error::new(Exit::NoServer, why).mend("`sessdeck` starts a server again"))
        }
        // As a shell says it of a program that a signal ended.
        Leave::Signal(signal) => Ok(ExitCode::from(
            u8::try_from(128 + signal).unwrap_or(u8::MAX),
        )),
    }
}

/// The deck is a screen; without one it says which commands do without.
pub(super) fn needs_terminal() -> Result<()> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Error::new(Exit::Usage, "the deck needs a terminal, and this is none")
            .mend("`sessdeck ls`, `sessdeck new --detach WORDS…` and `sessdeck screen NAME` work without one"));
    }
    Ok(())
}

/// The screen's way to whatever server there is now.
struct Speech(Arc<Mutex<Voice>>);

impl ui::Link for Speech {
    fn send(&mut self, message: ToServer) -> io::Result<()> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .send(&message)
    }
}

/// Reads the connection, and finds another when it is lost.
struct Connection {
    dirs: Dirs,
    voice: Arc<Mutex<Voice>>,
    to: Sender<Message>,
}

impl Connection {
    fn read(&self, messages: impl Iterator<Item = FromServer>) {
        let mut orderly = self.pass_on(messages);
        loop {
            if self.to.send(Message::Gone).is_err() {
                return;
            }
            let found = if orderly {
                self.wait_for_next()
            } else {
                client::find_or_start(&self.dirs)
            };
            match found.and_then(|link| link.agree().map(|()| link)) {
                Ok(link) => {
                    let (voice, messages) = link.split();
                    *self.voice.lock().unwrap_or_else(PoisonError::into_inner) = voice;
                    drop(self.to.send(Message::Back));
                    orderly = self.pass_on(messages);
                }
                Err(error) => {
                    drop(self.to.send(Message::End(Leave::Lost(error.line()))));
                    return;
                }
            }
        }
    }

    /// Hands on what the server says until it is gone; true if it said that it leaves.
    fn pass_on(&self, messages: impl Iterator<Item = FromServer>) -> bool {
        let mut orderly = false;
        for message in messages {
            orderly |= matches!(message, FromServer::Notice(Notice::Leaving));
            if self.to.send(Message::Server(message)).is_err() {
                break;
            }
        }
        orderly
    }

    /// Somebody stopped the server: its successor is waited for, none is started.
    fn wait_for_next(&self) -> Result<Link> {
        let until = now() + RESTART_PATIENCE;
        loop {
            match client::find(&self.dirs) {
                Ok(link) => return Ok(link),
                Err(_) if now() < until => thread::sleep(Duration::from_millis(20)),
                Err(_) => return Err(Error::new(Exit::NoServer, "the server was stopped")),
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a command is an edge: how long it waits is its own business"
)]
fn now() -> Instant {
    Instant::now()
}
