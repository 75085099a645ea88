//! Whatever goes wrong with the hook, the agent does not feel it: exit 0, nothing on stderr, and either nothing on stdout or
//! one whole answer, within moments.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::hook::Chat;
use crate::patience::wait_until;

/// More than any run may take on a busy machine; the client's own limit is five seconds.
const MOMENTS: Duration = Duration::from_secs(4);

/// Belongs to `docs`.
const OFF_TOPIC: &str = "write the readme tutorial and changelog docs";

fn ended(child: Child, began: Instant) -> Output {
    let pid = Pid::from_child(&child);
    let (sender, said) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(said) = said.recv_timeout(MOMENTS.saturating_sub(began.elapsed())) else {
        kill_process(pid, Signal::KILL).expect("it runs");
        panic!("the hook does not end");
    };
    let said = said.expect("its output");
    assert_eq!(said.status.code(), Some(0), "{said:?}");
    assert!(said.stderr.is_empty(), "{said:?}");
    said
}

fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program under test")
}

/// What it answers to these bytes; null for nothing.
fn fed(command: &mut Command, input: &[u8]) -> Value {
    let began = Instant::now();
    let mut child = start(command);
    let mut stdin = child.stdin.take().expect("a pipe");
    // It may have read enough.
    stdin.write_all(input).ok();
    drop(stdin);
    let said = ended(child, began);
    if said.stdout.is_empty() {
        return Value::Null;
    }
    let answer: Value = serde_json::from_slice(&said.stdout).expect("one answer");
    let blocks = answer["decision"] == "block" && answer["reason"].is_string();
    let told = &answer["hookSpecificOutput"];
    let tells = told["hookEventName"].is_string() && told["additionalContext"].is_string();
    assert!(blocks || tells, "{answer}");
    answer
}

fn chat() -> Chat {
    let mut chat = Chat::new();
    chat.env("SESSDECK_PROFILE", "bugfix");
    chat
}

fn event(chat: &Chat, name: &str, more: &Value) -> Vec<u8> {
    let mut event = json!({
        "hook_event_name": name,
        "session_id": chat.id,
        "cwd": chat.home.repo(),
        "transcript_path": chat.home.path("transcripts/c1.jsonl"),
    });
    let more = more.as_object().expect("an object").clone();
    event.as_object_mut().expect("an object").extend(more);
    event.to_string().into_bytes()
}

fn prompt(chat: &Chat, text: &str) -> Vec<u8> {
    event(chat, "UserPromptSubmit", &json!({ "prompt": text }))
}

fn blocks(chat: &Chat) -> bool {
    let input = prompt(chat, OFF_TOPIC);
    fed(&mut chat.command(), &input)["decision"] == "block"
}

#[test]
fn no_event_is_let_through() {
    let chat = chat();
    let large = "x".repeat(20 << 20);
    for input in [
        &b""[..],
        b"\n",
        b"garbage",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b"{\"hook_event_name\":7}",
        b"{\"hook_event_name\":\"UserPromptSubmit\"}",
        b"{\"hook_event_name\":\"NewThing\",\"prompt\":{\"a\":1}}",
        b"{\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"half \\ud83d\",\"cwd\":\"/\"}",
        large.as_bytes(),
        format!("{{\"a\":\"{large}\"}}").as_bytes(),
    ] {
        assert_eq!(fed(&mut chat.command(), input), Value::Null);
    }
    for name in [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "SubagentStart",
        "SubagentStop",
        "PermissionRequest",
        "Notification",
        "Stop",
        "StopFailure",
        "PreCompact",
        "SessionEnd",
        "Interrupt",
        "",
        "nobody knows it",
    ] {
        let bare = format!("{{\"hook_event_name\":\"{name}\"}}");
        assert_eq!(
            fed(&mut chat.command(), bare.as_bytes()),
            Value::Null,
            "{name}"
        );
    }
    // A byte order mark, as some shells put in front, is no fault.
    let mut marked = b"\xEF\xBB\xBF".to_vec();
    marked.extend(prompt(&chat, OFF_TOPIC));
    assert_eq!(fed(&mut chat.command(), &marked)["decision"], "block");
}

#[test]
fn an_agent_nobody_knows_is_let_be() {
    let mut chat = chat();
    for agent in ["gemini", "shell", "", "--help", "../claude"] {
        chat.agent = agent;
        let input = prompt(&chat, OFF_TOPIC);
        assert_eq!(fed(&mut chat.command(), &input), Value::Null, "{agent}");
    }
}

