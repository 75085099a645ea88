//! `sessdeck blocked`: prompts that were held back, newest first.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::new;
use crate::config::dirs::Dirs;
use crate::config::load;
use crate::error::{Error, Exit, Result};
use crate::files;
use crate::protocol::client::Order;

/// The prompts that the topic check held back.
#[derive(Debug, Args)]
pub(crate) struct Blocked {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List them, newest first.
    List,
    /// Open number N as a session of the profile it belongs to.
    Open { n: usize },
}

impl Blocked {
    pub(crate) fn run(self, dirs: &Dirs, out: &mut impl Write) -> Result<ExitCode> {
        let all = files::blocked::list(&dirs.state);
        match self.what {
            None | Some(What::List) => {
                for (n, (_, blocked)) in (1..).zip(&all) {
                    let first = blocked.prompt.lines().next().unwrap_or_default();
                    let line: String = crate::terminal::plain(first).chars().take(100).collect();
                    writeln!(
                        out,
                        "{n:>3}  {} → {}  {line}",
                        blocked.current, blocked.other
                    )?;
                }
            }
            Some(What::Open { n }) => {
                let (_, blocked) = n
                    .checked_sub(1)
                    .and_then(|at| all.into_iter().nth(at))
                    .ok_or_else(|| {
                        Error::new(Exit::Usage, format!("there is no blocked prompt {n}"))
                            .mend("`sessdeck blocked` lists them")
                    })?;
                let order = Order {
                    task: Some(blocked.prompt),
                    profile: Some(blocked.other),
                    dir: blocked.dir,
                    env: load::environment(),
                    ..Order::default()
                };
                new::launch(dirs, order, out)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
