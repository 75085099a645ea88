//! The journal of a session: what its program wrote, in segments on disk, from which the screen can be had again.
//!
//! The first record of a segment is a snapshot: the screen as it was, encoded as output, so older segments can go.

mod fold;
mod segment;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::terminal::Size;

pub(crate) use fold::fold;
pub(crate) use segment::Event;

use segment::{GAP, HEAD, OUTPUT, RESIZE, SNAPSHOT, bytes_of, header, put};

/// After a failed write the journal tries again that much later: a snapshot for every piece of output would stall it.
const RETRY_AFTER_MS: u64 = 2000;

/// How much of a session is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Bytes of a segment. One whose snapshot takes more than half of them may be larger by as much.
    pub(crate) segment: u64,
    /// Segments, at least one.
    pub(crate) segments: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            segment: 8 << 20,
            segments: 2,
        }
    }
}

/// The open end of a session's journal.
///
/// A write that fails never fails the caller: the journal has a gap from then on, tries again two seconds later with a new
/// segment, and so has the whole screen again as soon as the disk takes it.
#[derive(Debug)]
pub(crate) struct Journal {
    dir: PathBuf,
    limits: Limits,
    size: Size,
    number: u64,
    state: State,
    /// A record on its way to the disk; kept for its memory.
    record: Vec<u8>,
}

#[derive(Debug)]
enum State {
    Open {
        file: File,
        written: u64,
        /// At how many bytes the next segment begins.
        full: u64,
    },
    /// Nothing was written since that time.
    Gap { since: u64, retry: u64 },
}

impl Journal {
    /// Begins a segment after those that `dir` may hold, and the folder if need be. `snapshot` gives the screen as it is
    /// now. Times are milliseconds since 1970.
    ///
    /// The error, if there is one, opened a gap; the journal is usable all the same.
    pub(crate) fn create(
        dir: &Path,
        limits: Limits,
        size: Size,
        now: u64,
        snapshot: impl FnOnce() -> Vec<u8>,
    ) -> (Self, Option<io::Error>) {
        let mut journal = Self {
            dir: dir.to_owned(),
            limits,
            size,
            number: 0,
            state: State::Gap {
                since: now,
                retry: now,
            },
            record: Vec::new(),
        };
        let error = journal.begin(now, None, snapshot).err();
        (journal, error)
    }

    /// Appends what the program wrote, before it is parsed. `snapshot` gives the screen before that output; it is asked
    /// only when a new segment begins. Returns an error once for each gap: when it begins.
    pub(crate) fn append_output(
        &mut self,
        now: u64,
        bytes: &[u8],
        snapshot: impl FnOnce() -> Vec<u8>,
    ) -> Option<io::Error> {
        let begun = match self.state {
            State::Open { written, full, .. } if written + (HEAD + bytes.len()) as u64 > full => {
                self.begin(now, None, snapshot)
            }
            // A clock that was set back must not keep the gap open.
            State::Gap { since, retry } if retry <= now || now < since => {
                // Told already; a second failure of the same gap is no news.
                if self.begin(now, Some(since), snapshot).is_err() {
                    return None;
                }
                Ok(())
            }
            State::Open { .. } | State::Gap { .. } => Ok(()),
        };
        begun.err().or_else(|| self.append(now, OUTPUT, bytes))
    }

    /// Appends that the screen has another size from now on. Returns an error as [`Journal::append_output`] does.
    pub(crate) fn append_resize(&mut self, now: u64, size: Size) -> Option<io::Error> {
        self.size = size;
        self.append(now, RESIZE, &bytes_of(size))
    }

    fn append(&mut self, now: u64, kind: u8, bytes: &[u8]) -> Option<io::Error> {
        let State::Open { file, written, .. } = &mut self.state else {
            return None;
        };
        self.record.clear();
        put(&mut self.record, now, kind, bytes);
        match file.write_all(&self.record) {
            Ok(()) => {
                *written += self.record.len() as u64;
                None
            }
            Err(error) => {
                // A part may be on disk, so this segment is closed: what follows it would not be found.
                self.gap(now);
                Some(error)
            }
        }
    }

