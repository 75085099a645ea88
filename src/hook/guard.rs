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
        // Tools run side by side: each denial counts, and one of them alone is the one that the person is told of.
        let before = self.remember(&agent, |state| {
            // It may have been over, and was resumed.
            state.ended = false;
            let before = state.denials;
            state.denials = before.saturating_add(1);
            before
        });
        let patience = self.here().settings.subagents.patience;
        // What cannot be remembered is denied all the same.
        let stuck = guard::is_stuck(before.unwrap_or_default(), patience);
        let text = if stuck {
            guard::short_denial(&agent.note)
        } else {
            guard::denial(agent.limits, agent.context_tokens, &agent.note)
        };
        let event = (before == Some(patience)).then(|| {
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
            let remembered = self.remember(&agent, |state| {
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
        if let (Some(id), Some(file)) = (self.call.subagent.as_deref(), self.file())
            && file.read().agents.contains_key(id)
        {
            // Where it cannot be remembered the parent may not hear of it: no reason to fail.
            drop(file.update(|state| {
                if let Some(agent) = state.agents.get_mut(id) {
                    agent.ended = true;
                }
            }));
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
            .into_iter()
            .filter_map(|(id, agent)| {
                let note = agent.note.or_else(|| self.agent_note(self.here(), &id))?;
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
        let state = state.agents.get(id).cloned().unwrap_or_default();
        Some(Agent {
            id,
            context_tokens: figures.context_tokens?,
            limits: limits::limits(
                &here.settings.subagents,
                &self.inside.guard,
                figures.model.as_deref(),
                window,
            )?,
            note: state.note.clone().or_else(|| self.agent_note(here, id))?,
            state,
        })
    }

    /// The one file that a subagent hands over by.
    fn agent_note(&self, here: &Here, id: &str) -> Option<PathBuf> {
        let notes = here.repo.inside(&here.settings.handoffs).ok()?;
        // A link to another folder of the repo is followed; one out of it is not, and nothing can be written there.
        let folder = here
            .repo
            .inside(&format!("{}/agents", here.settings.handoffs));
        let folder = folder.unwrap_or_else(|_| notes.join("agents"));
        let conversation = self.call.conversation.as_deref()?;
        let name = file_name(&format!("{conversation}-{id}"));
        Some(folder.join(format!("{name}.md")))
    }

    /// Changes what is remembered of a subagent that is told where its note belongs; none where that cannot be.
    fn remember<T>(
        &self,
        agent: &Agent<'_>,
        change: impl FnOnce(&mut AgentState) -> T,
    ) -> Option<T> {
        self.file()?
            .update(|state| {
                let state = state.agents.entry(agent.id.to_owned()).or_default();
                state.note.get_or_insert_with(|| agent.note.clone());
                change(state)
            })
            .ok()
    }
}
