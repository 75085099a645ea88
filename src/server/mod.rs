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
use programs::{Keeper, Program, Programs, Refused, Start};
use screens::Screens;
use store::Store;
use tells::Tells;
use watch::{Kind, Seen, Watcher};

use crate::agents;
use crate::config::dirs::Dirs;
use crate::config::load;
use crate::config::repo::Repo;
use crate::config::settings::Settings;
use crate::deck::{ClientId, Deck, Effect, Event, Seed, Session, SessionId};
use crate::error::{Error, Result};
use crate::files::hook_state::HookFile;
use crate::protocol::client::{Inbox, Level, Message, Notice, Order, Request, Response};
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

    /// An order was planned: shows it, or lets the deck begin the session.
    fn planned(&mut self, purpose: Purpose, planned: Result<Planned>) {
        let planned = planned.and_then(|planned| match (&purpose, &planned.plan.obstacle) {
            (Purpose::Launch { .. } | Purpose::Open { .. }, Some(obstacle)) => {
                Err(Planned::refused(obstacle))
            }
            (Purpose::Show { .. }, _) | (_, None) => Ok(planned),
        });
        let launched = match (purpose, planned) {
            (Purpose::Show { client, id }, Ok(planned)) => {
                return self
                    .clients
                    .respond(client, id, Response::Plan(Box::new(planned.plan)));
            }
            (Purpose::Show { client, id }, Err(error)) => return self.fail(client, id, &error),
            (Purpose::Launch { .. } | Purpose::Open { .. }, planned) => {
                planned.and_then(|planned| self.launch(planned))
            }
        };
        match (purpose, launched) {
            (Purpose::Launch { client, id }, Ok(session)) => {
                if let Some(session) = self.deck.session(session).map(view::session) {
                    self.clients
                        .respond(client, id, Response::Session(Box::new(session)));
                }
            }
            (Purpose::Launch { client, id }, Err(error)) => self.fail(client, id, &error),
            (Purpose::Open { client }, Ok(session)) => {
                self.clients
                    .tell(client, Notice::Show { session: session.0 });
            }
            (Purpose::Open { .. }, Err(error)) => self.say(Level::Error, &error.line()),
            (Purpose::Show { .. }, _) => {}
        }
    }

    fn launch(&mut self, planned: Planned) -> Result<SessionId> {
        let Planned {
            plan,
            seed,
            client_env,
            size,
        } = planned;
        self.starting = Some(Starting {
            env: client_env,
            added: plan.env,
            size,
            outcome: None,
        });
        self.deck(Event::Ordered {
            seed: Box::new(seed),
        });
        self.watch_repos();
        match self.starting.take().and_then(|starting| starting.outcome) {
            Some(outcome) => outcome,
            None => Err(Planned::refused("the deck did not begin the session")),
        }
    }

    fn start(&mut self, id: SessionId) {
        let (Some(session), Some(mut starting)) = (self.deck.session(id), self.starting.take())
        else {
            return;
        };
        let seed = session.seed.clone();
        let added = self.with_address(id, std::mem::take(&mut starting.added));
        let env = programs::environment(std::mem::take(&mut starting.env), &added, agents::dropped);
        let start = Start {
            argv: &seed.argv,
            env: &env,
            dir: &seed.dir,
            size: starting.size,
        };
        // The socket is there before the first hook can run.
        drop(self.tells.open(id));
        let opened = self
            .keeper()
            .and_then(|keeper| keeper.open(id, &start))
            .and_then(|opened| {
                let pid = opened.pid;
                Program::new(opened.master)
                    .map(|program| (pid, program))
                    .map_err(Error::from)
            });
        match opened {
            Ok((pid, (program, output))) => {
                let input = program.input();
                self.programs.insert(id, program);
                let program = screens::Program {
                    output,
                    input,
                    size: starting.size,
                    known: false,
                };
                self.screens
                    .open(id, program, &self.store.journal(id), &self.settings);
                starting.outcome = Some(Ok(id));
                self.starting = Some(starting);
                self.deck(Event::Started { session: id, pid });
                self.insiders_changed();
            }
            Err(error) => {
                starting.outcome = Some(Err(error));
                self.starting = Some(starting);
                self.deck(Event::NotStarted { session: id });
            }
        }
    }

    /// The keeper, or another one if it is gone.
    fn keeper(&mut self) -> Result<&mut Keeper> {
        if self.programs.keeper_pid().is_none() {
            let keeper = start::keeper(&self.dirs, &self.loop_)?;
            self.programs.keeper_is(keeper);
        }
        self.programs.keeper()
    }

    /// What the program must know to speak to the deck. Only a session with hooks gets it.
    fn with_address(
        &self,
        id: SessionId,
        mut added: BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        added.insert("SESSDECK_SESSION".to_owned(), id.to_string());
        added.insert(
            "SESSDECK_SOCKET".to_owned(),
            self.tells.path(id).display().to_string(),
        );
        added
    }

    fn exited(&mut self, id: SessionId, code: Option<i32>) {
        self.deck(Event::Exited { session: id, code });
        if !self.programs.runs(id) {
            self.programs.forget(id);
        }
        self.insiders_changed();
    }

    fn drained(&mut self, id: SessionId) {
        self.programs.close(id);
        self.screens.close(id);
        drop(self.tells.close(id));
        let over = self.deck.session(id).is_none_or(Session::over);
        if over {
            self.programs.forget(id);
        } else if self.programs.is_orphan(id) {
            self.programs.forget(id);
            self.deck(Event::Exited {
                session: id,
                code: None,
            });
        }
    }

    fn forget(&mut self, id: SessionId) {
        self.watcher.unfollow(id);
        self.programs.close(id);
        self.programs.forget(id);
        self.screens.forget(id);
        drop(self.tells.close(id));
        // A folder that is not there any more is what was wanted.
        drop(self.store.forget(id));
        self.insiders_changed();
    }

    /// Opens a session for an answer that a person gave.
    fn open(
        &mut self,
        task: String,
        profile: Option<String>,
        from: SessionId,
        note: Option<PathBuf>,
        by: ClientId,
    ) {
        let Some(dir) = self
            .deck
            .session(from)
            .map(|session| session.seed.dir.clone())
        else {
            return;
        };
        let order = Order {
            task: Some(task),
            profile,
            dir,
            note,
            env: self.clients.env(by),
            ..Order::default()
        };
        self.planner.plan(Purpose::Open { client: by }, order);
    }

    /// Lets exactly this prompt pass once, then sends it as the client needs it.
    #[expect(
        clippy::disallowed_methods,
        reason = "a pass is valid for a minute from now"
    )]
    fn send_anyway(&mut self, id: SessionId, prompt: &str) {
        let Some(session) = self.deck.session(id) else {
            return;
        };
        let conversation = session.conversation.clone().unwrap_or_default();
        let agent = session.seed.agent.clone();
        let file = HookFile::new(&self.dirs.state, &agent, &conversation);
        if let Some(Err(error)) = file.map(|file| file.add_pass(prompt, SystemTime::now())) {
            return self.say(Level::Error, &error.line());
        }
        if let Some(dialect) = self.dialect(id) {
            self.programs.type_in(id, dialect.resubmit(prompt));
        }
    }

    fn insiders_changed(&self) {
        let pids = self
            .deck
            .sessions()
            .filter(|session| start::is_agent(&session.seed.agent))
            .filter_map(|session| Some((session.pid?, session.id)))
            .collect();
        self.insiders.set(pids);
    }
}

/// A program that the keeper holds and no record tells of: better a plain session than none.
fn foundling(id: SessionId, now: SystemTime) -> Session {
    let title = format!("found {id}");
    let seed = Seed {
        title: title.clone(),
        agent: "shell".to_owned(),
        ..Seed::default()
    };
    Session::new(id, title, seed, now)
}
