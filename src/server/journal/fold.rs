//! From the journal back to what happened.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};

use super::segment::{self, Event, Record, Records, SNAPSHOT};
use super::segments;

/// What became of a fold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folded {
    /// Records that were handed out.
    pub(crate) records: u64,
    /// Where the journal could not be read further, for the log; a last record cut short is not worth one.
    pub(crate) note: Option<String>,
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
        let Some((size, rest)) = segment::opened(&bytes).map_err(|error| error.at(path, None))?
        else {
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
            if let Some(event) = segment::event(kind, bytes) {
                each(Record { time, event });
                folded.records += 1;
            }
        }
        return Ok(folded);
    }
    Ok(folded)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{create, newest, short_journal, told};
    use super::*;
    use crate::server::journal::Limits;
    use crate::server::journal::segment::{HEAD, MAGIC, OUTPUT, RESIZE, put};

    #[test]
    fn a_journal_that_is_not_there_tells_nothing() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(told(&dir.path().join("none")), (vec![], Folded::default()));
        assert_eq!(told(dir.path()), (vec![], Folded::default()));
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
}
