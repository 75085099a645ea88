//! The harness itself, tried on ordinary programs.

use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::{Color, CursorShape, NamedColor};
use serde_json::json;

use crate::home::Home;
use crate::keys::Mouse;
use crate::patience::wait_until;
use crate::processes::Marker;
use crate::program::Program;
use crate::screen::Cursor;
use crate::terminal::Terminal;

fn bash(script: &str) -> Terminal {
    Program::new("bash", "/")
        .args(["--norc", "-c", script])
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("LANG", "C.UTF-8")
        .open(60, 10)
}

#[test]
fn a_program_is_seen_typed_at_and_waited_for() {
    let terminal = bash(r"read -p 'name? ' name; printf 'hello \e[1;31m%s\e[m' ${name^}; exit 3");
    terminal.wait_for_text("name? ");
    terminal.keys("a d a enter");
    let screen = terminal.wait_for_text("hello Ada");
    assert_eq!(screen.row(0), "name? ada");
    assert_eq!(screen.text(), "name? ada\nhello Ada");
    assert_eq!(screen.cell_of("Ada").fg, Color::Named(NamedColor::Red));
    assert!(screen.cell_of("Ada").flags.contains(Flags::BOLD));
    assert!(!screen.cell_of("hello").flags.contains(Flags::BOLD));
    let (row, column, shape) = (1, 9, CursorShape::Block);
    assert_eq!(screen.cursor, Cursor { row, column, shape });
    assert_eq!(terminal.wait_exit(), 3);
    assert!(terminal.output().ends_with(b"\x1b[1;31mAda\x1b[m"));
}

#[test]
fn a_wait_in_vain_shows_the_last_screen() {
    let outcome = std::panic::catch_unwind(|| {
        bash("echo only this").wait_for_text("something else");
    });
    let text = *outcome.unwrap_err().downcast::<String>().unwrap();
    assert!(
        text.contains("waited in vain for `something else`"),
        "{text}"
    );
    assert!(text.contains("│only this"), "{text}");
    assert!(text.contains("exit status: 0"), "{text}");
}

#[test]
fn a_program_sees_its_terminal_and_nothing_else_of_ours() {
    let terminal = bash("env | cut -d= -f1 | sort | tr '\n' ' '; tty; stty size < /dev/tty");
    terminal.wait_exit();
    let screen = terminal.screen();
    assert!(
        screen
            .row(0)
            .starts_with("LANG PATH PWD SHLVL TERM _ /dev/pts/"),
        "{screen}"
    );
    assert_eq!(screen.row(1), "10 60");
}

#[test]
fn queries_are_answered_as_a_terminal_does() {
    for (query, reply) in [
        (r"\e[c", "\x1b[?6c"),
        (r"\e[2;5H\e[6n\e[H", "\x1b[2;5R"),
        (r"\e[18t", "\x1b[8;10;60t"),
        (r"\e[?u", "\x1b[?0u"),
        (r"\e]11;?\a", "\x1b]11;rgb:0000/0000/0000\x07"),
    ] {
        let terminal = bash(&format!(
            "stty raw -echo; printf '{query}got '; head -c{} | cat -v; echo .",
            reply.len()
        ));
        let seen = reply.replace('\x1b', "^[").replace('\x07', "^G");
        terminal.wait_for_text(&format!("got {seen}."));
    }
}

#[test]
fn what_the_program_asks_for_changes_what_is_sent() {
    let terminal = bash(
        r"stty raw -echo; printf 'plain '; head -c4 | cat -v
          printf '\r\n\e[?2004h\e[?1000h\e[?1006h\e[?1hmodes on '; head -c28 | cat -v",
    );
    terminal.wait_for_text("plain");
    terminal.paste("a");
    terminal.keys("up");
    let screen = terminal.wait_for_text("modes on");
    assert_eq!(screen.row(0), "plain a^[[A");
    assert!(screen.modes.contains(TermMode::BRACKETED_PASTE));
    terminal.paste("b\nc");
    terminal.keys("up");
    terminal.mouse(Mouse::WheelUp, "odes");
    terminal.wait_for_text("modes on ^[[200~b^Mc^[[201~^[OA^[[<64;2;2M");
    assert_eq!(terminal.wait_exit(), 0);
}

#[test]
fn a_resize_reaches_the_program() {
    // Only `wait` is interrupted by a trap at once.
    let terminal = bash("trap 'stty size; kill $!; exit 7' WINCH; sleep 1000 & echo ready; wait");
    terminal.wait_for_text("ready");
    terminal.resize(70, 12);
    terminal.wait_for_text("12 70");
    assert_eq!(terminal.wait_exit(), 7);
}

#[test]
fn a_closed_window_hangs_up_on_the_program() {
    let mut terminal = bash("echo ready; exec sleep 1000");
    terminal.wait_for_text("ready");
    terminal.close();
    assert_eq!(terminal.wait_exit(), 128 + 1);
}

#[test]
fn wide_characters_title_clipboard_and_bell_are_known() {
    let terminal = bash(r"printf '\e]0;deck\a漢字 x\a\e]52;c;aGVsbG8=\a done'; read");
    let screen = terminal.wait_for_text("done");
    assert_eq!(screen.row(0), "漢字 x done");
    assert_eq!(screen.find("x"), Some((0, 5)));
    assert_eq!(terminal.title(), "deck");
    assert_eq!(terminal.clipboard().as_deref(), Some("hello"));
    assert_eq!(terminal.bells(), 1);
}

#[test]
fn an_update_that_is_never_finished_is_shown_all_the_same() {
    let terminal = bash(r"printf '\e[?2026hhalf'; read");
    terminal.wait_for_text("half");
}

#[test]
fn a_home_has_a_repository_and_the_program_under_test() {
    let home = Home::new().with_practice_agent();
    let log = home.program("git").args(["log", "--format=%an %s"]).run();
    assert_eq!(log.ok(), "Dev start\n");
    let found = home
        .program("bash")
        .args(["-c", "command -v sessdeck; echo $HOME"])
        .run();
    let (bin, user) = (home.path("bin/sessdeck"), home.path("home"));
    assert_eq!(
        found.ok(),
        format!("{}\n{}\n", bin.display(), user.display())
    );
    assert!(
        home.read("deck/config/config.toml")
            .contains("practice-agent")
    );
    assert_eq!(home.sessdeck(&["--version"]).code, Some(0));
    let elsewhere = home.program("pwd").folder(home.path("home")).run();
    assert_eq!(elsewhere.ok(), format!("{}\n", user.display()));
    let value = home.program("echo").args(["[1]"]).run().json();
    assert_eq!(value, json!([1]));
    let failed = home
        .program("bash")
        .args(["-c", "echo no >&2; exit 4"])
        .run();
    assert_eq!((failed.code, failed.err.as_str()), (Some(4), "no\n"));
    let terminal = home.terminal(&["--version"], 80, 24);
    assert_eq!(terminal.wait_exit(), 0);
}

#[test]
fn what_a_home_started_ends_with_it() {
    let home = Home::new();
    let script = "setsid --fork sleep 1000 </dev/null >/dev/null 2>&1";
    home.program("bash").args(["-c", script]).run().ok();
    let left = wait_until("the program left behind", || {
        home.processes()
            .pop()
            .filter(|(_, words)| words == "sleep 1000 ")
    });
    let marker = Marker::new("SESSDECK_HOME", &home.path("deck").to_string_lossy());
    assert_eq!(marker.processes(), [left]);
    drop(home);
    assert_eq!(marker.processes(), []);
}
