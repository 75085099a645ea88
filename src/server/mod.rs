//! Acts: the loop, programs, screens, clients, watched files, store.
//!
//! One loop decides. Threads read or write one thing each and send to it; the order of that channel is the order of
//! the world.

mod clients;
mod journal;
pub(crate) mod launch;
mod listen;
mod painter;
mod peer;
mod programs;
mod reports;
mod requests;
mod screens;
mod sessions;
mod start;
mod store;
mod tells;
mod view;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, SystemTime};

use clients::Clients;
use launch::{Planned, Planner, Purpose};
use listen::Insiders;
use painter::Wake;
use programs::{Programs, Refused};
use screens::Screens;
use store::Store;
use tells::Tells;
use watch::{Kind, Seen, Watcher};

use crate::agents;
use crate::config::dirs::Dirs;
use crate::config::load;
use crate::config::repo::Repo;
use crate::config::settings::Settings;
use crate::deck::{ClientId, Deck, Effect, Event, SessionId};
use crate::error::Result;
use crate::protocol::client::{Inbox, Level, Message, Notice, Request};
use crate::protocol::hook::Tell;
use crate::terminal::{self, Size};

pub(crate) use start::run;

/// A client that does not say that it is done with a blocked prompt is done with it by then, as a rule.
const SETTLED: Duration = Duration::from_secs(1);

/// Everything the loop is told.
enum Incoming {
    Connected(ClientId, Arc<Wake>),
    /// `insider`: the agent session that the peer runs in.
    Asked {
        client: ClientId,
        id: u64,
        request: Request,
        insider: Option<SessionId>,
    },
    Left(ClientId),
    /// Bytes of a client went to the program of the session that it looks at, or were refused.
    Typed {
        client: ClientId,
        session: SessionId,
        typed: bool,
        taken: std::result::Result<(), Refused>,
    },
    Told(SessionId, Tell),
    Exited(SessionId, Option<i32>),
    /// The keeper is gone: exit codes cannot be learned, all else goes on.
    KeeperGone,
    Program(SessionId, Vec<terminal::Event>),
    /// The program's end of the PTY is closed and all it wrote is on the grid.
    Drained(SessionId),
    Seen(Seen),
    /// A client has had its time to deal with a blocked prompt.
    Settled(SessionId, u64),
    Planned {
        purpose: Purpose,
        planned: Box<Result<Planned>>,
    },
    Stop,
}

/// What the loop owns: one thing a field, one file a thing.
struct Server {
    deck: Deck,
    screens: Screens,
    programs: Programs,
    clients: Clients,
    watcher: Watcher,
    tells: Tells,
    planner: Planner,
    store: Store,
    insiders: Arc<Insiders>,
    /// What each repo's inbox held when it was last seen.
    inboxes: BTreeMap<PathBuf, Inbox>,
    /// Files that are wrong now, with what is wrong.
    faults: BTreeMap<PathBuf, Message>,
    /// For what comes back later, and for what is started later and reports.
    loop_: Sender<Incoming>,
    /// The start that the deck is deciding on.
    starting: Option<Starting>,
    dirs: Dirs,
    settings: Settings,
}

/// What a session is started with beside its seed, and what came of it.
struct Starting {
    env: BTreeMap<String, String>,
    added: BTreeMap<String, String>,
    size: Size,
    outcome: Option<Result<SessionId>>,
}

impl Server {
    /// Runs until it is told to stop.
    fn serve(&mut self, incoming: &Receiver<Incoming>) {
        for next in incoming {
            match next {
                Incoming::Connected(client, wake) => self.clients.welcome(client, wake),
                Incoming::Asked {
                    client,
                    id,
                    request,
                    insider,
                } => {
                    if !self.asked(client, id, request, insider) {
                        return;
                    }
                }
                Incoming::Left(client) => self.left(client),
                Incoming::Typed {
                    client,
                    session,
                    typed,
                    taken,
                } => {
                    self.typed(client, session, typed, taken);
                }
                Incoming::Told(session, tell) => self.told(session, tell),
                Incoming::Exited(session, code) => self.exited(session, code),
                Incoming::KeeperGone => {
                    self.programs.keeper_gone();
                    self.say(
                        Level::Warning,
                        "the keeper is gone: agents go on as long as this server does; how they exit is not learned",
                    );
                }
                Incoming::Program(session, events) => self.program(session, events),
                Incoming::Drained(session) => self.drained(session),
                Incoming::Seen(seen) => self.seen(seen),
                Incoming::Settled(session, block) => self.deck(Event::Settled { session, block }),
                Incoming::Planned { purpose, planned } => self.planned(purpose, *planned),
                Incoming::Stop => {
                    self.clients.announce(&Notice::Leaving);
                    return;
                }
            }
        }
    }

