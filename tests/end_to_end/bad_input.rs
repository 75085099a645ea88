//! What goes wrong outside of the deck: it says what and where, loses nothing, and goes on.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::CursorShape;
use rustix::process::{Pid, Signal};

use crate::home::{Home, SESSDECK};
use crate::patience::wait_until;

#[test]
fn without_a_terminal_it_says_what_does_without() {
    let home = Home::new();
    for words in [&[][..], &["attach"], &["demo"]] {
        let said = home.sessdeck(words);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(
            said.err.contains("needs a terminal") && said.err.contains("try: "),
            "{said:?}"
        );
    }
    assert!(home.processes().is_empty(), "nothing was started");
}

#[test]
fn each_kind_of_failure_has_its_exit_code() {
    let home = Home::new();
    for (words, code) in [
        (&["no-such-command"][..], 2),
        (&["ls", "--no-such-flag"], 2),
        (&["ls"], 4),
        (&["server", "status"], 4),
    ] {
        let said = home.sessdeck(words);
        assert_eq!(said.code, Some(code), "{said:?}");
        assert!(
            said.err.starts_with("error: ") && said.out.is_empty(),
            "{said:?}"
        );
    }
    home.start_bash("fix ci", "read");
    let said = home.sessdeck(&["attach", "fix-c1"]);
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(
        said.err.contains("no session called `fix-c1`") && said.err.contains("`fix-ci`"),
        "{said:?}"
    );
}

#[test]
fn a_tiny_terminal_is_told_and_shrinks_no_program() {
    let home = Home::new();
    home.start_bash(
        "one",
        "stty size; read line; echo got $line; stty size; read",
    );
    let tiny = home.terminal(&["attach", "one"], 20, 5);
    tiny.wait_for("what it needs", |screen| {
        let text = screen.text().replace('\n', " ");
        text.contains("needs 40x10") && text.contains("20x5")
    });
    tiny.send("ok\r");
    home.wait_for_session("the session", |_| {
        home.sessdeck(&["screen", "one"])
            .out
            .contains("got ok\n30 100\n")
    });
    tiny.resize(100, 30);
    tiny.wait_for_text("got ok");
    tiny.resize(1, 1);
    tiny.resize(20, 5);
    tiny.wait_for("what it needs", |screen| screen.text().contains("40x10"));
    tiny.keys("ctrl-space d");
    assert_eq!(tiny.wait_exit(), 0);
}

#[test]
fn a_folder_without_git_is_as_good_as_a_repo() {
    let home = Home::new().with_practice_agent();
    home.write("plain/a.txt", "text\n");
    let here = |words: &[&str]| {
        home.program(SESSDECK)
            .args(words)
            .folder(home.path("plain"))
    };
    here(&["park", "the", "readme", "lacks", "a", "changelog"])
        .run()
        .ok();
    assert!(home.read("plain/hot-todo.md").contains("the readme lacks"));
    let deck = here(&["new", "fix", "the", "flaky", "login", "test"]).open(140, 40);
    deck.wait_for_text("You said: \"fix the flaky login test\"");
    deck.keys("ctrl-space i");
    deck.wait_for_text("inbox 1 open");
}

#[test]
fn a_broken_profile_file_is_told_with_its_place() {
    let home = Home::new().with_practice_agent();
    let broken = "[[profile]]\nname = \"game\"\nkeywords = [\"sprite\"]\ncolour = \"red\"\n";
    home.write("repo/.sessdeck/profiles.toml", broken);
    for words in [&["new", "--detach", "fix", "it"][..], &["profile"]] {
        let said = home.sessdeck(words);
        assert_eq!(said.code, Some(3), "{said:?}");
        assert!(said.err.contains("profiles.toml:4:1"), "{said:?}");
        assert!(
            said.err.contains("`colour`") && said.err.contains("`color`"),
            "{said:?}"
        );
    }
    // An idea is parked all the same.
    home.sessdeck(&["park", "an", "idea"]).ok();
    assert!(home.read("repo/hot-todo.md").contains("an idea"));
}

