//! The inbox as a file that sessions, shells and editors write at the same time.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::lock::Lock;
use super::{replace, resolve};
use crate::error::{Error, Exit, Result};

/// An editor that knows no lock may replace the file under us so many times before we give up.
const TRIES: usize = 5;

/// The inbox of a repo, at its real path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InboxFile {
    path: PathBuf,
    state_dir: PathBuf,
}

impl InboxFile {
    /// The inbox at `path` (relative to `repo`, or absolute), which has to lie inside the repo, links followed.
    pub(crate) fn new(repo: &Path, path: &Path, state_dir: &Path) -> Result<Self> {
        let named = repo.join(path);
        let at = |error: io::Error| Error::from(error).at(&named, None);
        let root = fs::canonicalize(repo).map_err(at)?;
        let real = resolve(&named).map_err(at)?;
        if !real.starts_with(&root) || real == root {
            return Err(outside(&named));
        }
        match fs::metadata(&real) {
            Ok(metadata) if !metadata.is_file() => {
                Err(Error::new(Exit::Settings, "the inbox is no plain file").at(&named, None))
            }
            _ => Ok(Self {
                path: real,
                state_dir: state_dir.to_owned(),
            }),
        }
    }

    /// Where the file really lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The whole text; empty if there is no file yet.
    pub(crate) fn read(&self) -> Result<String> {
        match fs::read(&self.path) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| {
                Error::new(Exit::Fault, "the inbox is not UTF-8").at(&self.path, None)
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(self.at(error)),
        }
    }

    /// Adds what `deck::inbox::line` made, in one write, and reads back that it is there. Nothing for an empty text.
    pub(crate) fn append(&self, line: &str) -> Result<()> {
        if line.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        for _ in 0..TRIES {
            if self.append_once(line).map_err(|error| self.at(error))? {
                return Ok(());
            }
        }
        Err(
            Error::new(Exit::Fault, "the inbox is being replaced all the time")
                .at(&self.path, None),
        )
    }

    /// Replaces the text by what `change` makes of it. If someone without our lock writes meanwhile, `change` gets
    /// the new text.
    pub(crate) fn rewrite(&self, mut change: impl FnMut(&str) -> Result<String>) -> Result<()> {
        let _lock = self.lock()?;
        for _ in 0..TRIES {
            let before = self.stamp();
            let old = self.read()?;
            let new = change(&old)?;
            if self.stamp() != before {
                continue;
            }
            if new != old {
                self.make_folder().map_err(|error| self.at(error))?;
                replace(&self.path, 0o644, new.as_bytes()).map_err(|error| self.at(error))?;
            }
            return Ok(());
        }
        Err(Error::new(Exit::Fault, "the inbox changes all the time").at(&self.path, None))
    }

    fn lock(&self) -> Result<Lock> {
        Lock::on(&self.path, &self.state_dir).map_err(|error| {
            Error::new(Exit::Fault, format!("cannot lock the inbox: {error}"))
                .at(&self.state_dir, None)
        })
    }

    fn at(&self, error: io::Error) -> Error {
        Error::from(error).at(&self.path, None)
    }

    /// What tells that a file was written or replaced.
    fn stamp(&self) -> Option<(u64, u64, i64, i64)> {
        let stamp = |file: Metadata| (file.ino(), file.size(), file.mtime(), file.mtime_nsec());
        fs::metadata(&self.path).ok().map(stamp)
    }

    /// Whether the line landed; not if the file was replaced while we wrote.
    fn append_once(&self, line: &str) -> io::Result<bool> {
        let mut file = self.open()?;
        let len = file.metadata()?.len();
        let (is_ended, is_dos) = ending(&mut file, len)?;
        let mut block = line.to_owned();
        if !is_ended {
            block.insert(0, '\n');
        }
        if is_dos {
            block = block.replace('\n', "\r\n");
        }
        let written = file.write(block.as_bytes())?;
        if written < block.len() {
            // A full disk. Half a line is worse than none.
            file.set_len(len)?;
            return Err(ErrorKind::StorageFull.into());
        }
        let mut now = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            opened => opened?,
        };
        // If the file is still the one we wrote to, the line stands at its old end, else anywhere.
        if now.metadata()?.ino() == file.metadata()?.ino() {
            now.seek(SeekFrom::Start(len))?;
        }
        let mut text = Vec::new();
        now.read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).contains(block.trim_matches(['\r', '\n'])))
    }

    fn make_folder(&self) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), fs::create_dir_all)
    }

    /// Opens the file to append, or creates it; never empties it.
    fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).append(true);
        match options.open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => return opened,
        }
        self.make_folder()?;
        match options.create_new(true).open(&self.path) {
            // Someone without our lock was faster.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                OpenOptions::new().read(true).append(true).open(&self.path)
            }
            created => created,
        }
    }
}