    /// Lets the deck decide, then does what it says.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the loop reads the time"
    )]
    fn deck(&mut self, event: Event) {
        for effect in self.deck.handle(event, SystemTime::now()) {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Start { session } => self.start(session),
            Effect::Follow {
                session,
                transcript,
            } => {
                if let Some(dialect) = self.dialect(session) {
                    self.watcher.follow(session, transcript, dialect);
                }
            }
            Effect::Announce => self.announce(),
            Effect::Save { session } => {
                if let Some(Err(error)) = self
                    .deck
                    .session(session)
                    .map(|session| self.store.save(session))
                {
                    self.say(
                        Level::Warning,
                        &format!("cannot save session {session}: {error}"),
                    );
                }
            }
            Effect::Settle { session, block } => {
                let loop_ = self.loop_.clone();
                thread::spawn(move || {
                    thread::sleep(SETTLED);
                    drop(loop_.send(Incoming::Settled(session, block)));
                });
            }
            Effect::SendAnyway { session, prompt } => self.send_anyway(session, &prompt),
            Effect::TakeOffBrake { session } => self.take_off_brake(session),
            Effect::ClearBox { session, prompt } => {
                if let Some(dialect) = self.dialect(session) {
                    self.programs.clear(session, dialect.clear_box(&prompt));
                }
            }
            Effect::Park {
                session,
                text,
                profile,
            } => {
                if let Some(repo) = self
                    .deck
                    .session(session)
                    .map(|session| session.seed.repo.clone())
                {
                    match self.park(&repo, &text, Some(&profile)) {
                        Ok((line, _)) => self.say(Level::Info, &format!("parked: {line}")),
                        Err(error) => self.say(Level::Error, &error.line()),
                    }
                }
            }
            Effect::Open {
                task,
                profile,
                from,
                note,
                by,
            } => self.open(task, profile, from, note, by),
            Effect::End { session } => {
                let pid = self.deck.session(session).and_then(|session| session.pid);
                if let Err(error) = self.programs.end(session, pid) {
                    self.say(Level::Warning, &error.line());
                }
            }
            Effect::Forget { session } => self.forget(session),
            Effect::Say { session, text } => {
                let text = terminal::plain(&text);
                let message = Message {
                    level: Level::Info,
                    text,
                    session: Some(session.0),
                };
                self.clients.announce(&Notice::Message(message));
            }
        }
    }

    fn say(&mut self, level: Level, text: &str) {
        let message = Message {
            level,
            text: terminal::plain(text),
            session: None,
        };
        self.clients.announce(&Notice::Message(message));
    }

    fn announce(&mut self) {
        let sessions = view::sessions(&self.deck);
        self.clients.announce(&Notice::Sessions(sessions));
    }

    /// Watches inbox, profiles and notes of every repo in the deck.
    fn watch_repos(&mut self) {
        let repos: BTreeSet<PathBuf> = self
            .deck
            .sessions()
            .map(|session| session.seed.repo.clone())
            .chain(self.clients.repos().cloned())
            .filter(|repo| !self.inboxes.contains_key(repo))
            .collect();
        for repo in repos {
            let settings = self.settings_for(&repo);
            let file = repo.join(&settings.inbox);
            let inbox = Inbox {
                repo: repo.clone(),
                file: file.clone(),
                lines: Vec::new(),
            };
            self.inboxes.insert(repo.clone(), inbox);
            self.watcher.file(Kind::Inbox, &repo, &file);
            self.watcher
                .file(Kind::Profiles, &repo, &repo.join(".sessdeck/profiles.toml"));
            // A path that leads out of the repo is not looked at.
            if let Ok(notes) = Repo::around(&repo).inside(&settings.handoffs) {
                self.watcher.file(Kind::Notes, &repo, &notes);
            }
        }
    }

    /// The settings that hold in a repo; the person's own while the repo's cannot be read.
    fn settings_for(&self, repo: &Path) -> Settings {
        load::here(&self.dirs, repo).map_or_else(|_| self.settings.clone(), |here| here.settings)
    }

    fn dialect(&self, session: SessionId) -> Option<&'static dyn agents::Dialect> {
        agents::named(&self.deck.session(session)?.seed.agent)
    }
}
