//! The context meter: what a conversation holds now, from the rows of its transcript.
//!
//! A fold: rows come as [`Fact`]s in file order, [`Figures`] stand at any time. Rules and worked cases:
//! `tests/cases/meter/README.md`.

mod fact;
mod figures;
mod newest;
#[cfg(test)]
mod stories;

use std::collections::{HashMap, HashSet};

pub(crate) use fact::{Compaction, Fact, Last, Usage};
pub(crate) use figures::{Figures, Source, Sum};
pub(crate) use newest::Newest;

/// Calls whose input side is over this count as expensive.
const EXPENSIVE: u64 = 300_000;

/// The fold over one transcript, or over several that may repeat each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    figures: Figures,
    /// The transcript is a subagent's own: its rows are the main ones.
    of_subagent: bool,
    calls: HashMap<String, Call>,
    /// Ids of prompts and compactions that were counted.
    seen: HashSet<String>,
    /// The call that the context figure is taken from.
    last: Option<String>,
    running: Running,
}

/// A counted call that later rows may add to.
#[derive(Clone, Copy, Debug)]
struct Call {
    usage: Usage,
    /// Its place in `per_model`; none for a subagent's.
    model: Option<usize>,
}

/// Where a file with running totals stands. Each file begins anew.
#[derive(Clone, Debug, Default)]
struct Running {
    total: u64,
    sums: Usage,
    model: Option<String>,
    delegated: bool,
    /// The second of the latest row.
    second: String,
    /// The second whose rows are the parent's.
    parents: Option<String>,
    /// A compaction whose other mark may follow.
    mark: Option<Compaction>,
}

impl Meter {
    /// A meter for the file of one subagent, whose rows all say that they are a subagent's.
    #[cfg(test)]
    pub(crate) fn of_subagent() -> Self {
        Self {
            of_subagent: true,
            ..Self::default()
        }
    }

    pub(crate) fn figures(&self) -> &Figures {
        &self.figures
    }

    /// The facts that follow are of another file. Calls that it shares with the earlier ones count once.
    #[cfg(test)]
    pub(crate) fn next_file(&mut self) {
        self.running = Running::default();
    }

    pub(crate) fn feed(&mut self, fact: Fact) {
        if self.replays() {
            match fact {
                Fact::Total { total, sums, .. } => {
                    self.running.total = total;
                    self.running.sums = sums;
                }
                Fact::Written(second) => self.running.second = second,
                Fact::Call { .. }
                | Fact::Compacted(_)
                | Fact::Prompt { .. }
                | Fact::Model(_)
                | Fact::Window(_)
                | Fact::Forked(_)
                | Fact::Delegated
                | Fact::Bad => {}
            }
            return;
        }
        match fact {
            Fact::Call {
                key,
                model,
                usage,
                sidechain,
            } => self.call(key, model, usage, sidechain && !self.of_subagent),
            Fact::Total { total, sums, last } => self.total(total, sums, last),
            Fact::Compacted(compaction) => self.compacted(compaction),
            Fact::Prompt { id } => {
                if !self.running.delegated && self.is_new(id) {
                    self.figures.user_prompts += 1;
                }
            }
            Fact::Model(model) => self.running.model = Some(model),
            Fact::Window(window) => self.figures.window = Some(window),
            Fact::Written(second) => self.running.second = second,
            Fact::Forked(second) => self.running.parents = Some(second),
            Fact::Delegated => self.running.delegated = true,
            Fact::Bad => self.figures.bad_lines += 1,
        }
    }

    /// Whether the current row is the parent's history.
    fn replays(&self) -> bool {
        self.running
            .parents
            .as_ref()
            .is_some_and(|second| *second == self.running.second)
    }

    fn is_new(&mut self, id: Option<String>) -> bool {
        id.is_none_or(|id| self.seen.insert(id))
    }

    fn call(&mut self, key: Option<String>, model: String, usage: Usage, sidechain: bool) {
        let known = key.as_ref().and_then(|key| self.calls.get(key)).copied();
        match known {
            // A subagent's file may repeat calls of the main conversation.
            Some(Call { model: Some(_), .. }) if sidechain => {}
            Some(call) if sidechain == call.model.is_none() => {
                if let Some(key) = key {
                    self.grow(key, call, usage);
                }
            }
            Some(copy) => {
                self.figures.sidechain.remove(copy.usage);
                self.begin(key, model, usage, false);
            }
            None => self.begin(key, model, usage, sidechain),
        }
    }

