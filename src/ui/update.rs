//! One message in, the screen changed, commands out. Nothing here reads a clock or touches a terminal.

mod deeds;
mod keys;
mod mouse;
mod server;

use std::time::Instant;

use super::actions::Action;
use super::message::{Command, Damage, Leave, Message};
use super::overlay::Wish;
use super::state::{Question, Screen, Stage, Waiting};
use crate::protocol::client::{Level, Request, State, ToServer};
use crate::terminal::{self, Modes};

impl Screen {
    /// What the server is told first, on every connection.
    pub(crate) fn greet(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        self.wire.looked = None;
        let attach = Request::Attach {
            dir: self.start.dir.clone(),
            env: self.start.env.clone(),
        };
        self.ask(attach, Waiting::Deed, &mut commands);
        self.settle(None, &mut commands);
        commands.push(Command::Paint(Damage::Everything));
        commands
    }

    /// Takes one message. Commands are to be carried out in their order, before the next message.
    pub(crate) fn update(&mut self, message: Message, now: Instant) -> Vec<Command> {
        let mut commands = Vec::new();
        let damage = match message {
            Message::Key(event) => self.pressed(event, now, &mut commands),
            Message::Paste(text) => self.pasted(&text, now, &mut commands),
            Message::Mouse(event) => self.moused(event, now, &mut commands),
            Message::Focus(focused) => {
                self.focused(focused, &mut commands);
                None
            }
            Message::Resize(size) => {
                self.size = size;
                Some(Damage::Everything)
            }
            Message::Server(from) => self.told(from, now, &mut commands),
            Message::Gone => {
                self.gone();
                Some(Damage::Everything)
            }
            Message::Back => {
                self.wire.up = true;
                self.status.say(Level::Info, "connected again", now);
                commands.append(&mut self.greet());
                Some(Damage::Everything)
            }
            Message::End(leave) => {
                commands.push(Command::Quit(leave));
                None
            }
            Message::Tick => self.ticked(now),
        };
        let settled = self.settle(Some(now), &mut commands);
        if let Some(damage) = damage.into_iter().chain(settled).reduce(Damage::and) {
            commands.push(Command::Paint(damage));
        }
        commands
    }

    /// The picture of all that was said so far is on the terminal.
    pub(crate) fn painted(&mut self) {
        if self.question().is_some() {
            self.overlays.painted();
        }
    }

    fn ticked(&mut self, now: Instant) -> Option<Damage> {
        let said = self.status.tick(now);
        let armed = !self.typed.under_way(now) && self.overlays.arm();
        (said || armed).then_some(Damage::Everything)
    }

    /// Brings what follows from the rest in line with it: the question over the tab in front, what the server knows
    /// of where we look, what an overlay wants to know.
    fn settle(&mut self, now: Option<Instant>, commands: &mut Vec<Command>) -> Option<Damage> {
        let before = self.overlays.question.map(|question| question.ask);
        let open = self
            .front()
            .and_then(|session| self.mirror.open_asks(session).next())
            .map(|ask| ask.id);
        if before != open {
            let typing = now.is_some_and(|now| self.typed.under_way(now));
            let stage = if typing { Stage::Held } else { Stage::Fresh };
            self.overlays.question = open.map(|ask| Question { ask, stage });
        }
        if let Some(size) = self.program() {
            let looked = (self.tabs.front, size);
            if self.wire.up && self.wire.looked != Some(looked) {
                self.wire.looked = Some(looked);
                if let Some(grid) = &mut self.mirror.grid {
                    grid.current = false;
                }
                let session = self.tabs.front;
                self.tell(Request::Look { session, size }, commands);
            }
        }
        let grid = self.mirror.grid.as_ref().map(|grid| grid.session);
        if grid.is_some() && grid != self.tabs.front {
            self.mirror.grid = None;
        }
        if self.wire.up {
            let question = self
                .overlays
                .top_mut()
                .and_then(|(number, modal)| Some((number, modal.question()?)));
            if let Some((number, request)) = question {
                let request = self.with_env(request);
                self.ask(request, Waiting::Question(number), commands);
            }
        }
        (before != open).then_some(Damage::Everything)
    }

