//! `sessdeck hook AGENT`: an event of an agent on stdin, an answer as that agent reads it on stdout.
//!
//! It decides alone, from files, and tells the server without waiting. Any doubt of ours is silence and exit 0.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::agents::{self, Event, HookCall, TurnEnd};
use crate::config::dirs::Dirs;
use crate::config::load::{self, Here, Inside};
use crate::deck::inbox;
use crate::deck::launch::{self, shell_quoted};
use crate::deck::profile::Profile;
use crate::deck::topic::{self, Verdict};
use crate::files::blocked::{self, BlockedPrompt};
use crate::files::hook_state::{HookFile, hash};
use crate::files::inbox::InboxFile;
use crate::protocol::hook::{self, Blocked, HookEvent, HookReport, Tell};
use crate::terminal::plain;

/// Larger events than this are let through unread; the largest honest one holds a prompt of some MB.
const LARGEST: u64 = 32 << 20;
/// The client writes its event at once. One that leaves stdin open is let through.
const PATIENCE: Duration = Duration::from_secs(2);
/// Telling the server is a courtesy; a server that is stuck must not be felt.
const TELL_PATIENCE: Duration = Duration::from_millis(100);
/// A longer prompt is opened by the number it was stored under.
const LONGEST_COMMAND: usize = 240;

/// Runs the hook of that agent. Never fails.
pub(crate) fn run(agent: &str, out: &mut impl Write) {
    let Some(stdin) = read_stdin() else { return };
    let Some(dialect) = agents::named(agent) else {
        return;
    };
    let Some(call) = dialect.hook(&stdin) else {
        return;
    };
    let Ok(dirs) = load::dirs() else { return };
    let inside = load::inside();
    let outcome = decide(agent, &call, &dirs, &inside);
    if let Some(reason) = &outcome.block {
        // A client that has closed its end has let the prompt through; that is its business.
        drop(writeln!(out, "{}", agents::answer_block(reason)));
    }
    tell(&inside, agent, call, outcome.event);
}

struct Outcome {
    block: Option<String>,
    event: HookEvent,
}

impl Outcome {
    fn pass(event: HookEvent) -> Self {
        Self { block: None, event }
    }
}

fn decide(agent: &str, call: &HookCall, dirs: &Dirs, inside: &Inside) -> Outcome {
    Outcome::pass(match &call.event {
        Event::Prompt { text } if call.subagent.is_none() => {
            let asked = Asked {
                agent,
                call,
                prompt: text,
                dirs,
                inside,
            };
            return asked
                .judge()
                .unwrap_or_else(|| Outcome::pass(HookEvent::Prompt));
        }
        Event::Prompt { .. } => HookEvent::Prompt,
        Event::Started { source } => HookEvent::Started {
            source: source.clone(),
        },
        Event::ToolStarts { tool } => HookEvent::ToolStarts { tool: tool.clone() },
        Event::ToolEnded { tool } => HookEvent::ToolEnded { tool: tool.clone() },
        Event::Permission { question } => HookEvent::Permission {
            question: question.clone(),
        },
        Event::Waiting { message } => HookEvent::Waiting {
            message: message.clone(),
        },
        Event::TurnEnded { why } => HookEvent::TurnEnded {
            why: match why {
                TurnEnd::Done => hook::TurnEnd::Done,
                TurnEnd::Error => hook::TurnEnd::Error,
                TurnEnd::Interrupted => hook::TurnEnd::Interrupted,
            },
        },
        Event::Ended { reason } => HookEvent::Ended {
            reason: reason.clone(),
        },
        Event::Other => HookEvent::Other {
            name: call.name.clone(),
        },
    })
}

/// A prompt on its way to the model.
struct Asked<'a> {
    agent: &'a str,
    call: &'a HookCall,
    prompt: &'a str,
    dirs: &'a Dirs,
    inside: &'a Inside,
}