#[test]
fn an_input_that_does_not_end_is_left() {
    let chat = chat();
    let began = Instant::now();
    let mut child = start(&mut chat.command());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"hook_event_name\":").unwrap();
    let said = ended(child, began);
    assert!(said.stdout.is_empty());
    drop(stdin);
}

#[test]
fn a_prompt_of_many_megabytes_is_judged_or_let_through_in_time() {
    let chat = chat();
    let words = format!(
        "{OFF_TOPIC}\n{}",
        "and so on it goes with it ".repeat(800_000)
    );
    assert_eq!(
        fed(&mut chat.command(), &prompt(&chat, &words[..1 << 20]))["decision"],
        "block"
    );
    assert!(words.len() > 20_000_000);
    fed(&mut chat.command(), &prompt(&chat, &words));
    // What is larger than any prompt is not read.
    let huge = prompt(&chat, &words.repeat(2));
    assert_eq!(fed(&mut chat.command(), &huge), Value::Null);
}

#[test]
fn a_server_that_is_gone_or_stuck_is_not_felt() {
    let mut chat = chat();
    let socket = chat.home.path("s.sock");
    chat.env("SESSDECK_SESSION", "1");
    chat.env("SESSDECK_SOCKET", socket.to_str().unwrap());
    assert!(blocks(&chat), "no socket");
    fs::write(&socket, "").unwrap();
    assert!(blocks(&chat), "no socket but a file");
    fs::remove_file(&socket).unwrap();

    // It accepts nothing: after a while its queue is full.
    let listener = UnixListener::bind(&socket).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    for _ in 0..4 {
        assert!(blocks(&chat));
    }
    drop(listener);
    fs::remove_file(&socket).unwrap();
    // It accepts and reads nothing, and the event is larger than what a socket holds.
    let listener = UnixListener::bind(&socket).unwrap();
    let accepted = thread::spawn(move || listener.accept().map(|(stream, _)| stream));
    let long = format!(">> {}", "park it ".repeat(40_000));
    let input = prompt(&chat, &long);
    assert_eq!(fed(&mut chat.command(), &input)["decision"], "block");
    drop(accepted.join().unwrap());
    chat.env("SESSDECK_SESSION", "no number");
    assert!(blocks(&chat));
}

#[test]
fn a_transcript_that_cannot_be_read_moves_nothing() {
    let chat = Chat::new();
    let path = chat.home.path("transcripts/c1.jsonl");
    let asks = || {
        let tool = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } });
        for (name, more) in [
            ("UserPromptSubmit", json!({ "prompt": "go on" })),
            ("PostToolUse", tool.clone()),
            ("PreToolUse", tool),
        ] {
            let input = event(&chat, name, &more);
            assert_eq!(fed(&mut chat.command(), &input), Value::Null, "{name}");
        }
    };
    fs::remove_file(&path).unwrap();
    asks();
    fs::create_dir(&path).unwrap();
    asks();
    fs::remove_dir(&path).unwrap();
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
    asks();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    asks();
    fs::remove_file(&path).unwrap();
    for bytes in [
        &b"\xff\x00\n\n{\n"[..],
        b"{\"type\":\"assistant\"",
        &vec![b'x'; 3 << 20],
    ] {
        fs::write(&path, bytes).unwrap();
        asks();
    }
}

