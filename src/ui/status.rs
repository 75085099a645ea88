//! The one line that tells the person what just happened.

use std::time::{Duration, Instant};

use crate::protocol::client::Level;

/// Long enough to be read, short enough not to be in the way of the keys it covers.
const SHOWN: Duration = Duration::from_secs(8);

#[derive(Debug, Default)]
pub(super) struct Status {
    pub(super) said: Option<Said>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) level: Level,
    pub(super) text: String,
    /// None stays until something else is said.
    until: Option<Instant>,
}

impl Status {
    pub(super) fn say(&mut self, level: Level, text: impl Into<String>, now: Instant) {
        self.said = Some(Said {
            level,
            text: text.into(),
            until: now.checked_add(SHOWN),
        });
    }

    /// Says what holds until something else is said.
    pub(super) fn hold(&mut self, level: Level, text: impl Into<String>) {
        self.said = Some(Said {
            level,
            text: text.into(),
            until: None,
        });
    }

    /// Something else begins: what was only to be read is read.
    pub(super) fn read(&mut self) {
        self.said.take_if(|said| said.until.is_some());
    }

    /// When the line has been there long enough.
    pub(super) fn due(&self) -> Option<Instant> {
        self.said.as_ref()?.until
    }

    /// Takes the line away if it is due, and says whether it did.
    pub(super) fn tick(&mut self, now: Instant) -> bool {
        let due = self.due().is_some_and(|until| until <= now);
        if due {
            self.said = None;
        }
        due
    }
}
