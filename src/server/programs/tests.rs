//! A real keeper process with real children, seen from the server's side.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::keeper::Opened;
use super::{Keeper, Output, Program, Refused, Report, Start};
use crate::deck::SessionId;
use crate::keeper;
use crate::protocol::keeper::{Exit, LARGEST_REQUEST};
use crate::protocol::wire;
use crate::terminal::Size;

const SIZE: Size = Size { cols: 80, rows: 24 };
const LONG: Duration = Duration::from_secs(20);

/// Not a test: what [`Deck::start`] runs in a process of its own, in a folder marked for it.
#[test]
#[ignore = "the keeper process of the other tests"]
fn keeper_process() {
    if Path::new("keeper-wanted").exists() {
        let ending = keeper::run(Path::new("keeper.sock")).unwrap();
        if ending == keeper::Ending::Taken {
            fs::write("taken", "").unwrap();
        }
    }
}

fn spawn_keeper(dir: &Path) -> Child {
    let test = format!("{}::keeper_process", module_path!());
    let (_, test) = test.split_once("::").unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--test-threads=1"])
        .current_dir(dir)
        .env("KEEPERS_OWN", "secret")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// A keeper in a folder of its own, ended with all that it holds when dropped.
struct Deck {
    dir: TempDir,
    process: Child,
}

impl Deck {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("keeper-wanted"), "").unwrap();
        let process = spawn_keeper(dir.path());
        let deck = Self { dir, process };
        wait_for("the socket", || deck.socket().exists());
        deck
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("keeper.sock")
    }

    fn connect(&self) -> (Keeper, Receiver<Report>) {
        let (sender, reports) = mpsc::channel();
        let keeper = Keeper::connect(&self.socket(), move |report| {
            let _gone = sender.send(report);
        });
        (keeper.unwrap(), reports)
    }

    fn open(&self, keeper: &mut Keeper, session: u64, argv: &[&str]) -> Opened {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let start = Start {
            argv: &argv,
            env: &env(&[]),
            dir: self.dir.path(),
            size: SIZE,
        };
        keeper.open(SessionId(session), &start).unwrap()
    }

    fn shell(&self, keeper: &mut Keeper, session: u64, script: &str) -> Opened {
        self.open(keeper, session, &["/bin/sh", "-c", script])
    }

    /// The text of a file that a program writes there whole, by a rename.
    fn file(&self, name: &str) -> String {
        let path = self.dir.path().join(name);
        wait_for(name, || path.exists());
        fs::read_to_string(path).unwrap()
    }
}

impl Drop for Deck {
    fn drop(&mut self) {
        if let Ok(mut keeper) = Keeper::connect(&self.socket(), |_| {}) {
            drop(keeper.stop(true));
        } else {
            drop(self.process.kill());
        }
        drop(self.process.wait());
    }
}

fn env(more: &[(&str, &str)]) -> BTreeMap<String, String> {
    [("PATH", "/usr/bin:/bin"), ("TERM", "xterm")]
        .iter()
        .chain(more)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test that never ends tells nothing"
)]
fn wait_for(what: &str, mut seen: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !seen() {
        assert!(begun.elapsed() < LONG, "{what} was not seen");
        thread::park_timeout(Duration::from_millis(2));
    }
}

/// The state of a process as `/proc` names it; None when there is none.
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

fn read_until(output: &Output, wanted: &str) -> String {
    let mut seen = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        let count = output.read(&mut bytes).unwrap();
        seen.extend_from_slice(&bytes[..count]);
        let text = String::from_utf8_lossy(&seen);
        if text.contains(wanted) {
            return text.into_owned();
        }
        assert!(count > 0, "`{wanted}` was not seen, but `{text}`");
    }
}

fn read_all(output: &Output) -> String {
    let mut seen = Vec::new();
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = output.read(&mut bytes) {
        seen.extend_from_slice(&bytes[..count]);
    }
    String::from_utf8_lossy(&seen).into_owned()
}

