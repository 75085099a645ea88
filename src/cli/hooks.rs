//! `sessdeck hooks`: our hook in the clients' own settings, for agents that are started outside the deck.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use crate::agents::{self, Dialect, Ours};
use crate::config::dirs::Dirs;
use crate::config::load;
use crate::config::repo::Repo;
use crate::error::{Error, Exit, Result};
use crate::files;

/// Put our hook into the clients' own settings, so that agents which are started outside the deck are guarded too.
#[derive(Debug, Args)]
pub(crate) struct Hooks {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Add it; all else in the file stays as it is, and a copy is kept beside it.
    Install(Where),
    /// Take it out again.
    Uninstall(Where),
    /// Say where it stands and what it calls.
    ///
    /// With --json: an array of `{"agent", "file", "state", "events", "programs"}`; `state` is `installed`, `incomplete`,
    /// `other program`, `missing program`, `not installed` or `unreadable`.
    Status {
        #[command(flatten)]
        place: Where,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct Where {
    /// In your own settings, for all projects (the default).
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// In this project's settings: `.claude/settings.local.json`, `.codex/hooks.json`.
    #[arg(long)]
    project: bool,
    /// Only for this agent: `claude` or `codex`.
    #[arg(long)]
    agent: Option<String>,
}

impl Hooks {
    pub(crate) fn run(&self, _: &Dirs, out: &mut impl Write) -> Result<()> {
        match &self.what {
            What::Install(wanted) => {
                for place in places(wanted, true)? {
                    let before = place.text()?;
                    let after = place.checked(place.ours.install(&before))?;
                    place.change(&before, &after, "installed", out)?;
                    if wanted.project && before != after {
                        writeln!(out, "  it names a path of this machine: keep it out of git")?;
                    }
                    if place.dialect.name() == "codex" && before != after {
                        writeln!(
                            out,
                            "  codex asks at its next start whether to trust them (\"Hooks need review\"); until then \
                             they do not run"
                        )?;
                    }
                }
            }
            What::Uninstall(wanted) => {
                for place in places(wanted, false)? {
                    let before = place.text()?;
                    let after = place.checked(place.ours.uninstall(&before))?;
                    place.change(&before, &after, "taken out", out)?;
                }
            }
            What::Status { place, json } => {
                let places = places(place, false)?;
                if *json {
                    let all: Vec<_> = places
                        .iter()
                        .map(|place| place.status().json(place))
                        .collect();
                    writeln!(out, "{:#}", serde_json::Value::from(all))?;
                } else {
                    for place in places {
                        let status = place.status();
                        writeln!(
                            out,
                            "{}: {}: {}",
                            place.dialect.name(),
                            place.file.display(),
                            status.said()
                        )?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// One file that our hook may stand in.
pub(super) struct Place {
    pub(super) dialect: &'static dyn Dialect,
    pub(super) file: PathBuf,
    ours: Ours,
    program: PathBuf,
}

/// How our hook stands in a file.
pub(super) struct Status {
    pub(super) state: &'static str,
    events: usize,
    pub(super) programs: Vec<PathBuf>,
    pub(super) why: Option<String>,
}

impl Status {
    fn json(&self, place: &Place) -> serde_json::Value {
        json!({
            "agent": place.dialect.name(),
            "file": place.file,
            "state": self.state,
            "events": self.events,
            "programs": self.programs,
        })
    }

    /// It in a line for a person.
    pub(super) fn said(&self) -> String {
        let program = self.programs.first().map(|program| program.display());
        match (self.state, &self.why, program) {
            ("installed", ..) => format!("installed for {} events", self.events),
            ("incomplete", ..) => {
                "installed by an older version; `sessdeck hooks install` adds what is new"
                    .to_owned()
            }
            ("other program", _, Some(program)) => {
                format!(
                    "calls another program, {program}; `sessdeck hooks install` puts this one there"
                )
            }
            ("missing program", _, Some(program)) => {
                format!(
                    "calls {program}, which is no program any more; `sessdeck hooks install` mends that"
                )
            }
            (state, Some(why), _) => format!("{state}: {why}"),
            (state, ..) => state.to_owned(),
        }
    }
}

/// The files that are meant. Without a name: of all agents that are used here, if `used` is asked for.
fn places(place: &Where, used: bool) -> Result<Vec<Place>> {
    let project = place
        .project
        .then(|| -> Result<PathBuf> { Ok(Repo::around(&std::env::current_dir()?).root) });
    let env = load::environment();
    let program = std::env::current_exe()?;
    let found = all(project.transpose()?.as_deref(), &env, &program);
    let Some(agent) = &place.agent else {
        let meant: Vec<Place> = found
            .into_iter()
            .filter(|found| !used || place.project || is_used(found, &env))
            .collect();
        if meant.is_empty() {
            return Err(Error::new(Exit::Usage, "no agent is used here")
                .mend("name one: `--agent claude` or `--agent codex`"));
        }
        return Ok(meant);
    };
    let known: Vec<&str> = found.iter().map(|place| place.dialect.name()).collect();
    let known = known.join(" or ");
    let found: Vec<Place> = found
        .into_iter()
        .filter(|place| place.dialect.name() == agent)
        .collect();
    if found.is_empty() {
        let agent = agent.escape_debug();
        return Err(Error::new(
            Exit::Usage,
            format!("`{agent}` has no hooks, expected {known}"),
        ));
    }
    Ok(found)
}

fn runs(program: &Path) -> bool {
    fs::metadata(program).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// Whether an agent is used here: it has its folder, or its program is there.
fn is_used(place: &Place, env: &BTreeMap<String, String>) -> bool {
    let on_path = || {
        let path = env.get("PATH").map_or("", String::as_str);
        std::env::split_paths(path).any(|folder| runs(&folder.join(place.dialect.name())))
    };
    place.file.parent().is_some_and(Path::exists) || on_path()
}

/// The files of all agents: the person's, or those of a project.
pub(super) fn all(
    project: Option<&Path>,
    env: &BTreeMap<String, String>,
    program: &Path,
) -> Vec<Place> {
    agents::NAMES
        .into_iter()
        .filter_map(agents::named)
        .filter_map(|dialect| {
            Some(Place {
                dialect,
                file: dialect.hooks_file(env, project)?,
                ours: dialect.installed(&program.display().to_string())?,
                program: program.to_owned(),
            })
        })
        .collect()
}

impl Place {
    fn text(&self) -> Result<String> {
        match fs::read(&self.file) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| {
                Error::new(Exit::Settings, "the file is not UTF-8").at(&self.file, None)
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(Error::from(error).at(&self.file, None)),
        }
    }

    fn checked(&self, text: std::result::Result<String, String>) -> Result<String> {
        text.map_err(|why| {
            Error::new(Exit::Settings, format!("this is no settings file: {why}"))
                .at(&self.file, None)
                .mend("mend it by hand; nothing was changed")
        })
    }

    /// Replaces the file whole, after a copy of what it was.
    fn change(&self, before: &str, after: &str, done: &str, out: &mut impl Write) -> Result<()> {
        let name = self.dialect.name();
        let file = self.file.display();
        if before == after {
            writeln!(out, "{name}: {file}: nothing to do")?;
            return Ok(());
        }
        let told = |error: std::io::Error| Error::from(error).at(&self.file, None);
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(told)?;
        }
        let copy = self.keep(before)?;
        files::replace(&self.file, 0o600, after.as_bytes()).map_err(told)?;
        writeln!(out, "{name}: {file}: {done}")?;
        if let Some(copy) = copy {
            writeln!(out, "  what it was is in {}", copy.display())?;
        }
        Ok(())
    }

    /// A copy beside the file; none of one that was not there. The first copies that nobody took away stay.
    fn keep(&self, before: &str) -> Result<Option<PathBuf>> {
        let Ok(metadata) = fs::metadata(&self.file) else {
            return Ok(None);
        };
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let mode = metadata.permissions().mode() & 0o777;
        for n in 1.. {
            let copy = self
                .file
                .with_file_name(format!("{name}.before-sessdeck-{n}"));
            let told = |error: std::io::Error| Error::from(error).at(&copy, None);
            match fs::read(&copy) {
                Ok(kept) if kept == before.as_bytes() => return Ok(Some(copy)),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    files::replace(&copy, mode, before.as_bytes()).map_err(told)?;
                    return Ok(Some(copy));
                }
                Err(error) => return Err(told(error)),
            }
        }
        Ok(None)
    }

    /// How our hook stands there.
    pub(super) fn status(&self) -> Status {
        let found = self
            .text()
            .map_err(|error| error.line())
            .and_then(|text| self.ours.found(&text));
        let found = match found {
            Ok(found) => found,
            Err(why) => {
                return Status {
                    state: "unreadable",
                    events: 0,
                    programs: Vec::new(),
                    why: Some(why),
                };
            }
        };
        let mut programs: Vec<PathBuf> = found
            .iter()
            .map(|found| PathBuf::from(&found.program))
            .collect();
        programs.sort();
        programs.dedup();
        let same = |program: &PathBuf| {
            fs::canonicalize(program).ok() == fs::canonicalize(&self.program).ok()
        };
        let state = if found.is_empty() {
            "not installed"
        } else if !programs.iter().all(|program| runs(program)) {
            "missing program"
        } else if !programs.iter().all(same) {
            "other program"
        } else if found.len() < self.ours.events() {
            "incomplete"
        } else {
            "installed"
        };
        Status {
            state,
            events: found.len(),
            programs,
            why: None,
        }
    }
}
