//! The conversation's course: what was typed, what hooks said and that time has passed goes in, what the world must
//! do comes out. A turn is a list of steps that run one after another until one has to wait.

mod said;
mod steps;
mod typed;

use std::collections::VecDeque;
use std::time::Duration;

use super::answer::{Context, Failure, Outcome};
use super::event::Hook;
use super::row::Row;
use super::screen::Line;
use super::script::{self, Tool};
use super::tokens::{self, Tokens, Usage};
use steps::{COMPACTING, Step};

/// What happened.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// The screen is up. The task of the command line is the first prompt.
    Opened {
        resumed: bool,
        task: Option<String>,
    },
    /// Enter.
    Submitted(String),
    /// Esc.
    Interrupted,
    /// The permission question was answered.
    Answered(bool),
    HookDone {
        call: u64,
        outcome: Outcome,
    },
    /// A time that was asked for is over.
    Woken(u64),
    /// The person leaves, or a signal ends us.
    Quit(&'static str),
}

/// What must be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    /// Run the event's hooks, then say `HookDone` with this call.
    Hook {
        call: u64,
        /// The prompt it belongs to, counted from 1; 0 before the first.
        prompt: u32,
        hook: Hook,
    },
    /// Say `Woken` with this ticket.
    Wake {
        ticket: u64,
        after: Duration,
    },
    Record(Row),
    Show(Line),
    Status(Status),
    /// Put the text back into the box, before what stands there.
    Refill(String),
    /// A new id, a new file, an empty screen.
    NewConversation,
    Leave,
}

/// The state as the terminal is told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Idle,
    Working,
    Blocked(String),
    Done,
    Error(String),
}

/// What must come before the next step.
#[derive(Clone, Debug, PartialEq)]
enum Wait {
    Nothing,
    Hook(u64, Hook),
    Time(u64),
    Person(Tool),
}

/// A prompt that may go on.
#[derive(Clone, Debug, PartialEq)]
struct Typed {
    prompt: u32,
    text: String,
    context: Vec<Context>,
    failures: Vec<Failure>,
}

/// The turn that runs.
#[derive(Clone, Debug)]
struct Turn {
    /// What hooks told the model in it.
    heard: Vec<String>,
    last_reply: String,
    /// Planned work so far: the turn's length as the transcript states it.
    worked: Duration,
    stops_blocked: u32,
}

/// What the conversation is like as it begins.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    pub(super) model: String,
    pub(super) window: u64,
    pub(super) hint: Option<String>,
    /// Factor on the time that work takes; 0 for at once.
    pub(super) pace: f64,
    /// Prompts and usage of an earlier run.
    pub(super) prompts: u32,
    pub(super) usage: Option<Usage>,
}

/// The whole conversation.
#[derive(Debug)]
pub(super) struct Chat {
    opening: Opening,
    tokens: Tokens,
    plan: VecDeque<Step>,
    wait: Wait,
    turn: Option<Turn>,
    /// The newest call or ticket.
    newest: u64,
    /// The newest prompt.
    prompt: u32,
    /// Typed during a turn: hooks still look at these, by call.
    checked: Vec<(u64, Typed)>,
    /// Typed during a turn and let through.
    ahead: VecDeque<Typed>,
    /// Commands typed during a turn.
    later: VecDeque<String>,
    /// What hooks said before the next prompt (at a start).
    heard_before: Vec<String>,
    hint_told: bool,
    /// Wakes us when the person has not come back for a minute.
    idle_ticket: u64,
    /// Wakes us when a question has waited for some seconds.
    asked_ticket: u64,
}

impl Chat {
    pub(super) fn new(opening: Opening) -> Self {
        let tokens = match opening.usage {
            Some(usage) => Tokens::resumed(opening.window, usage),
            None => Tokens::new(opening.window),
        };
        Self {
            tokens,
            plan: VecDeque::new(),
            wait: Wait::Nothing,
            turn: None,
            newest: 0,
            prompt: opening.prompts,
            checked: Vec::new(),
            ahead: VecDeque::new(),
            later: VecDeque::new(),
            heard_before: Vec::new(),
            hint_told: false,
            idle_ticket: 0,
            asked_ticket: 0,
            opening,
        }
    }

    pub(super) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Whether something is under way that a spinner should show.
    pub(super) fn working(&self) -> bool {
        !self.idle() && self.question().is_none()
    }