fn exited(reports: &Receiver<Report>) -> (u64, Exit) {
    match reports.recv_timeout(LONG).unwrap() {
        Report::Exited { session, exit } => (session.0, exit),
        Report::Gone => panic!("the keeper is gone"),
    }
}

#[test]
fn a_program_is_started_fed_read_resized_and_its_exit_told() {
    let deck = Deck::start();
    let (mut keeper, reports) = deck.connect();
    let opened = deck.shell(
        &mut keeper,
        1,
        "stty size; trap 'stty size; exit 3' WINCH; read line; echo got $line; while :; do read x; done",
    );
    let (program, output) = Program::new(opened.master).unwrap();
    read_until(&output, "24 80");
    program.input().write(b"hello\n".to_vec()).unwrap();
    read_until(&output, "got hello");
    program
        .resize(Size {
            cols: 100,
            rows: 30,
        })
        .unwrap();
    program.input().write(b"\n".to_vec()).unwrap();
    read_until(&output, "30 100");
    assert_eq!(exited(&reports), (1, Exit::Code(3)));
    read_all(&output);
}

#[test]
fn children_get_what_was_given_and_nothing_of_the_keeper() {
    let deck = Deck::start();
    let (mut keeper, _reports) = deck.connect();
    let script = "env > env; umask > umask; ls /proc/self/fd > fds; tty > tty; pwd; echo done";
    let argv = ["sh", "-c", script].map(str::to_owned);
    let start = Start {
        argv: &argv,
        env: &env(&[("MINE", "größe = 1")]),
        dir: deck.dir.path(),
        size: SIZE,
    };
    let opened = keeper.open(SessionId(1), &start).unwrap();
    let (_program, output) = Program::new(opened.master).unwrap();
    let text = read_until(&output, "done");
    assert!(text.contains(deck.dir.path().to_str().unwrap()), "{text}");
    let environment = deck.file("env");
    for wanted in ["MINE=größe = 1", "LC_CTYPE=C.UTF-8", "TERM=xterm"] {
        assert!(
            environment.lines().any(|line| line == wanted),
            "no `{wanted}` in {environment}"
        );
    }
    assert!(!environment.contains("KEEPERS_OWN"), "{environment}");
    let ours = fs::read_to_string("/proc/self/status").unwrap();
    let ours = ours.lines().find_map(|line| line.strip_prefix("Umask:\t"));
    assert_eq!(deck.file("umask").trim(), ours.unwrap());
    // The last one is the folder that `ls` lists.
    assert_eq!(deck.file("fds"), "0\n1\n2\n3\n");
    assert!(deck.file("tty").starts_with("/dev/pts/"));
}

#[test]
fn a_keeper_belongs_to_no_terminal_and_no_folder() {
    let deck = Deck::start();
    let (mut keeper, _reports) = deck.connect();
    deck.shell(&mut keeper, 1, "read line");
    let proc = PathBuf::from(format!("/proc/{}", keeper.pid()));
    let stat = fs::read_to_string(proc.join("stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    assert_eq!(
        (fields[3], fields[4]),
        (keeper.pid().to_string().as_str(), "0")
    );
    let status = fs::read_to_string(proc.join("status")).unwrap();
    assert!(status.contains("Umask:\t0077"), "{status}");
    assert_eq!(fs::read_link(proc.join("cwd")).unwrap(), Path::new("/"));
    for fd in ["fd/0", "fd/1", "fd/2"] {
        assert_eq!(
            fs::read_link(proc.join(fd)).unwrap(),
            Path::new("/dev/null")
        );
    }
}

#[test]
fn a_keeper_starts_where_the_leader_of_its_session_cannot_be_named() {
    // As in a container that a program is put into: its session began outside.
    let by = "--user --map-root-user --pid --fork --kill-child --mount-proc";
    let tests = module_path!().split_once("::").unwrap().1;
    let said = Command::new("unshare")
        .args(by.split(' '))
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("{tests}::a_keeper_belongs_to_no_terminal_and_no_folder"),
        ])
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success() && out.contains("1 passed"), "{out}");
}

