//! The end of a file, line by line, newest first.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memchr::memrchr;

use crate::config::plain;

const FIRST_BLOCK: usize = 64 << 10;
const LARGEST_BLOCK: usize = 4 << 20;
/// So far back the newest figure is looked for. Results of tools grow to many MB, but not without end.
const FARTHEST: u64 = 64 << 20;

/// Hands over the lines of a file from the last to the first, without their line feeds, until `enough` says so or the
/// lines lie too far back. A last line that is still being written is handed over as it stands.
///
/// # Errors
/// The file cannot be opened or read, or is no plain file.
pub(crate) fn lines_backwards(
    path: &Path,
    mut enough: impl FnMut(&[u8]) -> bool,
) -> io::Result<()> {
    let file = plain::open(path)?;
    let length = file.metadata()?.len();
    let mut start = length;
    let mut block = Vec::new();
    // The pieces of a line whose beginning was not met yet, the last piece first.
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    let mut size = FIRST_BLOCK;
    while start > 0 && length - start < FARTHEST {
        let wanted = usize::try_from(start).unwrap_or(size).min(size);
        start -= wanted as u64;
        block.resize(wanted, 0);
        file.read_exact_at(&mut block, start)?;
        let mut end = block.len();
        while let Some(feed) = memrchr(b'\n', &block[..end]) {
            let line = &block[feed + 1..end];
            let stop = if pieces.is_empty() {
                enough(line)
            } else {
                pieces.push(line.to_vec());
                enough(&joined(&mut pieces))
            };
            if stop {
                return Ok(());
            }
            end = feed;
        }
        pieces.push(block[..end].to_vec());
        size = (size * 2).min(LARGEST_BLOCK);
    }
    if start == 0 {
        enough(&joined(&mut pieces));
    }
    Ok(())
}

fn joined(pieces: &mut Vec<Vec<u8>>) -> Vec<u8> {
    let mut line = Vec::with_capacity(pieces.iter().map(Vec::len).sum());
    for piece in pieces.drain(..).rev() {
        line.extend_from_slice(&piece);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], most: usize) -> Vec<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut lines = Vec::new();
        lines_backwards(file.path(), |line| {
            lines.push(String::from_utf8_lossy(line).into_owned());
            lines.len() == most
        })
        .unwrap();
        lines
    }

    #[test]
    fn lines_come_newest_first_and_whole() {
        for (text, most, expected) in [
            (&b""[..], 9, &[""][..]),
            (b"a\nb\nc\n", 9, &["", "c", "b", "a"]),
            (b"a\nb\nhalf", 9, &["half", "b", "a"]),
            (b"a\nb\nc\n", 2, &["", "c"]),
            (b"\n\n", 9, &["", "", ""]),
        ] {
            assert_eq!(lines(text, most), expected);
        }
        assert!(lines_backwards(Path::new("/no/such/file"), |_| true).is_err());
    }

    #[test]
    fn a_line_longer_than_a_block_is_one_line() {
        for size in [FIRST_BLOCK - 1, FIRST_BLOCK, FIRST_BLOCK + 1, 1 << 20] {
            let long = "x".repeat(size);
            let text = format!("first\n{long}\nlast\n");
            assert_eq!(
                lines(text.as_bytes(), 9),
                ["", "last", &long, "first"],
                "{size}"
            );
        }
    }

    #[test]
    fn a_large_file_is_not_read_but_for_its_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let length = 300 << 30;
        file.as_file().set_len(length).unwrap();
        file.as_file()
            .write_all_at(b"\nlast\n", length - 6)
            .unwrap();
        let mut seen = Vec::new();
        lines_backwards(file.path(), |line| {
            seen.push(line.to_vec());
            line == b"last"
        })
        .unwrap();
        assert_eq!(seen, [b"".to_vec(), b"last".to_vec()]);
        // Nothing but one endless line: given up, not read whole.
        let mut calls = 0;
        file.as_file().write_all_at(b"xxxxxx", length - 6).unwrap();
        lines_backwards(file.path(), |_| {
            calls += 1;
            false
        })
        .unwrap();
        assert_eq!(calls, 0);
    }
}
