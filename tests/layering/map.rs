//! The map of layers, and what in a source file departs from it.

use std::collections::BTreeSet;
use std::fmt;

use crate::source::{self, Named};

/// A layer and the layers that it may name. A layer may always name itself.
const ARROWS: &[(&str, &[&str])] = &[
    ("deck", &[]),
    ("terminal", &[]),
    ("error", &[]),
    ("config", &["error", "deck", "terminal"]),
    ("agents", &["config", "deck"]),
    ("protocol", &["deck", "terminal"]),
    ("files", &["error", "deck", "protocol", "config"]),
    (
        "hook",
        &[
            "deck", "terminal", "error", "config", "agents", "protocol", "files",
        ],
    ),
    ("practice", &["error"]),
    ("keeper", &["error", "protocol"]),
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
            "deck", "terminal", "error", "config", "agents", "protocol", "files", "hook",
            "practice", "keeper", "server", "client", "ui",
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

/// Something in a source file that the map does not allow.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    file: String,
    line: usize,
    what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "src/{}:{}: {}", self.file, self.line, self.what)
    }
}

/// What is wrong with the files of the crate; each with its path inside `src/`.
pub(crate) fn all_faults(sources: &[(String, String)]) -> Vec<Fault> {
    let for_tests: Vec<String> = sources
        .iter()
        .flat_map(|(file, text)| {
            let folder = file
                .strip_suffix("mod.rs")
                .map_or_else(|| file.replace(".rs", "/"), str::to_owned);
            let names = source::test_modules(text).into_iter();
            names.map(move |name| format!("{folder}{name}"))
        })
        .collect();
    let built_for_tests = |file: &str| {
        for_tests.iter().any(|module| {
            let rest = file.strip_prefix(module.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    };
    sources
        .iter()
        .flat_map(|(file, text)| faults(file, text, built_for_tests(file)))
        .collect()
}

/// What is wrong with one source file.
pub(crate) fn faults(file: &str, text: &str, for_tests: bool) -> Vec<Fault> {
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
            && !for_tests
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
