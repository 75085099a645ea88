//! The guard inside subagents, and what their parent hears of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::brake::{figures, file_name, window};
use super::{Answer, Hook, Record};
use crate::config::limits;
use crate::config::load::Here;
use crate::deck::guard::{self, Limits};
use crate::deck::handoff::{self, Kind};
use crate::deck::tool::Tool;
use crate::files;
use crate::files::hook_state::{AgentState, HookState};
use crate::protocol::hook::{HookEvent, Stuck};

/// A subagent at its event, by its own transcript.
struct Agent<'a> {
    id: &'a str,
    context_tokens: u64,
    limits: Limits,
    note: PathBuf,
    state: AgentState,
}

impl Hook<'_> {
    /// A subagent begins.
    pub(super) fn agent_started(&self) -> (Answer, Record) {
        if !self.here().settings.subagents.rule {
            return (Answer::Nothing, Record::default());
        }
        let rule = guard::WORKING_RULE.to_owned();
        (Answer::Context(rule), Record::of("rule"))
    }

    /// Whether a tool of a subagent may run. Where it is stuck the server is told.
    pub(super) fn agent_may_run(&self, does: &Tool) -> (Answer, Record, Option<HookEvent>) {
        let nothing = (Answer::Nothing, Record::default(), None);
        let Some(agent) = self.agent() else {
            return nothing;
        };
        if !guard::is_over(agent.limits, agent.context_tokens) {
            return nothing;
        }
        let dir = self.call.dir.as_deref().unwrap_or(Path::new("."));
        if guard::allows(does, &agent.note, |path| files::resolved(path, dir)) {
            return nothing;
        }
        // What cannot be remembered is denied all the same.
        self.remember(agent.id, |state| {
            state.denials = state.denials.saturating_add(1);
        });
        let patience = self.here().settings.subagents.patience;
        let stuck = guard::is_stuck(agent.state.denials, patience);
        let text = if stuck {
            guard::short_denial(&agent.note)
        } else {
            guard::denial(agent.limits, agent.context_tokens, &agent.note)
        };
        let event = (stuck && agent.state.denials == patience).then(|| {
            HookEvent::Stuck(Stuck {
                agent: agent.id.to_owned(),
                context_tokens: agent.context_tokens,
                note: agent.note.clone(),
            })
        });
        let record = Record {
            context_tokens: Some(agent.context_tokens),
            ..Record::of("deny")
        };
        (Answer::Block(text), record, event)
    }

    /// A tool of a subagent has run.
    pub(super) fn agent_after_tool(&self) -> (Answer, Record) {
        let warned = self.agent().and_then(|agent| {
            let due = guard::warnings(agent.limits, agent.context_tokens);
            if due <= agent.state.warned {
                return None;
            }
            let remembered = self.remember(agent.id, |state| {
                let first = due > state.warned;
                state.warned = state.warned.max(due);
                first
            });
            remembered?.then_some(agent)
        });
        match warned {
            Some(agent) => {
                let record = Record {
                    context_tokens: Some(agent.context_tokens),
                    ..Record::of("warn")
                };
                let text = guard::warning(agent.limits, agent.context_tokens, &agent.note);
                (Answer::Context(text), record)
            }
            None => (Answer::Nothing, Record::default()),
        }
    }

    /// A subagent is over: its parent may hear of it.
    pub(super) fn agent_ended(&self) -> (Answer, Record) {
        let known = |id: &&str| {
            let file = self.file();
            file.is_some_and(|file| file.read().agents.contains_key(*id))
        };
        if let Some(id) = self.call.subagent.as_deref().filter(known) {
            self.remember(id, |state| state.ended = true);
        }
        (Answer::Nothing, Record::default())
    }

    /// What the parent does not know yet of subagents that were stopped.
    pub(super) fn news(&self) -> Vec<String> {
        let Some(file) = self.file() else {
            return Vec::new();
        };
        // Nearly no conversation has any.
        let agents = file.read().agents;
        if !agents
            .values()
            .any(|it| guard::is_news(it.denials, true, it.told))
        {
            return Vec::new();
        }
        let notes: BTreeMap<String, (PathBuf, Option<Vec<String>>)> = agents
            .into_keys()
            .filter_map(|id| {
                let note = self.agent_note(self.here(), &id)?;
                let text = files::read_plain(&note).ok();
                let wrong = text.map(|text| handoff::check(Kind::Agent, &text));
                Some((id, (note, wrong)))
            })
            .collect();
        let tell = |state: &mut HookState| {
            let mut news = Vec::new();
            for (id, agent) in &mut state.agents {
                let Some((note, wrong)) = notes.get(id) else {
                    continue;
                };
                let ready = agent.ended || wrong.as_ref().is_some_and(Vec::is_empty);
                if guard::is_news(agent.denials, ready, agent.told) {
                    agent.told = true;
                    news.push(guard::news(id, note, wrong.as_deref()));
                }
            }
            news
        };
        file.update(tell).unwrap_or_default()
    }

    /// The subagent of this event; none without a transcript of its own, and where the guard is off.
    fn agent(&self) -> Option<Agent<'_>> {
        let id = self.call.subagent.as_deref()?;
        let transcript = self.call.subagent_transcript.as_deref()?;
        let state = self.file()?.read();
        if state.off {
            return None;
        }
        let figures = figures(transcript, |line| self.dialect.facts(line), true)?;
        let here = self.here();
        let window = window(&figures, None, &here.settings);
        Some(Agent {
            id,
            context_tokens: figures.context_tokens?,
            limits: limits::limits(
                &here.settings.subagents,
                &self.inside.guard,
                figures.model.as_deref(),
                window,
            )?,
            note: self.agent_note(here, id)?,
            state: state.agents.get(id).copied().unwrap_or_default(),
        })
    }

    /// The one file that a subagent hands over by.
    fn agent_note(&self, here: &Here, id: &str) -> Option<PathBuf> {
        let folder = here.repo.inside(&here.settings.handoffs).ok()?;
        let conversation = self.call.conversation.as_deref()?;
        let name = file_name(&format!("{conversation}-{id}"));
        Some(folder.join("agents").join(format!("{name}.md")))
    }

    /// Changes what is remembered of a subagent; none where that cannot be.
    fn remember<T>(&self, id: &str, change: impl FnOnce(&mut AgentState) -> T) -> Option<T> {
        self.file()?
            .update(|state| change(state.agents.entry(id.to_owned()).or_default()))
            .ok()
    }
}
