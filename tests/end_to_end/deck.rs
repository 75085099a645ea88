//! What the tests of the deck ask and do again and again.

use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::home::Home;
use crate::patience::wait_until;
use crate::terminal::Terminal;

/// A screen on which the list of tabs stands beside the program.
pub(crate) const WIDE: (u16, u16) = (140, 40);

/// What the agent of [`Home::deck_with_agent`] is started with.
pub(crate) const TASK: &str = "fix the flaky login test";

/// What the person has said in a session, by its transcript: what reached the agent.
pub(crate) fn prompts(session: &Value) -> Vec<String> {
    let user = rows(session)
        .into_iter()
        .filter(|row| row["type"] == "user");
    user.filter_map(|row| row["message"]["content"].as_str().map(str::to_owned))
        .collect()
}

/// The whole rows of a session's transcript; none if it has none yet.
pub(crate) fn rows(session: &Value) -> Vec<Value> {
    let path = session["transcript"].as_str().unwrap_or_default();
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let rows = text.lines().map(serde_json::from_str);
    rows.filter_map(Result::ok).collect()
}

impl Home {
    /// The deck in a terminal, opened by these words.
    pub(crate) fn deck(&self, words: &[&str]) -> Terminal {
        self.terminal(words, WIDE.0, WIDE.1)
    }

    /// A deck that shows a new session of this bash script.
    pub(crate) fn deck_with_bash(&self, script: &str) -> Terminal {
        let mut words = vec!["new", "--exec", "--title", "script", "--"];
        words.extend(["bash", "--norc", "-c", script]);
        self.deck(&words)
    }

    /// A session of this bash script that no terminal shows.
    pub(crate) fn start_bash(&self, title: &str, script: &str) {
        let mut words = vec!["new", "--exec", "--detach", "--title", title, "--"];
        words.extend(["bash", "--norc", "-c", script]);
        self.sessdeck(&words).ok();
    }

    /// What `sessdeck ls --json` says.
    #[track_caller]
    pub(crate) fn sessions(&self) -> Vec<Value> {
        let said = self.sessdeck(&["ls", "--json"]).json();
        said.as_array()
            .expect("`ls --json` prints an array")
            .clone()
    }

    /// Waits until the list holds such a session.
    #[track_caller]
    pub(crate) fn wait_for_session(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        wait_until(what, || self.sessions().into_iter().find(&wanted))
    }

    /// A deck with a bugfix session of the practice agent that has answered its task.
    #[track_caller]
    pub(crate) fn deck_with_agent(&self) -> Terminal {
        let deck = self.deck(&["new", "fix", "the", "flaky", "login", "test"]);
        deck.wait_for_text(&format!("You said: \"{TASK}\""));
        self.wait_for_session("the end of the turn", |it| it["state"] == "your_turn");
        deck
    }

    /// The ids of the programs of all sessions, in the order of the list.
    #[track_caller]
    pub(crate) fn pids(&self) -> Vec<i64> {
        let sessions = self.sessions();
        let pids = sessions.iter().map(|session| session["pid"].as_i64());
        pids.map(|pid| pid.expect("every session runs")).collect()
    }

    /// The process of that name in `sessdeck server status --json`.
    #[track_caller]
    pub(crate) fn pid_of(&self, field: &str) -> Pid {
        let status = self.sessdeck(&["server", "status", "--json"]).json();
        let pid = status[field].as_i64().expect("it runs");
        Pid::from_raw(i32::try_from(pid).expect("a process id")).expect("not 0")
    }

    /// Kills that process as nothing can be prepared for, and waits until it is gone.
    #[track_caller]
    pub(crate) fn kill(&self, pid: Pid) {
        rustix::process::kill_process(pid, Signal::KILL).expect("it runs");
        wait_until("the end of a killed process", || {
            let left = self.processes();
            left.iter().all(|(other, _)| *other != pid).then_some(())
        });
    }
}
