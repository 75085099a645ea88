//! The command line: one file a command.

mod attach;
mod blocked;
mod demo;
mod doctor;
mod guard;
mod hooks;
mod inbox;
mod keys;
mod ls;
mod new;
mod park;
mod profile;
mod server;
mod session;
mod stats;
mod trust;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::load;
use crate::error::{Error, Exit, Result};
use crate::hook;
use crate::protocol::client::Session;

/// A terminal workspace for coding-agent sessions that keeps each on its topic.
///
/// Without a command it starts the deck for this repo, or attaches to it.
#[derive(Debug, Parser)]
#[command(
    name = "sessdeck",
    version,
    disable_help_subcommand = true,
    arg_required_else_help = false
)]
struct Line {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(new::New),
    Run(new::Run),
    Ls(ls::Ls),
    Attach(attach::Attach),
    Screen(session::Screen),
    Logs(session::Logs),
    Send(session::Send),
    Rename(session::Rename),
    Kill(session::Kill),
    Park(park::Park),
    Inbox(inbox::Inbox),
    Blocked(blocked::Blocked),
    Guard(guard::Guard),
    Stats(stats::Stats),
    Profile(profile::Profile),
    Trust(trust::Trust),
    Server(server::Server),
    /// List the keys of the screen and the names of what they do.
    Keys,
    Demo(demo::Begin),
    /// What an agent calls with an event on stdin; it always exits 0.
    Hook {
        /// The agent: `claude` or `codex`.
        agent: String,
        /// It stands in the client's own settings, and is silent in sessions that bring a hook of their own.
        #[arg(long)]
        installed: bool,
    },
    Hooks(hooks::Hooks),
    Doctor(doctor::Doctor),
    /// Holds the PTYs of all sessions; started by the server.
    #[command(hide = true)]
    Keeper {
        socket: std::path::PathBuf,
    },
    /// The stand-in agent of `sessdeck demo`.
    #[command(hide = true, disable_help_flag = true)]
    PracticeAgent {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<std::ffi::OsString>,
    },
}

/// Runs the command line; returns what the shell sees.
pub(crate) fn main() -> ExitCode {
    let mut out = io::stdout();
    // The hook is called on every prompt and may never fail, so it does not go through the rest.
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some("hook") {
        if let Some(agent) = args.next() {
            let installed = args.any(|word| word == hook::INSTALLED);
            hook::run(&agent, installed);
        }
        return ExitCode::SUCCESS;
    }
    match run(&mut out) {
        Ok(code) => code,
        Err(error) => report(&error),
    }
}

fn run(out: &mut impl Write) -> Result<ExitCode> {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| {
            word.into_string()
                .unwrap_or_else(|word| word.to_string_lossy().into_owned())
        })
        .collect();
    let command = match raw(&words).map_or_else(Line::try_parse, |command| {
        Ok(Line {
            command: Some(command),
        })
    }) {
        Ok(line) => line.command,
        Err(error) => {
            // Help and version are answers, not mistakes. A closed pipe behind them is no error either.
            drop(error.print());
            return Ok(if error.use_stderr() {
                Exit::Usage.into()
            } else {
                ExitCode::SUCCESS
            });
        }
    };
    let dirs = load::dirs()?;
    let done = |()| ExitCode::SUCCESS;
    match command {
        None => attach::deck(&dirs),
        Some(Command::New(new)) => new.run(&dirs, out),
        Some(Command::Run(run)) => run.run(&dirs, out),
        Some(Command::Attach(attach)) => attach.run(&dirs),
        Some(Command::Ls(ls)) => ls.run(&dirs, out).map(done),
        Some(Command::Screen(screen)) => screen.run(&dirs, out).map(done),
        Some(Command::Logs(logs)) => logs.run(&dirs, out).map(done),
        Some(Command::Send(send)) => send.run(&dirs).map(done),
        Some(Command::Rename(rename)) => rename.run(&dirs).map(done),
        Some(Command::Kill(kill)) => kill.run(&dirs).map(done),
        Some(Command::Park(park)) => park.run(&dirs, out).map(done),
        Some(Command::Inbox(inbox)) => inbox.run(&dirs, out),
        Some(Command::Blocked(blocked)) => blocked.run(&dirs, out),
        Some(Command::Stats(stats)) => stats.run(&dirs, out).map(done),
        Some(Command::Guard(guard)) => guard.run(&dirs, out).map(done),
        Some(Command::Profile(profile)) => profile.run(&dirs, out).map(done),
        Some(Command::Trust(trust)) => trust.run(&dirs, out).map(done),
        Some(Command::Server(server)) => server.run(&dirs, out).map(done),
        Some(Command::Keys) => keys::run(&dirs, out).map(done),
        Some(Command::Demo(demo)) => demo.run(&dirs),
        Some(Command::Hooks(hooks)) => hooks.run(&dirs, out).map(done),
        Some(Command::Doctor(doctor)) => doctor.run(&dirs, out),
        Some(Command::Hook { agent, installed }) => {
            hook::run(&agent, installed);
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Keeper { socket }) => server::keeper(&socket),
        Some(Command::PracticeAgent { args }) => crate::practice::run(args),
    }
}

