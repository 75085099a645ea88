//! The journal of a session: what its program wrote, in segments on disk, from which the screen can be had again.
//!
//! A segment is a header and records. The first record is a snapshot: the screen as it was, encoded as output, so older
//! segments can go. Each record has a checksum over its own head, which is what reading depends on; the output inside
//! is taken as it is.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Error, Exit, Result};
use crate::terminal::Size;

const MAGIC: [u8; 8] = *b"sessdeck";
const VERSION: u32 = 1;
/// Magic, version, columns, rows.
const HEADER: usize = 8 + 4 + 2 + 2;
/// Kind, time, length, checksum.
const HEAD: usize = 1 + 8 + 4 + 4;
/// After a failed write the journal tries again that much later: a snapshot for every piece of output would stall it.
const RETRY_AFTER_MS: u64 = 2000;

const SNAPSHOT: u8 = 1;
const OUTPUT: u8 = 2;
const RESIZE: u8 = 3;
const GAP: u8 = 4;

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

/// What happened in a session, as its journal tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    /// Milliseconds since 1970.
    pub(crate) time: u64,
    pub(crate) event: Event<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// The screen at this time, encoded as output for a fresh screen of the size last told.
    Snapshot(&'a [u8]),
    Output(&'a [u8]),
    Resize(Size),
    /// Nothing was written from `since` (milliseconds since 1970) until this record.
    Gap {
        since: u64,
    },
}

/// What became of a fold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folded {
    /// Records that were handed out.
    pub(crate) records: u64,
    /// Where the journal could not be read further, for the log; a last record cut short is not worth one.
    pub(crate) note: Option<String>,
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

/// Tells the newest state of a session: the size, a snapshot, then what followed it. Answers nothing and writes nothing.
///
/// The newest segment suffices; if its snapshot is not whole, the one before it is told. A record that was cut off at
/// the end, by a crash, is ignored; one that is broken ends the fold with a note. A folder that is not there is a
/// journal without records.
///
/// # Errors
/// The folder cannot be read, or the newest segment is of a version that this program does not know.
pub(crate) fn fold(dir: &Path, mut each: impl FnMut(Record<'_>)) -> Result<Folded> {
    let segments = match segments(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Folded::default()),
        other => other.map_err(|error| Error::from(error).at(dir, None))?,
    };
    let mut folded = Folded::default();
    for (_, path) in segments.iter().rev() {
        let bytes = fs::read(path).map_err(|error| Error::from(error).at(path, None))?;
        let Some((size, rest)) = opened(&bytes).map_err(|error| error.at(path, None))? else {
            folded.note = Some(format!("`{}` has no readable start", path.display()));
            continue;
        };
        let mut records = Records { rest };
        let Some(Ok(first)) = records
            .next()
            .filter(|first| first.as_ref().is_ok_and(|first| first.0 == SNAPSHOT))
        else {
            folded.note = Some(format!("`{}` has no whole snapshot", path.display()));
            continue;
        };
        let (_, time, _) = first;
        each(Record {
            time,
            event: Event::Resize(size),
        });
        folded.records += 1;
        for record in [Ok(first)].into_iter().chain(&mut records) {
            let Ok((kind, time, bytes)) = record else {
                let at = bytes.len() - records.rest.len();
                folded.note = Some(format!("`{}` is broken at byte {at}", path.display()));
                break;
            };
            if let Some(event) = event(kind, bytes) {
                each(Record { time, event });
                folded.records += 1;
            }
        }
        return Ok(folded);
    }
    Ok(folded)
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

fn bytes_of(size: Size) -> [u8; 4] {
    let ([a, b], [c, d]) = (size.cols.to_le_bytes(), size.rows.to_le_bytes());
    [a, b, c, d]
}

fn size_of(bytes: [u8; 4]) -> Size {
    let [a, b, c, d] = bytes;
    Size {
        cols: u16::from_le_bytes([a, b]),
        rows: u16::from_le_bytes([c, d]),
    }
}

fn header(size: Size) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(bytes_of(size));
    bytes
}

/// The size and the records of a segment; None where the header is cut off or another's.
fn opened(bytes: &[u8]) -> Result<Option<(Size, &[u8])>> {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let Some([a, b, c, d, size @ ..]) = header.strip_prefix(&MAGIC) else {
        return Ok(None);
    };
    let version = u32::from_le_bytes([*a, *b, *c, *d]);
    if version != VERSION {
        return Err(Error::new(
            Exit::Fault,
            format!("the journal has version {version}, this program knows {VERSION}"),
        )
        .mend("use the newer sessdeck that wrote it"));
    }
    Ok(size.try_into().ok().map(|size| (size_of(size), rest)))
}

fn put(to: &mut Vec<u8>, time: u64, kind: u8, bytes: &[u8]) {
    let begin = to.len();
    to.push(kind);
    to.extend(time.to_le_bytes());
    to.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    let sum = checksum(&to[begin..]);
    to.extend(sum.to_le_bytes());
    to.extend(bytes);
}

/// FNV-1a: tells a head from bytes that are none, which is all it has to do.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

/// None for a kind of a later version, and for a record that does not hold what its kind says.
fn event(kind: u8, bytes: &[u8]) -> Option<Event<'_>> {
    match kind {
        SNAPSHOT => Some(Event::Snapshot(bytes)),
        OUTPUT => Some(Event::Output(bytes)),
        RESIZE => Some(Event::Resize(size_of(bytes.try_into().ok()?))),
        GAP => Some(Event::Gap {
            since: u64::from_le_bytes(bytes.try_into().ok()?),
        }),
        _ => None,
    }
}

