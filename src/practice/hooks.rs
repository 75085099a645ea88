//! Runs the hooks of one event: their processes, what they read, how long they may take.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::answer::{self, Ended, Outcome};
use super::settings::Handler;

/// An answer that is longer is cut; no real one is.
const LONGEST_ANSWER: u64 = 1 << 20;

/// One event's run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) event: &'static str,
    pub(super) handlers: Vec<Handler>,
    /// The JSON line on standard input.
    pub(super) input: String,
    /// What is added to our own environment.
    pub(super) env: Vec<(&'static str, String)>,
    pub(super) dir: PathBuf,
}

impl Run {
    /// Runs all handlers side by side and waits for the slowest.
    pub(super) fn outcome(&self) -> Outcome {
        let ended: Vec<(String, Ended)> = thread::scope(|scope| {
            let running: Vec<_> = self
                .handlers
                .iter()
                .map(|handler| (handler, scope.spawn(|| self.one(handler))))
                .collect();
            running
                .into_iter()
                .map(|(handler, thread)| (line(handler), thread.join().unwrap_or_default()))
                .collect()
        });
        let mut outcome = Outcome::default();
        for (command, ended) in &ended {
            outcome.add(answer::read(self.event, command, ended));
        }
        outcome
    }

    fn one(&self, handler: &Handler) -> Ended {
        let mut command = if let Some(args) = &handler.args {
            let mut command = Command::new(&handler.command);
            command.args(args);
            command
        } else {
            let mut command = Command::new("sh");
            command.arg("-c").arg(&handler.command);
            command
        };
        let child = command
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own, so that everything it started ends with it at the time limit.
            .process_group(0)
            .spawn();
        match child {
            Ok(child) => wait(child, &self.input, self.limit(handler)),
            Err(error) => Ended {
                stderr: error.to_string(),
                ..Ended::default()
            },
        }
    }

    /// The client's own limits: a prompt waits 30 s, an exit 1.5 s, all else ten minutes.
    fn limit(&self, handler: &Handler) -> Duration {
        handler.timeout.unwrap_or(match self.event {
            "UserPromptSubmit" => Duration::from_secs(30),
            "SessionEnd" => Duration::from_millis(1500),
            _ => Duration::from_secs(600),
        })
    }
}

/// The command line as the person sees it.
fn line(handler: &Handler) -> String {
    let mut line = handler.command.clone();
    for arg in handler.args.iter().flatten() {
        line.push(' ');
        line.push_str(arg);
    }
    line
}

fn wait(mut child: std::process::Child, input: &str, limit: Duration) -> Ended {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = input.to_owned();
    let (done, ended) = mpsc::channel();
    thread::spawn(move || {
        let writer = thread::spawn(move || {
            // A hook that does not read its input closes the pipe; that is its own affair.
            stdin.map(|mut stdin| stdin.write_all(input.as_bytes()))
        });
        let errors = thread::spawn(move || read(stderr));
        let stdout = read(stdout);
        let stderr = errors.join().unwrap_or_default();
        drop(writer.join());
        let exit = child.wait().ok().and_then(|status| status.code());
        // Nobody listens any more after the time limit.
        drop(done.send(Ended {
            exit,
            timed_out: false,
            stdout,
            stderr,
        }));
    });
    ended.recv_timeout(limit).unwrap_or_else(|_| {
        if let Some(group) = group {
            // It may have ended in this very moment, which is as good.
            let _ended = kill_process_group(group, Signal::KILL);
        }
        Ended {
            timed_out: true,
            ..Ended::default()
        }
    })
}

fn read(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What came before a fault of the pipe is what the hook said.
        drop(pipe.take(LONGEST_ANSWER).read_to_end(&mut bytes));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::settings;
    use super::*;
    use serde_json::json;

    fn run(event: &'static str, hooks: &serde_json::Value) -> Outcome {
        let settings = json!({"hooks": {event: [{"hooks": hooks}]}}).to_string();
        Run {
            event,
            handlers: settings::hooks(Some(&settings), &[]).unwrap().at(event, ""),
            input: "{\"prompt\":\"hi\"}\n".into(),
            env: vec![("CLAUDECODE", "1".into())],
            dir: std::env::temp_dir(),
        }
        .outcome()
    }

    fn context(outcome: &Outcome) -> Vec<&str> {
        outcome
            .context
            .iter()
            .map(|context| context.text.as_str())
            .collect()
    }

    #[test]
    fn a_hook_reads_its_event_and_our_environment() {
        let outcome = run(
            "UserPromptSubmit",
            &json!([{"type": "command", "command": "cat; echo $CLAUDECODE"}]),
        );
        assert_eq!(context(&outcome), ["{\"prompt\":\"hi\"}\n1"]);
    }

    #[test]
    fn arguments_reach_the_program_without_a_shell() {
        let outcome = run(
            "UserPromptSubmit",
            &json!([{"type": "command", "command": "echo", "args": ["$HOME", "a  b"]}]),
        );
        assert_eq!(context(&outcome), ["$HOME a  b"]);
    }

    #[test]
    fn several_hooks_run_and_the_slow_one_is_killed() {
        let outcome = run(
            "UserPromptSubmit",
            &json!([
                {"type": "command", "command": "echo 'no such thing' >&2; exit 2"},
                {"type": "command", "command": "sleep 600; exit 2", "timeout": 0.05},
                {"type": "command", "command": "/no/such/program", "args": []},
            ]),
        );
        assert!(outcome.block.unwrap().shown.ends_with("no such thing"));
        let kinds: Vec<_> = outcome
            .failures
            .iter()
            .map(|failure| failure.kind)
            .collect();
        assert_eq!(kinds, ["hook_cancelled", "hook_non_blocking_error"]);
    }
}
