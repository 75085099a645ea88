//! Codex runs a hook only if its hash is trusted. The client itself states the hash; we ask, and hand it back on
//! the session's own command line.

use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::super::{Question, Trust};
use super::quote;

/// The number of our request, which the answer repeats.
const REQUEST: u64 = 2;

/// Asks a server of the client's own for the hooks that it sees in `dir`. It ends when its stdin does.
pub(super) fn question(program: &str, hooks: &[(String, String)], dir: &Path) -> Question {
    let mut argv = vec![program.into(), "app-server".into()];
    for (key, value) in hooks {
        argv.extend(["-c".into(), format!("{key}={value}")]);
    }
    let client =
        json!({ "name": "sessdeck", "title": "sessdeck", "version": env!("CARGO_PKG_VERSION") });
    let lines = [
        json!({ "id": 1, "method": "initialize", "params": { "clientInfo": client } }),
        json!({ "method": "initialized" }),
        json!({ "id": REQUEST, "method": "hooks/list", "params": { "cwds": [dir] } }),
    ];
    Question {
        argv,
        stdin: lines.map(|line| format!("{line}\n")).concat(),
    }
}

/// The hooks of the command line in the answer; none if the line is not the answer. An answer that says that it
/// failed holds none.
pub(super) fn answer(line: &[u8]) -> Option<Vec<Trust>> {
    let answer: Answer = serde_json::from_slice(line).ok()?;
    if answer.id != REQUEST {
        return None;
    }
    let hooks = answer.result.unwrap_or_default().data.into_iter();
    let ours = hooks
        .flat_map(|folder| folder.hooks)
        .filter(|hook| hook.source == "sessionFlags");
    Some(
        ours.map(|hook| Trust {
            key: hook.key,
            hash: hook.current_hash,
        })
        .collect(),
    )
}

/// Whether all hooks that run this command are trusted, out of the answer to a question without hooks of its own; none if
/// the line is not the answer or names none of them.
pub(super) fn trusted(line: &[u8], command: &str) -> Option<bool> {
    let answer: Answer = serde_json::from_slice(line).ok()?;
    if answer.id != REQUEST {
        return None;
    }
    let hooks = answer.result.unwrap_or_default().data.into_iter();
    let ours: Vec<Hook> = hooks
        .flat_map(|folder| folder.hooks)
        .filter(|hook| hook.command.as_deref() == Some(command))
        .collect();
    let is_trusted = |hook: &Hook| hook.trust_status.as_deref() == Some("trusted");
    (!ours.is_empty()).then(|| ours.iter().all(is_trusted))
}

/// The trust entries as a TOML table on one line.
pub(super) fn table(trust: &[Trust]) -> String {
    let entries: Vec<String> = trust
        .iter()
        .map(|trust| {
            let (key, hash) = (quote::toml(&trust.key), quote::toml(&trust.hash));
            format!("{key}={{trusted_hash={hash}}}")
        })
        .collect();
    format!("{{{}}}", entries.join(","))
}

#[derive(Deserialize)]
struct Answer {
    id: u64,
    result: Option<Listed>,
}

#[derive(Default, Deserialize)]
struct Listed {
    data: Vec<Folder>,
}

#[derive(Deserialize)]
struct Folder {
    hooks: Vec<Hook>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hook {
    key: String,
    current_hash: String,
    source: String,
    command: Option<String>,
    trust_status: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn hooks_are_trusted_when_all_that_run_the_command_are() {
        let hook = |command: &str, status: &str| json!({ "key": "k", "currentHash": "h", "source": "user", "command": command, "trustStatus": status });
        let line = |hooks: &[serde_json::Value]| {
            json!({ "id": 2, "result": { "data": [{ "hooks": hooks }] } }).to_string()
        };
        for (hooks, expected) in [
            (&[][..], None),
            (&[hook("other", "trusted")], None),
            (
                &[hook("ours", "trusted"), hook("other", "untrusted")],
                Some(true),
            ),
            (
                &[hook("ours", "trusted"), hook("ours", "modified")],
                Some(false),
            ),
        ] {
            assert_eq!(trusted(line(hooks).as_bytes(), "ours"), expected);
        }
        assert_eq!(trusted(b"{\"id\":1}", "ours"), None);
    }

    #[test]
    fn the_clients_answer_becomes_trust_entries() {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/codex/hooks-list.jsonl");
        let recorded = fs::read(file).unwrap();
        let answers: Vec<Vec<Trust>> = recorded
            .split(|byte| *byte == b'\n')
            .filter_map(answer)
            .collect();
        let [trust] = &answers[..] else {
            panic!("{answers:?}");
        };
        assert_eq!(trust.len(), 7);
        let table: toml::Table = format!("state={}", table(trust)).parse().unwrap();
        assert_eq!(
            table["state"]["/<session-flags>/config.toml:permission_request:0:0"]["trusted_hash"]
                .as_str(),
            Some("sha256:bc0ae0d62e78c90091a2354e9b53d6234d0836dd6b68e25f5db2f123062b7946")
        );
    }

    #[test]
    fn other_lines_are_no_answer_and_a_failure_is_an_empty_one() {
        for (line, expected) in [
            (r#"{"id":1,"result":{"userAgent":"x"}}"#, None),
            (r#"{"method":"configWarning","params":{}}"#, None),
            ("not json", None),
            (
                r#"{"id":2,"error":{"code":-32601,"message":"unknown"}}"#,
                Some(vec![]),
            ),
            (
                r#"{"id":2,"result":{"data":[{"hooks":[{"key":"a","currentHash":"h","source":"user"}]}]}}"#,
                Some(vec![]),
            ),
        ] {
            assert_eq!(answer(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn the_question_is_asked_in_whole_lines() {
        let hooks = [("hooks.Stop".to_owned(), "[]".to_owned())];
        let question = question("/usr/bin/codex", &hooks, Path::new("/home/dev/shop"));
        assert_eq!(
            question.argv,
            ["/usr/bin/codex", "app-server", "-c", "hooks.Stop=[]"]
        );
        let methods: Vec<String> = question
            .stdin
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["method"].to_string()
            })
            .collect();
        assert_eq!(
            methods,
            ["\"initialize\"", "\"initialized\"", "\"hooks/list\""]
        );
        assert!(question.stdin.contains("\"/home/dev/shop\""));
    }
}
