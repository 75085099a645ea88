//! Rows of Codex's rollout files.

use memchr::memmem;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::super::text::{Text, bare};
use super::super::typed::is_typed;
use crate::deck::meter::{Compaction, Fact, Last, Usage};

/// Longer rows are parsed only if they can hold something. Outputs of tools grow to many MB.
const LONG: usize = 64 << 10;

/// What a row that can hold something has in it. As parts of strings these would be written with `\"`.
const MARKS: [&str; 8] = [
    "\"token_count\"",
    "\"compacted\"",
    "\"context_compacted\"",
    "\"session_meta\"",
    "\"turn_context\"",
    "\"task_started\"",
    "\"user_message\"",
    "\"UserMessage\"",
];

pub(super) fn facts(line: &[u8]) -> Vec<Fact> {
    let line = bare(line);
    if line.is_empty() {
        return vec![];
    }
    let Ok(text) = str::from_utf8(line) else {
        return vec![Fact::Bad];
    };
    if text.len() > LONG && !can_matter(text) {
        return if text.starts_with('{') && text.ends_with('}') {
            vec![]
        } else {
            vec![Fact::Bad]
        };
    }
    read(text).unwrap_or_else(|_| vec![Fact::Bad])
}

fn can_matter(text: &str) -> bool {
    let has = |mark: &&str| memmem::find(text.as_bytes(), mark.as_bytes()).is_some();
    MARKS.iter().any(has)
}

fn read(text: &str) -> serde_json::Result<Vec<Fact>> {
    let head: Head = serde_json::from_str(text)?;
    let kind = head.payload.and_then(|payload| payload.kind);
    let mut facts = match (head.kind.as_deref(), kind.as_deref()) {
        (Some("session_meta"), _) => payload::<Meta>(text)?.facts(&head.timestamp),
        (Some("turn_context"), _) => payload::<Context>(text)?.facts(),
        (Some("compacted"), _) => vec![Fact::Compacted(Compaction::Record)],
        (Some("event_msg"), Some("context_compacted")) => {
            vec![Fact::Compacted(Compaction::Event)]
        }
        (Some("event_msg"), Some("task_started")) => payload::<Started>(text)?.facts(),
        (Some("event_msg"), Some("token_count")) => payload::<Count>(text)?.facts(),
        (Some("event_msg"), Some("user_message")) => payload::<Message>(text)?.facts(),
        (Some("event_msg"), Some("item_completed")) => item(text)?,
        _ => vec![],
    };
    if !facts.is_empty() {
        facts.insert(0, Fact::Written(second(&head.timestamp)));
    }
    Ok(facts)
}

/// `2026-11-03T10:00:01` of `2026-11-03T10:00:01.037Z`.
fn second(timestamp: &str) -> String {
    timestamp
        .split(['.', 'Z'])
        .next()
        .unwrap_or_default()
        .into()
}

fn payload<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    #[derive(Deserialize)]
    struct Row<T> {
        payload: T,
    }
    serde_json::from_str::<Row<T>>(text).map(|row| row.payload)
}

/// What kind of row it is. Rows of other kinds may have our fields in another shape.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    timestamp: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    payload: Option<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Meta {
    forked_from_id: Option<String>,
    thread_source: Option<String>,
}

impl Meta {
    fn facts(self, timestamp: &str) -> Vec<Fact> {
        let forked = self.forked_from_id.map(|_| Fact::Forked(second(timestamp)));
        let delegated = self.thread_source.as_deref() == Some("subagent");
        forked
            .into_iter()
            .chain(delegated.then_some(Fact::Delegated))
            .collect()
    }
}

#[derive(Deserialize)]
struct Context {
    model: Option<String>,
}

impl Context {
    fn facts(self) -> Vec<Fact> {
        self.model.map(Fact::Model).into_iter().collect()
    }
}

#[derive(Deserialize)]
struct Started {
    model_context_window: Option<u64>,
}

