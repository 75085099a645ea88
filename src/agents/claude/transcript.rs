//! Rows of Claude Code's transcripts.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

use super::super::text::{Text, bare};
use super::super::typed::is_typed;
use crate::deck::meter::{Compaction, Fact, Usage};

/// Longer rows are parsed only if they can hold something. Tool results and request copies grow to many MB.
const LONG: usize = 64 << 10;

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
    match read(text) {
        Ok(fact) => fact.into_iter().collect(),
        Err(_) => vec![Fact::Bad],
    }
}

/// Whether the row can hold a call, a compaction or a prompt. Inside of strings its quotes would be `\"`.
fn can_matter(text: &str) -> bool {
    let has = |mark: &str| memmem::find(text.as_bytes(), mark.as_bytes()).is_some();
    has("\"assistant\"")
        || has("\"compact_boundary\"")
        || has("\"user\"") && !has("\"tool_result\"")
}

fn read(text: &str) -> serde_json::Result<Option<Fact>> {
    let head: Head<'_> = serde_json::from_str(text)?;
    Ok(match (head.kind.as_deref(), head.subtype.as_deref()) {
        (Some("assistant"), _) => serde_json::from_str::<Assistant>(text)?.fact(),
        (Some("user"), _) => serde_json::from_str::<User>(text)?.fact(),
        (Some("system"), Some("compact_boundary")) => {
            serde_json::from_str::<Boundary>(text)?.fact()
        }
        _ => None,
    })
}

/// What kind of row it is. Rows of other kinds may have our fields in another shape.
#[derive(serde::Deserialize)]
struct Head<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    subtype: Option<Cow<'a, str>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assistant {
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_api_error_message: bool,
    request_id: Option<String>,
    message: Message,
}

#[derive(serde::Deserialize)]
struct Message {
    id: Option<String>,
    model: Option<String>,
    usage: Option<Tokens>,
}

/// Entries in `iterations` are parts of the call or of other models' calls, and stay out.
#[derive(serde::Deserialize)]
struct Tokens {
    #[serde(rename = "input_tokens")]
    fresh: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    written: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    read: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
}

impl Assistant {
    fn fact(self) -> Option<Fact> {
        let tokens = self.message.usage?;
        let input = [tokens.fresh, tokens.written, tokens.read];
        let usage = Usage {
            input: input.into_iter().flatten().fold(0, u64::saturating_add),
            output: tokens.output.unwrap_or(0),
        };
        let model = self.message.model.unwrap_or_else(|| "unknown".into());
        if self.is_api_error_message || model == "<synthetic>" || usage == Usage::default() {
            return None;
        }
        let filled = |id: &String| !id.is_empty();
        let message = self.message.id.filter(filled);
        let request = self.request_id.filter(filled);
        Some(Fact::Call {
            // The two kinds of ids must not meet.
            key: message.or(request.map(|id| format!("request {id}"))),
            model,
            usage,
            sidechain: self.is_sidechain,
        })
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct User {
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_compact_summary: bool,
    prompt_source: Option<String>,
    uuid: Option<String>,
    message: UserMessage,
}

#[derive(serde::Deserialize)]
struct UserMessage {
    #[serde(default)]
    content: Content,
}

impl User {
    fn fact(self) -> Option<Fact> {
        let by_person = self
            .prompt_source
            .is_none_or(|source| matches!(source.as_str(), "typed" | "queued" | "sdk"));
        let typed = by_person
            && !self.is_sidechain
            && !self.is_meta
            && !self.is_compact_summary
            && self.message.content.typed;
        typed.then_some(Fact::Prompt { id: self.uuid })
    }
}

/// A string or a list of blocks, read only for whether a person typed any of it.
#[derive(Default)]
struct Content {
    typed: bool,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Blocks)
    }
}

struct Blocks;

