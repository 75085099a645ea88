//! One lock for all who change a file, however they name it and whatever happens to the file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::make_private_dir;

/// Held until it is dropped, or its process ends.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock of the file at this real path. It lies in the state folder, since a lock on the file itself
    /// is lost when the file is replaced.
    pub(crate) fn on(real_path: &Path, state_dir: &Path) -> io::Result<Self> {
        let dir = state_dir.join("locks");
        make_private_dir(&dir)?;
        let name = format!("{:x}", Sha256::digest(real_path.as_os_str().as_bytes()));
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(dir.join(&name[..32]))?;
        file.lock()?;
        Ok(Self { _file: file })
    }
}
