//! From words to a program: what arrives there, byte for byte, and in which environment.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::home::Home;
use crate::patience::wait_until;

/// An agent that writes down what it is started with, whole or not at all, and waits.
const DUMP: &str = r#"#!/bin/bash
printf '%s\0' "$@" > "$HOME/argv.part"
env -0 > "$HOME/env.part"
mv "$HOME/env.part" "$HOME/env"
mv "$HOME/argv.part" "$HOME/argv"
echo the agent runs
read
"#;

/// A home whose Claude Code is the script above.
fn home() -> Home {
    let home = Home::new();
    home.script("home/agent", DUMP);
    let command = home.path("home/agent");
    home.write(
        "deck/config/config.toml",
        &format!(
            "[agent.claude]\ncommand = [{:?}]\n",
            command.to_str().unwrap()
        ),
    );
    home
}

/// The arguments of the agent that was just started. They are there once.
fn argv(home: &Home) -> Vec<String> {
    let path = home.path("home/argv");
    let text = wait_until("the agent", || fs::read(&path).ok());
    fs::remove_file(&path).unwrap();
    let words = text.split(|byte| *byte == 0);
    let mut words: Vec<String> = words
        .map(|word| String::from_utf8(word.to_vec()).unwrap())
        .collect();
    assert_eq!(words.pop().as_deref(), Some(""));
    words
}

fn environment(home: &Home) -> BTreeMap<String, String> {
    let text = fs::read(home.path("home/env")).unwrap();
    text.split(|byte| *byte == 0)
        .filter_map(|line| std::str::from_utf8(line).ok()?.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The value behind a flag, in either form.
fn value<'a>(argv: &'a [String], flag: &str) -> Option<&'a str> {
    argv.iter().enumerate().find_map(|(at, word)| {
        if word == flag {
            return argv.get(at + 1).map(String::as_str);
        }
        word.strip_prefix(flag)?.strip_prefix('=')
    })
}

#[test]
fn a_task_arrives_whole_whatever_it_holds() {
    let home = home();
    let long = "ä long task ".repeat(100 * 1024 / 13);
    for task in [
        "fix the login",
        "--model haiku is what the page should say",
        "-x",
        "--",
        "-- a -- b",
        "two\nlines\n\n  and an indented one\n",
        "quotes ' \" ` and \\ and $(touch pwned) ${HOME} ; rm -rf x & | > < * ? ~ !",
        "emoji 👩\u{200d}👩\u{200d}👧 漢字 e\u{301} \u{202e}right to left",
        "\ttab, and a carriage\rreturn",
        " spaces  around ",
        long.as_str(),
    ] {
        home.sessdeck(&["new", "--detach", "--profile", "bugfix", "--", task])
            .ok();
        let argv = argv(&home);
        let last_two = &argv[argv.len() - 2..];
        assert_eq!(last_two, ["--", task]);
    }
    assert!(!home.path("repo/pwned").exists());
}

#[test]
fn what_is_printed_is_what_is_started() {
    let home = home();
    for words in [
        &["fix", "the", "flaky", "test"][..],
        &["--model", "haiku", "fix", "--effort=low", "it"],
        &["--profile", "docs", "--", "--model", "x"],
        &[
            "--permission-mode",
            "plan",
            "--add-dir=/tmp",
            "--verbose",
            "fix it",
        ],
        &["--agent-flag=--profile=x", "fix it"],
        &["--", "-- $(x) 'y'\nz"],
    ] {
        let with = |first: &[&'static str]| [&["new"], first, words].concat();
        let printed = home.sessdeck(&with(&["--print", "--json"])).json();
        home.sessdeck(&with(&["--detach"])).ok();
        let started = argv(&home);
        let printed: Vec<&str> = printed["argv"].as_array().unwrap()[1..]
            .iter()
            .map(|word| word.as_str().unwrap())
            .collect();
        let (printed, started) = (settled(&printed), settled(&started));
        assert_eq!(printed, started, "{words:?}");
        // The printed line means the same to a shell.
        let line = home.sessdeck(&with(&["--print"])).ok();
        let again = home
            .program("bash")
            .args(["-c", &format!("printf '%s\\n' {line}")])
            .run()
            .ok();
        for word in &started {
            assert!(again.contains(word.as_str()), "{word} in {again}");
        }
    }
}

/// The words without what is another each time: the id of the conversation.
fn settled<T: AsRef<str>>(words: &[T]) -> Vec<String> {
    let mut id = false;
    let words = words.iter().map(AsRef::as_ref);
    words
        .filter(|word| {
            let skip = id || word.starts_with("--session-id=");
            id = *word == "--session-id";
            !skip
        })
        .map(str::to_owned)
        .collect()
}

#[test]
fn flags_are_never_words_and_words_never_flags() {
    let home = home();
    home.sessdeck(&[
        "new",
        "--detach",
        "--model=haiku",
        "fix",
        "the bug",
        "--effort",
        "low",
        "--verbose",
    ])
    .ok();
    let words = argv(&home);
    assert_eq!(value(&words, "--model"), Some("haiku"));
    assert_eq!(
        words
            .iter()
            .filter(|word| word.starts_with("--model"))
            .count(),
        1
    );
    assert_eq!(value(&words, "--effort"), Some("low"));
    assert!(words.contains(&"--verbose".to_owned()));
    assert_eq!(words.last().unwrap(), "fix the bug");

    let said = home
        .sessdeck(&["new", "--detach", "--no-such-flag", "fix it"])
        .ok();
    assert!(
        said.contains("warning") && said.contains("--no-such-flag=value"),
        "{said}"
    );
    assert!(!argv(&home).iter().any(|word| word.contains("no-such-flag")));

    for words in [
        &["new", "fix it", "--model"][..],
        &["new", "--profile", "nosuch", "fix it"],
    ] {
        let said = home.sessdeck(words);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.starts_with("error: "), "{said:?}");
    }
    assert!(!home.path("home/argv").exists());
}

