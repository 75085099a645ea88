//! The one place that reads the environment and the files of settings.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::config::dirs::{self, Dirs};
use crate::config::limits;
use crate::config::parse::{parse, wrong};
use crate::config::plain;
use crate::config::profiles;
use crate::config::repo::Repo;
use crate::config::set::{self, Set};
use crate::config::settings::{RepoSettings, Settings};
use crate::config::themes::Theme;
use crate::config::trust::{self, Content, Trust};
use crate::error::{Error, Result};

/// What holds for sessions in one folder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Here {
    pub(crate) repo: Repo,
    pub(crate) settings: Settings,
    pub(crate) set: Set,
    pub(crate) trust: Trust,
    /// Names what `.sessdeck/` holds now; [`trust::accept`] takes it.
    pub(crate) hash: String,
}

/// What a program inside a session finds in its environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inside {
    /// `SESSDECK_SESSION`: the id the server gave the session.
    pub(crate) session: Option<u64>,
    /// `SESSDECK_PROFILE`: the intent the session was started with.
    pub(crate) profile: Option<String>,
    /// `SESSDECK_TASK`: the hash of the task that the session was started with.
    pub(crate) task: Option<String>,
    /// `SESSDECK_THREAD`: what names the session's handoff note, or the absolute path of the note it goes on from.
    pub(crate) thread: Option<String>,
    /// `SESSDECK_SOCKET`: where hooks tell the server what happened.
    pub(crate) socket: Option<PathBuf>,
    /// `SESSDECK_HOOKS`: the session was started with hooks of its own.
    pub(crate) hooks: bool,
    /// `SESSDECK_GUARD_…`: limits of subagents that go before the settings.
    pub(crate) guard: BTreeMap<String, String>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the environment is read here and nowhere else"
)]
fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The environment as an agent is to get it. What is not UTF-8 is left out, since it cannot go over the wire.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment is read here and nowhere else"
)]
pub(crate) fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

pub(crate) fn inside() -> Inside {
    let text = |name| var(name).and_then(|value| value.into_string().ok());
    Inside {
        session: text("SESSDECK_SESSION").and_then(|id| id.parse().ok()),
        profile: text("SESSDECK_PROFILE").filter(|profile| !profile.is_empty()),
        task: text("SESSDECK_TASK"),
        thread: text("SESSDECK_THREAD").filter(|thread| !thread.is_empty()),
        socket: var("SESSDECK_SOCKET").map(PathBuf::from),
        hooks: var("SESSDECK_HOOKS").is_some(),
        guard: environment()
            .into_iter()
            .filter(|(name, _)| name.starts_with(limits::VARIABLES))
            .collect(),
    }
}

/// The user this process acts for.
pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub(crate) fn dirs() -> Result<Dirs> {
    Dirs::by(var, user())
}

/// Makes sure that the folders of sockets and state are there and closed to others.
pub(crate) fn make(dirs: &Dirs) -> Result<()> {
    dirs::private(&dirs.runtime, user())?;
    dirs::private(&dirs.state, user())
}

/// The person's settings, without any repo's.
pub(crate) fn settings(dirs: &Dirs) -> Result<Settings> {
    let file = dirs.config.join("config.toml");
    match text(&file)? {
        Some(text) => parse(&text, &file),
        None => Ok(Settings::default()),
    }
}

/// The theme that the settings name: the person's file, else a built-in one.
pub(crate) fn theme(dirs: &Dirs, settings: &Settings) -> Result<Theme> {
    let name = &settings.theme;
    let folder = dirs.config.join("themes");
    let is_name = !name.contains('/') && !name.starts_with('.');
    let file = folder.join(format!("{name}.toml"));
    match if is_name { text(&file)? } else { None } {
        Some(text) => Theme::parse(&text, &file),
        None => Theme::built_in(name).ok_or_else(|| Theme::missing(name, &folder)),
    }
}