    fn gap(&mut self, now: u64) {
        let since = match self.state {
            State::Open { .. } => now,
            State::Gap { since, .. } => since,
        };
        self.state = State::Gap {
            since,
            retry: now.saturating_add(RETRY_AFTER_MS),
        };
    }

    /// Begins the next segment and lets go of those that are too many.
    fn begin(
        &mut self,
        now: u64,
        gap: Option<u64>,
        snapshot: impl FnOnce() -> Vec<u8>,
    ) -> io::Result<()> {
        let begun = self.try_begin(now, gap, snapshot);
        if begun.is_err() {
            self.gap(now);
        }
        begun
    }

    fn try_begin(
        &mut self,
        now: u64,
        gap: Option<u64>,
        snapshot: impl FnOnce() -> Vec<u8>,
    ) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.dir)?;
        let old = segments(&self.dir)?;
        self.number = old.last().map_or(1, |(number, _)| number + 1);
        let path = self.dir.join(format!("{:08}.journal", self.number));

        let mut file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let mut start = header(self.size);
        put(&mut start, now, SNAPSHOT, &snapshot());
        if let Some(since) = gap {
            put(&mut start, now, GAP, &since.to_le_bytes());
        }
        if let Err(error) = file.write_all(&start) {
            // Half a snapshot is of no use to anybody.
            drop(fs::remove_file(&path));
            return Err(error);
        }
        let written = start.len() as u64;
        self.state = State::Open {
            file,
            written,
            full: self.limits.segment.max(written + self.limits.segment / 2),
        };
        let kept = self.limits.segments.max(1) - 1;
        for (_, path) in &old[..old.len().saturating_sub(kept)] {
            // One that stays is tried again with the next segment.
            drop(fs::remove_file(path));
        }
        Ok(())
    }
}

