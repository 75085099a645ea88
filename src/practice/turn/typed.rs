//! What the person does: prompts and commands, interruptions, answers, leaving.

use std::collections::VecDeque;

use super::steps::{COMPACTING, Step, calls};
use super::{Chat, Effect, Hook, Line, Row, Status, Typed, Wait, script};

impl Chat {
    pub(super) fn open(&mut self, resumed: bool, task: Option<String>) {
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
    pub(super) fn submit(&mut self, text: String) {
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
            "/help" => self.plan.push_back(notice(&script::GREETING.join("\n"))),
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
    pub(super) fn type_ahead(&mut self, text: String, out: &mut Vec<Effect>) {
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

    pub(super) fn interrupt(&mut self, out: &mut Vec<Effect>) {
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

    pub(super) fn answered(&mut self, yes: bool) {
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
            calls(&tool),
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

    pub(super) fn quit(&mut self, reason: &'static str) {
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
