//! The screen: state, update, view. [`run`] is its loop.

mod actions;
mod canvas;
mod input;
mod key;
mod keymap;
mod layout;
mod look;
mod message;
mod mirror;
mod outer;
mod overlay;
mod paint;
mod state;
mod status;
mod tabs;
mod text;
mod update;
mod view;

#[cfg(test)]
mod pictures;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod stories;

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Instant;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

pub(crate) use self::actions::Action;
pub(crate) use self::keymap::Keymap;
pub(crate) use self::message::{Leave, Message};
pub(crate) use self::state::Start;

use self::canvas::Canvas;
use self::layout::Areas;
use self::message::{Command, Damage};
use self::outer::{Outer, clipboard};
use self::state::Screen;
use crate::config::themes::Theme;
use crate::error::Result;
use crate::protocol::client::{Request, ToServer};
use crate::terminal::Size;

/// The way to the server. An error is taken as the end of the connection.
pub(crate) trait Link {
    fn send(&mut self, message: ToServer) -> io::Result<()>;
}

/// Where everything that happens to the screen arrives.
#[derive(Debug)]
pub(crate) struct Mailbox {
    sender: Sender<Message>,
    receiver: Receiver<Message>,
}

impl Mailbox {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = mpsc::channel();
        Self { sender, receiver }
    }

    /// For the thread that reads the connection: `Server`, `Gone`, `Back` and `End` come from there.
    pub(crate) fn sender(&self) -> Sender<Message> {
        self.sender.clone()
    }
}

/// The size that a program will have in the deck on standard output; none where that is no terminal or too small.
pub(crate) fn program_size() -> Option<Size> {
    let areas = Areas::new(outer::size_of(io::stdout())?, false)?;
    Some(areas.program())
}

/// Messages that are taken before the screen is painted, so that a flood of them cannot keep it from that.
const BATCH: usize = 256;

/// Draws the deck and takes the keys until the person leaves or something ends it.
///
/// The connection is open and nothing was asked on it; `Attach` and all else is sent from here.
pub(crate) fn run(
    link: impl Link,
    mailbox: Mailbox,
    keymap: Keymap,
    theme: Theme,
    start: Start,
) -> Result<Leave> {
    let Mailbox { sender, receiver } = mailbox;
    let tmux = start.env.contains_key("TMUX");
    let outer = Outer::take(sender.clone())?;
    let _signals = Watch::new(sender.clone())?;
    input::listen(sender)?;
    let size = outer.size();
    let mut window = Window {
        screen: Screen::new(keymap, theme, start, size),
        canvas: Canvas::new(size),
        outer,
        link,
        tmux,
        damage: None,
        shown: None,
    };
    Ok(window.run(&receiver))
}

/// The screen with what it acts on.
struct Window<L> {
    screen: Screen,
    canvas: Canvas,
    outer: Outer,
    link: L,
    tmux: bool,
    /// Not yet painted.
    damage: Option<Damage>,
    /// The last frame of the server's, to be told of once it is painted.
    shown: Option<u64>,
}

impl<L: Link> Window<L> {
    fn run(&mut self, messages: &Receiver<Message>) -> Leave {
        let greeting = self.screen.greet();
        let mut left = self.perform(greeting);
        loop {
            if let Some(leave) = left {
                return leave;
            }
            if self.paint().is_err() {
                return Leave::Signal(SIGHUP);
            }
            left = self.wait(messages);
        }
    }

    /// Blocks until something happens or is due, and takes what came meanwhile with it.
    fn wait(&mut self, messages: &Receiver<Message>) -> Option<Leave> {
        let first = match self.screen.due() {
            None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => messages.recv_timeout(due.saturating_duration_since(now())),
        };
        let first = match first {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => Message::Tick,
            Err(RecvTimeoutError::Disconnected) => return Some(Leave::Signal(SIGTERM)),
        };
        let rest = messages.try_iter().take(BATCH);
        for message in std::iter::once(first).chain(rest) {
            let commands = self.screen.update(message, now());
            if let Some(leave) = self.perform(commands) {
                return Some(leave);
            }
        }
        None
    }

    fn perform(&mut self, commands: Vec<Command>) -> Option<Leave> {
        let mut lost = false;
        for command in commands {
            match command {
                Command::Send(message) => lost |= self.link.send(*message).is_err(),
                Command::Paint(more) => {
                    let damage = self.damage.take();
                    self.damage = damage.into_iter().chain([more]).reduce(Damage::and);
                }
                Command::Shown { frame } => self.shown = Some(frame),
                Command::Copy(base64) => {
                    if let Some(sequence) = clipboard(&base64, self.tmux) {
                        // If the terminal is gone, the next frame says so.
                        drop(self.outer.write(sequence.as_bytes()));
                    }
                }
                Command::Bell => drop(self.outer.write(b"\x07")),
                Command::Quit(leave) => return Some(leave),
            }
        }
        // Nothing is sent while the connection is known to be lost, so this ends.
        lost.then(|| self.screen.update(Message::Gone, now()))
            .and_then(|commands| self.perform(commands))
    }

    fn paint(&mut self) -> io::Result<()> {
        if let Some(damage) = self.damage.take() {
            let bytes = self.canvas.paint(&self.screen, &damage);
            if !bytes.is_empty() {
                self.outer.write(bytes)?;
            }
            self.screen.painted();
        }
        if let Some(frame) = self.shown.take() {
            let shown = ToServer {
                id: 0,
                request: Request::Shown { frame },
            };
            let lost = self.link.send(shown).is_err();
            if lost {
                let commands = self.screen.update(Message::Gone, now());
                self.perform(commands);
            }
        }
        Ok(())
    }
}

/// The screen's only clock.
#[expect(
    clippy::disallowed_methods,
    reason = "the loop reads the time for all that it calls"
)]
fn now() -> Instant {
    Instant::now()
}

/// Ends the screen in order when somebody asks the process to end. Ends with it.
struct Watch(signal_hook::iterator::Handle);

impl Watch {
    fn new(to: Sender<Message>) -> io::Result<Self> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
        let handle = signals.handle();
        thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                for signal in signals.forever() {
                    drop(to.send(Message::End(Leave::Signal(signal))));
                }
            })?;
        Ok(Self(handle))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.close();
    }
}
