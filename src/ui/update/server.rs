//! What the server says: notices, responses, and its silence.

use std::time::Instant;

use super::super::message::{Command, Damage};
use super::super::mirror::Fresh;
use super::super::overlay::Wish;
use super::super::state::{Screen, Waiting};
use super::super::view;
use crate::protocol::client::{Ask, AskKind, FromServer, Level, Notice, Response, Session};

impl Screen {
    pub(super) fn told(
        &mut self,
        from: FromServer,
        now: Instant,
        commands: &mut Vec<Command>,
    ) -> Option<Damage> {
        match from {
            FromServer::Notice(notice) => self.noticed(notice, now, commands),
            FromServer::Response { id, response } => {
                let waiting = self.wire.waiting.remove(&id)?;
                self.responded(waiting, response, now, commands);
                Some(Damage::Everything)
            }
        }
    }

    fn noticed(
        &mut self,
        notice: Notice,
        now: Instant,
        commands: &mut Vec<Command>,
    ) -> Option<Damage> {
        match notice {
            Notice::Frame(frame) => {
                let number = frame.number;
                let fresh = self.mirror.framed(self.tabs.front, *frame);
                let damage = match fresh {
                    Fresh::Nothing => None,
                    Fresh::All => Some(Damage::Everything),
                    Fresh::Rows(_) if view::covers_pane(self) || self.cut().is_some() => {
                        Some(Damage::Everything)
                    }
                    Fresh::Rows(rows) => Some(Damage::Rows(rows)),
                };
                // Late frames too: the server sends no other before it hears of this one.
                commands.push(Command::Shown { frame: number });
                return damage;
            }
            Notice::Sessions(sessions) => self.listed(sessions, now),
            Notice::Inbox(inbox) => self.mirror.take_inbox(inbox),
            Notice::Message(message) => {
                let who = message
                    .session
                    .filter(|id| self.tabs.front != Some(*id))
                    .and_then(|id| self.mirror.session(id))
                    .map(|session| format!("{}: ", session.title));
                let text = who.unwrap_or_default() + &message.text;
                self.status.say(message.level, text, now);
            }
            Notice::Clipboard { base64, .. } => {
                commands.push(Command::Copy(base64));
                return None;
            }
            Notice::Show { session } => self.look(session),
            Notice::Bell { .. } => {
                commands.push(Command::Bell);
                return None;
            }
            Notice::Leaving => self
                .status
                .hold(Level::Warning, "the server ends; agents go on"),
        }
        Some(Damage::Everything)
    }

    fn listed(&mut self, sessions: Vec<Session>, now: Instant) {
        let first = !std::mem::replace(&mut self.wire.listed, true);
        if !first {
            self.tabs.settle(&self.mirror);
        }
        let fresh = self.mirror.listed(sessions);
        let known = self
            .tabs
            .front
            .is_some_and(|id| self.mirror.place(id).is_some());
        if first && !known {
            self.tabs.front = self.mirror.first_in(&self.start.dir);
        }
        self.tabs.settle(&self.mirror);
        let elsewhere = fresh
            .iter()
            .rfind(|(session, _)| self.tabs.front != Some(*session));
        // What waited before this window was there is marked on its tab.
        if let Some((session, ask)) = elsewhere.filter(|_| !first) {
            let words = self.waits_there(*session, ask);
            self.status.say(Level::Warning, words, now);
        }
    }

    fn waits_there(&self, session: u64, ask: &Ask) -> String {
        let place = self.mirror.place(session).map_or(0, |place| place + 1);
        let title = self
            .mirror
            .session(session)
            .map_or("", |session| session.title.as_str());
        match &ask.kind {
            AskKind::Blocked { other, .. } => {
                format!("{place} {title}: a prompt belongs to {other} and waits")
            }
            AskKind::Step { .. } => format!("{place} {title}: its context is getting large"),
            AskKind::Stuck { .. } => format!("{place} {title}: a subagent does not stop"),
            AskKind::Note { .. } => format!("{place} {title}: its handoff note is written"),
        }
    }

    fn responded(
        &mut self,
        waiting: Waiting,
        response: Response,
        now: Instant,
        commands: &mut Vec<Command>,
    ) {
        match waiting {
            Waiting::Question(number) => {
                if let Some(modal) = self.overlays.numbered(number) {
                    modal.answered(response);
                }
                return;
            }
            Waiting::Done(number) => {
                let wish = self
                    .overlays
                    .numbered(number)
                    .map(|modal| modal.done(&response));
                // The overlay that is still there says itself what failed.
                if wish == Some(Wish::Stay) {
                    return;
                }
                if let Some(wish) = wish {
                    self.grant(wish, Some(number), now, commands);
                }
            }
            Waiting::Answer(ask) => {
                if let Response::Failed(_) = response {
                    self.mirror.unanswered(ask);
                }
            }
            Waiting::Deed => {}
        }
        match response {
            Response::Session(session) => {
                let id = session.id;
                if self.mirror.place(id).is_none() {
                    self.mirror.sessions.push(*session);
                }
                self.status.said = None;
                self.look(id);
            }
            Response::Sessions(sessions) => self.listed(sessions, now),
            Response::Parked { line, file } => {
                let name = file.file_name().unwrap_or(file.as_os_str());
                let words = format!("parked in {}: {line}", name.to_string_lossy());
                self.status.say(Level::Info, words, now);
            }
            Response::Failed(failure) => self.status.say(Level::Error, failure.text, now),
            Response::Done | Response::Status(_) | Response::Plan(_) | Response::Screen { .. } => {}
        }
    }

    /// The connection is lost: nothing that was asked will be answered, everything typed is kept.
    pub(super) fn gone(&mut self) {
        self.wire.up = false;
        self.wire.looked = None;
        for waiting in std::mem::take(&mut self.wire.waiting).into_values() {
            if let Waiting::Answer(ask) = waiting {
                self.mirror.unanswered(ask);
            }
        }
        self.overlays.lost();
        let words = "the server is gone; looking for it. Agents go on";
        self.status.hold(Level::Error, words);
    }
}
