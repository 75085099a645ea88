//! Has the person trusted what a repo's `.sessdeck/` says now?
//!
//! Trust is for one folder with one content: any change of a file in it asks again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::config::dirs::private;
use crate::error::{Error, Exit, Result};

/// More than this is not read on every prompt; such a folder cannot be trusted.
const LARGEST: u64 = 8 << 20;
const MOST_FILES: usize = 1_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The repo has no `.sessdeck/`.
    #[default]
    Nothing,
    Trusted,
    /// Nobody was asked yet.
    Unknown,
    /// It was trusted with another content.
    Changed,
}

/// All files of a repo's `.sessdeck/`, read once, so that what was vouched for is what is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// By path below the folder.
    files: BTreeMap<PathBuf, Vec<u8>>,
    exists: bool,
    bytes: u64,
}

impl Content {
    /// Reads the folder of the repo at `root`.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let folder = root.join(".sessdeck");
        let mut content = Self {
            exists: folder.is_dir(),
            ..Self::default()
        };
        if content.exists {
            content.gather(&folder, Path::new(""))?;
        }
        Ok(content)
    }

    fn gather(&mut self, folder: &Path, below: &Path) -> Result<()> {
        let told = |error: std::io::Error| Error::from(error).at(folder, None);
        for entry in fs::read_dir(folder).map_err(told)? {
            let entry = entry.map_err(told)?;
            let (path, name) = (entry.path(), below.join(entry.file_name()));
            let kind = entry.file_type().map_err(told)?;
            if kind.is_dir() {
                self.gather(&path, &name)?;
                continue;
            }
            // What a link leads to counts as if it stood here. A pipe or socket would never end.
            let bytes = match fs::metadata(&path) {
                Ok(found) if found.is_file() => {
                    self.bytes += found.len();
                    if self.bytes > LARGEST || self.files.len() >= MOST_FILES {
                        return Err(too_much(folder));
                    }
                    fs::read(&path).map_err(told)?
                }
                _ => fs::read_link(&path)
                    .map(|target| target.as_os_str().as_bytes().to_vec())
                    .unwrap_or_default(),
            };
            self.files.insert(name, bytes);
        }
        Ok(())
    }

    /// The bytes of a file directly in the folder.
    pub(crate) fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(Path::new(name)).map(Vec::as_slice)
    }

    /// Names this content: 64 hexadecimal digits.
    pub(crate) fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for (name, bytes) in &self.files {
            for part in [name.as_os_str().as_bytes(), bytes] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        hex(&hash.finalize())
    }
}

