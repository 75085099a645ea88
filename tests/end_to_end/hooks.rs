//! Our hook in the clients' own settings: put there, found, taken out, and nothing else touched. And the doctor.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use crate::home::{Home, SESSDECK};
use crate::program::Said;

const SETTINGS: &str = "home/.claude/settings.json";
const THEIRS: &str = "{\n  // my own\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"bell\" }] } // rings\n    ],\n  },\n}\n";

fn hooks(home: &Home, words: &[&str]) -> Said {
    home.sessdeck(&[&["hooks"], words].concat())
}

fn claude(home: &Home, what: &str) -> Said {
    hooks(home, &[what, "--agent", "claude"])
}

fn status(home: &Home, words: &[&str]) -> Value {
    hooks(home, &[&["status", "--json"], words].concat()).json()[0].clone()
}

#[test]
fn what_is_put_there_can_be_taken_out_again() {
    let home = Home::new();
    home.write(SETTINGS, THEIRS);
    let mode = Permissions::from_mode(0o640);
    fs::set_permissions(home.path(SETTINGS), mode).unwrap();
    assert_eq!(status(&home, &[])["state"], "not installed");

    let said = claude(&home, "install").ok();
    assert!(
        said.contains("installed") && said.contains("before-sessdeck-1"),
        "{said}"
    );
    let there = home.read(SETTINGS);
    for words in [
        "// my own",
        "// rings",
        "\"bell\"",
        "\"opus\"",
        "--installed",
        SESSDECK,
    ] {
        assert!(there.contains(words), "{words} in {there}");
    }
    let mode = fs::metadata(home.path(SETTINGS))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(
        home.read("home/.claude/settings.json.before-sessdeck-1"),
        THEIRS
    );
    let found = status(&home, &[]);
    assert_eq!(
        (&found["state"], &found["events"]),
        (&"installed".into(), &12.into())
    );

    assert!(claude(&home, "install").ok().contains("nothing to do"));
    assert_eq!(home.read(SETTINGS), there);

    claude(&home, "uninstall").ok();
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(plain(&home.read(SETTINGS)), plain(THEIRS));
    assert!(claude(&home, "uninstall").ok().contains("nothing to do"));
    // What was there first is still kept.
    assert_eq!(
        home.read("home/.claude/settings.json.before-sessdeck-1"),
        THEIRS
    );
}

#[test]
fn no_file_an_empty_one_and_a_linked_one_are_files() {
    let home = Home::new();
    let said = hooks(&home, &["install"]);
    assert!(
        said.code == Some(2) && said.err.contains("no agent is used here"),
        "{said:?}"
    );
    home.script("bin/claude", "#!/bin/sh\nexit 0\n");
    fs::create_dir_all(home.path("home/.codex")).unwrap();
    hooks(&home, &["install"]).ok();
    assert_eq!(status(&home, &["--agent", "claude"])["state"], "installed");
    assert_eq!(status(&home, &["--agent", "codex"])["state"], "installed");
    assert!(
        home.read("home/.codex/hooks.json")
            .contains("hook codex --installed")
    );

    let home = Home::new();
    home.write("home/dotfiles/claude.json", "");
    fs::create_dir(home.path("home/.claude")).unwrap();
    symlink("../dotfiles/claude.json", home.path(SETTINGS)).unwrap();
    claude(&home, "install").ok();
    assert!(
        fs::symlink_metadata(home.path(SETTINGS))
            .unwrap()
            .is_symlink()
    );
    assert!(
        home.read("home/dotfiles/claude.json")
            .contains("--installed")
    );

    hooks(&home, &["install", "--project", "--agent", "claude"]).ok();
    // A path of this machine is not for the file that is shared.
    assert!(
        home.read("repo/.claude/settings.local.json")
            .contains("--installed")
    );
    assert!(!home.path("repo/.claude/settings.json").exists());
    assert_eq!(status(&home, &["--project"])["state"], "installed");
}

