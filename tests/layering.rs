//! Holds the source against the map of layers: who may name whom, what a pure layer may not touch, where each
//! outside crate lives, and what stands at the top of the repository.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "layering/source.rs"]
mod source;

use source::Named;

/// A layer and the layers that it may name. A layer may always name itself.
const ARROWS: &[(&str, &[&str])] = &[
    ("deck", &[]),
    ("terminal", &[]),
    ("error", &[]),
    ("config", &["error", "deck", "terminal"]),
    ("agents", &["config", "deck"]),
    ("protocol", &["deck", "terminal"]),
    ("files", &["error", "deck", "protocol", "config"]),
    ("practice", &["error"]),
    ("keeper", &["protocol"]),
    (
        "server",
        &[
            "deck", "terminal", "error", "config", "agents", "protocol", "files", "keeper",
        ],
    ),
    ("client", &["config", "error", "protocol", "files"]),
    (
        "ui",
        &["client", "config", "deck", "error", "protocol", "terminal"],
    ),
    (
        "cli",
        &[
            "deck", "terminal", "error", "config", "agents", "protocol", "files", "practice",
            "keeper", "server", "client", "ui",
        ],
    ),
    ("main", &["cli"]),
];

/// Layers that are told the time, ids and text, and reach for nothing themselves.
const PURE: &[&str] = &["deck", "terminal", "agents", "protocol"];

/// Beginnings of paths that reach outside the process.
const OUTSIDE: &[&[&str]] = &[
    &["std", "env"],
    &["std", "fs"],
    &["std", "net"],
    &["std", "os", "unix", "fs"],
    &["std", "os", "unix", "net"],
    &["std", "process"],
];

/// Endings of paths that read a clock or draw at random.
const IMPURE_CALLS: &[&[&str]] = &[
    &["SystemTime", "now"],
    &["Instant", "now"],
    &["Timestamp", "now"],
    &["Zoned", "now"],
    &["Uuid", "new_v4"],
];

/// An outside crate and the files or folders of `src/` that may name it.
const HOMES: &[(&str, &[&str])] = &[
    ("portable_pty", &["keeper/"]),
    ("notify", &["server/watch.rs"]),
    ("crossterm", &["ui/input.rs", "ui/mod.rs", "practice/"]),
    ("rio_vt", &["terminal/"]),
];

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
    let faults: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let source = fs::read_to_string(file).expect("a source file is UTF-8");
            let inside = file.strip_prefix(root.join("src")).expect("under src");
            faults(&inside.to_string_lossy(), &source)
        })
        .map(|fault| fault.to_string())
        .collect();
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
        ("deck/tests.rs", "use std::fs;", ""),
        ("server/store.rs", "use std::fs;", ""),
    ]);
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
        let said: Vec<String> = faults(file, text).iter().map(Fault::to_string).collect();
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

/// Something in a source file that the map does not allow.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Fault {
    file: String,
    line: usize,
    what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "src/{}:{}: {}", self.file, self.line, self.what)
    }
}

/// What is wrong with one source file; `file` is its path inside `src/`.
fn faults(file: &str, text: &str) -> Vec<Fault> {
    let layer = file
        .split('/')
        .next()
        .expect("split gives at least one part")
        .trim_end_matches(".rs");
    let fault = |line, what| Fault {
        file: file.to_owned(),
        line,
        what,
    };
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == layer) else {
        return vec![fault(1, format!("`{layer}` is no layer of the map"))];
    };
    let mut found = BTreeSet::new();
    for path in source::paths(text) {
        if let Some(other) = path.layer(module_depth(file))
            && other != layer
            && !allowed.contains(&other)
        {
            found.insert(fault(path.line, format!("{layer} → {other}")));
        }
        if PURE.contains(&layer)
            && !path.in_tests
            && !file.ends_with("/tests.rs")
            && let Some(reach) = path.reaches_outside()
        {
            let what = format!("{layer} is pure, yet names {reach}");
            found.insert(fault(path.line, what));
        }
        if let Some((name, homes)) = path.outside_crate()
            && !homes.iter().any(|home| file.starts_with(home))
        {
            let homes: Vec<String> = homes.iter().map(|home| format!("src/{home}")).collect();
            let what = format!("`{name}` lives in {}", homes.join(", "));
            found.insert(fault(path.line, what));
        }
    }
    found.into_iter().collect()
}

/// How many modules a file lies below the root of the crate.
fn module_depth(file: &str) -> usize {
    let parts = file.split('/').count();
    match file.rsplit('/').next() {
        Some("mod.rs" | "main.rs") => parts - 1,
        _ => parts,
    }
}

impl Named {
    /// The layer that a path from the root of the crate leads to.
    fn layer(&self, depth: usize) -> Option<&str> {
        let supers = self
            .parts
            .iter()
            .take_while(|part| *part == "super")
            .count();
        let first = match self.parts.first()?.as_str() {
            "crate" => 1,
            "super" if supers == depth + self.inline_modules => supers,
            // At the root a layer needs no `crate::` before it.
            name if depth + self.inline_modules == 0 && self.parts.len() > 1 => {
                ARROWS.iter().position(|(layer, _)| *layer == name)?;
                0
            }
            _ => return None,
        };
        self.parts.get(first).map(String::as_str)
    }

    fn reaches_outside(&self) -> Option<String> {
        OUTSIDE
            .iter()
            .find(|start| self.parts.starts_with(&owned(start)))
            .or_else(|| {
                IMPURE_CALLS
                    .iter()
                    .find(|end| self.parts.ends_with(&owned(end)))
            })
            .map(|reach| reach.join("::"))
    }

    fn outside_crate(&self) -> Option<(&'static str, &'static [&'static str])> {
        let first = match self.parts.first()?.as_str() {
            "ratatui" => self.parts.get(1)?,
            _ if self.parts.len() > 1 => self.parts.first()?,
            _ => return None,
        };
        HOMES.iter().find(|(name, _)| name == first).copied()
    }
}

fn owned(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
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