#[test]
fn a_profile_file_that_breaks_while_the_deck_runs_is_told_and_the_last_good_one_holds() {
    let home = Home::new().with_practice_agent();
    let good = "[[profile]]\nname = \"game\"\nkeywords = [\"sprite\", \"level\"]\n";
    home.write("repo/.sessdeck/profiles.toml", good);
    home.sessdeck(&["trust", "--yes"]).ok();
    let deck = home.deck(&["new", "draw", "the", "sprite"]);
    deck.wait_for_text("You said: \"draw the sprite\"");

    home.write(
        "repo/.sessdeck/profiles.toml",
        &format!("{good}keywords = [\n"),
    );
    deck.wait_for_text("profiles.toml:4");
    deck.keys("ctrl-space n");
    deck.send("next level");
    deck.wait_for_text("game  because of level");
    deck.wait_for_text("the last good");
    deck.keys("enter");
    deck.wait_for_text("You said: \"next level\"");
    assert_eq!(home.sessions()[1]["profile"], "game");
    // Who comes later is told too.
    let late = home.deck(&[]);
    late.wait_for_text("profiles.toml:4");

    home.write("repo/.sessdeck/profiles.toml", good);
    deck.wait_for_text("the profiles are in order again");
}

#[test]
fn broken_settings_are_told_with_their_place() {
    let home = Home::new();
    home.write(
        "deck/config/config.toml",
        "scrollback = 5000\nthem = \"nord\"\n",
    );
    let deck = home.terminal(&[], 80, 24);
    assert_eq!(deck.wait_exit(), 3);
    let screen = deck.screen().text();
    assert!(screen.contains("error: unknown field `them`"), "{screen}");
    assert!(
        screen.replace('\n', "").contains("config.toml:2:1"),
        "{screen}"
    );
}

