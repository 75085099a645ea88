//! The guard: limits on subagents, which nobody watches. A rule is a function; DESIGN names them in "Guard".

use std::path::{Path, PathBuf};

use super::handoff::Kind;
use super::tool::Tool;

/// The limits of one subagent, in tokens of its own context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// From here on it is warned.
    pub(crate) soft: u64,
    /// So many lie between two warnings.
    pub(crate) every: u64,
    /// From here on it does nothing but hand over.
    pub(crate) hard: u64,
}

/// How many warnings a context of that size is worth; none from the hard line on, where a denial says it.
pub(crate) fn warnings(limits: Limits, context_tokens: u64) -> u64 {
    if context_tokens < limits.soft || is_over(limits, context_tokens) {
        return 0;
    }
    1 + (context_tokens - limits.soft) / limits.every.max(1)
}

/// Whether the hard line is reached.
pub(crate) fn is_over(limits: Limits, context_tokens: u64) -> bool {
    context_tokens >= limits.hard
}

/// What a subagent over its line may still do: read and write its own handoff file. `resolve` gives the real path of
/// what may not exist yet.
pub(crate) fn allows(
    tool: &Tool,
    note: &Path,
    resolve: impl Fn(&Path) -> Option<PathBuf> + Copy,
) -> bool {
    tool.reads_only(note, resolve) || tool.writes_only(note, resolve)
}

/// Whether a denial that was given so many times before is said in short, and the person told.
pub(crate) fn is_stuck(denials: u32, patience: u32) -> bool {
    denials >= patience
}

/// Whether the parent is to be told of a subagent now: it was stopped, it has left its note or is over, and the parent
/// does not know yet.
pub(crate) fn is_news(denials: u32, over_or_written: bool, told: bool) -> bool {
    denials > 0 && over_or_written && !told
}

/// The working rule, at the start of a subagent.
pub(crate) const WORKING_RULE: &str = "\
    How to work here: do the one task you were given and nothing beside it. Keep your context small: pipe long output \
    through `tail` or `head`, ask tools for compact JSON, read files by range instead of whole, and do not read again \
    what you have read. Plan for about 100 turns; if the task needs more, end with what is done, what remains, and the \
    exact next command.";

/// What a subagent on its way to the line is told.
pub(crate) fn warning(limits: Limits, context_tokens: u64, note: &Path) -> String {
    format!(
        "Your context is at {}k tokens. At {}k every tool is denied but reading and writing {}. Finish the step you are \
         at, begin nothing large, and write that handoff file in good time.",
        context_tokens / 1000,
        limits.hard / 1000,
        note.display()
    )
}

/// Why a tool is denied, and what to do instead.
pub(crate) fn denial(limits: Limits, context_tokens: u64, note: &Path) -> String {
    let headings = Kind::Agent.required().join("`, `## ");
    let note = note.display();
    format!(
        "Your context is at {}k tokens, over the limit of {}k for a subagent: nothing runs any more but reading and \
         writing your own handoff file, {note}. Write it now, with your tool for writing files, which makes the folders: \
         `## {headings}`, each filled, in {} lines at most, with exact paths and commands, and as its last line \
         `HANDOFF: {note}`. Then end your turn; the last line of your answer is the same HANDOFF line.",
        context_tokens / 1000,
        limits.hard / 1000,
        Kind::Agent.longest(),
    )
}

/// The same to one that keeps trying.
pub(crate) fn short_denial(note: &Path) -> String {
    format!(
        "Denied. End your turn now with the line `HANDOFF: {}`.",
        note.display()
    )
}

/// What the parent is told of a subagent that was stopped. `wrong` is what the check of its note found; none if there is
/// no note.
pub(crate) fn news(agent: &str, note: &Path, wrong: Option<&[String]>) -> String {
    let what = format!("The subagent {agent} reached the limit of its context and was stopped.");
    let note = note.display();
    match wrong {
        Some([]) => format!(
            "{what} It left its handoff note, {note}. Do not go on with that subagent: spawn a fresh one, and tell it to \
             read that file and to go on with what remains."
        ),
        Some(wrong) => format!(
            "{what} It left a handoff note, {note}, which is not complete: {}. Do not go on with that subagent: spawn a \
             fresh one, tell it to read that file, to check what is missing, and to go on with what remains.",
            wrong.join("; ")
        ),
        None => format!(
            "{what} It left no handoff note at {note}. Look at what it has changed, then spawn a fresh one with a smaller \
             task."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        soft: 140,
        every: 20,
        hard: 200,
    };

    #[test]
    fn each_step_on_the_way_is_one_warning() {
        for (context, count) in [
            (0, 0),
            (139, 0),
            (140, 1),
            (159, 1),
            (160, 2),
            (199, 3),
            (200, 0),
            (u64::MAX, 0),
        ] {
            assert_eq!(warnings(LIMITS, context), count, "{context}");
            assert_eq!(is_over(LIMITS, context), context >= 200);
        }
        assert_eq!(warnings(Limits { every: 0, ..LIMITS }, 141), 2);
    }

    #[test]
    fn the_parent_hears_of_what_was_stopped_once_it_can_be_used() {
        for (denials, ready, told, news) in [
            (0, true, false, false),
            (1, false, false, false),
            (1, true, false, true),
            (9, true, true, false),
        ] {
            assert_eq!(is_news(denials, ready, told), news);
        }
    }

    #[test]
    fn every_text_names_the_file_by_its_whole_path() {
        let note = Path::new("/repo/docs/handoffs/agents/c1-a1.md");
        let wrong = ["no heading `Goal`".to_owned()];
        for text in [
            warning(LIMITS, 150, note),
            denial(LIMITS, 201, note),
            short_denial(note),
            news("a1", note, Some(&[])),
            news("a1", note, Some(&wrong)),
            news("a1", note, None),
        ] {
            assert!(
                text.contains("/repo/docs/handoffs/agents/c1-a1.md"),
                "{text}"
            );
            assert!(text.len() < 1_500, "{text}");
        }
        let denied = denial(LIMITS, 201, note);
        for heading in Kind::Agent.required() {
            assert!(denied.contains(heading), "{denied}");
        }
        assert!(denied.contains("`HANDOFF: /repo/"), "{denied}");
    }
}
