//! The brake: steps of the main conversation's context, each of which tells the model something once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Answer, Hook, Record};
use crate::config::load::Here;
use crate::config::settings::Settings;
use crate::deck::brake::said::{self, Named};
use crate::deck::brake::{Brake, Step, stop};
use crate::deck::handoff::{self, Kind};
use crate::deck::meter::{Figures, Newest};
use crate::deck::tool::Tool;
use crate::files;
use crate::files::hook_state::HookState;

/// A step that the model is told now.
pub(super) struct Told {
    pub(super) step: Step,
    pub(super) context_tokens: u64,
    pub(super) text: String,
}

/// What a conversation holds now.
struct Held {
    context_tokens: u64,
    /// None where neither the client nor the settings know it: it counts as large.
    window: Option<u64>,
}

impl Hook<'_> {
    /// The step that has come since the last event, if any.
    pub(super) fn step(&self) -> Option<Told> {
        let here = self.here();
        let state = self.file()?.read();
        let held = self.held(here, &state)?;
        let step = self.pull(here, &state, &held)?;
        let note = self.note(here)?;
        Some(Told {
            step,
            context_tokens: held.context_tokens,
            text: said::instruction(step, &self.named(&held, &note)),
        })
    }

    /// Fires the step that has come. Of two hooks at once one says it; where nothing can be remembered nothing is said,
    /// rather than the same at every event.
    fn pull(&self, here: &Here, state: &HookState, held: &Held) -> Option<Step> {
        let steps = here.settings.brake.of(self.agent, held.window);
        let pulled = |state: &HookState| {
            let mut brake = Brake::after(steps.clone(), &state.steps);
            (brake.pull(held.context_tokens), brake.fired_lines())
        };
        // Nearly no event moves a step: no lock for those.
        if pulled(state).1 == state.steps {
            return None;
        }
        let at_stop = Brake::new(steps.clone()).stops(held.context_tokens);
        let updated = self.file()?.update(|state| {
            let (step, lines) = pulled(state);
            state.steps = lines;
            state.stopped = match state.stopped {
                Some(since) if at_stop => Some(since),
                _ => at_stop.then(|| millis(self.now)),
            };
            step
        });
        self.written(updated).flatten()
    }

    /// Whether a tool of the main conversation may run.
    pub(super) fn may_run(&self, does: &Tool) -> (Answer, Record) {
        let refusal = match does {
            // Looking is always allowed; no need to know more.
            Tool::Read { .. } | Tool::Search => None,
            Tool::Write { .. } | Tool::Run { .. } | Tool::Other => self.refusal(does),
        };
        match refusal {
            Some(told) => {
                let record = Record {
                    context_tokens: Some(told.context_tokens),
                    ..Record::of("stop")
                };
                (Answer::Block(told.text), record)
            }
            None => (Answer::Nothing, Record::default()),
        }
    }

    fn refusal(&self, does: &Tool) -> Option<Told> {
        let file = self.file()?;
        let state = file.read();
        if state.off {
            return None;
        }
        let here = self.here();
        let held = self.held(here, &state)?;
        let brake = Brake::new(here.settings.brake.of(self.agent, held.window));
        if !brake.stops(held.context_tokens) {
            return None;
        }
        let note = self.note(here)?;
        let dir = self.call.dir.as_deref().unwrap_or(Path::new("."));
        if stop::allows(does, &note, |path| files::resolved(path, dir)) {
            return None;
        }
        // A refused tool has no end at which the step could be told.
        let step = self.pull(here, &state, &held);
        let since = file.read().stopped.unwrap_or_default();
        let missing = due(&note, since)?;
        let named = self.named(&held, &note);
        let refusal = said::refusal(&named, &missing);
        Some(Told {
            step: Step::Stop,
            context_tokens: held.context_tokens,
            text: match step {
                Some(step) => format!("{refusal}\n\n{}", said::instruction(step, &named)),
                None => refusal,
            },
        })
    }

    fn held(&self, here: &Here, state: &HookState) -> Option<Held> {
        let transcript = self.call.transcript.as_deref()?;
        let figures = figures(transcript, |line| self.dialect.facts(line), false)?;
        Some(Held {
            context_tokens: figures.context_tokens?,
            window: window(&figures, state.model.as_deref(), &here.settings),
        })
    }

    fn named<'b>(&'b self, held: &Held, note: &'b Path) -> Named<'b> {
        Named {
            context_tokens: held.context_tokens,
            window: held.window,
            dir: self.call.dir.as_deref().unwrap_or(&self.here().repo.root),
            note,
            profile: self.inside.profile.as_deref(),
        }
    }

    /// The one place of this thread's note, symbolic links resolved; none if it would lie outside the repo.
    pub(super) fn note(&self, here: &Here) -> Option<PathBuf> {
        let folder = here.repo.inside(&here.settings.handoffs).ok()?;
        let thread = match self.inside.thread.as_deref().map(Path::new) {
            // It goes on from a note, which is updated in place.
            Some(note) if note.is_absolute() => {
                let note = files::resolved(note, &folder)?;
                return note.starts_with(&here.repo.root).then_some(note);
            }
            Some(name) => name.display().to_string(),
            None => {
                let what = self.inside.profile.as_deref().unwrap_or(self.agent);
                let conversation: String =
                    self.call.conversation.as_deref()?.chars().take(8).collect();
                format!("{what}-{conversation}")
            }
        };
        Some(folder.join(format!("{}.md", file_name(&thread))))
    }
}

/// The figures at the end of a transcript; none if there is none.
pub(super) fn figures(
    transcript: &Path,
    facts: impl Fn(&[u8]) -> Vec<crate::deck::meter::Fact>,
    of_subagent: bool,
) -> Option<Figures> {
    let mut newest = Newest::new(of_subagent);
    files::tail::lines_backwards(transcript, |line| newest.add(facts(line))).ok()?;
    Some(newest.figures())
}

/// The window as the transcript states it, else as settings or the table have it for the model.
pub(super) fn window(
    figures: &Figures,
    started_with: Option<&str>,
    settings: &Settings,
) -> Option<u64> {
    let known = || {
        settings.window(
            started_with,
            figures.model.as_deref(),
            figures.context_tokens,
        )
    };
    figures.window.or_else(known)
}

/// What the note still lacks; none if it is complete and newer than the stop step.
fn due(note: &Path, since: u64) -> Option<Vec<String>> {
    let Ok(text) = files::read_plain(note) else {
        return Some(vec!["it is not written yet".into()]);
    };
    let mut missing = handoff::check(Kind::Session, &text);
    let written = fs::metadata(note).and_then(|it| it.modified());
    if written.is_ok_and(|written| millis(written) < since) {
        missing.push("it is older than this step, so bring it up to date".into());
    }
    (!missing.is_empty()).then_some(missing)
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A name as a file name.
pub(super) fn file_name(name: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
    let name: String = name
        .chars()
        .map(|letter| if plain(letter) { letter } else { '-' })
        .take(100)
        .collect();
    name.trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_due_until_it_is_complete_and_new() {
        let temp = tempfile::tempdir().unwrap();
        let note = temp.path().join("note.md");
        assert_eq!(due(&note, 0).unwrap(), ["it is not written yet"]);
        let headings = Kind::Session.required().join("\nx\n\n## ");
        fs::write(&note, format!("## {headings}\nx\n")).unwrap();
        assert_eq!(due(&note, 0), None);
        let old = due(&note, u64::MAX).unwrap();
        assert!(old[0].contains("older"), "{old:?}");
        fs::write(&note, "## Goal\n").unwrap();
        assert_eq!(due(&note, 0).unwrap().len(), 6);
    }
}
