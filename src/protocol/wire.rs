//! Framing: a length of four bytes, little-endian, then one `MessagePack` value with named fields.
//!
//! Named fields let an older peer skip what it does not know.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// No honest message is larger; a longer length is a broken or hostile peer.
const LARGEST: usize = 64 << 20;

/// Why a frame could not be had.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The connection is over or unusable.
    Io(io::Error),
    /// One frame that this side does not understand. The next one may be fine.
    Unknown(String),
}

/// The value as one frame, ready for one write.
pub(crate) fn encode<T: Serialize>(value: &T) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    value
        .serialize(&mut rmp_serde::Serializer::new(&mut bytes).with_struct_map())
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let length = u32::try_from(bytes.len() - 4)
        .ok()
        .filter(|length| *length as usize <= LARGEST)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "message too large"))?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Writes one frame.
pub(crate) fn send<T: Serialize>(to: &mut impl Write, value: &T) -> io::Result<()> {
    to.write_all(&encode(value)?)
}

/// Reads one frame; `Broken::Io` with `UnexpectedEof` when the peer is gone.
pub(crate) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> Result<T, Broken> {
    let mut length = [0; 4];
    from.read_exact(&mut length).map_err(Broken::Io)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LARGEST {
        return Err(Broken::Io(io::Error::new(
            io::ErrorKind::InvalidData,
            "message too large",
        )));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).map_err(Broken::Io)?;
    decode(&bytes)
}

/// The value in the body of a frame, that is without its length.
pub(crate) fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, Broken> {
    rmp_serde::from_slice(body).map_err(|error| Broken::Unknown(error.to_string()))
}
