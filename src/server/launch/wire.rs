//! From a recipe to a command line that can be run: the agent's program, its files, its trust in our hook.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::Planned;
use crate::agents::{self, Dialect, Question, Trust, Wiring};
use crate::config::dirs::Dirs;
use crate::config::load::Here;
use crate::deck::launch::Recipe;
use crate::error::{Error, Exit, Result};
use crate::files;
use crate::protocol::client::Order;

/// A client that does not say within this how it knows our hook again is started without it.
const TRUST_PATIENCE: Duration = Duration::from_secs(20);
/// How a recipe is wired.
pub(super) struct How {
    /// The client's own program may be asked for its trust entries.
    pub(super) asks: bool,
    /// The conversation that is gone on with.
    pub(super) resume: Option<String>,
}

/// A recipe as a command line, and what is known of it.
pub(super) struct Wired {
    pub(super) argv: Vec<String>,
    pub(super) is_agent: bool,
    pub(super) guarded: bool,
    pub(super) conversation: Option<String>,
    pub(super) warnings: Vec<String>,
    pub(super) obstacle: Option<String>,
}

pub(super) fn wire(
    recipe: &Recipe,
    order: &Order,
    here: &Here,
    dirs: &Dirs,
    how: &How,
) -> Result<Wired> {
    if order.exec || recipe.agent == "shell" {
        return Ok(plain(recipe, order));
    }
    let Some(dialect) = agents::named(&recipe.agent) else {
        let known = agents::NAMES.join(" or ");
        let what = format!(
            "no agent called `{}`, expected {known}",
            recipe.agent.escape_debug()
        );
        return Err(Error::new(Exit::Usage, what)
            .mend("`sessdeck new --exec -- CMD ARG…` runs any program"));
    };
    let command = here.settings.command(&recipe.agent);
    let (program, first_args) = command
        .split_first()
        .ok_or_else(|| Planned::refused("the agent's command is empty"))?;
    let obstacle = find(program, order, &recipe.dir)
        .is_none()
        .then(|| format!("`{program}` is not installed: {}", dialect.install()));
    let begun = || {
        dialect
            .chooses_conversation()
            .then(|| uuid::Uuid::new_v4().to_string())
    };
    let recipe = Recipe {
        conversation: how.resume.clone().or_else(begun),
        ..recipe.clone()
    };
    let text = |path: PathBuf| Some((path.clone(), std::fs::read_to_string(path).ok()?));
    let mut wiring = Wiring {
        program: program.clone(),
        sessdeck: std::env::current_exe()?.display().to_string(),
        files: dialect
            .reads(&recipe, &order.env)
            .into_iter()
            .filter_map(text)
            .collect(),
        trust: Vec::new(),
        resume: how.resume.is_some(),
    };
    let mut warnings = Vec::new();
    let question = dialect
        .trust_question(&recipe, &wiring)
        .filter(|_| obstacle.is_none());
    if let Some(question) = question {
        let trust = Asking {
            dialect,
            question: &question,
            order,
            dir: &recipe.dir,
            dirs,
        }
        .trust(how.asks);
        if trust.is_none() && how.asks {
            warnings.push(format!(
                "`{program}` did not say how it would know our hook again"
            ));
        }
        wiring.trust = trust.unwrap_or_default();
    }
    let line = dialect.command_line(&recipe, &wiring);
    if !line.guarded && how.asks {
        warnings
            .push("hooks do not run here, so the guard is not active in this session".to_owned());
    }
    let mut argv = vec![program.clone()];
    argv.extend_from_slice(first_args);
    argv.extend(line.argv.into_iter().skip(1));
    Ok(Wired {
        argv,
        is_agent: true,
        guarded: line.guarded,
        conversation: recipe.conversation,
        warnings,
        obstacle,
    })
}

