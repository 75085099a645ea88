//! The bytes of one program: a queue and a thread towards it, a read that ends with it, its size.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionbio, read, write};
use rustix::termios::{Winsize, tcsetwinsize};

use super::draft::Draft;
use crate::terminal::Size;

/// Bytes that may wait for a program that does not read: a large paste, but no more.
const MOST_WAITING: usize = 4 << 20;
/// Keys and answers are shorter; what is longer may be split where it must not be.
const AT_ONCE: usize = 256;

/// A program as the loop has it. Dropping it ends the threads that write to it and read from it, not the program.
pub(crate) struct Program {
    master: Arc<OwnedFd>,
    input: Input,
    stopped: Arc<AtomicBool>,
    /// Closed when this is dropped, which wakes the threads.
    _wake: PipeWriter,
}

/// Takes bytes for the program without ever waiting for it.
#[derive(Clone)]
pub(crate) struct Input {
    /// Weak, so that nobody keeps a closed program's terminal open by the means to write to it.
    master: Weak<OwnedFd>,
    queue: Sender<Vec<u8>>,
    waiting: Arc<Waiting>,
    draft: Arc<Mutex<Draft>>,
}

/// What the two ends of the queue know of each other.
#[derive(Default)]
struct Waiting {
    bytes: AtomicUsize,
    /// Nobody writes any more, however much waits.
    ended: AtomicBool,
}

/// Why bytes were not taken; none of them were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The program does not read, and too much waits for it already.
    Full,
    /// The program's terminal is closed.
    Ended,
}

/// What the program writes, for the one thread that reads it.
pub(crate) struct Output(Line);

/// The master with what tells its users to stop.
#[derive(Clone)]
struct Line {
    master: Arc<OwnedFd>,
    stopped: Arc<AtomicBool>,
    wake: Arc<PipeReader>,
}

impl Program {
    /// Takes over a PTY master and starts the thread that writes to it.
    pub(crate) fn new(master: OwnedFd) -> io::Result<(Self, Output)> {
        // The keeper's duplicate shares this; it never reads or writes.
        ioctl_fionbio(&master, true)?;
        let master = Arc::new(master);
        let stopped = Arc::new(AtomicBool::new(false));
        let (reader, wake) = io::pipe()?;
        let line = Line {
            master: Arc::clone(&master),
            stopped: Arc::clone(&stopped),
            wake: Arc::new(reader),
        };
        let (queue, queued) = mpsc::channel();
        let waiting = Arc::new(Waiting::default());
        let (writer, left) = (line.clone(), Arc::clone(&waiting));
        thread::Builder::new()
            .name("program input".to_owned())
            .spawn(move || {
                writer.write_all(&queued, &left.bytes);
                left.ended.store(true, Ordering::Release);
            })?;
        let input = Input {
            master: Arc::downgrade(&master),
            queue,
            waiting,
            draft: Arc::default(),
        };
        let program = Self {
            master,
            input,
            stopped,
            _wake: wake,
        };
        Ok((program, Output(line)))
    }

    /// A handle for other threads: terminal queries are answered where the output is parsed.
    pub(crate) fn input(&self) -> Input {
        self.input.clone()
    }

    /// Tells the program how large its screen is; it learns of it by SIGWINCH if that is news.
    pub(crate) fn resize(&self, size: Size) -> io::Result<()> {
        let size = Winsize {
            ws_row: size.rows.max(1),
            ws_col: size.cols.max(1),
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        Ok(tcsetwinsize(&self.master, size)?)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Release);
    }
}

impl Input {
    /// Hands bytes over. What fits at once goes to the program from this thread, since a key should not wait for
    /// another one to wake up; the rest is queued.
    pub(crate) fn write(&self, mut bytes: Vec<u8>) -> Result<(), Refused> {
        let count = bytes.len();
        if self.waiting.ended.load(Ordering::Acquire) {
            return Err(Refused::Ended);
        }
        let before = self.waiting.bytes.fetch_add(count, Ordering::AcqRel);
        if before == 0 && count <= AT_ONCE {
            let written = self.write_at_once(&bytes);
            self.waiting.bytes.fetch_sub(written, Ordering::AcqRel);
            if written == count {
                return Ok(());
            }
            bytes.drain(..written);
        }
        let count = bytes.len();
        let taken = if before + count > MOST_WAITING {
            Err(Refused::Full)
        } else {
            self.queue.send(bytes).map_err(|_| Refused::Ended)
        };
        if taken.is_err() {
            self.waiting.bytes.fetch_sub(count, Ordering::AcqRel);
        }
        taken
    }

    /// Hands over what a person typed.
    pub(crate) fn typed(&self, bytes: Vec<u8>) -> Result<(), Refused> {
        let mut draft = self.draft.lock().unwrap_or_else(PoisonError::into_inner);
        draft.add(&bytes);
        self.write(bytes)
    }

    /// Hands over keys that empty the box one types into, and behind them what the person has in it since the last
    /// Enter.
    pub(crate) fn clear(&self, mut keys: Vec<u8>) {
        // Held until all is handed over, so that a key pressed meanwhile comes after it.
        let draft = self.draft.lock().unwrap_or_else(PoisonError::into_inner);
        keys.extend_from_slice(draft.text());
        // A program that is gone has no box.
        self.write(keys).ok();
    }

    /// How many of the bytes the program's terminal took without waiting.
    fn write_at_once(&self, bytes: &[u8]) -> usize {
        // Whatever goes wrong here the writing thread will meet too, and handle.
        let master = self.master.upgrade();
        master
            .and_then(|master| write(&*master, bytes).ok())
            .unwrap_or(0)
    }
}

impl Output {
    /// Waits for bytes; 0 when the program's terminal is closed (the last of its processes ended) or the [`Program`] was
    /// dropped.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            // Also in a flood, where nothing ever waits.
            if self.0.stopped.load(Ordering::Acquire) {
                return Ok(0);
            }
            match read(&*self.0.master, &mut *into) {
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.0.wait(PollFlags::IN)?,
                // What Linux says once nobody has the other end open.
                Err(Errno::IO) => return Ok(0),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Line {
    /// Until the master is ready or the threads shall stop.
    fn wait(&self, wanted: PollFlags) -> io::Result<()> {
        let mut fds = [
            PollFd::from_borrowed_fd(self.master.as_fd(), wanted),
            PollFd::from_borrowed_fd(self.wake.as_fd(), PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes what is queued until the queue's senders or the terminal are gone.
    fn write_all(&self, queued: &Receiver<Vec<u8>>, waiting: &AtomicUsize) {
        for bytes in queued {
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                if self.stopped.load(Ordering::Acquire) {
                    return;
                }
                match write(&*self.master, rest) {
                    Ok(count) => {
                        rest = &rest[count..];
                        waiting.fetch_sub(count, Ordering::AcqRel);
                    }
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) if self.wait(PollFlags::OUT).is_ok() => {}
                    Err(_) => return,
                }
            }
        }
    }
}
