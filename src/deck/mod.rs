//! Decides, purely: sessions, topic, meter, inbox, launch. Events in, effects out.

pub(crate) mod brake;
mod event;
pub(crate) mod guard;
pub(crate) mod handoff;
mod id;
pub(crate) mod inbox;
pub(crate) mod launch;
pub(crate) mod meter;
mod naming;
pub(crate) mod profile;
mod session;
pub(crate) mod tally;
pub(crate) mod tool;
pub(crate) mod topic;

use std::collections::BTreeMap;
use std::time::SystemTime;

pub(crate) use event::{Call, Choice, Effect, Event, Status, What};
pub(crate) use id::{AskId, ClientId, SessionId};
pub(crate) use session::{Ask, Blocked, Note, Question, Seed, Session, Signal, State, Stuck};

/// All sessions of one user.
#[derive(Debug, Default)]
pub(crate) struct Deck {
    sessions: BTreeMap<SessionId, Session>,
    last_session: u64,
    last_ask: u64,
    last_block: u64,
}

impl Deck {
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    pub(crate) fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.get(&id)
    }

    /// Takes back a session that an earlier server knew.
    pub(crate) fn restore(&mut self, session: Session) {
        self.last_session = self.last_session.max(session.id.0);
        self.sessions.insert(session.id, session);
    }

    /// Ids up to this one are used up.
    pub(crate) fn begin_after(&mut self, last: u64) {
        self.last_session = self.last_session.max(last);
    }

    /// Takes one event, changes the sessions, says what the world must do.
    pub(crate) fn handle(&mut self, event: Event, now: SystemTime) -> Vec<Effect> {
        match event {
            Event::Ordered { seed } => self.order(*seed, now),
            Event::Started { session, pid } => self.change(session, |it| {
                it.pid = Some(pid);
                // A program that outlived its server is awake; how it stands, its next event says.
                if it.state == State::Asleep {
                    it.stand(State::Unknown, Signal::Process, now);
                }
                vec![Effect::Save { session }, Effect::Announce]
            }),
            Event::NotStarted { session } => {
                self.sessions.remove(&session);
                vec![Effect::Forget { session }, Effect::Announce]
            }
            Event::Exited { session, code } => self.change(session, |it| {
                it.pid = None;
                it.asks.clear();
                it.unsettled = None;
                it.stand(State::Ended { code }, Signal::Process, now);
                vec![Effect::Save { session }, Effect::Announce]
            }),
            Event::Hook { session, call } => self.hook(session, call, now),
            Event::Facts {
                session,
                facts,
                afresh,
            } => self.facts(session, facts, afresh),
            Event::Steps {
                session,
                steps,
                window,
            } => self.change(session, |it| {
                it.seed.window = window;
                it.seed.brake = brake::Brake::after(steps, &it.seed.brake.fired_lines());
                vec![Effect::Save { session }, Effect::Announce]
            }),
            Event::Status { session, status } => self.change(session, |it| {
                let mut effects = announce_if(status_says(it, status, now));
                if matches!(status, Status::Idle | Status::Done | Status::Failed) {
                    effects.extend(it.settle());
                }
                effects
            }),
            Event::Answered { ask, choice, by } => self.answer(ask, choice, by),
            Event::Settled { session, block } => self.change(session, |it| {
                let named = it.unsettled.as_ref().map(|unsettled| unsettled.block);
                if named == Some(block) {
                    it.settle()
                } else {
                    Vec::new()
                }
            }),
            Event::Renamed { session, title } => {
                let name = naming::unique(&title, self.names_but(session));
                self.change(session, |it| {
                    it.seed.title = title;
                    it.name = name;
                    vec![Effect::Save { session }, Effect::Announce]
                })
            }
            Event::Dismissed { session } => self.dismiss(session),
            Event::NoteWritten { repo, thread, note } => self.note(&repo, &thread, note),
        }
    }

    fn order(&mut self, seed: Seed, now: SystemTime) -> Vec<Effect> {
        let id = SessionId(self.last_session + 1);
        self.last_session = id.0;
        let name = naming::unique(&seed.title, self.names_but(id));
        self.sessions.insert(id, Session::new(id, name, seed, now));
        vec![Effect::Start { session: id }]
    }

    fn names_but(&self, id: SessionId) -> impl Fn(&str) -> bool {
        move |name| {
            self.sessions
                .values()
                .any(|it| it.id != id && it.name == name)
        }
    }

    fn change(
        &mut self,
        id: SessionId,
        with: impl FnOnce(&mut Session) -> Vec<Effect>,
    ) -> Vec<Effect> {
        self.sessions.get_mut(&id).map(with).unwrap_or_default()
    }

    fn hook(&mut self, id: SessionId, call: Call, now: SystemTime) -> Vec<Effect> {
        let ask = AskId(self.last_ask + 1);
        let Some(it) = self.sessions.get_mut(&id) else {
            return Vec::new();
        };
        // Of what its subagents do, this alone is the person's business.
        if let What::Stuck(stuck) = &call.what
            && !it.over()
            && it.conversation.is_some()
            && it.conversation == call.conversation
        {
            it.asks.push(Ask {
                id: ask,
                question: Question::Stuck(stuck.clone()),
            });
            self.last_ask = ask.0;
            return vec![Effect::Announce];
        }
        // A subagent, or a one-shot agent that inherited our environment, says nothing about this session.
        if it.over() || call.subagent || !bind(it, &call) {
            return Vec::new();
        }
        let mut effects = Vec::new();
        if let Some(transcript) = call
            .transcript
            .filter(|path| it.transcript.as_ref() != Some(path))
        {
            it.transcript = Some(transcript.clone());
            effects.push(Effect::Follow {
                session: id,
                transcript,
            });
            effects.push(Effect::Save { session: id });
        }
        let moot = |question: &Question| matches!(question, Question::Blocked(_));
        let changed = match call.what {
            What::ConversationStarted { .. } | What::TurnEnded => {
                it.stand(State::YourTurn, Signal::Hook, now)
            }
            What::Prompt => it.drop_asks(moot) | it.stand(State::Working, Signal::Hook, now),
            What::Tool => it.stand(State::Working, Signal::Hook, now),
            What::Permission => it.stand(State::NeedsYou, Signal::Hook, now),
            What::Blocked(blocked) => {
                self.last_block += 1;
                effects.extend(it.unsettle(self.last_block));
                it.drop_asks(moot);
                it.asks.push(Ask {
                    id: ask,
                    question: Question::Blocked(blocked),
                });
                self.last_ask = ask.0;
                true
            }
            What::Parked { line, prompt } => {
                self.last_block += 1;
                effects.extend(it.unsettle(self.last_block));
                effects.push(Effect::Say {
                    session: id,
                    text: format!("parked: {line}"),
                });
                effects.extend(it.once_settled(Effect::ClearBox {
                    session: id,
                    prompt,
                }));
                false
            }
            What::Stuck(_) | What::Other => false,
        };
        effects.extend(announce_if(changed || !effects.is_empty()));
        effects
    }

    fn facts(&mut self, id: SessionId, facts: Vec<meter::Fact>, afresh: bool) -> Vec<Effect> {
        let Some(it) = self.sessions.get_mut(&id) else {
            return Vec::new();
        };
        if afresh {
            it.meter = meter::Meter::default();
        }
        for fact in facts {
            it.meter.feed(fact);
        }
        if let Some(context_tokens) = it.meter.figures().context_tokens
            && let Some(step) = it.seed.brake.pull(context_tokens)
        {
            it.drop_asks(|question| matches!(question, Question::Step { .. }));
            self.last_ask += 1;
            let id = AskId(self.last_ask);
            it.asks.push(Ask {
                id,
                question: Question::Step {
                    step,
                    context_tokens,
                },
            });
            // A server that follows must not ask again.
            return vec![Effect::Save { session: it.id }, Effect::Announce];
        }
        vec![Effect::Announce]
    }

    fn answer(&mut self, ask: AskId, choice: Choice, by: ClientId) -> Vec<Effect> {
        let found = self.sessions.values_mut().find_map(|it| {
            let at = it.asks.iter().position(|other| other.id == ask)?;
            let question = it.asks.remove(at).question;
            Some((it, question))
        });
        // Answered already, by another window of the same person.
        let Some((it, question)) = found else {
            return Vec::new();
        };
        let session = it.id;
        let mut effects = Vec::new();
        match (question, choice) {
            (Question::Blocked(blocked), Choice::Open) => {
                effects.extend(it.once_settled(Effect::ClearBox {
                    session,
                    prompt: blocked.prompt.clone(),
                }));
                effects.push(Effect::Open {
                    task: blocked.prompt,
                    profile: Some(blocked.other),
                    from: session,
                    note: None,
                    by,
                });
            }
            (Question::Blocked(blocked), Choice::Park) => {
                effects.extend(it.once_settled(Effect::ClearBox {
                    session,
                    prompt: blocked.prompt.clone(),
                }));
                effects.push(Effect::Park {
                    session,
                    text: blocked.prompt,
                    profile: blocked.other,
                });
            }
            (Question::Blocked(blocked), Choice::Send) => {
                effects.extend(it.once_settled(Effect::SendAnyway {
                    session,
                    prompt: blocked.prompt,
                }));
            }
            (Question::Note(note), Choice::Open) => effects.push(Effect::Open {
                task: format!(
                    "Read the handoff note {} and go on from it.",
                    note.path.display()
                ),
                profile: it.seed.profile.clone(),
                from: session,
                note: Some(note.path),
                by,
            }),
            (
                Question::Step {
                    step: brake::Step::Stop,
                    ..
                },
                Choice::Send,
            ) => effects.push(Effect::TakeOffBrake { session }),
            (Question::Blocked(_), Choice::Cancel)
            | (Question::Note(_), Choice::Park | Choice::Send | Choice::Cancel)
            | (Question::Step { .. } | Question::Stuck(_), _) => {}
        }
        effects.push(Effect::Announce);
        effects
    }

    fn dismiss(&mut self, session: SessionId) -> Vec<Effect> {
        match self.sessions.get(&session) {
            None => Vec::new(),
            Some(it) if it.over() => {
                self.sessions.remove(&session);
                vec![Effect::Forget { session }, Effect::Announce]
            }
            Some(_) => vec![Effect::End { session }],
        }
    }

    fn note(&mut self, repo: &std::path::Path, thread: &str, note: Note) -> Vec<Effect> {
        let Some(it) = self.sessions.values_mut().find(|it| {
            it.seed.repo == repo && !it.over() && (it.name == thread || it.id.to_string() == thread)
        }) else {
            return Vec::new();
        };
        it.drop_asks(|question| matches!(question, Question::Note(old) if old.path == note.path));
        self.last_ask += 1;
        it.asks.push(Ask {
            id: AskId(self.last_ask),
            question: Question::Note(note),
        });
        vec![Effect::Announce]
    }
}