impl Started {
    fn facts(self) -> Vec<Fact> {
        self.model_context_window
            .map(Fact::Window)
            .into_iter()
            .collect()
    }
}

#[derive(Deserialize)]
struct Count {
    /// Null in rows that only tell rate limits.
    info: Option<Info>,
}

#[derive(Deserialize)]
struct Info {
    total_token_usage: Option<Tokens>,
    last_token_usage: Option<Tokens>,
    model_context_window: Option<u64>,
}

/// `input_tokens` holds the cached part, `output_tokens` the reasoning.
#[derive(Clone, Copy, Deserialize)]
struct Tokens {
    #[serde(rename = "input_tokens", default)]
    input: u64,
    #[serde(rename = "output_tokens", default)]
    output: u64,
    #[serde(rename = "total_tokens")]
    total: Option<u64>,
}

impl Tokens {
    fn usage(self) -> Usage {
        Usage {
            input: self.input,
            output: self.output,
        }
    }

    fn total(self) -> u64 {
        self.total
            .unwrap_or_else(|| self.input.saturating_add(self.output))
    }
}

impl Count {
    fn facts(self) -> Vec<Fact> {
        let Some(info) = self.info else {
            return vec![];
        };
        let window = info.model_context_window.map(Fact::Window);
        let last = match info.last_token_usage {
            None => Last::Missing,
            Some(last) if last.usage() != Usage::default() => Last::Call {
                usage: last.usage(),
                context: last.total(),
            },
            Some(last) if last.total() > 0 => Last::Estimate(last.total()),
            Some(_) => Last::Zero,
        };
        let total = info.total_token_usage.map(|total| Fact::Total {
            total: total.total(),
            sums: total.usage(),
            last,
        });
        window.into_iter().chain(total).collect()
    }
}

/// A prompt as clients before the items wrote it.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    message: Text,
}

impl Message {
    fn facts(self) -> Vec<Fact> {
        is_typed(&self.message.0)
            .then_some(Fact::Prompt { id: None })
            .into_iter()
            .collect()
    }
}

/// Items of other kinds have content of other shapes.
fn item(text: &str) -> serde_json::Result<Vec<Fact>> {
    let kind = payload::<Completed<Kind>>(text)?.item.kind;
    if kind.as_deref() != Some("UserMessage") {
        return Ok(vec![]);
    }
    Ok(payload::<Completed<UserMessage>>(text)?.item.facts())
}

#[derive(Deserialize)]
struct Completed<T> {
    item: T,
}

#[derive(Deserialize)]
struct UserMessage {
    id: Option<String>,
    content: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<Text>,
}

