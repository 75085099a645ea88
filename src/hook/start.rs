//! The start of a conversation: what it is told, and what a compaction gives back.

use std::path::Path;

use super::{Answer, Hook, Record};
use crate::config::load::Here;
use crate::files::inbox::InboxFile;

impl Hook<'_> {
    /// A conversation began, was resumed, cleared or compacted.
    pub(super) fn started(&self, source: &str) -> (Answer, Record) {
        if let Some(file) = self.file() {
            let before = file.read();
            let mut after = before.clone();
            if source == "compact" {
                after.steps.clear();
                after.stopped = None;
            }
            after.model = self.call.model.clone().or(after.model);
            if after != before {
                // Without it a step may come once more, or once less: no reason to fail.
                drop(file.update(|state| {
                    state.steps = after.steps;
                    state.stopped = after.stopped;
                    state.model = after.model;
                }));
            }
        }
        let told = self.inbox_rule(self.here());
        let record = told.as_ref().map_or("", |_| "start");
        (Answer::context(told), Record::of(record))
    }

    /// In a repo that has an inbox: where side ideas go.
    fn inbox_rule(&self, here: &Here) -> Option<String> {
        if !here.settings.tell_inbox {
            return None;
        }
        let inbox = Path::new(&here.settings.inbox);
        let file = InboxFile::new(&here.repo.root, inbox, &self.dirs.state).ok()?;
        file.path().is_file().then(|| {
            format!(
                "This repo keeps side ideas in an inbox, {}. When something comes up that is not part of the task at \
                 hand, do not work on it: run `sessdeck park 'WHAT, WHERE'`, which adds one line there, say so in a few \
                 words, and go on.",
                file.path().display()
            )
        })
    }
}
