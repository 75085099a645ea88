//! How long a test waits for what should come.

use std::thread;
use std::time::{Duration, Instant};

/// Generous, since it is only ever used up by a test that fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Asks again and again until something is there; for what no descriptor tells of, as a line in a file.
#[track_caller]
pub(crate) fn wait_until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
