//! Real agent clients beside a scripted provider, where no other host can be reached.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::home::Home;
use crate::patience::wait_until;
use crate::program::Program;

const RUN_IN_NAMESPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mock_llm/run_in_ns.sh");

/// The key that the namespace gives to both clients.
const DUMMY_KEY: &str = "sk-dummy";

/// What the shell sets for itself; `TERM` is for each terminal to say.
const SHELL_VARIABLES: &[&str] = &["_", "OLDPWD", "PWD", "SHLVL", "TERM"];

/// The program of a real client. Panics if there is none: a test that cannot run has not passed.
pub(crate) fn installed(client: &str) -> PathBuf {
    let variable = format!("SESSDECK_TEST_{}", client.to_uppercase());
    std::env::var_os(&variable)
        .map(PathBuf::from)
        .filter(|path| path.exists())
        .unwrap_or_else(|| panic!("`{variable}` must name the client; `tests/run` installs it"))
}

/// A namespace with loopback alone and the provider in it, held open until this is dropped.
pub(crate) struct Provider {
    holder: Child,
    /// Any process inside, by its id outside.
    inside: i32,
    repo: PathBuf,
    environment: Vec<(String, String)>,
    log: PathBuf,
}

impl Provider {
    pub(crate) fn start(home: &Home, scenario: &Value) -> Self {
        home.write("provider/scenario.json", &scenario.to_string());
        trust(home);
        let log = home.path("provider/requests.jsonl");
        let ready = home.path("provider/environment");
        let mut command = Command::new(RUN_IN_NAMESPACE);
        command.env_clear().envs(home.variables());
        command.arg("-s").arg(home.path("provider/scenario.json"));
        command.arg("-l").arg(&log);
        command.arg("-H").arg(home.path("home"));
        command.arg("-d").arg(home.repo());
        for (name, value) in home.variables() {
            command.arg("-e").arg(format!("{name}={value}"));
        }
        let hold = "env -0 > \"$0.part\" && mv \"$0.part\" \"$0\" && exec sleep infinity";
        command.args(["--", "bash", "-c", hold]).arg(&ready);
        let errors = fs::File::create(home.path("provider/errors")).expect("a file of our own");
        let mut holder = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            // Keys pressed where the tests run are not for it.
            .process_group(0)
            .spawn()
            .expect("run_in_ns.sh can be started");
        let environment = wait_until("the namespace", || {
            if let Some(status) = holder.try_wait().expect("our child") {
                panic!("{status}: {}", home.read("provider/errors"));
            }
            fs::read_to_string(&ready).ok()
        });
        Self {
            inside: only_child(holder.id()),
            holder,
            repo: home.repo(),
            environment: environment
                .split_terminator('\0')
                .filter_map(|line| line.split_once('='))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .filter(|(name, _)| !SHELL_VARIABLES.contains(&name.as_str()))
                .collect(),
            log,
        }
    }

    /// A program beside the provider, in the repository.
    pub(crate) fn program(&self, name: impl Into<OsString>) -> Program {
        let variables = self.environment.iter().map(|(name, value)| (name, value));
        Program::new(name, &self.repo)
            .envs(variables)
            .within(self.inside)
    }

    /// The requests that were answered so far, each as the provider logged it.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let whole = log.rfind('\n').map_or("", |end| &log[..end]);
        whole
            .lines()
            .map(|line| serde_json::from_str(line).expect("the log is JSON lines"))
            .collect()
    }

    /// Waits for an answered request.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        wait_until(what, || self.requests().into_iter().find(&wanted))
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // Takes its child along, the first process of the namespace, and with that everything inside.
        self.holder.kill().expect("our child");
        self.holder.wait().expect("our child");
    }
}

/// The one child of a process.
fn only_child(id: u32) -> i32 {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let children = children.expect("the kernel lists children");
    children.trim().parse().expect("one child")
}

/// Answers what the clients ask on their first start, for this home and repository.
fn trust(home: &Home) {
    let repo = home.repo();
    let repo: &Path = &repo;
    let claude = json!({
        "hasCompletedOnboarding": true,
        "customApiKeyResponses": { "approved": [DUMMY_KEY], "rejected": [] },
        "projects": { (repo.to_string_lossy()): { "hasTrustDialogAccepted": true } },
    });
    home.write("home/.claude.json", &claude.to_string());
    let codex = format!(
        r#"model = "gpt-5.5-codex"
model_provider = "mock"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:4100/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[projects."{}"]
trust_level = "trusted"
"#,
        repo.display()
    );
    home.write("home/.codex/config.toml", &codex);
}
