use super::said::MOST_BLOCKED_STOPS;
use super::*;
use crate::practice::answer::{Block, Permission};

/// A conversation in which everything takes no time, told as a story.
struct Story {
    chat: Chat,
    /// Hooks that wait for an answer: call and event.
    waiting: Vec<(u64, Hook)>,
    /// Tickets that wait to be woken.
    tickets: Vec<u64>,
}

impl Story {
    fn new(pace: f64) -> Self {
        let opening = Opening {
            model: "claude-sonnet-4-5".into(),
            window: 200_000,
            hint: None,
            pace,
            prompts: 0,
            usage: None,
        };
        let mut story = Self {
            chat: Chat::new(opening),
            waiting: Vec::new(),
            tickets: Vec::new(),
        };
        story.tell(Event::Opened {
            resumed: false,
            task: None,
        });
        story.pass("SessionStart");
        story
    }

    /// One event; what comes out of it, in short words.
    fn tell(&mut self, event: Event) -> Vec<String> {
        let effects = self.chat.handle(event);
        effects
            .iter()
            .map(|effect| {
                match effect {
                    Effect::Hook { call, hook, .. } => self.waiting.push((*call, hook.clone())),
                    Effect::Wake { ticket, .. } => self.tickets.push(*ticket),
                    Effect::Record(_)
                    | Effect::Show(_)
                    | Effect::Status(_)
                    | Effect::Refill(_)
                    | Effect::NewConversation
                    | Effect::Leave => {}
                }
                gist(effect)
            })
            .collect()
    }

    fn say(&mut self, text: &str) -> Vec<String> {
        self.tell(Event::Submitted(text.into()))
    }

    /// Answers the oldest waiting hook of that event.
    fn answer(&mut self, event: &str, outcome: Outcome) -> Vec<String> {
        let at = self
            .waiting
            .iter()
            .position(|(_, hook)| hook.name() == event)
            .unwrap_or_else(|| panic!("{event} does not wait: {:?}", self.waiting));
        let (call, _) = self.waiting.remove(at);
        self.tell(Event::HookDone { call, outcome })
    }

    fn pass(&mut self, event: &str) -> Vec<String> {
        self.answer(event, Outcome::default())
    }

    fn wake(&mut self) -> Vec<String> {
        let ticket = self.tickets.remove(0);
        self.tell(Event::Woken(ticket))
    }
}

fn gist(effect: &Effect) -> String {
    match effect {
        Effect::Hook { hook, .. } => format!("hook {}", hook.name()),
        Effect::Wake { .. } => "wake".into(),
        Effect::Record(row) => match row {
            Row::Prompt { text, .. } => format!("row prompt {text}"),
            Row::Attachment { kind, .. } => format!("row {kind}"),
            Row::Message { stop, .. } => format!("row message {stop}"),
            Row::ToolResult { refused, .. } if refused.is_some() => "row refused".into(),
            Row::ToolResult { .. } => "row result".into(),
            Row::Blocked { .. } => "row blocked".into(),
            Row::Interrupted { .. } => "row interrupted".into(),
            Row::StopFeedback { .. } => "row feedback".into(),
            Row::StopSummary { .. } => "row summary".into(),
            Row::TurnDuration { .. } => "row duration".into(),
            Row::Compacted { trigger, .. } => format!("row compacted {trigger}"),
            Row::LocalCommand { name, .. } => format!("row command {name}"),
            Row::ApiError { .. } => "row error".into(),
        },
        Effect::Show(line) => match line {
            Line::Prompt(text) => format!("> {text}"),
            Line::Reply(_) | Line::More(_) => "reply".into(),
            Line::Tool(text) => format!("tool {text}"),
            Line::Result(_) => "result".into(),
            Line::Notice(text) => format!("notice {}", text.split(' ').next().unwrap_or("")),
            Line::Error(_) => "error".into(),
        },
        Effect::Status(status) => match status {
            Status::Idle => "idle".into(),
            Status::Working => "working".into(),
            Status::Blocked(_) => "blocked".into(),
            Status::Done => "done".into(),
            Status::Error(_) => "failed".into(),
        },
        Effect::Refill(text) => format!("box {text}"),
        Effect::NewConversation => "new conversation".into(),
        Effect::Leave => "leave".into(),
    }
}

