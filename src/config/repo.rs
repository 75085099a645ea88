//! The repo that a folder lies in, and paths that must stay inside it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Exit, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repo {
    /// The real path, without symbolic links.
    pub(crate) root: PathBuf,
    /// False where nothing marks a repo; `root` is then the folder itself.
    pub(crate) is_repo: bool,
}

impl Repo {
    /// The nearest folder at or above `dir` with a `.git` (a worktree's is a file) or a `.sessdeck`.
    pub(crate) fn around(dir: &Path) -> Self {
        let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
        let is_root =
            |folder: &&Path| folder.join(".git").exists() || folder.join(".sessdeck").is_dir();
        match real.ancestors().find(is_root) {
            Some(root) => Self {
                root: root.to_owned(),
                is_repo: true,
            },
            None => Self {
                root: real,
                is_repo: false,
            },
        }
    }

    /// The real path of `relative` below the root, which need not exist yet. Leading out of the repo is an error,
    /// through `..` as well as through symbolic links.
    pub(crate) fn inside(&self, relative: &str) -> Result<PathBuf> {
        let outside = || {
            Error::new(
                Exit::Settings,
                format!("`{relative}` does not lie inside the repo"),
            )
            .mend(format!("name a path below {}", self.root.display()))
        };
        let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        let path = Path::new(relative);
        if relative.is_empty() || !path.components().all(plain) {
            return Err(outside());
        }
        let full = self.root.join(path);
        let root = fs::canonicalize(&self.root)
            .map_err(|error| Error::from(error).at(&self.root, None))?;
        for existing in full.ancestors() {
            match fs::canonicalize(existing) {
                Ok(real) => {
                    let rest = full.strip_prefix(existing).unwrap_or(Path::new(""));
                    let resolved = if rest.as_os_str().is_empty() {
                        real
                    } else {
                        real.join(rest)
                    };
                    return if resolved.starts_with(&root) {
                        Ok(resolved)
                    } else {
                        Err(outside())
                    };
                }
                // A link that leads to nothing would be followed by whoever creates the file.
                Err(_) if fs::symlink_metadata(existing).is_ok() => return Err(outside()),
                Err(_) => {}
            }
        }
        Err(outside())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_nearest_mark_above_makes_the_root() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        for folder in [
            "git/.git",
            "git/a b/c",
            "deck/.sessdeck",
            "deck/x",
            "git/sub/.sessdeck",
            "tree/src",
            "none/x",
        ] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        fs::write(base.join("tree/.git"), "gitdir: elsewhere").unwrap();
        symlink(base.join("git/a b"), base.join("link")).unwrap();
        for (dir, root, is_repo) in [
            ("git", "git", true),
            ("git/a b/c", "git", true),
            ("link/c", "git", true),
            ("git/sub", "git/sub", true),
            ("deck/x", "deck", true),
            ("tree/src", "tree", true),
            ("none/x", "none/x", false),
            ("gone", "gone", false),
        ] {
            let expected = Repo {
                root: base.join(root),
                is_repo,
            };
            assert_eq!(Repo::around(&base.join(dir)), expected, "{dir}");
        }
    }

    #[test]
    fn a_path_may_not_lead_out_of_the_repo() {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap().join("repo");
        fs::create_dir_all(root.join("docs")).unwrap();
        fs::write(root.join("docs/todo.md"), "").unwrap();
        for (link, target) in [
            ("in", "docs"),
            ("out", ".."),
            ("loose", "../nowhere"),
            ("todo.md", "docs/todo.md"),
        ] {
            symlink(root.join(target), root.join(link)).unwrap();
        }
        let repo = Repo {
            root: root.clone(),
            is_repo: true,
        };
        for (path, expected) in [
            ("hot-todo.md", Some("hot-todo.md")),
            ("./docs/new/note.md", Some("docs/new/note.md")),
            ("in/todo.md", Some("docs/todo.md")),
            ("todo.md", Some("docs/todo.md")),
            ("in/new.md", Some("docs/new.md")),
            ("../x", None),
            ("docs/../../x", None),
            ("/etc/passwd", None),
            ("out/x", None),
            ("loose", None),
            ("loose/x", None),
            ("", None),
        ] {
            let found = repo.inside(path).ok();
            assert_eq!(found, expected.map(|path| root.join(path)), "{path}");
        }
    }
}
