//! What a conversation's hook remembers from one run to the next.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::lock::Lock;
use super::{make_private_dir, read_plain, replace_state};
use crate::error::{Error, Result};

/// As long as it takes to send a prompt again, and no longer: a pass that lies around would let a later one through.
const PASS_LASTS: Duration = Duration::from_secs(60);

/// The file of one conversation, `<state>/hooks/<agent>-<conversation id>.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HookFile {
    path: PathBuf,
    state_dir: PathBuf,
}

/// Its content. What this version does not know is kept for the one that wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HookState {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) passes: Vec<Pass>,
    /// The lines of the brake, in tokens, that have fired and not re-armed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<u64>,
    /// Since when the context stands at the stop step, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stopped: Option<u64>,
    /// The model as the start of the conversation named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The person has taken brake and guard off this conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) off: bool,
    /// The subagents that were warned or denied, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) agents: BTreeMap<String, AgentState>,
    #[serde(flatten)]
    pub(crate) other: serde_json::Map<String, serde_json::Value>,
}

/// What is remembered of one subagent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct AgentState {
    /// How many warnings it had.
    pub(crate) warned: u64,
    /// How often a tool was denied to it.
    pub(crate) denials: u32,
    /// It is over.
    pub(crate) ended: bool,
    /// Its parent knows that it was stopped.
    pub(crate) told: bool,
    /// Its handoff file, as it was first named to it. It may work elsewhere by now, and its parent too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<PathBuf>,
}

/// Lets one prompt through the topic check, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pass {
    /// Of the prompt.
    pub(crate) hash: String,
    /// Milliseconds since 1970.
    pub(crate) until: u64,
}

impl HookFile {
    /// `None` without an id: what belongs to no conversation must not be shared by all of them.
    pub(crate) fn new(state_dir: &Path, agent: &str, conversation: &str) -> Option<Self> {
        if conversation.is_empty() {
            return None;
        }
        let name = format!("{}.json", file_name(&format!("{agent}-{conversation}")));
        Some(Self {
            path: state_dir.join("hooks").join(name),
            state_dir: state_dir.to_owned(),
        })
    }

    /// What is remembered; nothing if the file is missing or broken.
    pub(crate) fn read(&self) -> HookState {
        read_plain(&self.path)
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Changes what is remembered, alone among all hooks and the server.
    pub(crate) fn update<T>(&self, change: impl FnOnce(&mut HookState) -> T) -> Result<T> {
        self.change(change)
            .map_err(|error| Error::from(error).at(&self.path, None))
    }

    fn change<T>(&self, change: impl FnOnce(&mut HookState) -> T) -> io::Result<T> {
        if let Some(dir) = self.path.parent() {
            make_private_dir(dir)?;
        }
        let _lock = Lock::on(&self.path, &self.state_dir)?;
        let before = self.read();
        let mut state = before.clone();
        let outcome = change(&mut state);
        if state != before {
            replace_state(&self.path, &serde_json::to_vec(&state)?)?;
        }
        Ok(outcome)
    }

    /// Lets exactly this prompt through once, within a minute.
    pub(crate) fn add_pass(&self, prompt: &str, now: SystemTime) -> Result<()> {
        self.update(|state| {
            state.passes.retain(|pass| pass.until >= millis(now));
            state.passes.push(Pass {
                hash: hash(prompt),
                until: millis(now + PASS_LASTS),
            });
        })
    }

    /// Whether this prompt has a pass, which is used up by asking.
    pub(crate) fn take_pass(&self, prompt: &str, now: SystemTime) -> Result<bool> {
        let hash = hash(prompt);
        let find = |state: &HookState| {
            state
                .passes
                .iter()
                .position(|pass| pass.hash == hash && pass.until >= millis(now))
        };
        // Nearly no prompt has one: no lock for those.
        if find(&self.read()).is_none() {
            return Ok(false);
        }
        self.update(|state| match find(state) {
            Some(index) => {
                state.passes.remove(index);
                true
            }
            None => false,
        })
    }
}

/// The file of the conversation with that id, whatever its agent; none if no hook of it has remembered anything.
pub(crate) fn named(state_dir: &Path, conversation: &str) -> Option<HookFile> {
    let ending = format!("-{}.json", file_name(conversation));
    let mut paths: Vec<PathBuf> = fs::read_dir(state_dir.join("hooks"))
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            !conversation.is_empty() && name.ends_with(&ending) && !name.starts_with('.')
        })
        .collect();
    // An id that is the end of another one names nobody.
    (paths.len() == 1).then(|| HookFile {
        path: paths.remove(0),
        state_dir: state_dir.to_owned(),
    })
}

