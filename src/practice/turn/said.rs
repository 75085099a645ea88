//! What hooks say, and how the turn goes on by it.

use crate::practice::answer::{Block, Outcome, Permission};
use crate::practice::script::{self, Script, Tool};

use super::steps::{Step, THINKING, calls};
use super::{Chat, Effect, Hook, Line, Row, Status, Typed, Wait, question};

/// A hook that never lets a turn end is given up on.
pub(super) const MOST_BLOCKED_STOPS: u32 = 8;

impl Chat {
    pub(super) fn hook_done(&mut self, call: u64, outcome: Outcome, out: &mut Vec<Effect>) {
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
        let Wait::Hook(_, hook) = self.wait.clone() else {
            return;
        };
        if self.wait != Wait::Hook(call, hook.clone()) {
            return;
        }
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
                calls(&tool),
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

    pub(super) fn hear(&mut self, said: impl IntoIterator<Item = String>) {
        match &mut self.turn {
            Some(turn) => turn.heard.extend(said),
            None => self.heard_before.extend(said),
        }
    }
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

/// What hooks said to the person, what they told the model during a turn, and those that failed.
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
