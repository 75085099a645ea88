//! Keys that agents read alike.

use std::time::Duration;

use super::Step;

/// Both clients took Enter right after a paste on an idle machine.
const AFTER_PASTE: Duration = Duration::from_millis(150);

/// Sends the keys, then Enter in the client's own form.
pub(super) fn then(keys: String, enter: Step) -> Vec<Step> {
    vec![
        Step::Bytes(keys.into_bytes()),
        Step::Pause(AFTER_PASTE),
        enter,
    ]
}

pub(super) fn enter() -> Step {
    Step::Bytes(b"\r".into())
}

/// The text as a bracketed paste. Nothing in it can end the paste early.
pub(super) fn paste(text: &str) -> String {
    format!("\u{1b}[200~{}\u{1b}[201~", text.replace('\u{1b}', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_cannot_end_itself() {
        assert_eq!(
            paste("a\nb\u{1b}[201~\rrm -rf"),
            "\u{1b}[200~a\nb[201~\rrm -rf\u{1b}[201~"
        );
    }
}
