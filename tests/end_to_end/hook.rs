//! A conversation as its hooks see it: a transcript, events on stdin, answers on stdout. No server, no client.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::home::{Home, SESSDECK};

pub(crate) struct Chat {
    pub(crate) home: Home,
    pub(crate) agent: &'static str,
    pub(crate) id: String,
    rows: usize,
    env: Vec<(String, String)>,
}

impl Chat {
    pub(crate) fn new() -> Self {
        let home = Home::new();
        home.write("transcripts/c1.jsonl", "");
        Self {
            home,
            agent: "claude",
            id: "c1".into(),
            rows: 0,
            env: Vec::new(),
        }
    }

    pub(crate) fn env(&mut self, name: &str, value: &str) {
        self.env.push((name.into(), value.into()));
    }

    pub(crate) fn add(&self, row: &Value) {
        let path = self.home.path(&format!("transcripts/{}.jsonl", self.id));
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .expect("a file of our own");
        writeln!(file, "{row}").expect("a file of our own");
    }

    /// The client has had an answer after which the context holds so much.
    pub(crate) fn holds(&mut self, tokens: u64) -> &mut Self {
        self.holds_with("claude-opus-5-5", tokens)
    }

    pub(crate) fn holds_with(&mut self, model: &str, tokens: u64) -> &mut Self {
        self.rows += 1;
        let usage = json!({ "input_tokens": 7, "cache_read_input_tokens": tokens - 17, "output_tokens": 10 });
        self.add(&json!({ "type": "assistant", "message": {
            "id": format!("m{}", self.rows), "model": model, "usage": usage,
        } }));
        self
    }

    /// What the hook answers; null where it says nothing.
    pub(crate) fn hook(&self, event: &str, fields: &Value) -> Value {
        let mut input = json!({
            "hook_event_name": event,
            "session_id": self.id,
            "cwd": self.home.repo(),
            "transcript_path": self.home.path(&format!("transcripts/{}.jsonl", self.id)),
        });
        let more = fields.as_object().expect("an object").clone();
        input.as_object_mut().expect("an object").extend(more);
        let said = self.run(input.to_string().as_bytes());
        assert!(said.stderr.is_empty(), "{said:?}");
        assert_eq!(said.status.code(), Some(0));
        if said.stdout.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(&said.stdout).expect("one answer")
    }

    /// One run of the hook with these bytes on its input.
    pub(crate) fn run(&self, input: &[u8]) -> Output {
        let mut child = self
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program under test");
        let mut stdin = child.stdin.take().expect("a pipe");
        // It may have read enough.
        stdin.write_all(input).ok();
        drop(stdin);
        child.wait_with_output().expect("its output")
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(SESSDECK);
        command
            .args(["hook", self.agent])
            .env_clear()
            .envs(self.home.variables())
            .env("HOME", self.home.path("home"))
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}