impl<'de> Visitor<'de> for Blocks {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or blocks")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Content, E> {
        Ok(Content {
            typed: is_typed(&String::from_utf8_lossy(bytes)),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Content, A::Error> {
        let (mut text, mut result) = (false, false);
        while let Some(block) = blocks.next_element::<Block>()? {
            text |= block.text.is_some_and(|text| is_typed(&text.0));
            result |= block.tool_use_id.is_some();
        }
        Ok(Content {
            typed: text && !result,
        })
    }
}

#[derive(serde::Deserialize)]
struct Block {
    text: Option<Text>,
    /// Only results of tools have one.
    tool_use_id: Option<IgnoredAny>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Boundary {
    #[serde(default)]
    is_sidechain: bool,
    uuid: Option<String>,
    compact_metadata: Option<Metadata>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    post_tokens: Option<u64>,
}

impl Boundary {
    fn fact(self) -> Option<Fact> {
        (!self.is_sidechain).then(|| {
            Fact::Compacted(Compaction::Boundary {
                id: self.uuid,
                left: self.compact_metadata.and_then(|data| data.post_tokens),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(key: &str, input: u64, output: u64) -> Vec<Fact> {
        vec![Fact::Call {
            key: (!key.is_empty()).then(|| key.into()),
            model: "m".into(),
            usage: Usage { input, output },
            sidechain: false,
        }]
    }

    fn prompt() -> Vec<Fact> {
        vec![Fact::Prompt {
            id: Some("u".into()),
        }]
    }

    /// A row with `usage` of 1+2+3 in and 4 out, and `more` fields in the row and in its message.
    fn assistant(row: &str, message: &str) -> String {
        format!(
            r#"{{"type":"assistant"{row},"message":{{"model":"m"{message},"usage":{{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":4,"iterations":[{{"input_tokens":900}}]}}}}}}"#
        )
    }

    fn user(row: &str, content: &str) -> String {
        format!(
            r#"{{"message":{{"role":"user","content":{content}}},"type":"user","uuid":"u"{row}}}"#
        )
    }

    #[test]
    fn only_assistant_rows_with_usage_are_calls() {
        let blob = r#"{"type":"api-request-blob","message":{"role":"assistant","usage":{"input_tokens":5}}}"#;
        for (row, expected) in [
            (assistant("", r#","id":"a""#), call("a", 6, 4)),
            (assistant(r#","requestId":"r""#, r#","id":"a""#), call("a", 6, 4)),
            (assistant(r#","requestId":"r""#, ""), call("request r", 6, 4)),
            (assistant(r#","requestId":null"#, r#","id":"""#), call("", 6, 4)),
            (assistant(r#","isApiErrorMessage":true"#, ""), vec![]),
            (r#"{"type":"assistant","message":{"model":"m"}}"#.into(), vec![]),
            (
                r#"{"type":"assistant","message":{"model":"m","usage":{"input_tokens":0,"output_tokens":0}}}"#.into(),
                vec![],
            ),
            (
                r#"{"type":"assistant","message":{"model":"<synthetic>","usage":{"input_tokens":9}}}"#.into(),
                vec![],
            ),
            (
                r#"{"type":"assistant","message":{"usage":null}}"#.into(),
                vec![],
            ),
            (r#"{"type":"assistant","message":"moved"}"#.into(), vec![Fact::Bad]),
            (blob.into(), vec![]),
            (r#"{"type":"new","message":7,"uuid":[],"isSidechain":"x"}"#.into(), vec![]),
            (r#"{"type":"assistant","mess"#.into(), vec![Fact::Bad]),
            ("\u{feff}  \r".into(), vec![]),
        ] {
            assert_eq!(facts(row.as_bytes()), expected, "{row}");
        }
        assert_eq!(facts(b"{\"a\":\"\xC3\"}"), [Fact::Bad]);
    }

    #[test]
    fn a_prompt_is_what_a_person_typed() {
        for (row, content, expected) in [
            ("", r#""fix it""#, prompt()),
            ("", r#""half \ud83d""#, prompt()),
            (
                "",
                r#"[{"type":"text","text":"fix"},{"type":"image","source":{}}]"#,
                prompt(),
            ),
            (
                "",
                r#"[{"type":"tool_result","tool_use_id":"t","content":"x"}]"#,
                vec![],
            ),
            ("", r#"[{"type":"image"}]"#, vec![]),
            ("", "\"\"", vec![]),
            ("", r#""<bash-input>ls</bash-input>""#, vec![]),
            (r#","isMeta":true"#, r#""x""#, vec![]),
            (r#","isCompactSummary":true"#, r#""x""#, vec![]),
            (r#","isSidechain":true"#, r#""x""#, vec![]),
            (r#","promptSource":"typed""#, r#""x""#, prompt()),
            (r#","promptSource":"queued""#, r#""x""#, prompt()),
            (r#","promptSource":"sdk""#, r#""x""#, prompt()),
            (r#","promptSource":"system""#, r#""x""#, vec![]),
        ] {
            assert_eq!(
                facts(user(row, content).as_bytes()),
                expected,
                "{row} {content}"
            );
        }
    }

    #[test]
    fn long_rows_are_read_only_if_they_can_matter() {
        let filler = "x\\\"assistant\\\" ".repeat(20_000);
        let result =
            format!(r#"[{{"tool_use_id":"t","type":"tool_result","content":"{filler}"}}]"#);
        // Its end is not JSON, which nobody looks at.
        let unread = user("", &result).replace(r#""uuid":"u""#, r#""uuid":}"#);
        assert!(unread.len() > LONG);
        for (row, expected) in [
            (unread, vec![]),
            (user("", &result), vec![]),
            (user("", &format!(r#""{filler}""#)), prompt()),
            (
                assistant(&format!(r#","x":"{filler}""#), r#","id":"a""#),
                call("a", 6, 4),
            ),
            (format!(r#"{{"type":"mode","x":"{filler}"#), vec![Fact::Bad]),
        ] {
            assert_eq!(
                facts(row.as_bytes()),
                expected,
                "{}",
                &row[row.len() - 60..]
            );
        }
    }

    #[test]
    fn a_boundary_of_a_subagent_is_none_of_ours() {
        let row = |more: &str| {
            format!(
                r#"{{"type":"system","subtype":"compact_boundary","uuid":"u","compactMetadata":{{"preTokens":9,"postTokens":3}}{more}}}"#
            )
        };
        let boundary = Fact::Compacted(Compaction::Boundary {
            id: Some("u".into()),
            left: Some(3),
        });
        assert_eq!(facts(row("").as_bytes()), [boundary]);
        assert_eq!(facts(row(r#","isSidechain":true"#).as_bytes()), []);
    }
}
