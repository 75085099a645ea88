//! `sessdeck guard`: the person's way out of brake and guard, and back.

use std::io::Write;

use clap::{Args, Subcommand};

use super::{find, ls};
use crate::agents;
use crate::config::dirs::Dirs;
use crate::config::load;
use crate::error::{Error, Exit, Result};
use crate::files::hook_state::{self, HookFile};

/// Take brake and guard off one session, so that nothing is refused in it any more, or put them on again.
#[derive(Debug, Args)]
pub(crate) struct Guard {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Refuse nothing in this session and in its subagents.
    Off {
        /// Its name or id, or the id of a conversation outside the deck.
        session: String,
    },
    /// Put them on again.
    On {
        /// Its name or id, or the id of a conversation outside the deck.
        session: String,
    },
}

impl Guard {
    pub(crate) fn run(&self, dirs: &Dirs, out: &mut impl Write) -> Result<()> {
        if agents::is_inside(load::environment().keys().map(String::as_str)) {
            return Err(
                Error::new(Exit::Usage, "an agent does not take its own brake off")
                    .mend("run this in a shell of yours"),
            );
        }
        let (off, session) = match &self.what {
            What::Off { session } => (true, session),
            What::On { session } => (false, session),
        };
        file(dirs, session)?.update(|state| state.off = off)?;
        let word = if off { "off" } else { "on" };
        writeln!(out, "brake and guard are {word} for {session}")?;
        Ok(())
    }
}

/// What the hooks of a session remember: by the deck's name of it, else by the id of its conversation.
fn file(dirs: &Dirs, wanted: &str) -> Result<HookFile> {
    let unknown = match ls::sessions(dirs).and_then(|sessions| find(&sessions, wanted)) {
        Ok(session) => {
            let conversation = session.conversation_id.unwrap_or_default();
            return HookFile::new(&dirs.state, &session.agent, &conversation).ok_or_else(|| {
                Error::new(Exit::NoSession, "that session has no conversation yet")
            });
        }
        Err(error) => error,
    };
    hook_state::named(&dirs.state, wanted).ok_or(unknown)
}