fn blocks(reason: &str) -> Outcome {
    Outcome {
        block: Some(Block {
            reason: reason.into(),
            shown: reason.into(),
            hide_prompt: false,
        }),
        ..Outcome::default()
    }
}

fn adds(text: &str) -> Outcome {
    Outcome {
        context: vec![Context {
            kind: "hook_additional_context",
            text: text.into(),
        }],
        ..Outcome::default()
    }
}

#[test]
fn a_prompt_is_answered_and_the_turn_ends_with_a_stop_hook() {
    let mut story = Story::new(0.0);
    assert_eq!(story.say("hello"), ["working", "hook UserPromptSubmit"]);
    assert_eq!(
        story.answer("UserPromptSubmit", adds("be brief")),
        [
            "working",
            "row prompt hello",
            "> hello",
            "row hook_additional_context",
            "reply",
            "reply",
            "reply",
            "row message end_turn",
            "hook Stop",
        ]
    );
    assert!(story.chat.working());
    assert_eq!(
        story.pass("Stop"),
        ["row summary", "row duration", "done", "wake"]
    );
    assert!(!story.chat.working());
    assert_eq!(story.wake(), ["hook Notification"], "a minute has passed");
}

#[test]
fn what_a_hook_adds_is_named_in_the_reply() {
    let mut story = Story::new(0.0);
    story.say("hello");
    let call = story.waiting[0].0;
    let effects = story.chat.handle(Event::HookDone {
        call,
        outcome: adds("be brief\nand kind"),
    });
    let said = Effect::Show(Line::More("context from hook: be brief".into()));
    assert!(effects.contains(&said), "{effects:?}");
}

#[test]
fn a_blocked_prompt_is_no_user_row_and_returns_to_the_box() {
    let mut story = Story::new(0.0);
    story.say("write docs");
    assert_eq!(
        story.answer("UserPromptSubmit", blocks("off topic")),
        ["row blocked", "error", "box write docs", "idle"]
    );
    assert_eq!(story.say("again"), ["working", "hook UserPromptSubmit"]);
}

#[test]
fn a_prompt_that_a_hook_stops_stays_in_the_history() {
    let mut story = Story::new(0.0);
    story.say("hello");
    let stop = Outcome {
        stop: Some("enough".into()),
        ..Outcome::default()
    };
    assert_eq!(
        story.answer("UserPromptSubmit", stop),
        ["row prompt hello", "> hello", "notice Operation", "idle"]
    );
}

#[test]
fn a_tool_runs_between_its_hooks() {
    let mut story = Story::new(0.0);
    story.say("fix it");
    let out = story.pass("UserPromptSubmit");
    assert_eq!(out.last().unwrap(), "hook PreToolUse");
    assert_eq!(
        story.pass("PreToolUse"),
        [
            "tool Read(src/login.py)",
            "row message tool_use",
            "result",
            "row result",
            "hook PostToolUse",
        ]
    );
    let out = story.pass("PostToolUse");
    assert_eq!(out[out.len() - 2..], ["row message end_turn", "hook Stop"]);
}

#[test]
fn a_tool_that_a_hook_denies_does_not_run() {
    let mut story = Story::new(0.0);
    story.say("run the tests");
    story.pass("UserPromptSubmit");
    let out = story.answer("PreToolUse", blocks("not now"));
    assert_eq!(
        out[..4],
        [
            "row message tool_use",
            "tool Bash(python3 -m unittest discover tests)",
            "result",
            "row refused",
        ]
    );
    assert_eq!(out.last().unwrap(), "hook Stop");
}

