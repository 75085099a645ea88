//! Commands on one session: `screen`, `rename`, `kill`.

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
        match ask(dirs, &self.session, |session| Request::Screen { session })? {
            Response::Screen { lines, .. } => {
                for line in lines {
                    writeln!(out, "{line}")?;
                }
                Ok(())
            }
            other => Err(super::unexpected(&other)),
        }
    }
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
