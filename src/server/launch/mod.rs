//! From an order to what would be started: profiles, settings, the dialect. On a thread of its own, since it reads
//! files and may have to ask the client's own program.

mod wire;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread;

use super::Incoming;
use crate::agents;
use crate::config::dirs::Dirs;
use crate::config::load::{self, Here};
use crate::deck::brake::Brake;
use crate::deck::launch::{self, Choosable, Flags, Ground, Owned, Recipe, Wish};
use crate::deck::{ClientId, Seed};
use crate::error::{Error, Exit, Result};
use crate::files;
use crate::protocol::client::{Order, Plan};
use crate::terminal::Size;
use wire::Wired;

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
    pub(super) fn start(dirs: &Dirs, loop_: Sender<Incoming>) -> Self {
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
    let here = here(&dir, dirs, good, &mut warnings)?;
    let flags =
        |agent: &str| agents::named(agent).map_or_else(Flags::default, |dialect| *dialect.flags());
    let ground = Ground {
        set: &here.set.profiles,
        default_agent: &here.settings.default_agent,
        inbox: &here.settings.inbox,
        handoffs: &here.settings.handoffs,
        is_repo: here.repo.is_repo,
        flags: &flags,
    };
    let mut planned = launch::plan(&wish(order, &here), &ground).map_err(wrong)?;
    planned.recipe.dir = dir;
    warnings.append(&mut planned.warnings);
    let note = note(order, &planned.owned)?;
    if let (Some(note), None) = (&note, &planned.recipe.task) {
        let task = format!(
            "Read the handoff note {} and go on from it.",
            note.display()
        );
        planned.recipe.task = Some(task);
    }
    let resume = resumed(&planned.owned)?;
    let wired = wire::wire(
        &planned.recipe,
        order,
        &here,
        dirs,
        &wire::How { asks, resume },
    )?;
    let launch::Planned {
        recipe,
        color,
        choice,
        ..
    } = planned;
    warnings.extend(wired.warnings.iter().cloned());
    let window = recipe
        .model
        .as_deref()
        .and_then(|model| here.settings.window_of(model));
    let plan = Plan {
        profile: recipe.profile.clone(),
        color: color.clone(),
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
        env: added(&recipe, &here, &wired, note.as_deref()),
        dir: recipe.dir.clone(),
        warnings,
        obstacle: wired.obstacle.clone(),
    };
    let seed = Seed {
        brake: brake(&recipe, &here, &wired, window),
        // The dialect of a plain session is never that of an agent, whatever the program is called.
        agent: if wired.is_agent || agents::named(&recipe.agent).is_none() {
            recipe.agent
        } else {
            "shell".to_owned()
        },
        model: recipe.model,
        title: recipe.title,
        profile: recipe.profile,
        color,
        dir: recipe.dir,
        repo: here.repo.root,
        argv: wired.argv,
        conversation: wired.conversation,
        window,
        guarded: wired.guarded,
        handoff_from: note,
        inbox: order.inbox.clone(),
    };
    Ok(Planned {
        plan,
        seed,
        client_env: order.env.clone(),
        size: order.size.unwrap_or(SIZE),
    })
}

/// Settings and profiles of the folder: as they are, else as they were when they could be read last.
fn here(
    dir: &Path,
    dirs: &Dirs,
    good: &mut BTreeMap<PathBuf, Here>,
    warnings: &mut Vec<String>,
) -> Result<Here> {
    let here = match (load::here(dirs, dir), good.get(dir)) {
        (Ok(here), _) => here,
        (Err(error), Some(last)) => {
            warnings.push(format!("{}; the last good profiles are used", error.line()));
            last.clone()
        }
        (Err(error), None) => return Err(error),
    };
    good.insert(dir.to_owned(), here.clone());
    if !here.set.waiting.is_empty() {
        let waits =
            "this repo's `.sessdeck/` is not trusted yet: `sessdeck trust` shows what waits";
        warnings.push(waits.to_owned());
    }
    Ok(here)
}

fn wish<'a>(order: &'a Order, here: &Here) -> Wish<'a> {
    // Whoever wrote an inbox line may have tagged it as they liked; then its words choose.
    let known = |name: &&str| order.inbox.is_none() || here.set.profiles.named(name).is_some();
    Wish {
        raw: &order.raw,
        task: order.task.as_deref(),
        profile: order.profile.as_deref().filter(known),
        agent: order.agent.as_deref(),
        model: order.model.as_deref(),
        effort: order.effort.as_deref(),
        title: order.title.as_deref(),
        dir: &order.dir,
        exec: order.exec,
    }
}

/// The note that the session goes on from, by its absolute path.
fn note(order: &Order, owned: &Owned) -> Result<Option<PathBuf>> {
    let named = order
        .note
        .clone()
        .or_else(|| owned.from.as_ref().map(PathBuf::from));
    let Some(note) = named.map(|note| order.dir.join(note)) else {
        return Ok(None);
    };
    match note.canonicalize() {
        Ok(note) => Ok(Some(note)),
        Err(error) => {
            Err(Error::new(Exit::Usage, format!("no such handoff note: {error}")).at(&note, None))
        }
    }
}

/// The conversation to go on with. What is not offered is refused, rather than started as something else.
fn resumed(owned: &Owned) -> Result<Option<String>> {
    let refused = |flag: &str, mend: &str| {
        Err(Error::new(Exit::Usage, format!("`{flag}` is not offered")).mend(mend))
    };
    if owned.worktree != Choosable::Absent {
        return refused(
            "--worktree",
            "make one with `git worktree add` and name it with `--dir`",
        );
    }
    if owned.inbox.is_some() {
        return refused("--inbox", "`sessdeck inbox open N` opens that line");
    }
    match &owned.resume {
        Choosable::Absent => Ok(None),
        Choosable::This(id) => Ok(Some(id.clone())),
        Choosable::Any => refused(
            "--resume",
            "name the conversation: `--resume=ID`; `sessdeck ls --json` has the ids",
        ),
    }
}

/// What the deck adds to the program's environment, but for what depends on the session's id.
fn added(
    recipe: &Recipe,
    here: &Here,
    wired: &Wired,
    note: Option<&Path>,
) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    if !wired.is_agent {
        return env;
    }
    if let Some(profile) = &recipe.profile {
        env.insert("SESSDECK_PROFILE".to_owned(), profile.clone());
    }
    if let Some(task) = &recipe.task {
        env.insert("SESSDECK_TASK".to_owned(), files::hook_state::hash(task));
    }
    if wired.guarded {
        env.insert("SESSDECK_HOOKS".to_owned(), "session".to_owned());
    }
    // A session that goes on from a note brings that one up to date.
    if let Some(note) = note {
        env.insert("SESSDECK_THREAD".to_owned(), note.display().to_string());
    }
    if let Some(agent) = here.settings.agent.get(&recipe.agent) {
        env.extend(agent.env.clone());
    }
    env
}

fn brake(recipe: &Recipe, here: &Here, wired: &Wired, window: Option<u64>) -> Brake {
    if !wired.is_agent {
        return Brake::default();
    }
    Brake::new(here.settings.brake.of(&recipe.agent, window))
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
