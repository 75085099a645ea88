//! What becomes of sessions: planned, started, over, forgotten; and what is typed into them for a person.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use super::launch::{Planned, Purpose};
use super::programs::{self, Keeper, Program, Start};
use super::{Server, Starting, screens, start, view};
use crate::agents;
use crate::deck::meter::Fact;
use crate::deck::{ClientId, Event, Seed, Session, SessionId};
use crate::error::{Error, Result};
use crate::files::hook_state::HookFile;
use crate::protocol::client::{Level, Notice, Order, Response};

impl Server {
    /// An order was planned: shows it, or lets the deck begin the session.
    pub(super) fn planned(&mut self, purpose: Purpose, planned: Result<Planned>) {
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

    pub(super) fn start(&mut self, id: SessionId) {
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
    pub(super) fn keeper(&mut self) -> Result<&mut Keeper> {
        if self.programs.keeper_pid().is_none() {
            let keeper = start::keeper(&self.dirs, &self.loop_)?;
            self.programs.keeper_is(keeper);
        }
        self.programs.keeper()
    }

    /// What the program must know to speak to the deck. Plain sessions get it too: `sessdeck park` works in a shell.
    fn with_address(
        &self,
        id: SessionId,
        mut added: BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        added.insert("SESSDECK_SESSION".to_owned(), id.to_string());
        if let Some(session) = self.deck.session(id) {
            added
                .entry("SESSDECK_THREAD".to_owned())
                .or_insert_with(|| session.name.clone());
        }
        added.insert(
            "SESSDECK_SOCKET".to_owned(),
            self.tells.path(id).display().to_string(),
        );
        added
    }

    pub(super) fn exited(&mut self, id: SessionId, code: Option<i32>) {
        self.deck(Event::Exited { session: id, code });
        if !self.programs.runs(id) {
            self.programs.forget(id);
        }
        self.insiders_changed();
    }

    pub(super) fn drained(&mut self, id: SessionId) {
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

    pub(super) fn forget(&mut self, id: SessionId) {
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
    pub(super) fn open(
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
    pub(super) fn send_anyway(&mut self, id: SessionId, prompt: &str) {
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

    /// The person lets a session work on past its stop step.
    pub(super) fn take_off_brake(&mut self, id: SessionId) {
        let Some(session) = self.deck.session(id) else {
            return;
        };
        let name = session.name.clone();
        let conversation = session.conversation.clone().unwrap_or_default();
        let file = HookFile::new(&self.dirs.state, &session.seed.agent, &conversation);
        match file.map(|file| file.update(|state| state.off = true)) {
            Some(Err(error)) => self.say(Level::Error, &error.line()),
            Some(Ok(())) => {
                let text =
                    format!("nothing is refused any more; `sessdeck guard on {name}` undoes it");
                self.say(Level::Info, &text);
            }
            None => {}
        }
    }

    /// Brings the steps of the brake in line with the model that these rows of the transcript name: a person changes
    /// models, and often names none at the start.
    pub(super) fn steps_for(&mut self, id: SessionId, facts: &[Fact]) {
        let Some(session) = self.deck.session(id) else {
            return;
        };
        let mut calls = facts.iter().rev().filter_map(|fact| {
            if let Fact::Call {
                model,
                usage,
                sidechain: false,
                ..
            } = fact
            {
                Some((model, usage.context()))
            } else {
                None
            }
        });
        let Some((model, context)) = calls.next() else {
            return;
        };
        let seed = &session.seed;
        let window =
            self.settings
                .window(seed.model.as_deref(), Some(model.as_str()), Some(context));
        let steps = self.settings.brake.of(&seed.agent, window);
        if !seed.brake.steps().is_empty() && steps != seed.brake.steps() {
            self.deck(Event::Steps {
                session: id,
                steps,
                window,
            });
        }
    }

    pub(super) fn insiders_changed(&self) {
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
pub(super) fn foundling(id: SessionId, now: SystemTime) -> Session {
    let title = format!("found {id}");
    let seed = Seed {
        title: title.clone(),
        agent: "shell".to_owned(),
        ..Seed::default()
    };
    Session::new(id, title, seed, now)
}