fn announce_if(changed: bool) -> Vec<Effect> {
    if changed {
        vec![Effect::Announce]
    } else {
        Vec::new()
    }
}

/// Whether the call speaks of this session; binds the session to its conversation.
fn bind(session: &mut Session, call: &Call) -> bool {
    let Some(named) = call.conversation.as_ref().filter(|id| !id.is_empty()) else {
        return false;
    };
    let moves = match &call.what {
        // `/clear` and a resume inside the client go on under another id, in the same program.
        What::ConversationStarted { source } => source != "startup",
        What::Prompt
        | What::Blocked(_)
        | What::Parked { .. }
        | What::Tool
        | What::Permission
        | What::TurnEnded
        | What::Stuck(_)
        | What::Other => false,
    };
    match &session.conversation {
        Some(bound) if bound == named => true,
        Some(_) if !moves => false,
        Some(_) | None => {
            session.conversation = Some(named.clone());
            session.meter = meter::Meter::default();
            true
        }
    }
}

/// What an escape sequence says about the state; true if that changed it.
fn status_says(session: &mut Session, status: Status, now: SystemTime) -> bool {
    if session.over() {
        return false;
    }
    let state = match status {
        Status::Idle | Status::Done | Status::Failed => State::YourTurn,
        Status::Working => State::Working,
        Status::Blocked => State::NeedsYou,
        Status::Cleared => State::Unknown,
        // The bar goes on while a permission dialog is open, and it clears on Esc, which no hook tells.
        Status::Progress { busy: false } if session.state == State::Working => State::YourTurn,
        Status::Progress { busy: true } if session.state != State::NeedsYou => State::Working,
        Status::Progress { .. } => return false,
    };
    let signal = match status {
        Status::Progress { .. } => Signal::Progress,
        Status::Idle
        | Status::Working
        | Status::Blocked
        | Status::Done
        | Status::Failed
        | Status::Cleared => Signal::ProgramStatus,
    };
    session.stand(state, signal, now)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    const S: SessionId = SessionId(1);

    fn deck() -> Deck {
        let mut deck = Deck::default();
        let seed = Seed {
            conversation: Some("c".into()),
            ..Seed::default()
        };
        tell(
            &mut deck,
            Event::Ordered {
                seed: Box::new(seed),
            },
        );
        deck
    }

    /// What must be done, but for what only concerns screens and disk.
    fn tell(deck: &mut Deck, event: Event) -> Vec<Effect> {
        let mut effects = deck.handle(event, UNIX_EPOCH);
        effects.retain(|effect| !matches!(effect, Effect::Announce | Effect::Save { .. }));
        effects
    }

    fn hook(deck: &mut Deck, what: What) -> Vec<Effect> {
        let call = Call {
            conversation: Some("c".into()),
            transcript: None,
            subagent: false,
            what,
        };
        tell(deck, Event::Hook { session: S, call })
    }

    fn block(deck: &mut Deck) -> Vec<Effect> {
        let blocked = Blocked {
            prompt: "p".into(),
            current: "bugfix".into(),
            other: "docs".into(),
            matched: Vec::new(),
            command: String::new(),
        };
        hook(deck, What::Blocked(blocked))
    }

    fn answer(deck: &mut Deck, choice: Choice) -> Vec<Effect> {
        let ask = deck.session(S).unwrap().asks[0].id;
        let by = ClientId(1);
        tell(deck, Event::Answered { ask, choice, by })
    }

    fn says(deck: &mut Deck, status: Status) -> Vec<Effect> {
        tell(deck, Event::Status { session: S, status })
    }

    fn send() -> Effect {
        Effect::SendAnyway {
            session: S,
            prompt: "p".into(),
        }
    }

    fn clear() -> Effect {
        Effect::ClearBox {
            session: S,
            prompt: "p".into(),
        }
    }

    /// The hook tells of the block before it ends, and only then the client fills its box again.
    #[test]
    fn nothing_is_typed_at_a_client_before_it_is_done_with_a_block() {
        let mut deck = deck();
        let settle = |block| Effect::Settle { session: S, block };
        assert_eq!(block(&mut deck), [settle(1)]);
        assert_eq!(answer(&mut deck, Choice::Send), []);
        assert_eq!(says(&mut deck, Status::Working), []);
        assert_eq!(says(&mut deck, Status::Done), [send()]);
        assert_eq!(
            tell(
                &mut deck,
                Event::Settled {
                    session: S,
                    block: 1
                }
            ),
            []
        );

        // It was done before the answer.
        block(&mut deck);
        assert_eq!(says(&mut deck, Status::Idle), []);
        assert_eq!(answer(&mut deck, Choice::Send), [send()]);

        // It says nothing of its state. The time of an earlier block is not this one's.
        assert_eq!(block(&mut deck), [settle(3)]);
        assert_eq!(answer(&mut deck, Choice::Send), []);
        assert_eq!(
            tell(
                &mut deck,
                Event::Settled {
                    session: S,
                    block: 2
                }
            ),
            []
        );
        let settled = Event::Settled {
            session: S,
            block: 3,
        };
        assert_eq!(tell(&mut deck, settled), [send()]);

        let parked = What::Parked {
            line: "l".into(),
            prompt: "p".into(),
        };
        let effects = hook(&mut deck, parked);
        assert!(!effects.contains(&clear()), "{effects:?}");
        assert_eq!(says(&mut deck, Status::Done), [clear()]);
    }

    #[test]
    fn a_stuck_subagent_is_asked_about_and_changes_nothing_else() {
        let stuck = Stuck {
            agent: "a1".into(),
            context_tokens: 210_000,
            note: "/repo/docs/handoffs/agents/c-a1.md".into(),
        };
        for (conversation, asks) in [(Some("c"), 1), (Some("another"), 0), (None, 0)] {
            let mut deck = deck();
            let call = Call {
                conversation: conversation.map(str::to_owned),
                // Codex names the subagent's own here.
                transcript: Some("/agents/a1.jsonl".into()),
                subagent: true,
                what: What::Stuck(stuck.clone()),
            };
            let before = deck.session(S).unwrap().state;
            let effects = tell(&mut deck, Event::Hook { session: S, call });
            assert_eq!(effects, [], "{conversation:?}");
            let session = deck.session(S).unwrap();
            assert_eq!(session.asks.len(), asks, "{conversation:?}");
            assert_eq!((session.state, &session.transcript), (before, &None));
            if asks == 1 {
                assert_eq!(session.asks[0].question, Question::Stuck(stuck.clone()));
                assert_eq!(answer(&mut deck, Choice::Cancel), []);
                assert!(deck.session(S).unwrap().asks.is_empty());
            }
        }
    }

    #[test]
    fn a_person_lets_a_session_work_on_past_its_stop_alone() {
        for (step, choice, expected) in [
            (
                brake::Step::Stop,
                Choice::Send,
                vec![Effect::TakeOffBrake { session: S }],
            ),
            (brake::Step::Stop, Choice::Cancel, vec![]),
            (brake::Step::Hard, Choice::Send, vec![]),
        ] {
            let mut deck = deck();
            let steps = Event::Steps {
                session: S,
                steps: vec![(step, 100)],
                window: Some(1_000),
            };
            tell(&mut deck, steps);
            let facts = vec![meter::Fact::Call {
                key: None,
                model: "opus".into(),
                usage: meter::Usage {
                    input: 200,
                    output: 0,
                },
                sidechain: false,
            }];
            tell(
                &mut deck,
                Event::Facts {
                    session: S,
                    facts,
                    afresh: false,
                },
            );
            let session = deck.session(S).unwrap();
            assert_eq!(session.window(), Some(1_000));
            let ask = session.asks[0].id;
            let by = ClientId(1);
            let effects = tell(&mut deck, Event::Answered { ask, choice, by });
            assert_eq!(effects, expected, "{step:?} {choice:?}");
        }
    }
}