/// Repo, settings, profiles and trust for sessions in `dir`.
pub(crate) fn here(dirs: &Dirs, dir: &Path) -> Result<Here> {
    let repo = Repo::around(dir);
    let content = Content::read(&repo.root)?;
    let trust = trust::state(&content, &repo.root, &dirs.state);
    let trusted = trust == Trust::Trusted;
    let deck = repo.root.join(".sessdeck");

    let mut settings = settings(dirs)?;
    let mut waiting = Vec::new();
    if let Some(bytes) = content.file("config.toml") {
        let file = deck.join("config.toml");
        let text = utf8(bytes, &file)?;
        let repos: RepoSettings = parse(text, &file)?;
        if trusted {
            settings = settings.with(repos);
        } else {
            waiting = lines(text);
        }
    }

    let built_in = set::built_in_names();
    let mut persons = Vec::new();
    for file in profile_files(&dirs.config.join("profiles"))? {
        if let Some(text) = text(&file)? {
            persons.push(profiles::read(&text, &file, &built_in)?);
        }
    }
    let repos = match content.file("profiles.toml") {
        Some(bytes) => {
            let file = deck.join("profiles.toml");
            Some(profiles::read(utf8(bytes, &file)?, &file, &built_in)?)
        }
        None => None,
    };
    let mut set = set::merged(persons, repos, trusted, &settings)?;
    set.waiting.extend(waiting);
    let hash = content.hash();
    Ok(Here {
        repo,
        settings,
        set,
        trust,
        hash,
    })
}

/// The same where a file is wrong or cannot be read, and what is wrong: then what can be read of the person's settings
/// holds, without any profiles.
pub(crate) fn here_in_any_case(dirs: &Dirs, dir: &Path) -> (Here, Option<Error>) {
    match here(dirs, dir) {
        Ok(here) => (here, None),
        Err(error) => {
            let here = Here {
                repo: Repo::around(dir),
                settings: settings(dirs).unwrap_or_default(),
                set: Set::default(),
                trust: Trust::Unknown,
                hash: String::new(),
            };
            (here, Some(error))
        }
    }
}

/// What a repo's config.toml says, a line each.
fn lines(text: &str) -> Vec<String> {
    let table: toml::Table = toml::from_str(text).unwrap_or_default();
    table
        .iter()
        .map(|(name, value)| format!("config.toml: {name} = {value}"))
        .collect()
}

