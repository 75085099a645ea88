//! Handoff notes: what has to stand in one so that a fresh session can go on from it.

/// Whose note it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A session's: a fresh session goes on from it.
    Session,
    /// A subagent's: its parent starts a fresh one from it.
    Agent,
}

impl Kind {
    /// The headings that must stand there and be filled.
    pub(crate) fn required(self) -> &'static [&'static str] {
        match self {
            Self::Session => &[
                "Goal",
                "Done",
                "Left",
                "Open decisions",
                "Next step",
                "Files to open",
            ],
            Self::Agent => &[
                "Brief",
                "Goal",
                "Done",
                "Remains",
                "Next command",
                "State on disk",
                "Gotchas",
            ],
        }
    }

    /// The most lines it may have.
    pub(crate) fn longest(self) -> usize {
        match self {
            Self::Session => 120,
            Self::Agent => 59,
        }
    }
}

/// A field of the front matter, without its quotes.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (front, _) = text.strip_prefix("---\n")?.split_once("\n---")?;
    front.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name)
            .then(|| value.trim().trim_matches(['"', '\'']))
            .filter(|value| !value.is_empty())
    })
}

/// What is wrong with the note: a sentence each; nothing if a fresh session can go on from it.
pub(crate) fn check(kind: Kind, text: &str) -> Vec<String> {
    let sections = sections(text);
    let mut wrong: Vec<String> = kind
        .required()
        .iter()
        .filter_map(|wanted| {
            match sections
                .iter()
                .find(|(heading, _)| heading.eq_ignore_ascii_case(wanted))
            {
                None => Some(format!("no heading `{wanted}`")),
                Some((_, false)) => Some(format!("`{wanted}` is empty")),
                Some((_, true)) => None,
            }
        })
        .collect();
    let lines = text.trim_end().lines().count();
    if lines > kind.longest() {
        wrong.push(format!(
            "{lines} lines, at most {} are read",
            kind.longest()
        ));
    }
    if kind == Kind::Agent && handed_over(text).is_none() {
        wrong.push("the last line is not `HANDOFF: ` and the absolute path of the note".into());
    }
    wrong
}

/// The path in the last line of a subagent's note or answer, `HANDOFF: /absolute/path`.
pub(crate) fn handed_over(text: &str) -> Option<&str> {
    let last = text.trim_end().lines().next_back()?;
    let path = last.strip_prefix("HANDOFF: ")?.trim();
    path.starts_with('/').then_some(path)
}

/// Each `##` heading and whether anything stands below it. Fenced code holds no headings.
fn sections(text: &str) -> Vec<(&str, bool)> {
    let mut sections: Vec<(&str, bool)> = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim_end();
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        match line.strip_prefix("## ").filter(|_| !fenced) {
            Some(heading) => sections.push((heading.trim(), false)),
            None => {
                if let Some((_, filled)) = sections.last_mut() {
                    *filled |= !line.trim().is_empty();
                }
            }
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "---\nthread: login\nsession: \"7\"\n---\n# Login\n\n## Goal\nfix it\n\n## Done\n- a\n## Left\n- b\n\
                        ## Open decisions\nnone\n## Next step\n`make`\n## Files to open\n- src/a.rs\n";

    #[test]
    fn a_note_lacks_what_is_missing_or_empty() {
        let empty = GOOD.replace("## Done\n- a\n", "## Done\n\n");
        let fenced = GOOD.replace("## Goal\n", "```\n## Goal\n```\n");
        for (text, lacks) in [
            (GOOD, &[][..]),
            (
                &GOOD.replace("## Next step", "## Next"),
                &["no heading `Next step`"][..],
            ),
            (&GOOD.to_lowercase(), &[][..]),
            (&empty, &["`Done` is empty"][..]),
            (&fenced, &["no heading `Goal`"][..]),
        ] {
            assert_eq!(check(Kind::Session, text), lacks, "{text}");
        }
        assert_eq!(check(Kind::Session, "").len(), 6);
        let long = GOOD.replace("- a\n", &"- a\n".repeat(102));
        assert_eq!(long.lines().count(), 120);
        assert_eq!(check(Kind::Session, &long), [""; 0]);
        let longer = GOOD.replace("- a\n", &"- a\n".repeat(103));
        assert_eq!(
            check(Kind::Session, &longer),
            ["121 lines, at most 120 are read"]
        );
    }

    #[test]
    fn front_matter_names_the_session() {
        for (text, value) in [
            (GOOD, Some("7")),
            ("session: 7\n", None),
            ("---\nsession:\n---\n", None),
            ("---\nsession: 7\n", None),
        ] {
            assert_eq!(field(text, "session"), value);
        }
    }

    #[test]
    fn a_subagents_note_is_short_and_ends_with_its_place() {
        let headings = Kind::Agent.required().join("\nx\n## ");
        let good = format!("## {headings}\nx\nHANDOFF: /repo/docs/handoffs/agents/c-a1.md\n");
        let long = good.replacen("x\n", &"x\n".repeat(46), 1);
        let end = "the last line is not `HANDOFF: ` and the absolute path of the note";
        for (text, lacks) in [
            (&good, vec![]),
            (&long, vec!["60 lines, at most 59 are read"]),
            (&good.replace("/repo", "repo"), vec![end]),
            (&good.replace("HANDOFF", "see HANDOFF"), vec![end]),
            (
                &good.replace("## Remains\nx\n", ""),
                vec!["no heading `Remains`"],
            ),
        ] {
            assert_eq!(check(Kind::Agent, text), lacks, "{text}");
        }
        assert_eq!(
            handed_over(&good),
            Some("/repo/docs/handoffs/agents/c-a1.md")
        );
    }
}
