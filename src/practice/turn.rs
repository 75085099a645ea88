//! The conversation's course: what was typed, what hooks said and that time has passed goes in, what the world must
//! do comes out. A turn is a list of steps that run one after another until one has to wait.

use std::collections::VecDeque;
use std::time::Duration;

use super::answer::{Block, Context, Failure, Outcome, Permission};
use super::event::Hook;
use super::row::{Content, Row};
use super::screen::Line;
use super::script::{self, Script, Tool};
use super::tokens::{self, Tokens, Usage};

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

#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// Runs hooks and waits for what they say.
    Hook(Hook),
    /// Runs hooks and goes on.
    Tell(Hook),
    Work(Duration),
    Show(Line),
    Record(Row),
    Status(Status),
    /// A prompt that its hooks let through, with what they added.
    Prompt(Typed),
    /// Begins to answer the prompt recorded last.
    Answer(Script),
    /// What comes after the tool call that hooks look at.
    Rest(Script),
    /// Asks the person, and waits.
    Ask(Tool),
    Run(Tool),
    Reply(Script),
    /// The service answers with an error.
    Fail,
    /// An answer of the model, whose figures are known only now.
    Message {
        blocks: Vec<Content>,
        growth: u64,
        stop: &'static str,
    },
    /// Prompts that were typed during the turn are answered in it.
    TypedAhead,
    /// The turn's last words, once its hooks let it end.
    Finish,
    Compact(&'static str),
    NewConversation,
    Submit(String),
    Leave,
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

const THINKING: Duration = Duration::from_millis(450);
const TOOL: Duration = Duration::from_millis(200);
const SENTENCE: Duration = Duration::from_millis(120);
const COMPACTING: Duration = Duration::from_millis(600);
/// The real client says that it waits for permission after so long.
const ASKED: Duration = Duration::from_secs(6);
/// The real client says that it waits for a prompt after so long.
const IDLE: Duration = Duration::from_secs(60);
/// A hook that never lets a turn end is given up on.
const MOST_BLOCKED_STOPS: u32 = 8;

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

    fn open(&mut self, resumed: bool, task: Option<String>) {
        let (source, model) = if resumed {
            ("resume", None)
        } else {
            ("startup", Some(self.opening.model.clone()))
        };
        self.plan.extend([
            Step::Status(Status::Idle),
            Step::Hook(Hook::SessionStart { source, model }),
        ]);
        self.plan.extend(task.map(Step::Submit));
    }

    /// Takes a prompt or a command while nothing is under way.
    fn submit(&mut self, text: String) {
        self.idle_ticket = 0;
        let (command, args) = match text.split_once(char::is_whitespace) {
            Some((command, args)) => (command, args.trim()),
            None => (text.as_str(), ""),
        };
        let notice = |text: &str| Step::Show(Line::Notice(text.to_owned()));
        match command {
            "/exit" | "/quit" => self.quit("prompt_input_exit"),
            "/clear" => self.plan.extend([
                Step::Hook(Hook::SessionEnd { reason: "clear" }),
                Step::NewConversation,
                Step::Hook(Hook::SessionStart {
                    source: "clear",
                    model: None,
                }),
                Step::Status(Status::Idle),
            ]),
            "/compact" if self.tokens.context() == 0 => {
                self.plan.push_back(notice("Nothing to compact yet."));
            }
            "/compact" => {
                let instructions = Some(args.to_owned());
                self.plan.extend([
                    Step::Status(Status::Working),
                    Step::Hook(Hook::PreCompact {
                        trigger: "manual",
                        instructions,
                    }),
                    Step::Work(COMPACTING),
                    Step::Compact("manual"),
                    Step::Record(Row::LocalCommand {
                        name: "/compact".into(),
                        args: args.to_owned(),
                        output: "Compacted".into(),
                    }),
                    Step::Status(Status::Done),
                ]);
            }
            "/help" => self.plan.extend(
                script::GREETING
                    .iter()
                    .map(|line| Step::Show(Line::Notice((*line).to_owned()))),
            ),
            _ if is_command(command) => {
                let unknown = format!("Unknown command: {command}. Try /help.");
                self.plan.push_back(notice(&unknown));
            }
            _ if command.starts_with('!') => {
                self.plan.push_back(notice(
                    "A `!` at the start is the shell mode of the real client; here nothing is run.",
                ));
            }
            _ => {
                self.prompt += 1;
                self.plan.extend([
                    Step::Status(Status::Working),
                    Step::Hook(Hook::UserPromptSubmit { prompt: text }),
                ]);
            }
        }
    }

    /// A prompt typed during a turn is shown to its hooks at once; a command waits.
    fn type_ahead(&mut self, text: String, out: &mut Vec<Effect>) {
        if text.split_whitespace().next().is_some_and(is_command) || text.starts_with('!') {
            self.later.push_back(text);
            return;
        }
        self.prompt += 1;
        let call = self.number();
        out.push(Effect::Hook {
            call,
            prompt: self.prompt,
            hook: Hook::UserPromptSubmit {
                prompt: text.clone(),
            },
        });
        let typed = Typed {
            prompt: self.prompt,
            text,
            context: Vec::new(),
            failures: Vec::new(),
        };
        self.checked.push((call, typed));
    }

    fn interrupt(&mut self, out: &mut Vec<Effect>) {
        if self.question().is_some() {
            self.answered(false);
            return;
        }
        if let Wait::Hook(_, Hook::UserPromptSubmit { prompt }) = &self.wait {
            out.push(Effect::Refill(prompt.clone()));
            out.push(Effect::Status(Status::Idle));
            self.wait = Wait::Nothing;
            self.plan.clear();
        }
        if self.turn.take().is_none() {
            return;
        }
        self.wait = Wait::Nothing;
        self.plan.clear();
        out.extend([
            Effect::Record(Row::Interrupted {
                text: "[Request interrupted by user]",
            }),
            Effect::Show(Line::Notice(
                "Interrupted. What should be done instead?".into(),
            )),
            Effect::Status(Status::Idle),
        ]);
        for typed in self.ahead.drain(..).rev() {
            out.push(Effect::Refill(typed.text));
        }
    }

    fn answered(&mut self, yes: bool) {
        let Wait::Person(tool) = std::mem::replace(&mut self.wait, Wait::Nothing) else {
            return;
        };
        self.asked_ticket = 0;
        if yes {
            self.plan.push_front(Step::Run(tool));
            self.plan.push_front(Step::Status(Status::Working));
            return;
        }
        // A no ends the turn as an interruption does: no Stop hook.
        self.turn = None;
        self.plan = VecDeque::from([
            self.calls(&tool),
            Step::Record(Row::ToolResult {
                tool,
                refused: Some("The person did not allow this tool to run.".into()),
            }),
            Step::Record(Row::Interrupted {
                text: "[Request interrupted by user for tool use]",
            }),
            Step::Show(Line::Notice(
                "Not allowed. What should be done instead?".into(),
            )),
            Step::Status(Status::Idle),
        ]);
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

    fn quit(&mut self, reason: &'static str) {
        if matches!(&self.wait, Wait::Hook(_, Hook::SessionEnd { reason }) if *reason != "clear") {
            return;
        }
        self.turn = None;
        self.wait = Wait::Nothing;
        self.checked.clear();
        self.ahead.clear();
        self.later.clear();
        self.plan = VecDeque::from([Step::Hook(Hook::SessionEnd { reason }), Step::Leave]);
    }

    fn hook_done(&mut self, call: u64, outcome: Outcome, out: &mut Vec<Effect>) {
        if let Some(at) = self.checked.iter().position(|(of, _)| *of == call) {
            let (_, mut typed) = self.checked.remove(at);
            remarks("UserPromptSubmit", &outcome, out);
            if let Some(block) = outcome.block {
                blocked(&block, &typed.text, out);
            } else {
                typed.context = outcome.context;
                typed.failures = outcome.failures;
                self.ahead.push_back(typed);
            }
            return;
        }
        let hook = match &self.wait {
            Wait::Hook(of, hook) if *of == call => hook.clone(),
            _ => return,
        };
        self.wait = Wait::Nothing;
        remarks(hook.name(), &outcome, out);
        self.judge(hook, outcome, out);
    }

    /// Goes on as the hooks of an event have said.
    fn judge(&mut self, hook: Hook, outcome: Outcome, out: &mut Vec<Effect>) {
        let said = outcome.context.iter().map(|context| context.text.clone());
        match hook {
            Hook::SessionStart { .. } => self.heard_before.extend(said),
            Hook::UserPromptSubmit { prompt } => {
                if let Some(block) = outcome.block {
                    blocked(&block, &prompt, out);
                    out.push(Effect::Status(Status::Idle));
                } else if let Some(reason) = outcome.stop {
                    self.plan.extend([
                        Step::Record(Row::Prompt {
                            prompt: self.prompt,
                            text: prompt.clone(),
                        }),
                        Step::Show(Line::Prompt(prompt)),
                        Step::Show(Line::Notice(format!("Operation stopped by hook: {reason}"))),
                        Step::Status(Status::Idle),
                    ]);
                } else {
                    self.ahead.push_front(Typed {
                        prompt: self.prompt,
                        text: prompt,
                        context: outcome.context,
                        failures: outcome.failures,
                    });
                }
            }
            Hook::PreToolUse(tool) => {
                self.hear(said);
                let Some(Step::Rest(script)) = self.plan.pop_front() else {
                    return;
                };
                self.gate(tool, script, outcome.block, outcome.permission);
            }
            Hook::PostToolUse(_) => {
                self.hear(said);
                self.hear(outcome.block.into_iter().map(|block| block.reason));
            }
            Hook::Stop { .. } => {
                let goes_on = outcome.block.map(|block| block.reason);
                let goes_on = goes_on.or_else(|| said.into_iter().next());
                if let (Some(reason), Some(turn)) = (goes_on, &mut self.turn)
                    && turn.stops_blocked < MOST_BLOCKED_STOPS
                {
                    turn.stops_blocked += 1;
                    out.push(Effect::Record(Row::StopFeedback {
                        text: reason.clone(),
                    }));
                    let reply = Step::Reply(Script {
                        growth: 300,
                        reply: vec![format!("A hook asked me to go on: {reason}")],
                        ..script::plan("")
                    });
                    self.first([Step::Work(THINKING), reply]);
                }
            }
            Hook::PreCompact { .. } => {
                if let Some(block) = outcome.block {
                    for step in std::mem::take(&mut self.plan) {
                        if let Step::Prompt(typed) = step {
                            out.push(Effect::Refill(typed.text));
                        }
                    }
                    self.turn = None;
                    let text = format!("Compaction blocked by PreCompact hook: {}", block.shown);
                    self.plan
                        .extend([Step::Show(Line::Notice(text)), Step::Status(Status::Idle)]);
                }
            }
            Hook::PermissionRequest(_)
            | Hook::Notification { .. }
            | Hook::StopFailure { .. }
            | Hook::SubagentStop { .. }
            | Hook::PostCompact { .. }
            | Hook::SessionEnd { .. } => {}
        }
    }

    /// After the hooks of a tool call: it is refused, asked about, or run.
    fn gate(
        &mut self,
        tool: Tool,
        script: Script,
        block: Option<Block>,
        permission: Option<Permission>,
    ) {
        let asks = match permission {
            Some(Permission::Allow) => false,
            Some(Permission::Ask) => true,
            None => script.asks,
        };
        if let Some(block) = block {
            let mut script = script;
            script.reply.push(format!(
                "A hook did not let me use {}: {}",
                tool.name, block.reason
            ));
            let refused = format!("PreToolUse:{} hook error: {}", tool.name, block.reason);
            let steps = [
                self.calls(&tool),
                Step::Show(Line::Tool(tool.line())),
                Step::Show(Line::Result(refused.clone())),
                Step::Record(Row::ToolResult {
                    tool,
                    refused: Some(refused),
                }),
                Step::Reply(script),
            ];
            self.first(steps);
        } else if asks {
            let steps = [
                Step::Status(Status::Blocked(question(&tool))),
                Step::Tell(Hook::PermissionRequest(tool.clone())),
                Step::Ask(tool),
                Step::Reply(script),
            ];
            self.first(steps);
        } else {
            self.first([Step::Run(tool), Step::Reply(script)]);
        }
    }

    /// The model's message that holds a tool call.
    fn calls(&self, tool: &Tool) -> Step {
        Step::Message {
            blocks: vec![
                Content::Thinking("I use one tool for this."),
                Content::ToolUse(tool.clone()),
            ],
            growth: 400,
            stop: "tool_use",
        }
    }

    fn hear(&mut self, said: impl IntoIterator<Item = String>) {
        match &mut self.turn {
            Some(turn) => turn.heard.extend(said),
            None => self.heard_before.extend(said),
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
        let Some(last) = self.ahead.back() else {
            return;
        };
        let script = script::plan(&last.text);
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

    fn take(&mut self, step: Step, out: &mut Vec<Effect>) {
        match step {
            Step::Hook(hook) => {
                let call = self.number();
                self.wait = Wait::Hook(call, hook.clone());
                out.push(Effect::Hook {
                    call,
                    prompt: self.prompt,
                    hook,
                });
            }
            Step::Tell(hook) => self.tell(hook, out),
            Step::Work(length) => {
                let length = length.mul_f64(self.opening.pace);
                self.wait_for(length, out);
            }
            Step::Show(line) => out.push(Effect::Show(line)),
            Step::Record(row) => out.push(Effect::Record(row)),
            Step::Status(status) => out.push(Effect::Status(status)),
            Step::Prompt(typed) => {
                out.push(Effect::Record(Row::Prompt {
                    prompt: typed.prompt,
                    text: typed.text.clone(),
                }));
                out.push(Effect::Show(Line::Prompt(typed.text)));
                for context in typed.context {
                    out.push(Effect::Record(Row::Attachment {
                        event: "UserPromptSubmit",
                        kind: context.kind,
                        text: context.text.clone(),
                    }));
                    self.hear([context.text]);
                }
                for failure in typed.failures {
                    out.push(Effect::Record(Row::Attachment {
                        event: "UserPromptSubmit",
                        kind: failure.kind,
                        text: failure.text,
                    }));
                }
            }
            Step::Answer(script) => self.answer(script, out),
            Step::Ask(tool) => {
                self.asked_ticket = self.number();
                out.push(Effect::Wake {
                    ticket: self.asked_ticket,
                    after: ASKED.mul_f64(self.opening.pace),
                });
                self.wait = Wait::Person(tool);
            }
            Step::Run(tool) => {
                let call = self.calls(&tool);
                self.first([
                    Step::Show(Line::Tool(tool.line())),
                    Step::Work(TOOL),
                    call,
                    Step::Show(Line::Result(if tool.output.is_empty() {
                        "(no output)".into()
                    } else {
                        tool.output.into()
                    })),
                    Step::Record(Row::ToolResult {
                        tool: tool.clone(),
                        refused: None,
                    }),
                    Step::Hook(Hook::PostToolUse(tool)),
                ]);
            }
            Step::Rest(script) | Step::Reply(script) => self.reply(script),
            Step::Fail => self.fail(out),
            Step::Message {
                blocks,
                growth,
                stop,
            } => {
                let output = blocks
                    .iter()
                    .map(|block| match block {
                        Content::Text(text) => script::tokens(text),
                        Content::Thinking(_) => 20,
                        Content::ToolUse(_) => 60,
                    })
                    .sum();
                let usage = self.tokens.call(growth, output);
                out.push(Effect::Record(Row::Message {
                    blocks,
                    usage,
                    stop,
                }));
            }
            Step::TypedAhead => self.answer_ahead(),
            Step::Finish => self.finish(out),
            Step::Compact(trigger) => self.compact(trigger, out),
            Step::NewConversation => {
                self.tokens = Tokens::new(self.opening.window);
                self.prompt = 0;
                self.heard_before.clear();
                out.push(Effect::NewConversation);
            }
            Step::Submit(text) => self.submit(text),
            Step::Leave => out.push(Effect::Leave),
        }
    }

    fn wait_for(&mut self, length: Duration, out: &mut Vec<Effect>) {
        if let Some(turn) = &mut self.turn {
            turn.worked += length;
        }
        if length.is_zero() {
            return;
        }
        let ticket = self.number();
        self.wait = Wait::Time(ticket);
        out.push(Effect::Wake {
            ticket,
            after: length,
        });
    }

    /// Thinks, then uses the tool, fails, or replies.
    fn answer(&mut self, mut script: Script, out: &mut Vec<Effect>) {
        if script.fails {
            self.first([Step::Work(THINKING), Step::Fail]);
            return;
        }
        let work = match script.patience.take() {
            // However fast the pace, this one can be interrupted.
            Some(patience) => {
                self.wait_for(patience, out);
                Step::Work(Duration::ZERO)
            }
            None => Step::Work(THINKING),
        };
        match script.tool.take() {
            Some(tool) => {
                self.first([work, Step::Hook(Hook::PreToolUse(tool)), Step::Rest(script)])
            }
            None => self.first([work, Step::Reply(script)]),
        }
    }

    /// An error of the service ends the turn; hooks hear `StopFailure` instead of `Stop`.
    fn fail(&mut self, out: &mut Vec<Effect>) {
        let text = "API Error: 529 Overloaded (as you asked for)".to_owned();
        self.turn = None;
        out.extend([
            Effect::Record(Row::ApiError { text: text.clone() }),
            Effect::Show(Line::Error(text.clone())),
            Effect::Status(Status::Error(text.clone())),
        ]);
        self.tell(Hook::StopFailure { message: text }, out);
    }

    /// Says the sentences one after another and ends the turn.
    fn reply(&mut self, script: Script) {
        let mut sentences = script.reply;
        if let Some(hint) = self.opening.hint.as_deref().filter(|_| !self.hint_told) {
            self.hint_told = true;
            sentences.push(format!("My profile's hint says: {}", first_line(hint)));
        }
        if let Some(turn) = &mut self.turn {
            let heard = std::mem::take(&mut turn.heard);
            sentences.extend(
                heard
                    .iter()
                    .map(|text| format!("context from hook: {}", first_line(text))),
            );
            turn.last_reply = sentences.join(" ");
        }
        let text = sentences.join(" ");
        let mut steps: Vec<Step> = Vec::new();
        for (index, sentence) in sentences.into_iter().enumerate() {
            steps.push(Step::Show(if index == 0 {
                Line::Reply(sentence)
            } else {
                Line::More(sentence)
            }));
            steps.push(Step::Work(SENTENCE));
        }
        steps.push(Step::Message {
            blocks: vec![Content::Text(text)],
            growth: script.growth,
            stop: "end_turn",
        });
        steps.push(Step::TypedAhead);
        for step in steps.into_iter().rev() {
            self.plan.push_front(step);
        }
    }

    /// Answers what was typed meanwhile, or asks the hooks whether the turn may end.
    fn answer_ahead(&mut self) {
        if let Some(last) = self.ahead.back() {
            let script = script::plan(&last.text);
            let prompts: Vec<Step> = self.ahead.drain(..).map(Step::Prompt).collect();
            self.plan.push_front(Step::Answer(script));
            for prompt in prompts.into_iter().rev() {
                self.plan.push_front(prompt);
            }
            return;
        }
        if let Some(turn) = &self.turn {
            let stop = Step::Hook(Hook::Stop {
                again: turn.stops_blocked > 0,
                message: turn.last_reply.clone(),
            });
            self.first([stop, Step::Finish]);
        }
    }

    fn finish(&mut self, out: &mut Vec<Effect>) {
        let Some(turn) = self.turn.take() else {
            return;
        };
        let milliseconds = u64::try_from(turn.worked.as_millis()).unwrap_or(u64::MAX);
        self.idle_ticket = self.number();
        out.extend([
            Effect::Record(Row::StopSummary { hooks: 1 }),
            Effect::Record(Row::TurnDuration { milliseconds }),
            Effect::Status(Status::Done),
            Effect::Wake {
                ticket: self.idle_ticket,
                after: IDLE,
            },
        ]);
    }

    /// Writes the boundary; hooks hear of it in the order of the real client.
    fn compact(&mut self, trigger: &'static str, out: &mut Vec<Effect>) {
        let (before, after) = self.tokens.compact();
        let summary = format!(
            "<summary>{} prompts about practising with a deck.</summary>",
            self.prompt
        );
        out.push(Effect::Record(Row::Compacted {
            trigger,
            before,
            after,
            summary: format!(
                "This session is being continued from a previous conversation that ran out of context.\n\n{summary}"
            ),
        }));
        out.push(Effect::Show(Line::Notice(format!(
            "Conversation compacted: {before} tokens became {after}."
        ))));
        self.first([
            Step::Hook(Hook::SubagentStop {
                message: summary.clone(),
            }),
            Step::Hook(Hook::SessionStart {
                source: "compact",
                model: Some(self.opening.model.clone()),
            }),
            Step::Hook(Hook::PostCompact { trigger, summary }),
        ]);
    }
}

/// A slash and a letter; `/var/log` is a path.
fn is_command(word: &str) -> bool {
    word.strip_prefix('/').is_some_and(|name| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "_:-".contains(letter))
    })
}

/// The question of the permission dialog.
pub(super) fn question(tool: &Tool) -> String {
    format!("Run {}?", tool.line())
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or("").trim().chars().take(160).collect()
}

/// Shows and records a prompt that was held back; its text returns to the box.
fn blocked(block: &Block, prompt: &str, out: &mut Vec<Effect>) {
    let mut content = format!(
        "UserPromptSubmit operation blocked by hook:\n{}",
        block.shown
    );
    if !block.hide_prompt {
        content.push_str("\n\nOriginal prompt: ");
        content.push_str(prompt);
    }
    out.extend([
        Effect::Record(Row::Blocked {
            content: content.clone(),
            reason: block.reason.clone(),
        }),
        Effect::Show(Line::Error(content)),
        Effect::Refill(prompt.to_owned()),
    ]);
}

/// What hooks said to the person, and those that failed.
fn remarks(event: &'static str, outcome: &Outcome, out: &mut Vec<Effect>) {
    for notice in &outcome.notices {
        out.push(Effect::Show(Line::Notice(notice.clone())));
    }
    for failure in &outcome.failures {
        out.push(Effect::Show(Line::Notice(failure.text.clone())));
    }
    // Those of a prompt come after its own row, and no file is made for a conversation without one.
    if !during_a_turn(event) {
        return;
    }
    let failures = outcome.failures.iter().map(|it| (it.kind, &it.text));
    let context = outcome.context.iter().map(|it| (it.kind, &it.text));
    for (kind, text) in failures.chain(context) {
        out.push(Effect::Record(Row::Attachment {
            event,
            kind,
            text: text.clone(),
        }));
    }
}

fn during_a_turn(event: &str) -> bool {
    ["PreToolUse", "PostToolUse", "Stop"].contains(&event)
}

/// The window and full name of the model that the command line asks for.
pub(super) fn model(asked: Option<&str>) -> (String, u64) {
    let asked = asked.unwrap_or("claude-sonnet-4-5");
    (tokens::full_name(asked), tokens::window(asked))
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
