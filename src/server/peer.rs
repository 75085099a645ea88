//! Who is at the other end of a socket.

use std::os::unix::net::UnixStream;

use rustix::net::sockopt;

/// Only the user's own programs may speak to the deck.
pub(crate) fn same_user(stream: &UnixStream) -> bool {
    sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid == rustix::process::getuid())
}

/// The peer's process id and those of its parents, nearest first. Empty where the system does not tell.
pub(crate) fn ancestry(stream: &UnixStream) -> Vec<u32> {
    let Ok(peer) = sockopt::socket_peercred(stream) else {
        return Vec::new();
    };
    let mut pids = Vec::new();
    let mut next = u32::try_from(peer.pid.as_raw_nonzero().get()).ok();
    // A chain of parents longer than this is a loop in what we read.
    while let Some(pid) = next.filter(|pid| *pid > 1 && pids.len() < 64) {
        pids.push(pid);
        next = parent(pid);
    }
    pids
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parent_in(&stat)
}

/// The fourth field. The second is the command in parentheses, which may hold blanks and parentheses itself.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_name_cannot_hide_the_parent() {
        for (stat, parent) in [
            ("12 (bash) S 7 12", Some(7)),
            ("12 (a) S 1 (b)) R 9 12", Some(9)),
            ("12 (bash", None),
            ("", None),
        ] {
            assert_eq!(parent_in(stat), parent, "{stat}");
        }
    }

    #[test]
    fn a_socket_to_oneself_names_this_process_first() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert!(same_user(&one));
        assert_eq!(ancestry(&one).first(), Some(&std::process::id()));
    }
}
