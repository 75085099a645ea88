//! The loop: one thing comes in, the conversation takes it, what follows is done, the screen is drawn.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use super::answer::Outcome;
use super::args::Args;
use super::console::Console;
use super::event::{Common, Hook};
use super::hooks;
use super::keys::{Decoder, Input};
use super::opening;
use super::place::Place;
use super::screen::{self, Line, View};
use super::settings::{self, Hooks};
use super::transcript::Transcript;
use super::turn::{self, Chat, Effect, Event, Opening};
use super::typing::{Scene, Typing, Wish};
use crate::error::{Error, Exit, Result};

/// What the loop waits for.
enum Incoming {
    Bytes(Vec<u8>),
    /// The terminal is gone.
    Closed,
    HookDone {
        call: u64,
        outcome: Outcome,
    },
    Signal(i32),
}

/// A spinner's step.
const FRAME: Duration = Duration::from_millis(100);
/// ESC is a key and the start of a sequence; so long without more bytes makes it a key.
const ESCAPE: Duration = Duration::from_millis(25);

/// One run: what is said, what is on the screen, and where it is written.
pub(super) struct Client {
    args: Args,
    place: Place,
    hooks: Hooks,
    model: String,
    chat: Chat,
    transcript: Transcript,
    resumed: bool,
    lines: Vec<Line>,
    typing: Typing,
    scroll: usize,
    scrollable: usize,
    /// Tickets and when they are due.
    timers: Vec<(Instant, u64)>,
    working_since: Option<Instant>,
    left: bool,
}

impl Client {
    pub(super) fn new(args: Args, place: Place) -> Result<Self> {
        let files = place.settings_files();
        let own: Vec<&Path> = if args.own_settings_only {
            Vec::new()
        } else {
            files.iter().map(PathBuf::as_path).collect()
        };
        let mut hooks = settings::hooks(args.settings.as_deref(), &own)?;
        if args.no_hooks {
            hooks = Hooks::default();
        }
        for config in &args.mcp_config {
            if !config.trim_start().starts_with('{') && !Path::new(config).exists() {
                return Err(Error::new(Exit::Fault, "MCP config file not found")
                    .at(Path::new(config), None));
            }
        }
        let (model, window) = turn::model(args.model.as_deref());
        let (transcript, earlier) = opening::conversation(&args, &place, &model)?;
        let opening = Opening {
            model: model.clone(),
            window,
            hint: args.hint.clone(),
            pace: place.pace,
            prompts: transcript.chain.prompt,
            usage: earlier.as_ref().and_then(|earlier| earlier.usage),
        };
        Ok(Self {
            chat: Chat::new(opening),
            resumed: earlier.is_some(),
            lines: earlier.map(|earlier| earlier.lines).unwrap_or_default(),
            args,
            place,
            hooks,
            model,
            transcript,
            typing: Typing::default(),
            scroll: 0,
            scrollable: 0,
            timers: Vec::new(),
            working_since: None,
            left: false,
        })
    }

    /// The loop: one thing comes in, what follows is done, the screen is drawn.
    pub(super) fn talk(&mut self) -> Result<ExitCode> {
        let (sender, incoming) = mpsc::channel();
        watch_signals(sender.clone())?;
        let mut console = Console::open(self.args.name.as_deref().unwrap_or("Practice agent"))?;
        read_keys(sender.clone());
        let mut decoder = Decoder::default();
        let mut code = ExitCode::SUCCESS;
        let opened = Event::Opened {
            resumed: self.resumed,
            task: self.args.task.clone(),
        };
        self.handle(opened, &sender, &mut console)?;
        let mut gone = false;
        while !self.left {
            // A terminal that is gone must not keep the last hooks from running.
            if !gone && self.draw(&mut console).is_err() {
                gone = true;
                self.handle(Event::Quit("other"), &sender, &mut console)?;
            }
            match self.next(&incoming, decoder.holds_escape()) {
                Ok(Incoming::Bytes(bytes)) => {
                    for input in decoder.feed(&bytes) {
                        self.typed(input, &sender, &mut console)?;
                    }
                }
                // The next drawing looks at the size.
                Ok(Incoming::Signal(SIGWINCH)) => {}
                Ok(Incoming::Signal(signal)) => {
                    code = ExitCode::from(u8::try_from(128 + signal).unwrap_or(1));
                    self.handle(Event::Quit("other"), &sender, &mut console)?;
                }
                Ok(Incoming::Closed) => {
                    self.handle(Event::Quit("other"), &sender, &mut console)?;
                }
                Ok(Incoming::HookDone { call, outcome }) => {
                    self.handle(Event::HookDone { call, outcome }, &sender, &mut console)?;
                }
                Err(_) => {
                    for input in decoder.flush() {
                        self.typed(input, &sender, &mut console)?;
                    }
                }
            }
            for ticket in self.due() {
                self.handle(Event::Woken(ticket), &sender, &mut console)?;
            }
        }
        Ok(code)
    }

