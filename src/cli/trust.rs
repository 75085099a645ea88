//! `sessdeck trust`.

use std::io::Write;

use clap::Args;

use crate::config::dirs::Dirs;
use crate::config::load;
use crate::config::trust::{self, Trust as State};
use crate::error::Result;

/// Show what this repo's `.sessdeck/` would do, and let it.
#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Trust what was shown. Any later change asks again.
    #[arg(long)]
    yes: bool,
}

impl Trust {
    pub(crate) fn run(&self, dirs: &Dirs, out: &mut impl Write) -> Result<()> {
        let here = load::here(dirs, &std::env::current_dir()?)?;
        match here.trust {
            State::Nothing => writeln!(
                out,
                "there is no `.sessdeck/` in {}",
                here.repo.root.display()
            )?,
            State::Trusted => writeln!(
                out,
                "{} is trusted as it is",
                here.repo.root.join(".sessdeck").display()
            )?,
            State::Unknown | State::Changed => {
                for line in &here.set.waiting {
                    writeln!(out, "{line}")?;
                }
                if self.yes {
                    load::make(dirs)?;
                    trust::accept(&here.repo.root, &dirs.state, &here.hash, load::user())?;
                    writeln!(out, "trusted")?;
                } else {
                    writeln!(out, "`sessdeck trust --yes` lets this hold")?;
                }
            }
        }
        Ok(())
    }
}
