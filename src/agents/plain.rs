//! A shell or any other command: no hook, no transcript, nothing of ours on its line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hook::HookCall;
use super::{CommandLine, Dialect, Ours, Question, Step, Trust, Wiring, typing};
use crate::deck::launch::{Flags, Recipe};
use crate::deck::meter::Fact;

pub(super) struct Plain;

static FLAGS: Flags = Flags {
    value: &[],
    bare: &[],
    variadic: &[],
    aliases: &[],
};

impl Dialect for Plain {
    fn name(&self) -> &'static str {
        "shell"
    }

    fn install(&self) -> &'static str {
        ""
    }

    fn flags(&self) -> &'static Flags {
        &FLAGS
    }

    fn reads(&self, _: &Recipe, _: &BTreeMap<String, String>) -> Vec<PathBuf> {
        vec![]
    }

    fn chooses_conversation(&self) -> bool {
        false
    }

    fn command_line(&self, recipe: &Recipe, wiring: &Wiring) -> CommandLine {
        let mut argv = vec![wiring.program.clone()];
        argv.extend_from_slice(&recipe.flags);
        CommandLine {
            argv,
            guarded: false,
        }
    }

    fn trust_question(&self, _: &Recipe, _: &Wiring) -> Option<Question> {
        None
    }

    fn trust_answer(&self, _: &[u8]) -> Option<Vec<Trust>> {
        None
    }

    fn hooks_file(&self, _: &BTreeMap<String, String>, _: Option<&Path>) -> Option<PathBuf> {
        None
    }

    fn installed(&self, _: &str) -> Option<Ours> {
        None
    }

    fn hooks_off(&self, _: &[(PathBuf, String)]) -> bool {
        false
    }

    fn installed_question(&self, _: &str, _: &Path) -> Option<Question> {
        None
    }

    fn installed_trusted(&self, _: &[u8], _: &str) -> Option<bool> {
        None
    }

    fn left_to_the_deck(&self) -> Option<&'static str> {
        None
    }

    fn hook(&self, _: &[u8]) -> Option<HookCall> {
        None
    }

    fn facts(&self, _: &[u8]) -> Vec<Fact> {
        vec![]
    }

    fn window_at_least(&self, _: Option<u64>) -> Option<u64> {
        None
    }

    fn submit(&self, prompt: &str) -> Vec<Step> {
        typing::then(typing::paste(prompt), typing::enter())
    }

    fn resubmit(&self, _: &str) -> Vec<Step> {
        vec![]
    }

    fn clear_box(&self, _: &str) -> Vec<Step> {
        vec![]
    }

    fn empties_box(&self) -> Option<&'static str> {
        None
    }
}
