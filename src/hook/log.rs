//! What is written down of a run, after its answer was given.

use std::time::{Instant, SystemTime};

use super::{Hook, Record, now, ticks};
use crate::agents::Event;
use crate::config::load;
use crate::config::settings::Log;
use crate::deck::brake::Step;
use crate::error::Error;
use crate::files::hook_log::{self, Entry};

impl Hook<'_> {
    /// Writes a decision down, and what was wrong with the files it was made by. A log that cannot be written is
    /// nobody's business here.
    pub(super) fn log(&self, record: Record, began: Instant) {
        let unread = self.here.get().and_then(|(_, fault)| fault.clone());
        let fault = self.fault.take().or(unread);
        if record.verdict.is_empty() && fault.is_none() {
            return;
        }
        let settings = &self.here().settings.log;
        let verdict = match record.verdict {
            "" => "fault",
            verdict => verdict,
        };
        let entry = Entry {
            time: time(self.now),
            session: self.inside.session,
            conversation: self.call.conversation.clone(),
            agent: self.agent.to_owned(),
            subagent: self.call.subagent.clone(),
            event: self.call.name.clone(),
            verdict: verdict.to_owned(),
            step: record.step.map(|step| word(step).to_owned()),
            profile: record.profile,
            matched: record.matched,
            context_tokens: record.context_tokens,
            told: record.news,
            ms: milliseconds(began),
            fault: fault.as_ref().map(Error::line),
            prompt: self.prompt_text().filter(|_| settings.prompts),
        };
        drop(hook_log::append(
            &self.dirs.state,
            &entry,
            settings.bytes,
            settings.keep,
        ));
    }

    fn prompt_text(&self) -> Option<String> {
        if let Event::Prompt { text } = &self.call.event {
            Some(text.clone())
        } else {
            None
        }
    }
}

/// Writes down that a run of ours came to nothing.
pub(super) fn fault(agent: &str, began: Instant, fault: &str) {
    let Ok(dirs) = load::dirs() else { return };
    let entry = Entry {
        time: time(now()),
        agent: agent.to_owned(),
        verdict: "fault".to_owned(),
        ms: milliseconds(began),
        fault: Some(fault.to_owned()),
        ..Entry::default()
    };
    let settings = Log::default();
    drop(hook_log::append(
        &dirs.state,
        &entry,
        settings.bytes,
        settings.keep,
    ));
}

fn milliseconds(began: Instant) -> f64 {
    (ticks().duration_since(began).as_secs_f64() * 1e6).round() / 1e3
}

fn time(now: SystemTime) -> String {
    jiff::Timestamp::try_from(now).map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

fn word(step: Step) -> &'static str {
    match step {
        Step::Checkpoint => "checkpoint",
        Step::Soft => "soft",
        Step::Hard => "hard",
        Step::Stop => "stop",
    }
}