/// The records of a segment: kind, time, bytes. Ends before one that is cut off; `Err` is a broken one, the last.
struct Records<'a> {
    rest: &'a [u8],
}

/// The head of a record is not one.
struct Broken;

impl<'a> Iterator for Records<'a> {
    type Item = std::result::Result<(u8, u64, &'a [u8]), Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        let (head, rest) = self.rest.split_first_chunk::<HEAD>()?;
        let [kind, head @ ..] = head;
        let (time, head) = head.split_first_chunk::<8>()?;
        let (length, sum) = head.split_first_chunk::<4>()?;
        if u32::from_le_bytes(sum.try_into().ok()?) != checksum(&self.rest[..HEAD - 4]) {
            return Some(Err(Broken));
        }
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.rest = rest;
        Some(Ok((*kind, u64::from_le_bytes(*time), bytes)))
    }
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

    fn create(dir: &Path, limits: Limits, snapshot: &str) -> Journal {
        let (journal, error) =
            Journal::create(dir, limits, SIZE, 10, || snapshot.as_bytes().to_vec());
        assert!(error.is_none(), "{error:?}");
        journal
    }

    fn write(journal: &mut Journal, time: u64, text: &str, snapshot: &str) -> Option<io::Error> {
        journal.append_output(time, text.as_bytes(), || snapshot.as_bytes().to_vec())
    }

    /// The records as one line each, with what became of the fold.
    fn told(dir: &Path) -> (Vec<String>, Folded) {
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

    fn newest(dir: &Path) -> PathBuf {
        segments(dir).unwrap().pop().unwrap().1
    }

    /// A journal of three records after its size and its (empty) snapshot.
    fn short_journal() -> tempfile::TempDir {
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
    fn a_journal_that_is_not_there_tells_nothing() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(told(&dir.path().join("none")), (vec![], Folded::default()));
        assert_eq!(told(dir.path()), (vec![], Folded::default()));
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
    fn a_record_cut_off_at_the_end_is_ignored() {
        let whole = short_journal();
        let bytes = fs::read(newest(whole.path())).unwrap();
        let last = HEAD + "three".len();
        for missing in 1..=last {
            let dir = tempfile::tempdir().unwrap();
            let short = &bytes[..bytes.len() - missing];
            fs::write(dir.path().join("00000001.journal"), short).unwrap();
            let (lines, folded) = told(dir.path());
            assert_eq!(lines.last().unwrap(), "12 output two", "{missing} missing");
            assert_eq!(folded.note, None, "{missing} missing");
        }
    }

    #[test]
    fn a_broken_record_ends_the_fold_with_a_note() {
        let dir = short_journal();
        let path = newest(dir.path());
        let whole = fs::read(&path).unwrap();
        let second = whole.len() - (HEAD + "three".len()) - (HEAD + "two".len());
        for byte in second..second + HEAD {
            let mut bytes = whole.clone();
            bytes[byte] ^= 0x40;
            fs::write(&path, bytes).unwrap();
            let (lines, folded) = told(dir.path());
            assert_eq!(lines.last().unwrap(), "11 output one", "byte {byte}");
            let note = folded.note.unwrap();
            assert!(
                note.ends_with(&format!("is broken at byte {second}")),
                "{note}"
            );
        }
    }

    #[test]
    fn a_segment_without_a_whole_snapshot_gives_way_to_the_one_before() {
        let dir = short_journal();
        let whole = {
            drop(create(dir.path(), Limits::default(), "restored"));
            fs::read(newest(dir.path())).unwrap()
        };
        for length in 0..whole.len() {
            fs::write(newest(dir.path()), &whole[..length]).unwrap();
            let (lines, folded) = told(dir.path());
            assert_eq!(lines.last().unwrap(), "13 output three", "{length} bytes");
            assert!(folded.note.is_some(), "{length} bytes");
        }
    }

    #[test]
    fn kinds_of_later_versions_are_skipped_and_later_versions_refused() {
        let dir = short_journal();
        let path = newest(dir.path());
        let mut bytes = fs::read(&path).unwrap();
        put(&mut bytes, 14, 99, b"?");
        put(&mut bytes, 15, RESIZE, b"?");
        put(&mut bytes, 16, OUTPUT, b"four");
        fs::write(&path, &bytes).unwrap();
        let (lines, folded) = told(dir.path());
        assert_eq!(lines[4..], ["13 output three", "16 output four"]);
        assert_eq!(folded.note, None);

        bytes[MAGIC.len()] = 2;
        fs::write(&path, &bytes).unwrap();
        let error = fold(dir.path(), |_| panic!("a record")).unwrap_err();
        assert!(error.line().contains("has version 2"), "{error}");
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
