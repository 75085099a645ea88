//! Keys that agents read alike.

use std::time::Duration;

use super::Step;

/// Enter within that time after a paste is taken for a part of it; 100 ms was enough on an idle machine.
const AFTER_PASTE: Duration = Duration::from_millis(250);

const ENTER: &[u8] = b"\r";

/// The text as one paste, then Enter.
pub(super) fn paste_and_enter(text: &str) -> Vec<Step> {
    vec![paste(text), Step::Pause(AFTER_PASTE), enter()]
}

pub(super) fn enter() -> Step {
    Step::Bytes(ENTER.into())
}

/// The text as a bracketed paste. Nothing in it can end the paste early.
fn paste(text: &str) -> Step {
    let text = text.replace('\u{1b}', "");
    Step::Bytes(format!("\u{1b}[200~{text}\u{1b}[201~").into_bytes())
}