#[test]
fn the_next_server_finds_the_programs_and_hears_of_exits() {
    let deck = Deck::start();
    let (mut first, _reports) = deck.connect();
    let lives = deck.shell(&mut first, 1, "while read line; do echo echo $line; done");
    let ends = deck.shell(&mut first, 2, "exit 7");
    let killed = deck.shell(&mut first, 3, "kill -9 $$");
    drop(first);
    drop(ends.master);
    drop(killed.master);
    drop(lives.master);

    let (mut next, reports) = deck.connect();
    let mut held = Vec::new();
    wait_for("both exits", || {
        held = next.list().unwrap();
        held.iter().filter(|held| held.exit.is_some()).count() == 2
    });
    let told: Vec<_> = held
        .iter()
        .map(|held| (held.session.0, held.exit))
        .collect();
    assert_eq!(
        told,
        [
            (1, None),
            (2, Some(Exit::Code(7))),
            (3, Some(Exit::Signal(9)))
        ]
    );
    let first = held.remove(0);
    assert_eq!((first.pid, first.size), (lives.pid, SIZE));
    let (program, output) = Program::new(first.master).unwrap();
    program.input().write(b"still here\n".to_vec()).unwrap();
    read_until(&output, "echo still here");
    for session in [2, 3] {
        next.forget(SessionId(session)).unwrap();
    }
    assert_eq!(next.list().unwrap().len(), 1);
    program.input().write(vec![4]).unwrap();
    // Those of the other two may have come on this connection as well.
    let mut last = exited(&reports);
    while last.0 != 1 {
        last = exited(&reports);
    }
    assert_eq!(last, (1, Exit::Code(0)));
}

#[test]
fn an_ended_session_leaves_no_process_behind_and_touches_no_other() {
    let deck = Deck::start();
    let (mut keeper, reports) = deck.connect();
    // A grandchild that ignores what can be ignored, one in a session of its own, one that is stopped.
    let stubborn = "trap '' HUP TERM; (while :; do sleep 1; done) & echo $! > a.new; mv a.new a; \
        setsid sh -c 'trap \"\" HUP TERM; echo $$ > b.new; mv b.new b; while :; do sleep 1; done' & \
        sh -c 'kill -STOP $$' & echo $! > c.new; mv c.new c; wait";
    let opened = deck.shell(&mut keeper, 1, stubborn);
    let same_name = deck.shell(&mut keeper, 2, "echo ready; read line");
    let pids: Vec<u32> = ["a", "b", "c"]
        .iter()
        .map(|name| deck.file(name).trim().parse().unwrap())
        .chain([opened.pid])
        .collect();
    wait_for("the stopped child", || state(pids[2]) == Some('T'));
    let begun = now();
    keeper.end(SessionId(1)).unwrap();
    assert_eq!(exited(&reports), (1, Exit::Signal(9)));
    keeper.forget(SessionId(1)).unwrap();
    wait_for("the end of all", || {
        pids.iter().all(|pid| state(*pid).is_none())
    });
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    assert!(state(same_name.pid).is_some_and(|state| state != 'Z'));
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time that an end takes is what is tested"
)]
fn now() -> Instant {
    Instant::now()
}

#[test]
fn what_an_ended_program_left_running_ends_when_it_is_forgotten() {
    let deck = Deck::start();
    let (mut keeper, reports) = deck.connect();
    deck.shell(
        &mut keeper,
        1,
        "trap '' HUP; (while :; do sleep 1; done) & echo $! > a.new; mv a.new a; exit 0",
    );
    let left: u32 = deck.file("a").trim().parse().unwrap();
    assert_eq!(exited(&reports), (1, Exit::Code(0)));
    assert!(state(left).is_some());
    keeper.forget(SessionId(1)).unwrap();
    assert!(keeper.list().unwrap().is_empty());
    wait_for("the end of what was left", || state(left).is_none());
}

