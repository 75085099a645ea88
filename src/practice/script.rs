//! What the stand-in does about a prompt: decided by its words alone, so the same prompt always does the same.

use std::time::Duration;

use serde_json::{Value, json};

/// What a newcomer can try; stands on the first screen and answers `/help`.
pub(super) const GREETING: [&str; 6] = [
    "I stand in for a real agent: no account, no network, and no file is changed.",
    "1  Say anything, e.g. `fix the flaky login test`. `grow 60k` moves the meter faster.",
    "2  `write the readme tutorial and changelog docs` is off topic in a bugfix session.",
    "3  `run the tests` asks for permission: see how the tab calls you.",
    "4  ctrl-space speaks to the deck: p parks a thought, i the inbox, n a new session.",
    "5  ctrl-space d leaves everything running; start the deck again to come back to it.",
];

/// Of a prompt that is echoed no more is shown.
const ECHO: usize = 100;

/// A turn in outline.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Script {
    /// Tokens that the turn adds to the context.
    pub(super) growth: u64,
    pub(super) tool: Option<Tool>,
    /// The person is asked before the tool runs.
    pub(super) asks: bool,
    /// Work that takes this long however fast the pace, to be interrupted.
    pub(super) patience: Option<Duration>,
    /// The answer is an error of the service.
    pub(super) fails: bool,
    /// Sentences of the answer, before those about hooks and tokens.
    pub(super) reply: Vec<String>,
}

/// One call of a tool. Nothing is ever really run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tool {
    pub(super) id: String,
    pub(super) name: &'static str,
    pub(super) input: Value,
    pub(super) output: &'static str,
}

impl Tool {
    /// The call as one line for the person: `Bash(rm -rf build)`.
    pub(super) fn line(&self) -> String {
        format!("{}({})", self.name, self.subject())
    }

    /// The command or the file.
    pub(super) fn subject(&self) -> &str {
        ["command", "file_path"]
            .iter()
            .find_map(|field| self.input.get(field)?.as_str())
            .unwrap_or("")
    }

    /// The result as hooks and the transcript have it.
    pub(super) fn response(&self) -> Value {
        match self.name {
            "Read" => json!({"type": "text", "file": {
                "filePath": self.subject(), "content": self.output,
                "numLines": self.output.lines().count(), "startLine": 1}}),
            _ => json!({"stdout": self.output, "stderr": "", "interrupted": false,
                "isImage": false, "noOutputExpected": false}),
        }
    }
}

/// Plans the turn that answers a prompt.
pub(super) fn plan(prompt: &str) -> Script {
    let words = prompt.to_lowercase();
    let has = |needles: &[&str]| needles.iter().any(|needle| words.contains(needle));
    let bash = |command: &str, description: &str, output| {
        Some((
            "Bash",
            json!({"command": command, "description": description}),
            output,
        ))
    };
    let (tool, asks) = if has(&["rm -rf build"]) {
        (bash("rm -rf build", "Remove the build folder", ""), true)
    } else if has(&["run tests", "run the tests", "run all tests"]) {
        let output = "ran 7 tests: 6 ok, 1 failed (test_login_waits_for_a_slow_server)";
        (
            bash(
                "python3 -m unittest discover tests",
                "Run the tests",
                output,
            ),
            true,
        )
    } else if has(&["permission"]) {
        (
            bash("make check", "Check the project", "all checks passed"),
            true,
        )
    } else if has(&[
        "fix", "read", "look", "find", "why", "show", "bug", "flaky", "review",
    ]) {
        let output = "def login(name, wait=0.1):\n    return server.ask(name, wait)";
        (
            Some(("Read", json!({"file_path": "src/login.py"}), output)),
            false,
        )
    } else {
        (None, false)
    };
    let seed = hash(prompt);
    let tool = tool.map(|(name, input, output)| Tool {
        id: format!("toolu_01{seed:016x}"),
        name,
        input,
        output,
    });
    let mut reply = vec![format!("You said: \"{}\".", echo(prompt))];
    reply.extend(match tool.as_ref().map(|tool| tool.name) {
        Some("Read") => Some("I read src/login.py: it waits only 0.1 s for the server, so a slow one makes the test fail now and then.".to_owned()),
        _ => None,
    });
    reply.push(REMARKS[usize::try_from(seed % 4).unwrap_or(0)].to_owned());
    Script {
        growth: growth(&words).unwrap_or(6_000 + seed % 9_001),
        tool,
        asks,
        patience: has(&["take your time"]).then_some(Duration::from_secs(30)),
        fails: has(&["api error"]),
        reply,
    }
}

