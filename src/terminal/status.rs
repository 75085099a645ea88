//! OSC 7501: what a program says of itself, so that nobody has to guess from its screen.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use super::engine::plain;

/// How much of a message is kept, in characters. It is one line on a screen.
const LONGEST_MESSAGE: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusState {
    Idle,
    Working,
    /// Waits for the person; `kind` says for what.
    Blocked,
    Done,
    Error,
    /// The program takes back what it said, usually because it ends.
    Clear,
}

/// One report. All text is stripped of control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) state: StatusState,
    /// `claude-code`, `codex`.
    pub(crate) app: Option<String>,
    /// `permission` is the only one seen.
    pub(crate) kind: Option<String>,
    pub(crate) message: Option<String>,
}

/// What stands after `7501;`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// Does this terminal know the protocol? The answer is the question.
    Query,
    Status(Status),
}

/// Reads what stands after `7501;`; none if it says nothing that we know.
pub(super) fn parse(body: &[u8]) -> Option<Report> {
    if body == b"?" {
        return Some(Report::Query);
    }
    let text = std::str::from_utf8(body).ok()?;
    let field = |name: &str| {
        text.split(':')
            .filter_map(|field| field.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    };
    // A subagent of the client speaks of itself, not of the session.
    if field("id").is_some() {
        return None;
    }
    let state = match field("state")? {
        "idle" => StatusState::Idle,
        "working" => StatusState::Working,
        "blocked" => StatusState::Blocked,
        "done" => StatusState::Done,
        "error" => StatusState::Error,
        "clear" => StatusState::Clear,
        _ => return None,
    };
    Some(Report::Status(Status {
        state,
        app: field("app").map(|app| plain(app, LONGEST_MESSAGE)),
        kind: field("kind").map(|kind| plain(kind, LONGEST_MESSAGE)),
        message: field("msg").and_then(decode),
    }))
}

fn decode(base64: &str) -> Option<String> {
    let bytes = STANDARD
        .decode(base64)
        .or_else(|_| STANDARD_NO_PAD.decode(base64))
        .ok()?;
    Some(plain(&String::from_utf8_lossy(&bytes), LONGEST_MESSAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_field_by_field() {
        let status = |state, app: &str, kind: Option<&str>, message: Option<&str>| {
            Some(Report::Status(Status {
                state,
                app: (!app.is_empty()).then(|| app.to_owned()),
                kind: kind.map(str::to_owned),
                message: message.map(str::to_owned),
            }))
        };
        for (body, expected) in [
            ("?", Some(Report::Query)),
            (
                "state=idle:app=codex",
                status(StatusState::Idle, "codex", None, None),
            ),
            (
                "state=blocked:app=claude-code:kind=permission:msg=cm0gLXJmIGJ1aWxkPw==",
                status(
                    StatusState::Blocked,
                    "claude-code",
                    Some("permission"),
                    Some("rm -rf build?"),
                ),
            ),
            (
                "state=working:msg=aGk",
                status(StatusState::Working, "", None, Some("hi")),
            ),
            // ESC and newline in the message do not reach a screen.
            (
                "state=error:msg=YRtbMW0KYg==",
                status(StatusState::Error, "", None, Some("a[1m b")),
            ),
            (
                "state=done:msg=%%%",
                status(StatusState::Done, "", None, None),
            ),
            ("state=clear", status(StatusState::Clear, "", None, None)),
            ("state=clear:id=a1:app=claude-code", None),
            ("state=dancing", None),
            ("app=codex", None),
            ("", None),
        ] {
            assert_eq!(parse(body.as_bytes()), expected, "{body}");
        }
    }
}
