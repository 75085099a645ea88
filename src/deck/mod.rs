//! Decides, purely: sessions, topic, meter, inbox, launch. Events in, effects out.

mod id;
pub(crate) mod inbox;
pub(crate) mod launch;
pub(crate) mod meter;
pub(crate) mod profile;
pub(crate) mod topic;

pub(crate) use id::{AskId, ClientId, SessionId};
