//! Where the stand-in runs: its folder, its branch, its own files. It is a program of its own and reads its own
//! environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, Exit, Result};

#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The real path, symlinks resolved.
    pub(super) dir: PathBuf,
    pub(super) config_dir: PathBuf,
    pub(super) branch: String,
    /// Factor on the time that work takes; 0 in tests.
    pub(super) pace: f64,
}

impl Place {
    pub(super) fn read() -> Result<Self> {
        let dir = std::env::current_dir()?.canonicalize()?;
        let config_dir = match (variable("CLAUDE_CONFIG_DIR"), variable("HOME")) {
            (Some(dir), _) if !dir.is_empty() => PathBuf::from(dir),
            (_, Some(home)) => Path::new(&home).join(".claude"),
            _ => {
                return Err(Error::new(
                    Exit::Fault,
                    "neither `CLAUDE_CONFIG_DIR` nor `HOME` is set",
                ));
            }
        };
        Ok(Self {
            branch: branch(&dir).unwrap_or_default(),
            pace: pace(variable("SESSDECK_PRACTICE_PACE")),
            dir,
            config_dir,
        })
    }

    /// The settings of the user and of the project.
    pub(super) fn settings_files(&self) -> [PathBuf; 3] {
        [
            self.config_dir.join("settings.json"),
            self.dir.join(".claude/settings.json"),
            self.dir.join(".claude/settings.local.json"),
        ]
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "not the deck's environment but that of the client it stands for"
)]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn pace(text: Option<OsString>) -> f64 {
    text.and_then(|text| text.to_str()?.parse().ok())
        .filter(|pace: &f64| pace.is_finite() && *pace >= 0.0)
        .unwrap_or(1.0)
        .min(100.0)
}

/// The branch that is checked out in the folder or above it.
fn branch(dir: &Path) -> Option<String> {
    let git = dir
        .ancestors()
        .map(|dir| dir.join(".git"))
        .find(|git| git.exists())?;
    // In a worktree it is a file that names the folder.
    let folder = match std::fs::read_to_string(&git) {
        Ok(text) => git.parent()?.join(text.strip_prefix("gitdir:")?.trim()),
        Err(_) => git,
    };
    let head = std::fs::read_to_string(folder.join("HEAD")).ok()?;
    Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_that_makes_no_sense_is_the_usual_one() {
        for (text, expected) in [
            (None, 1.0),
            (Some("0"), 0.0),
            (Some("0.25"), 0.25),
            (Some("fast"), 1.0),
            (Some("-1"), 1.0),
            (Some("NaN"), 1.0),
            (Some("1e9"), 100.0),
        ] {
            let got = pace(text.map(OsString::from));
            assert!((got - expected).abs() < f64::EPSILON, "{text:?}: {got}");
        }
    }

    #[test]
    fn the_branch_is_read_in_a_repo_and_in_a_worktree() {
        let root = tempfile::tempdir().unwrap();
        let repo = root.path().join("repo");
        let tree = root.path().join("tree");
        std::fs::create_dir_all(repo.join(".git/worktrees/tree")).unwrap();
        std::fs::create_dir_all(repo.join("src")).unwrap();
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::write(repo.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(
            repo.join(".git/worktrees/tree/HEAD"),
            "ref: refs/heads/a/b\n",
        )
        .unwrap();
        std::fs::write(tree.join(".git"), "gitdir: ../repo/.git/worktrees/tree\n").unwrap();
        for (dir, expected) in [(repo.join("src"), Some("main")), (tree, Some("a/b"))] {
            assert_eq!(branch(&dir).as_deref(), expected, "{}", dir.display());
        }
    }
}
