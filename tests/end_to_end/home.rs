//! A home of its own for one test: a folder with a user's home, a deck and a repository in it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::process::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::clients::Provider;
use crate::processes::Marker;
use crate::program::{Program, Said};
use crate::terminal::Terminal;

/// The program under test.
pub(crate) const SESSDECK: &str = env!("CARGO_BIN_EXE_sessdeck");

/// Where the deck looks for the user's settings, below `SESSDECK_HOME`.
const CONFIG: &str = "deck/config/config.toml";

/// Dropping it kills every process that was started from it.
pub(crate) struct Home {
    // In the order in which they must go: the namespace, the processes, the folder.
    provider: Option<Provider>,
    marker: Marker,
    folder: TempDir,
}

impl Home {
    /// A home without settings or agents; its repository has one commit.
    pub(crate) fn new() -> Self {
        // A socket's path has to stay short, whatever TMPDIR says.
        let folder = tempfile::Builder::new()
            .prefix("sd-")
            .tempdir_in("/tmp")
            .expect("a folder under /tmp");
        let deck = folder.path().join("deck");
        let home = Self {
            provider: None,
            marker: Marker::new("SESSDECK_HOME", &deck.to_string_lossy()),
            folder,
        };
        home.write(
            "home/.gitconfig",
            "[user]\nname = Dev\nemail = dev@example.com\n",
        );
        home.write("repo/README.md", "# A repository\n");
        home.link("sessdeck", SESSDECK.as_ref());
        for words in ["init -q -b main", "add -A", "commit -q -m start"] {
            home.program("git").args(words.split(' ')).run().ok();
        }
        home
    }

    /// Starts the built-in stand-in instead of Claude Code, and lets it lose no time.
    pub(crate) fn with_practice_agent(self) -> Self {
        let command = serde_json::json!([SESSDECK, "practice-agent"]);
        let settings = format!(
            "[agent.claude]\ncommand = {command}\nenv = {{ SESSDECK_PRACTICE_PACE = \"0\" }}\n"
        );
        self.write(CONFIG, &settings);
        self
    }

    /// Moves everything that this home starts from now on to where nothing answers but a scripted provider, with
    /// the named real clients on the PATH. `scenario` is what the provider says.
    pub(crate) fn with_provider(mut self, scenario: &Value, clients: &[&str]) -> Self {
        for client in clients {
            self.link(client, &crate::clients::installed(client));
        }
        self.provider = Some(Provider::start(&self, scenario));
        self
    }

    #[track_caller]
    pub(crate) fn provider(&self) -> &Provider {
        self.provider.as_ref().expect("this home has no provider")
    }

    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    /// Writes a file and its folders; the path starts with `home/`, `deck/` or `repo/`.
    pub(crate) fn write(&self, inside: &str, text: &str) {
        let path = self.path(inside);
        let folder = path.parent().expect("a file lies in a folder");
        fs::create_dir_all(folder).expect("a folder of our own");
        fs::write(path, text).expect("a file of our own");
    }

    /// Writes a program.
    pub(crate) fn script(&self, inside: &str, text: &str) {
        // Written through, a link would change the program that it names.
        fs::remove_file(self.path(inside)).ok();
        self.write(inside, text);
        let all = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(inside), all).expect("a file of our own");
    }

    /// A file as it is now; empty if there is none.
    pub(crate) fn read(&self, inside: &str) -> String {
        fs::read_to_string(self.path(inside)).unwrap_or_default()
    }

    fn link(&self, name: &str, program: &Path) {
        let bin = self.path("bin");
        fs::create_dir_all(&bin).expect("a folder of our own");
        symlink(program, bin.join(name)).expect("a link of our own");
    }

    /// Any program, started in the repository.
    pub(crate) fn program(&self, name: impl Into<OsString>) -> Program {
        if let Some(provider) = &self.provider {
            return provider.program(name);
        }
        Program::new(name, self.repo())
            .envs(self.variables())
            .env("HOME", self.path("home"))
            .env("LANG", "C.UTF-8")
            .env("USER", "dev")
            .env("SHELL", "/bin/bash")
    }

    /// What sets this home apart from others.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let path = std::env::var("PATH").expect("PATH is set");
        vec![
            ("PATH", format!("{}:{path}", self.path("bin").display())),
            ("SESSDECK_HOME", self.path("deck").display().to_string()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ]
    }

    /// The program under test, in the repository.
    pub(crate) fn sessdeck(&self, words: &[&str]) -> Said {
        self.program(SESSDECK).args(words).run()
    }

    /// The program under test in a terminal, in the repository.
    pub(crate) fn terminal(&self, words: &[&str], columns: u16, rows: u16) -> Terminal {
        self.program(SESSDECK).args(words).open(columns, rows)
    }

    /// The living processes that were started from here, with their command lines.
    pub(crate) fn processes(&self) -> Vec<(Pid, String)> {
        self.marker.processes()
    }

    /// Kills them all, and what they start meanwhile.
    pub(crate) fn kill_all(&self) {
        self.marker.kill();
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.provider = None;
        self.marker.kill();
    }
}