#[test]
fn fifty_sessions_live_beside_each_other() {
    let deck = Deck::start();
    let (mut keeper, reports) = deck.connect();
    let all: Vec<_> = (0..50)
        .map(|session| {
            let opened = deck.shell(
                &mut keeper,
                session,
                "read line; echo $line-$line; exit $line",
            );
            Program::new(opened.master).unwrap()
        })
        .collect();
    assert_eq!(keeper.list().unwrap().len(), 50);
    for (code, (program, _)) in all.iter().enumerate() {
        program
            .input()
            .write(format!("{code}\n").into_bytes())
            .unwrap();
    }
    for (code, (_, output)) in all.iter().enumerate() {
        read_until(output, &format!("{code}-{code}"));
    }
    let mut exits: Vec<_> = (0..50).map(|_| exited(&reports)).collect();
    exits.sort_by_key(|(session, _)| *session);
    let expected: Vec<_> = (0..50)
        .map(|code: u64| (code, Exit::Code(i32::try_from(code).unwrap())))
        .collect();
    assert_eq!(exits, expected);
}

#[test]
fn a_start_that_fails_says_why_and_leaves_nothing() {
    let deck = Deck::start();
    let (mut keeper, _reports) = deck.connect();
    let pid = keeper.pid();
    let descriptors = || fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let before = descriptors();
    for (argv, dir, said) in [
        (
            ["no-such-agent"],
            "/",
            "there is no `no-such-agent` on the PATH of the session",
        ),
        (
            ["/etc/passwd"],
            "/",
            "`/etc/passwd` is not an executable file",
        ),
        (["sh"], "/no/such/dir", "there is no folder `/no/such/dir`"),
    ] {
        let argv = argv.map(str::to_owned);
        let start = Start {
            argv: &argv,
            env: &env(&[]),
            dir: Path::new(dir),
            size: SIZE,
        };
        let error = keeper.open(SessionId(1), &start).unwrap_err();
        assert_eq!(error.line(), said);
    }
    assert_eq!(descriptors(), before);
    assert!(keeper.list().unwrap().is_empty());
    for failed in [
        keeper.forget(SessionId(9)),
        keeper.end(SessionId(9)),
        keeper.signal(SessionId(9), 15),
    ] {
        assert_eq!(failed.unwrap_err().line(), "no session 9 is held");
    }
    let opened = deck.shell(&mut keeper, 1, "read line");
    let argv = ["sh".to_owned()];
    let start = Start {
        argv: &argv,
        env: &env(&[]),
        dir: Path::new("/"),
        size: SIZE,
    };
    assert_eq!(
        keeper.open(SessionId(1), &start).unwrap_err().line(),
        "session 1 is held already"
    );
    assert!(keeper.signal(SessionId(1), 4000).is_err());
    drop(opened);
}

#[test]
fn a_signal_reaches_every_process_of_the_session() {
    let deck = Deck::start();
    let (mut keeper, reports) = deck.connect();
    deck.shell(
        &mut keeper,
        1,
        "trap 'exit 5' USR1; sleep 1000 & echo $! > a.new; mv a.new a; wait",
    );
    let child: u32 = deck.file("a").trim().parse().unwrap();
    keeper.signal(SessionId(1), 10).unwrap();
    assert_eq!(exited(&reports), (1, Exit::Code(5)));
    wait_for("the end of the child", || state(child).is_none());
}

