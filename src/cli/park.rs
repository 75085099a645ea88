//! `sessdeck park`.

use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use clap::Args;

use crate::config::dirs::Dirs;
use crate::config::load;
use crate::config::repo::Repo;
use crate::config::settings::Settings;
use crate::deck::{inbox, launch};
use crate::error::{Error, Exit, Result};
use crate::files::inbox::InboxFile;
use crate::hook::tell::tell;
use crate::protocol::hook::Tell;
use crate::terminal::plain;

/// Write one line into the inbox of this repo. `-` reads it from stdin.
#[derive(Debug, Args)]
pub(crate) struct Park {
    /// The profile the idea belongs to; guessed from the words if left out.
    #[arg(long)]
    profile: Option<String>,
    /// The idea.
    #[arg(required = true)]
    text: Vec<String>,
}

impl Park {
    pub(crate) fn run(self, dirs: &Dirs, out: &mut impl Write) -> Result<()> {
        let mut text = self.text.join(" ");
        if text == "-" {
            text.clear();
            std::io::stdin().lock().read_to_string(&mut text)?;
        }
        if text.trim().is_empty() {
            return Err(
                Error::new(Exit::Usage, "there is nothing to park").mend("`sessdeck park TEXT…`")
            );
        }
        load::make(dirs)?;
        let dir = std::env::current_dir()?;
        // A broken profile file must not cost the idea: it is parked without a tag, where it always goes.
        let here = load::here(dirs, &dir).ok();
        let guessed = || {
            let choice = launch::choose(&text, &here.as_ref()?.set.profiles);
            choice.winner.filter(|_| !choice.matched.is_empty())
        };
        let profile = self.profile.or_else(guessed);
        let (root, inbox) = match &here {
            Some(here) => (here.repo.root.clone(), here.settings.inbox.clone()),
            None => (Repo::around(&dir).root, Settings::default().inbox),
        };
        let line = inbox::line(&super::today(), profile.as_deref(), &text);
        let file = InboxFile::new(&root, Path::new(&inbox), &dirs.state)?;
        file.append(&line)?;
        let line = plain(line.lines().next().unwrap_or_default());
        if let Some(socket) = load::inside().socket {
            let parked = Tell::Parked { line: line.clone() };
            let settings = here.map(|here| here.settings).unwrap_or_default();
            let patience = || Duration::from_millis(settings.hook.patience_ms);
            // The server may be gone: the line is written already.
            drop(tell(&socket, &parked, patience));
        }
        writeln!(out, "{line}\n  in {}", file.path().display())?;
        Ok(())
    }
}