#[test]
fn settings_that_cannot_be_read_are_told_in_the_log_alone() {
    for (file, text) in [
        ("deck/config/config.toml", "= 1\n"),
        ("deck/config/profiles/broken.toml", "= 1\n"),
        ("repo/.sessdeck/profiles.toml", "[[profile]]\nnam = 1\n"),
        ("repo/.sessdeck/config.toml", "= 1\n"),
        // A folder is no file that anyone could read.
        ("deck/config/profiles/folder.toml/x", ""),
    ] {
        let mut chat = chat();
        chat.home.write(file, text);
        assert!(!blocks(&chat), "{file}");
        // The brake needs none of them.
        chat.holds(260_000);
        let input = prompt(&chat, "go on");
        let answer = fed(&mut chat.command(), &input);
        assert!(answer["hookSpecificOutput"].is_object(), "{file}");
        let log = chat.home.read("deck/state/log/hook.jsonl");
        let line: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
        let fault = line["fault"].as_str().unwrap();
        let name = file.trim_end_matches("/x").rsplit('/').next().unwrap();
        assert!(fault.contains(name), "{fault}");
        assert!(!log.contains("changelog"), "{log}");
        let sums = chat.home.sessdeck(&["stats", "--guard", "--json"]).json();
        assert_eq!(sums["faults"], 2, "{sums}");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    for file in [
        "deck/config/config.toml",
        "deck/config/profiles/p.toml",
        "deck/state/hooks/claude-c1.json",
        "repo/docs/handoffs/bugfix-c1.md",
    ] {
        let mut chat = chat();
        chat.home.write(file, "");
        let path = chat.home.path(file);
        fs::remove_file(&path).unwrap();
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        chat.holds(651_000);
        let touch = json!({ "tool_name": "Bash", "tool_input": { "command": "touch x" } });
        let input = event(&chat, "PreToolUse", &touch);
        assert_eq!(
            fed(&mut chat.command(), &input)["decision"],
            "block",
            "{file}"
        );
        // Within a moment, not by the last resort.
        let log = chat.home.read("deck/state/log/hook.jsonl");
        assert!(!log.contains("took too long"), "{log}");
    }
}

#[test]
fn what_cannot_be_written_is_done_without() {
    // The state cannot be a folder: nothing can be remembered, stored or logged.
    let mut chat = chat();
    fs::create_dir_all(chat.home.path("deck")).unwrap();
    fs::write(chat.home.path("deck/state"), "").unwrap();
    // Nothing typed may be lost: what cannot be stored is not held back.
    assert!(!blocks(&chat));
    chat.holds(260_000);
    let input = prompt(&chat, "go on");
    assert_eq!(fed(&mut chat.command(), &input), Value::Null);

    let full = Command::new("unshare")
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            "mount -t tmpfs -o ro none . && exec true",
        ])
        .current_dir(chat.home.path("transcripts"))
        .status()
        .unwrap();
    assert!(full.success(), "mounts are needed for this test");
    for options in ["ro", "size=4k"] {
        let chat = self::chat();
        fs::create_dir_all(chat.home.path("deck/state")).unwrap();
        let script = format!(
            "mount -t tmpfs -o {options} none \"$SESSDECK_HOME/state\"; \
             test {options} = ro || head -c 9000 /dev/zero >\"$SESSDECK_HOME/state/full\" 2>/dev/null; exec \"$@\""
        );
        let ours = chat.command();
        let mut command = Command::new("unshare");
        command
            .args([
                "--user",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                &script,
                "sh",
            ])
            .arg(ours.get_program())
            .args(ours.get_args())
            .env_clear()
            .envs(
                ours.get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
        let input = prompt(&chat, OFF_TOPIC);
        assert_eq!(fed(&mut command, &input), Value::Null, "{options}");
    }
}

#[test]
fn a_closed_stdout_is_the_clients_business() {
    let chat = chat();
    let began = Instant::now();
    let mut child = start(&mut chat.command());
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&prompt(&chat, OFF_TOPIC)).unwrap();
    drop(stdin);
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(stderr.is_empty(), "{stderr}");
    assert!(began.elapsed() < MOMENTS);
}

#[test]
fn files_from_the_future_are_no_fault() {
    let mut chat = chat();
    assert!(blocks(&chat));
    chat.holds(651_000);
    let touches = |chat: &Chat| {
        let touch = json!({ "tool_name": "Bash", "tool_input": { "command": "touch x" } });
        let input = event(chat, "PreToolUse", &touch);
        fed(&mut chat.command(), &input)["decision"] == "block"
    };
    assert!(touches(&chat));
    // The clock went back: what was written and remembered lies ahead.
    let ahead = SystemTime::now() + Duration::from_secs(86_400);
    let millis = ahead
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_millis();
    let state = json!({ "steps": [250_000, 400_000, 550_000, 650_000], "stopped": 1, "passes": [
        { "hash": "x", "until": u64::try_from(millis).unwrap() },
    ] });
    chat.home
        .write("deck/state/hooks/claude-c1.json", &state.to_string());
    let note = "repo/docs/handoffs/bugfix-c1.md";
    let headings = "Goal\nx\n## Done\nx\n## Left\nx\n## Open decisions\nx\n## Next step\nx\n## Files to open\nx\n";
    chat.home.write(note, &format!("## {headings}"));
    for path in [
        note,
        "deck/state/hooks/claude-c1.json",
        "transcripts/c1.jsonl",
    ] {
        let file = fs::OpenOptions::new()
            .append(true)
            .open(chat.home.path(path))
            .unwrap();
        file.set_times(fs::FileTimes::new().set_modified(ahead))
            .unwrap();
    }
    assert!(!touches(&chat));
    assert!(blocks(&chat));
}

