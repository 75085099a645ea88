//! The terminal: its modes, what it is asked at the start, and the title and state that it is told.

use std::io::{Stdout, Write, stdout};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};

use super::keys::Reply;
use super::turn::Status;
use crate::error::{Error, Exit, Result};

/// Name and version, keyboard protocol, state reports, and last what every terminal answers: a reply that comes
/// after the last one counts as none.
const QUESTIONS: &str = "\x1b[>0q\x1b[?u\x1b]7501;?\x07\x1b[c";
/// Alternate screen, mouse with any motion, focus, colour scheme and paste reports.
const MODES_ON: &str =
    "\x1b[?1049h\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2031h\x1b[?2004h";
const MODES_OFF: &str = "\x1b[?2004l\x1b[?2031l\x1b[?1004l\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?25h\x1b[?1049l";
const KEYBOARD_ON: &str = "\x1b[>5u\x1b[>4;2m";
const KEYBOARD_OFF: &str = "\x1b[<u\x1b[>4;0m";

/// Puts the terminal back as it was when dropped.
pub(super) struct Console {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    keyboard: bool,
    frames: bool,
    /// Whether the terminal wants our state; `None` until it has answered.
    reports: Option<bool>,
    status: Status,
    /// The session's name, in the title and in what is reported.
    name: String,
    title: String,
}

impl Console {
    pub(super) fn open(name: &str) -> Result<Self> {
        enable_raw_mode().map_err(|error| {
            Error::new(Exit::Fault, format!("the terminal cannot be used: {error}"))
        })?;
        let mut out = stdout();
        let opened = write(&mut out, &format!("{QUESTIONS}{MODES_ON}"))
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        match opened {
            Ok(terminal) => Ok(Self {
                terminal,
                keyboard: false,
                frames: false,
                reports: None,
                status: Status::Idle,
                name: name.chars().filter(|it| !it.is_control()).collect(),
                title: String::new(),
            }),
            Err(error) => {
                // The first error is the one to tell.
                drop(disable_raw_mode());
                Err(error.into())
            }
        }
    }

    pub(super) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> std::io::Result<()> {
        if self.frames {
            write(&mut stdout(), "\x1b[?2026h")?;
        }
        self.terminal.draw(view)?;
        if self.frames {
            write(&mut stdout(), "\x1b[?2026l")?;
        }
        Ok(())
    }

    pub(super) fn replied(&mut self, reply: Reply) -> std::io::Result<()> {
        let mut out = stdout();
        match reply {
            Reply::Keyboard if !self.keyboard => {
                self.keyboard = true;
                write(&mut out, KEYBOARD_ON)
            }
            Reply::Status if self.reports.is_none() => {
                self.reports = Some(true);
                write(&mut out, &report(&self.status, &self.name))
            }
            Reply::Device if !self.frames => {
                self.reports.get_or_insert(false);
                write(&mut out, "\x1b[?2026$p")
            }
            Reply::Frames => {
                self.frames = true;
                Ok(())
            }
            Reply::Keyboard | Reply::Status | Reply::Device => Ok(()),
        }
    }

    pub(super) fn tell(&mut self, status: Status) -> std::io::Result<()> {
        if self.status == status {
            return Ok(());
        }
        self.status = status;
        if self.reports == Some(true) {
            write(&mut stdout(), &report(&self.status, &self.name))?;
        }
        Ok(())
    }

    /// The title: a sign for idle or busy (two by turns), and the session's name.
    pub(super) fn title(&mut self, busy: Option<bool>) -> std::io::Result<()> {
        let sign = match busy {
            None => "✳",
            Some(false) => "◐",
            Some(true) => "◑",
        };
        let title = format!("{sign} {}", self.name);
        if title == self.title {
            return Ok(());
        }
        self.title = title;
        write(&mut stdout(), &format!("\x1b]0;{}\x07", self.title))
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        let mut text = String::new();
        if self.reports == Some(true) {
            text.push_str("\x1b]7501;state=clear\x07");
        }
        if self.keyboard {
            text.push_str(KEYBOARD_OFF);
        }
        text.push_str(MODES_OFF);
        text.push_str("\x1b]0;\x07");
        // The terminal may be gone, and then nothing is left to put back.
        drop(write(&mut stdout(), &text));
        drop(disable_raw_mode());
    }
}

fn write(out: &mut Stdout, text: &str) -> std::io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The state as `OSC 7501` says it. The real client's name, since it stands for that one.
fn report(status: &Status, name: &str) -> String {
    let message = |text: &str| format!(":msg={}", STANDARD.encode(text));
    let (state, more) = match status {
        Status::Idle => ("idle", String::new()),
        Status::Working => ("working", message(name)),
        Status::Blocked(question) => ("blocked", format!(":kind=permission{}", message(question))),
        Status::Done => ("done", String::new()),
        Status::Error(text) => ("error", message(text)),
    };
    format!("\x1b]7501;state={state}:app=claude-code{more}\x07")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_reported_in_the_protocol_of_the_real_client() {
        for (status, expected) in [
            (Status::Idle, "7501;state=idle:app=claude-code"),
            (Status::Done, "7501;state=done:app=claude-code"),
            (
                Status::Working,
                "7501;state=working:app=claude-code:msg=bg==",
            ),
            (
                Status::Blocked("q".into()),
                "7501;state=blocked:app=claude-code:kind=permission:msg=cQ==",
            ),
            (
                Status::Error("e".into()),
                "7501;state=error:app=claude-code:msg=ZQ==",
            ),
        ] {
            assert_eq!(report(&status, "n"), format!("\x1b]{expected}\x07"));
        }
    }
}