#[test]
fn strange_peers_disturb_nobody() {
    let deck = Deck::start();
    let (mut keeper, _reports) = deck.connect();
    let connect = || UnixStream::connect(deck.socket()).unwrap();
    let mut half = connect();
    half.write_all(&1000u32.to_le_bytes()).unwrap();
    half.write_all(b"half a frame").unwrap();
    let mut huge = connect();
    huge.write_all(&u32::MAX.to_le_bytes()).unwrap();
    let mut noise = connect();
    noise.write_all(&4u32.to_le_bytes()).unwrap();
    noise.write_all(b"\xc1\xc1\xc1\xc1").unwrap();
    // Both are shown the door, which also says that the keeper has read them.
    for stream in [&mut huge, &mut noise] {
        assert_eq!(stream.read(&mut [0; 16]).unwrap_or(0), 0);
    }
    let idle: Vec<UnixStream> = (0..100).map(|_| connect()).collect();
    assert!(keeper.list().unwrap().is_empty());

    let mut later = connect();
    later.set_read_timeout(Some(LONG)).unwrap();
    let request = BTreeMap::from([("id", 5)]);
    wire::send(&mut later, &request).unwrap();
    let answer: BTreeMap<String, serde_json::Value> = wire::receive(&mut later).unwrap();
    assert_eq!(answer["id"], 5);
    assert!(
        answer["body"]
            .to_string()
            .contains("does not know that request")
    );
    drop(idle);
    drop(half);
}

#[test]
fn a_peer_that_asks_and_never_reads_is_dropped() {
    let deck = Deck::start();
    let (mut keeper, _reports) = deck.connect();
    for session in 0..10 {
        deck.shell(&mut keeper, session, "read line");
    }
    let mut deaf = UnixStream::connect(deck.socket()).unwrap();
    deaf.set_write_timeout(Some(LONG)).unwrap();
    let question = wire::encode(&crate::protocol::keeper::ToKeeper {
        id: 1,
        request: crate::protocol::keeper::Request::List,
    })
    .unwrap();
    let many = question.repeat(1000);
    wait_for("the end of the connection", || {
        deaf.write_all(&many).is_err()
    });
    assert_eq!(keeper.list().unwrap().len(), 10);
    assert!(many.len() < LARGEST_REQUEST);
}

#[test]
fn of_two_keepers_one_serves_and_the_other_says_so() {
    let deck = Deck::start();
    let (keeper, _reports) = deck.connect();
    let pid = keeper.pid();
    let mut second = spawn_keeper(deck.dir.path());
    assert!(second.wait().unwrap().success());
    assert!(deck.dir.path().join("taken").exists());
    let (again, _reports) = deck.connect();
    assert_eq!(again.pid(), pid);
}

#[test]
fn a_keeper_takes_the_place_of_one_that_was_killed() {
    let mut deck = Deck::start();
    let (mut keeper, reports) = deck.connect();
    let opened = deck.shell(
        &mut keeper,
        1,
        "echo $$; while read line; do echo echo $line; done",
    );
    let (program, output) = Program::new(opened.master).unwrap();
    deck.process.kill().unwrap();
    deck.process.wait().unwrap();
    assert_eq!(reports.recv_timeout(LONG).unwrap(), Report::Gone);
    assert!(keeper.list().is_err());
    // The server goes on with the master it has.
    program.input().write(b"alone\n".to_vec()).unwrap();
    read_until(&output, "echo alone");

    deck.process = spawn_keeper(deck.dir.path());
    wait_for("the new keeper", || {
        Keeper::connect(&deck.socket(), |_| {}).is_ok()
    });
    let (mut keeper, _reports) = deck.connect();
    assert!(keeper.list().unwrap().is_empty());
    program.input().write(vec![4]).unwrap();
    read_all(&output);
    wait_for("the end of the orphan", || {
        state(opened.pid).is_none_or(|state| state == 'Z')
    });
}

