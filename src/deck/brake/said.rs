//! What a step of the brake says to the model: its instruction, once, as additional context.

use std::path::Path;

use super::super::handoff;
use super::super::launch::shell_quoted;
use super::Step;

/// What the text of a step names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    pub(crate) context_tokens: u64,
    /// None where nobody knows it.
    pub(crate) window: Option<u64>,
    /// Where the session works, by its absolute path.
    pub(crate) dir: &'a Path,
    /// The one place of the thread's note, by its absolute path.
    pub(crate) note: &'a Path,
    pub(crate) profile: Option<&'a str>,
}

impl Named<'_> {
    /// The one command that starts the fresh session. It works from any folder.
    pub(crate) fn command(&self) -> String {
        let mut argv = vec!["sessdeck".to_owned(), "new".to_owned()];
        if let Some(profile) = self.profile {
            argv.extend(["--profile".to_owned(), profile.to_owned()]);
        }
        argv.extend(["--dir".to_owned(), self.dir.display().to_string()]);
        argv.extend(["--from".to_owned(), self.note.display().to_string()]);
        shell_quoted(&argv)
    }

    fn size(&self) -> String {
        match self.window {
            Some(window) => format!("{} of {}", tokens(self.context_tokens), tokens(window)),
            None => tokens(self.context_tokens),
        }
    }

    fn one_place(&self) -> String {
        let folder = self.note.parent().unwrap_or(Path::new("."));
        format!(
            "Each thread has one canonical place: search {} and the docs for a note on this thread, update it in place, \
             and create {} only if there is none.",
            folder.display(),
            self.note.display(),
        )
    }
}

/// What stands in a note.
fn headings() -> String {
    let required = handoff::Kind::Session.required().join("`, `## ");
    format!(
        "The note begins with front matter (thread, session, agent, previous, written) and fills the headings \
         `## {required}`, in {} lines at most, with exact commands and paths.",
        handoff::Kind::Session.longest()
    )
}

/// The instruction of a step. Its first line asks for the warning that the person sees.
pub(crate) fn instruction(step: Step, named: &Named<'_>) -> String {
    let warn = format!(
        "The context of this session is at {} tokens. Begin your reply with a one-line warning that says so.",
        named.size()
    );
    let note = named.note.display();
    let rest = match step {
        Step::Checkpoint => format!(
            "Checkpoint: write the state of this thread to its note, then go on with your task. {}",
            named.one_place()
        ),
        Step::Soft => format!(
            "Start closing: take on nothing new, bring what is open to a clean state, write the handoff note, and let \
             the work go on in a fresh session before the next step. {} {} The fresh session starts with: {}",
            named.one_place(),
            headings(),
            named.command()
        ),
        Step::Hard => format!(
            "The handoff note is due now, before any other work: goal, done, left, open decisions, exact next step, \
             files to open. Write it to {note}. {} {} Commit it, then print this command, which starts the fresh \
             session, as the last line of your reply: {}",
            named.one_place(),
            headings(),
            named.command()
        ),
        Step::Stop => format!(
            "Stop: nothing else is done in this session. {} {} {}",
            only(named),
            headings(),
            then(named)
        ),
    };
    format!("{warn}\n{rest}")
}

/// Why a tool is refused at the stop step, and what may be done instead.
pub(crate) fn refusal(named: &Named<'_>, missing: &[String]) -> String {
    let lacks = match missing {
        [] => String::new(),
        missing => format!(" The note is not complete: {}.", missing.join("; ")),
    };
    format!(
        "The context of this session is at {} tokens, which is its end: nothing but the handoff note is done here. {}{lacks} \
         {} {}",
        named.size(),
        only(named),
        headings(),
        then(named)
    )
}

/// What is left to do at the stop step.
fn only(named: &Named<'_>) -> String {
    let note = named.note.display().to_string();
    let quoted = shell_quoted(std::slice::from_ref(&note));
    format!(
        "Allowed are reading and searching, writing {note}, and exactly `git add -- {quoted}` and \
         `git commit -m 'MESSAGE' -- {quoted}`, each as a command of its own; all else is refused until that note is \
         complete."
    )
}

fn then(named: &Named<'_>) -> String {
    format!(
        "Then print this command, which starts the fresh session, as the last line of your reply, and end your turn: {}",
        named.command()
    )
}

/// `412k`, `1M`; exact below a thousand.
fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        _ if count % 1_000_000 < 10_000 => format!("{}M", count / 1_000_000),
        _ => format!("{}.{:02}M", count / 1_000_000, count % 1_000_000 / 10_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "/home/ada/my app/docs/handoffs/login.md";

    fn named() -> Named<'static> {
        Named {
            context_tokens: 412_300,
            window: Some(1_000_000),
            dir: Path::new("/home/ada/my app"),
            note: Path::new(NOTE),
            profile: Some("bugfix"),
        }
    }

    #[test]
    fn every_step_warns_first_and_names_the_note_by_its_whole_path() {
        for step in [Step::Checkpoint, Step::Soft, Step::Hard, Step::Stop] {
            let text = instruction(step, &named());
            let first = text.lines().next().unwrap();
            assert!(
                first.contains("412k of 1M tokens") && first.contains("one-line warning"),
                "{text}"
            );
            assert!(text.contains(NOTE), "{text}");
            // The client cuts longer ones.
            assert!(text.len() < 10_000);
        }
    }

    #[test]
    fn each_step_demands_what_is_its_own() {
        let command =
            format!("sessdeck new --profile bugfix --dir '/home/ada/my app' --from '{NOTE}'");
        for (step, has, lacks) in [
            (
                Step::Checkpoint,
                &["go on with your task", "update it in place"][..],
                &["sessdeck new"][..],
            ),
            (
                Step::Soft,
                &["Start closing", "update it in place", &command],
                &["Commit it"],
            ),
            (
                Step::Hard,
                &["due now", "Commit it", "## Open decisions", &command],
                &["refused"],
            ),
            (
                Step::Stop,
                &["nothing else is done", "git add --", "refused", &command],
                &["go on with"],
            ),
        ] {
            let text = instruction(step, &named());
            for words in has {
                assert!(text.contains(words), "{words} in {text}");
            }
            for words in lacks {
                assert!(!text.contains(words), "{words} in {text}");
            }
        }
        let refused = refusal(&named(), &["no heading `Goal`".into()]);
        for words in ["no heading `Goal`", "git commit -m 'MESSAGE' --", &command] {
            assert!(refused.contains(words), "{refused}");
        }
    }

    #[test]
    fn sizes_read_as_a_person_says_them() {
        for (count, text) in [
            (999, "999"),
            (258_400, "258k"),
            (1_000_000, "1M"),
            (1_048_576, "1.04M"),
        ] {
            assert_eq!(tokens(count), text);
        }
    }
}
