//! The wires: client–server, server–keeper, hook–server. Types, framing, nothing that acts.

pub(crate) mod client;
pub(crate) mod hook;
pub(crate) mod keeper;
pub(crate) mod wire;

/// Rises only when the meaning of a message changes: fields and notices that a peer does not know are skipped.
pub(crate) const PROTOCOL: u32 = 1;
