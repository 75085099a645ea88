//! The processes of one session: who they are now, by pid and start time, never by name.

use std::collections::HashSet;

use rustix::process::{self, Pid, PidfdFlags, Signal};

/// A process, told apart from a later one with the same pid by when it started (ticks since boot).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pid: i32,
    start: u64,
}

/// One line of the system's process table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    process: Process,
    parent: i32,
    session: i32,
    /// It ended and waits to be reaped.
    dead: bool,
}

/// All processes at this moment.
pub(super) fn table() -> Vec<Row> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| row(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Whether a process leads its session.
///
/// Asks `/proc`: of a session whose leader is outside this pid namespace (a program that was put into a container)
/// `getsid` says 0, and rustix makes a [`Pid`] of that, which cannot be.
pub(crate) fn leads_session(pid: Pid) -> bool {
    let pid = pid.as_raw_nonzero().get();
    row(pid).is_some_and(|row| row.session == pid)
}

fn row(pid: i32) -> Option<Row> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &String::from_utf8_lossy(&stat))
}

/// A name may hold blanks and brackets, so fields are counted from the last bracket on.
fn parse(pid: i32, stat: &str) -> Option<Row> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    Some(Row {
        process: Process {
            pid,
            start: fields.get(19)?.parse().ok()?,
        },
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        dead: matches!(*fields.first()?, "Z" | "X"),
    })
}

/// The leader of a session with all that came of it: members of its session, and descendants that made a session of
/// their own as long as the chain of parents holds. What put itself under process 1 on purpose is not ours to end.
#[derive(Debug)]
pub(super) struct Family {
    leader: i32,
    known: HashSet<Process>,
    /// The leader is reaped, so its pid may come to be another's.
    reaped: bool,
    /// Nobody was left after the leader, so its session's number may come to be another's.
    over: bool,
}

impl Family {
    pub(super) fn new(leader: Pid) -> Self {
        Self {
            leader: leader.as_raw_nonzero().get(),
            known: HashSet::new(),
            reaped: false,
            over: false,
        }
    }

    pub(super) fn leader_reaped(&mut self, table: &[Row]) {
        self.reaped = true;
        self.over = self.alive(table).is_empty();
    }

    /// Those that live.
    pub(super) fn alive(&mut self, table: &[Row]) -> Vec<Process> {
        if self.over {
            return Vec::new();
        }
        // A pid is given away again only when no session bears its number.
        let stranger = self.reaped && table.iter().any(|row| row.process.pid == self.leader);
        let mut members: HashSet<Process> = table
            .iter()
            .filter(|row| {
                self.known.contains(&row.process) || (row.session == self.leader && !stranger)
            })
            .map(|row| row.process)
            .collect();
        loop {
            let parents: HashSet<i32> = members.iter().map(|member| member.pid).collect();
            let before = members.len();
            members.extend(
                table
                    .iter()
                    .filter(|row| parents.contains(&row.parent))
                    .map(|row| row.process),
            );
            if members.len() == before {
                break;
            }
        }
        self.known = members;
        table
            .iter()
            .filter(|row| !row.dead && self.known.contains(&row.process))
            .map(|row| row.process)
            .collect()
    }
}

impl Process {
    /// Sends the signal if the process is still the one that was seen; one that is gone is no error.
    pub(super) fn signal(self, signal: Signal) {
        let Some(handle) = Pid::from_raw(self.pid)
            .and_then(|pid| process::pidfd_open(pid, PidfdFlags::empty()).ok())
        else {
            return;
        };
        // The handle stays with one process, so what is true of it now stays true.
        if row(self.pid).is_some_and(|row| row.process == self) {
            let _sent = process::pidfd_send_signal(handle, signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(name: &str, state: &str, parent: i32, session: i32, start: u64) -> String {
        format!("1 ({name}) {state} {parent} 1 {session} 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {start} 0")
    }

    fn at(pid: i32, parent: i32, session: i32, start: u64) -> Row {
        parse(pid, &stat("x", "S", parent, session, start)).unwrap()
    }

    fn pids(family: &mut Family, table: &[Row]) -> Vec<i32> {
        let mut pids: Vec<i32> = family.alive(table).iter().map(|it| it.pid).collect();
        pids.sort_unstable();
        pids
    }

    #[test]
    fn a_line_of_the_process_table_is_read_whatever_the_name() {
        for (name, state, dead) in [
            ("cat", "S", false),
            ("a) R 1 (b", "Z", true),
            ("", "X", true),
        ] {
            let row = parse(5, &stat(name, state, 3, 4, 99)).unwrap();
            let expected = Row {
                process: Process { pid: 5, start: 99 },
                parent: 3,
                session: 4,
                dead,
            };
            assert_eq!(row, expected, "{name}");
        }
        assert_eq!(parse(5, "5 (cat) S 1"), None);
    }

    #[test]
    fn a_family_is_the_session_and_all_descendants_of_it() {
        let mut family = Family::new(Pid::from_raw(10).unwrap());
        let table = [
            at(1, 0, 1, 0),
            at(10, 2, 10, 5),  // leader
            at(11, 10, 10, 6), // child
            at(12, 10, 12, 7), // child in a session of its own
            at(13, 12, 12, 8), // and its child
            at(14, 1, 10, 9),  // orphan in the session
            at(15, 1, 15, 9),  // daemon of its own will
            at(20, 2, 20, 5),  // another session
        ];
        assert_eq!(pids(&mut family, &table), [10, 11, 12, 13, 14]);
    }

    #[test]
    fn members_once_seen_stay_members_when_their_parents_are_gone() {
        let mut family = Family::new(Pid::from_raw(10).unwrap());
        let before = [at(10, 2, 10, 5), at(12, 10, 12, 7)];
        assert_eq!(pids(&mut family, &before), [10, 12]);
        let after = [at(12, 2, 12, 7)];
        family.leader_reaped(&after);
        assert_eq!(pids(&mut family, &after), [12]);
        let reused = [at(12, 2, 12, 1000)];
        assert_eq!(pids(&mut family, &reused), [0; 0]);
    }

    #[test]
    fn a_session_whose_number_was_given_away_again_is_not_ours() {
        let mut alone = Family::new(Pid::from_raw(10).unwrap());
        alone.leader_reaped(&[]);
        assert_eq!(pids(&mut alone, &[at(11, 10, 10, 99)]), [0; 0]);
        let mut left = Family::new(Pid::from_raw(10).unwrap());
        left.leader_reaped(&[at(11, 2, 10, 6)]);
        let table = [at(10, 3, 10, 98), at(12, 10, 10, 99)];
        assert_eq!(pids(&mut left, &table), [0; 0]);
    }
}
