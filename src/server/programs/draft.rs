//! What a person has typed at a program since the last Enter.

/// More than this is a large paste, which nobody wants typed twice.
const LONGEST: usize = 16 << 10;
const ENTER: &[u8] = b"\r";
const PASTE: &[u8] = b"\x1b[200~";
const MOUSE: &[u8] = b"\x1b[<";
const BACKSPACE: u8 = 0x7f;

/// Only as long as it is text; what other keys did to a box nobody here can tell.
#[derive(Debug, Default)]
pub(super) struct Draft {
    text: Vec<u8>,
    spoilt: bool,
}

impl Draft {
    /// One key, paste or report as it is sent to the program.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if bytes == ENTER {
            *self = Self::default();
        } else if bytes.starts_with(MOUSE) {
            // Moves no text.
        } else if is_text(bytes) && self.text.len() + bytes.len() <= LONGEST {
            self.text.extend_from_slice(bytes);
        } else {
            self.spoilt = true;
        }
    }

    /// What has to be typed to have it again.
    pub(super) fn text(&self) -> &[u8] {
        if self.spoilt { &[] } else { &self.text }
    }
}

fn is_text(bytes: &[u8]) -> bool {
    bytes.starts_with(PASTE)
        || bytes
            .iter()
            .all(|byte| !byte.is_ascii_control() || *byte == BACKSPACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_the_text_since_the_last_enter() {
        for (typed, text) in [
            (&["a", "é"][..], "aé"),
            (&["a", "\r", "b", "c"][..], "bc"),
            (&["a", "\u{7f}", "b"][..], "a\u{7f}b"),
            (&["a", "\u{1b}[<35;4;5M", "b"][..], "ab"),
            (
                &["a", "\u{1b}[200~x\ry\u{1b}[201~"][..],
                "a\u{1b}[200~x\ry\u{1b}[201~",
            ),
            (&["a", "\u{1b}[D", "b"][..], ""),
            (&["a", "\u{3}", "b", "\r", "c"][..], "c"),
        ] {
            let mut draft = Draft::default();
            for bytes in typed {
                draft.add(bytes.as_bytes());
            }
            assert_eq!(draft.text(), text.as_bytes(), "{typed:?}");
        }
    }
}
