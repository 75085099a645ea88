//! `sessdeck new` and `sessdeck run`: words in, the right agent out.

use std::io::{IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use clap::Args;
use serde_json::json;

use super::{attach, ls};
use crate::client;
use crate::config::dirs::Dirs;
use crate::config::load;
use crate::deck::launch::{self, Switches, shell_quoted};
use crate::error::{Error, Exit, Result};
use crate::protocol::client::{Order, Plan, Request, Response, Session};
use crate::server;
use crate::ui;

const FLAGS: &str = "\
Flags, anywhere before a lone `--`:
  --profile P  --agent A  --model M  --effort E  --title T  --dir D  --inbox N  --from NOTE
  --exec       the words are a program with its arguments, run as it is
  --detach     do not attach to the deck
  --print      only print the command line
  --json       print what was started, or planned, as JSON
Any other flag goes to the agent, as --flag=value where it takes a value.";

/// Start a session from plain words: the profile they match decides agent, model and the rest.
#[derive(Debug, Args)]
#[command(after_help = FLAGS)]
pub(crate) struct New {
    /// What the session is for, with flags.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "WORDS"
    )]
    pub(super) raw: Vec<String>,
}

/// The same as `new`, in this terminal and without the deck.
#[derive(Debug, Args)]
#[command(after_help = FLAGS)]
pub(crate) struct Run {
    /// What the session is for, with flags.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "WORDS"
    )]
    pub(super) raw: Vec<String>,
}

impl New {
    pub(crate) fn run(self, dirs: &Dirs, out: &mut impl Write) -> Result<ExitCode> {
        let (switches, mut order) = order(self.raw)?;
        if switches.print {
            return print(&order, switches, dirs, out);
        }
        let attaches =
            !switches.detach && std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
        if attaches {
            order.size = ui::program_size();
        }
        let mut link = client::find_or_start(dirs)?;
        let Response::Plan(plan) = link.ask(Request::Plan(order.clone()))? else {
            return Err(super::unexpected());
        };
        if !switches.json {
            said(&plan, out)?;
        }
        let Response::Session(session) = link.ask(Request::Launch(order))? else {
            return Err(super::unexpected());
        };
        if !switches.json && session.profile.is_some() && !session.guarded {
            // Only a launch asks the client for its trust, so no plan could say it.
            writeln!(
                out,
                "warning: hooks do not run here, so the guard is not active in this session"
            )?;
        }
        if switches.json {
            writeln!(out, "{:#}", ls::object(&session))?;
        } else if !attaches {
            runs(&session, out)?;
        }
        if attaches {
            attach::show(dirs, Some(session.id))
        } else {
            Ok(ExitCode::SUCCESS)
        }
    }
}

impl Run {
    pub(crate) fn run(self, dirs: &Dirs, out: &mut impl Write) -> Result<ExitCode> {
        let (switches, order) = order(self.raw)?;
        if switches.print {
            return print(&order, switches, dirs, out);
        }
        let planned = server::launch::plan(&order, dirs)?;
        said(&planned.plan, out)?;
        out.flush()?;
        let plan = planned.plan;
        if let Some(obstacle) = plan.obstacle {
            return Err(Error::new(Exit::Fault, obstacle));
        }
        let (program, args) = plan
            .argv
            .split_first()
            .ok_or_else(|| Error::new(Exit::Usage, "nothing to run"))?;
        // Takes the place of this process, so it comes back only if it failed.
        let error = Command::new(program)
            .args(args)
            .envs(plan.env)
            .current_dir(plan.dir)
            .exec();
        Err(Error::new(
            Exit::Fault,
            format!("cannot run `{program}`: {error}"),
        ))
    }
}

/// What the command line orders, for the place where it was typed.
fn order(raw: Vec<String>) -> Result<(Switches, Order)> {
    let (switches, raw) = launch::switches(raw);
    let dir = std::env::current_dir()?;
    Ok((
        switches,
        Order {
            raw,
            dir,
            exec: switches.exec,
            env: load::environment(),
            ..Order::default()
        },
    ))
}

fn print(order: &Order, switches: Switches, dirs: &Dirs, out: &mut impl Write) -> Result<ExitCode> {
    let plan = server::launch::plan(order, dirs)?.plan;
    if switches.json {
        let runner_up = plan
            .runner_up
            .map(|(profile, matched)| json!({ "profile": profile, "matched": matched }));
        let object = json!({
            "argv": plan.argv,
            "env": plan.env,
            "dir": plan.dir,
            "profile": plan.profile,
            "matched": plan.matched,
            "runner_up": runner_up,
        });
        writeln!(out, "{object:#}")?;
    } else {
        writeln!(out, "{}", shell_quoted(&plan.argv))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Which profile was taken and why, and what the person should know before it starts.
fn said(plan: &Plan, out: &mut impl Write) -> Result<()> {
    if let Some(profile) = &plan.profile {
        let why = if plan.matched.is_empty() {
            String::new()
        } else {
            format!(" (matched: {})", plan.matched.join(", "))
        };
        let model = plan
            .model
            .as_deref()
            .map(|model| format!(", model {model}"))
            .unwrap_or_default();
        let effort = plan
            .effort
            .as_deref()
            .map(|effort| format!(", effort {effort}"))
            .unwrap_or_default();
        writeln!(
            out,
            "profile `{profile}`{why}: {}{model}{effort}",
            plan.agent
        )?;
    }
    if let Some((profile, matched)) = &plan.runner_up {
        writeln!(
            out,
            "next best: `{profile}` (matched: {})",
            matched.join(", ")
        )?;
    }
    for warning in &plan.warnings {
        writeln!(out, "warning: {warning}")?;
    }
    Ok(())
}

/// Launches an order from another command and says what was started.
pub(super) fn launch(dirs: &Dirs, order: Order, out: &mut impl Write) -> Result<()> {
    let Response::Session(session) = client::find_or_start(dirs)?.ask(Request::Launch(order))?
    else {
        return Err(super::unexpected());
    };
    runs(&session, out)
}

fn runs(session: &Session, out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "session {} `{}` runs; `sessdeck` shows it",
        session.id, session.name
    )?;
    Ok(())
}
