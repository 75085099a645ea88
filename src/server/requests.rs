//! What clients ask, and what it comes to.

use std::path::{Path, PathBuf};

use super::launch::Purpose;
use super::programs::Refused;
use super::{Server, view};
use crate::agents;
use crate::config::repo::Repo;
use crate::deck::{self, ClientId, Event, SessionId};
use crate::error::{Error, Exit, Result};
use crate::files::inbox::InboxFile;
use crate::protocol::PROTOCOL;
use crate::protocol::client::{Choice, Failure, Notice, Request, Response, Status};
use crate::terminal::{self, Size};

impl Server {
    /// Serves one request; false ends the server. `insider` is the agent session that the peer runs in.
    pub(super) fn asked(
        &mut self,
        client: ClientId,
        id: u64,
        request: Request,
        insider: Option<SessionId>,
    ) -> bool {
        if let Some(session) =
            insider.filter(|_| !self.settings.allow_control && controls(&request))
        {
            self.fail(client, id, &refused(session));
            return true;
        }
        match request {
            Request::Status => self.answer(client, id, Response::Status(self.status())),
            Request::List => {
                self.answer(client, id, Response::Sessions(view::sessions(&self.deck)));
            }
            Request::Attach { dir, env } => self.attach(client, id, &dir, env),
            Request::Look { session, size } => self.look(client, session.map(SessionId), size),
            Request::Shown { frame } => {
                if let Some(wake) = self.clients.wake(client) {
                    wake.shown(frame);
                }
            }
            Request::Input {
                session,
                bytes,
                typed,
            } => self.input(client, SessionId(session), bytes, typed),
            Request::Plan(order) => self.planner.plan(Purpose::Show { client, id }, order),
            Request::Launch(order) => self.planner.plan(Purpose::Launch { client, id }, order),
            Request::Answer { ask, choice } => {
                let choice = match choice {
                    Choice::Open => deck::Choice::Open,
                    Choice::Park => deck::Choice::Park,
                    Choice::Send => deck::Choice::Send,
                    Choice::Cancel => deck::Choice::Cancel,
                };
                self.deck(Event::Answered {
                    ask: deck::AskId(ask),
                    choice,
                    by: client,
                });
                self.answer(client, id, Response::Done);
            }
            Request::Park {
                dir,
                text,
                profile,
                session,
            } => {
                let repo = session
                    .and_then(|session| self.deck.session(SessionId(session)))
                    .map_or_else(
                        || Repo::around(&dir).root,
                        |session| session.seed.repo.clone(),
                    );
                match self.park(&repo, &text, profile.as_deref()) {
                    Ok((line, file)) => self.answer(client, id, Response::Parked { line, file }),
                    Err(error) => self.fail(client, id, &error),
                }
            }
            Request::Rename { session, title } => {
                self.with_session(client, id, session, |session| Event::Renamed {
                    session,
                    title,
                });
            }
            Request::End { session } => {
                self.with_session(client, id, session, |session| Event::Dismissed { session });
            }
            Request::Screen { session, history } => match self.text(SessionId(session), history) {
                Some((lines, cursor)) => {
                    self.answer(client, id, Response::Screen { lines, cursor });
                }
                None => self.fail(client, id, &no_session(session)),
            },
            Request::Prompt { session, text } => self.prompt(client, id, session, &text),
            Request::Stop { agents } => {
                if agents {
                    for session in self.deck.sessions() {
                        if self.programs.is_orphan(session.id) {
                            drop(self.programs.end(session.id, session.pid));
                        }
                    }
                    self.programs.end_all();
                }
                self.answer(client, id, Response::Done);
                self.clients.announce(&Notice::Leaving);
                return false;
            }
        }
        true
    }

    fn answer(&mut self, client: ClientId, id: u64, response: Response) {
        self.clients.respond(client, id, response);
    }

    pub(super) fn fail(&mut self, client: ClientId, id: u64, error: &Error) {
        let failure = Failure {
            exit: error.exit().code(),
            text: error.to_string(),
        };
        self.clients.respond(client, id, Response::Failed(failure));
    }

    fn with_session(
        &mut self,
        client: ClientId,
        id: u64,
        session: u64,
        event: impl FnOnce(SessionId) -> Event,
    ) {
        if self.deck.session(SessionId(session)).is_none() {
            return self.fail(client, id, &no_session(session));
        }
        self.deck(event(SessionId(session)));
        self.answer(client, id, Response::Done);
    }

    fn text(
        &mut self,
        session: SessionId,
        history: bool,
    ) -> Option<(Vec<String>, terminal::Cursor)> {
        self.deck.session(session)?;
        let size = Size {
            cols: 100,
            rows: 30,
        };
        let screen = self
            .screens
            .show(session, &self.store.journal(session), size, &self.settings);
        Some(screen.text(history))
    }

    fn prompt(&mut self, client: ClientId, id: u64, session: u64, text: &str) {
        let Some(known) = self.deck.session(SessionId(session)) else {
            return self.fail(client, id, &no_session(session));
        };
        if known.over() {
            let error = Error::new(Exit::Fault, format!("session {session} has ended"));
            return self.fail(client, id, &error);
        }
        let dialect = self.dialect(SessionId(session)).unwrap_or(agents::plain());
        self.programs
            .type_in(SessionId(session), dialect.submit(text));
        self.answer(client, id, Response::Done);
    }

