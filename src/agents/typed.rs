//! Which text of a user row a person typed, and which the client put there.

use crate::deck::topic::OPENINGS;

/// Elements that clients put in front of a prompt, or in place of one.
const ELEMENTS: [&str; 11] = [
    "task-notification",
    "system-reminder",
    "cross-session-message",
    "teammate-message",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "environment_context",
    "user_instructions",
    "turn_aborted",
    "new-diagnostics",
];

/// Families of elements: command echo, its output, the shell mode.
const FAMILIES: [&str; 3] = ["command-", "local-command-", "bash-"];

/// Whether anything is left of the text once what the client put in front is taken off.
pub(super) fn is_typed(text: &str) -> bool {
    let mut left = text.trim_start();
    while let Some(element) = injected(left) {
        match left.split_once(&format!("</{element}>")) {
            Some((_, after)) => left = after.trim_start(),
            None => return false,
        }
    }
    !left.is_empty() && !OPENINGS.iter().any(|opening| left.starts_with(opening))
}

/// The name of the injected element that the text starts with.
fn injected(text: &str) -> Option<&str> {
    let name = text
        .strip_prefix('<')?
        .split(|letter: char| letter == '>' || letter.is_whitespace())
        .next()?;
    (ELEMENTS.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family)))
        .then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_the_client_is_not_typed() {
        for (text, typed) in [
            ("fix it", true),
            ("", false),
            (" \n", false),
            ("<b>bold</b> claim", true),
            ("why does <task-notification> come?", true),
            ("<task-notification>\ndone\n</task-notification>", false),
            ("<task-notification>never closed", false),
            ("<system-reminder>x</system-reminder>\n\nfix it", true),
            (
                "<command-name>/compact</command-name>\n<command-args></command-args>",
                false,
            ),
            ("<local-command-stdout>x</local-command-stdout>", false),
            ("<bash-input>ls</bash-input>", false),
            (
                "<ide_selection id=\"3\">x</ide_selection> shorten this",
                true,
            ),
            ("[Request interrupted by user for tool use]", false),
            ("Stop hook feedback:\n- write the note", false),
            (
                "This session is being continued from a previous conversation that",
                false,
            ),
        ] {
            assert_eq!(is_typed(text), typed, "{text}");
        }
    }
}
