//! Holds the source against the map of layers: who may name whom, what a pure layer may not touch, where each
//! outside crate lives, and what stands at the top of the repository.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "layering/map.rs"]
mod map;
#[path = "layering/source.rs"]
mod source;

use map::{Fault, all_faults, faults};

/// What may stand at the top of the repository.
const TOP: &[&str] = &[
    ".ci",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "assets",
    "clippy.toml",
    "deny.toml",
    "profiles",
    "rustfmt.toml",
    "src",
    "tests",
    "themes",
];

#[test]
fn every_source_file_keeps_to_the_arrows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    rust_files(&root.join("src"), &mut files);
    assert!(files.len() > 10, "no sources under {}", root.display());
    let sources: Vec<(String, String)> = files
        .iter()
        .map(|file| {
            let inside = file.strip_prefix(root.join("src")).expect("under src");
            let text = fs::read_to_string(file).expect("a source file is UTF-8");
            (inside.to_string_lossy().into_owned(), text)
        })
        .collect();
    let faults: Vec<String> = all_faults(&sources).iter().map(Fault::to_string).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_top_level_holds_what_the_map_lists_and_nothing_else() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let strangers: Vec<String> = fs::read_dir(root)
        .expect("the repository can be read")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name != ".git" && name != "target" && !TOP.contains(&name.as_str()))
        .collect();
    assert!(strangers.is_empty(), "not on the map: {strangers:?}");
}

#[test]
fn there_is_one_copy_of_what_draws() {
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock"))
        .expect("Cargo.lock is committed");
    for name in ["ratatui", "crossterm"] {
        assert_eq!(
            versions(&lock, name).len(),
            1,
            "{name}: {:?}",
            versions(&lock, name)
        );
    }
}

#[test]
fn a_path_against_the_arrows_is_named_with_its_line() {
    judged(&[
        ("deck/topic.rs", "use crate::deck::Profile;", ""),
        ("deck/topic.rs", "use super::Profile;", ""),
        (
            "deck/topic.rs",
            "\nuse crate::protocol::Order;",
            "src/deck/topic.rs:2: deck → protocol",
        ),
        (
            "deck/topic.rs",
            "use super::super::server::Loop;",
            "src/deck/topic.rs:1: deck → server",
        ),
        (
            "deck/topic.rs",
            "mod tests { use super::super::Profile; }",
            "",
        ),
        (
            "deck/topic.rs",
            "mod tests { use super::super::super::ui::Tab; }",
            "src/deck/topic.rs:1: deck → ui",
        ),
        (
            "ui/mod.rs",
            "use crate::{client::Link,\n    server::{self, Loop},\n};",
            "src/ui/mod.rs:2: ui → server",
        ),
        (
            "ui/view/tabs.rs",
            "fn f() { crate::agents::claude::launch(); }",
            "src/ui/view/tabs.rs:1: ui → agents",
        ),
        (
            "keeper/mod.rs",
            "use crate::{protocol as wire, keeper};\nconst N: u8 = 1 as crate::deck::Byte;",
            "src/keeper/mod.rs:2: keeper → deck",
        ),
        (
            "keeper/mod.rs",
            "pub(in crate::server) fn f() {}",
            "src/keeper/mod.rs:1: keeper → server",
        ),
        (
            "server/mod.rs",
            "use crate::practice::Agent;",
            "src/server/mod.rs:1: server → practice",
        ),
        ("cli/demo.rs", "use crate::practice::Agent;", ""),
        (
            "main.rs",
            "mod deck;\nfn main() { cli::main(); server::run() }\nuse crate::deck::Event;",
            "src/main.rs:2: main → server\nsrc/main.rs:3: main → deck",
        ),
        (
            "helpers/mod.rs",
            "fn f() {}",
            "src/helpers/mod.rs:1: `helpers` is no layer of the map",
        ),
    ]);
}

#[test]
fn comments_and_literals_name_nothing() {
    judged(&[
        (
            "ui/mod.rs",
            "// crate::server\n/* crate::server /* */ crate::server */",
            "",
        ),
        (
            "ui/mod.rs",
            r###"["crate::cli \" crate::cli", r##"crate::"#cli"##, br"crate::cli\"]"###,
            "",
        ),
        (
            "ui/mod.rs",
            "fn f<'a>(x: &'a str) -> char { '\"' }\nuse crate::cli::Loop; const C: char = '\\'';",
            "src/ui/mod.rs:2: ui → cli",
        ),
    ]);
}

