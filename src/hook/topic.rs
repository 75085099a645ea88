//! The topic check: a prompt that belongs to another profile is held back, a side thought is parked.

use std::path::Path;
use std::time::UNIX_EPOCH;

use super::{Answer, Hook, Outcome, Record};
use crate::config::load::Here;
use crate::config::settings::Park;
use crate::deck::inbox;
use crate::deck::launch::{self, shell_quoted};
use crate::deck::profile::Profile;
use crate::deck::topic::{self, Verdict};
use crate::error::Error;
use crate::files::blocked::{self, BlockedPrompt};
use crate::files::hook_state::hash;
use crate::files::inbox::InboxFile;
use crate::protocol::hook::{Blocked, HookEvent};
use crate::terminal::plain;

/// A longer prompt is opened by the number it was stored under.
const LONGEST_COMMAND: usize = 240;

/// What the check leaves to be done.
pub(super) enum Judged {
    /// The prompt goes through.
    Through(Record),
    /// It goes through with an instruction for the model.
    With(String),
    /// It does not.
    Held(Outcome),
}

impl Hook<'_> {
    /// The topic check of a prompt.
    pub(super) fn judge(&self, prompt: &str) -> Judged {
        let through = |why| Judged::Through(Record::of(why));
        let here = self.here();
        // The task a session was started with is what it is for.
        if self.inside.task.as_deref() == Some(hash(prompt).as_str()) {
            return through("task");
        }
        let set = &here.set.profiles;
        let current = self.inside.profile.as_deref().unwrap_or_default();
        match topic::check(prompt, current, set) {
            Verdict::Pass => through("pass"),
            Verdict::Short => through("short"),
            Verdict::Slash => through("slash"),
            Verdict::Force => through("force"),
            Verdict::Park { text } => self.park(prompt, &text, here),
            Verdict::Block { profile, matched } => {
                let passes = self.file();
                if passes.is_some_and(|file| file.take_pass(prompt, self.now).unwrap_or(false)) {
                    return Judged::Through(Record {
                        profile: Some(profile),
                        matched,
                        ..Record::of("sent")
                    });
                }
                self.block(prompt, here, &profile, matched)
                    .map_or(through("pass"), Judged::Held)
            }
        }
    }

    fn park(&self, prompt: &str, text: &str, here: &Here) -> Judged {
        let profile = launch::choose(text, &here.set.profiles);
        let profile = profile.winner.filter(|_| !profile.matched.is_empty());
        let line = inbox::line(&super::today(), profile.as_deref(), &located(text));
        if line.is_empty() {
            let reason = format!(
                "nothing to park: write the idea behind `{}`",
                here.set.profiles.signs.park
            );
            return Judged::Held(held("empty park", reason));
        }
        let inbox = InboxFile::new(
            &here.repo.root,
            Path::new(&here.settings.inbox),
            &self.dirs.state,
        );
        let file = match inbox {
            Ok(file) => file,
            Err(error) => return Judged::Held(not_parked(&error)),
        };
        if here.settings.park == Park::Model {
            return Judged::With(told_to_park(&line, file.path()));
        }
        let first = plain(line.lines().next().unwrap_or_default());
        Judged::Held(match file.append(&line) {
            Ok(()) => Outcome {
                answer: Answer::Block(format!(
                    "parked in the inbox, no turn spent: {first}{}",
                    self.how_to_empty_the_box()
                )),
                event: HookEvent::Parked {
                    line: first,
                    prompt: prompt.to_owned(),
                },
                record: Record::of("parked"),
            },
            // The idea is still in the person's hands.
            Err(error) => not_parked(&error),
        })
    }

    /// In the deck the box is emptied for the person; elsewhere the client leaves the prompt in it.
    fn how_to_empty_the_box(&self) -> String {
        match (self.inside.socket.is_some(), self.dialect.empties_box()) {
            (false, Some(key)) => format!("\n(the text is back in the box: {key} empties it)"),
            _ => String::new(),
        }
    }

    fn block(
        &self,
        prompt: &str,
        here: &Here,
        other: &str,
        matched: Vec<String>,
    ) -> Option<Outcome> {
        let set = &here.set.profiles;
        let current = set.named(self.inside.profile.as_deref()?)?;
        let other = set.named(other)?;
        let command = command(prompt, other);
        let at = self.now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let blocked = BlockedPrompt {
            at: u64::try_from(at.as_millis()).unwrap_or(u64::MAX),
            session: self.inside.session,
            agent: self.agent.to_owned(),
            conversation: self.call.conversation.clone(),
            dir: self.call.dir.clone().unwrap_or_default(),
            current: current.name.clone(),
            other: other.name.clone(),
            matched: matched.clone(),
            command: command.clone(),
            prompt: prompt.to_owned(),
        };
        // A prompt that cannot be stored is not blocked: nothing typed may be lost.
        let stored = self.written(blocked::store(&self.dirs.state, &blocked))?;
        let reason = format!(
            "this looks like `{}`, and this session is for `{}` (matched: {})\n\
             open it as its own session{}: {command}\n\
             or send it here all the same: put {} at its end\n\
             or park it in the inbox: put {} in front",
            other.name,
            current.name,
            matched.join(", "),
            thinking(other),
            set.signs.force,
            set.signs.park,
        );
        let (current, other) = (current.name.clone(), other.name.clone());
        Some(Outcome {
            answer: Answer::Block(plain_lines(&reason)),
            record: Record {
                profile: Some(other.clone()),
                matched: matched.clone(),
                ..Record::of("block")
            },
            event: HookEvent::Blocked(Blocked {
                stored,
                current,
                other,
                matched,
                command,
            }),
        })
    }
}

