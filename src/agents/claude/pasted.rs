//! Longer pastes stand in the box as `[Pasted text #1]`. To the hook and the model the client sends them with a mark
//! around each; what the person sees as their prompt is the text without the marks.

/// The prompt without the marks. The client makes the id in them up, so no text of a person's looks like one.
pub(super) fn unmarked(prompt: &str) -> String {
    let mut unmarked = String::new();
    let mut left = prompt;
    while let Some((before, paste, after)) = first_paste(left) {
        unmarked.push_str(before);
        unmarked.push_str(paste);
        left = after;
    }
    unmarked.push_str(left);
    unmarked
}

/// What stands before the first paste, the paste, and what comes after it.
fn first_paste(text: &str) -> Option<(&str, &str, &str)> {
    let (before, opened) = text.split_once("\n\n<pasted_content id=\"")?;
    let (id, body) = opened.split_once("\">\n")?;
    let (paste, after) = body.split_once(&format!("\n</pasted_content id=\"{id}\">\n"))?;
    Some((before, paste, after.strip_prefix('\n').unwrap_or(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prompts as version 2.1.332 hands them to its hook.
    #[test]
    fn a_prompt_is_what_the_person_sees() {
        let one = "\n\n<pasted_content id=\"e7b6\">\na\n  b\n\nc\n</pasted_content id=\"e7b6\">\n";
        let two = "look at \n\n<pasted_content id=\"7545\">\na\nb\n</pasted_content id=\"7545\">\n\n and fix\nsecond \
                   line \n\n<pasted_content id=\"7545\">\nq\nr\n</pasted_content id=\"7545\">\n";
        let other = "\n\n<pasted_content id=\"1\">\nx\n</pasted_content id=\"2\">\n";
        for (prompt, expected) in [
            ("plain", "plain"),
            (one, "a\n  b\n\nc"),
            (two, "look at a\nb and fix\nsecond line q\nr"),
            (other, other),
            ("why <pasted_content>?", "why <pasted_content>?"),
        ] {
            assert_eq!(unmarked(prompt), expected);
        }
    }
}