#[test]
fn a_pure_layer_reaches_outside_in_its_tests_alone() {
    judged(&[
        (
            "agents/claude.rs",
            "use std::{collections::BTreeMap, fs::{self, File}};",
            "src/agents/claude.rs:1: agents is pure, yet names std::fs",
        ),
        (
            "protocol/wire.rs",
            "use std::os::unix::net::UnixStream;",
            "src/protocol/wire.rs:1: protocol is pure, yet names std::os::unix::net",
        ),
        (
            "terminal/guard.rs",
            "fn f() { let now = Instant::now(); }",
            "src/terminal/guard.rs:1: terminal is pure, yet names Instant::now",
        ),
        (
            "deck/mod.rs",
            "#[cfg(test)]\nmod tests { use std::fs; }\nfn f() { std::env::var(\"X\"); }",
            "src/deck/mod.rs:3: deck is pure, yet names std::env",
        ),
        ("server/store.rs", "use std::fs;", ""),
    ]);
}

#[test]
fn a_file_that_is_built_for_tests_alone_may_reach_outside() {
    let reach = "use std::fs;";
    for (parent, declares, child, said) in [
        (
            "deck/mod.rs",
            "#[cfg(test)]\nmod cases;",
            "deck/cases.rs",
            0,
        ),
        (
            "deck/mod.rs",
            "#[cfg(test)] mod cases;",
            "deck/cases/a.rs",
            0,
        ),
        (
            "deck/topic.rs",
            "#[cfg(test)]\nmod cases;",
            "deck/topic/cases.rs",
            0,
        ),
        (
            "deck/topic.rs",
            "#[cfg(test)]\nmod cases;",
            "deck/cases.rs",
            1,
        ),
        ("deck/mod.rs", "mod cases;", "deck/cases.rs", 1),
    ] {
        let sources = [(parent, declares), (child, reach)]
            .map(|(file, text)| (file.to_owned(), text.to_owned()));
        assert_eq!(
            all_faults(&sources).len(),
            said,
            "{declares} in {parent}: {child}"
        );
    }
}

#[test]
fn an_outside_crate_stays_at_home() {
    judged(&[
        ("server/watch.rs", "use notify::Watcher;", ""),
        (
            "server/mod.rs",
            "fn f() { notify::event(); }",
            "src/server/mod.rs:1: `notify` lives in src/server/watch.rs",
        ),
        ("server/mod.rs", "fn f() { self.notify(x); notify(y); }", ""),
        (
            "ui/view/mod.rs",
            "use ratatui::crossterm::event::KeyCode;",
            "src/ui/view/mod.rs:1: `crossterm` lives in src/ui/input.rs, src/ui/mod.rs, src/practice/",
        ),
    ]);
}

/// Each row: a made-up file, its text, and what is said of it.
fn judged(rows: &[(&str, &str, &str)]) {
    for (file, text, expected) in rows {
        let said: Vec<String> = faults(file, text, false)
            .iter()
            .map(Fault::to_string)
            .collect();
        assert_eq!(said.join("\n"), *expected, "{file}: {text}");
    }
}

#[test]
fn two_copies_in_a_lock_file_are_counted() {
    let lock = "[[package]]\nname = \"ratatui\"\nversion = \"0.29.0\"\n\n\
                [[package]]\nname = \"ratatui-core\"\nversion = \"0.1.0\"\n\n\
                [[package]]\nname = \"ratatui\"\nversion = \"0.30.0\"\n";
    assert_eq!(versions(lock, "ratatui"), ["0.29.0", "0.30.0"]);
    assert_eq!(versions(lock, "crossterm"), Vec::<String>::new());
}

/// The versions of a package that a lock file holds.
fn versions(lock: &str, name: &str) -> Vec<String> {
    let named = format!("name = \"{name}\"");
    let mut lines = lock.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if line == named
            && let Some(version) = lines.next().and_then(|line| line.split('"').nth(1))
        {
            found.push(version.to_owned());
        }
    }
    found
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder of sources can be read")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            rust_files(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}
