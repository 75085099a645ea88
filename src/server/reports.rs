//! What the world reports: hooks, watched files, programs.

use std::path::{Path, PathBuf};

use super::Server;
use super::watch::{Kind, Seen};
use crate::config::load;
use crate::deck::{self, Call, Event, Note, SessionId, Status, What};
use crate::error::Error;
use crate::files;
use crate::protocol::client::{Inbox, InboxLine, Level, Message, Notice};
use crate::protocol::hook::{HookEvent, HookReport, Tell};
use crate::terminal::{self, Progress, StatusState};

impl Server {
    pub(super) fn told(&mut self, session: SessionId, tell: Tell) {
        match tell {
            Tell::Hook(report) => {
                self.watcher.poke(session);
                if let Some(call) = Self::call(report) {
                    self.deck(Event::Hook { session, call });
                }
            }
            Tell::Parked { line } => {
                let text = terminal::plain(&format!("parked: {line}"));
                let message = Message {
                    level: Level::Info,
                    text,
                    session: Some(session.0),
                };
                self.clients.announce(&Notice::Message(message));
            }
        }
    }

    /// The report in the deck's words; none if its blocked prompt cannot be read any more.
    fn call(report: HookReport) -> Option<Call> {
        let what = match report.event {
            HookEvent::Started { source } => What::ConversationStarted { source },
            HookEvent::Prompt => What::Prompt,
            HookEvent::Blocked(blocked) => What::Blocked(deck::Blocked {
                prompt: files::blocked::read(&blocked.stored).ok()?.prompt,
                current: blocked.current,
                other: blocked.other,
                matched: blocked.matched,
                command: blocked.command,
            }),
            HookEvent::Parked { line, prompt } => What::Parked { line, prompt },
            HookEvent::Stuck(stuck) => What::Stuck(deck::Stuck {
                agent: stuck.agent,
                context_tokens: stuck.context_tokens,
                note: stuck.note,
            }),
            HookEvent::ToolStarts { .. } | HookEvent::ToolEnded { .. } => What::Tool,
            HookEvent::Permission { .. } => What::Permission,
            HookEvent::Waiting { .. } | HookEvent::TurnEnded { .. } => What::TurnEnded,
            HookEvent::Ended { .. } | HookEvent::Other { .. } => What::Other,
        };
        Some(Call {
            conversation: report.conversation,
            transcript: report.transcript,
            subagent: report.subagent.is_some(),
            what,
        })
    }

    pub(super) fn program(&mut self, session: SessionId, events: Vec<terminal::Event>) {
        for event in events {
            match event {
                terminal::Event::Status(said) => {
                    let status = match said.state {
                        StatusState::Idle => Status::Idle,
                        StatusState::Working => Status::Working,
                        StatusState::Blocked => Status::Blocked,
                        StatusState::Done => Status::Done,
                        StatusState::Error => Status::Failed,
                        StatusState::Clear => Status::Cleared,
                    };
                    self.deck(Event::Status { session, status });
                }
                terminal::Event::Progress { state, .. } => {
                    let busy = matches!(state, Progress::Set | Progress::Indeterminate);
                    self.deck(Event::Status {
                        session,
                        status: Status::Progress { busy },
                    });
                }
                terminal::Event::Clipboard(base64) => {
                    self.clients.announce(&Notice::Clipboard {
                        session: session.0,
                        base64,
                    });
                }
                terminal::Event::Bell => {
                    self.clients.announce(&Notice::Bell { session: session.0 });
                }
                terminal::Event::Title(_)
                | terminal::Event::Cwd(_)
                | terminal::Event::Notification { .. } => {}
            }
        }
    }

    pub(super) fn seen(&mut self, seen: Seen) {
        match seen {
            Seen::Facts {
                session,
                facts,
                afresh,
            } => {
                self.steps_for(session, &facts);
                self.deck(Event::Facts {
                    session,
                    facts,
                    afresh,
                });
            }
            Seen::Text {
                kind: Kind::Inbox,
                repo,
                path,
                text,
            } => self.inbox_changed(repo, path, text),
            Seen::Text {
                kind: Kind::Profiles,
                repo,
                ..
            } => self.profiles_changed(&repo),
            Seen::Text {
                kind: Kind::Notes,
                repo,
                path,
                text,
            } => self.note_written(repo, path, text),
        }
    }

    fn inbox_changed(&mut self, repo: PathBuf, file: PathBuf, text: Option<String>) {
        let lines = deck::inbox::open_lines(&text.unwrap_or_default())
            .into_iter()
            .map(wire_line)
            .collect();
        let inbox = Inbox {
            repo: repo.clone(),
            file,
            lines,
        };
        self.clients.announce(&Notice::Inbox(inbox.clone()));
        self.inboxes.insert(repo, inbox);
    }

    /// A repo's profile file was written: says what is wrong with it, or that it is right again.
    fn profiles_changed(&mut self, repo: &Path) {
        match load::here(&self.dirs, repo) {
            Err(error) => self.fault(repo.to_owned(), &error),
            Ok(_) => {
                if self.faults.remove(repo).is_some() {
                    self.say(Level::Info, "the profiles are in order again");
                }
            }
        }
    }

    /// Settings are wrong while the deck runs: the old ones stay, and every client is told, later ones too.
    pub(super) fn fault(&mut self, place: PathBuf, error: &Error) {
        let text = terminal::plain(&format!(
            "{}; what was read before stays in force",
            error.line()
        ));
        let fault = Message {
            level: Level::Error,
            text,
            session: None,
        };
        self.clients.announce(&Notice::Message(fault.clone()));
        self.faults.insert(place, fault);
    }

    fn note_written(&mut self, repo: PathBuf, path: PathBuf, text: Option<String>) {
        // An empty file is a note that is about to be written.
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return;
        };
        let missing = deck::handoff::check(deck::handoff::Kind::Session, &text);
        let thread = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        let session = deck::handoff::field(&text, "session").map(str::to_owned);
        self.deck(Event::NoteWritten {
            repo,
            thread: session.unwrap_or(thread),
            note: Note { path, missing },
        });
    }
}

fn wire_line(line: deck::inbox::Line) -> InboxLine {
    InboxLine {
        n: line.n,
        date: line.date,
        profile: line.profile.map(|profile| terminal::plain(&profile)),
        text: terminal::plain(&line.text),
        detail: line.detail.lines().map(terminal::plain).collect(),
        hash: line.hash,
    }
}
