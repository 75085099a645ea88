//! `sessdeck profile`.

use std::io::Write;

use clap::{Args, Subcommand};

use crate::config::dirs::Dirs;
use crate::config::load;
use crate::deck::launch;
use crate::error::Result;

/// The profiles that hold here.
#[derive(Debug, Args)]
pub(crate) struct Profile {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List them, in the order that decides ties.
    List,
    /// Say which one these words match, and why.
    Match {
        #[arg(required = true)]
        words: Vec<String>,
    },
}

impl Profile {
    pub(crate) fn run(&self, dirs: &Dirs, out: &mut impl Write) -> Result<()> {
        let here = load::here(dirs, &std::env::current_dir()?)?;
        let set = &here.set.profiles;
        match &self.what {
            None | Some(What::List) => {
                for profile in &set.profiles {
                    let agent = profile
                        .agent
                        .as_deref()
                        .unwrap_or(&here.settings.default_agent);
                    let model = profile.model.as_deref().unwrap_or("-");
                    let effort = profile.effort.as_deref().unwrap_or("-");
                    writeln!(
                        out,
                        "{:<12} {agent:<7} {model:<8} {effort:<7} {}",
                        profile.name, profile.about
                    )?;
                }
                for line in &here.set.waiting {
                    writeln!(out, "not trusted yet: {line}")?;
                }
            }
            Some(What::Match { words }) => {
                let choice = launch::choose(&words.join(" "), set);
                match &choice.winner {
                    Some(winner) if choice.matched.is_empty() => {
                        writeln!(out, "{winner} (nothing matched)")?;
                    }
                    Some(winner) => {
                        writeln!(out, "{winner} (matched: {})", choice.matched.join(", "))?;
                    }
                    None => writeln!(out, "no profile matches")?,
                }
                if let Some((next, matched)) = &choice.runner_up {
                    writeln!(out, "next best: {next} (matched: {})", matched.join(", "))?;
                }
            }
        }
        Ok(())
    }
}
