//! `sessdeck doctor`: what works here and what does not, each proven as far as it can be.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::hooks::{self, Place};
use crate::agents::{self, Dialect, Question};
use crate::client;
use crate::config::dirs::Dirs;
use crate::config::load::{self, Here};
use crate::config::trust::Trust;
use crate::deck::launch::Recipe;
use crate::error::{Exit, Result};
use crate::files;
use crate::files::hook_log;
use crate::files::inbox::InboxFile;
use crate::protocol::client::{Request, Response};
use crate::terminal::plain;

/// A client that says nothing for so long is told of and left.
const PATIENCE: Duration = Duration::from_secs(10);

/// Look at agents, hooks, settings and folders, and say what is to be done.
///
/// With --json: an array of `{"what", "state", "text"}`; `state` is `ok`, `warn` or `fail`. It exits with 3 if anything
/// failed.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ok,
    Warn,
    Fail,
}

impl fmt::Display for State {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        })
    }
}

struct Finding {
    what: String,
    state: State,
    text: String,
}

impl Doctor {
    pub(crate) fn run(&self, dirs: &Dirs, out: &mut impl Write) -> Result<ExitCode> {
        let dir = std::env::current_dir()?;
        let mut visit = Visit {
            dirs,
            dir: &dir,
            program: std::env::current_exe()?,
            findings: Vec::new(),
        };
        visit.folders();
        let here = visit.settings();
        visit.server();
        for dialect in agents::NAMES.into_iter().filter_map(agents::named) {
            if dialect.installed("").is_some() {
                visit.agent(dialect, &here);
            }
        }
        let findings = visit.findings;
        if self.json {
            let all: Vec<_> = findings
                .iter()
                .map(
                    |it| json!({ "what": it.what, "state": it.state.to_string(), "text": it.text }),
                )
                .collect();
            writeln!(out, "{:#}", serde_json::Value::from(all))?;
        } else {
            for it in &findings {
                writeln!(out, "{:<4}  {}: {}", it.state, it.what, plain(&it.text))?;
            }
        }
        let failed = findings.iter().any(|it| it.state == State::Fail);
        Ok(if failed {
            Exit::Settings.into()
        } else {
            ExitCode::SUCCESS
        })
    }
}

struct Visit<'a> {
    dirs: &'a Dirs,
    dir: &'a Path,
    /// This program.
    program: PathBuf,
    findings: Vec<Finding>,
}

