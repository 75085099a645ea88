//! Finding the server, or starting it and waiting until it says that it is ready.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::link::Link;
use crate::config::dirs::Dirs;
use crate::config::load;
use crate::error::{Error, Exit, Result};

/// Another client may have started a server that is about to listen: so many tries, so far apart.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// The server that runs; an error with exit code 4 if there is none.
pub(crate) fn find(dirs: &Dirs) -> Result<Link> {
    Link::connect(&dirs.control_socket()).map_err(|error| {
        Error::new(Exit::NoServer, format!("no server runs ({error})"))
            .at(&dirs.control_socket(), None)
            .mend("`sessdeck` starts one")
    })
}

/// The server that runs, or a new one.
pub(crate) fn find_or_start(dirs: &Dirs) -> Result<Link> {
    load::make(dirs)?;
    if let Ok(link) = Link::connect(&dirs.control_socket()) {
        return Ok(link);
    }
    let ourselves = std::env::current_exe()?;
    start(&ourselves)?;
    let mut last = None;
    for _ in 0..TRIES {
        match Link::connect(&dirs.control_socket()) {
            Ok(link) => return Ok(link),
            Err(error) => last = Some(error),
        }
        // The winner of a race between two new servers binds its socket within moments.
        thread::sleep(PAUSE);
    }
    let why = last.map(|error| error.to_string()).unwrap_or_default();
    Err(Error::new(
        Exit::NoServer,
        format!("the server does not answer ({why})"),
    )
    .at(&dirs.control_socket(), None))
}

/// Starts a server that outlives this terminal; returns when it says that it listens or why it cannot.
fn start(program: &Path) -> Result<()> {
    let mut child = Command::new(program)
        .args(["server", "run"])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| {
            Error::new(Exit::NoServer, format!("cannot start the server: {error}"))
                .at(program, None)
        })?;
    let mut said = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut said)?;
    }
    match said.trim_end() {
        "ready" => Ok(()),
        "" => Err(
            Error::new(Exit::NoServer, "the server ended before it was ready")
                .mend("`sessdeck server run` shows why"),
        ),
        why => Err(Error::new(Exit::NoServer, why.to_owned())),
    }
}