    /// The call that waits for the person's yes or no.
    pub(super) fn question(&self) -> Option<&Tool> {
        match &self.wait {
            Wait::Person(tool) => Some(tool),
            Wait::Nothing | Wait::Hook(..) | Wait::Time(_) => None,
        }
    }

    /// What was typed ahead, in order.
    pub(super) fn queued(&self) -> Vec<&str> {
        let typed = self.checked.iter().map(|(_, typed)| typed);
        self.ahead
            .iter()
            .chain(typed)
            .map(|typed| typed.text.as_str())
            .chain(self.later.iter().map(String::as_str))
            .collect()
    }

    pub(super) fn handle(&mut self, event: Event) -> Vec<Effect> {
        let mut out = Vec::new();
        match event {
            Event::Opened { resumed, task } => self.open(resumed, task),
            Event::Submitted(text) if self.idle() => self.submit(text),
            Event::Submitted(text) => self.type_ahead(text, &mut out),
            Event::Interrupted => self.interrupt(&mut out),
            Event::Answered(yes) => self.answered(yes),
            Event::HookDone { call, outcome } => self.hook_done(call, outcome, &mut out),
            Event::Woken(ticket) => self.woken(ticket, &mut out),
            Event::Quit(reason) => self.quit(reason),
        }
        self.advance(&mut out);
        out
    }

    fn idle(&self) -> bool {
        self.wait == Wait::Nothing && self.plan.is_empty()
    }

    fn number(&mut self) -> u64 {
        self.newest += 1;
        self.newest
    }

    fn woken(&mut self, ticket: u64, out: &mut Vec<Effect>) {
        if self.wait == Wait::Time(ticket) {
            self.wait = Wait::Nothing;
        } else if ticket == self.asked_ticket {
            self.tell(
                Hook::Notification {
                    kind: "permission_prompt",
                    message: "Claude needs your permission",
                },
                out,
            );
        } else if ticket == self.idle_ticket && self.idle() {
            self.tell(
                Hook::Notification {
                    kind: "idle_prompt",
                    message: "Claude is waiting for your input",
                },
                out,
            );
        }
    }

    /// Puts steps before all others, in their order.
    fn first<const N: usize>(&mut self, steps: [Step; N]) {
        for step in steps.into_iter().rev() {
            self.plan.push_front(step);
        }
    }

    fn tell(&mut self, hook: Hook, out: &mut Vec<Effect>) {
        let call = self.number();
        out.push(Effect::Hook {
            call,
            prompt: self.prompt,
            hook,
        });
    }

    /// Takes steps until one waits or none is left; then begins what was typed meanwhile.
    fn advance(&mut self, out: &mut Vec<Effect>) {
        loop {
            while self.wait == Wait::Nothing
                && let Some(step) = self.plan.pop_front()
            {
                self.take(step, out);
            }
            if self.wait != Wait::Nothing {
                return;
            }
            if !self.ahead.is_empty() {
                self.begin_turn(out);
            } else if self.checked.is_empty()
                && let Some(command) = self.later.pop_front()
            {
                self.submit(command);
            } else {
                return;
            }
        }
    }

    /// Begins a turn with everything that was typed.
    fn begin_turn(&mut self, out: &mut Vec<Effect>) {
        let script = script::plan_all(self.ahead.iter().map(|typed| typed.text.as_str()));
        if self.tokens.bursts(script.growth) {
            self.plan.extend([
                Step::Hook(Hook::PreCompact {
                    trigger: "auto",
                    instructions: None,
                }),
                Step::Work(COMPACTING),
                Step::Compact("auto"),
            ]);
        }
        out.push(Effect::Status(Status::Working));
        self.turn = Some(Turn {
            heard: std::mem::take(&mut self.heard_before),
            last_reply: String::new(),
            worked: Duration::ZERO,
            stops_blocked: 0,
        });
        self.plan.extend(self.ahead.drain(..).map(Step::Prompt));
        self.plan.push_back(Step::Answer(script));
    }
}

/// The window and full name of the model that the command line asks for.
pub(super) fn model(asked: Option<&str>) -> (String, u64) {
    let asked = asked.unwrap_or("claude-sonnet-4-5");
    (tokens::full_name(asked), tokens::window(asked))
}

/// The question of the permission dialog.
pub(super) fn question(tool: &Tool) -> String {
    format!("Run {}?", tool.line())
}

#[cfg(test)]
mod tests;