impl Visit<'_> {
    fn find(&mut self, what: impl Into<String>, state: State, text: impl Into<String>) {
        self.findings.push(Finding {
            what: what.into(),
            state,
            text: text.into(),
        });
    }

    fn folders(&mut self) {
        match load::make(self.dirs) {
            Ok(()) => {
                let text = format!(
                    "{} and {}",
                    self.dirs.runtime.display(),
                    self.dirs.state.display()
                );
                self.find("folders", State::Ok, text);
            }
            Err(error) => self.find("folders", State::Fail, error.line()),
        }
    }

    fn settings(&mut self) -> Here {
        let (here, wrong) = load::here_in_any_case(self.dirs, self.dir);
        if let Some(error) = wrong {
            self.find("settings", State::Fail, error.line());
        } else {
            let count = here.set.profiles.profiles.len();
            self.find(
                "settings",
                State::Ok,
                format!("{count} profiles take part here"),
            );
        }
        let (state, text) = match here.trust {
            Trust::Nothing => (State::Ok, "the repo has no settings of its own"),
            Trust::Trusted => (State::Ok, "the repo's settings are trusted"),
            Trust::Unknown => (
                State::Warn,
                "the repo's settings are not trusted yet: `sessdeck trust` shows them",
            ),
            Trust::Changed => (
                State::Warn,
                "the repo's settings changed since they were trusted: `sessdeck trust` shows them",
            ),
        };
        self.find("trust", state, text);
        let inbox = InboxFile::new(
            &here.repo.root,
            Path::new(&here.settings.inbox),
            &self.dirs.state,
        );
        match inbox {
            Ok(file) => self.find("inbox", State::Ok, file.path().display().to_string()),
            Err(error) => self.find("inbox", State::Fail, error.line()),
        }
        match here.repo.inside(&here.settings.handoffs) {
            Ok(folder) => self.find("handoff notes", State::Ok, folder.display().to_string()),
            Err(error) => self.find("handoff notes", State::Fail, error.line()),
        }
        here
    }

    fn server(&mut self) {
        let asked = client::find(self.dirs).and_then(|mut link| link.ask(Request::Status));
        match asked {
            Ok(Response::Status(status)) => {
                let ours = env!("CARGO_PKG_VERSION");
                let text = format!(
                    "runs, version {}, {} sessions",
                    status.version, status.sessions
                );
                if status.version == ours {
                    self.find("server", State::Ok, text);
                } else {
                    let mend = format!("{text}; this is {ours}: `sessdeck server restart`");
                    self.find("server", State::Warn, mend);
                }
            }
            Ok(_) => self.find("server", State::Fail, super::unexpected().line()),
            Err(_) => self.find("server", State::Ok, "does not run; `sessdeck` starts it"),
        }
    }

    fn agent(&mut self, dialect: &'static dyn Dialect, here: &Here) {
        let name = dialect.name();
        let command = here.settings.command(name);
        let Some((program, args)) = command.split_first() else {
            return;
        };
        let version = said(program, args, self.dir);
        let runs = version.is_some();
        match version {
            Some(version) => self.find(name, State::Ok, version),
            None => self.find(
                name,
                State::Warn,
                format!("`{program}` does not run: {}", dialect.install()),
            ),
        }
        self.fires(dialect, here);
        let env = load::environment();
        self.switched_off(dialect, here, &env);
        let mut installed = false;
        for project in [None, Some(here.repo.root.as_path())] {
            let places = hooks::all(project, &env, &self.program);
            for place in places.iter().filter(|place| place.dialect.name() == name) {
                installed |= self.installed(place);
            }
        }
        if installed && runs {
            self.trusted(dialect, program);
        }
        if let Some(left) = dialect.left_to_the_deck() {
            self.find(format!("{name} from outside"), State::Ok, left);
        }
        self.last_decision(name);
    }

    /// Whether the person's settings switch all hooks off, the deck's too.
    fn switched_off(
        &mut self,
        dialect: &'static dyn Dialect,
        here: &Here,
        env: &BTreeMap<String, String>,
    ) {
        let recipe = Recipe {
            dir: here.repo.root.clone(),
            ..Recipe::default()
        };
        let files: Vec<(PathBuf, String)> = dialect
            .reads(&recipe, env)
            .into_iter()
            .filter_map(|path| Some((path.clone(), files::read_plain(&path).ok()?)))
            .collect();
        if dialect.hooks_off(&files) {
            let names: Vec<String> = files
                .iter()
                .map(|(path, _)| path.display().to_string())
                .collect();
            let text = format!("your settings switch all hooks off: {}", names.join(", "));
            self.find(format!("{} hooks", dialect.name()), State::Fail, text);
        }
    }

    /// Runs the hook as the client does, on an event whose answer is known: a side thought without a thought. Only this
    /// program is run; what a repo's files name is not.
    fn fires(&mut self, dialect: &'static dyn Dialect, here: &Here) {
        let name = dialect.name();
        let what = format!("{name} hook");
        match dry_run(&self.program, name, self.dir, &here.set.profiles.signs.park) {
            Some(true) => self.find(what, State::Ok, "fires: a dry run was answered"),
            Some(false) => self.find(
                what,
                State::Fail,
                "a dry run was not answered as it should be",
            ),
            None => self.find(what, State::Fail, "a dry run did not end in time"),
        }
    }

    /// How the hook stands in the client's own settings; true if it does.
    fn installed(&mut self, place: &Place) -> bool {
        let status = place.status();
        let what = format!("{} outside the deck", place.dialect.name());
        let text = format!("{}: {}", place.file.display(), status.said());
        match status.state {
            "installed" => self.find(what, State::Ok, text),
            "not installed" => {
                let text = format!("{text}; `sessdeck hooks install` puts it there");
                self.find(what, State::Ok, text);
                return false;
            }
            "unreadable" | "missing program" => self.find(what, State::Fail, text),
            _ => self.find(what, State::Warn, text),
        }
        true
    }

    /// Whether the client runs hooks only if they are trusted, and does.
    fn trusted(&mut self, dialect: &'static dyn Dialect, program: &str) {
        let Some(question) = dialect.installed_question(program, self.dir) else {
            return;
        };
        let what = format!("{} trust", dialect.name());
        let ours = self.program.display().to_string();
        let (state, text) = match answer(&question, self.dir, move |line| {
            dialect.installed_trusted(line, &ours)
        }) {
            Some(true) => (State::Ok, "the installed hooks are trusted"),
            Some(false) => (
                State::Fail,
                "the installed hooks are not trusted, so they do not run: start the client and accept them",
            ),
            None => (
                State::Warn,
                "the client does not say whether the installed hooks are trusted",
            ),
        };
        self.find(what, state, text);
    }

    fn last_decision(&mut self, name: &str) {
        let (entries, _) = hook_log::read(&self.dirs.state);
        // Dry runs belong to no conversation.
        let last = entries
            .iter()
            .rev()
            .find(|entry| entry.agent == name && entry.conversation.is_some());
        let text = match last {
            Some(entry) => format!("{} ({}, {})", entry.time, entry.event, entry.verdict),
            None => "none yet".to_owned(),
        };
        self.find(format!("{name} last decision"), State::Ok, text);
    }
}