/// The segments of a session with their numbers, oldest first.
fn segments(dir: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let number = path
            .file_name()
            .and_then(|name| name.to_str()?.strip_suffix(".journal")?.parse().ok());
        if let Some(number) = number {
            all.push((number, path));
        }
    }
    all.sort_unstable();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const SIZE: Size = Size { cols: 80, rows: 24 };
    const SMALL: Limits = Limits {
        segment: 1000,
        segments: 2,
    };

    pub(super) fn create(dir: &Path, limits: Limits, snapshot: &str) -> Journal {
        let (journal, error) =
            Journal::create(dir, limits, SIZE, 10, || snapshot.as_bytes().to_vec());
        assert!(error.is_none(), "{error:?}");
        journal
    }

    fn write(journal: &mut Journal, time: u64, text: &str, snapshot: &str) -> Option<io::Error> {
        journal.append_output(time, text.as_bytes(), || snapshot.as_bytes().to_vec())
    }

    /// The records as one line each, with what became of the fold.
    pub(super) fn told(dir: &Path) -> (Vec<String>, super::fold::Folded) {
        let mut lines = Vec::new();
        let folded = fold(dir, |record| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            lines.push(match record.event {
                Event::Snapshot(bytes) => format!("{} snapshot {}", record.time, text(bytes)),
                Event::Output(bytes) => format!("{} output {}", record.time, text(bytes)),
                Event::Resize(size) => format!("{} {}x{}", record.time, size.cols, size.rows),
                Event::Gap { since } => format!("{} gap since {since}", record.time),
            });
        });
        (lines, folded.unwrap())
    }

    pub(super) fn newest(dir: &Path) -> PathBuf {
        segments(dir).unwrap().pop().unwrap().1
    }

    /// A journal of three records after its size and its (empty) snapshot.
    pub(super) fn short_journal() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = create(dir.path(), Limits::default(), "");
        for (time, text) in [(11, "one"), (12, "two"), (13, "three")] {
            assert!(write(&mut journal, time, text, "unused").is_none());
        }
        dir
    }

    #[test]
    fn what_was_written_is_told_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let dir = &dir.path().join("sessions/1");
        let mut journal = create(dir, Limits::default(), "first");
        write(&mut journal, 11, "hello", "unused");
        journal.append_resize(
            12,
            Size {
                cols: 100,
                rows: 30,
            },
        );
        write(&mut journal, 13, "\u{1b}[1mworld", "unused");
        let (lines, folded) = told(dir);
        assert_eq!(
            lines,
            [
                "10 80x24",
                "10 snapshot first",
                "11 output hello",
                "12 100x30",
                "13 output \u{1b}[1mworld",
            ]
        );
        assert_eq!((folded.records, folded.note), (5, None));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(dir), mode(&newest(dir))), (0o700, 0o600));
    }

    #[test]
    fn a_full_segment_is_followed_by_one_that_begins_with_a_snapshot() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = create(dir.path(), SMALL, "");
        let line = "x".repeat(100);
        for time in 100..150 {
            let before = format!("screen before {time}");
            assert!(write(&mut journal, time, &line, &before).is_none());
        }
        let all = segments(dir.path()).unwrap();
        assert_eq!(all.len(), 2, "{all:?}");
        for (number, path) in &all {
            assert!(*number > 1);
            assert!(fs::metadata(path).unwrap().len() <= SMALL.segment);
        }
        let (lines, _) = told(dir.path());
        let first = lines[2].split_once(' ').unwrap().0;
        assert_eq!(lines[0], format!("{first} 80x24"));
        assert_eq!(lines[1], format!("{first} snapshot screen before {first}"));
        assert!(lines.last().unwrap().starts_with("149 output xxx"));
    }

    #[test]
    fn a_large_snapshot_still_leaves_room_for_output() {
        let dir = tempfile::tempdir().unwrap();
        let screen = "s".repeat(5000);
        let mut journal = create(dir.path(), SMALL, &screen);
        let mut snapshots = 0;
        for time in 0..100 {
            journal.append_output(time, &[b'x'; 100], || {
                snapshots += 1;
                screen.clone().into_bytes()
            });
        }
        assert!((20..=34).contains(&snapshots), "{snapshots}");
    }

    #[test]
    fn the_next_server_goes_on_in_a_segment_of_its_own() {
        let dir = short_journal();
        let mut journal = create(dir.path(), Limits::default(), "restored");
        write(&mut journal, 20, "more", "unused");
        let (lines, _) = told(dir.path());
        assert_eq!(
            lines,
            ["10 80x24", "10 snapshot restored", "20 output more"]
        );
        assert_eq!(segments(dir.path()).unwrap().len(), 2);
    }

    #[test]
    fn a_write_that_fails_marks_a_gap_and_the_screen_comes_back_after_it() {
        let dir = short_journal();
        let mut journal = create(dir.path(), Limits::default(), "before");
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        journal.state = State::Open {
            file: full,
            written: 0,
            full: 1000,
        };
        let error = write(&mut journal, 20, "lost", "unused").unwrap();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        for time in [21, 20 + RETRY_AFTER_MS - 1] {
            assert!(write(&mut journal, time, "lost too", "unused").is_none());
        }
        journal.append_resize(30, Size { cols: 90, rows: 20 });
        let (lines, _) = told(dir.path());
        assert_eq!(lines, ["10 80x24", "10 snapshot before"]);

        let later = 20 + RETRY_AFTER_MS;
        assert!(write(&mut journal, later, "kept", "after").is_none());
        let (lines, folded) = told(dir.path());
        let expected = ["90x20", "snapshot after", "gap since 20", "output kept"];
        assert_eq!(lines, expected.map(|line| format!("{later} {line}")));
        assert_eq!(folded.note, None);
    }

    #[test]
    fn a_folder_that_cannot_be_had_is_one_error_and_no_obstacle() {
        let dir = tempfile::tempdir().unwrap();
        let blocked = dir.path().join("blocked");
        fs::write(&blocked, "").unwrap();
        let (mut journal, error) = Journal::create(&blocked, SMALL, SIZE, 10, Vec::new);
        assert!(error.is_some());
        for time in [11, 10 + RETRY_AFTER_MS, 10 + 2 * RETRY_AFTER_MS] {
            assert!(write(&mut journal, time, "x", "").is_none());
        }
        fs::remove_file(&blocked).unwrap();
        assert!(write(&mut journal, 100_000, "x", "all").is_none());
        assert_eq!(
            told(&blocked).0[2..],
            ["100000 gap since 10", "100000 output x"]
        );
    }
}
