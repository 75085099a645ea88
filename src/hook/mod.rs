//! `sessdeck hook AGENT`: an event of an agent on stdin, an answer as that agent reads it on stdout.
//!
//! It decides alone, from files, and tells the server without waiting. Any doubt of ours is silence and exit 0.

mod brake;
mod guard;
mod log;
mod start;
pub(crate) mod tell;
mod topic;

use std::cell::{OnceCell, RefCell};
use std::io::{Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::agents::{self, Dialect, Event, HookCall, TurnEnd};
use crate::config::dirs::Dirs;
use crate::config::load::{self, Here, Inside};
use crate::deck::brake::Step;
use crate::error::{Error, Result};
use crate::files::hook_state::HookFile;
use crate::protocol::hook::{self, HookEvent, HookReport, Tell};

use topic::Judged;

/// Larger events than this are let through unread; the largest honest one holds a prompt of some MB.
const LARGEST: u64 = 32 << 20;
/// The client goes on without us after five seconds; one that leaves stdin open, and a disk that hangs, are left sooner.
const PATIENCE: Duration = Duration::from_secs(3);
/// For saying in the log that it was so.
const LAST_WORD: Duration = Duration::from_millis(300);

/// What the hook is called with where it stands in the client's own settings.
pub(crate) const INSTALLED: &str = "--installed";

/// Runs the hook of that agent. Never fails, and ends in time whatever hangs. One that is `installed` in the client's own
/// settings leaves a session that brings its own hook to that one: both would run.
pub(crate) fn run(agent: &str, installed: bool) {
    let began = ticks();
    if installed && load::inside().hooks {
        return;
    }
    // What a fault of ours would print, the client would show or take for an answer.
    panic::set_hook(Box::new(|_| {}));
    let name = agent.to_owned();
    let ran = in_time(PATIENCE, move || answer(&name, began));
    let fault = match ran {
        Some(true) => return,
        Some(false) => "the hook broke off",
        None => "the hook took too long",
    };
    let name = agent.to_owned();
    in_time(LAST_WORD, move || log::fault(&name, began, fault));
}

/// Does something on a thread of its own and waits for it that long: true if it ended well, false if it broke off, none if
/// it has not ended. What hangs ends with the process.
fn in_time<T>(patience: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<bool> {
    let (done, ended) = mpsc::channel();
    let run = move || {
        let ran = panic::catch_unwind(AssertUnwindSafe(work));
        // Nobody may wait any more.
        let _ = done.send(ran.is_ok());
    };
    thread::Builder::new().spawn(run).ok()?;
    ended.recv_timeout(patience).ok()
}

fn answer(agent: &str, began: Instant) -> Option<()> {
    let mut stdin = Vec::new();
    std::io::stdin()
        .lock()
        .take(LARGEST)
        .read_to_end(&mut stdin)
        .ok()?;
    let dialect = agents::named(agent)?;
    let call = dialect.hook(&stdin)?;
    drop(stdin);
    let dirs = load::dirs().ok()?;
    let inside = load::inside();
    let hook = Hook {
        agent,
        dialect,
        call: &call,
        dirs: &dirs,
        inside: &inside,
        now: now(),
        here: OnceCell::new(),
        fault: RefCell::new(None),
    };
    let Outcome {
        answer,
        event,
        record,
    } = hook.decide();
    let answer = match &answer {
        Answer::Nothing => None,
        Answer::Block(reason) => Some(agents::answer_block(reason)),
        Answer::Context(text) => Some(agents::answer_context(&call.name, text)),
    };
    if let Some(answer) = answer {
        let mut out = std::io::stdout().lock();
        // A client that has closed its end has let it through; that is its business.
        drop(writeln!(out, "{answer}").and_then(|()| out.flush()));
    }
    hook.log(record, began);
    hook.tell(event);
    Some(())
}

/// One run: what the client says, and what it is judged by.
struct Hook<'a> {
    agent: &'a str,
    dialect: &'static dyn Dialect,
    call: &'a HookCall,
    dirs: &'a Dirs,
    inside: &'a Inside,
    now: SystemTime,
    /// Read where it is needed, once.
    here: OnceCell<(Here, Option<Error>)>,
    /// What could not be written, for the log.
    fault: RefCell<Option<Error>>,
}

/// What the client is answered.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Nothing,
    /// The prompt or the tool is refused.
    Block(String),
    /// The model gets this to know.
    Context(String),
}

impl Answer {
    /// The texts as one, if there are any.
    fn context(texts: impl IntoIterator<Item = String>) -> Self {
        let texts: Vec<String> = texts.into_iter().collect();
        if texts.is_empty() {
            Self::Nothing
        } else {
            Self::Context(texts.join("\n\n"))
        }
    }
}

/// What came of a run.
#[derive(Debug)]
struct Outcome {
    answer: Answer,
    /// What the server is told.
    event: HookEvent,
    record: Record,
}

/// What the log keeps of a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Record {
    /// Empty where nothing was to be decided.
    verdict: &'static str,
    /// The profile that a prompt belongs to.
    profile: Option<String>,
    /// The words that decided.
    matched: Vec<String>,
    context_tokens: Option<u64>,
    /// The step of the brake that was told.
    step: Option<Step>,
    /// So many subagents that were stopped the parent was told of.
    news: usize,
}