    fn status(&self) -> Status {
        Status {
            pid: std::process::id(),
            keeper_pid: self.programs.keeper_pid(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL,
            sessions: self.deck.sessions().count(),
            socket: self.dirs.control_socket(),
        }
    }

    fn attach(
        &mut self,
        client: ClientId,
        id: u64,
        dir: &Path,
        env: std::collections::BTreeMap<String, String>,
    ) {
        self.clients.attach(client, Repo::around(dir).root, env);
        self.answer(client, id, Response::Sessions(view::sessions(&self.deck)));
        self.watch_repos();
        self.clients
            .tell(client, Notice::Sessions(view::sessions(&self.deck)));
        for inbox in self.inboxes.values() {
            self.clients.tell(client, Notice::Inbox(inbox.clone()));
        }
        for fault in self.faults.values() {
            self.clients.tell(client, Notice::Message(fault.clone()));
        }
    }

    fn look(&mut self, client: ClientId, session: Option<SessionId>, size: Size) {
        let before = self.clients.look(client, session, size);
        let Some(wake) = self.clients.wake(client).cloned() else {
            return;
        };
        if before != session
            && let Some(before) = before
        {
            self.screens.unwatch(before, &wake);
            self.fit(before);
        }
        let Some(session) = session.filter(|session| self.deck.session(*session).is_some()) else {
            wake.look(None, None);
            return;
        };
        let screen = self
            .screens
            .show(session, &self.store.journal(session), size, &self.settings);
        screen.watch(&wake);
        if before == Some(session) {
            wake.dirty();
        } else {
            wake.look(Some((session, screen)), self.programs.input(session));
        }
        self.fit(session);
    }

    /// A connection is over: its painter is woken no more, and the program may get another size.
    pub(super) fn left(&mut self, client: ClientId) {
        if let Some((session, wake)) = self.clients.gone(client) {
            self.screens.unwatch(session, &wake);
            self.fit(session);
        }
    }

    /// Gives a session's program the size that it should have now.
    pub(super) fn fit(&mut self, session: SessionId) {
        if let Some(size) = self.clients.size_for(session)
            && self.screens.resize(session, size)
        {
            // A program that is gone has no size any more.
            drop(self.programs.resize(session, size));
        }
    }

    fn input(&mut self, client: ClientId, session: SessionId, bytes: Vec<u8>, typed: bool) {
        let taken = match self.programs.input(session) {
            Some(input) if typed => input.typed(bytes),
            Some(input) => input.write(bytes),
            None => Err(Refused::Ended),
        };
        if let Some(wake) = self.clients.wake(client) {
            wake.arrived();
        }
        self.typed(client, session, typed, taken);
    }

    /// Bytes of a client went to a session's program, or were refused.
    pub(super) fn typed(
        &mut self,
        client: ClientId,
        session: SessionId,
        typed: bool,
        taken: std::result::Result<(), Refused>,
    ) {
        if typed {
            let before = self.clients.size_for(session);
            self.clients.type_into(client, session);
            if self.clients.size_for(session) != before {
                self.fit(session);
            }
        }
        if taken == Err(Refused::Full) {
            self.say(
                crate::protocol::client::Level::Warning,
                "the program does not read: what was typed is lost",
            );
        }
    }

    /// Writes one line into the inbox of that repo; the line as it stands there, and the file.
    pub(super) fn park(
        &self,
        repo: &Path,
        text: &str,
        profile: Option<&str>,
    ) -> Result<(String, PathBuf)> {
        let settings = self.settings_for(repo);
        let line = deck::inbox::line(&today(), profile, text);
        let file = InboxFile::new(repo, Path::new(&settings.inbox), &self.dirs.state)?;
        file.append(&line)?;
        Ok((
            terminal::plain(line.lines().next().unwrap_or_default()),
            file.path().to_owned(),
        ))
    }
}

/// Whether a request acts on the deck; looking and asking are open to agents too.
fn controls(request: &Request) -> bool {
    match request {
        Request::Status | Request::List | Request::Plan(_) | Request::Park { .. } => false,
        Request::Attach { .. }
        | Request::Look { .. }
        | Request::Shown { .. }
        | Request::Input { .. }
        | Request::Launch(_)
        | Request::Answer { .. }
        | Request::Rename { .. }
        | Request::End { .. }
        | Request::Screen { .. }
        | Request::Prompt { .. }
        | Request::Stop { .. } => true,
    }
}

/// Today in the person's time zone, as it stands on an inbox line.
fn today() -> String {
    jiff::Zoned::now().date().to_string()
}

fn refused(session: SessionId) -> Error {
    Error::new(
        Exit::Fault,
        format!("an agent may not steer the deck (this runs inside session {session})"),
    )
    .mend("ask the person, or set `allow_control = true` in config.toml")
}

fn no_session(session: u64) -> Error {
    Error::new(Exit::NoSession, format!("no session {session}"))
        .mend("`sessdeck ls` shows them all")
}
