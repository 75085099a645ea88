//! What reaches the screen, and what it wants done.

use crate::protocol::client::{FromServer, ToServer};
use crate::terminal::{KeyEvent, MouseEvent, Size};

/// Everything that can happen to the screen, in the order of one channel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    Key(KeyEvent),
    Paste(String),
    /// Column and row of the terminal.
    Mouse(MouseEvent),
    Resize(Size),
    /// The terminal's window got the focus, or lost it.
    Focus(bool),
    Server(FromServer),
    /// The connection is lost, and looked for again.
    Gone,
    /// There is a connection again, with nothing asked on it yet.
    Back,
    /// The screen must close.
    End(Leave),
    /// What was waited for in time is due.
    Tick,
}

/// Why the screen closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// The person left; everything goes on.
    Detached,
    /// The server ended and none follows; why, for the person.
    Lost(String),
    /// The terminal is gone, or somebody told us to end.
    Signal(i32),
}

/// What the loop does for the screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    Send(Box<ToServer>),
    Paint(Damage),
    /// To be told to the server once all that was to be painted is on the terminal.
    Shown {
        frame: u64,
    },
    /// Text in base64 to the terminal's clipboard.
    Copy(String),
    Bell,
    Quit(Leave),
}

/// What of the screen is no longer as it was painted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// Rows of the program, counted from the top of its place; nothing covers them.
    Rows(Vec<u16>),
    Everything,
}

impl Damage {
    pub(super) fn and(self, more: Damage) -> Damage {
        match (self, more) {
            (Damage::Rows(mut rows), Damage::Rows(more)) => {
                rows.extend(more);
                rows.sort_unstable();
                rows.dedup();
                Damage::Rows(rows)
            }
            (Damage::Everything, _) | (_, Damage::Everything) => Damage::Everything,
        }
    }
}
