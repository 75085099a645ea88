//! From an order to what would be started: profiles, settings, the dialect. On a thread of its own, since it reads
//! files and may have to ask the client's own program.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use super::Incoming;
use crate::agents::{self, Dialect, Question, Trust, Wiring};
use crate::config::dirs::Dirs;
use crate::config::load::{self, Here};
use crate::deck::brake::{Brake, Step};
use crate::deck::launch::{self, Flags, Ground, Recipe, Wish};
use crate::deck::{ClientId, Seed};
use crate::error::{Error, Exit, Result};
use crate::files;
use crate::protocol::client::{Order, Plan};
use crate::terminal::Size;

/// A client that does not say within this how it knows our hook again is started without it.
const TRUST_PATIENCE: Duration = Duration::from_secs(20);
/// The program's size where nobody looks yet.
const SIZE: Size = Size {
    cols: 100,
    rows: 30,
};

/// Why a plan is made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Show {
        client: ClientId,
        id: u64,
    },
    Launch {
        client: ClientId,
        id: u64,
    },
    /// An answer or a key opens it; the client is shown the new session.
    Open {
        client: ClientId,
    },
}

/// Everything a start needs but the session's own id.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    pub(crate) seed: Seed,
    /// The environment of the client that asks.
    pub(crate) client_env: BTreeMap<String, String>,
    pub(crate) size: Size,
}

/// The thread that plans, one order after the other.
#[derive(Debug)]
pub(crate) struct Planner {
    orders: Sender<(Purpose, Order)>,
}

impl Planner {
    pub(crate) fn start(dirs: &Dirs, loop_: Sender<Incoming>) -> Self {
        let (orders, received) = mpsc::channel::<(Purpose, Order)>();
        let dirs = dirs.clone();
        thread::spawn(move || {
            let mut good = BTreeMap::new();
            for (purpose, order) in received {
                let asks = !matches!(purpose, Purpose::Show { .. });
                let planned = Box::new(plan_with(&order, &dirs, &mut good, asks));
                if loop_.send(Incoming::Planned { purpose, planned }).is_err() {
                    return;
                }
            }
        });
        Self { orders }
    }

    pub(crate) fn plan(&self, purpose: Purpose, order: Order) {
        // The thread lives as long as this sender.
        drop(self.orders.send((purpose, order)));
    }
}

impl Planned {
    /// Why what was planned is not started.
    pub(crate) fn refused(obstacle: &str) -> Error {
        Error::new(Exit::Fault, obstacle)
    }
}

/// What this order comes to, in this process.
pub(crate) fn plan(order: &Order, dirs: &Dirs) -> Result<Planned> {
    plan_with(order, dirs, &mut BTreeMap::new(), true)
}