#[test]
fn the_person_is_asked_and_decides() {
    for (yes, expected, last) in [
        (
            true,
            &["working", "tool Bash(rm -rf build)"][..],
            "hook PostToolUse",
        ),
        (
            false,
            &["row message tool_use", "row refused", "row interrupted"],
            "idle",
        ),
    ] {
        let mut story = Story::new(0.0);
        story.say("rm -rf build");
        story.pass("UserPromptSubmit");
        assert_eq!(
            story.pass("PreToolUse"),
            ["blocked", "hook PermissionRequest", "wake"]
        );
        assert!(story.chat.question().is_some());
        assert_eq!(story.wake(), ["hook Notification"], "some seconds passed");
        let out = story.tell(Event::Answered(yes));
        assert_eq!(out[..expected.len()], *expected);
        assert_eq!(out.last().unwrap(), last);
        assert!(story.chat.question().is_none());
    }
}

#[test]
fn hooks_may_answer_the_permission_question() {
    for (prompt, permission, asked) in [
        ("run the tests", Permission::Allow, false),
        ("fix it", Permission::Ask, true),
    ] {
        let mut story = Story::new(0.0);
        story.say(prompt);
        story.pass("UserPromptSubmit");
        story.answer(
            "PreToolUse",
            Outcome {
                permission: Some(permission),
                ..Outcome::default()
            },
        );
        assert_eq!(story.chat.question().is_some(), asked, "{prompt}");
    }
}

#[test]
fn an_interrupted_turn_has_no_stop_hook() {
    let mut story = Story::new(1.0);
    story.say("hello");
    story.pass("UserPromptSubmit");
    assert_eq!(
        story.tell(Event::Interrupted),
        ["row interrupted", "notice Interrupted.", "idle"]
    );
    assert_eq!(story.wake(), [""; 0], "its timer means nothing any more");
    assert_eq!(story.tell(Event::Interrupted), [""; 0], "nothing runs");
    assert_eq!(story.say("more"), ["working", "hook UserPromptSubmit"]);
    assert_eq!(story.tell(Event::Interrupted), ["box more", "idle"]);
}

#[test]
fn typed_ahead_prompts_are_answered_in_the_same_turn() {
    let mut story = Story::new(1.0);
    story.say("one");
    story.pass("UserPromptSubmit");
    assert_eq!(story.say("two"), ["hook UserPromptSubmit"]);
    assert_eq!(story.say("three"), ["hook UserPromptSubmit"]);
    assert_eq!(story.say("/compact"), [""; 0]);
    assert_eq!(story.chat.queued(), ["two", "three", "/compact"]);
    assert_eq!(story.pass("UserPromptSubmit"), [""; 0]);
    assert_eq!(
        story.answer("UserPromptSubmit", blocks("off topic")),
        ["row blocked", "error", "box three"]
    );
    let mut out = Vec::new();
    while !out.contains(&"hook Stop".to_owned()) {
        out.extend(story.wake());
    }
    let replies = out.iter().filter(|it| *it == "row message end_turn");
    assert_eq!(replies.count(), 2, "{out:?}");
    assert!(out.contains(&"row prompt two".into()), "{out:?}");
    let out = story.pass("Stop");
    assert_eq!(out.last().unwrap(), "hook PreCompact", "{out:?}");
}

#[test]
fn a_stop_hook_may_send_it_on() {
    let mut story = Story::new(0.0);
    story.say("hello");
    story.pass("UserPromptSubmit");
    let out = story.answer("Stop", blocks("run the linter"));
    assert_eq!(out[0], "row feedback");
    assert!(
        matches!(&story.waiting[0].1, Hook::Stop { again: true, .. }),
        "{:?}",
        story.waiting
    );
    assert_eq!(
        story.pass("Stop"),
        ["row summary", "row duration", "done", "wake"]
    );
    story.say("hello");
    story.pass("UserPromptSubmit");
    for _ in 0..MOST_BLOCKED_STOPS {
        story.answer("Stop", blocks("never"));
    }
    let out = story.answer("Stop", blocks("never"));
    assert!(out.contains(&"done".into()), "{out:?}");
}