    fn focused(&mut self, focused: bool, commands: &mut Vec<Command>) {
        if let (Some(session), Some(report)) = (
            self.tabs.front,
            terminal::focus_bytes(focused, &self.modes()),
        ) && self.wire.up
        {
            let request = Request::Input {
                session,
                bytes: report.to_vec(),
                typed: false,
            };
            self.tell(request, commands);
        }
    }

    /// What the program in front asked of its terminal; before its first frame, nothing.
    fn modes(&self) -> Modes {
        self.mirror
            .grid
            .as_ref()
            .filter(|grid| Some(grid.session) == self.tabs.front)
            .map_or_else(Modes::default, |grid| grid.modes)
    }

    /// Bytes for the program in front, or why they cannot be had there.
    fn input(
        &mut self,
        bytes: Vec<u8>,
        typed: bool,
        now: Instant,
        commands: &mut Vec<Command>,
    ) -> Option<Damage> {
        // An overlay that a small terminal does not show keeps the keys from the program all the same.
        if bytes.is_empty() || self.overlays.top().is_some() {
            return None;
        }
        let front = match self.front() {
            Some(session) => Some((session.id, session.state)),
            // What is typed before the first list is for the session that was asked for.
            None if !self.wire.listed => self.tabs.front.map(|id| (id, State::Unknown)),
            None => None,
        };
        match front {
            Some((_, State::Ended)) if typed => {
                let key = format!("{} {}", self.keymap.leader(), self.keymap.key(Action::End));
                let words = format!("this session has ended; {key} takes it off the list");
                self.status.say(Level::Info, words, now);
                Some(Damage::Everything)
            }
            Some((session, _)) if self.wire.up => {
                let request = Request::Input {
                    session,
                    bytes,
                    typed,
                };
                self.tell(request, commands);
                None
            }
            Some(_) | None => None,
        }
    }

    /// A request whose response nobody needs.
    pub(super) fn tell(&mut self, request: Request, commands: &mut Vec<Command>) {
        let _ = self;
        commands.push(Command::Send(Box::new(ToServer { id: 0, request })));
    }

    pub(super) fn ask(&mut self, request: Request, waiting: Waiting, commands: &mut Vec<Command>) {
        self.wire.last += 1;
        let id = self.wire.last;
        self.wire.waiting.insert(id, waiting);
        commands.push(Command::Send(Box::new(ToServer { id, request })));
    }

    /// Orders are for the environment of this client, and for the room it has.
    pub(super) fn with_env(&self, mut request: Request) -> Request {
        if let Request::Launch(order) = &mut request {
            order.size = self.program().or(order.size);
        }
        if let Request::Plan(order) | Request::Launch(order) = &mut request {
            order.env.clone_from(&self.start.env);
        }
        request
    }

    /// Carries out what an overlay wants.
    fn grant(&mut self, wish: Wish, from: Option<u64>, now: Instant, commands: &mut Vec<Command>) {
        let close = |screen: &mut Self| {
            if let Some(number) = from {
                screen.overlays.close(number);
            }
        };
        match wish {
            Wish::Stay => {}
            Wish::Close => close(self),
            Wish::Send(request) => {
                close(self);
                let request = self.with_env(*request);
                self.deed(request, Waiting::Deed, now, commands);
            }
            Wish::Await(request) => {
                let request = self.with_env(*request);
                let waiting = from.map_or(Waiting::Deed, Waiting::Done);
                self.deed(request, waiting, now, commands);
            }
            Wish::Look(session) => {
                close(self);
                self.look(session);
            }
            Wish::Act(action) => {
                close(self);
                self.act(action, now, commands);
            }
        }
    }

    /// Asks for a deed, or says that nobody is there to do it.
    pub(super) fn deed(
        &mut self,
        request: Request,
        waiting: Waiting,
        now: Instant,
        commands: &mut Vec<Command>,
    ) {
        if self.wire.up {
            self.ask(request, waiting, commands);
            return;
        }
        if let Waiting::Done(number) = waiting
            && let Some(modal) = self.overlays.numbered(number)
        {
            modal.lost();
        }
        let words = "there is no server at the moment; try again when it is back";
        self.status.say(Level::Error, words, now);
    }

    /// Brings that session to the front.
    pub(super) fn look(&mut self, session: u64) {
        self.tabs.front = Some(session);
        self.tabs.inbox.focused = false;
    }

    pub(super) fn leave(commands: &mut Vec<Command>) {
        commands.push(Command::Quit(Leave::Detached));
    }
}