#[test]
fn two_hooks_at_once_say_it_once() {
    let mut chat = Chat::new();
    chat.holds(260_000);
    let input = event(&chat, "PostToolUse", &json!({ "tool_name": "Bash" }));
    let mut running: Vec<Child> = (0..8).map(|_| start(&mut chat.command())).collect();
    for child in &mut running {
        child.stdin.take().unwrap().write_all(&input).unwrap();
    }
    let began = Instant::now();
    let told = running
        .into_iter()
        .map(|child| ended(child, began).stdout)
        .filter(|said| !said.is_empty())
        .count();
    assert_eq!(told, 1);
}

#[test]
fn no_home_and_no_folder_are_let_be() {
    let chat = chat();
    let input = prompt(&chat, OFF_TOPIC);
    // Without any place for state nothing can be decided.
    let mut homeless = Command::new(crate::home::SESSDECK);
    homeless
        .args(["hook", "claude"])
        .env_clear()
        .env("SESSDECK_PROFILE", "bugfix");
    assert_eq!(fed(&mut homeless, &input), Value::Null);
    homeless
        .env("HOME", "/proc/nonexistent")
        .env("XDG_RUNTIME_DIR", "/proc/nonexistent");
    assert_eq!(fed(&mut homeless, &input), Value::Null);
    // The folder that it is started in was removed.
    let gone = chat.home.path("gone");
    fs::create_dir(&gone).unwrap();
    let mut command = Command::new("sh");
    let ours = chat.command();
    command
        .args(["-c", "rmdir ../gone && exec \"$@\"", "sh"])
        .arg(ours.get_program())
        .args(ours.get_args())
        .env_clear()
        .envs(
            ours.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&gone);
    assert_eq!(fed(&mut command, &input)["decision"], "block");
    let nowhere = event(
        &chat,
        "UserPromptSubmit",
        &json!({ "prompt": OFF_TOPIC, "cwd": gone }),
    );
    fed(&mut chat.command(), &nowhere);
    wait_until("the folder to be gone", || (!gone.exists()).then_some(()));
}

#[test]
fn the_log_says_what_was_decided_and_no_prompt() {
    let mut chat = chat();
    assert!(blocks(&chat));
    chat.holds(260_000);
    let input = prompt(&chat, "reproduce the crash once more please now");
    fed(&mut chat.command(), &input);
    let input = prompt(&chat, ">> the secret idea of mine");
    fed(&mut chat.command(), &input);
    let input = prompt(&chat, &format!("{OFF_TOPIC} !!"));
    fed(&mut chat.command(), &input);
    let log = chat.home.read("deck/state/log/hook.jsonl");
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let verdicts: Vec<&str> = lines
        .iter()
        .map(|line| line["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["block", "pass", "parked", "force"]);
    assert_eq!(lines[0]["profile"], "docs");
    assert!(lines[0]["matched"].as_array().unwrap().len() >= 2);
    assert_eq!(lines[1]["step"], "checkpoint");
    assert_eq!(lines[1]["context_tokens"], 260_000);
    for line in &lines {
        assert!(
            line["ms"].as_f64().unwrap() > 0.0 && line["time"].as_str().unwrap().ends_with('Z')
        );
        assert!(line.get("prompt").is_none());
    }
    assert!(
        !log.contains("secret idea") && !log.contains("once more"),
        "{log}"
    );

    let sums = chat.home.sessdeck(&["stats", "--guard", "--json"]).json();
    for (name, count) in [
        ("blocks", 1),
        ("overrides", 1),
        ("parks", 1),
        ("decisions", 4),
        ("faults", 0),
    ] {
        assert_eq!(sums[name], count, "{name} in {sums}");
    }
    assert_eq!(sums["steps"], json!({ "checkpoint": 1 }));
    assert_eq!(sums["took_ms"]["UserPromptSubmit"]["runs"], 4);
    let shown = chat.home.sessdeck(&["stats", "--guard"]).ok();
    assert!(shown.contains("1  prompts held back"), "{shown}");
    assert_eq!(chat.home.sessdeck(&["stats"]).code, Some(2));

    chat.home
        .write("deck/config/config.toml", "[log]\nprompts = true\n");
    fed(&mut chat.command(), &input);
    assert!(
        chat.home
            .read("deck/state/log/hook.jsonl")
            .contains("changelog docs !!")
    );
}
