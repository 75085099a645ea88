//! Keys and pastes: the overlay on top, the deck, the question of the tab, the inbox, the program, in this order.

use std::time::Instant;

use super::super::actions::Action;
use super::super::key::chord;
use super::super::message::{Command, Damage};
use super::super::overlay::{Scene, ask};
use super::super::state::{Mode, Screen, Stage, Waiting};
use crate::config::keys::{Chord, Key};
use crate::protocol::client::Request;
use crate::terminal::{self, KeyEvent};

impl Screen {
    pub(super) fn pressed(
        &mut self,
        event: KeyEvent,
        now: Instant,
        commands: &mut Vec<Command>,
    ) -> Option<Damage> {
        let typing = self.typed.under_way(now);
        self.typed.last = None;
        let Some(chord) = chord(event) else {
            return self.type_to_program(event, now, commands);
        };
        let visible = self.areas().is_some();
        if visible && let Some((number, modal)) = self.overlays.top_mut() {
            let scene = Scene {
                mirror: &self.mirror,
                theme: &self.theme,
                keymap: &self.keymap,
            };
            let wish = modal.press(chord, scene);
            self.typed.last = Some(now);
            self.grant(wish, Some(number), now, commands);
            return Some(Damage::Everything);
        }
        let leads = self.keymap.leads(chord);
        let mode = std::mem::replace(&mut self.mode, Mode::Program);
        if leads && mode != Mode::Deck {
            self.mode = Mode::Deck;
            self.status.read();
            return Some(Damage::Everything);
        }
        if mode != Mode::Program {
            match self.keymap.action(chord, true) {
                Some(action) if !leads => self.act(action, now, commands),
                // The leader twice is one for the program, and what means nothing to the deck was meant for it.
                Some(_) | None => {
                    self.type_to_program(event, now, commands);
                }
            }
            return Some(Damage::Everything);
        }
        if self.answer(chord, typing, commands) {
            return Some(Damage::Everything);
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

    /// Gives the key to the question over the tab in front, and says whether it took it.
    fn answer(&mut self, chord: Chord, typing: bool, commands: &mut Vec<Command>) -> bool {
        let Some((_, open, _)) = self.question() else {
            return false;
        };
        let (id, choice) = (open.id, ask::choice(open, chord));
        let armed = match self.overlays.question.map(|question| question.stage) {
            Some(Stage::Armed) => true,
            Some(Stage::Held) => !typing && self.overlays.arm(),
            Some(Stage::Fresh) | None => false,
        };
        if let Some(choice) = choice.filter(|_| armed && self.wire.up) {
            self.mirror.answered(id);
            let request = Request::Answer { ask: id, choice };
            self.ask(request, Waiting::Answer(id), commands);
        }
        armed
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
        // Enter ends what was typed: what comes up after it is an answer to it.
        let goes_on = event.key != terminal::Key::Enter;
        self.typed.last = goes_on.then_some(now);
        let bytes = terminal::key_bytes(event, &self.modes());
        self.input(bytes, true, now, commands)
    }

    pub(super) fn pasted(
        &mut self,
        text: &str,
        now: Instant,
        commands: &mut Vec<Command>,
    ) -> Option<Damage> {
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
}
