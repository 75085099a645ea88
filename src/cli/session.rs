//! Commands on one session: `screen`, `logs`, `send`, `rename`, `kill`.

use std::io::Write;

use clap::Args;

use super::{find, ls};
use crate::client;
use crate::config::dirs::Dirs;
use crate::error::Result;
use crate::protocol::client::{Request, Response};

/// Print what a session's screen shows.
#[derive(Debug, Args)]
pub(crate) struct Screen {
    /// Its name or id.
    session: String,
}

/// Print what a session's screen shows and what scrolled off its top.
#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// Its name or id.
    session: String,
}

/// Type a prompt into a session and send it.
#[derive(Debug, Args)]
pub(crate) struct Send {
    /// Its name or id.
    session: String,
    /// The prompt.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    text: Vec<String>,
}

/// Give a session another title.
#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// Its name or id.
    session: String,
    /// The new title.
    #[arg(required = true)]
    title: Vec<String>,
}

/// End a session's program, or take an ended session off the list.
#[derive(Debug, Args)]
pub(crate) struct Kill {
    /// Its name or id.
    session: String,
}

impl Screen {
    pub(crate) fn run(&self, dirs: &Dirs, out: &mut impl Write) -> Result<()> {
        rows(dirs, &self.session, false, out)
    }
}

impl Logs {
    pub(crate) fn run(&self, dirs: &Dirs, out: &mut impl Write) -> Result<()> {
        rows(dirs, &self.session, true, out)
    }
}

impl Send {
    pub(crate) fn run(&self, dirs: &Dirs) -> Result<()> {
        let text = self.text.join(" ");
        ask(dirs, &self.session, |session| Request::Prompt {
            session,
            text,
        })
        .map(drop)
    }
}

fn rows(dirs: &Dirs, session: &str, history: bool, out: &mut impl Write) -> Result<()> {
    let asked = ask(dirs, session, |session| Request::Screen {
        session,
        history,
    })?;
    let Response::Screen { lines, .. } = asked else {
        return Err(super::unexpected());
    };
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

impl Rename {
    pub(crate) fn run(&self, dirs: &Dirs) -> Result<()> {
        let title = self.title.join(" ");
        ask(dirs, &self.session, |session| Request::Rename {
            session,
            title,
        })
        .map(drop)
    }
}

impl Kill {
    pub(crate) fn run(&self, dirs: &Dirs) -> Result<()> {
        ask(dirs, &self.session, |session| Request::End { session }).map(drop)
    }
}

fn ask(dirs: &Dirs, session: &str, request: impl FnOnce(u64) -> Request) -> Result<Response> {
    let id = find(&ls::sessions(dirs)?, session)?.id;
    client::find(dirs)?.ask(request(id))
}
