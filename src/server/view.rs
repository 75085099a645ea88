//! The deck as clients see it.

use std::path::Path;
use std::time::SystemTime;

use crate::agents;
use crate::deck::brake::Step as BrakeStep;
use crate::deck::meter::Source;
use crate::deck::{self, Deck, Question, Signal};
use crate::protocol::client::{Ask, AskKind, Meter, Session, State, Step};

/// All sessions, those of one repo together, in the order in which the repos came.
pub(crate) fn sessions(deck: &Deck) -> Vec<Session> {
    let mut repos: Vec<&Path> = Vec::new();
    for session in deck.sessions() {
        if !repos.contains(&session.seed.repo.as_path()) {
            repos.push(&session.seed.repo);
        }
    }
    let mut sessions: Vec<_> = deck.sessions().collect();
    sessions.sort_by_key(|session| repos.iter().position(|repo| *repo == session.seed.repo));
    sessions.into_iter().map(session).collect()
}

pub(crate) fn session(session: &deck::Session) -> Session {
    let seed = &session.seed;
    let (state, exit_code) = match session.state {
        deck::State::Working => (State::Working, None),
        deck::State::NeedsYou => (State::NeedsYou, None),
        deck::State::YourTurn => (State::YourTurn, None),
        deck::State::Ended { code } => (State::Ended, code),
        deck::State::Asleep => (State::Asleep, None),
        deck::State::Unknown => (State::Unknown, None),
    };
    Session {
        id: session.id.0,
        name: session.name.clone(),
        title: seed.title.clone(),
        profile: seed.profile.clone(),
        color: seed.color.clone(),
        agent: seed.agent.clone(),
        dir: seed.dir.clone(),
        repo: seed.repo.clone(),
        pid: session.pid,
        state,
        state_signal: signal(session.signal).to_owned(),
        state_since: utc(session.since),
        meter: meter(session),
        conversation_id: session.conversation.clone(),
        transcript: session.transcript.clone(),
        exit_code,
        guarded: seed.guarded,
        handoff_from: seed.handoff_from.clone(),
        asks: session
            .asks
            .iter()
            .map(|ask| self::ask(session, ask))
            .collect(),
    }
}

fn meter(session: &deck::Session) -> Meter {
    let figures = session.meter.figures();
    Meter {
        context_tokens: figures.context_tokens,
        window: window(session),
        estimate: matches!(
            figures.context_source,
            Source::CompactBoundary | Source::ClientEstimate
        ),
        steps: session.seed.brake.lines(),
        compactions: figures.compactions,
    }
}

/// The window; where calls have shown the table wrong, the smallest that holds them.
fn window(session: &deck::Session) -> Option<u64> {
    let proof = || {
        session.seed.window?;
        agents::named(&session.seed.agent)?
            .window_at_least(session.meter.figures().peak_context_tokens)
    };
    session.window().or_else(proof)
}

fn ask(session: &deck::Session, ask: &deck::Ask) -> Ask {
    let kind = match &ask.question {
        Question::Blocked(blocked) => AskKind::Blocked {
            prompt: blocked.prompt.clone(),
            current: blocked.current.clone(),
            other: blocked.other.clone(),
            matched: blocked.matched.clone(),
            command: blocked.command.clone(),
        },
        Question::Step {
            step,
            context_tokens,
        } => AskKind::Step {
            step: match step {
                BrakeStep::Checkpoint => Step::Checkpoint,
                BrakeStep::Soft => Step::Soft,
                BrakeStep::Hard => Step::Hard,
                BrakeStep::Stop => Step::Stop,
            },
            context_tokens: *context_tokens,
            window: window(session),
        },
        Question::Stuck(stuck) => AskKind::Stuck {
            agent: stuck.agent.clone(),
            context_tokens: stuck.context_tokens,
            note: stuck.note.clone(),
        },
        Question::Note(note) => AskKind::Note {
            path: note.path.clone(),
            missing: note.missing.clone(),
        },
    };
    Ask { id: ask.id.0, kind }
}

fn signal(signal: Signal) -> &'static str {
    match signal {
        Signal::Hook => "hook",
        Signal::ProgramStatus => "osc7501",
        Signal::Progress => "osc9",
        Signal::Process => "process",
    }
}

/// RFC 3339 in UTC, whole seconds.
fn utc(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time)
        .and_then(|time| time.round(jiff::Unit::Second))
        .map(|time| time.to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn times_are_utc_to_the_second() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_796_087_126_999, "2026-12-01T01:05:27Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_millis(millis)), text);
        }
    }
}