/// The prompt is held back, and nothing else comes of it.
fn held(verdict: &'static str, reason: String) -> Outcome {
    Outcome {
        answer: Answer::Block(reason),
        event: HookEvent::Other {
            name: verdict.to_owned(),
        },
        record: Record::of(verdict),
    }
}

/// The idea is still in the person's hands: the block puts it back, and says why it was not written.
fn not_parked(error: &Error) -> Outcome {
    held("park failed", format!("not parked: {}", error.line()))
}

/// The text of a side thought with the place it names, where its first line, which becomes the inbox line, names none.
fn located(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    match (topic::place(first), topic::place(rest)) {
        (None, Some(place)) => format!("{}, {place}\n{rest}", first.trim_end()),
        _ => text.to_owned(),
    }
}

/// What the model is told where it writes the inbox itself.
fn told_to_park(line: &str, inbox: &Path) -> String {
    let line = line.trim_end();
    format!(
        "This prompt is a side thought of the person's, to be parked and not worked on. Append it to {} as one line of \
         the form `- [ ] DATE #PROFILE what, where`, change nothing else in that file, confirm it in a few words, and \
         return to the task you were at. The line as it is known now:\n{line}",
        inbox.display()
    )
}

/// With which model and effort a session of that profile thinks.
fn thinking(profile: &Profile) -> String {
    let words: Vec<&str> = [&profile.model, &profile.effort]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    if words.is_empty() {
        String::new()
    } else {
        format!(" ({})", words.join(", "))
    }
}

/// Each line without control characters.
fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// The command that opens the prompt as a session of that profile.
fn command(prompt: &str, profile: &Profile) -> String {
    if prompt.contains('\n') || prompt.len() > LONGEST_COMMAND {
        return "sessdeck blocked open 1".to_owned();
    }
    let mut argv = vec![
        "sessdeck".to_owned(),
        "new".to_owned(),
        "--profile".to_owned(),
        profile.name.clone(),
    ];
    for (flag, value) in [("--model", &profile.model), ("--effort", &profile.effort)] {
        if let Some(value) = value {
            argv.extend([flag.to_owned(), value.clone()]);
        }
    }
    argv.extend(["--".to_owned(), prompt.to_owned()]);
    shell_quoted(&argv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_thought_says_where_in_its_one_line() {
        for (text, expected) in [
            (
                "the total is wrong in src/money.rs",
                "the total is wrong in src/money.rs",
            ),
            ("the total is wrong", "the total is wrong"),
            (
                "the total is wrong\nsee src/money.rs:12",
                "the total is wrong, src/money.rs:12\nsee src/money.rs:12",
            ),
        ] {
            assert_eq!(located(text), expected);
        }
    }

    #[test]
    fn the_command_names_model_and_effort() {
        let docs = Profile {
            name: "docs".into(),
            model: Some("opus".into()),
            effort: Some("high".into()),
            ..Profile::default()
        };
        assert_eq!(
            command("write it's end", &docs),
            r#"sessdeck new --profile docs --model opus --effort high -- "write it's end""#
        );
        assert_eq!(command("a\nb", &docs), "sessdeck blocked open 1");
        assert_eq!(thinking(&docs), " (opus, high)");
        assert_eq!(thinking(&Profile::default()), "");
    }
}