impl Record {
    fn of(verdict: &'static str) -> Self {
        Self {
            verdict,
            ..Self::default()
        }
    }
}

impl Hook<'_> {
    fn decide(&self) -> Outcome {
        // A tool that failed is told by an event that takes no answer.
        let takes_answer = self.call.name != "PostToolUseFailure";
        let mut told = None;
        let (answer, record) = match (&self.call.event, self.call.subagent.is_some()) {
            (Event::Prompt { text }, false) => return self.prompt(text),
            (Event::Started { source }, false) => self.started(source),
            (Event::ToolStarts { does, .. }, false) => self.may_run(does),
            (Event::ToolEnded { .. }, false) if takes_answer => self.after_tool(),
            (Event::SubagentStarted, true) => self.agent_started(),
            (Event::ToolStarts { does, .. }, true) => {
                let (answer, record, event) = self.agent_may_run(does);
                told = event;
                (answer, record)
            }
            (Event::ToolEnded { .. }, true) if takes_answer => self.agent_after_tool(),
            (Event::SubagentEnded, true) => self.agent_ended(),
            _ => (Answer::Nothing, Record::default()),
        };
        Outcome {
            answer,
            event: told.unwrap_or_else(|| self.event()),
            record,
        }
    }

    /// A prompt on its way to the model, typed or not.
    fn prompt(&self, text: &str) -> Outcome {
        let (record, instruction) = match self.judge(text) {
            // The model is not asked, so what the brake has to say to it waits for the next event.
            Judged::Held(outcome) => return outcome,
            Judged::With(instruction) => (Record::of("park"), Some(instruction)),
            Judged::Through(record) => (record, None),
        };
        let told = self.step();
        let news = self.news();
        let record = Record {
            context_tokens: told.as_ref().map(|told| told.context_tokens),
            step: told.as_ref().map(|told| told.step),
            news: news.len(),
            ..record
        };
        let texts = instruction
            .into_iter()
            .chain(told.map(|told| told.text))
            .chain(news);
        Outcome {
            answer: Answer::context(texts),
            event: HookEvent::Prompt,
            record,
        }
    }

    fn after_tool(&self) -> (Answer, Record) {
        let told = self.step();
        let news = self.news();
        let record = Record {
            verdict: match &told {
                Some(_) => "step",
                None if news.is_empty() => "",
                None => "told",
            },
            context_tokens: told.as_ref().map(|told| told.context_tokens),
            step: told.as_ref().map(|told| told.step),
            news: news.len(),
            ..Record::default()
        };
        let texts = told.map(|told| told.text).into_iter().chain(news);
        (Answer::context(texts), record)
    }

    /// Settings and profiles where the client works. Where a file of them cannot be read, the rest holds.
    fn here(&self) -> &Here {
        let dir = self.call.dir.as_deref().unwrap_or(Path::new("."));
        let read = || load::here_in_any_case(self.dirs, dir);
        &self.here.get_or_init(read).0
    }

    /// What there is of it; none where it could not be written, which the log says.
    fn written<T>(&self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.fault.replace(Some(error));
                None
            }
        }
    }

    /// What this conversation's hooks remember; none for an event of no conversation.
    fn file(&self) -> Option<HookFile> {
        let conversation = self.call.conversation.as_deref()?;
        HookFile::new(&self.dirs.state, self.agent, conversation)
    }

    /// Tells the server, which may be gone.
    fn tell(&self, event: HookEvent) {
        let (Some(session), Some(socket)) = (self.inside.session, &self.inside.socket) else {
            return;
        };
        let report = HookReport {
            session,
            agent: self.agent.to_owned(),
            event,
            conversation: self.call.conversation.clone(),
            transcript: self.call.transcript.clone(),
            subagent: self.call.subagent.clone(),
        };
        let patience = || Duration::from_millis(self.here().settings.hook.patience_ms);
        drop(tell::tell(socket, &Tell::Hook(report), patience));
    }

    /// What happened, as the server is told.
    fn event(&self) -> HookEvent {
        match &self.call.event {
            Event::Prompt { .. } => HookEvent::Prompt,
            Event::Started { source } => HookEvent::Started {
                source: source.clone(),
            },
            Event::ToolStarts { tool, .. } => HookEvent::ToolStarts { tool: tool.clone() },
            Event::ToolEnded { tool } => HookEvent::ToolEnded { tool: tool.clone() },
            Event::Permission { question } => HookEvent::Permission {
                question: question.clone(),
            },
            Event::Waiting { message } => HookEvent::Waiting {
                message: message.clone(),
            },
            Event::TurnEnded { why } => HookEvent::TurnEnded {
                why: match why {
                    TurnEnd::Done => hook::TurnEnd::Done,
                    TurnEnd::Error => hook::TurnEnd::Error,
                    TurnEnd::Interrupted => hook::TurnEnd::Interrupted,
                },
            },
            Event::Ended { reason } => HookEvent::Ended {
                reason: reason.clone(),
            },
            Event::SubagentStarted | Event::SubagentEnded | Event::Other => HookEvent::Other {
                name: self.call.name.clone(),
            },
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a command is an edge: it reads the time once and hands it on"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a command is an edge: how long it took is measured here"
)]
fn ticks() -> Instant {
    Instant::now()
}

/// Today in the person's time zone, as it stands on an inbox line.
fn today() -> String {
    jiff::Zoned::now().date().to_string()
}