/// `good` holds the last settings and profiles of each folder that could be read; `asks` lets the client's own
/// program be asked for its trust entries.
fn plan_with(
    order: &Order,
    dirs: &Dirs,
    good: &mut BTreeMap<PathBuf, Here>,
    asks: bool,
) -> Result<Planned> {
    let wrong = |wrong: launch::Wrong| Error::new(Exit::Usage, wrong.what).mend(wrong.mend);
    let dir = folder(order).map_err(wrong)??;
    let mut warnings = Vec::new();
    let here = match load::here(dirs, &dir) {
        Ok(here) => {
            good.insert(dir.clone(), here.clone());
            here
        }
        Err(error) => match good.get(&dir) {
            Some(last) => {
                warnings.push(format!("{}; the last good profiles are used", error.line()));
                last.clone()
            }
            None => return Err(error),
        },
    };
    if !here.set.waiting.is_empty() {
        warnings.push(
            "this repo's `.sessdeck/` is not trusted yet: `sessdeck trust` shows what waits"
                .to_owned(),
        );
    }
    let flags =
        |agent: &str| agents::named(agent).map_or_else(Flags::default, |dialect| *dialect.flags());
    let note = order.note.as_ref().map(|note| note.display().to_string());
    let wish = Wish {
        raw: &order.raw,
        task: order.task.as_deref(),
        profile: order.profile.as_deref(),
        agent: order.agent.as_deref(),
        model: order.model.as_deref(),
        effort: order.effort.as_deref(),
        title: order.title.as_deref(),
        dir: &order.dir,
        exec: order.exec,
    };
    let ground = Ground {
        set: &here.set.profiles,
        default_agent: &here.settings.default_agent,
        inbox: &here.settings.inbox,
        handoffs: &here.settings.handoffs,
        is_repo: here.repo.is_repo,
        flags: &flags,
    };
    let mut planned = launch::plan(&wish, &ground).map_err(wrong)?;
    planned.recipe.dir = dir;
    warnings.append(&mut planned.warnings);
    let note = note.or_else(|| planned.owned.from.clone());
    if let (Some(note), None) = (&note, &planned.recipe.task) {
        let note = std::path::absolute(order.dir.join(note))?;
        planned.recipe.task = Some(format!(
            "Read the handoff note {} and go on from it.",
            note.display()
        ));
    }
    let wired = wire(&planned.recipe, order, &here, dirs, asks)?;
    warnings.extend(wired.warnings);
    let recipe = planned.recipe;
    let window = recipe
        .model
        .as_deref()
        .and_then(|model| here.settings.window_of(model));
    let steps = [Step::Checkpoint, Step::Soft, Step::Hard, Step::Stop];
    let lines = if wired.is_agent {
        here.settings.brake.steps(&recipe.agent, window)
    } else {
        Vec::new()
    };
    let only_checkpoints = here.settings.brake.only_checkpoints(&recipe.agent);
    let kinds = steps.into_iter().map(|step| {
        if only_checkpoints {
            Step::Checkpoint
        } else {
            step
        }
    });
    let mut env = BTreeMap::new();
    if let Some(profile) = recipe.profile.as_ref().filter(|_| wired.is_agent) {
        env.insert("SESSDECK_PROFILE".to_owned(), profile.clone());
    }
    if let Some(task) = recipe.task.as_ref().filter(|_| wired.is_agent) {
        env.insert("SESSDECK_TASK".to_owned(), files::hook_state::hash(task));
    }
    env.extend(
        here.settings
            .agent
            .get(&recipe.agent)
            .map(|agent| agent.env.clone())
            .unwrap_or_default(),
    );
    let choice = planned.choice;
    let plan = Plan {
        profile: recipe.profile.clone(),
        color: planned.color.clone(),
        agent: recipe.agent.clone(),
        model: recipe.model.clone(),
        effort: recipe.effort.clone(),
        title: recipe.title.clone(),
        profiles: here
            .set
            .profiles
            .profiles
            .iter()
            .map(|profile| profile.name.clone())
            .collect(),
        matched: choice.matched,
        runner_up: choice.runner_up,
        argv: wired.argv.clone(),
        env,
        dir: recipe.dir.clone(),
        warnings,
        obstacle: wired.obstacle,
    };
    let seed = Seed {
        title: recipe.title,
        profile: recipe.profile,
        color: planned.color,
        agent: if wired.is_agent || agents::named(&recipe.agent).is_none() {
            recipe.agent
        } else {
            "shell".to_owned()
        },
        dir: recipe.dir,
        repo: here.repo.root,
        argv: wired.argv,
        conversation: wired.conversation,
        brake: Brake::new(kinds.zip(lines).collect()),
        window,
        guarded: wired.guarded,
        handoff_from: note.map(PathBuf::from),
        inbox: order.inbox.clone(),
    };
    Ok(Planned {
        plan,
        seed,
        client_env: order.env.clone(),
        size: order.size.unwrap_or(SIZE),
    })
}

/// The folder that the session is to work in.
fn folder(order: &Order) -> std::result::Result<Result<PathBuf>, launch::Wrong> {
    let named = if order.exec {
        launch::split_command(&order.raw)?.owned
    } else {
        launch::owned(&order.raw)?
    };
    let dir = order.dir.join(named.dir.unwrap_or_default());
    Ok(dir
        .canonicalize()
        .ok()
        .filter(|dir| dir.is_dir())
        .ok_or_else(|| {
            Error::new(Exit::Usage, "no such folder")
                .at(&dir, None)
                .mend("name one that exists with `--dir`")
        }))
}

/// A recipe as a command line, and what is known of it.
struct Wired {
    argv: Vec<String>,
    is_agent: bool,
    guarded: bool,
    conversation: Option<String>,
    warnings: Vec<String>,
    obstacle: Option<String>,
}

