//! What the hooks decided: one JSON line a decision, in files that are rotated.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::lock::Lock;
use super::make_private_dir;

/// One decision. What this version does not know is left out when it is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Entry {
    /// RFC 3339, UTC.
    pub(crate) time: String,
    /// The deck's id of the session; none outside the deck.
    pub(crate) session: Option<u64>,
    pub(crate) conversation: Option<String>,
    pub(crate) agent: String,
    pub(crate) subagent: Option<String>,
    /// In the client's word.
    pub(crate) event: String,
    pub(crate) verdict: String,
    /// The step of the brake that was told.
    pub(crate) step: Option<String>,
    /// The profile that a prompt belongs to.
    pub(crate) profile: Option<String>,
    /// The keywords that decided.
    pub(crate) matched: Vec<String>,
    pub(crate) context_tokens: Option<u64>,
    /// So many subagents that were stopped the parent was told of.
    pub(crate) told: usize,
    /// From the start of the program to its answer, in milliseconds.
    pub(crate) ms: f64,
    /// Why nothing could be decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
    /// Only where the settings ask for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prompt: Option<String>,
}

/// Adds a line, in one write. A file that has `bytes` is closed, and `keep` closed ones are kept.
///
/// # Errors
/// The log cannot be written.
pub(crate) fn append(state_dir: &Path, entry: &Entry, bytes: u64, keep: u32) -> io::Result<()> {
    let path = current(state_dir);
    if let Some(folder) = path.parent() {
        make_private_dir(folder)?;
    }
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(&path)?;
    file.write_all(&line)?;
    if file.metadata()?.len() < bytes {
        return Ok(());
    }
    let _lock = Lock::on(&path, state_dir)?;
    // Another hook may have closed it meanwhile.
    if fs::metadata(&path).is_ok_and(|now| now.len() >= bytes) {
        for n in (0..keep).rev() {
            match fs::rename(closed(state_dir, n), closed(state_dir, n + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        if keep == 0 {
            fs::remove_file(&path)?;
        }
        // Those of a time when more were kept.
        let older = (keep + 1..).map(|n| closed(state_dir, n));
        older
            .take_while(|file| fs::remove_file(file).is_ok())
            .for_each(drop);
    }
    Ok(())
}

/// All decisions that are kept, oldest first, and how many lines are none.
pub(crate) fn read(state_dir: &Path) -> (Vec<Entry>, usize) {
    let (mut entries, mut unreadable) = (Vec::new(), 0);
    let files = (0..).map(|n| closed(state_dir, n));
    let files: Vec<PathBuf> = files
        .take_while(|file| file.exists() || *file == current(state_dir))
        .collect();
    for file in files.iter().rev() {
        let bytes = fs::read(file).unwrap_or_default();
        for line in bytes.split(|byte| *byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(entry) => entries.push(entry),
                Err(_) if line.is_empty() => {}
                Err(_) => unreadable += 1,
            }
        }
    }
    (entries, unreadable)
}

fn current(state_dir: &Path) -> PathBuf {
    closed(state_dir, 0)
}

/// The how many-th closed file, the newest first; number 0 is the one that is open.
fn closed(state_dir: &Path, n: u32) -> PathBuf {
    let name = match n {
        0 => "hook.jsonl".to_owned(),
        n => format!("hook.{n}.jsonl"),
    };
    state_dir.join("log").join(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::thread;

    use super::*;

    fn entry(verdict: &str) -> Entry {
        Entry {
            verdict: verdict.into(),
            ..Entry::default()
        }
    }

    fn verdicts(state_dir: &Path) -> Vec<String> {
        let (entries, _) = read(state_dir);
        entries.into_iter().map(|entry| entry.verdict).collect()
    }

    #[test]
    fn the_newest_files_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), (vec![], 0));
        for verdict in ["a", "b", "c", "d"] {
            append(dir.path(), &entry(verdict), 1, 2).unwrap();
        }
        assert_eq!(verdicts(dir.path()), ["c", "d"]);
        append(dir.path(), &entry("e"), 1 << 20, 2).unwrap();
        assert_eq!(verdicts(dir.path()), ["c", "d", "e"]);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&current(dir.path())), 0o600);
        assert_eq!(mode(&dir.path().join("log")), 0o700);
        append(dir.path(), &entry("f"), 1, 0).unwrap();
        assert_eq!(verdicts(dir.path()), [""; 0]);
    }

    #[test]
    fn many_hooks_at_once_lose_nothing_that_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for writer in 0..8 {
                let dir = dir.path();
                scope.spawn(move || {
                    for n in 0..50 {
                        append(dir, &entry(&format!("{writer}-{n}")), 4_000, 1_000).unwrap();
                    }
                });
            }
        });
        let mut seen = verdicts(dir.path());
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 400);
        assert!(closed(dir.path(), 5).exists());
    }

    #[test]
    fn lines_that_are_none_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        append(dir.path(), &entry("a"), 9_999, 1).unwrap();
        let mut text = fs::read_to_string(current(dir.path())).unwrap();
        text.push_str("half a li\n{\"verdict\":\"b\",\"new\":1}\n");
        fs::write(current(dir.path()), text).unwrap();
        assert_eq!(read(dir.path()).1, 1);
        assert_eq!(verdicts(dir.path()), ["a", "b"]);
    }
}