/// Blanks around a prompt may change on its way through the client's box.
pub(crate) fn hash(prompt: &str) -> String {
    let text = prompt.trim().replace("\r\n", "\n");
    format!("{:x}", Sha256::digest(text.as_bytes()))
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// An id as a file name. Where that changes it, a hash keeps different ids apart.
fn file_name(id: &str) -> String {
    const LONGEST: usize = 100;
    let name: String = id
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        })
        .take(LONGEST)
        .collect();
    if name == id && !name.starts_with('.') {
        return name;
    }
    let hash = format!("{:x}", Sha256::digest(id.as_bytes()));
    format!("{}-{}", name.trim_start_matches('.'), &hash[..12])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn file(dir: &Path) -> HookFile {
        HookFile::new(dir, "claude", "0b1c-2d").unwrap()
    }

    #[test]
    fn a_pass_lets_its_prompt_through_once_and_for_a_minute() {
        let dir = tempfile::tempdir().unwrap();
        let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let file = file(dir.path());
        assert!(!file.take_pass("a", now).unwrap());
        assert!(!dir.path().join("hooks").exists());
        file.add_pass("a\r\nb", now).unwrap();
        assert!(!file.take_pass("a", now).unwrap());
        assert!(file.take_pass(" a\nb\n", now).unwrap());
        assert!(!file.take_pass("a\r\nb", now).unwrap());

        for (after, passes) in [(60, true), (61, false)] {
            file.add_pass("c", now).unwrap();
            let later = now + Duration::from_secs(after);
            assert_eq!(file.take_pass("c", later).unwrap(), passes, "{after}");
        }
        file.add_pass("d", now + Duration::from_secs(100)).unwrap();
        assert_eq!(file.read().passes.len(), 1);
    }

    #[test]
    fn of_many_who_ask_at_once_one_gets_the_pass() {
        let dir = tempfile::tempdir().unwrap();
        let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        file(dir.path()).add_pass("a", now).unwrap();
        let got = thread::scope(|scope| {
            let askers: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| file(dir.path()).take_pass("a", now).unwrap()))
                .collect();
            let answers = askers.into_iter().map(|asker| asker.join().unwrap());
            answers.filter(|got| *got).count()
        });
        assert_eq!(got, 1);
    }

    #[test]
    fn what_others_remember_there_is_kept_and_a_broken_file_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let file = file(dir.path());
        file.update(|_| ()).unwrap();
        fs::write(&file.path, r#"{"steps":[250000],"new":{"a":1}}"#).unwrap();
        file.add_pass("a", UNIX_EPOCH).unwrap();
        let state = file.read();
        assert_eq!(state.steps, [250_000]);
        assert_eq!(state.other["new"]["a"], 1);
        fs::write(&file.path, "{").unwrap();
        file.add_pass("a", UNIX_EPOCH).unwrap();
        assert_eq!(file.read().passes.len(), 1);
    }

    #[test]
    fn a_conversation_is_found_by_its_id() {
        let dir = tempfile::tempdir().unwrap();
        file(dir.path()).update(|state| state.off = true).unwrap();
        assert_eq!(named(dir.path(), "0b1c-2d"), Some(file(dir.path())));
        for nobody in ["", "0b1c", "../x"] {
            assert_eq!(named(dir.path(), nobody), None, "{nobody}");
        }
        let other = HookFile::new(dir.path(), "codex", "0b1c-2d").unwrap();
        other.update(|state| state.off = true).unwrap();
        assert_eq!(named(dir.path(), "0b1c-2d"), None);
    }

    #[test]
    fn ids_become_harmless_file_names() {
        for (id, name) in [
            ("claude-0b1c", "claude-0b1c"),
            ("claude-../x", "claude-..-x-"),
            ("..", "-"),
            ("a/b", "a-b-"),
            ("a b", "a-b-"),
        ] {
            let made = file_name(id);
            assert!(made.starts_with(name) && !made.contains('/'), "{made}");
            assert!(made == name || made.len() == name.len() + 12, "{made}");
        }
        assert_ne!(file_name("a/b"), file_name("a b"));
        assert!(file_name(&"x".repeat(5000)).len() < 120);
        assert_eq!(HookFile::new(Path::new("s"), "claude", ""), None);
    }
}
