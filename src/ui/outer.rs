//! The terminal that the deck runs in: its modes on, and off again whatever happens.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use rustix::event::{PollFd, PollFlags, poll};

use super::input;
use super::message::{Leave, Message};
use crate::error::{Error, Exit, Result};
use crate::terminal::Size;

/// The alternate screen first: the keyboard's modes belong to the screen that is shown.
const ON: &[u8] = b"\x1b[?1049h\x1b[>5u\x1b[?2004h\x1b[?1004h\x1b[?1000h\x1b[?1002h\x1b[?1006h";
/// Undoes [`ON`] and all that a frame may have left on when it was cut short.
const OFF: &[u8] = b"\x1b\\\x1b[?2026l\x1b[m\x1b]8;;\x1b\\\x1b[<1u\
    \x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?1006l\x1b[?1004l\x1b[?2004l\
    \x1b[0 q\x1b[?25h\x1b[?1049l";

/// Puts the terminal back when it is dropped, and before a panic is told.
pub(super) struct Outer {
    /// Without a buffer: each frame is one write.
    file: File,
    restored: Arc<AtomicBool>,
}

impl Outer {
    /// Takes the terminal over. A panic anywhere gives it back and ends the screen.
    pub(super) fn take(end: Sender<Message>) -> Result<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(
                Error::new(Exit::Usage, "the deck needs a terminal to draw on")
                    .mend("`sessdeck ls`, `sessdeck new --detach` and others work without one"),
            );
        }
        let file = File::from(rustix::io::dup(io::stdout()).map_err(io::Error::from)?);
        let spare = file.try_clone()?;
        input::raw(true)?;
        let mut outer = Self {
            file,
            restored: Arc::default(),
        };
        let restored = Arc::clone(&outer.restored);
        let told = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore(&spare, &restored);
            told(info);
            drop(end.send(Message::End(Leave::Lost("a fault of our own".into()))));
        }));
        outer.write(ON)?;
        Ok(outer)
    }

    /// One write, unless the terminal takes it in pieces.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        write_all(&self.file, bytes)
    }

    pub(super) fn size(&self) -> Size {
        size_of(&self.file).unwrap_or(Size { cols: 80, rows: 24 })
    }
}

/// The size of a terminal, if it knows it.
pub(super) fn size_of(terminal: impl AsFd) -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some(Size {
        cols: size.ws_col,
        rows: size.ws_row,
    })
}

impl Drop for Outer {
    fn drop(&mut self) {
        restore(&self.file, &self.restored);
    }
}

fn restore(file: &File, restored: &AtomicBool) {
    if !restored.swap(true, Ordering::SeqCst) {
        // Nobody is left to be told if the terminal is gone.
        drop(write_all(file, OFF));
        drop(input::raw(false));
    }
}

fn write_all(mut file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Whoever shares the terminal with us may have made it non-blocking.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let fd = file.as_fd();
                poll(&mut [PollFd::new(&fd, PollFlags::OUT)], None).map_err(io::Error::from)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The sequence that puts base64 into the clipboard of the terminal, through tmux where it runs in between. None for
/// what is no base64, which could break out of the sequence.
pub(super) fn clipboard(base64: &str, tmux: bool) -> Option<String> {
    let safe = base64
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    safe.then(|| {
        if tmux {
            format!("\x1bPtmux;\x1b\x1b]52;c;{base64}\x07\x1b\\")
        } else {
            format!("\x1b]52;c;{base64}\x07")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_that_is_set_is_reset() {
        let on = String::from_utf8_lossy(ON);
        let off = String::from_utf8_lossy(OFF);
        let modes: Vec<&str> = on
            .split("\x1b[?")
            .filter_map(|part| part.split_once('h').map(|(mode, _)| mode))
            .collect();
        assert_eq!(modes.len(), 6, "{modes:?}");
        for mode in modes.into_iter().chain(["1003", "2026"]) {
            assert!(off.contains(&format!("\x1b[?{mode}l")), "{mode}");
        }
        assert!(on.contains("\x1b[>5u") && off.contains("\x1b[<1u"));
        assert!(off.ends_with("\x1b[?1049l"));
    }

    #[test]
    fn only_base64_reaches_the_clipboard() {
        for (text, tmux, expected) in [
            ("aGk=", false, Some("\x1b]52;c;aGk=\x07")),
            ("aGk=", true, Some("\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\")),
            ("?", false, None),
            ("a\x07b", false, None),
        ] {
            assert_eq!(clipboard(text, tmux).as_deref(), expected, "{text:?}");
        }
    }
}
