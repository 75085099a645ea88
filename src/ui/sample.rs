//! Made-up screens for stories and pictures.

use std::time::{Duration, Instant};

use super::keymap::Keymap;
use super::message::{Command, Message};
use super::state::{Screen, Start};
use crate::config::keys::{Chord, Key};
use crate::config::settings::Keys;
use crate::config::themes::Theme;
use crate::protocol::client::{
    Ask, AskKind, Frame, FromServer, Inbox, InboxLine, Meter, Notice, Request, Response, Session,
    State, Step,
};
use crate::terminal::{self, Cursor, KeyEvent, Line, Modes, Mods, Run, Size, Style, Width};

/// A screen with the time that passes on it, so that a story can type slowly.
pub(super) struct Stage {
    pub(super) screen: Screen,
    now: Instant,
}

impl Stage {
    /// A screen that greeted its server and has heard nothing yet.
    pub(super) fn new(cols: u16, rows: u16) -> Self {
        let keymap = Keymap::new(&Keys::default()).unwrap();
        let start = Start {
            dir: "/home/ada/app".into(),
            ..Start::default()
        };
        let size = Size { cols, rows };
        let mut stage = Self {
            screen: Screen::new(keymap, Theme::default(), start, size),
            now: beginning(),
        };
        stage.screen.greet();
        stage
    }

    /// The same with these sessions, of which the first is in front and shows its program.
    pub(super) fn with(cols: u16, rows: u16, sessions: Vec<Session>) -> Self {
        let mut stage = Self::new(cols, rows);
        stage.hear(Notice::Sessions(sessions));
        if stage.screen.tabs.front.is_some() {
            stage.hear(Notice::Frame(Box::new(frame(&stage.screen))));
        }
        stage.screen.painted();
        stage
    }

    pub(super) fn message(&mut self, message: Message) -> Vec<Command> {
        self.screen.update(message, self.now)
    }

    pub(super) fn hear(&mut self, notice: Notice) -> Vec<Command> {
        self.message(Message::Server(FromServer::Notice(notice)))
    }

    pub(super) fn respond(&mut self, id: u64, response: Response) -> Vec<Command> {
        self.message(Message::Server(FromServer::Response { id, response }))
    }

