//! A real client in the deck: a home with profiles for it, the provider beside it, the deck on a terminal.

use serde_json::{Value, json};

use crate::home::Home;
use crate::patience::wait_until;
use crate::terminal::Terminal;

/// What tells one client from the other where a test looks at it from outside.
pub(super) struct Client {
    pub(super) name: &'static str,
    /// A tool that only the conversation itself is offered, not the client's requests of its own.
    main_tool: &'static str,
    /// The model of the `bugfix` profile, and what it is called in a request.
    pub(super) model: &'static str,
    pub(super) model_sent: &'static str,
    /// Begins the row of the box where one types.
    box_sign: &'static str,
    /// Stands in the box while it is empty.
    placeholder: &'static str,
    /// Stands before what the model said.
    pub(super) answer: &'static str,
    /// Stands in the box for a longer paste.
    pub(super) pasted: &'static str,
    /// The flags that let it ask before it runs a command, and what it asks with.
    pub(super) asks: &'static [&'static str],
    pub(super) question: &'static str,
    /// Turns on the keys of the kitty protocol.
    pub(super) kitty_keys: &'static str,
    /// Flags that switch hooks off.
    pub(super) without_hooks: &'static [&'static str],
    /// The context window of that model.
    pub(super) window: u64,
    /// Says that a hook blocked the prompt.
    pub(super) blocked: &'static str,
    /// A blocked prompt stands in its box again.
    pub(super) puts_back: bool,
}

impl Client {
    /// What stands in the box, its last row on the screen that has the sign.
    pub(super) fn in_box<'a>(&self, rows: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        let text = rows
            .filter_map(|row| row.strip_prefix(self.box_sign))
            .last()?
            .trim();
        Some(if text == self.placeholder { "" } else { text })
    }

    /// Waits until the client's box in front holds this text of one row.
    #[track_caller]
    pub(super) fn wait_for_box(&self, terminal: &Terminal, text: &str) {
        terminal.wait_for(&format!("{text:?} in the box"), |screen| {
            let text_of = screen.text();
            // Left of the program stand the tabs.
            let program = text_of.lines().filter_map(|row| row.split_once('│'));
            self.in_box(program.map(|(_, row)| row)) == Some(text)
        });
    }

    /// Types a prompt of one row behind what stands in the box and sends it.
    ///
    /// Letter by letter, each as soon as the one before is seen: what comes at once is a paste to the clients, and
    /// Enter a part of it.
    #[track_caller]
    pub(super) fn say(&self, terminal: &Terminal, before: &str, prompt: &str) {
        self.type_out(terminal, before, prompt);
        terminal.keys("enter");
    }

    #[track_caller]
    pub(super) fn type_out(&self, terminal: &Terminal, before: &str, prompt: &str) {
        for (at, letter) in prompt.char_indices() {
            terminal.send(letter.to_string());
            let so_far = format!("{before}{}", &prompt[..at + letter.len_utf8()]);
            self.wait_for_box(terminal, so_far.trim_end());
        }
    }

    /// A call that runs this command, and asks the person before.
    pub(super) fn call(&self, command: &str) -> Value {
        match self.name {
            "claude" => json!({ "name": "Bash", "input": { "command": command } }),
            _ => json!({ "name": "exec_command", "input": {
                "cmd": command,
                "sandbox_permissions": "require_escalated",
                "justification": "May it run?",
            } }),
        }
    }

    /// The effort that a request asks for.
    pub(super) fn effort(&self, request: &Value) -> Value {
        let body = &request["body"];
        match self.name {
            "claude" => body["output_config"]["effort"].clone(),
            _ => body["reasoning"]["effort"].clone(),
        }
    }
}

pub(super) static CLAUDE: Client = Client {
    name: "claude",
    main_tool: "Bash",
    model: "opus",
    model_sent: "claude-opus-5-5",
    box_sign: "❯",
    placeholder: "",
    answer: "●",
    pasted: "[Pasted text #1",
    asks: &["--permission-mode=manual"],
    question: "Do you want to proceed?",
    kitty_keys: "\x1b[>5u",
    without_hooks: &["--bare"],
    window: 1_000_000,
    blocked: "operation blocked by hook",
    puts_back: true,
};

pub(super) static CODEX: Client = Client {
    name: "codex",
    main_tool: "exec_command",
    model: "scripted",
    model_sent: "scripted",
    box_sign: "›",
    placeholder: "Ask Codex to do anything",
    answer: "•",
    pasted: "[Pasted Content",
    asks: &[],
    question: "Would you like to run the following command?",
    kitty_keys: "\x1b[>7u",
    without_hooks: &["--disable=hooks"],
    window: 258_400,
    blocked: "Blocked by hook",
    puts_back: false,
};

/// The exit code of a command that found no server: it is still on its way.
const NO_SERVER: i32 = 4;

/// The title of the modal that a prompt of `docs` raises.
pub(super) const MODAL: &str = "This prompt belongs to docs, not to bugfix";
pub(super) const HINT: &str = "Mend the cause and say what it was.";
/// Belongs to `docs`, by two of its keywords.
pub(super) const OFF_TOPIC: &str = "please write the readme and a tutorial for newcomers";
pub(super) const ON_TOPIC: &str = "reproduce the flaky crash of the basket";

pub(super) struct Stage {
    pub(super) client: &'static Client,
    pub(super) home: Home,
}

impl Stage {
    /// The provider answers with these turns, the last one again and again.
    pub(super) fn new(client: &'static Client, turns: &Value) -> Self {
        Self::of(client, &[client], turns)
    }