#[test]
fn what_cannot_be_changed_is_told_and_left() {
    let home = Home::new();
    for text in ["{broken", "[1, 2]", "{\"hooks\": 7}"] {
        home.write(SETTINGS, text);
        for what in ["install", "uninstall"] {
            let said = claude(&home, what);
            // Where nothing can be ours there is nothing to take out.
            if what == "uninstall" && text != "{broken" {
                said.ok();
            } else {
                assert_eq!(said.code, Some(3), "{text}");
                assert!(said.err.contains("settings.json"), "{}", said.err);
                assert!(said.err.contains("nothing was changed"), "{}", said.err);
            }
        }
        assert_eq!(home.read(SETTINGS), text);
    }
    assert_eq!(fs::read_dir(home.path("home/.claude")).unwrap().count(), 1);
    let said = hooks(&home, &["install", "--agent", "shell"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("claude or codex"), "{}", said.err);
    assert_eq!(
        hooks(&home, &["install", "--user", "--project"]).code,
        Some(2)
    );
}

#[test]
fn a_program_that_moved_is_seen_and_mended() {
    let home = Home::new();
    home.write(SETTINGS, THEIRS);
    claude(&home, "install").ok();
    let moved = home.read(SETTINGS).replace(SESSDECK, "/old/place/sessdeck");
    home.write(SETTINGS, &moved);
    let found = status(&home, &[]);
    assert_eq!(found["state"], "missing program");
    assert_eq!(
        found["programs"],
        serde_json::json!(["/old/place/sessdeck"])
    );
    let doctor = home.sessdeck(&["doctor"]);
    assert!(
        doctor
            .out
            .contains("/old/place/sessdeck, which is no program"),
        "{}",
        doctor.out
    );

    claude(&home, "install").ok();
    let mended = home.read(SETTINGS);
    assert!(!mended.contains("/old/place"), "{mended}");
    assert_eq!(status(&home, &[])["state"], "installed");
    // Another program of ours is nobody's fault, and told.
    home.script("home/sessdeck-next", "#!/bin/sh\nexit 0\n");
    let next = home.path("home/sessdeck-next");
    home.write(SETTINGS, &mended.replace(SESSDECK, next.to_str().unwrap()));
    assert_eq!(status(&home, &[])["state"], "other program");
}

#[test]
fn the_doctor_says_what_works_and_what_does_not() {
    let home = Home::new();
    let findings = |code: i32| {
        let said = home.sessdeck(&["doctor", "--json"]);
        assert_eq!(said.code, Some(code), "{}", said.out);
        serde_json::from_str::<Value>(&said.out).unwrap()
    };
    let state = |all: &Value, what: &str| {
        let all = all.as_array().unwrap();
        let found = all.iter().find(|it| it["what"] == what);
        found.map(|it| (it["state"].clone(), it["text"].to_string()))
    };
    let well = |all: &Value, what: &str| {
        let found = state(all, what).unwrap_or_else(|| panic!("{what} in {all}"));
        assert_eq!(found.0, "ok", "{found:?}");
    };
    home.script("bin/claude", "#!/bin/sh\necho '9.9.9 (Claude Code)'\n");
    home.script("bin/codex", "#!/bin/sh\nexit 0\n");
    let all = findings(0);
    for what in [
        "folders",
        "settings",
        "inbox",
        "handoff notes",
        "server",
        "claude",
        "claude hook",
    ] {
        well(&all, what);
    }
    assert!(state(&all, "claude").unwrap().1.contains("9.9.9"));
    assert_eq!(state(&all, "codex").unwrap().0, "warn");

    home.write("deck/config/config.toml", "inbox = '../outside.md'\n");
    home.write(
        "home/.claude/settings.json",
        "{ // all of them\n\"disableAllHooks\": true}",
    );
    home.write("home/.codex/config.toml", "[features]\nhooks = false\n");
    claude(&home, "install").ok();
    home.write("repo/.sessdeck/profiles.toml", "[[profile]]\nname = 'x'\n");
    let all = findings(3);
    assert_eq!(state(&all, "inbox").unwrap().0, "fail");
    assert_eq!(state(&all, "trust").unwrap().0, "warn");
    for hooks in ["claude hooks", "codex hooks"] {
        let off = state(&all, hooks).unwrap();
        assert!(off.1.contains("switch all hooks off"), "{off:?}");
    }
    // The sign that the dry run uses is the person's.
    home.write("deck/config/config.toml", "[guard]\npark_prefix = '++'\n");
    well(&findings(3), "claude hook");
    home.write("deck/config/config.toml", "= 1\n");
    assert_eq!(state(&findings(3), "settings").unwrap().0, "fail");
}

#[test]
fn the_doctor_runs_nothing_that_a_repo_names() {
    let home = Home::new();
    home.script("repo/sessdeck", "#!/bin/sh\ntouch ran\n");
    let hooks = "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"./sessdeck hook codex\"}]}]}}";
    home.write("repo/.codex/hooks.json", hooks);
    let said = home.sessdeck(&["doctor"]);
    assert!(said.out.contains("calls another program"), "{}", said.out);
    assert!(!home.path("repo/ran").exists());
}
