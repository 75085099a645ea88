//! An error as the user reads it: what, where, how to mend; and the exit codes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The exit codes that scripts build on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Our fault, or the system's: 1.
    Fault,
    /// The command line was wrong: 2.
    Usage,
    /// A settings or profile file was wrong: 3.
    Settings,
    /// No server runs and none could be started: 4.
    NoServer,
    /// No session has that name or id: 5.
    NoSession,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Fault => 1,
            Exit::Usage => 2,
            Exit::Settings => 3,
            Exit::NoServer => 4,
            Exit::NoSession => 5,
        }
    }

    /// The exit a code stands for; an unknown one is a fault.
    pub(crate) fn from_code(code: u8) -> Self {
        [Exit::Usage, Exit::Settings, Exit::NoServer, Exit::NoSession]
            .into_iter()
            .find(|exit| exit.code() == code)
            .unwrap_or(Exit::Fault)
    }
}

/// Where in a file something is wrong. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: PathBuf,
    pub(crate) position: Option<(usize, usize)>,
}

/// What a person is told when something cannot be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Error {
    exit: Exit,
    what: String,
    place: Option<Place>,
    mend: Option<String>,
    /// Whoever read our output has gone.
    closed: bool,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with the code a script sees and one sentence: lowercase, no full stop.
    pub(crate) fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self {
            exit,
            what: what.into(),
            place: None,
            mend: None,
            closed: false,
        }
    }

    /// Adds the file, and the line and column if they are known.
    #[must_use]
    pub(crate) fn at(mut self, file: &Path, position: Option<(usize, usize)>) -> Self {
        self.place = Some(Place {
            file: file.to_owned(),
            position,
        });
        self
    }

    /// Adds what the person can do about it.
    #[must_use]
    pub(crate) fn mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = Some(mend.into());
        self
    }

    /// An error that another process has put into words already.
    pub(crate) fn from_text(exit: Exit, text: &str) -> Self {
        Self::new(exit, text.strip_prefix("error: ").unwrap_or(text))
    }

    /// Whether this only says that nobody reads our output any more, which is no error to tell.
    pub(crate) fn is_closed_output(&self) -> bool {
        self.closed
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// The error on one line, for the screen.
    pub(crate) fn line(&self) -> String {
        let place = self
            .place
            .as_ref()
            .map(|place| format!(" ({place})"))
            .unwrap_or_default();
        let mend = self
            .mend
            .as_ref()
            .map(|mend| format!("; {mend}"))
            .unwrap_or_default();
        format!("{}{place}{mend}", self.what)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match self.position {
            Some((line, column)) => write!(f, ":{line}:{column}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        if let Some(place) = &self.place {
            write!(f, "\n   at: {place}")?;
        }
        if let Some(mend) = &self.mend {
            write!(f, "\n  try: {mend}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// An input or output error of our own files and sockets; the caller adds where with [`Error::at`].
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        let closed = error.kind() == std::io::ErrorKind::BrokenPipe;
        Self {
            closed,
            ..Error::new(Exit::Fault, error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_where_and_how_to_mend() {
        let bare = Error::new(Exit::Fault, "disk full");
        let placed = Error::new(Exit::Settings, "unknown field `them`")
            .at(Path::new("a.toml"), Some((2, 1)));
        for (error, text, line) in [
            (bare.clone(), "error: disk full", "disk full"),
            (
                placed.clone(),
                "error: unknown field `them`\n   at: a.toml:2:1",
                "unknown field `them` (a.toml:2:1)",
            ),
            (
                placed.mend("use `theme`"),
                "error: unknown field `them`\n   at: a.toml:2:1\n  try: use `theme`",
                "unknown field `them` (a.toml:2:1); use `theme`",
            ),
            (
                bare.mend("free some"),
                "error: disk full\n  try: free some",
                "disk full; free some",
            ),
        ] {
            assert_eq!(
                (error.to_string().as_str(), error.line().as_str()),
                (text, line)
            );
        }
    }
}