/// `new` and `run` take their line as it is: clap would swallow a `--` that stands first, and with it the border
/// between flags and words.
fn raw(words: &[String]) -> Option<Command> {
    let (command, raw) = words.split_first()?;
    if let [help] = raw
        && ["-h", "--help"].contains(&help.as_str())
    {
        return None;
    }
    let raw = raw.to_vec();
    match command.as_str() {
        "new" => Some(Command::New(new::New { raw })),
        "run" => Some(Command::Run(new::Run { raw })),
        _ => None,
    }
}

#[expect(clippy::print_stderr, reason = "the one place where an error is told")]
fn report(error: &Error) -> ExitCode {
    // Somebody who has closed our output has seen enough.
    if error.is_closed_output() {
        return ExitCode::SUCCESS;
    }
    eprintln!("{error}");
    error.exit().into()
}

/// A server that answers something else than it was asked for is not ours to understand.
fn unexpected() -> Error {
    Error::new(
        Exit::Fault,
        "the server answered something else than it was asked for",
    )
    .mend("`sessdeck server restart`")
}

/// The sessions by name or id.
fn find(sessions: &[Session], wanted: &str) -> Result<Session> {
    let by_id = wanted.parse::<u64>().ok();
    sessions
        .iter()
        .find(|session| session.name == wanted || Some(session.id) == by_id)
        .cloned()
        .ok_or_else(|| {
            let names: Vec<&str> = sessions
                .iter()
                .map(|session| session.name.as_str())
                .collect();
            let near = crate::config::nearest::nearest(wanted, names);
            let mend = match near {
                Some(near) => format!("`{near}` is there; `sessdeck ls` shows them all"),
                None => "`sessdeck ls` shows them all".to_owned(),
            };
            Error::new(Exit::NoSession, format!("no session called `{wanted}`")).mend(mend)
        })
}

/// Today in the person's time zone, as it stands on an inbox line.
pub(crate) fn today() -> String {
    jiff::Zoned::now().date().to_string()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_border_between_flags_and_words_arrives_where_it_was_typed() {
        for (line, expected) in [
            (
                &["new", "--", "--model", "x"][..],
                Some(&["--", "--model", "x"][..]),
            ),
            (&["new", "--print", "a"][..], Some(&["--print", "a"][..])),
            (&["new"][..], Some(&[][..])),
            (&["new", "--help"][..], None),
            (&["ls"][..], None),
        ] {
            let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
            let found = raw(&words).map(|command| {
                let Command::New(new) = command else {
                    panic!("{line:?}")
                };
                new.raw
            });
            assert_eq!(
                found.as_deref(),
                expected
                    .map(|raw| raw
                        .iter()
                        .map(|word| (*word).to_owned())
                        .collect::<Vec<_>>())
                    .as_deref()
            );
        }
    }

    #[test]
    fn the_declaration_holds_together() {
        Line::command().debug_assert();
    }
}
