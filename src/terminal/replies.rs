//! What goes back to the program, in the order of its questions.

use std::sync::{Arc, Mutex, PoisonError};

use rio_vt::event::{EventListener, RioEvent, WindowId};

/// A program that asks and never reads the answers gets no more than this.
const LONGEST: usize = 64 << 10;

/// Shared with the engine, which answers from inside a feed through `&self`. Nobody else holds it, so the lock is
/// never contended.
#[derive(Clone, Debug, Default)]
pub(super) struct Replies(Arc<Mutex<Vec<u8>>>);

impl Replies {
    pub(super) fn push(&self, reply: &[u8]) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() + reply.len() <= LONGEST {
            waiting.extend_from_slice(reply);
        }
    }

    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl EventListener for Replies {
    fn send_event(&self, event: RioEvent, _window: WindowId) {
        if let RioEvent::PtyWrite(_, reply) = event {
            self.push(reply.as_bytes());
        }
    }
}
