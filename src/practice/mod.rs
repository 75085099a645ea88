//! The practice agent: behaves on the outside like Claude Code, so that the deck can be tried without an account.
//! It takes that client's command line, runs its hooks and writes its transcript; what it says is scripted.

mod answer;
mod args;
mod client;
mod console;
mod event;
mod hooks;
mod input_box;
mod keys;
mod opening;
mod place;
mod row;
mod screen;
mod script;
mod settings;
mod tokens;
mod transcript;
mod turn;
mod typing;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use crate::error::{Error, Exit, Result};
use client::Client;
use place::Place;

/// Runs the stand-in in this terminal with the words after `practice-agent`.
pub(crate) fn run(words: Vec<OsString>) -> Result<ExitCode> {
    let args = args::parse(words)?;
    if args.version {
        writeln!(std::io::stdout(), "{} (practice agent)", row::VERSION)?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = Place::read()?;
    let mut client = Client::new(args, place)?;
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(
            Error::new(Exit::Fault, "the practice agent needs a terminal")
                .mend("run it in one, or let `sessdeck demo` do so"),
        );
    }
    let code = client.talk()?;
    client.farewell();
    Ok(code)
}