    pub(super) fn wait(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    /// Presses keys named as in the settings, with a space between, and a painted screen after each.
    pub(super) fn press(&mut self, keys: &str) -> Vec<Command> {
        let mut commands = Vec::new();
        for key in keys.split(' ') {
            commands.extend(self.message(Message::Key(event(key))));
            self.screen.painted();
        }
        commands
    }

    /// Types a text, letter by letter.
    pub(super) fn write(&mut self, text: &str) -> Vec<Command> {
        let mut commands = Vec::new();
        for char in text.chars() {
            let event = KeyEvent::press(terminal::Key::Char(char), Mods::NONE);
            commands.extend(self.message(Message::Key(event)));
            self.screen.painted();
        }
        commands
    }
}

#[expect(clippy::disallowed_methods, reason = "only differences of it count")]
fn beginning() -> Instant {
    Instant::now()
}

fn event(key: &str) -> KeyEvent {
    let chord: Chord = key.parse().unwrap();
    let held = [
        (chord.mods().ctrl, Mods::CTRL),
        (chord.mods().alt, Mods::ALT),
        (chord.mods().shift, Mods::SHIFT),
    ];
    let mods = held
        .into_iter()
        .filter(|(held, _)| *held)
        .fold(Mods::NONE, |all, (_, mods)| all.with(mods));
    let key = match chord.key() {
        Key::Char(char) => terminal::Key::Char(char),
        Key::F(number) => terminal::Key::F(number),
        Key::Enter => terminal::Key::Enter,
        Key::Esc => terminal::Key::Escape,
        Key::Tab => terminal::Key::Tab,
        Key::Backspace => terminal::Key::Backspace,
        Key::Delete => terminal::Key::Delete,
        Key::Insert => terminal::Key::Insert,
        Key::Home => terminal::Key::Home,
        Key::End => terminal::Key::End,
        Key::PageUp => terminal::Key::PageUp,
        Key::PageDown => terminal::Key::PageDown,
        Key::Up => terminal::Key::Up,
        Key::Down => terminal::Key::Down,
        Key::Left => terminal::Key::Left,
        Key::Right => terminal::Key::Right,
    };
    KeyEvent::press(key, mods)
}

/// The requests among the commands, without their numbers.
pub(super) fn requests(commands: &[Command]) -> Vec<Request> {
    commands
        .iter()
        .filter_map(|command| match command {
            Command::Send(message) => Some(message.request.clone()),
            Command::Paint(_)
            | Command::Shown { .. }
            | Command::Copy(_)
            | Command::Bell
            | Command::Quit(_) => None,
        })
        .collect()
}

/// The number of the last request that wants a response.
pub(super) fn last_id(commands: &[Command]) -> u64 {
    let ids = commands.iter().filter_map(|command| match command {
        Command::Send(message) => Some(message.id),
        Command::Paint(_)
        | Command::Shown { .. }
        | Command::Copy(_)
        | Command::Bell
        | Command::Quit(_) => None,
    });
    ids.filter(|id| *id > 0).max().unwrap_or(0)
}

pub(super) fn session(id: u64, title: &str, state: State) -> Session {
    Session {
        id,
        name: format!("s{id}"),
        title: title.into(),
        profile: Some("bugfix".into()),
        color: Some("#e06c75".into()),
        agent: "claude".into(),
        dir: "/home/ada/app".into(),
        repo: "/home/ada/app".into(),
        pid: Some(4000),
        state,
        state_signal: "hook".into(),
        state_since: "2026-12-01T09:00:00Z".into(),
        meter: meter(Some(182_000), Some(1_000_000)),
        conversation_id: None,
        transcript: None,
        exit_code: None,
        guarded: true,
        handoff_from: None,
        asks: Vec::new(),
    }
}

pub(super) fn meter(used: Option<u64>, window: Option<u64>) -> Meter {
    Meter {
        context_tokens: used,
        window,
        estimate: false,
        steps: vec![250_000, 400_000, 550_000, 650_000],
        compactions: 0,
    }
}

pub(super) fn blocked(id: u64) -> Ask {
    Ask {
        id,
        kind: AskKind::Blocked {
            prompt: "While you are at it, rewrite the README install section and fix its headings.\n\
                     The screenshots in docs/ are of last year, too."
                .into(),
            current: "bugfix".into(),
            other: "docs".into(),
            matched: vec!["readme".into(), "install".into(), "docs".into()],
            command: "sessdeck new --profile docs --model sonnet --effort medium -- 'While you are at it, \
                      rewrite the README install section and fix its headings.'"
                .into(),
        },
    }
}

pub(super) fn step(id: u64) -> Ask {
    Ask {
        id,
        kind: AskKind::Step {
            step: Step::Soft,
            context_tokens: 412_345,
            window: Some(1_000_000),
        },
    }
}

pub(super) fn stuck(id: u64) -> Ask {
    Ask {
        id,
        kind: AskKind::Stuck {
            agent: "a50debfdae02573a4".into(),
            context_tokens: 212_345,
            note: "/home/ada/app/docs/handoffs/agents/7c1d0a52-a50debfdae02573a4.md".into(),
        },
    }
}

pub(super) fn note(id: u64, missing: &[&str]) -> Ask {
    Ask {
        id,
        kind: AskKind::Note {
            path: "/home/ada/app/docs/handoffs/flaky-login.md".into(),
            missing: missing.iter().map(|what| (*what).to_owned()).collect(),
        },
    }
}

/// All states, wide titles, all kinds of meters.
pub(super) fn many() -> Vec<Session> {
    let mut sessions = vec![
        session(1, "fix the flaky login test", State::Working),
        session(
            2,
            "日本語テスト🙂➡️1️⃣ と、とても長い題名のセッション",
            State::NeedsYou,
        ),
        session(3, "release notes", State::YourTurn),
        session(4, "shell", State::Unknown),
        session(5, "try the new parser", State::Ended),
        session(6, "importer", State::Ended),
        session(7, "sleeping beauty", State::Asleep),
        session(
            8,
            "a very long title that nobody can read to its end here",
            State::Working,
        ),
    ];
    let look = |session: &mut Session, profile: Option<&str>, color: &str, meter: Meter| {
        session.profile = profile.map(str::to_owned);
        session.color = profile.map(|_| color.to_owned());
        session.meter = meter;
    };
    look(
        &mut sessions[1],
        Some("i18n"),
        "#c678dd",
        meter(Some(412_345), Some(1_000_000)),
    );
    look(
        &mut sessions[2],
        Some("docs"),
        "#56b6c2",
        meter(Some(90_000), None),
    );
    look(&mut sessions[3], None, "", Meter::default());
    sessions[3].agent = "shell".into();
    look(
        &mut sessions[4],
        Some("spike"),
        "orange",
        meter(Some(1_200), Some(200_000)),
    );
    sessions[4].exit_code = Some(0);
    look(
        &mut sessions[5],
        Some("feature"),
        "green",
        meter(Some(570_000), Some(1_000_000)),
    );
    sessions[5].exit_code = Some(127);
    look(
        &mut sessions[6],
        Some("review"),
        "blue",
        meter(Some(655_000), Some(1_000_000)),
    );
    let codex = Meter {
        estimate: true,
        ..meter(Some(130_000), Some(258_400))
    };
    look(
        &mut sessions[7],
        Some("performance-tuning"),
        "nonsense",
        codex,
    );
    sessions[7].agent = "codex".into();
    sessions[7].guarded = false;
    sessions[1].asks = vec![blocked(21), step(22)];
    sessions
}

/// Twelve in three repos.
pub(super) fn twelve() -> Vec<Session> {
    let mut sessions = many();
    for id in 9..=12 {
        sessions.push(session(
            id,
            &format!("session number {id}"),
            State::YourTurn,
        ));
    }
    for session in &mut sessions[5..9] {
        session.repo = "/home/ada/library".into();
    }
    for session in &mut sessions[9..] {
        session.repo = "/home/ada/notes and papers of the year".into();
    }
    sessions
}

pub(super) fn inbox() -> Inbox {
    let line = |n: usize, date: Option<&str>, profile: Option<&str>, text: &str| InboxLine {
        n,
        date: date.map(str::to_owned),
        profile: profile.map(str::to_owned),
        text: text.into(),
        detail: Vec::new(),
        hash: format!("hash{n}"),
    };
    let mut lines = vec![
        line(
            1,
            Some("2026-12-01"),
            Some("bugfix"),
            "retry count is off by one, src/net/retry.rs",
        ),
        line(
            2,
            Some("2026-11-30"),
            Some("docs"),
            "the install section names a flag that is gone, and the picture beside it is of the year before last",
        ),
        line(
            3,
            None,
            None,
            "ask whether the importer may drop empty rows\u{1b}[31m",
        ),
        line(
            4,
            Some("2026-11-28"),
            Some("i18n"),
            "日本語の題名が切れる、幅の狭い画面で",
        ),
    ];
    lines[1].detail = vec!["see the second heading".into(), "and the picture".into()];
    Inbox {
        repo: "/home/ada/app".into(),
        file: "/home/ada/app/hot-todo.md".into(),
        lines,
    }
}

fn run(text: &str, width: Width, style: Style) -> Run {
    Run {
        text: text.into(),
        style,
        width,
        link: None,
    }
}

/// What an agent may show, in the size that the screen has for it.
pub(super) fn frame(screen: &Screen) -> Frame {
    let size = screen.program().unwrap_or(Size { cols: 40, rows: 8 });
    let plain = Style::default();
    let bold = Style {
        attrs: terminal::Attrs::BOLD,
        ..plain
    };
    let dim = Style {
        fg: terminal::Color::Indexed(8),
        ..plain
    };
    let green = Style {
        fg: terminal::Color::Indexed(2),
        ..plain
    };
    let texts: Vec<Vec<Run>> = vec![
        vec![
            run("> ", Width::Narrow, dim),
            run("the login test fails one time in ten", Width::Narrow, bold),
        ],
        vec![],
        vec![
            run("● ", Width::Narrow, green),
            run("I will look at the test first.", Width::Narrow, plain),
        ],
        vec![run("  Read tests/login.rs (212 lines)", Width::Narrow, dim)],
        vec![
            run("  ", Width::Narrow, plain),
            run("漢字", Width::Wide, plain),
            run(" and ", Width::Narrow, plain),
            run("👩‍👩‍👧", Width::Cluster(2), plain),
            run(" keep their cells |", Width::Narrow, plain),
        ],
        vec![],
        vec![
            run("● ", Width::Narrow, green),
            run(
                "The clock is read twice. One reading is enough.",
                Width::Narrow,
                plain,
            ),
        ],
    ];
    Frame {
        number: 1,
        session: screen.tabs.front.unwrap_or(0),
        size,
        whole: true,
        rows: (0..size.rows).zip(texts.into_iter().map(Line)).collect(),
        cursor: Cursor {
            col: 2,
            row: size.rows - 1,
            visible: true,
            ..Cursor::default()
        },
        modes: Modes::default(),
    }
}
