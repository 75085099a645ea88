//! Whole lines out of bytes that arrive in pieces.

/// A longer line is cut there, so that it reads as a broken one. No transcript row is that long.
const LONGEST: usize = 64 << 20;

/// Holds the torn rest of what was fed so far.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// Hands every line that is complete now to `line`, without its line feed. Only a line feed ends a line.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut line: impl FnMut(&[u8])) {
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        let torn = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            if self.rest.is_empty() {
                line(piece);
            } else {
                self.keep(piece);
                line(&self.rest);
                self.rest.clear();
            }
        }
        self.keep(torn);
    }

    /// What came after the last line feed: a line that is still being written, or the last one of a file that
    /// does not end in a line feed.
    #[cfg(test)]
    pub(crate) fn rest(&self) -> &[u8] {
        &self.rest
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = LONGEST.saturating_sub(self.rest.len());
        self.rest.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(pieces: &[&[u8]]) -> (Vec<String>, Vec<u8>) {
        let (mut lines, mut whole) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.feed(piece, |line| {
                whole.push(String::from_utf8_lossy(line).into_owned());
            });
        }
        (whole, lines.rest().to_vec())
    }

    #[test]
    fn lines_come_whole_however_the_bytes_are_cut() {
        let text = "{\"a\":1}\n\n{\"b\":\"\u{2028}ö\"}\r\nrest ö".as_bytes();
        let expected = (
            vec![
                "{\"a\":1}".into(),
                String::new(),
                "{\"b\":\"\u{2028}ö\"}\r".into(),
            ],
            "rest ö".as_bytes().to_vec(),
        );
        for size in 1..=text.len() {
            let pieces: Vec<&[u8]> = text.chunks(size).collect();
            assert_eq!(fed(&pieces), expected, "pieces of {size}");
        }
        assert_eq!(fed(&[]), (vec![], vec![]));
        assert_eq!(fed(&[b"\n"]), (vec![String::new()], vec![]));
    }

    #[test]
    fn a_line_without_end_is_held_up_to_a_limit() {
        let (mut lines, mut lengths) = (Lines::default(), Vec::new());
        let piece = vec![b'x'; 3 << 20];
        for _ in 0..30 {
            lines.feed(&piece, |line| lengths.push(line.len()));
        }
        assert_eq!(lines.rest().len(), LONGEST);
        lines.feed(b"\nnext\n", |line| lengths.push(line.len()));
        assert_eq!(lengths, [LONGEST, 4]);
    }
}