impl UserMessage {
    fn facts(self) -> Vec<Fact> {
        let typed = |part: &Part| part.text.as_ref().is_some_and(|text| is_typed(&text.0));
        self.content
            .iter()
            .any(typed)
            .then_some(Fact::Prompt { id: self.id })
            .into_iter()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: &str, payload: &str) -> String {
        format!(r#"{{"timestamp":"2026-11-03T10:00:01.037Z","type":"{kind}","payload":{payload}}}"#)
    }

    fn event(payload: &str) -> String {
        row("event_msg", payload)
    }

    fn count(info: &str) -> String {
        event(&format!(r#"{{"type":"token_count","info":{info}}}"#))
    }

    fn total(total: u64, input: u64, output: u64, last: Last) -> Fact {
        Fact::Total {
            total,
            sums: Usage { input, output },
            last,
        }
    }

    #[test]
    fn rows_become_facts_with_the_second_in_front() {
        let usage = Usage {
            input: 10,
            output: 5,
        };
        let prompt = |id: Option<&str>| Fact::Prompt {
            id: id.map(String::from),
        };
        let all =
            r#""total_token_usage":{"input_tokens":90,"output_tokens":10,"total_tokens":100}"#;
        for (row, expected) in [
            (
                row("turn_context", r#"{"model":"m","cwd":"/"}"#),
                vec![Fact::Model("m".into())],
            ),
            (row("session_meta", r#"{"id":"a"}"#), vec![]),
            (
                row(
                    "session_meta",
                    r#"{"id":"a","forked_from_id":"b","thread_source":"subagent"}"#,
                ),
                vec![Fact::Forked("2026-11-03T10:00:01".into()), Fact::Delegated],
            ),
            (
                row("compacted", r#"{"message":""}"#),
                vec![Fact::Compacted(Compaction::Record)],
            ),
            (
                event(r#"{"type":"context_compacted"}"#),
                vec![Fact::Compacted(Compaction::Event)],
            ),
            (
                event(r#"{"type":"task_started","model_context_window":258400}"#),
                vec![Fact::Window(258_400)],
            ),
            (count("null"), vec![]),
            (
                count(&format!(
                    r#"{{{all},"last_token_usage":{{"input_tokens":10,"output_tokens":5,"total_tokens":15}},"model_context_window":9}}"#
                )),
                vec![
                    Fact::Window(9),
                    total(100, 90, 10, Last::Call { usage, context: 15 }),
                ],
            ),
            (
                count(&format!(
                    r#"{{{all},"last_token_usage":{{"input_tokens":0,"output_tokens":0,"total_tokens":30}}}}"#
                )),
                vec![total(100, 90, 10, Last::Estimate(30))],
            ),
            (
                count(&format!(
                    r#"{{{all},"last_token_usage":{{"input_tokens":0,"output_tokens":0,"total_tokens":0}}}}"#
                )),
                vec![total(100, 90, 10, Last::Zero)],
            ),
            (
                count(&format!("{{{all}}}")),
                vec![total(100, 90, 10, Last::Missing)],
            ),
            (
                event(r#"{"type":"user_message","message":"fix it"}"#),
                vec![prompt(None)],
            ),
            (
                event(
                    r#"{"type":"user_message","message":"<environment_context>x</environment_context>"}"#,
                ),
                vec![],
            ),
            (
                event(
                    r#"{"type":"item_completed","item":{"type":"UserMessage","id":"i","content":[{"type":"text","text":"fix"}]}}"#,
                ),
                vec![prompt(Some("i"))],
            ),
            (
                event(r#"{"type":"item_completed","item":{"type":"New","content":"x"}}"#),
                vec![],
            ),
            (
                row(
                    "response_item",
                    r#"{"type":"message","role":"user","content":[]}"#,
                ),
                vec![],
            ),
            (row("new", r#"{"info":7}"#), vec![]),
        ] {
            let mut facts = facts(row.as_bytes());
            if !expected.is_empty() {
                assert_eq!(
                    facts.remove(0),
                    Fact::Written("2026-11-03T10:00:01".into()),
                    "{row}"
                );
            }
            assert_eq!(facts, expected, "{row}");
        }
    }

    #[test]
    fn lines_that_are_no_rows_are_bad_and_empty_ones_nothing() {
        for (line, expected) in [
            (&b""[..], vec![]),
            (b"\r", vec![]),
            (b"{\"type\":\"event", vec![Fact::Bad]),
            (b"\xFF", vec![Fact::Bad]),
            (
                br#"{"type":"event_msg","payload":{"type":"token_count","info":7}}"#,
                vec![Fact::Bad],
            ),
        ] {
            assert_eq!(facts(line), expected);
        }
    }

    #[test]
    fn long_rows_are_read_only_if_they_can_matter() {
        let filler = "x ".repeat(LONG);
        // Its end is not JSON, which nobody looks at.
        let unread = row("response_item", &format!(r#"{{"output":"{filler}","x":}}"#));
        assert_eq!(facts(unread.as_bytes()), []);
        let cut = &unread[..unread.len() - 1].replace("}}", "");
        assert_eq!(facts(&cut.as_bytes()[..cut.len() - 1]), [Fact::Bad]);
        let compacted = row("compacted", &format!(r#"{{"message":"{filler}"}}"#));
        assert_eq!(facts(compacted.as_bytes()).len(), 2);
    }
}