/// A program without agent and hook: the one that is named, else the person's shell.
fn plain(recipe: &Recipe, order: &Order) -> Wired {
    let shell = || {
        order
            .env
            .get("SHELL")
            .cloned()
            .unwrap_or_else(|| "/bin/sh".to_owned())
    };
    let argv = if order.exec {
        recipe.flags.clone()
    } else {
        vec![shell()]
    };
    let missing = argv
        .first()
        .filter(|program| find(program, order, &recipe.dir).is_none());
    let obstacle =
        missing.map(|program| format!("there is no program `{}`", program.escape_debug()));
    Wired {
        argv,
        is_agent: false,
        guarded: false,
        conversation: None,
        warnings: Vec::new(),
        obstacle,
    }
}

/// Where a program lies, as the system will look for it in the asking client's environment.
fn find(program: &str, order: &Order, dir: &Path) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        std::fs::metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(dir.join(program)).filter(runs);
    }
    let path = order
        .env
        .get("PATH")
        .map_or("/usr/local/bin:/usr/bin:/bin", String::as_str);
    std::env::split_paths(path)
        .map(|folder| folder.join(program))
        .find(runs)
}

/// A question to the client's own program: how it would know our hook again.
struct Asking<'a> {
    dialect: &'static dyn Dialect,
    question: &'a Question,
    order: &'a Order,
    dir: &'a Path,
    dirs: &'a Dirs,
}

impl Asking<'_> {
    /// What the client said to the same question before, else what it says now if it may be asked.
    fn trust(&self, asks: bool) -> Option<Vec<Trust>> {
        let (program, args) = self.question.argv.split_first()?;
        let found = find(program, self.order, self.dir)?;
        let memory = self.memory(&found)?;
        if let Some(known) = remembered(&memory) {
            return Some(known);
        }
        if !asks {
            return None;
        }
        let mut child = Command::new(found)
            .args(args)
            .env_clear()
            .envs(
                self.order
                    .env
                    .iter()
                    .filter(|(name, _)| !agents::dropped(name)),
            )
            .current_dir(self.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let answer = self.answer(&mut child);
        // It would wait for more questions.
        drop(child.kill());
        drop(child.wait());
        let trust = answer?;
        remember(&memory, &trust);
        Some(trust)
    }

    /// The file that keeps the answer: another program or another question is another file.
    fn memory(&self, program: &Path) -> Option<PathBuf> {
        let changed = std::fs::metadata(program)
            .and_then(|data| data.modified())
            .ok()?;
        let what = format!("{:?}\n{}\n{changed:?}", self.question, program.display());
        let name = format!(
            "{}-{}.json",
            self.dialect.name(),
            files::hook_state::hash(&what)
        );
        Some(self.dirs.state.join("hook-trust").join(name))
    }

    fn answer(&self, child: &mut Child) -> Option<Vec<Trust>> {
        let dialect = self.dialect;
        let mut stdin = child.stdin.take()?;
        let stdout = child.stdout.take()?;
        stdin.write_all(self.question.stdin.as_bytes()).ok()?;
        let (found, answer) = mpsc::channel();
        // It ends with the child, which is ended in any case.
        thread::spawn(move || {
            let mut lines = BufReader::new(stdout)
                .split(b'\n')
                .map_while(std::io::Result::ok);
            if let Some(trust) = lines.find_map(|line| dialect.trust_answer(&line)) {
                drop(found.send(trust));
            }
        });
        answer.recv_timeout(TRUST_PATIENCE).ok()
    }
}

fn remembered(memory: &Path) -> Option<Vec<Trust>> {
    let pairs: Vec<(String, String)> = serde_json::from_slice(&std::fs::read(memory).ok()?).ok()?;
    Some(
        pairs
            .into_iter()
            .map(|(key, hash)| Trust { key, hash })
            .collect(),
    )
}

/// What cannot be kept is asked again.
fn remember(memory: &Path, trust: &[Trust]) {
    let pairs: Vec<_> = trust
        .iter()
        .map(|trust| (&trust.key, &trust.hash))
        .collect();
    if let (Some(folder), Ok(bytes)) = (memory.parent(), serde_json::to_vec(&pairs)) {
        drop(files::make_private_dir(folder).and_then(|()| files::replace(memory, 0o600, &bytes)));
    }
}
