//! One message in, the screen changed, commands out. Nothing here reads a clock or touches a terminal.

mod deeds;
mod server;

use std::time::Instant;

use super::actions::Action;
use super::key::chord;
use super::message::{Command, Damage, Leave, Message};
use super::overlay::{Wish, ask};
use super::state::{Mode, Question, Screen, Stage, Waiting};
use super::view;
use crate::config::keys::{Chord, Key};
use crate::protocol::client::{Level, Request, State, ToServer};
use crate::terminal::{self, Button, KeyEvent, Modes, MouseAction, MouseEvent, Wheel};

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

    fn pressed(
        &mut self,
        event: KeyEvent,
        now: Instant,
        commands: &mut Vec<Command>,
    ) -> Option<Damage> {
        let typing = self.typed.under_way(now);
        // Enter ends what was typed: what comes up after it is an answer to it.
        let goes_on = event.key != terminal::Key::Enter;
        self.typed.last = goes_on.then_some(now);
        let Some(chord) = chord(event) else {
            return self.type_to_program(event, now, commands);
        };
        let visible = self.areas().is_some();
        if visible && let Some((number, modal)) = self.overlays.top_mut() {
            let scene = super::overlay::Scene {
                mirror: &self.mirror,
                theme: &self.theme,
                keymap: &self.keymap,
            };
            let wish = modal.press(chord, scene);
            self.grant(wish, Some(number), now, commands);
            return Some(Damage::Everything);
        }
        let leads = self.keymap.leads(chord);
        if self.mode == Mode::Deck {
            self.mode = Mode::Program;
            match self.keymap.action(chord, true) {
                Some(action) if !leads => self.act(action, now, commands),
                // The leader twice is one for the program, and what means nothing to the deck was meant for it.
                Some(_) | None => {
                    self.type_to_program(event, now, commands);
                }
            }
            return Some(Damage::Everything);
        }
        if leads {
            self.mode = Mode::Deck;
            return Some(Damage::Everything);
        }
        if let Some(damage) = self.answer(chord, typing, commands) {
            return damage;
        }
        if let Some(action) = self.keymap.action(chord, false) {
            self.act(action, now, commands);
            return Some(Damage::Everything);
        }
        if self.tabs.inbox.focused && visible {
            self.press_inbox(chord, now, commands);
            return Some(Damage::Everything);
        }
        if self.tabs.front.is_none() {
            let action = self.keymap.action(chord, true)?;
            self.act(action, now, commands);
            return Some(Damage::Everything);
        }
        self.type_to_program(event, now, commands)
    }

    /// Gives the key to the question over the tab in front. None if there is none, or it takes no keys yet.
    fn answer(
        &mut self,
        chord: Chord,
        typing: bool,
        commands: &mut Vec<Command>,
    ) -> Option<Option<Damage>> {
        let (_, open, _) = self.question()?;
        let (id, choice) = (open.id, ask::choice(open, chord));
        let question = self.overlays.question.as_mut()?;
        match question.stage {
            Stage::Armed => {}
            Stage::Held if !typing => question.stage = Stage::Armed,
            Stage::Fresh | Stage::Held => return None,
        }
        let Some(choice) = choice else {
            return Some(None);
        };
        if !self.wire.up {
            return Some(None);
        }
        self.mirror.answered(id);
        let request = Request::Answer { ask: id, choice };
        self.ask(request, Waiting::Answer(id), commands);
        Some(Some(Damage::Everything))
    }

    fn press_inbox(&mut self, chord: Chord, now: Instant, commands: &mut Vec<Command>) {
        let last = self
            .inbox()
            .map_or(0, |inbox| inbox.lines.len().saturating_sub(1));
        let chosen = self.tabs.inbox.chosen.min(last);
        match (chord.key(), chord.mods().ctrl) {
            (Key::Esc, _) => self.tabs.inbox.focused = false,
            (Key::Char('j'), false) | (Key::Down, _) | (Key::Char('n'), true) => {
                self.tabs.inbox.chosen = (chosen + 1).min(last);
            }
            (Key::Char('k'), false) | (Key::Up, _) | (Key::Char('p'), true) => {
                self.tabs.inbox.chosen = chosen.saturating_sub(1);
            }
            (Key::Home, _) => self.tabs.inbox.chosen = 0,
            (Key::End, _) => self.tabs.inbox.chosen = last,
            (Key::Enter, _) => self.open_inbox_line(chosen, now, commands),
            (Key::Char('p'), false) => self.act(Action::Park, now, commands),
            (Key::Char('i' | 'q'), false) => self.act(Action::Inbox, now, commands),
            _ => {}
        }
    }

    fn type_to_program(
        &mut self,
        event: KeyEvent,
        now: Instant,
        commands: &mut Vec<Command>,
    ) -> Option<Damage> {
        let bytes = terminal::key_bytes(event, &self.modes());
        self.input(bytes, true, now, commands)
    }

    fn pasted(&mut self, text: &str, now: Instant, commands: &mut Vec<Command>) -> Option<Damage> {
        self.typed.last = Some(now);
        if let Some((_, modal)) = self.overlays.top_mut() {
            modal.paste(text);
            return Some(Damage::Everything);
        }
        // A question that takes the keys takes no pastes: nothing in them is an answer.
        let asked = self.overlays.question.map(|question| question.stage);
        if asked == Some(Stage::Armed) && self.question().is_some() {
            return None;
        }
        let bytes = terminal::paste_bytes(text, &self.modes());
        self.input(bytes, true, now, commands)
    }

    fn moused(
        &mut self,
        event: MouseEvent,
        now: Instant,
        commands: &mut Vec<Command>,
    ) -> Option<Damage> {
        let areas = self.areas()?;
        if self.overlays.top().is_some() {
            return None;
        }
        let at = ratatui::layout::Position::new(event.col, event.row);
        if areas.tabs.contains(at) {
            return self.mouse_on_tabs(event, areas);
        }
        if let Some(inbox) = areas.inbox.filter(|inbox| inbox.contains(at)) {
            return self.mouse_on_inbox(event, inbox);
        }
        if !areas.pane.contains(at) || view::covers_pane(self) {
            return None;
        }
        let mut damage = None;
        if let MouseAction::Press(_) = event.action
            && self.tabs.inbox.focused
        {
            self.tabs.inbox.focused = false;
            damage = Some(Damage::Everything);
        }
        let inside = MouseEvent {
            col: event.col - areas.pane.x,
            row: event.row - areas.pane.y,
            ..event
        };
        let bytes = terminal::mouse_bytes(inside, &self.modes()).unwrap_or_default();
        let typed = matches!(event.action, MouseAction::Press(_));
        let said = self.input(bytes, typed, now, commands);
        damage.or(said)
    }

    fn mouse_on_tabs(&mut self, event: MouseEvent, areas: super::layout::Areas) -> Option<Damage> {
        match event.action {
            MouseAction::Press(Button::Left) => {
                let session = if areas.divider.is_some() {
                    view::tabs::session_at(self, areas.tabs, event.row)
                } else {
                    view::strip::session_at(self, areas.tabs, event.col)
                };
                self.tabs.front = Some(session?);
                self.tabs.inbox.focused = false;
            }
            MouseAction::Wheel(Wheel::Down) => self.tabs.step(&self.mirror, 1),
            MouseAction::Wheel(Wheel::Up) => self.tabs.step(&self.mirror, -1),
            MouseAction::Press(_)
            | MouseAction::Release(_)
            | MouseAction::Drag(_)
            | MouseAction::Move
            | MouseAction::Wheel(_) => return None,
        }
        Some(Damage::Everything)
    }

    fn mouse_on_inbox(&mut self, event: MouseEvent, area: ratatui::layout::Rect) -> Option<Damage> {
        let last = self
            .inbox()
            .map_or(0, |inbox| inbox.lines.len().saturating_sub(1));
        let chosen = self.tabs.inbox.chosen.min(last);
        match event.action {
            MouseAction::Press(Button::Left) => {
                self.tabs.inbox.focused = true;
                if let Some(place) = view::inbox_line_at(self, area, event.row) {
                    self.tabs.inbox.chosen = place;
                }
            }
            MouseAction::Wheel(Wheel::Down) => self.tabs.inbox.chosen = (chosen + 1).min(last),
            MouseAction::Wheel(Wheel::Up) => self.tabs.inbox.chosen = chosen.saturating_sub(1),
            MouseAction::Press(_)
            | MouseAction::Release(_)
            | MouseAction::Drag(_)
            | MouseAction::Move
            | MouseAction::Wheel(_) => return None,
        }
        Some(Damage::Everything)
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
        if bytes.is_empty() {
            return None;
        }
        let front = self.front().map(|session| (session.id, session.state));
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
        commands.push(Command::Send(ToServer { id: 0, request }));
    }

    pub(super) fn ask(&mut self, request: Request, waiting: Waiting, commands: &mut Vec<Command>) {
        self.wire.last += 1;
        let id = self.wire.last;
        self.wire.waiting.insert(id, waiting);
        commands.push(Command::Send(ToServer { id, request }));
    }

    /// Orders are for the environment of this client.
    pub(super) fn with_env(&self, request: Request) -> Request {
        match request {
            Request::Plan(mut order) => {
                order.env = self.start.env.clone();
                Request::Plan(order)
            }
            Request::Launch(mut order) => {
                order.env = self.start.env.clone();
                order.size = self.program().or(order.size);
                Request::Launch(order)
            }
            other => other,
        }
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