#[test]
fn signals_do_not_end_a_keeper_with_children() {
    let mut deck = Deck::start();
    let (mut keeper, reports) = deck.connect();
    let opened = deck.shell(&mut keeper, 1, "echo ready; read line; exit 4");
    let (program, output) = Program::new(opened.master).unwrap();
    read_until(&output, "ready");
    let pid = rustix::process::Pid::from_raw(i32::try_from(keeper.pid()).unwrap()).unwrap();
    for signal in [1, 2, 3, 10, 12, 15] {
        let signal = rustix::process::Signal::from_named_raw(signal).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
        assert_eq!(keeper.list().unwrap().len(), 1);
    }
    program.input().write(b"\n".to_vec()).unwrap();
    assert_eq!(exited(&reports), (1, Exit::Code(4)));
    // Asked to leave by TERM, it does so now that no child lives.
    assert_eq!(reports.recv_timeout(LONG).unwrap(), Report::Gone);
    deck.process.wait().unwrap();
    assert!(!deck.socket().exists());
}

#[test]
fn a_keeper_stops_when_it_holds_nothing_or_is_made_to() {
    let mut deck = Deck::start();
    let (mut keeper, reports) = deck.connect();
    let opened = deck.shell(
        &mut keeper,
        1,
        "trap '' HUP; echo ready; while :; do sleep 1; done",
    );
    let (_program, output) = Program::new(opened.master).unwrap();
    read_until(&output, "ready");
    assert_eq!(
        keeper.stop(false).unwrap_err().line(),
        "the keeper still holds 1 sessions"
    );
    keeper.stop(true).unwrap();
    assert_eq!(reports.recv_timeout(LONG).unwrap(), Report::Gone);
    deck.process.wait().unwrap();
    assert_eq!(state(opened.pid), None);
}

#[test]
fn a_program_that_does_not_read_holds_up_nobody() {
    let deck = Deck::start();
    let (mut keeper, _reports) = deck.connect();
    let opened = deck.shell(
        &mut keeper,
        1,
        "stty raw -echo; echo ready; exec sleep 1000",
    );
    let (program, output) = Program::new(opened.master).unwrap();
    read_until(&output, "ready");
    let chunk = vec![b'x'; 1 << 20];
    let mut taken = 0;
    while program.input().write(chunk.clone()).is_ok() {
        taken += chunk.len();
    }
    assert_eq!(program.input().write(chunk), Err(Refused::Full));
    assert!((3 << 20..6 << 20).contains(&taken), "{taken}");
    let input = program.input();
    drop(program);
    assert_eq!(output.read(&mut [0; 16]).unwrap(), 0);
    wait_for("the end of the writing thread", || {
        input.write(b"x".to_vec()) == Err(Refused::Ended)
    });
}

#[test]
fn a_slow_program_gets_every_byte_in_order() {
    let deck = Deck::start();
    let (mut keeper, _reports) = deck.connect();
    let opened = deck.shell(
        &mut keeper,
        1,
        "stty raw -echo; echo ready; head -c 3000000 | cksum; echo done",
    );
    let (program, output) = Program::new(opened.master).unwrap();
    read_until(&output, "ready");
    let bytes: Vec<u8> = (0..=250).cycle().take(3_000_000).collect();
    for chunk in bytes.chunks(250_001) {
        program.input().write(chunk.to_vec()).unwrap();
    }
    let told = read_until(&output, "done");
    let file = deck.dir.path().join("bytes");
    fs::write(&file, &bytes).unwrap();
    let sum = Command::new("cksum")
        .stdin(fs::File::open(file).unwrap())
        .output()
        .unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    assert!(told.contains(sum.trim()), "`{told}` does not say `{sum}`");
}

#[test]
fn the_end_of_a_program_comes_after_its_last_byte() {
    let deck = Deck::start();
    let (mut keeper, _reports) = deck.connect();
    for session in 0..20 {
        let opened = deck.shell(&mut keeper, session, "seq 1000; printf last");
        let (_program, output) = Program::new(opened.master).unwrap();
        assert!(read_all(&output).ends_with("1000\r\nlast"));
    }
}