impl Asked<'_> {
    /// The topic check; none lets the prompt through, whatever the reason.
    fn judge(&self) -> Option<Outcome> {
        // The task a session was started with is what it is for.
        if self.inside.task.as_deref() == Some(hash(self.prompt).as_str()) {
            return None;
        }
        let here = load::here(
            self.dirs,
            self.call.dir.as_deref().unwrap_or(Path::new(".")),
        )
        .ok()?;
        let set = &here.set.profiles;
        let current = set.named(self.inside.profile.as_deref()?)?;
        match topic::check(self.prompt, &current.name, set) {
            Verdict::Pass | Verdict::Short | Verdict::Slash | Verdict::Force => None,
            Verdict::Park { text } => Some(self.park(&text, &here)),
            Verdict::Block { profile, matched } => {
                let conversation = self.call.conversation.as_deref().unwrap_or_default();
                let passes = HookFile::new(&self.dirs.state, self.agent, conversation);
                if passes.is_some_and(|file| file.take_pass(self.prompt, now()).unwrap_or(false)) {
                    return None;
                }
                self.block(current, set.named(&profile)?, matched, &set.signs.force)
            }
        }
    }

    fn park(&self, text: &str, here: &Here) -> Outcome {
        let profile = launch::choose(text, &here.set.profiles);
        let profile = profile.winner.filter(|_| !profile.matched.is_empty());
        let line = inbox::line(&super::today(), profile.as_deref(), text);
        if line.is_empty() {
            let reason = format!(
                "nothing to park: write the idea behind `{}`",
                here.set.profiles.signs.park
            );
            return Outcome {
                block: Some(reason),
                event: HookEvent::Other {
                    name: "empty park".into(),
                },
            };
        }
        let parked = InboxFile::new(
            &here.repo.root,
            Path::new(&here.settings.inbox),
            &self.dirs.state,
        )
        .and_then(|file| file.append(&line));
        let first = plain(line.lines().next().unwrap_or_default());
        match parked {
            Ok(()) => Outcome {
                block: Some(format!("parked in the inbox, no turn spent: {first}")),
                event: HookEvent::Parked {
                    line: first,
                    prompt: self.prompt.to_owned(),
                },
            },
            // The idea is still in the person's hands: the block puts it back, and says why it was not written.
            Err(error) => Outcome {
                block: Some(format!("not parked: {}", error.line())),
                event: HookEvent::Other {
                    name: "park failed".into(),
                },
            },
        }
    }

    fn block(
        &self,
        current: &Profile,
        other: &Profile,
        matched: Vec<String>,
        force: &str,
    ) -> Option<Outcome> {
        let command = command(self.prompt, other);
        let blocked = BlockedPrompt {
            at: u64::try_from(now().duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()?,
            session: self.inside.session,
            agent: self.agent.to_owned(),
            conversation: self.call.conversation.clone(),
            dir: self.call.dir.clone().unwrap_or_default(),
            current: current.name.clone(),
            other: other.name.clone(),
            matched: matched.clone(),
            command: command.clone(),
            prompt: self.prompt.to_owned(),
        };
        // A prompt that cannot be stored is not blocked: nothing typed may be lost.
        let stored = blocked::store(&self.dirs.state, &blocked).ok()?;
        let words = matched.join(", ");
        let reason = plain_lines(&format!(
            "this looks like `{}`, and this session is for `{}` (matched: {words})\n\
             open it as its own session: {command}\n\
             or send it here all the same: put {force} at its end",
            other.name, current.name,
        ));
        let (current, other) = (current.name.clone(), other.name.clone());
        let event = HookEvent::Blocked(Blocked {
            stored,
            current,
            other,
            matched,
            command,
        });
        Some(Outcome {
            block: Some(reason),
            event,
        })
    }
}

/// Each line without control characters.
fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// The command that opens the prompt as a session of that profile.
fn command(prompt: &str, profile: &Profile) -> String {
    if prompt.contains('\n') || prompt.len() > LONGEST_COMMAND {
        return "sessdeck blocked open 1".to_owned();
    }
    let mut argv = vec![
        "sessdeck".to_owned(),
        "new".to_owned(),
        "--profile".to_owned(),
        profile.name.clone(),
    ];
    for (flag, value) in [("--model", &profile.model), ("--effort", &profile.effort)] {
        if let Some(value) = value {
            argv.extend([flag.to_owned(), value.clone()]);
        }
    }
    argv.extend(["--".to_owned(), prompt.to_owned()]);
    shell_quoted(&argv)
}

fn tell(inside: &Inside, agent: &str, call: HookCall, event: HookEvent) {
    let (Some(session), Some(socket)) = (inside.session, &inside.socket) else {
        return;
    };
    let report = HookReport {
        session,
        agent: agent.to_owned(),
        event,
        conversation: call.conversation,
        transcript: call.transcript,
        subagent: call.subagent,
    };
    let Ok(mut line) = serde_json::to_vec(&Tell::Hook(report)) else {
        return;
    };
    line.push(b'\n');
    let Ok(mut stream) = UnixStream::connect(socket) else {
        return;
    };
    drop(stream.set_write_timeout(Some(TELL_PATIENCE)));
    drop(stream.write_all(&line));
}

/// All of stdin; none if it is empty, too large or does not end in time.
fn read_stdin() -> Option<Vec<u8>> {
    let (done, read) = mpsc::channel();
    // The thread may outlive its use: a client that never closes stdin ends it with this process.
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let whole = std::io::stdin()
            .lock()
            .take(LARGEST)
            .read_to_end(&mut bytes)
            .is_ok();
        drop(done.send(whole.then_some(bytes)));
    });
    read.recv_timeout(PATIENCE)
        .ok()
        .flatten()
        .filter(|bytes| !bytes.is_empty())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a command is an edge: it reads the time once and hands it on"
)]
fn now() -> SystemTime {
    SystemTime::now()
}