    /// Waits for the next thing, but no longer than a timer, a spinner or a held ESC allows.
    fn next(
        &self,
        incoming: &Receiver<Incoming>,
        holds_escape: bool,
    ) -> std::result::Result<Incoming, RecvTimeoutError> {
        let timer = self.timers.iter().map(|(due, _)| *due).min();
        let wait = [
            timer.map(|due| due.saturating_duration_since(now())),
            self.chat.working().then_some(FRAME),
            holds_escape.then_some(ESCAPE),
        ]
        .into_iter()
        .flatten()
        .min();
        match wait {
            Some(wait) => incoming.recv_timeout(wait),
            None => incoming.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Takes the tickets whose time has come.
    fn due(&mut self) -> Vec<u64> {
        let now = now();
        let (due, later) = self.timers.drain(..).partition(|(at, _)| *at <= now);
        self.timers = later;
        let due: Vec<(Instant, u64)> = due;
        due.into_iter().map(|(_, ticket)| ticket).collect()
    }

    fn typed(
        &mut self,
        input: Input,
        sender: &Sender<Incoming>,
        console: &mut Console,
    ) -> Result<()> {
        let scene = match (self.chat.question(), self.chat.working()) {
            (Some(_), _) => Scene::Question,
            (None, true) => Scene::Working,
            (None, false) => Scene::Idle,
        };
        let Some(wish) = self.typing.take(input, scene) else {
            return Ok(());
        };
        let event = match wish {
            Wish::Submit(text) => {
                self.scroll = 0;
                Event::Submitted(text)
            }
            Wish::Interrupt => Event::Interrupted,
            Wish::Answer(yes) => Event::Answered(yes),
            Wish::Quit => Event::Quit("prompt_input_exit"),
            Wish::Scroll(lines) => {
                let far = usize::try_from(lines.unsigned_abs()).unwrap_or(0);
                self.scroll = if lines < 0 {
                    (self.scroll + far).min(self.scrollable)
                } else {
                    self.scroll.saturating_sub(far)
                };
                return Ok(());
            }
            Wish::Reply(reply) => return Ok(console.replied(reply)?),
        };
        self.handle(event, sender, console)
    }

    /// Lets the conversation take an event and does what follows from it.
    fn handle(
        &mut self,
        event: Event,
        sender: &Sender<Incoming>,
        console: &mut Console,
    ) -> Result<()> {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for effect in self.chat.handle(event) {
                match effect {
                    Effect::Hook { call, prompt, hook } => {
                        events.extend(self.run_hooks(call, prompt, &hook, sender));
                    }
                    Effect::Wake { ticket, after } => self.timers.push((now() + after, ticket)),
                    Effect::Record(row) => self.transcript.record(&row, &timestamp())?,
                    Effect::Show(line) => self.lines.push(line),
                    Effect::Status(status) => console.tell(status)?,
                    Effect::Refill(text) => self.typing.input.put_back(&text),
                    Effect::NewConversation => self.begin_anew(),
                    Effect::Leave => self.left = true,
                }
            }
        }
        Ok(())
    }

    /// Starts the hooks of an event. If there is none, that is the answer.
    fn run_hooks(
        &self,
        call: u64,
        prompt: u32,
        hook: &Hook,
        sender: &Sender<Incoming>,
    ) -> Option<Event> {
        let handlers = self.hooks.at(hook.name(), hook.subject());
        if handlers.is_empty() {
            return Some(Event::HookDone {
                call,
                outcome: Outcome::default(),
            });
        }
        let chain = &self.transcript.chain;
        let common = Common {
            session_id: chain.session_id.clone(),
            transcript_path: self.transcript.path().to_string_lossy().into_owned(),
            cwd: chain.cwd.clone(),
            prompt_id: (prompt > 0).then(|| chain.prompt_id(prompt)),
            permission_mode: chain.permission_mode.clone(),
            effort: chain.effort.clone(),
        };
        let (columns, lines) = crossterm::terminal::size().unwrap_or((80, 24));
        let run = hooks::Run {
            event: hook.name(),
            handlers,
            input: hook.input(&common),
            env: vec![
                ("CLAUDECODE", "1".into()),
                ("CLAUDE_CODE_ENTRYPOINT", "cli".into()),
                ("CLAUDE_CODE_SESSION_ID", common.session_id),
                ("CLAUDE_PID", std::process::id().to_string()),
                ("CLAUDE_PROJECT_DIR", common.cwd),
                ("CLAUDE_EFFORT", common.effort),
                ("COLUMNS", columns.to_string()),
                ("LINES", lines.to_string()),
            ],
            dir: self.place.dir.clone(),
        };
        let sender = sender.clone();
        thread::spawn(move || {
            let outcome = run.outcome();
            // The loop may have ended without waiting for this one.
            drop(sender.send(Incoming::HookDone { call, outcome }));
        });
        None
    }

    /// `/clear`: a conversation of its own, in a file of its own.
    fn begin_anew(&mut self) {
        let id = uuid::Uuid::new_v4().to_string();
        self.transcript = opening::fresh(&self.args, &self.place, &self.model, id);
        self.lines.clear();
        self.scroll = 0;
    }

    fn draw(&mut self, console: &mut Console) -> Result<()> {
        let working = self.chat.working();
        if !working {
            self.working_since = None;
        }
        let tenths = working.then(|| {
            let since = *self.working_since.get_or_insert_with(now);
            u64::try_from(now().duration_since(since).as_millis() / 100).unwrap_or(0)
        });
        console.title(tenths.map(|tenths| tenths / 10 % 2 == 1))?;
        let question = self.chat.question().map(turn::question);
        let queued = self.chat.queued();
        let figures = self.figures();
        let view = View {
            lines: &self.lines,
            scroll: self.scroll,
            input: &self.typing.input,
            question: question
                .as_deref()
                .map(|question| (question, self.typing.choice_is_no)),
            queued: &queued,
            working: tenths,
            hint: if self.typing.leaving {
                "  Press ctrl-c again to leave"
            } else {
                "  /help · /clear · /compact · /exit"
            },
            model: &self.model,
            figures: &figures,
        };
        let mut scrollable = 0;
        console.draw(|frame| scrollable = screen::draw(frame, &view))?;
        self.scrollable = scrollable;
        self.scroll = self.scroll.min(scrollable);
        Ok(())
    }

    /// `26k/200k 13%`
    fn figures(&self) -> String {
        let tokens = self.chat.tokens();
        let (context, window) = (tokens.context(), tokens.window());
        let window_text = match window {
            1_000_000 => "1M".to_owned(),
            other => format!("{}k", other / 1_000),
        };
        format!(
            "{}k/{window_text} {}% ",
            context / 1_000,
            context * 100 / window
        )
    }

    /// After the last screen: how to go on.
    pub(super) fn farewell(&self) {
        if !self.transcript.exists() {
            return;
        }
        let mut words = vec!["sessdeck", "practice-agent"];
        if let Some(settings) = &self.args.settings {
            words.extend(["--settings", settings]);
        }
        words.extend(["--resume", &self.transcript.chain.session_id]);
        let Ok(line) = shlex::try_join(words) else {
            return;
        };
        // A closed terminal has nobody to read it.
        drop(writeln!(
            std::io::stdout(),
            "Resume this session with:\n{line}"
        ));
    }
}

fn watch_signals(sender: Sender<Incoming>) -> Result<()> {
    let mut signals = Signals::new([SIGWINCH, SIGTERM, SIGHUP, SIGINT])?;
    thread::spawn(move || {
        for signal in &mut signals {
            if sender.send(Incoming::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

fn read_keys(sender: Sender<Incoming>) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        loop {
            let read = std::io::stdin().read(&mut bytes);
            let incoming = match read {
                Ok(0) => Incoming::Closed,
                Ok(length) => Incoming::Bytes(bytes[..length].to_vec()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => Incoming::Closed,
            };
            let closed = matches!(incoming, Incoming::Closed);
            if sender.send(incoming).is_err() || closed {
                return;
            }
        }
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the time here"
)]
fn now() -> Instant {
    Instant::now()
}

fn timestamp() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
