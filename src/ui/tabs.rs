//! What this window looks at: the session in front, and the inbox below it.

use super::mirror::Mirror;
use crate::protocol::client::{Inbox, InboxLine, Order};
use crate::terminal::Size;

#[derive(Debug, Default)]
pub(super) struct Tabs {
    pub(super) front: Option<u64>,
    /// Its place in the list when it was last there, for when it is gone.
    pub(super) place: usize,
    pub(super) inbox: InboxPane,
}

#[derive(Debug, Default)]
pub(super) struct InboxPane {
    pub(super) open: bool,
    /// Keys go to it.
    pub(super) focused: bool,
    /// The place of a line, from 0.
    pub(super) chosen: usize,
}

impl Tabs {
    /// After a new list: the session in front, or its neighbour where it is gone.
    pub(super) fn settle(&mut self, mirror: &Mirror) {
        let Some(front) = self.front else {
            return;
        };
        if let Some(place) = mirror.place(front) {
            self.place = place;
        } else {
            let last = mirror.sessions.len().saturating_sub(1);
            let next = mirror.sessions.get(self.place.min(last));
            self.front = next.map(|session| session.id);
        }
    }

    /// The session so many places further, around the ends.
    pub(super) fn step(&mut self, mirror: &Mirror, by: isize) {
        let count = mirror.sessions.len();
        if count == 0 {
            return;
        }
        let place = self.front.and_then(|front| mirror.place(front));
        let next = match place {
            Some(place) => place
                .saturating_add(count)
                .saturating_add_signed(by)
                .rem_euclid(count),
            None if by > 0 => 0,
            None => count - 1,
        };
        self.front = Some(mirror.sessions[next].id);
    }

    /// The next session after the one in front that waits for the person.
    pub(super) fn needed(&self, mirror: &Mirror) -> Option<u64> {
        let start = self
            .front
            .and_then(|front| mirror.place(front))
            .map_or(0, |place| place + 1);
        let sessions = &mirror.sessions;
        let mut round = sessions.iter().cycle().skip(start).take(sessions.len());
        round
            .find(|session| mirror.waits(session))
            .map(|session| session.id)
    }
}

/// The order that opens an inbox line as a session of its own.
pub(super) fn open_line(inbox: &Inbox, line: &InboxLine, size: Option<Size>) -> Order {
    let mut task = line.text.clone();
    for detail in &line.detail {
        task.push('\n');
        task.push_str(detail);
    }
    Order {
        task: Some(task),
        profile: line.profile.clone(),
        dir: inbox.repo.clone(),
        inbox: Some(line.hash.clone()),
        size,
        ..Order::default()
    }
}
