//! `sessdeck demo`: a throwaway repo and a deck of its own, with the practice agent in place of the real client.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;

use crate::config::dirs::Dirs;
use crate::config::load;
use crate::config::trust;
use crate::error::{Error, Exit, Result};

/// What the demo's first session is started with.
const FIRST: [&str; 5] = ["fix", "the", "flaky", "login", "test"];

/// Open a deck on a throwaway repo with a built-in stand-in agent. No account is needed.
///
/// It is left as any deck is, and the same command comes back to it.
#[derive(Debug, Args)]
pub(crate) struct Begin {
    /// End the demo with all that runs in it.
    #[arg(long)]
    end: bool,
}

impl Begin {
    /// Makes the demo, unless one runs, and becomes the deck in it.
    pub(crate) fn run(&self, dirs: &Dirs) -> Result<ExitCode> {
        let all = dirs.state.join("demo");
        if self.end {
            return end(&all);
        }
        super::attach::needs_terminal()?;
        let ourselves = std::env::current_exe()?;
        if let Some(demo) = running(&all).pop() {
            return Err(demo.turn_into(&ourselves, &[]));
        }
        load::make(dirs)?;
        let demo = prepare(&dirs.state, &ourselves, &super::today(), runs)?;
        let own = demo.dirs()?;
        load::make(&own)?;
        let here = load::here(&own, &demo.repo)?;
        trust::accept(&here.repo.root, &own.state, &here.hash, load::user())?;
        Err(demo.turn_into(&ourselves, &FIRST))
    }
}

/// Whether that is the deck of a demo.
pub(super) fn is_of(dirs: &Dirs) -> bool {
    let number = dirs.state.ancestors().nth(2);
    let name = |path: Option<&Path>| path?.file_name()?.to_str().map(str::to_owned);
    name(number).is_some_and(|name| name.parse::<u32>().is_ok())
        && name(number.and_then(Path::parent)).as_deref() == Some("demo")
}

/// The demos in which something runs, the newest last.
fn running(all: &Path) -> Vec<Demo> {
    let mut numbers = numbers(all);
    numbers.sort_unstable();
    let demos = numbers
        .into_iter()
        .map(|number| Demo::at(&all.join(number.to_string())));
    demos.filter(|demo| runs(&demo.home)).collect()
}

fn runs(home: &Path) -> bool {
    let run = home.join("run");
    ["deck.sock", "keeper.sock"]
        .iter()
        .any(|name| UnixStream::connect(run.join(name)).is_ok())
}

/// Ends all demos; the next one that is made removes their folders.
fn end(all: &Path) -> Result<ExitCode> {
    for demo in running(all) {
        super::server::stop(&demo.dirs()?, true)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a demo lives. It stays until the next one is made and nothing runs in it any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demo {
    /// The repo. Its `.sessdeck/` is ours, so the caller may trust it for the person.
    pub(crate) repo: PathBuf,
    /// To be `SESSDECK_HOME`: the demo's deck knows nothing of the person's own.
    pub(crate) home: PathBuf,
}

impl Demo {
    fn at(root: &Path) -> Self {
        Self {
            repo: root.join("shop"),
            home: root.join("home"),
        }
    }

    fn dirs(&self) -> Result<Dirs> {
        let home = self.home.clone();
        let variable = |name: &str| (name == "SESSDECK_HOME").then(|| home.clone().into());
        Dirs::by(variable, load::user())
    }

    /// Becomes the deck of this demo, with a new session for these words if there are any. Comes back only if that
    /// failed.
    fn turn_into(&self, sessdeck: &Path, words: &[&str]) -> Error {
        let error = Command::new(sessdeck)
            .args((!words.is_empty()).then_some("new"))
            .args(words)
            .env("SESSDECK_HOME", &self.home)
            .current_dir(&self.repo)
            .exec();
        Error::from(error).at(sessdeck, None)
    }
}

/// The repo's files.
const FILES: [(&str, &str); 7] = [
    ("README.md", include_str!("demo/README.md")),
    ("src/login.py", include_str!("demo/login.py")),
    ("src/server.py", include_str!("demo/server.py")),
    ("tests/test_login.py", include_str!("demo/test_login.py")),
    ("docs/guide.md", include_str!("demo/guide.md")),
    ("hot-todo.md", include_str!("demo/hot-todo.md")),
    (
        ".sessdeck/profiles.toml",
        include_str!("demo/profiles.toml"),
    ),
];

/// Stands for the date in `hot-todo.md`.
const DATE: &str = "YYYY-MM-DD";

/// Makes a fresh demo in `<state>/demo/`, each in a numbered folder, and removes the earlier ones whose deck is not
/// `in_use`. `sessdeck` is this program, `today` the date of the ideas in the inbox.
pub(crate) fn prepare(
    state: &Path,
    sessdeck: &Path,
    today: &str,
    in_use: impl Fn(&Path) -> bool,
) -> Result<Demo> {
    let all = state.join("demo");
    folder(&all)?;
    let earlier = numbers(&all);
    for number in &earlier {
        let root = all.join(number.to_string());
        if !in_use(&root.join("home")) {
            fs::remove_dir_all(&root).map_err(|error| Error::from(error).at(&root, None))?;
        }
    }
    let root = next(&all, earlier.into_iter().max().unwrap_or(0))?;
    let demo = Demo::at(&root);
    for (name, text) in FILES {
        write(&demo.repo.join(name), &text.replace(DATE, today))?;
    }
    let settings = settings(sessdeck, &root.join("claude"))?;
    folder(&demo.home)?;
    folder(&demo.home.join("config"))?;
    write(&demo.home.join("config/config.toml"), &settings)?;
    begin_repo(&demo.repo);
    Ok(demo)
}

fn numbers(all: &Path) -> Vec<u32> {
    fs::read_dir(all)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

/// Makes the next numbered folder. Whoever makes it first has it, so two demos at once get two.
fn next(all: &Path, last: u32) -> Result<PathBuf> {
    let mut number = last + 1;
    loop {
        let root = all.join(number.to_string());
        match DirBuilder::new().mode(0o700).create(&root) {
            Ok(()) => return Ok(root),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(Error::from(error).at(&root, None)),
        }
    }
}

/// The deck's `config.toml`: the agent `claude` is this program, with a folder of its own for transcripts.
fn settings(sessdeck: &Path, config_dir: &Path) -> Result<String> {
    let text = |path: &Path| {
        path.to_str().map(str::to_owned).ok_or_else(|| {
            Error::new(Exit::Fault, "the path is not UTF-8")
                .at(path, None)
                .mend("set SESSDECK_HOME to a folder whose path is")
        })
    };
    let command = vec![text(sessdeck)?, "practice-agent".to_owned()];
    let env = toml::Table::from_iter([(
        "CLAUDE_CONFIG_DIR".to_owned(),
        toml::Value::from(text(config_dir)?),
    )]);
    let claude = toml::Table::from_iter([
        ("command".to_owned(), toml::Value::from(command)),
        ("env".to_owned(), toml::Value::Table(env)),
    ]);
    let agent = toml::Table::from_iter([("claude".to_owned(), toml::Value::Table(claude))]);
    let settings = toml::Table::from_iter([("agent".to_owned(), toml::Value::Table(agent))]);
    Ok(format!(
        "# Made by `sessdeck demo`; the next one may remove it.\n{settings}"
    ))
}

/// Makes it a git repo if git is there; the deck works without.
fn begin_repo(repo: &Path) {
    for words in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "Begin the shop"],
    ] {
        let done = Command::new("git")
            .args([
                "-c",
                "user.name=sessdeck demo",
                "-c",
                "user.email=demo@localhost",
            ])
            .args(words)
            .current_dir(repo)
            // The person's own hooks, templates and signing keys have no part in it.
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !done.is_ok_and(|status| status.success()) {
            return;
        }
    }
}

/// A folder that nobody else can look into; it may be there.
fn folder(path: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| Error::from(error).at(path, None))
}