#[test]
fn json_says_which_profile_and_why() {
    let home = home();
    let plan = home
        .sessdeck(&["new", "--print", "--json", "fix", "the", "flaky", "readme"])
        .json();
    assert_eq!(plan["profile"], "bugfix");
    assert_eq!(plan["matched"], serde_json::json!(["fix", "flaky"]));
    assert_eq!(plan["runner_up"]["profile"], "docs");
    assert_eq!(plan["dir"], home.repo().to_str().unwrap());
    assert_eq!(plan["env"]["SESSDECK_PROFILE"], "bugfix");
    let session = home
        .sessdeck(&[
            "new", "--detach", "--json", "--title", "My title", "fix", "the", "bug",
        ])
        .json();
    assert_eq!(session["title"], "My title");
    assert_eq!(session["profile"], "bugfix");
    assert_eq!(session["agent"], "claude");
    assert!(session["pid"].is_number(), "{session}");
}

#[test]
fn the_agent_has_its_clients_environment_and_nothing_of_an_outer_agent() {
    let home = home();
    // The server is started by a client with another environment.
    home.program(crate::home::SESSDECK)
        .args(["server", "start"])
        .env("WHOSE", "the server's")
        .env("ONLY_SERVER", "1")
        .run()
        .ok();
    home.program(crate::home::SESSDECK)
        .args(["new", "--detach", "fix", "the", "bug"])
        .env("WHOSE", "the client's")
        .env("CLAUDE_CONFIG_DIR", "/somewhere")
        .env("ANTHROPIC_BASE_URL", "http://provider")
        .envs([
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_SESSION_ID", "outer"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("CODEX_THREAD_ID", "outer"),
            ("SESSDECK_SESSION", "99"),
            ("SESSDECK_PROFILE", "outer"),
            ("SESSDECK_SOCKET", "/outer"),
            ("TMUX", "outer"),
        ])
        .run()
        .ok();
    let argv = argv(&home);
    let env = environment(&home);
    let session = home.sessions().remove(0);
    let of = |name: &str| env.get(name).map(String::as_str);
    assert_eq!(of("WHOSE"), Some("the client's"));
    assert_eq!(of("ONLY_SERVER"), None);
    assert_eq!(of("CLAUDE_CONFIG_DIR"), Some("/somewhere"));
    assert_eq!(of("ANTHROPIC_BASE_URL"), Some("http://provider"));
    assert_eq!(of("SESSDECK_PROFILE"), Some("bugfix"));
    assert_eq!(
        of("SESSDECK_SESSION"),
        Some(session["id"].to_string().as_str())
    );
    let socket = of("SESSDECK_SOCKET").unwrap();
    assert!(Path::new(socket).starts_with(home.path("deck")) && Path::new(socket).exists());
    for name in [
        "CLAUDECODE",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_ENTRYPOINT",
        "CODEX_THREAD_ID",
        "TMUX",
    ] {
        assert_eq!(of(name), None, "{name}");
    }
    assert_eq!(of("PWD"), home.repo().to_str());
    // Our hook is in the session's own settings; the user's are as they were.
    let settings: Value = serde_json::from_str(value(&argv, "--settings").unwrap()).unwrap();
    assert!(
        settings["hooks"]["UserPromptSubmit"].is_array(),
        "{settings}"
    );
    assert_eq!(
        value(&argv, "--session-id"),
        session["conversation_id"].as_str()
    );
    assert!(!home.path("home/.claude").exists() && !home.path("home/.claude.json").exists());
}

