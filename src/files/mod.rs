//! Files that several processes write at once: under a lock, in one write or whole, never half.

pub(crate) mod blocked;
pub(crate) mod hook_log;
pub(crate) mod hook_state;
pub(crate) mod inbox;
mod lock;
pub(crate) mod tail;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::config::plain;

/// The text of a plain file.
pub(crate) fn read_plain(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    plain::open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Makes a folder of ours and what leads to it, closed to others.
pub(crate) fn make_private_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Replaces a file whole: readers see the old text or the new one, even after the machine went down. A file that
/// exists keeps its mode, a new one gets `mode`; a link keeps pointing at its target.
pub(crate) fn replace(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let target = resolve(path)?;
    let mode = match fs::metadata(&target) {
        Ok(metadata) => metadata.permissions().mode() & 0o7777,
        Err(error) if error.kind() == ErrorKind::NotFound => mode,
        Err(error) => return Err(error),
    };
    let temporary = Temporary::beside(&target);
    let file = temporary.write(mode, bytes)?;
    file.sync_all()?;
    fs::rename(&temporary.0, &target)?;
    // The rename itself lies in the folder. Where a folder cannot be synced there is nothing more to do.
    let folder = target.parent().unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .or(Ok(()))
}

/// Replaces a file of ours that can be done without after the machine went down. Waits for no disk.
pub(crate) fn replace_state(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = Temporary::beside(path);
    let _file = temporary.write(0o600, bytes)?;
    fs::rename(&temporary.0, path)
}

/// The real path of what may not exist yet, seen from `dir`: links are followed. None for a path that climbs (`..`), and
/// for one that passes through a link which leads nowhere.
pub(crate) fn resolved(path: &Path, dir: &Path) -> Option<PathBuf> {
    let climbs = |part| matches!(part, Component::ParentDir);
    if path.as_os_str().is_empty() || path.components().any(climbs) {
        return None;
    }
    let full = dir.join(path);
    for existing in full.ancestors() {
        match fs::canonicalize(existing) {
            Ok(real) => {
                let rest = full.strip_prefix(existing).ok()?;
                return Some(if rest.as_os_str().is_empty() {
                    real
                } else {
                    real.join(rest)
                });
            }
            // A link to nothing would be followed by whoever writes there.
            Err(_) if fs::symlink_metadata(existing).is_ok() => return None,
            Err(_) => {}
        }
    }
    None
}

/// A file that is gone again when it was not renamed.
struct Temporary(PathBuf);

impl Temporary {
    fn beside(target: &Path) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".{name}.{}-{count}.tmp", std::process::id());
        Self(target.with_file_name(name))
    }

    fn write(&self, mode: u32, bytes: &[u8]) -> io::Result<File> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&self.0)?;
        file.write_all(bytes)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        Ok(file)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        fs::remove_file(&self.0).unwrap_or_default();
    }
}

/// The real path of a file that need not exist yet, nor the folders it lies in: through all links, a dangling one
/// included.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    resolve_within(path, MOST_LINKS)
}

/// As many links as the system follows.
const MOST_LINKS: usize = 40;

fn resolve_within(path: &Path, links: usize) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && links > 0 => {}
        done => return done,
    }
    let Some(name) = path.file_name() else {
        return Err(ErrorKind::NotFound.into());
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let folder = resolve_within(folder, links)?;
    match fs::read_link(folder.join(name)) {
        Ok(target) => resolve_within(&folder.join(target), links - 1),
        Err(_) => Ok(folder.join(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_through_links_and_never_climbs() {
        let temp = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir(dir.join("notes")).unwrap();
        fs::write(dir.join("secret"), "").unwrap();
        for (name, target) in [
            ("link", "notes"),
            ("notes/a.md", "../secret"),
            ("gone", "nowhere"),
        ] {
            std::os::unix::fs::symlink(target, dir.join(name)).unwrap();
        }
        for (path, real) in [
            ("notes/new.md", Some("notes/new.md")),
            ("./notes/new.md", Some("notes/new.md")),
            ("link/new.md", Some("notes/new.md")),
            ("link/deep/er.md", Some("notes/deep/er.md")),
            ("notes/a.md", Some("secret")),
            ("gone", None),
            ("gone/x", None),
            ("notes/../secret", None),
            ("", None),
        ] {
            let found = resolved(Path::new(path), &dir);
            assert_eq!(found, real.map(|real| dir.join(real)), "{path}");
            let whole = dir.join(path);
            if !path.is_empty() {
                assert_eq!(resolved(&whole, Path::new("/")), found, "{path}");
            }
        }
    }
    use std::os::unix::fs::symlink;

    #[test]
    fn a_replaced_file_keeps_its_mode_and_its_link() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        replace(&real, 0o640, b"a").unwrap();
        symlink("real", &link).unwrap();
        replace(&link, 0o600, b"b").unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"b");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(
            fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_path_resolves_before_its_file_exists() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        symlink("sub/new", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        for (path, real) in [
            ("new", Some("new")),
            ("sub/../new", Some("new")),
            ("dangling", Some("sub/new")),
            ("nowhere/to/new", Some("nowhere/to/new")),
            ("nowhere/../new", None),
            ("loop", None),
        ] {
            let resolved = resolve(&root.join(path)).ok();
            assert_eq!(resolved, real.map(|real| root.join(real)), "{path}");
        }
    }
}
