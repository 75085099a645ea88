//! `sessdeck ls`.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};

use crate::client;
use crate::config::dirs::Dirs;
use crate::error::Result;
use crate::protocol::client::{Request, Response, Session, State};

/// List the sessions.
#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// An array, one object a session.
    #[arg(long)]
    json: bool,
}

impl Ls {
    pub(crate) fn run(&self, dirs: &Dirs, out: &mut impl Write) -> Result<()> {
        let sessions = sessions(dirs)?;
        if self.json {
            let all: Vec<_> = sessions.iter().map(object).collect();
            serde_json::to_writer_pretty(&mut *out, &all).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        if sessions.is_empty() {
            writeln!(out, "no sessions; `sessdeck new WORDS…` starts one")?;
        }
        for session in &sessions {
            let profile = session
                .profile
                .as_deref()
                .map(|name| format!("#{name}"))
                .unwrap_or_default();
            writeln!(
                out,
                "{:>3}  {:<10}  {:<28}  {:<12}  {:<8}  {}",
                session.id,
                word(session.state).replace('_', " "),
                session.name,
                profile,
                session.agent,
                meter(session),
            )?;
        }
        Ok(())
    }
}

/// All sessions of the deck.
pub(super) fn sessions(dirs: &Dirs) -> Result<Vec<Session>> {
    let Response::Sessions(sessions) = client::find(dirs)?.ask(Request::List)? else {
        return Err(super::unexpected());
    };
    Ok(sessions)
}

fn meter(session: &Session) -> String {
    let thousands = |tokens: u64| format!("{}k", tokens.div_ceil(1000));
    match (session.meter.context_tokens, session.meter.window) {
        (None, _) => String::new(),
        (Some(tokens), None) => thousands(tokens),
        (Some(tokens), Some(window)) => format!("{}/{}", thousands(tokens), thousands(window)),
    }
}

fn word(state: State) -> &'static str {
    match state {
        State::Working => "working",
        State::NeedsYou => "needs_you",
        State::YourTurn => "your_turn",
        State::Ended => "ended",
        State::Asleep => "asleep",
        State::Unknown => "unknown",
    }
}

/// The documented object of one session.
pub(super) fn object(session: &Session) -> Value {
    let thread = session
        .handoff_from
        .as_ref()
        .and_then(|note| note.file_stem())
        .map(|stem| stem.to_string_lossy());
    json!({
        "id": session.id,
        "name": session.name,
        "title": session.title,
        "profile": session.profile,
        "agent": session.agent,
        "dir": session.dir,
        "repo": session.repo,
        "pid": session.pid,
        "state": word(session.state),
        "state_signal": session.state_signal,
        "state_since": session.state_since,
        "context_tokens": session.meter.context_tokens,
        "window": session.meter.window,
        "conversation_id": session.conversation_id,
        "transcript": session.transcript,
        "thread": thread,
        "handoff_from": session.handoff_from,
        "exit_code": session.exit_code,
    })
}
