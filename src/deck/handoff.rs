//! Handoff notes: what has to stand in one so that a fresh session can go on from it.

/// The headings that a note of a session must fill.
const REQUIRED: [&str; 6] = [
    "Goal",
    "Done",
    "Left",
    "Open decisions",
    "Next step",
    "Files to open",
];

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

/// What the note lacks: a sentence for each required heading that is missing or empty.
pub(crate) fn missing(text: &str) -> Vec<String> {
    let sections = sections(text);
    REQUIRED
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
        .collect()
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
            assert_eq!(missing(text), lacks, "{text}");
        }
        assert_eq!(missing("").len(), REQUIRED.len());
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
}