fn wire(recipe: &Recipe, order: &Order, here: &Here, dirs: &Dirs, asks: bool) -> Result<Wired> {
    let is_agent = !order.exec && recipe.agent != "shell";
    let path = order.env.get("PATH").map(String::as_str);
    if !is_agent {
        let shell = order
            .env
            .get("SHELL")
            .cloned()
            .unwrap_or_else(|| "/bin/sh".to_owned());
        let argv = if order.exec {
            recipe.flags.clone()
        } else {
            vec![shell]
        };
        let obstacle = argv
            .first()
            .filter(|program| find(program, path, &recipe.dir).is_none());
        let obstacle =
            obstacle.map(|program| format!("there is no program `{}`", program.escape_debug()));
        return Ok(Wired {
            argv,
            is_agent,
            guarded: false,
            conversation: None,
            warnings: Vec::new(),
            obstacle,
        });
    }
    let Some(dialect) = agents::named(&recipe.agent) else {
        let what = format!(
            "no agent called `{}`, expected {}",
            recipe.agent.escape_debug(),
            agents::NAMES.join(" or ")
        );
        return Err(Error::new(Exit::Usage, what)
            .mend("`sessdeck new --exec -- CMD ARG…` runs any program"));
    };
    let command = here.settings.command(&recipe.agent);
    let (program, first_args) = command
        .split_first()
        .ok_or_else(|| Planned::refused("the agent's command is empty"))?;
    let found = find(program, path, &recipe.dir);
    let obstacle = found
        .is_none()
        .then(|| format!("`{program}` is not installed: {}", dialect.install()));
    let recipe = Recipe {
        conversation: dialect
            .chooses_conversation()
            .then(|| uuid::Uuid::new_v4().to_string()),
        ..recipe.clone()
    };
    let files = dialect.reads(&recipe, &order.env).into_iter();
    let mut wiring = Wiring {
        program: program.clone(),
        sessdeck: std::env::current_exe()?.display().to_string(),
        files: files
            .filter_map(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?)))
            .collect(),
        trust: Vec::new(),
        resume: false,
    };
    let mut warnings = Vec::new();
    if let Some(question) = dialect
        .trust_question(&recipe, &wiring)
        .filter(|_| obstacle.is_none())
    {
        match trust(dialect, &question, order, &recipe.dir, dirs, asks) {
            Some(trust) => wiring.trust = trust,
            None if asks => warnings.push(format!(
                "`{program}` did not say how it would know our hook again, so the guard is not active in this session"
            )),
            None => {}
        }
    }
    let line = dialect.command_line(&recipe, &wiring);
    if !line.guarded {
        warnings.push(
            "hooks are switched off here, so the guard is not active in this session".to_owned(),
        );
    }
    let mut argv = vec![program.clone()];
    argv.extend_from_slice(first_args);
    argv.extend(line.argv.into_iter().skip(1));
    Ok(Wired {
        argv,
        is_agent,
        guarded: line.guarded,
        conversation: recipe.conversation,
        warnings,
        obstacle,
    })
}

/// Where a program lies, as the system will look for it.
fn find(program: &str, path: Option<&str>, dir: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let runs = |path: &PathBuf| {
        std::fs::metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(dir.join(program)).filter(runs);
    }
    std::env::split_paths(path.unwrap_or("/usr/local/bin:/usr/bin:/bin"))
        .map(|folder| folder.join(program))
        .find(runs)
}

/// The client's trust entries for our hook: as they were told for the same question before, else by asking it.
fn trust(
    dialect: &'static dyn Dialect,
    question: &Question,
    order: &Order,
    dir: &Path,
    dirs: &Dirs,
    asks: bool,
) -> Option<Vec<Trust>> {
    let (program, args) = question.argv.split_first()?;
    let found = find(program, order.env.get("PATH").map(String::as_str), dir)?;
    let changed = std::fs::metadata(&found)
        .and_then(|data| data.modified())
        .ok()?;
    let key = files::hook_state::hash(&format!("{question:?} {found:?} {changed:?}"));
    let memory = dirs
        .state
        .join("trust")
        .join(format!("{}-{key}.json", dialect.name()));
    let known = std::fs::read(&memory)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Vec<(String, String)>>(&bytes).ok());
    if let Some(known) = known {
        return Some(
            known
                .into_iter()
                .map(|(key, hash)| Trust { key, hash })
                .collect(),
        );
    }
    if !asks {
        return None;
    }
    let mut child = Command::new(found)
        .args(args)
        .env_clear()
        .envs(order.env.iter().filter(|(name, _)| !agents::dropped(name)))
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let answer = answer(dialect, question, &mut child);
    // It would wait for more questions.
    drop(child.kill());
    drop(child.wait());
    let trust = answer?;
    let pairs: Vec<_> = trust
        .iter()
        .map(|trust| (&trust.key, &trust.hash))
        .collect();
    // What is not remembered is asked again.
    if let (Some(folder), Ok(bytes)) = (memory.parent(), serde_json::to_vec(&pairs)) {
        drop(files::make_private_dir(folder).and_then(|()| files::replace(&memory, 0o600, &bytes)));
    }
    Some(trust)
}

fn answer(
    dialect: &'static dyn Dialect,
    question: &Question,
    child: &mut Child,
) -> Option<Vec<Trust>> {
    let mut stdin = child.stdin.take()?;
    let stdout = child.stdout.take()?;
    stdin.write_all(question.stdin.as_bytes()).ok()?;
    let (found, answer) = mpsc::channel();
    // It ends with the child, which is ended in any case.
    thread::spawn(move || {
        let lines = BufReader::new(stdout)
            .split(b'\n')
            .map_while(std::io::Result::ok);
        if let Some(trust) = lines
            .into_iter()
            .find_map(|line| dialect.trust_answer(&line))
        {
            drop(found.send(trust));
        }
    });
    answer.recv_timeout(TRUST_PATIENCE).ok()
}