/// The first line that a program says of its version.
fn said(program: &str, args: &[String], dir: &Path) -> Option<String> {
    let mut child = Command::new(program)
        .args(args)
        .arg("--version")
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let line = first(&mut child, |line| {
        Some(String::from_utf8_lossy(line).trim().to_owned()).filter(|line| !line.is_empty())
    });
    end(child);
    line
}

/// Whether the hook answers an empty parked thought as it should: with a block. None if it does not end in time.
fn dry_run(program: &Path, agent: &str, dir: &Path, park: &str) -> Option<bool> {
    let event = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "", "cwd": dir, "prompt": park,
    });
    let mut child = Command::new(program)
        .args(["hook", agent])
        .env_remove("SESSDECK_SOCKET")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    if let Some(mut stdin) = child.stdin.take() {
        drop(stdin.write_all(event.to_string().as_bytes()));
    }
    let said = first(&mut child, |line| Some(line.to_vec()));
    let ended = child.try_wait().is_ok_and(|status| status.is_some());
    end(child);
    let Some(said) = said else {
        // It ended and said nothing, or it still runs.
        return ended.then_some(false);
    };
    let answer = serde_json::from_slice::<serde_json::Value>(&said);
    Some(answer.is_ok_and(|answer| answer["decision"] == "block"))
}

/// What the client says to a question of its own protocol.
fn answer<T: Send + 'static>(
    question: &Question,
    dir: &Path,
    found: impl Fn(&[u8]) -> Option<T> + Send + 'static,
) -> Option<T> {
    let (program, args) = question.argv.split_first()?;
    let mut child = Command::new(program)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    stdin.write_all(question.stdin.as_bytes()).ok()?;
    let answer = first(&mut child, found);
    drop(stdin);
    end(child);
    answer
}

/// The first of the lines that a child writes which says something.
fn first<T: Send + 'static>(
    child: &mut Child,
    found: impl Fn(&[u8]) -> Option<T> + Send + 'static,
) -> Option<T> {
    let stdout = child.stdout.take()?;
    let (sender, answer) = mpsc::channel();
    // It may outlive its use: what the child has started may hold its output.
    thread::spawn(move || {
        let mut lines = BufReader::new(stdout)
            .split(b'\n')
            .map_while(std::io::Result::ok);
        drop(sender.send(lines.find_map(|line| found(&line))));
    });
    answer.recv_timeout(PATIENCE).ok().flatten()
}

fn end(mut child: Child) {
    drop(child.kill());
    drop(child.wait());
}