#[test]
fn an_agent_that_is_not_installed_costs_no_words() {
    let home = Home::new();
    home.write(
        "deck/config/config.toml",
        "[agent.claude]\ncommand = [\"claude-later\"]\n",
    );
    let said = home.sessdeck(&["new", "--detach", "fix", "the", "bug"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err.contains("`claude-later` is not installed") && said.err.contains("npm install"),
        "{said:?}"
    );

    let deck = home.deck(&[]);
    deck.wait_for_text("Press n to start");
    deck.keys("n");
    deck.wait_for_text("what should it do?");
    deck.send("fix the flaky test");
    deck.wait_for_text("bugfix  because of fix, flaky");
    deck.wait_for_text("is not installed");
    deck.keys("enter");
    let failed = |screen: &crate::screen::Screen| {
        screen.contains("npm install") && !screen.contains("starting …")
    };
    let screen = deck.wait_for("why it is not started", failed);
    assert!(screen.contains("fix the flaky test"), "{screen}");
    deck.keys("esc");
    deck.wait_for_text("Press n to start");
    // It is installed now, and the words are still there.
    home.script(
        "bin/claude-later",
        "#!/bin/sh\necho later has come; read line\n",
    );
    deck.keys("n");
    deck.wait_for_text("fix the flaky test");
    deck.keys("enter");
    deck.wait_for_text("later has come");
}

#[test]
fn a_program_that_ends_at_once_leaves_its_tab_screen_and_code() {
    let home = Home::new();
    home.write(
        "deck/config/config.toml",
        "[agent.claude]\ncommand = [\"fails\"]\n",
    );
    home.script(
        "bin/fails",
        "#!/bin/sh\nprintf 'cannot log in: \\033[31mno account\\033[m\\n'; exit 7\n",
    );
    let deck = home.deck(&["new", "fix", "the", "bug"]);
    let screen = deck.wait_for_text("cannot log in: no account");
    assert!(screen.contains("fix the bug"), "{screen}");
    deck.wait_for_text("exit 7");
    let session = home.wait_for_session("its end", |it| it["state"] == "ended");
    assert_eq!(session["exit_code"], 7);
    assert!(home.sessdeck(&["screen", "1"]).ok().contains("no account"));
    deck.keys("x");
    deck.wait_for_text("this session has ended");
    // It is there again after a restart, and goes when it is told to.
    home.sessdeck(&["server", "restart"]).ok();
    deck.wait_for_text("connected again");
    deck.wait_for_text("exit 7");
    deck.wait_for_text("cannot log in: no account");
    deck.keys("ctrl-space x");
    deck.wait_for_text("no sessions");
    // One that a signal ended says it as a shell does.
    home.start_bash("shot", "kill -9 $$");
    let shot = home.wait_for_session("its end", |it| it["state"] == "ended");
    assert_eq!(shot["exit_code"], 128 + 9);
}

#[test]
fn a_socket_folder_that_others_could_have_prepared_is_refused() {
    for (what, prepare) in [
        ("is open to others", open_to_others as fn(&Home)),
        ("is a symbolic link", behind_a_link),
        ("is no folder", a_file),
        ("belongs to somebody else", somebody_elses),
    ] {
        let home = Home::new();
        home.write("deck/state/.keep", "");
        prepare(&home);
        let refused = ["start", "status"].map(|word| home.sessdeck(&["server", word]));
        if what == "belongs to somebody else" && refused[0].code == Some(0) {
            // Only root can give a folder away; the check itself has a test of its own.
            assert!(!rustix::process::geteuid().is_root());
            continue;
        }
        assert_eq!(refused[0].code, Some(1), "{refused:?}");
        assert!(
            refused[0].err.contains(what) && refused[0].err.contains("deck/run"),
            "{refused:?}"
        );
        let deck = home.terminal(&[], 100, 24);
        assert_eq!(deck.wait_exit(), 1);
        assert!(home.processes().is_empty());
    }
}

fn run_folder(home: &Home) -> std::path::PathBuf {
    let run = home.path("deck/run");
    fs::create_dir(&run).unwrap();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
    run
}

fn open_to_others(home: &Home) {
    fs::set_permissions(run_folder(home), fs::Permissions::from_mode(0o770)).unwrap();
}

fn behind_a_link(home: &Home) {
    let run = run_folder(home);
    let elsewhere = home.path("elsewhere");
    fs::rename(&run, &elsewhere).unwrap();
    symlink(&elsewhere, &run).unwrap();
}

fn a_file(home: &Home) {
    home.write("deck/run", "");
}

fn somebody_elses(home: &Home) {
    // Fails for everybody but root.
    chown(run_folder(home), Some(65_534), None).ok();
}

#[test]
fn hostile_output_stays_in_its_tab() {
    let home = Home::new();
    let mut bytes = Vec::new();
    for sequence in [
        "\x1b]0;evil title\x07\x1b]2;evil\x1b\\",
        "\x1b]52;c;?\x07\x1b]52;c;no base64\x07",
        "\x1b[?1003h\x1b[?1006h\x1b[?2026h\x1b[>31u\x1b[?7l\x1b[5;6r\x1b[?6h",
        "\x1b[8;3;3t\x1b[21t\x1b[6n\x1b[c\x1b[>c\x1b[>0q\x1bZ\x05",
        "\x1b[99999999999;99999999999H\x1b[99999999999b\x1b[4294967295@\x1b[-1;;;:::m",
        "\x1bP+q544e\x1b\\\x1b_Gi=1;AAAA\x1b\\\x1b^private\x1b\\\x1bP1$r0m\x1b\\",
        "\x1b]8;;http://evil/\x07",
    ] {
        bytes.extend_from_slice(sequence.as_bytes());
    }
    // Any bytes at all, the same each time.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    bytes.extend((0..300_000).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    }));
    bytes.extend_from_slice(b"\x1b]0;");
    bytes.extend(std::iter::repeat_n(b'x', 2_000_000));
    fs::write(home.path("repo/hostile"), bytes).unwrap();

    let deck = home.deck_with_bash(
        "stty -echo; echo ready; read; cat hostile; printf '\\e\\\\\\ec'; echo it is over; read; cat",
    );
    deck.wait_for_text("ready");
    home.start_bash(
        "neighbour",
        "echo next door; read line; echo heard $line; read",
    );
    deck.keys("enter");
    let screen = deck.wait_for_text("it is over");
    assert!(screen.row(0).contains(" 1 · script"), "{screen}");
    assert!(screen.contains("keys of the deck"), "{screen}");
    assert_eq!(deck.clipboard(), None);
    assert!(!deck.title().contains("evil"), "{}", deck.title());
    let output = deck.output();
    for sequence in [
        "\x1b[8;3;3t",
        "\x1b[21t",
        "\x1b]0;evil",
        "\x1bP+q",
        "\x1b_G",
        "\x1b[5;6r",
    ] {
        let found = output
            .windows(sequence.len())
            .any(|part| part == sequence.as_bytes());
        assert!(!found, "{sequence:?} reached the terminal of the person");
    }
    deck.wait_for_text("neighbour");
    deck.keys("ctrl-space 2");
    deck.wait_for_text("next door");
    deck.send("hello\r");
    deck.wait_for_text("heard hello");
    deck.keys("ctrl-space d");
    assert_eq!(deck.wait_exit(), 0);
    assert_plain(&deck.screen());
}

/// The terminal is as a shell needs it.
#[track_caller]
fn assert_plain(screen: &crate::screen::Screen) {
    let left = TermMode::ALT_SCREEN
        | TermMode::MOUSE_MODE
        | TermMode::SGR_MOUSE
        | TermMode::BRACKETED_PASTE
        | TermMode::FOCUS_IN_OUT
        | TermMode::KITTY_KEYBOARD_PROTOCOL
        | TermMode::APP_CURSOR
        | TermMode::APP_KEYPAD;
    assert!(!screen.modes.intersects(left), "{:?}", screen.modes);
    assert!(
        screen
            .modes
            .contains(TermMode::SHOW_CURSOR | TermMode::LINE_WRAP)
    );
    assert_ne!(screen.cursor.shape, CursorShape::Hidden);
}

#[test]
fn a_client_that_is_told_to_end_puts_the_terminal_back() {
    for (signal, code) in [(Signal::HUP, 129), (Signal::TERM, 143), (Signal::INT, 130)] {
        let home = Home::new();
        let script = "stty -a > before
            sessdeck new --exec --title one -- bash --norc -c 'printf \"\\e[5 qhere\\e[31m\"; cat'
            echo code $?; stty -a > after; echo back; read";
        let shell = home
            .program("bash")
            .args(["--norc", "-c", script])
            .open(100, 30);
        shell.wait_for_text("here");
        assert!(shell.screen().modes.contains(TermMode::ALT_SCREEN));
        rustix::process::kill_process(client(&home), signal).unwrap();
        shell.wait_for_text(&format!("code {code}"));
        let screen = shell.wait_for_text("back");
        assert_plain(&screen);
        assert_eq!(home.read("repo/before"), home.read("repo/after"));
        assert_eq!(home.sessions()[0]["state"], "unknown");
        let output = String::from_utf8_lossy(&shell.output()).into_owned();
        for mode in ["1049", "2004", "1004", "1000", "1002", "1006", "25"] {
            let (on, off) = (format!("\x1b[?{mode}h"), format!("\x1b[?{mode}l"));
            let (undone, done) = if mode == "25" { (off, on) } else { (on, off) };
            assert!(output.rfind(&done) > output.rfind(&undone), "mode {mode}");
        }
    }
}

/// The process of the one client.
fn client(home: &Home) -> Pid {
    let found = home
        .processes()
        .into_iter()
        .find(|(_, words)| words.contains("sessdeck new --exec") && !words.starts_with("bash"));
    found.expect("a client runs").0
}

#[test]
fn a_stopped_client_comes_back_with_its_screen() {
    let home = Home::new();
    let deck =
        home.deck_with_bash("echo here; read line; echo got $line; read line; seq 5000; read");
    deck.wait_for_text("here");
    let client = client(&home);
    // A window that reads nothing holds nobody up.
    rustix::process::kill_process(client, Signal::STOP).unwrap();
    let other = home.deck(&[]);
    other.wait_for_text("here");
    other.send("ok\r");
    other.wait_for_text("got ok");
    other.send("\r");
    other.wait_for_text("5000");
    rustix::process::kill_process(client, Signal::CONT).unwrap();
    deck.wait_for_text("5000");
}

#[test]
fn a_closed_output_is_no_error() {
    let home = Home::new();
    home.start_bash("one", "seq 100; read");
    home.sessdeck(&["park", "an", "idea"]).ok();
    for words in [
        "ls",
        "ls --json",
        "inbox",
        "inbox --json",
        "server status",
        "screen one",
        "profile",
        "new --print fix it",
        "new --print --json fix it",
        "--help",
        "--version",
        "blocked",
    ] {
        let script = format!("sessdeck {words} | head -c0; echo ${{PIPESTATUS[0]}}");
        let said = home.program("bash").args(["-c", &script]).run();
        assert_eq!(
            (said.out.as_str(), said.err.as_str()),
            ("0\n", ""),
            "{words}"
        );
        let script = format!("sessdeck {words} >&-; echo $?");
        let said = home.program("bash").args(["-c", &script]).run();
        assert_eq!(
            (said.out.as_str(), said.err.as_str()),
            ("0\n", ""),
            "{words}"
        );
    }
}

#[test]
fn a_state_folder_that_is_lost_stops_no_program() {
    let home = Home::new();
    let deck = home.deck_with_bash("echo here; while read line; do echo heard $line; done");
    deck.wait_for_text("here");
    fs::remove_dir_all(home.path("deck/state")).unwrap();
    deck.send("hello\r");
    deck.wait_for_text("heard hello");
    home.start_bash("another", "echo next door; read");
    deck.wait_for_text("another");
    deck.keys("ctrl-space 2");
    deck.wait_for_text("next door");
    wait_until("its record", || {
        fs::read_dir(home.path("deck/state/sessions"))
            .ok()
            .map(drop)
    });
}