#[test]
fn any_program_is_a_plain_session() {
    let home = home();
    let words = ["a b", "--model", "--", "$(x)", "", "ä\nb"];
    let agent = home.path("home/agent");
    let line = [
        &["new", "--exec", "--detach", "--", agent.to_str().unwrap()],
        &words[..],
    ]
    .concat();
    home.sessdeck(&line).ok();
    assert_eq!(argv(&home), words);
    let env = environment(&home);
    assert!(!env.contains_key("SESSDECK_PROFILE"));
    // An unknown program is said, not started.
    let said = home.sessdeck(&["new", "--exec", "--detach", "--", "no-such-program"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.err.contains("there is no program `no-such-program`"),
        "{said:?}"
    );
    assert_eq!(home.sessions().len(), 1);
    // The shell is the person's own.
    let shell = home
        .sessdeck(&["new", "--agent", "shell", "--detach", "--json"])
        .json();
    assert_eq!(shell["agent"], "shell");
}

#[test]
fn the_modal_matches_while_one_types_and_starts_what_it_shows() {
    let home = home();
    let deck = home.deck(&[]);
    deck.wait_for_text("Press n to start");
    deck.keys("n");
    deck.wait_for_text("what should it do?");
    deck.send("write the readme");
    deck.wait_for_text("docs  because of readme");
    deck.send(" and fix a flaky crash");
    deck.wait_for_text("bugfix  because of fix, crash, flaky");
    // The choice can be made by hand, and the words outlive the modal.
    deck.keys("tab");
    deck.wait_for_text("chosen by you");
    deck.keys("esc");
    deck.wait_for_text("Press n to start");
    deck.keys("n");
    deck.wait_for_text("write the readme and fix a flaky crash");
    deck.paste("\n--model is a word here");
    deck.wait_for_text("--model is a word here");
    deck.wait_for_text("bugfix  because of fix, crash, flaky");
    deck.keys("enter");
    deck.wait_for_text("the agent runs");
    let words = argv(&home);
    let task = "write the readme and fix a flaky crash\n--model is a word here";
    assert_eq!(words[words.len() - 2..], ["--", task]);
    assert_eq!(home.sessions()[0]["profile"], "bugfix");
}

#[test]
fn run_is_the_same_without_the_deck() {
    let home = home();
    let terminal = home.terminal(&["run", "fix", "the", "bug"], 120, 20);
    terminal.wait_for_text("the agent runs");
    let words = argv(&home);
    assert_eq!(words[words.len() - 2..], ["--", "fix the bug"]);
    let env = environment(&home);
    assert_eq!(env["SESSDECK_PROFILE"], "bugfix");
    terminal.keys("enter");
    assert_eq!(terminal.wait_exit(), 0);
    assert_eq!(home.sessdeck(&["ls"]).code, Some(4));
}

#[test]
fn a_repos_profiles_wait_for_trust() {
    let home = home();
    home.write(
        "repo/.sessdeck/profiles.toml",
        "[[profile]]\nname = \"game\"\nkeywords = [\"sprite\", \"level\"]\nmodel = \"haiku\"\nhint = \"Have fun.\"\n",
    );
    let said = home
        .sessdeck(&["new", "--detach", "draw", "the", "sprite"])
        .ok();
    assert!(
        said.contains("profile `game`") && said.contains("sessdeck trust"),
        "{said}"
    );
    let words = argv(&home);
    assert_eq!(value(&words, "--model"), None);
    assert!(
        !words.iter().any(|word| word.contains("Have fun.")),
        "{words:?}"
    );

    home.sessdeck(&["trust", "--yes"]).ok();
    home.sessdeck(&["new", "--detach", "draw", "the", "sprite"])
        .ok();
    let words = argv(&home);
    assert_eq!(value(&words, "--model"), Some("haiku"));
    assert!(
        words.iter().any(|word| word.contains("Have fun.")),
        "{words:?}"
    );
}

#[test]
fn a_program_that_is_shown_has_the_size_of_its_place_from_the_start() {
    let home = Home::new();
    let words = ["new", "--exec", "bash", "-c", "stty size; read"];
    home.terminal(&words, 110, 20).wait_for_text("19 82");
}
