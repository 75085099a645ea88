//! Where the deck keeps its sockets, its state and its settings.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::{Error, Exit, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dirs {
    /// Sockets. Goes away with a reboot.
    pub(crate) runtime: PathBuf,
    /// Sessions, journals, the log, trust.
    pub(crate) state: PathBuf,
    /// config.toml, profiles/, themes/.
    pub(crate) config: PathBuf,
}

impl Dirs {
    /// The folders by the environment; nothing is created. `SESSDECK_HOME` moves all three, for tests and second
    /// decks. Relative paths in the XDG variables are not valid and count as unset.
    pub(crate) fn by(env: impl Fn(&str) -> Option<OsString>, user: u32) -> Result<Self> {
        let path = |name: &str| {
            env(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        if let Some(home) = path("SESSDECK_HOME") {
            if !home.is_absolute() {
                let what = format!("SESSDECK_HOME is `{}`, no absolute path", home.display());
                return Err(Error::new(Exit::Settings, what).mend("write it from the root, `/…`"));
            }
            return Ok(Self {
                runtime: home.join("run"),
                state: home.join("state"),
                config: home.join("config"),
            });
        }
        let absolute = |name: &str| path(name).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let under = |xdg: &str, below: &str| {
            absolute(xdg)
                .or_else(|| Some(home.as_ref()?.join(below)))
                .map(|base| base.join("sessdeck"))
                .ok_or_else(|| {
                    Error::new(Exit::Settings, format!("neither HOME nor {xdg} is set"))
                        .mend("set HOME to your home folder")
                })
        };
        // After `su` and the like the variable still names another user's folder.
        let own = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == user)
        };
        let runtime = absolute("XDG_RUNTIME_DIR").filter(own).map_or_else(
            || PathBuf::from(format!("/tmp/sessdeck-{user}")),
            |base| base.join("sessdeck"),
        );
        Ok(Self {
            runtime,
            state: under("XDG_STATE_HOME", ".local/state")?,
            config: under("XDG_CONFIG_HOME", ".config")?,
        })
    }
}

impl Dirs {
    /// Where clients speak to the server.
    pub(crate) fn control_socket(&self) -> PathBuf {
        self.runtime.join("deck.sock")
    }

    /// Where the server speaks to the keeper.
    pub(crate) fn keeper_socket(&self) -> PathBuf {
        self.runtime.join("keeper.sock")
    }
}

/// Makes sure that a folder exists, belongs to `user` and is closed to all others. One that is not so is refused:
/// whoever else can write there could put a socket of theirs in the place of ours.
pub(crate) fn private(folder: &Path, user: u32) -> Result<()> {
    let told = |error: std::io::Error| Error::from(error).at(folder, None);
    match fs::symlink_metadata(folder) {
        Ok(found) => return checked(folder, &found, user),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(told(error)),
    }
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).map_err(told)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(told(error)),
        // Whoever won the race: what stands there now is looked at.
        _ => checked(folder, &fs::symlink_metadata(folder).map_err(told)?, user),
    }
}

fn checked(folder: &Path, found: &Metadata, user: u32) -> Result<()> {
    let (what, mend) = if found.is_symlink() {
        ("is a symbolic link", "put a folder in its place")
    } else if !found.is_dir() {
        ("is no folder", "move it away")
    } else if found.uid() != user {
        (
            "belongs to somebody else",
            "move it away, or set SESSDECK_HOME to a folder of yours",
        )
    } else if found.mode() & 0o077 != 0 {
        (
            "is open to others",
            "`chmod 700` it, after a look at what is in it",
        )
    } else {
        return Ok(());
    };
    let what = format!("`{}` {what}, so it is not safe to use", folder.display());
    Err(Error::new(Exit::Fault, what).mend(mend))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn me() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    fn by(vars: &[(&str, &str)]) -> Result<Dirs> {
        Dirs::by(
            |name| {
                let (_, value) = vars.iter().find(|(known, _)| *known == name)?;
                Some(value.into())
            },
            me(),
        )
    }

    #[test]
    fn the_environment_says_where_things_are() {
        let temp = tempfile::tempdir().unwrap();
        let own = temp.path().to_str().unwrap();
        let fallback = format!("/tmp/sessdeck-{}", me());
        let in_own = format!("{own}/sessdeck");
        for (vars, expected) in [
            (
                &[("HOME", "/h"), ("SESSDECK_HOME", "/deck")][..],
                ["/deck/run", "/deck/state", "/deck/config"],
            ),
            (
                &[("HOME", "/h"), ("XDG_RUNTIME_DIR", own)],
                [&in_own, "/h/.local/state/sessdeck", "/h/.config/sessdeck"],
            ),
            (
                &[
                    ("HOME", "/h"),
                    ("XDG_STATE_HOME", "/s"),
                    ("XDG_CONFIG_HOME", "/c"),
                ],
                [&fallback, "/s/sessdeck", "/c/sessdeck"],
            ),
            (
                &[
                    ("HOME", "/h"),
                    ("XDG_STATE_HOME", "s"),
                    ("XDG_RUNTIME_DIR", "/nowhere/at/all"),
                ],
                [&fallback, "/h/.local/state/sessdeck", "/h/.config/sessdeck"],
            ),
        ] {
            let dirs = by(vars).unwrap();
            let found = [&dirs.runtime, &dirs.state, &dirs.config].map(|dir| dir.to_str().unwrap());
            assert_eq!(found, expected, "{vars:?}");
        }
        assert!(
            by(&[])
                .unwrap_err()
                .line()
                .starts_with("neither HOME nor XDG_STATE_HOME is set")
        );
        assert!(by(&[("SESSDECK_HOME", "deck")]).is_err());
    }

    #[test]
    fn a_runtime_folder_of_somebody_else_is_not_taken() {
        let env = |name: &str| match name {
            "XDG_RUNTIME_DIR" => Some("/".into()),
            _ => Some("/h".into()).filter(|_| name == "HOME"),
        };
        let dirs = Dirs::by(env, 4242).unwrap();
        assert_eq!(dirs.runtime, Path::new("/tmp/sessdeck-4242"));
    }

    #[test]
    fn a_private_folder_is_made_and_found_again() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("a/b");
        for _ in 0..2 {
            private(&folder, me()).unwrap();
        }
        let mode = fs::metadata(&folder).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_others_could_have_prepared_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        fs::create_dir(at("open")).unwrap();
        fs::set_permissions(at("open"), fs::Permissions::from_mode(0o750)).unwrap();
        DirBuilder::new().mode(0o700).create(at("good")).unwrap();
        symlink(at("good"), at("link")).unwrap();
        symlink(at("nowhere"), at("loose")).unwrap();
        fs::write(at("file"), "").unwrap();
        for (name, user, what) in [
            ("open", me(), "is open to others"),
            ("link", me(), "is a symbolic link"),
            ("loose", me(), "is a symbolic link"),
            ("file", me(), "is no folder"),
            ("good", me() + 1, "belongs to somebody else"),
        ] {
            let error = private(&at(name), user).unwrap_err();
            assert!(error.line().contains(what), "{}", error.line());
        }
    }
}
