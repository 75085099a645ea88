//! What a terminal engine must offer: bytes in; lines, replies and events out.

use super::cells::{Cursor, Line, Modes, Size};
use super::status::Status;

/// A screen with its history, driven by the output of one program.
///
/// Several painters look at one engine, each at its own pace, so changes carry revision numbers instead of being
/// handed out once: a painter remembers the revision it has drawn and asks what is newer.
pub(crate) trait Engine: Send {
    /// Takes output of the program. Never panics and never blocks; the caller keeps pieces to 64 KiB so that nobody
    /// waits long for the engine.
    fn feed(&mut self, bytes: &[u8]);

    /// Absurd sizes are brought into bounds; [`Engine::size`] says what came of it.
    fn resize(&mut self, size: Size);

    fn size(&self) -> Size;

    /// A visible row, 0 at the top.
    fn line(&self, row: u16) -> Line;

    /// Rows that scrolled off the top of the screen that shows. The alternate screen has none.
    fn history_len(&self) -> usize;

    /// A row of the history, 0 the oldest.
    fn history_line(&self, n: usize) -> Line;

    /// Rises whenever a row, the cursor, the modes or the size change.
    fn revision(&self) -> u64;

    /// The visible rows that changed after that revision, from the top; 0 gives all.
    fn changed_since(&self, revision: u64) -> Vec<u16>;

    fn cursor(&self) -> Cursor;

    fn modes(&self) -> Modes;

    /// The program is in the middle of a frame (mode 2026); what shows now is half drawn.
    fn synchronized(&self) -> bool;

    /// Asks for a [`Still`] of the screen when the frame under way is complete. A busy program begins the next frame
    /// at once, so a painter that looked only now and then would hardly ever find a complete one.
    fn hold(&mut self);

    /// The last complete frame that somebody asked for.
    fn still(&self) -> Option<&Still>;

    /// What the program asked of its terminal is answered here, whether or not anybody watches. These bytes belong
    /// on the program's input, in this order.
    fn take_replies(&mut self) -> Vec<u8>;

    /// What happened since the last call, oldest first.
    fn take_events(&mut self) -> Vec<Event>;

    /// The whole state as output: fed to a fresh engine of the same size it gives the same screens, history, cursor
    /// and modes. Takes `&mut` since the screen that does not show has to be brought forward for it.
    fn snapshot(&mut self) -> Vec<u8>;

    /// The visible rows as text, without blanks on the right.
    fn text(&self) -> Vec<String> {
        (0..self.size().rows)
            .map(|row| {
                let mut text = self.line(row).text();
                text.truncate(text.trim_end().len());
                text
            })
            .collect()
    }
}

/// A complete frame of a program that draws in synchronized updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Still {
    pub(crate) revision: u64,
    pub(crate) size: Size,
    /// Each visible row with the revision that changed it last.
    pub(crate) rows: Vec<(u64, Line)>,
    pub(crate) cursor: Cursor,
    pub(crate) modes: Modes,
}

/// What a program tells its terminal beside the screen. Text holds no control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Empty when the program takes its title back.
    Title(String),
    Bell,
    /// OSC 7: the directory the program works in.
    Cwd(String),
    Notification {
        title: String,
        body: String,
    },
    /// OSC 9;4. Percent only where the state has one.
    Progress {
        state: Progress,
        percent: Option<u8>,
    },
    /// OSC 52: base64 as it came. Reading the clipboard is never allowed.
    Clipboard(String),
    Status(Status),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Remove,
    Set,
    Error,
    Indeterminate,
    Paused,
}

/// The terminal's own colours, red green blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colors {
    pub(crate) fg: (u8, u8, u8),
    pub(crate) bg: (u8, u8, u8),
}

impl Default for Colors {
    /// Light on dark, which programs assume where no answer comes.
    fn default() -> Self {
        Colors {
            fg: (0xd0, 0xd0, 0xd0),
            bg: (0x10, 0x10, 0x10),
        }
    }
}

/// The text on one line: control characters gone, white space single, at most so many characters.
pub(super) fn plain(text: &str, longest: usize) -> String {
    let mut line = String::new();
    for (n, c) in text.chars().enumerate() {
        if n == longest {
            break;
        }
        let blank = matches!(c, ' ' | '\t' | '\n' | '\r');
        if blank && !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        } else if !blank && !c.is_control() {
            line.push(c);
        }
    }
    line.truncate(line.trim_end().len());
    line
}
