//! Draws what a program writes and replies to its queries, as the terminal of a person would.

use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

use alacritty_terminal::Term;
use alacritty_terminal::event::{Event, EventListener, WindowSize};
use alacritty_terminal::term::Config;
use alacritty_terminal::term::test::TermSize;
use alacritty_terminal::vte::ansi::{Processor, Rgb};

use crate::screen::Screen;

pub(crate) struct Emulator {
    term: Term<Listener>,
    parser: Processor,
    events: Receiver<Event>,
    columns: u16,
    rows: u16,
    /// Every byte so far.
    pub(crate) output: Vec<u8>,
    pub(crate) title: String,
    /// What was last put on the clipboard.
    pub(crate) clipboard: Option<String>,
    pub(crate) bells: usize,
}

struct Listener(Sender<Event>);

impl EventListener for Listener {
    fn send_event(&self, event: Event) {
        // The receiver lives as long as the emulator.
        self.0.send(event).expect("somebody listens");
    }
}

impl Emulator {
    pub(crate) fn new(columns: u16, rows: u16) -> Self {
        let (sender, events) = mpsc::channel();
        let config = Config {
            kitty_keyboard: true,
            ..Config::default()
        };
        let size = TermSize::new(columns.into(), rows.into());
        Self {
            term: Term::new(config, &size, Listener(sender)),
            parser: Processor::new(),
            events,
            columns,
            rows,
            output: Vec::new(),
            title: String::new(),
            clipboard: None,
            bells: 0,
        }
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        (self.columns, self.rows) = (columns, rows);
        let size = TermSize::new(columns.into(), rows.into());
        self.term.resize(size);
    }

    /// Draws the bytes; gives what a terminal replies to them.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.output.extend_from_slice(bytes);
        self.parser.advance(&mut self.term, bytes);
        let events: Vec<Event> = self.events.try_iter().collect();
        let replies: String = events
            .into_iter()
            .filter_map(|event| self.reply(event))
            .collect();
        replies.into_bytes()
    }

    fn reply(&mut self, event: Event) -> Option<String> {
        match event {
            Event::PtyWrite(text) => return Some(text),
            Event::ColorRequest(index, reply) => return Some(reply(color(index))),
            Event::TextAreaSizeRequest(reply) => {
                return Some(reply(WindowSize {
                    num_lines: self.rows,
                    num_cols: self.columns,
                    cell_width: 8,
                    cell_height: 16,
                }));
            }
            Event::Title(title) => self.title = title,
            Event::ResetTitle => self.title.clear(),
            Event::ClipboardStore(_, text) => self.clipboard = Some(text),
            Event::Bell => self.bells += 1,
            Event::MouseCursorDirty
            | Event::ClipboardLoad(..)
            | Event::CursorBlinkingChange
            | Event::Wakeup
            | Event::Exit
            | Event::ChildExit(_) => {}
        }
        None
    }

    /// What is shown now. A terminal does not wait forever for the end of a synchronized update.
    pub(crate) fn screen(&mut self) -> Screen {
        let overdue = self.parser.sync_timeout().sync_timeout();
        if overdue.is_some_and(|deadline| deadline < Instant::now()) {
            self.parser.stop_sync(&mut self.term);
        }
        Screen::of(&self.term, self.rows.into(), self.columns.into())
    }
}

/// A dark terminal: what it says when it is asked for its colours.
fn color(index: usize) -> Rgb {
    match index {
        256 => Rgb {
            r: 0xd0,
            g: 0xd0,
            b: 0xd0,
        },
        _ => Rgb { r: 0, g: 0, b: 0 },
    }
}