fn too_much(folder: &Path) -> Error {
    let what = format!("more than {MOST_FILES} files or {} MiB", LARGEST >> 20);
    Error::new(Exit::Settings, what)
        .at(folder, None)
        .mend("keep only settings and what they use there")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

/// The file that remembers the trust in the repo at `root`: one line as `sha256sum` writes it.
fn file(root: &Path, state_dir: &Path) -> PathBuf {
    let name = hex(&Sha256::digest(root.as_os_str().as_bytes()));
    state_dir.join("trust").join(name)
}

/// Whether `content`, read from the repo at `root`, is trusted.
pub(crate) fn state(content: &Content, root: &Path, state_dir: &Path) -> Trust {
    if !content.exists {
        return Trust::Nothing;
    }
    match fs::read(file(root, state_dir)) {
        Ok(line) if line.starts_with(content.hash().as_bytes()) => Trust::Trusted,
        Ok(_) => Trust::Changed,
        Err(_) => Trust::Unknown,
    }
}

/// Trusts the repo at `root` with the content of that hash: the one the person has seen, whatever stands there by now.
pub(crate) fn accept(root: &Path, state_dir: &Path, hash: &str, user: u32) -> Result<()> {
    let target = file(root, state_dir);
    let told = |error: std::io::Error| Error::from(error).at(&target, None);
    private(state_dir, user)?;
    private(&state_dir.join("trust"), user)?;
    let new = target.with_extension(std::process::id().to_string());
    let mut line = format!("{hash}  ").into_bytes();
    line.extend_from_slice(root.as_os_str().as_bytes());
    line.push(b'\n');
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)
        .and_then(|mut file| file.write_all(&line))
        .and_then(|()| fs::rename(&new, &target))
        .map_err(told)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn me() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn any_change_of_the_folder_asks_again() {
        let temp = tempfile::tempdir().unwrap();
        let (root, state_dir) = (temp.path().join("repo"), temp.path().join("state"));
        let deck = root.join(".sessdeck");
        let now = || state(&Content::read(&root).unwrap(), &root, &state_dir);
        let trust = || {
            let hash = Content::read(&root).unwrap().hash();
            accept(&root, &state_dir, &hash, me()).unwrap();
        };
        fs::create_dir_all(&root).unwrap();
        assert_eq!(now(), Trust::Nothing);
        fs::create_dir_all(deck.join("bin")).unwrap();
        fs::write(deck.join("profiles.toml"), "a").unwrap();
        fs::write(temp.path().join("outside"), "1").unwrap();
        symlink(temp.path().join("outside"), deck.join("bin/link")).unwrap();
        assert_eq!(now(), Trust::Unknown);
        trust();
        assert_eq!(now(), Trust::Trusted);

        let changes: [&dyn Fn(); 5] = [
            &|| fs::write(deck.join("profiles.toml"), "b").unwrap(),
            &|| fs::write(deck.join("bin/run"), "").unwrap(),
            &|| fs::rename(deck.join("bin/run"), deck.join("bin/ruin")).unwrap(),
            &|| fs::write(temp.path().join("outside"), "2").unwrap(),
            &|| fs::remove_file(deck.join("bin/ruin")).unwrap(),
        ];
        for (n, change) in changes.iter().enumerate() {
            change();
            assert_eq!(now(), Trust::Changed, "change {n}");
            trust();
            assert_eq!(now(), Trust::Trusted, "change {n}");
        }
    }

    #[test]
    fn trust_in_one_repo_is_none_in_another_with_the_same_content() {
        let temp = tempfile::tempdir().unwrap();
        let state_dir = temp.path().join("state");
        let [one, two] = ["one", "two"].map(|name| temp.path().join(name));
        for root in [&one, &two] {
            fs::create_dir_all(root.join(".sessdeck")).unwrap();
            fs::write(root.join(".sessdeck/config.toml"), "x").unwrap();
        }
        let content = Content::read(&one).unwrap();
        accept(&one, &state_dir, &content.hash(), me()).unwrap();
        assert_eq!(state(&content, &one, &state_dir), Trust::Trusted);
        let same = Content::read(&two).unwrap();
        assert_eq!(same, content);
        assert_eq!(state(&same, &two, &state_dir), Trust::Unknown);
    }

    #[test]
    fn bytes_moved_from_one_file_to_another_are_another_content() {
        let hash = |files: &[(&str, &str)]| {
            let files = files
                .iter()
                .map(|(name, text)| (name.into(), text.as_bytes().to_vec()));
            Content {
                files: files.collect(),
                ..Content::default()
            }
            .hash()
        };
        assert_ne!(
            hash(&[("a", "bc"), ("d", "")]),
            hash(&[("a", "b"), ("cd", "")])
        );
        assert_ne!(hash(&[("a", "b")]), hash(&[("ab", "")]));
    }

    #[test]
    fn a_pipe_in_the_folder_is_not_waited_for_and_a_flood_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let deck = temp.path().join(".sessdeck");
        fs::create_dir(&deck).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, deck.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
        assert!(Content::read(temp.path()).is_ok());
        let big = fs::File::create(deck.join("big")).unwrap();
        big.set_len(LARGEST + 1).unwrap();
        let error = Content::read(temp.path()).unwrap_err();
        assert!(
            error.line().starts_with("more than 1000 files or 8 MiB"),
            "{}",
            error.line()
        );
    }
}
