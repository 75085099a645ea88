//! The command line that the stand-in takes: that of Claude Code, as far as a launcher uses it.

use std::ffi::OsString;

use crate::error::{Error, Exit, Result};

/// Options that take exactly one value.
const VALUE: &[&str] = &[
    "--settings",
    "--setting-sources",
    "--session-id",
    "--model",
    "--effort",
    "--append-system-prompt",
    "--permission-mode",
    "--name",
    "--debug-file",
    "--fallback-model",
];

/// Options that take every word up to the next option, a task included.
const VARIADIC: &[&str] = &[
    "--mcp-config",
    "--add-dir",
    "--allowedTools",
    "--allowed-tools",
    "--disallowedTools",
    "--disallowed-tools",
    "--tools",
    "--betas",
];

/// Options that take no value.
const BARE: &[&str] = &[
    "--continue",
    "--strict-mcp-config",
    "--dangerously-skip-permissions",
    "--ide",
    "--verbose",
    "--bare",
    "--safe-mode",
    "--version",
];

/// Which conversation goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Begin {
    /// A new one, with the id that the launcher chose or one of our own.
    #[default]
    Fresh,
    /// The one with this id.
    Resume(String),
    /// The newest of this folder.
    Newest,
}

/// The command line, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Args {
    /// A file's path or JSON text. Of several the last counts.
    pub(super) settings: Option<String>,
    /// `false` with `--setting-sources ""`: the user's and the project's settings are not read.
    pub(super) own_settings_only: bool,
    pub(super) session_id: Option<String>,
    pub(super) begin: Begin,
    pub(super) model: Option<String>,
    pub(super) effort: Option<String>,
    pub(super) hint: Option<String>,
    pub(super) mcp_config: Vec<String>,
    pub(super) permission_mode: Option<String>,
    pub(super) name: Option<String>,
    /// `--bare` and `--safe-mode` run no hooks at all.
    pub(super) no_hooks: bool,
    pub(super) task: Option<String>,
    /// Only the version is asked for.
    pub(super) version: bool,
}

/// Takes the words after `practice-agent`. An option that nobody knows ends the program with code 1.
pub(super) fn parse(words: Vec<OsString>) -> Result<Args> {
    let mut words = words
        .into_iter()
        .map(|word| word.to_string_lossy().into_owned())
        .peekable();
    let mut args = Args::default();
    let mut task: Vec<String> = Vec::new();
    while let Some(word) = words.next() {
        if word == "--" {
            task.extend(words.by_ref());
            break;
        }
        if !word.starts_with('-') || word == "-" {
            task.push(word);
            continue;
        }
        let (name, mut inline) = match word.split_once('=') {
            Some((name, value)) => (long(name), Some(value.to_owned())),
            None => (long(&word), None),
        };
        if BARE.contains(&name) {
            args.set_bare(name);
        } else if name == "--resume" {
            let id = inline.or_else(|| words.next_if(|next| !next.starts_with('-')));
            args.begin = id.map_or(Begin::Newest, Begin::Resume);
        } else if VALUE.contains(&name) {
            let value = inline
                .take()
                .or_else(|| words.next())
                .ok_or_else(|| wrong(format!("option `{name}` needs a value")))?;
            args.set_value(name, value)?;
        } else if VARIADIC.contains(&name) {
            let mut values: Vec<String> = inline.into_iter().collect();
            while let Some(value) = words.next_if(|next| !next.starts_with('-')) {
                values.push(value);
            }
            if values.is_empty() {
                return Err(wrong(format!("option `{name}` needs a value")));
            }
            if name == "--mcp-config" {
                args.mcp_config.extend(values);
            }
        } else {
            return Err(wrong(format!("unknown option `{word}`")).mend("put `--` before the task"));
        }
    }
    if args.session_id.is_some() && args.begin != Begin::Fresh {
        return Err(wrong(
            "`--session-id` cannot go with `--resume` or `--continue`",
        ));
    }
    args.task = (!task.is_empty())
        .then(|| task.join(" "))
        .filter(|task| !task.trim().is_empty());
    Ok(args)
}

impl Args {
    fn set_bare(&mut self, name: &str) {
        match name {
            "--continue" => self.begin = Begin::Newest,
            "--bare" | "--safe-mode" => self.no_hooks = true,
            "--version" => self.version = true,
            _ => {}
        }
    }

