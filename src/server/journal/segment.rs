//! What a segment looks like on disk: a header, then records.
//!
//! Each record has a checksum over its own head, which is what reading depends on; the output inside is taken as it is.

use crate::error::{Error, Exit, Result};
use crate::terminal::Size;

pub(super) const MAGIC: [u8; 8] = *b"sessdeck";
const VERSION: u32 = 1;
/// Magic, version, columns, rows.
const HEADER: usize = 8 + 4 + 2 + 2;
/// Kind, time, length, checksum.
pub(super) const HEAD: usize = 1 + 8 + 4 + 4;
pub(super) const SNAPSHOT: u8 = 1;
pub(super) const OUTPUT: u8 = 2;
pub(super) const RESIZE: u8 = 3;
pub(super) const GAP: u8 = 4;

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

pub(super) fn bytes_of(size: Size) -> [u8; 4] {
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

pub(super) fn header(size: Size) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(bytes_of(size));
    bytes
}

/// The size and the records of a segment; None where the header is cut off or another's.
pub(super) fn opened(bytes: &[u8]) -> Result<Option<(Size, &[u8])>> {
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

pub(super) fn put(to: &mut Vec<u8>, time: u64, kind: u8, bytes: &[u8]) {
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
pub(super) fn event(kind: u8, bytes: &[u8]) -> Option<Event<'_>> {
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
pub(super) struct Records<'a> {
    pub(super) rest: &'a [u8],
}

/// The head of a record is not one.
pub(super) struct Broken;

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