/// The person's profile files, by name.
fn profile_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries,
    };
    let told = |error: std::io::Error| Error::from(error).at(folder, None);
    let mut files = Vec::new();
    for entry in entries.map_err(told)? {
        let path = entry.map_err(told)?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A file's text; none if there is no such file.
fn text(file: &Path) -> Result<Option<String>> {
    let read = || {
        let mut bytes = Vec::new();
        plain::open(file)?.read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    match read() {
        Ok(bytes) => Ok(Some(utf8(&bytes, file)?.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::from(error).at(file, None)),
    }
}

fn utf8<'a>(bytes: &'a [u8], file: &Path) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = error.valid_up_to();
        let before = String::from_utf8_lossy(&bytes[..valid]);
        wrong(
            file,
            &before,
            Some(valid..valid),
            "a byte that is not UTF-8",
        )
        .mend("save the file as UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        temp: tempfile::TempDir,
        dirs: Dirs,
    }

    impl World {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            let home = temp.path().join("home").into_os_string();
            let env = |name: &str| (name == "SESSDECK_HOME").then(|| home.clone());
            let dirs = Dirs::by(env, user()).unwrap();
            let world = Self { temp, dirs };
            world.write("repo/.git/HEAD", "");
            world
        }

        fn write(&self, path: &str, text: impl AsRef<[u8]>) {
            let path = self.temp.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn here(&self) -> Result<Here> {
            here(&self.dirs, &self.temp.path().join("repo"))
        }

        fn trust(&self) {
            let here = self.here().unwrap();
            trust::accept(&here.repo.root, &self.dirs.state, &here.hash, user()).unwrap();
        }
    }

    fn names(here: &Here) -> Vec<&str> {
        let profiles = &here.set.profiles.profiles;
        profiles
            .iter()
            .map(|profile| profile.name.as_str())
            .collect()
    }

    #[test]
    fn the_examples_of_the_readme_hold() {
        let readme = include_str!("../../README.md");
        let mut examples = readme.split("```toml\n").skip(1);
        let mut example = || examples.next().unwrap().split("```").next().unwrap();
        let file = Path::new("README.md");
        let profiles = profiles::read(example(), file, &set::built_in_names()).unwrap();
        assert_eq!(profiles.profiles.len(), 2);
        let settings: Settings = parse(example(), file).unwrap();
        assert_eq!(settings.theme, "light");
        assert_eq!(settings.keys.bind.len(), 2);
    }

    #[test]
    fn with_no_files_the_starter_set_and_the_defaults_hold() {
        let world = World::new();
        let here = world.here().unwrap();
        assert_eq!(names(&here), set::built_in_names());
        assert_eq!(
            (here.settings, here.trust),
            (Settings::default(), Trust::Nothing)
        );
        assert!(here.repo.is_repo);
    }

    #[test]
    fn the_repos_files_have_their_full_force_once_they_are_trusted() {
        let world = World::new();
        world.write(
            "home/config/config.toml",
            "inbox = 'mine.md'\nhandoffs = 'notes'",
        );
        world.write("home/config/profiles/b.toml", "[[profile]]\nname = 'b'");
        world.write("home/config/profiles/a.toml", "[[profile]]\nname = 'a'");
        world.write("home/config/profiles/a.toml~", "no profile");
        world.write("repo/.sessdeck/config.toml", "inbox = 'todo.md'");
        world.write(
            "repo/.sessdeck/profiles.toml",
            "[[profile]]\nname = 'seo'\nkeywords = ['sitemap']\nmodel = 'opus'",
        );
        let before = world.here().unwrap();
        assert_eq!(before.trust, Trust::Unknown);
        assert_eq!(names(&before), ["seo", "a", "b"]);
        assert_eq!(before.settings.inbox, "mine.md");
        assert_eq!(before.set.profiles.profiles[0].model, None);
        assert_eq!(
            before.set.waiting,
            ["seo: model = opus", "config.toml: inbox = \"todo.md\""]
        );

        world.trust();
        let after = world.here().unwrap();
        assert_eq!(after.trust, Trust::Trusted);
        assert_eq!(after.settings.inbox, "todo.md");
        assert_eq!(after.settings.handoffs, "notes");
        assert_eq!(
            after.set.profiles.profiles[0].model.as_deref(),
            Some("opus")
        );
        assert!(after.set.waiting.is_empty());

        world.write(
            "repo/.sessdeck/profiles.toml",
            "[[profile]]\nname = 'seo'\nmodel = 'fable'",
        );
        let changed = world.here().unwrap();
        assert_eq!(
            (changed.trust, changed.settings.inbox.as_str()),
            (Trust::Changed, "mine.md")
        );
    }

    #[test]
    fn a_broken_file_is_named_with_the_place() {
        for (path, text, expected) in [
            (
                "repo/.sessdeck/profiles.toml",
                &b"[[profile]]\nnam = 'a'"[..],
                "unknown field `nam`, expected `name`",
            ),
            (
                "repo/.sessdeck/config.toml",
                b"\ntheme = 'dark'",
                "unknown field `theme`",
            ),
            (
                "home/config/config.toml",
                b"\nkeys = 1",
                "invalid type: integer `1`, expected a table",
            ),
            (
                "home/config/profiles/x.toml",
                b"\n= 1",
                "unquoted keys cannot be empty",
            ),
            (
                "home/config/profiles/x.toml",
                b"#\n# \xff",
                "a byte that is not UTF-8",
            ),
        ] {
            let world = World::new();
            world.write(path, text);
            let error = world.here().unwrap_err();
            assert!(error.line().starts_with(expected), "{}", error.line());
            assert!(
                error.line().contains(&format!("{path}:2:")),
                "{}",
                error.line()
            );
            assert_eq!(error.exit(), crate::error::Exit::Settings);
        }
    }

    #[test]
    fn where_a_file_is_wrong_the_rest_holds() {
        let world = World::new();
        world.write("home/config/config.toml", "inbox = 'mine.md'");
        world.write("home/config/profiles/x.toml", "= 1");
        let (here, wrong) = here_in_any_case(&world.dirs, &world.temp.path().join("repo"));
        assert_eq!(here.settings.inbox, "mine.md");
        assert!(here.repo.is_repo && here.set.profiles.profiles.is_empty());
        assert!(wrong.unwrap().line().contains("x.toml:1:"));
        world.write("home/config/config.toml", "inbox = 1");
        let (here, _) = here_in_any_case(&world.dirs, &world.temp.path().join("repo"));
        assert_eq!(here.settings, Settings::default());
    }

    #[test]
    fn a_theme_of_the_person_goes_before_a_built_in_one() {
        let world = World::new();
        let theme = |name: &str| {
            let settings = Settings {
                theme: name.into(),
                ..Settings::default()
            };
            theme(&world.dirs, &settings)
        };
        assert_eq!(theme("light").ok(), Theme::built_in("light"));
        world.write("home/config/themes/light.toml", "accent = 'red'");
        assert_ne!(theme("light").ok(), Theme::built_in("light"));
        for name in ["neon", "../config", "", "."] {
            let error = theme(name).unwrap_err();
            assert!(
                error
                    .line()
                    .starts_with(&format!("no theme called `{name}`"))
            );
        }
    }
}