    /// Several clients are there; `client` is that of the profiles.
    pub(super) fn of(client: &'static Client, clients: &[&Client], turns: &Value) -> Self {
        let lanes: Vec<Value> = clients
            .iter()
            .map(|client| {
                json!({
                    "name": "main",
                    "when": { "tool": client.main_tool },
                    "turns": turns,
                    "after": "last",
                })
            })
            .collect();
        Self::with_lanes(client, clients, &json!(lanes))
    }

    /// The provider answers each request by these lanes.
    pub(super) fn with_lanes(client: &'static Client, clients: &[&Client], lanes: &Value) -> Self {
        let scenario = json!({ "lanes": lanes });
        let home = Home::new();
        let Client { name, model, .. } = client;
        let profiles = format!(
            r#"[[profile]]
name = "bugfix"
keywords = ["bug", "fix", "flaky", "crash", "reproduce"]
agent = "{name}"
model = "{model}"
effort = "high"
hint = "{HINT}"

[[profile]]
name = "docs"
keywords = ["readme", "tutorial", "guide", "newcomers"]
agent = "{name}"
model = "{model}"
effort = "low"
"#
        );
        home.write("deck/config/profiles/mine.toml", &profiles);
        let names: Vec<&str> = clients.iter().map(|client| client.name).collect();
        let home = home.with_provider(&scenario, &names);
        Self { client, home }
    }

    /// The provider repeats each prompt.
    pub(super) fn echo(client: &'static Client) -> Self {
        Self::new(client, &echo())
    }

    /// A new session on a terminal of its own, as a person starts it.
    pub(super) fn begin(&self, words: &[&str]) -> Terminal {
        let words: Vec<&str> = [&["new"], words].concat();
        self.home.terminal(&words, 140, 40)
    }

    /// A session that had its first answer and waits.
    #[track_caller]
    pub(super) fn waiting(&self) -> Terminal {
        let terminal = self.begin(&[ON_TOPIC]);
        terminal.wait_for_text(&format!("You said: {ON_TOPIC}"));
        self.wait_for_state(1, "your_turn");
        self.client.wait_for_box(&terminal, "");
        terminal
    }

    /// The rows that the session's own screen shows.
    pub(super) fn screen_of(&self, id: u64) -> String {
        self.home.sessdeck(&["screen", &id.to_string()]).ok()
    }

    #[track_caller]
    pub(super) fn wait_for_empty_box_of(&self, id: u64) {
        wait_until("an empty box", || {
            let rows = self.screen_of(id);
            (self.client.in_box(rows.lines()) == Some("")).then_some(())
        });
    }

    /// All sessions, as `ls --json` has them; none before there is a server.
    pub(super) fn sessions(&self) -> Vec<Value> {
        let said = self.home.sessdeck(&["ls", "--json"]);
        if said.code == Some(NO_SERVER) {
            return Vec::new();
        }
        said.json().as_array().expect("an array").clone()
    }

    /// The session of that id, once it is as wanted.
    #[track_caller]
    pub(super) fn wait_for_session(
        &self,
        id: u64,
        what: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let mut last = Value::Null;
        wait_until(what, || {
            let session = self.sessions().into_iter().find(|it| it["id"] == id)?;
            last = session.clone();
            wanted(&session).then_some(session)
        })
    }

    #[track_caller]
    pub(super) fn wait_for_state(&self, id: u64, state: &str) -> Value {
        self.wait_for_session(id, &format!("session {id} as `{state}`"), |it| {
            it["state"] == state
        })
    }

    /// How often this prompt, whole and unchanged, stands in the newest request that holds it.
    pub(super) fn times_sent(&self, prompt: &str) -> usize {
        let requests = self.requests();
        let counts = requests.iter().map(|request| {
            let texts = texts_of_user(request);
            texts.iter().filter(|text| *text == prompt).count()
        });
        counts.max().unwrap_or_default()
    }

    /// This prompt was sent, and not twice. The provider notes a request when its answer is over, which its client may
    /// have shown already.
    #[track_caller]
    pub(super) fn sent_once(&self, prompt: &str) {
        wait_until("the prompt in the provider's log", || {
            (self.times_sent(prompt) > 0).then_some(())
        });
        assert_eq!(self.times_sent(prompt), 1);
    }

    /// The requests of conversations.
    pub(super) fn requests(&self) -> Vec<Value> {
        let all = self.home.provider().requests();
        all.into_iter()
            .filter(|request| request["lane"] == "main")
            .collect()
    }

    /// The last request of a conversation that holds this prompt, whole and unchanged.
    #[track_caller]
    pub(super) fn wait_for_prompt(&self, prompt: &str) -> Value {
        wait_until(&format!("{prompt:?} at the provider"), || {
            self.requests()
                .into_iter()
                .rev()
                .find(|request| texts_of_user(request).contains(&prompt.to_owned()))
        })
    }
}

pub(super) fn echo() -> Value {
    json!([{ "text": "You said: {{last_user}}" }])
}

/// Every text of the person's side in a request, in its order.
pub(super) fn texts_of_user(request: &Value) -> Vec<String> {
    let body = &request["body"];
    let messages = body["messages"].as_array().or(body["input"].as_array());
    messages
        .into_iter()
        .flatten()
        .filter(|message| message["role"] == "user")
        .flat_map(|message| {
            let content = &message["content"];
            content
                .as_array()
                .map_or(std::slice::from_ref(content), Vec::as_slice)
        })
        .filter_map(|part| part.as_str().or(part["text"].as_str()))
        .map(str::to_owned)
        .collect()
}
