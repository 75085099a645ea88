//! The prompts that the topic check blocked, each whole in a file of its own: nothing typed is lost.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::make_private_dir;
use crate::error::{Error, Exit, Result};

/// More than anyone goes back to.
const KEPT: usize = 200;

/// A prompt that was blocked, and what it needs to be sent or opened after all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockedPrompt {
    /// Milliseconds since 1970.
    pub(crate) at: u64,
    /// The deck's id of the session; none outside the deck.
    pub(crate) session: Option<u64>,
    pub(crate) agent: String,
    pub(crate) conversation: Option<String>,
    pub(crate) dir: PathBuf,
    /// The profile the session was started with.
    pub(crate) current: String,
    /// The profile the prompt belongs to.
    pub(crate) other: String,
    pub(crate) matched: Vec<String>,
    /// The command that opens it as its own session, as it was shown.
    pub(crate) command: String,
    /// Byte for byte what was typed.
    pub(crate) prompt: String,
}

/// Writes the prompt to `<state>/blocked/`, readable by its owner alone, and lets go of the oldest.
pub(crate) fn store(state_dir: &Path, blocked: &BlockedPrompt) -> Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let dir = folder(state_dir);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{:015}-{count:04}-{}.json", blocked.at, std::process::id());
    let path = dir.join(name);
    // A name of its own, so nothing is replaced; one that is torn by a crash is left out of the list.
    let write = || {
        make_private_dir(&dir)?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(&serde_json::to_vec_pretty(blocked)?)?;
        file.sync_data()
    };
    write().map_err(|error: io::Error| Error::from(error).at(&path, None))?;
    for old in stored(&dir).into_iter().skip(KEPT) {
        // Another hook may have let go of it already.
        fs::remove_file(old).unwrap_or_default();
    }
    Ok(path)
}

/// The stored prompts, newest first. A file that cannot be read is left out.
pub(crate) fn list(state_dir: &Path) -> Vec<(PathBuf, BlockedPrompt)> {
    stored(&folder(state_dir))
        .into_iter()
        .filter_map(|path| read(&path).ok().map(|blocked| (path, blocked)))
        .collect()
}

/// One stored prompt.
pub(crate) fn read(path: &Path) -> Result<BlockedPrompt> {
    let bytes = fs::read(path).map_err(|error| Error::from(error).at(path, None))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Error::new(Exit::Fault, format!("no stored prompt: {error}")).at(path, None)
    })
}

fn folder(state_dir: &Path) -> PathBuf {
    state_dir.join("blocked")
}

/// The files in the folder, newest first: their names begin with the time.
fn stored(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    paths.sort_unstable_by(|a, b| b.cmp(a));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_last_two_hundred_are_kept_whole_and_private() {
        let dir = tempfile::tempdir().unwrap();
        for at in 0..205 {
            let blocked = BlockedPrompt {
                at,
                prompt: format!("a\n\u{1f}é {at}\n"),
                ..BlockedPrompt::default()
            };
            let path = store(dir.path(), &blocked).unwrap();
            assert_eq!(read(&path).unwrap(), blocked);
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(folder(dir.path()).join("broken.json"), "{").unwrap();
        let listed = list(dir.path());
        let times: Vec<u64> = listed.iter().map(|(_, blocked)| blocked.at).collect();
        assert_eq!(times, (5..205).rev().collect::<Vec<_>>());
        let mode = fs::metadata(folder(dir.path()))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn nothing_stored_is_an_empty_list() {
        assert_eq!(list(Path::new("/nowhere")), []);
    }
}