/// Plans the turn that answers several prompts at once: it is about the last, but costs what all cost.
pub(super) fn plan_all<'a>(prompts: impl IntoIterator<Item = &'a str>) -> Script {
    let mut scripts = prompts.into_iter().map(plan);
    let first = scripts.next().unwrap_or_else(|| plan(""));
    scripts.fold(first, |all, script| Script {
        growth: all.growth + script.growth,
        patience: all.patience.or(script.patience),
        ..script
    })
}

const REMARKS: [&str; 4] = [
    "I only practise, so no file was changed.",
    "That is all I can do here without a real model.",
    "A real agent would now show you a change to look at.",
    "Good thought; I would begin with the smallest step.",
];

/// The tokens that a prompt asks for by name: `grow 120k`, `big`, `read everything`.
fn growth(words: &str) -> Option<u64> {
    let mut words_of = words.split_whitespace();
    while let Some(word) = words_of.next() {
        if word == "grow" {
            let figure = words_of.next()?;
            let (digits, factor) = match figure.char_indices().last()? {
                (at, 'k') => (&figure[..at], 1_000),
                (at, 'm') => (&figure[..at], 1_000_000),
                _ => (figure, 1),
            };
            return digits
                .parse::<u64>()
                .ok()
                .map(|number| number.saturating_mul(factor).min(900_000));
        }
    }
    if words.contains("read everything") {
        Some(60_000)
    } else if words.split_whitespace().any(|word| word == "big") {
        Some(40_000)
    } else {
        None
    }
}

/// The prompt on one line, its end cut off if it is long.
fn echo(prompt: &str) -> String {
    let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(ECHO) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// FNV-1a: small, and the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Tokens of a text, roughly as models count them.
pub(super) fn tokens(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(0) / 4 + 40
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_prompt_steer_the_turn() {
        for (prompt, tool, asks) in [
            ("hello", None, false),
            ("Fix the login", Some("Read(src/login.py)"), false),
            (
                "please run the tests",
                Some("Bash(python3 -m unittest discover tests)"),
                true,
            ),
            ("do rm -rf build now", Some("Bash(rm -rf build)"), true),
            ("ask for permission", Some("Bash(make check)"), true),
        ] {
            let script = plan(prompt);
            assert_eq!(
                script.tool.map(|tool| tool.line()).as_deref(),
                tool,
                "{prompt}"
            );
            assert_eq!(script.asks, asks, "{prompt}");
        }
        assert!(plan("this is an api error").fails);
        assert!(plan("take your time").patience.is_some());
    }

    #[test]
    fn a_turn_grows_by_what_is_asked_or_by_a_plausible_amount() {
        for (prompt, tokens) in [
            ("grow 120k", 120_000),
            ("please grow 500", 500),
            ("Grow 2M", 900_000),
            ("big", 40_000),
            ("read everything", 60_000),
        ] {
            assert_eq!(plan(prompt).growth, tokens, "{prompt}");
        }
        for prompt in ["hello", "bigger", "grow", "grow fast", ""] {
            let growth = plan(prompt).growth;
            assert!((6_000..=15_000).contains(&growth), "{prompt}: {growth}");
            assert_eq!(plan(prompt).growth, growth, "{prompt}");
        }
    }

    #[test]
    fn several_prompts_make_one_turn() {
        let all = plan_all(["take your time", "grow 5k", "grow 7k run the tests"]);
        assert_eq!(all.growth, plan("take your time").growth + 12_000);
        assert!(all.patience.is_some() && all.asks);
    }

    #[test]
    fn the_prompt_is_echoed_on_one_line_and_cut() {
        assert_eq!(plan("a\n b").reply[0], "You said: \"a b\".");
        let long = "é".repeat(ECHO + 1);
        assert_eq!(
            plan(&long).reply[0],
            format!("You said: \"{}…\".", "é".repeat(ECHO))
        );
    }
}
