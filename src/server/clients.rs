//! Who is connected: what each looks at, how large its program area is, who typed last.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::painter::Wake;
use crate::deck::{ClientId, SessionId};
use crate::protocol::client::{FromServer, Notice, Response};
use crate::terminal::Size;

/// A client that reads nothing for so long is left behind by a server that ends.
const PATIENCE: Duration = Duration::from_millis(500);
/// A program area smaller than this is a window being dragged or a broken terminal; no program is sized to it.
const SMALLEST: Size = Size { cols: 10, rows: 3 };

#[derive(Default)]
pub(crate) struct Clients {
    clients: HashMap<ClientId, Client>,
    /// Counts up with every key typed, so that the latest has the largest.
    typed: u64,
}

struct Client {
    wake: Arc<Wake>,
    /// Wants notices.
    attached: bool,
    repo: PathBuf,
    env: BTreeMap<String, String>,
    looks: Option<SessionId>,
    size: Option<Size>,
    /// When it last typed into what session.
    typed: HashMap<SessionId, u64>,
}

impl Clients {
    pub(crate) fn welcome(&mut self, id: ClientId, wake: Arc<Wake>) {
        let client = Client {
            wake,
            attached: false,
            repo: PathBuf::new(),
            env: BTreeMap::new(),
            looks: None,
            size: None,
            typed: HashMap::new(),
        };
        self.clients.insert(id, client);
    }

    /// The connection is over; returns what it looked at, and its wake cell.
    pub(crate) fn gone(&mut self, id: ClientId) -> Option<(SessionId, Arc<Wake>)> {
        let client = self.clients.remove(&id)?;
        client.wake.leave();
        Some((client.looks?, client.wake))
    }

    pub(crate) fn attach(&mut self, id: ClientId, repo: PathBuf, env: BTreeMap<String, String>) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.attached = true;
            client.repo = repo;
            client.env = env;
        }
    }

    /// The environment of the person's shell behind this client; empty if it is gone.
    pub(crate) fn env(&self, id: ClientId) -> BTreeMap<String, String> {
        self.clients
            .get(&id)
            .map(|client| client.env.clone())
            .unwrap_or_default()
    }

    /// The repos that attached clients were started in.
    pub(crate) fn repos(&self) -> impl Iterator<Item = &PathBuf> {
        self.clients
            .values()
            .filter(|client| client.attached)
            .map(|client| &client.repo)
    }

    pub(crate) fn wake(&self, id: ClientId) -> Option<&Arc<Wake>> {
        self.clients.get(&id).map(|client| &client.wake)
    }

    /// Notes what a client looks at; returns what it looked at before.
    pub(crate) fn look(
        &mut self,
        id: ClientId,
        session: Option<SessionId>,
        size: Size,
    ) -> Option<SessionId> {
        let client = self.clients.get_mut(&id)?;
        client.size = Some(size);
        std::mem::replace(&mut client.looks, session)
    }

    pub(crate) fn type_into(&mut self, id: ClientId, session: SessionId) {
        self.typed += 1;
        if let Some(client) = self.clients.get_mut(&id) {
            client.typed.insert(session, self.typed);
            client.wake.typed();
        }
    }

    /// The size that a session's program should have: that of the viewer who typed into it last, else of the one
    /// that came last. None keeps what it has.
    pub(crate) fn size_for(&self, session: SessionId) -> Option<Size> {
        self.clients
            .iter()
            .filter(|(_, client)| client.looks == Some(session))
            .filter_map(|(id, client)| {
                Some((
                    client.typed.get(&session).copied().unwrap_or(0),
                    id,
                    client.size?,
                ))
            })
            .filter(|(.., size)| size.cols >= SMALLEST.cols && size.rows >= SMALLEST.rows)
            .max_by_key(|(typed, id, _)| (*typed, **id))
            .map(|(.., size)| size)
    }

    /// Answers a request. Number 0 wants no answer.
    pub(crate) fn respond(&mut self, to: ClientId, id: u64, response: Response) {
        if id != 0 {
            self.post(to, &FromServer::Response { id, response });
        }
    }

    /// Tells every attached client.
    pub(crate) fn announce(&mut self, notice: &Notice) {
        let attached: Vec<_> = self
            .clients
            .iter()
            .filter(|(_, client)| client.attached)
            .map(|(id, _)| *id)
            .collect();
        for id in attached {
            self.post(id, &FromServer::Notice(notice.clone()));
        }
    }

    /// Lets every client have what is queued for it, before the process ends and takes it along.
    pub(crate) fn farewell(&self) {
        for client in self.clients.values() {
            client.wake.leave();
        }
        for client in self.clients.values() {
            client.wake.wait_until_left(PATIENCE);
        }
    }

    pub(crate) fn tell(&mut self, to: ClientId, notice: Notice) {
        self.post(to, &FromServer::Notice(notice));
    }

    fn post(&mut self, to: ClientId, message: &FromServer) {
        let reads = self
            .clients
            .get(&to)
            .is_none_or(|client| client.wake.post(message));
        if !reads {
            self.gone(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIG: Size = Size {
        cols: 120,
        rows: 40,
    };
    const SMALL: Size = Size { cols: 80, rows: 24 };
    const ABSURD: Size = Size { cols: 2, rows: 1 };
    const S: SessionId = SessionId(1);

    enum Did {
        Looks(u64, Size),
        Types(u64),
        Leaves(u64),
    }
    use Did::{Leaves, Looks, Types};

    #[test]
    fn the_size_follows_who_typed_last() {
        for (story, size) in [
            (&[][..], None),
            (&[Looks(1, BIG)][..], Some(BIG)),
            (&[Looks(1, BIG), Types(1), Looks(2, SMALL)][..], Some(BIG)),
            (
                &[Looks(1, BIG), Types(1), Looks(2, SMALL), Types(2)][..],
                Some(SMALL),
            ),
            (
                &[Looks(1, BIG), Types(1), Looks(2, SMALL), Types(2), Types(1)][..],
                Some(BIG),
            ),
            (
                &[Looks(1, BIG), Types(1), Looks(2, SMALL), Leaves(1)][..],
                Some(SMALL),
            ),
            (&[Looks(1, BIG), Looks(2, ABSURD), Types(2)][..], Some(BIG)),
            (&[Looks(1, ABSURD)][..], None),
            (&[Looks(1, BIG), Looks(1, SMALL)][..], Some(SMALL)),
        ] {
            let mut clients = Clients::default();
            for did in story {
                match did {
                    Looks(id, size) => {
                        if clients.wake(ClientId(*id)).is_none() {
                            clients.welcome(ClientId(*id), Arc::default());
                        }
                        clients.look(ClientId(*id), Some(S), *size);
                    }
                    Types(id) => clients.type_into(ClientId(*id), S),
                    Leaves(id) => drop(clients.gone(ClientId(*id))),
                }
            }
            assert_eq!(clients.size_for(S), size);
        }
    }
}