/// Whether the text ends with a line end (an empty one needs none), and whether its lines end as on DOS.
fn ending(file: &mut File, len: u64) -> io::Result<(bool, bool)> {
    /// Long enough to hold the end of the line before the last.
    const TAIL: u64 = 4096;
    file.seek(SeekFrom::Start(len.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    let is_ended = tail.last().is_none_or(|last| *last == b'\n');
    let is_dos = tail.windows(2).any(|pair| pair == b"\r\n");
    Ok((is_ended, is_dos))
}

fn outside(path: &Path) -> Error {
    Error::new(Exit::Settings, "the inbox lies outside the repo")
        .at(path, None)
        .mend("set `inbox` to a path inside it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::thread;
    use tempfile::TempDir;

    /// A repo and a state folder.
    struct Place {
        dir: TempDir,
    }

    impl Place {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir(dir.path().join("repo")).unwrap();
            Self { dir }
        }

        fn repo(&self) -> PathBuf {
            self.dir.path().join("repo")
        }

        fn inbox(&self, path: &str) -> Result<InboxFile> {
            InboxFile::new(
                &self.repo(),
                Path::new(path),
                &self.dir.path().join("state"),
            )
        }
    }

    #[test]
    fn a_line_is_appended_whole_whatever_the_file_ends_with() {
        for (before, after) in [
            (None, "new\n"),
            (Some(""), "new\n"),
            (Some("old\n"), "old\nnew\n"),
            (Some("old"), "old\nnew\n"),
            (Some("a\r\nold\r\n"), "a\r\nold\r\nnew\r\n"),
            (Some("a\r\nold"), "a\r\nold\r\nnew\r\n"),
        ] {
            let place = Place::new();
            let inbox = place.inbox("notes/hot-todo.md").unwrap();
            if let Some(before) = before {
                fs::create_dir(place.repo().join("notes")).unwrap();
                fs::write(inbox.path(), before).unwrap();
            }
            inbox.append("").unwrap();
            assert_eq!(inbox.path().exists(), before.is_some());
            inbox.append("new\n").unwrap();
            assert_eq!(inbox.read().unwrap(), after, "{before:?}");
        }
    }

    #[test]
    fn the_inbox_lies_inside_the_repo() {
        let place = Place::new();
        let repo = place.repo();
        fs::create_dir(place.dir.path().join("other")).unwrap();
        fs::create_dir(repo.join("real")).unwrap();
        symlink("../other", repo.join("out")).unwrap();
        symlink("../other/new.md", repo.join("dangling.md")).unwrap();
        symlink("real/todo.md", repo.join("in.md")).unwrap();
        let absolute = repo.join("absolute.md");
        for (path, lies_inside) in [
            ("hot-todo.md", true),
            ("in.md", true),
            (absolute.to_str().unwrap(), true),
            ("real/../x.md", true),
            ("", false),
            (".", false),
            ("real", false),
            ("../x.md", false),
            ("/etc/x.md", false),
            ("out/x.md", false),
            ("out/sub/x.md", false),
            ("dangling.md", false),
        ] {
            assert_eq!(place.inbox(path).is_ok(), lies_inside, "{path}");
        }
        place.inbox("in.md").unwrap().append("a\n").unwrap();
        assert_eq!(
            fs::read_to_string(repo.join("real/todo.md")).unwrap(),
            "a\n"
        );
    }

    #[test]
    fn a_thousand_parks_at_once_leave_a_thousand_whole_lines() {
        let place = Place::new();
        thread::scope(|scope| {
            for session in 0..50 {
                let place = &place;
                scope.spawn(move || {
                    let inbox = place.inbox("hot-todo.md").unwrap();
                    for thought in 0..20 {
                        inbox
                            .append(&format!(
                                "- [ ] {session} {thought}\n  detail {session} {thought}\n"
                            ))
                            .unwrap();
                    }
                });
            }
        });
        let text = place.inbox("hot-todo.md").unwrap().read().unwrap();
        assert_eq!(text.lines().count(), 2000);
        for session in 0..50 {
            for thought in 0..20 {
                let line = format!("- [ ] {session} {thought}\n  detail {session} {thought}\n");
                assert_eq!(text.matches(&line).count(), 1, "{line}");
            }
        }
    }

    #[test]
    fn rewriting_and_appending_at_once_loses_nothing() {
        let place = Place::new();
        thread::scope(|scope| {
            for worker in 0..8 {
                let place = &place;
                scope.spawn(move || {
                    let inbox = place.inbox("hot-todo.md").unwrap();
                    for turn in 0..10 {
                        let line = format!("{worker} {turn}\n");
                        if turn % 2 == 0 {
                            inbox.append(&line).unwrap();
                        } else {
                            inbox.rewrite(|text| Ok(format!("{text}{line}"))).unwrap();
                        }
                    }
                });
            }
        });
        let text = place.inbox("hot-todo.md").unwrap().read().unwrap();
        assert_eq!(text.lines().count(), 80);
    }

    #[test]
    fn an_editor_without_our_lock_loses_nothing_either() {
        let place = Place::new();
        let inbox = place.inbox("hot-todo.md").unwrap();
        inbox.append("a\n").unwrap();
        let mut edited = false;
        inbox
            .rewrite(|text| {
                if !edited {
                    fs::write(inbox.path(), format!("{text}by hand\n")).unwrap();
                    edited = true;
                }
                Ok(format!("{text}b\n"))
            })
            .unwrap();
        assert_eq!(inbox.read().unwrap(), "a\nby hand\nb\n");
    }

    #[test]
    fn a_refused_change_and_a_strange_text_leave_the_file() {
        let place = Place::new();
        let inbox = place.inbox("hot-todo.md").unwrap();
        fs::write(inbox.path(), b"\xff\n").unwrap();
        assert!(inbox.rewrite(|_| Ok("x".into())).is_err());
        inbox.append("a\n").unwrap();
        assert_eq!(fs::read(inbox.path()).unwrap(), b"\xff\na\n");
        fs::write(inbox.path(), "a").unwrap();
        assert!(
            inbox
                .rewrite(|_| Err(Error::new(Exit::Fault, "no")))
                .is_err()
        );
        assert_eq!(inbox.read().unwrap(), "a");
    }
}
