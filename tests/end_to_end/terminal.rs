//! A terminal with a program in it: a real PTY, drawn by an emulator that the product does not use.

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use alacritty_terminal::term::TermMode;
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use crate::emulator::Emulator;
use crate::keys::{self, Mouse};
use crate::patience::PATIENCE;
use crate::screen::Screen;

/// The window. Dropping it kills the program; [`Terminal::close`] closes the window alone.
pub(crate) struct Terminal {
    shared: Arc<Shared>,
    pid: Pid,
    /// None once the window is closed.
    pty: Option<Pty>,
}

struct Pty {
    master: File,
    /// The reader holds the PTY open too, until this is dropped.
    _reader: UnixStream,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    emulator: Emulator,
    /// Nothing holds the program's side any more.
    ended: bool,
    exit: Option<ExitStatus>,
}

impl Terminal {
    /// Starts a command, which takes the window of that size as its controlling terminal itself.
    pub(crate) fn start(mut command: Command, columns: u16, rows: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags).expect("a PTY");
        rustix::pty::grantpt(&master).expect("grantpt");
        rustix::pty::unlockpt(&master).expect("unlockpt");
        let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags).expect("the other side");
        set_size(&master, columns, rows);

        let stdio = || Stdio::from(slave.try_clone().expect("a copy of the descriptor"));
        command.stdin(stdio()).stdout(stdio()).stderr(stdio());
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{error}: {command:?}"));
        // The command holds copies of the other side.
        drop(command);
        drop(slave);
        let pid = Pid::from_child(&child);

        let shared = Arc::new(Shared::new(columns, rows));
        let master = File::from(master);
        let (ours, theirs) = UnixStream::pair().expect("a socket pair");
        let reader = (
            shared.clone(),
            master.try_clone().expect("a copy of the descriptor"),
        );
        thread::spawn(move || reader.0.read(reader.1, &theirs));
        let waiter = shared.clone();
        thread::spawn(move || {
            let exited = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            rustix::process::waitid(WaitId::Pid(pid), exited).expect("our child");
            // Reaped under the lock, so that nobody signals an id which is no longer the program's.
            let mut state = waiter.lock();
            state.exit = Some(child.wait().expect("our child"));
            drop(state);
            waiter.changed.notify_all();
        });
        let pty = Some(Pty {
            master,
            _reader: ours,
        });
        Self { shared, pid, pty }
    }

    /// Waits until the screen is as wanted and gives it. Panics with the last screen after 30 seconds, at once if
    /// the program is gone.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, wanted: impl Fn(&Screen) -> bool) -> Screen {
        self.wait(what, |state| {
            Some(state.emulator.screen()).filter(|screen| wanted(screen))
        })
    }

    /// Waits for a text within one row.
    #[track_caller]
    pub(crate) fn wait_for_text(&self, text: &str) -> Screen {
        self.wait_for(&format!("`{text}`"), |screen| screen.contains(text))
    }

    /// Waits until the program is gone and gives its exit code, or 128 and the signal as a shell does.
    #[track_caller]
    pub(crate) fn wait_exit(&self) -> i32 {
        let status = self.wait("the end of the program", |state| {
            state.exit.filter(|_| state.ended)
        });
        status
            .code()
            .or(status.signal().map(|signal| 128 + signal))
            .expect("a program that ended has a code or a signal")
    }

    #[track_caller]
    fn wait<T>(&self, what: &str, found: impl Fn(&mut State) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.shared.lock();
        loop {
            if let Some(found) = found(&mut state) {
                return found;
            }
            let gone = state.exit.filter(|_| state.ended);
            if gone.is_some() || Instant::now() > deadline {
                let screen = state.emulator.screen();
                let ending = match (state.exit, state.ended) {
                    (Some(status), true) => status.to_string(),
                    (Some(status), false) => format!("{status}, its terminal still held"),
                    (None, _) => "it runs".to_owned(),
                };
                drop(state);
                panic!("waited in vain for {what} ({ending})\n{screen}");
            }
            let tick = Duration::from_millis(100);
            state = self
                .shared
                .changed
                .wait_timeout(state, tick)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// The screen as it is now.
    pub(crate) fn screen(&self) -> Screen {
        self.shared.lock().emulator.screen()
    }

    /// Every byte the program wrote so far.
    pub(crate) fn output(&self) -> Vec<u8> {
        self.shared.lock().emulator.output.clone()
    }

    pub(crate) fn title(&self) -> String {
        self.shared.lock().emulator.title.clone()
    }

    /// What the program last put on the clipboard.
    pub(crate) fn clipboard(&self) -> Option<String> {
        self.shared.lock().emulator.clipboard.clone()
    }

    pub(crate) fn bells(&self) -> usize {
        self.shared.lock().emulator.bells
    }

    pub(crate) fn send(&self, bytes: impl AsRef<[u8]>) {
        self.master()
            .write_all(bytes.as_ref())
            .expect("the program's input");
    }

    /// Presses keys by name, parted by spaces: `ctrl-space p`.
    pub(crate) fn keys(&self, names: &str) {
        for name in names.split_whitespace() {
            self.send(keys::key(name, self.modes()));
        }
    }

    /// Presses a key until the text stands on the screen, as a person would: a client may take no key in the first
    /// moments of its question.
    #[track_caller]
    pub(crate) fn press_until(&self, name: &str, text: &str) {
        self.press_every(Duration::from_secs(2), true, name, text);
    }

    /// The same after a while, for a client that does not bear keys at once.
    #[track_caller]
    pub(crate) fn press_later_until(&self, name: &str, text: &str) {
        self.press_every(Duration::from_secs(4), false, name, text);
    }

    #[track_caller]
    fn press_every(&self, pause: Duration, at_once: bool, name: &str, text: &str) {
        let now = Instant::now();
        let next = Cell::new(if at_once { now } else { now + pause });
        let bytes = keys::key(name, self.modes());
        self.wait(&format!("`{text}` after {name}"), |state| {
            if state.emulator.screen().contains(text) {
                return Some(());
            }
            if Instant::now() >= next.get() {
                self.send(&bytes);
                next.set(Instant::now() + pause);
            }
            None
        });
    }

    pub(crate) fn paste(&self, text: &str) {
        self.send(keys::paste(text, self.modes()));
    }

    /// The mouse over the first cell of a text. Panics unless the program asked for the mouse.
    #[track_caller]
    pub(crate) fn mouse(&self, event: Mouse, text: &str) {
        let screen = self.screen();
        let (row, column) = screen
            .find(text)
            .unwrap_or_else(|| panic!("no `{text}` to point at\n{screen}"));
        let bytes = keys::mouse(event, row, column, screen.modes);
        self.send(bytes.unwrap_or_else(|| panic!("the program takes no mouse\n{screen}")));
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let mut state = self.shared.lock();
        state.emulator.resize(columns, rows);
        set_size(self.master(), columns, rows);
    }

    /// Closes the window: the kernel hangs up on the program, which may end or not.
    pub(crate) fn close(&mut self) {
        self.pty = None;
    }

    fn master(&self) -> &File {
        &self.pty.as_ref().expect("the window is open").master
    }

    fn modes(&self) -> TermMode {
        self.screen().modes
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.close();
        let state = self.shared.lock();
        if state.exit.is_none() {
            // Fails only if it has just ended.
            rustix::process::kill_process(self.pid, Signal::KILL).ok();
        }
    }
}

impl Shared {
    fn new(columns: u16, rows: u16) -> Self {
        let state = State {
            emulator: Emulator::new(columns, rows),
            ended: false,
            exit: None,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that panics while it looks has failed already; the window must still close.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Feeds the emulator until nothing holds the program's side or `stop` is closed.
    fn read(&self, mut master: File, stop: &UnixStream) {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let mut ready = [
                PollFd::new(stop, PollFlags::IN),
                PollFd::new(&master, PollFlags::IN),
            ];
            rustix::event::poll(&mut ready, None).expect("poll");
            if !ready[0].revents().is_empty() {
                break;
            }
            // The kernel says EIO when the program's side is closed.
            let Ok(length @ 1..) = master.read(&mut buffer) else {
                break;
            };
            let replies = self.lock().emulator.feed(&buffer[..length]);
            self.changed.notify_all();
            if master.write_all(&replies).is_err() {
                break;
            }
        }
        self.lock().ended = true;
        self.changed.notify_all();
    }
}

fn set_size(master: impl AsFd, columns: u16, rows: u16) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: columns * 8,
        ws_ypixel: rows * 16,
    };
    rustix::termios::tcsetwinsize(master, size).expect("a PTY has a size");
}
