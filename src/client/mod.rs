//! Finds, starts and asks the server.

mod link;
mod start;

pub(crate) use link::{Link, Voice};
pub(crate) use start::{find, find_or_start};
