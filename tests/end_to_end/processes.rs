//! The processes that one test started, however far they have come from it.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// What every process started from one home inherits in its environment. A process that has left its session, its
/// parent and its terminal still carries it, and nobody else's does.
#[derive(Clone, Debug)]
pub(crate) struct Marker(Vec<u8>);

impl Marker {
    /// The variable must hold something unique to the test, such as a folder of its own.
    pub(crate) fn new(name: &str, value: &str) -> Self {
        Self(format!("{name}={value}").into_bytes())
    }

    /// The living processes that carry it, with their command lines.
    pub(crate) fn processes(&self) -> Vec<(Pid, String)> {
        let entries = fs::read_dir("/proc").expect("proc is mounted").flatten();
        entries
            .filter_map(|entry| {
                let id = entry.file_name().to_str()?.parse().ok()?;
                let environment = read(id, "environ")?;
                let carries = environment
                    .split(|byte| *byte == 0)
                    .any(|line| line == self.0);
                let words = String::from_utf8_lossy(&read(id, "cmdline")?).replace('\0', " ");
                carries.then_some((Pid::from_raw(id)?, words))
            })
            .collect()
    }

    /// Kills them all, and what they start meanwhile.
    pub(crate) fn kill(&self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            for (pid, _) in &left {
                // Fails only if it has just ended.
                rustix::process::kill_process(*pid, Signal::KILL).ok();
            }
            assert!(
                Instant::now() < deadline || thread::panicking(),
                "processes that cannot be killed: {left:?}"
            );
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// `None` if the process has ended meanwhile or is another user's.
fn read(id: i32, file: &str) -> Option<Vec<u8>> {
    fs::read(PathBuf::from(format!("/proc/{id}/{file}"))).ok()
}