#[test]
fn an_error_of_the_service_ends_the_turn_without_a_stop() {
    let mut story = Story::new(0.0);
    story.say("api error");
    let out = story.pass("UserPromptSubmit");
    assert_eq!(
        out[out.len() - 4..],
        ["row error", "error", "failed", "hook StopFailure"]
    );
    assert!(!story.chat.working());
    assert_eq!(story.tell(Event::Interrupted), [""; 0]);
}

#[test]
fn clear_ends_one_conversation_and_begins_another() {
    let mut story = Story::new(0.0);
    story.say("hello");
    story.pass("UserPromptSubmit");
    story.pass("Stop");
    assert_eq!(story.say("/clear"), ["hook SessionEnd"]);
    assert_eq!(
        story.pass("SessionEnd"),
        ["new conversation", "hook SessionStart"]
    );
    assert_eq!(story.chat.tokens().context(), 0);
    assert_eq!(story.pass("SessionStart"), ["idle"]);
}

#[test]
fn compaction_runs_its_hooks_in_the_order_of_the_real_client() {
    let mut story = Story::new(0.0);
    assert_eq!(story.say("/compact"), ["notice Nothing"]);
    story.say("hello");
    story.pass("UserPromptSubmit");
    story.pass("Stop");
    assert_eq!(story.say("/compact"), ["working", "hook PreCompact"]);
    assert_eq!(
        story.pass("PreCompact"),
        [
            "row compacted manual",
            "notice Conversation",
            "hook SubagentStop"
        ]
    );
    assert_eq!(story.pass("SubagentStop"), ["hook SessionStart"]);
    assert_eq!(story.pass("SessionStart"), ["hook PostCompact"]);
    assert_eq!(story.pass("PostCompact"), ["row command /compact", "done"]);
    assert!(story.chat.tokens().context() < 5_000);
    story.say("/compact");
    assert_eq!(
        story.answer("PreCompact", blocks("not now")),
        ["notice Compaction", "idle"]
    );
}

#[test]
fn a_full_context_is_compacted_before_the_next_turn() {
    let mut story = Story::new(0.0);
    story.say("grow 170k");
    story.pass("UserPromptSubmit");
    story.pass("Stop");
    story.say("big");
    assert_eq!(
        story.pass("UserPromptSubmit"),
        ["working", "hook PreCompact"]
    );
    let mut held_back = Story { ..story };
    assert_eq!(
        held_back.answer("PreCompact", blocks("no")),
        ["box big", "notice Compaction", "idle"]
    );
}

#[test]
fn commands_and_shell_lines_reach_no_prompt_hook() {
    for (text, expected) in [
        ("/frobnicate x", "notice Unknown"),
        ("!ls", "notice A"),
        ("/help", "notice I"),
        ("/exit", "hook SessionEnd"),
        ("/var/log is full", "working"),
        ("/ alone", "working"),
    ] {
        let mut story = Story::new(0.0);
        assert_eq!(story.say(text)[0], expected, "{text}");
    }
}

#[test]
fn leaving_waits_for_the_session_end_hooks() {
    let mut story = Story::new(1.0);
    story.say("hello");
    story.pass("UserPromptSubmit");
    let quit = || Event::Quit("prompt_input_exit");
    assert_eq!(story.tell(quit()), ["hook SessionEnd"]);
    assert_eq!(story.tell(quit()), [""; 0], "asked twice");
    assert_eq!(story.pass("SessionEnd"), ["leave"]);
}

#[test]
fn the_task_of_the_command_line_is_the_first_prompt() {
    let mut story = Story::new(0.0);
    let out = story.tell(Event::Opened {
        resumed: true,
        task: Some("go on".into()),
    });
    assert_eq!(out, ["idle", "hook SessionStart"]);
    assert_eq!(
        story.pass("SessionStart"),
        ["working", "hook UserPromptSubmit"]
    );
}