fn write(path: &Path, text: &str) -> Result<()> {
    path.parent()
        .map_or(Ok(()), folder)
        .and_then(|()| fs::write(path, text).map_err(|error| Error::from(error).at(path, None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(state: &Path, in_use: bool) -> Demo {
        prepare(
            state,
            Path::new("/opt/a \"b\"/sessdeck"),
            "2026-12-01",
            |_| in_use,
        )
        .unwrap()
    }

    #[test]
    fn a_demo_is_a_repo_with_profiles_ideas_and_a_deck_of_its_own() {
        let state = tempfile::tempdir().unwrap();
        let demo = prepared(state.path(), false);
        let profiles = fs::read_to_string(demo.repo.join(".sessdeck/profiles.toml")).unwrap();
        let profiles: toml::Table = profiles.parse().unwrap();
        let names: Vec<_> = profiles["profile"]
            .as_array()
            .unwrap()
            .iter()
            .map(|profile| profile["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["bugfix", "docs", "feature"]);
        let inbox = fs::read_to_string(demo.repo.join("hot-todo.md")).unwrap();
        assert_eq!(inbox.matches("- [ ] 2026-12-01 #").count(), 3, "{inbox}");
        let settings = fs::read_to_string(demo.home.join("config/config.toml")).unwrap();
        let settings: toml::Table = settings.parse().unwrap();
        let claude = &settings["agent"]["claude"];
        assert_eq!(claude["command"][0].as_str(), Some("/opt/a \"b\"/sessdeck"));
        assert_eq!(claude["command"][1].as_str(), Some("practice-agent"));
        let config_dir = claude["env"]["CLAUDE_CONFIG_DIR"].as_str().unwrap();
        assert!(Path::new(config_dir).starts_with(state.path()));
    }

    #[test]
    fn a_deck_knows_whether_it_is_a_demo() {
        let state = tempfile::tempdir().unwrap();
        let demo = prepared(state.path(), false);
        assert!(is_of(&demo.dirs().unwrap()));
        let own = |home: &str| Dirs::by(|name| (name == "SESSDECK_HOME").then(|| home.into()), 0);
        for home in ["/home/dev/demo", "/home/dev/deck", "/home/dev/1/home"] {
            assert!(!is_of(&own(home).unwrap()), "{home}");
        }
    }

    #[test]
    fn the_next_demo_is_fresh_and_removes_those_that_nothing_runs_in() {
        let state = tempfile::tempdir().unwrap();
        let first = prepared(state.path(), false);
        let second = prepared(state.path(), true);
        assert_ne!(first, second);
        assert!(first.repo.exists(), "something still ran in it");
        let kept = state.path().join("demo/notes");
        fs::create_dir(&kept).unwrap();
        let third = prepared(state.path(), false);
        assert!(!first.repo.exists() && !second.repo.exists());
        assert!(third.repo.exists() && kept.exists());
    }
}