    /// A call is seen for the first time.
    fn begin(&mut self, key: Option<String>, model: String, usage: Usage, sidechain: bool) {
        let model = if sidechain {
            self.figures.sidechain.add(usage);
            None
        } else {
            let place = self.place_of(model);
            self.count(place, usage, usage.context());
            self.set_context(usage, usage.context());
            self.last.clone_from(&key);
            Some(place)
        };
        if let Some(key) = key {
            self.calls.insert(key, Call { usage, model });
        }
    }

    /// A further row of a known call. Early rows may be written before the output is complete.
    fn grow(&mut self, key: String, call: Call, usage: Usage) {
        let usage = Usage {
            input: call.usage.input.max(usage.input),
            output: call.usage.output.max(usage.output),
        };
        match call.model {
            None => {
                self.figures.sidechain.remove(call.usage);
                self.figures.sidechain.add(usage);
            }
            Some(place) => {
                self.uncount(place, call.usage);
                self.count(place, usage, usage.context());
                if self.last.as_ref() == Some(&key) {
                    self.set_context(usage, usage.context());
                }
            }
        }
        self.calls.insert(key, Call { usage, ..call });
    }

    fn total(&mut self, total: u64, sums: Usage, last: Last) {
        let before = std::mem::replace(&mut self.running.total, total);
        let parts = std::mem::replace(&mut self.running.sums, sums);
        let moved = total != before;
        match last {
            Last::Estimate(left) => {
                self.figures.context_tokens = Some(left);
                self.figures.context_input_tokens = Some(left);
                self.figures.context_source = Source::ClientEstimate;
            }
            Last::Call { usage, context } if moved => self.running_call(usage, context),
            Last::Missing if moved => {
                let usage = if total < before {
                    sums
                } else {
                    Usage {
                        input: sums.input.saturating_sub(parts.input),
                        output: sums.output.saturating_sub(parts.output),
                    }
                };
                self.running_call(usage, usage.context());
            }
            Last::Call { .. } | Last::Missing | Last::Zero => {}
        }
    }

    fn running_call(&mut self, usage: Usage, context: u64) {
        let model = self.running.model.clone();
        let place = self.place_of(model.unwrap_or_else(|| "unknown".into()));
        self.count(place, usage, context);
        self.set_context(usage, context);
        self.running.mark = None;
    }

    fn compacted(&mut self, compaction: Compaction) {
        let left = match compaction {
            Compaction::Boundary { id, left } => {
                if !self.is_new(id) {
                    return;
                }
                left
            }
            mark @ (Compaction::Record | Compaction::Event) => {
                if self.running.mark.take().is_some_and(|other| other != mark) {
                    return;
                }
                self.running.mark = Some(mark);
                None
            }
        };
        self.figures.compactions += 1;
        self.figures.context_tokens = left;
        self.figures.context_input_tokens = left;
        self.figures.context_source = if left.is_some() {
            Source::CompactBoundary
        } else {
            Source::None
        };
        self.last = None;
    }

    /// The place of the model that is in use now.
    fn place_of(&mut self, model: String) -> usize {
        self.figures.model = Some(model.clone());
        let models = &mut self.figures.per_model;
        models
            .iter()
            .position(|(name, _)| *name == model)
            .unwrap_or_else(|| {
                models.push((model, Sum::default()));
                models.len() - 1
            })
    }

    fn count(&mut self, place: usize, usage: Usage, context: u64) {
        self.figures.main.add(usage);
        self.figures.per_model[place].1.add(usage);
        if usage.input > EXPENSIVE {
            self.figures.input_tokens_above_300k += usage.input;
        }
        let peak = self.figures.peak_context_tokens.unwrap_or(0);
        self.figures.peak_context_tokens = Some(peak.max(context));
    }

    fn uncount(&mut self, place: usize, usage: Usage) {
        self.figures.main.remove(usage);
        self.figures.per_model[place].1.remove(usage);
        if usage.input > EXPENSIVE {
            self.figures.input_tokens_above_300k -= usage.input;
        }
    }

    fn set_context(&mut self, usage: Usage, context: u64) {
        self.figures.context_tokens = Some(context);
        self.figures.context_input_tokens = Some(usage.input);
        self.figures.context_source = Source::Usage;
    }
}
