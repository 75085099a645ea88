//! What each action does.

use std::time::Instant;

use super::super::actions::Action;
use super::super::message::Command;
use super::super::overlay::{Confirm, Find, Help, NewSession, Park, Rename, Scene};
use super::super::state::{Mode, Screen, Waiting};
use super::super::tabs::open_line;
use crate::protocol::client::{Level, Request, State};
use crate::terminal::Size;

impl Screen {
    pub(super) fn act(&mut self, action: Action, now: Instant, commands: &mut Vec<Command>) {
        // The fields apart, so that an overlay can be opened while it looks at the rest.
        let scene = Scene {
            mirror: &self.mirror,
            theme: &self.theme,
            keymap: &self.keymap,
        };
        let front = self.tabs.front.and_then(|id| self.mirror.session(id));
        let dir = front
            .map_or(&self.start.dir, |session| &session.dir)
            .clone();
        match action {
            Action::New => {
                let size = self.program().unwrap_or(Size { cols: 80, rows: 24 });
                let new = NewSession::new(&self.overlays.drafts.new, dir, size, scene);
                self.overlays.open(new);
            }
            Action::Park => {
                let session = front.map(|session| session.id);
                let park = Park::new(&self.overlays.drafts.park, dir, session, scene);
                self.overlays.open(park);
            }
            Action::Find => {
                let find = Find::new(scene);
                self.overlays.open(find);
            }
            Action::Help => {
                let help = Help::new(scene);
                self.overlays.open(help);
            }
            Action::Rename => match front {
                Some(session) => {
                    let rename = Rename::new(session.id, &session.title);
                    self.overlays.open(rename);
                }
                None => self.status.say(Level::Info, NO_SESSION, now),
            },
            Action::End => match front.map(|session| (session.id, session.state)) {
                Some((session, State::Ended | State::Asleep)) => {
                    self.deed(Request::End { session }, Waiting::Deed, now, commands);
                }
                Some((session, _)) => self.overlays.open(Confirm::end(session)),
                None => self.status.say(Level::Info, NO_SESSION, now),
            },
            Action::Inbox => self.toggle_inbox(),
            // Stepping goes on until another key, so that one can look at one after the other.
            Action::NextTab => {
                self.tabs.step(&self.mirror, 1);
                self.mode = Mode::Stepping;
            }
            Action::PreviousTab => {
                self.tabs.step(&self.mirror, -1);
                self.mode = Mode::Stepping;
            }
            Action::Needed => match self.tabs.needed(&self.mirror) {
                Some(session) => self.look(session),
                None => self.status.say(Level::Info, "nobody needs you", now),
            },
            Action::Tab1
            | Action::Tab2
            | Action::Tab3
            | Action::Tab4
            | Action::Tab5
            | Action::Tab6
            | Action::Tab7
            | Action::Tab8
            | Action::Tab9 => {
                let place = action.tab().unwrap_or(0);
                if let Some(session) = self.mirror.sessions.get(place) {
                    self.look(session.id);
                } else {
                    let words = format!("there is no session {}", place + 1);
                    self.status.say(Level::Info, words, now);
                }
            }
            Action::Detach => Self::leave(commands),
            Action::Back => self.tabs.inbox.focused = false,
        }
    }

    /// Closed: opens it and goes there. Open: goes there. There: closes it.
    fn toggle_inbox(&mut self) {
        let inbox = &mut self.tabs.inbox;
        if !inbox.open {
            inbox.open = true;
            inbox.focused = true;
            inbox.chosen = 0;
        } else if inbox.focused {
            inbox.open = false;
            inbox.focused = false;
        } else {
            inbox.focused = true;
        }
    }

    /// Starts a session that works off that line.
    pub(super) fn open_inbox_line(
        &mut self,
        place: usize,
        now: Instant,
        commands: &mut Vec<Command>,
    ) {
        let order = self.inbox().and_then(|inbox| {
            let line = inbox.lines.get(place)?;
            Some(open_line(inbox, line, None))
        });
        if let Some(order) = order {
            let request = self.with_env(Request::Launch(order));
            self.status
                .say(Level::Info, "starting a session from the inbox …", now);
            self.deed(request, Waiting::Deed, now, commands);
        }
    }
}

const NO_SESSION: &str = "there is no session in front";
