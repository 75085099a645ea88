//! The steps of a turn, one after another.

use std::time::Duration;

use crate::practice::row::Content;
use crate::practice::script::{self, Script, Tool};
use crate::practice::tokens::Tokens;

use super::{Chat, Effect, Hook, Line, Row, Status, Typed, Wait};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
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

pub(super) const THINKING: Duration = Duration::from_millis(450);
const TOOL: Duration = Duration::from_millis(200);
const SENTENCE: Duration = Duration::from_millis(120);
pub(super) const COMPACTING: Duration = Duration::from_millis(600);
/// The real client says that it waits for permission after so long. No pace shortens it: a report that comes
/// late, after a quick answer, would be wrong.
const ASKED: Duration = Duration::from_secs(6);
/// The real client says that it waits for a prompt after so long.
const IDLE: Duration = Duration::from_secs(60);
impl Chat {
    pub(super) fn take(&mut self, step: Step, out: &mut Vec<Effect>) {
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
            Step::Prompt(typed) => self.record(typed, out),
            Step::Answer(script) => self.answer(script, out),
            Step::Ask(tool) => {
                self.asked_ticket = self.number();
                out.push(Effect::Wake {
                    ticket: self.asked_ticket,
                    after: ASKED,
                });
                self.wait = Wait::Person(tool);
            }
            Step::Run(tool) => {
                let call = calls(&tool);
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

    /// The prompt's row, and after it what its hooks said.
    fn record(&mut self, typed: Typed, out: &mut Vec<Effect>) {
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
                self.first([work, Step::Hook(Hook::PreToolUse(tool)), Step::Rest(script)]);
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
        if !self.ahead.is_empty() {
            let script = script::plan_all(self.ahead.iter().map(|typed| typed.text.as_str()));
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

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or("").trim().chars().take(160).collect()
}

/// The model's message that holds a tool call.
pub(super) fn calls(tool: &Tool) -> Step {
    Step::Message {
        blocks: vec![
            Content::Thinking("I use one tool for this."),
            Content::ToolUse(tool.clone()),
        ],
        growth: 400,
        stop: "tool_use",
    }
}