    fn set_value(&mut self, name: &str, value: String) -> Result<()> {
        match name {
            "--settings" => self.settings = Some(value),
            "--setting-sources" => self.own_settings_only = value.trim().is_empty(),
            "--session-id" => {
                if uuid::Uuid::try_parse(&value).is_err() || value.len() != 36 {
                    return Err(wrong(format!(
                        "invalid session id `{value}`, it must be a UUID"
                    )));
                }
                self.session_id = Some(value);
            }
            "--model" => self.model = Some(value),
            "--effort" => self.effort = Some(value),
            "--append-system-prompt" => self.hint = Some(value),
            "--permission-mode" => {
                let known = [
                    "default",
                    "acceptEdits",
                    "auto",
                    "bypassPermissions",
                    "manual",
                    "dontAsk",
                    "plan",
                ];
                if !known.contains(&value.as_str()) {
                    return Err(wrong(format!("unknown permission mode `{value}`"))
                        .mend(format!("one of {}", known.join(", "))));
                }
                self.permission_mode = Some(value);
            }
            "--name" => self.name = Some(value),
            _ => {}
        }
        Ok(())
    }
}

/// The long form of an option's name.
fn long(name: &str) -> &str {
    match name {
        "-r" => "--resume",
        "-c" => "--continue",
        "-n" => "--name",
        "-v" => "--version",
        other => other,
    }
}

fn wrong(what: impl Into<String>) -> Error {
    Error::new(Exit::Fault, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "7c1d0a52-3b6e-4f18-9a47-5d2e8f60b1c3";

    fn read(line: &[&str]) -> Result<Args> {
        parse(line.iter().map(OsString::from).collect())
    }

    #[test]
    fn options_and_the_task_are_told_apart() {
        let args = |change: fn(&mut Args)| {
            let mut args = Args::default();
            change(&mut args);
            args
        };
        for (line, expected) in [
            (&[][..], Args::default()),
            (
                &["fix", "the", "test"],
                args(|a| a.task = Some("fix the test".into())),
            ),
            (
                &["--", "--model haiku do it"],
                args(|a| a.task = Some("--model haiku do it".into())),
            ),
            (
                &["--model=opus", "--name", "n", "--", "go"],
                args(|a| {
                    a.model = Some("opus".into());
                    a.name = Some("n".into());
                    a.task = Some("go".into());
                }),
            ),
            (
                &["--settings", "a", "--settings=b"],
                args(|a| a.settings = Some("b".into())),
            ),
            (
                &["--mcp-config", "a.json", "b.json", "--effort=high"],
                args(|a| {
                    a.mcp_config = vec!["a.json".into(), "b.json".into()];
                    a.effort = Some("high".into());
                }),
            ),
            (
                &["--allowedTools", "Bash", "do it"],
                Args::default(), // the real client loses the task in the same way
            ),
            (
                &["-r", ID, "--", "go on"],
                args(|a| {
                    a.begin = Begin::Resume(ID.into());
                    a.task = Some("go on".into());
                }),
            ),
            (&["--resume"], args(|a| a.begin = Begin::Newest)),
            (
                &["--resume", "--model", "opus"],
                args(|a| {
                    a.begin = Begin::Newest;
                    a.model = Some("opus".into());
                }),
            ),
            (
                &["--setting-sources", ""],
                args(|a| a.own_settings_only = true),
            ),
            (&["--safe-mode"], args(|a| a.no_hooks = true)),
            (&["-v"], args(|a| a.version = true)),
            (&["--", ""], Args::default()),
        ] {
            assert_eq!(read(line).as_ref(), Ok(&expected), "{line:?}");
        }
    }

    #[test]
    fn a_wrong_line_ends_with_code_1_and_says_why() {
        for (line, what) in [
            (&["--no-such"][..], "unknown option `--no-such`"),
            (&["--no-such=1"], "unknown option `--no-such=1`"),
            (&["--model"], "option `--model` needs a value"),
            (&["--mcp-config"], "option `--mcp-config` needs a value"),
            (
                &["--session-id", "abc"],
                "invalid session id `abc`, it must be a UUID",
            ),
            (
                &["--session-id", ID, "--resume", ID],
                "`--session-id` cannot go with `--resume` or `--continue`",
            ),
            (
                &["--permission-mode", "free"],
                "unknown permission mode `free`",
            ),
        ] {
            let error = read(line).unwrap_err();
            assert_eq!(error.exit(), Exit::Fault, "{line:?}");
            assert!(error.line().starts_with(what), "{line:?}: {error}");
        }
    }
}
