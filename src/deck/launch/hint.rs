//! What a session is told about itself, at the end of the agent's system prompt.

use std::fmt::Write as _;

use crate::deck::profile::Profile;

/// The hint of a session: what it is for, how to begin, and where side ideas and handoff notes go.
pub(crate) fn hint(profile: Option<&Profile>, inbox: &str, handoffs: &str) -> String {
    let mut hint = String::new();
    if let Some(profile) = profile {
        let about = match profile.about.as_str() {
            "" => String::new(),
            about => format!(": {about}"),
        };
        add(
            &mut hint,
            format_args!("This session is for `{}`{about}.", profile.name),
        );
        if let Some(own) = &profile.hint {
            add(&mut hint, format_args!("{own}"));
        }
        if let Some(skill) = &profile.skill {
            add(
                &mut hint,
                format_args!("Load the skill `{skill}` before you begin."),
            );
        }
        if let Some(file) = &profile.start_file {
            add(&mut hint, format_args!("Read `{file}` first."));
        }
    }
    add(
        &mut hint,
        format_args!(
            "Work on this one topic. Whatever else comes up is not done here: park it with `sessdeck park TEXT`, \
             which adds one line to the inbox, `{inbox}`, and go on."
        ),
    );
    add(
        &mut hint,
        format_args!(
            "When you are asked for a handoff note, it goes into `{}/`.",
            handoffs.trim_end_matches('/')
        ),
    );
    hint
}

fn add(hint: &mut String, sentence: std::fmt::Arguments<'_>) {
    if !hint.is_empty() {
        hint.push('\n');
    }
    let _infallible = hint.write_fmt(sentence);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_says_what_for_how_to_begin_and_where_things_go() {
        let profile = Profile {
            name: "bugfix".into(),
            about: "mend what is broken".into(),
            hint: Some("Reproduce it first.".into()),
            skill: Some("debugging".into()),
            start_file: Some("docs/bugs.md".into()),
            ..Profile::default()
        };
        let ends = "Work on this one topic. Whatever else comes up is not done here: park it with `sessdeck park \
                    TEXT`, which adds one line to the inbox, `todo.md`, and go on.\n\
                    When you are asked for a handoff note, it goes into `notes/`.";
        let begins = "This session is for `bugfix`: mend what is broken.\nReproduce it first.\n\
                      Load the skill `debugging` before you begin.\nRead `docs/bugs.md` first.\n";
        assert_eq!(
            hint(Some(&profile), "todo.md", "notes"),
            format!("{begins}{ends}")
        );
        assert_eq!(hint(None, "todo.md", "notes/"), ends);
    }
}
