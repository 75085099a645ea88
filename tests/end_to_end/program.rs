//! A program and all it is started with.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::patience::PATIENCE;
use crate::terminal::Terminal;

/// Sees of our environment what it is given, nothing else.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// A process of the namespace to start in, by its id outside.
    namespace: Option<i32>,
    words: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    folder: PathBuf,
}

impl Program {
    pub(crate) fn new(name: impl Into<OsString>, folder: impl Into<PathBuf>) -> Self {
        Self {
            namespace: None,
            words: vec![name.into()],
            environment: Vec::new(),
            folder: folder.into(),
        }
    }

    pub(crate) fn within(mut self, process: i32) -> Self {
        self.namespace = Some(process);
        self
    }

    pub(crate) fn args(mut self, words: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.words.extend(words.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    pub(crate) fn envs(
        self,
        variables: impl IntoIterator<Item = (impl Into<OsString>, impl Into<OsString>)>,
    ) -> Self {
        let each = variables.into_iter();
        each.fold(self, |program, (name, value)| program.env(name, value))
    }

    pub(crate) fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Starts it in a terminal of that size.
    pub(crate) fn open(&self, columns: u16, rows: u16) -> Terminal {
        // `-c` makes standard input the controlling terminal, which takes unsafe code otherwise. It has to happen
        // inside the namespace: a program whose process group has no number there is refused by its terminal.
        let mut command = self.command(&["setsid", "-c"]);
        if !self.environment.iter().any(|(name, _)| name == "TERM") {
            command.env("TERM", "xterm-256color");
        }
        Terminal::start(command, columns, rows)
    }

    /// Runs it without a terminal to its end.
    #[track_caller]
    pub(crate) fn run(&self) -> Said {
        let mut command = self.command(&[]);
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{error}: {self:?}"));
        let pid = Pid::from_child(&child);
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || sender.send(child.wait_with_output()));
        let Ok(output) = ended.recv_timeout(PATIENCE) else {
            // Fails if it has ended and something else holds its output.
            rustix::process::kill_process(pid, Signal::KILL).ok();
            panic!("does not end or leaves its output open: {:?}", self.words);
        };
        let output = output.expect("the output can be read");
        let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
        Said {
            words: self.words.clone(),
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// The command that starts it behind some other words.
    fn command(&self, before: &[&str]) -> Command {
        let mut words: Vec<OsString> = Vec::new();
        if let Some(process) = self.namespace {
            words.extend(["nsenter", "--preserve-credentials"].map(OsString::from));
            words.extend(["--user", "--net", "--pid", "--mount"].map(OsString::from));
            words.push(format!("--target={process}").into());
            words.push("--".into());
            // The folder has to be entered inside: one from without cannot be named there.
            words.extend(["env", "-C"].map(OsString::from));
            words.push(self.folder.clone().into());
        }
        words.extend(before.iter().map(OsString::from));
        words.extend(self.words.iter().cloned());
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .current_dir(&self.folder)
            .env_clear();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    words: Vec<OsString>,
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// What it wrote to stdout. Panics unless it ended well.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        let Self {
            words, out, err, ..
        } = &self;
        assert_eq!(self.code, Some(0), "{words:?}\n{out}{err}");
        self.out
    }

    /// The JSON it wrote to stdout.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }
}
