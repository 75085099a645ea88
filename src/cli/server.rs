//! `sessdeck server`, and the hidden `sessdeck keeper`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::client;
use crate::config::dirs::Dirs;
use crate::error::{Error, Exit, Result};
use crate::keeper::{self, Ending};
use crate::protocol::client::{Request, Response};

/// Start, stop, restart or look at the server.
#[derive(Debug, Args)]
pub(crate) struct Server {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Start it if none runs.
    Start,
    /// End it. Agents go on in the keeper and are there again at the next start.
    Stop {
        /// End all agents and the keeper too.
        #[arg(long)]
        agents: bool,
    },
    /// Put a new server in the place of the one that runs, while agents run on.
    Restart,
    /// Say who it is.
    Status {
        #[arg(long)]
        json: bool,
    },
    /// Be the server, in the foreground.
    #[command(hide = true)]
    Run,
}

impl Server {
    pub(crate) fn run(&self, dirs: &Dirs, out: &mut impl Write) -> Result<()> {
        match &self.what {
            What::Start => client::find_or_start(dirs).map(drop),
            What::Stop { agents } => stop(dirs, *agents),
            What::Restart => {
                stop(dirs, false)?;
                client::find_or_start(dirs).map(drop)
            }
            What::Status { json } => status(dirs, *json, out),
            What::Run => crate::server::run(dirs, || {
                drop(writeln!(out, "ready").and_then(|()| out.flush()));
            }),
        }
    }
}

/// Ends the server and waits until it is gone.
pub(super) fn stop(dirs: &Dirs, agents: bool) -> Result<()> {
    // Agents may live on in the keeper while no server runs.
    let found = if agents {
        client::find_or_start(dirs)
    } else {
        client::find(dirs)
    };
    let Ok(mut link) = found else { return Ok(()) };
    match link.ask(Request::Stop { agents }) {
        Ok(_) => link.wait_for_end(),
        // It was gone before its answer was written.
        Err(error) if error.exit() == Exit::NoServer => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

fn status(dirs: &Dirs, as_json: bool, out: &mut impl Write) -> Result<()> {
    let Response::Status(status) = client::find(dirs)?.ask(Request::Status)? else {
        return Err(super::unexpected());
    };
    if as_json {
        let object = json!({
            "pid": status.pid,
            "keeper_pid": status.keeper_pid,
            "version": status.version,
            "protocol": status.protocol,
            "sessions": status.sessions,
            "socket": status.socket,
        });
        writeln!(out, "{object:#}")?;
    } else {
        let keeper = status
            .keeper_pid
            .map_or("gone".to_owned(), |pid| pid.to_string());
        writeln!(
            out,
            "server {} (version {}), keeper {keeper}",
            status.pid, status.version
        )?;
        writeln!(
            out,
            "{} sessions, socket {}",
            status.sessions,
            status.socket.display()
        )?;
    }
    Ok(())
}

/// Runs the keeper in this process until nothing is left to hold.
pub(crate) fn keeper(socket: &Path) -> Result<ExitCode> {
    match keeper::run(socket) {
        Ok(Ending::Stopped | Ending::Taken) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error),
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Error::new(Exit::Fault, error.to_string())
    }
}
