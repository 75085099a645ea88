//! Decides, purely: sessions, topic, meter, inbox, launch. Events in, effects out.

mod id;

pub(crate) use id::{AskId, ClientId, SessionId};
