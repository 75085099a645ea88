//! `sessdeck inbox`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::new;
use crate::config::dirs::Dirs;
use crate::config::load;
use crate::deck::inbox::{self, Line};
use crate::error::{Error, Exit, Result};
use crate::files::inbox::InboxFile;
use crate::protocol::client::Order;

/// The parked ideas of this repo.
#[derive(Debug, Args)]
pub(crate) struct Inbox {
    #[command(subcommand)]
    what: Option<What>,
    /// An array, one object an open line.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the open lines.
    List,
    /// Open line N as a new session with its profile.
    Open { n: usize },
}

impl Inbox {
    pub(crate) fn run(self, dirs: &Dirs, out: &mut impl Write) -> Result<ExitCode> {
        let (file, lines) = open_lines(dirs)?;
        match self.what {
            None | Some(What::List) if self.json => {
                let all: Vec<_> = lines
                    .iter()
                    .map(|line| {
                        json!({
                            "n": line.n,
                            "done": line.done,
                            "date": line.date,
                            "profile": line.profile,
                            "text": line.text,
                            "detail": line.detail,
                            "link": line.link,
                            "line": line.row,
                            "hash": line.hash,
                        })
                    })
                    .collect();
                writeln!(out, "{:#}", json!(all))?;
            }
            None | Some(What::List) => list(&lines, &file, out)?,
            Some(What::Open { n }) => {
                let line = lines.into_iter().find(|line| line.n == n).ok_or_else(|| {
                    Error::new(Exit::Usage, format!("the inbox has no open line {n}"))
                        .at(&file, None)
                        .mend("`sessdeck inbox` lists them")
                })?;
                let order = Order {
                    task: Some(inbox::prompt_of(&line)),
                    profile: line.profile,
                    inbox: Some(line.hash),
                    dir: std::env::current_dir()?,
                    env: load::environment(),
                    ..Order::default()
                };
                let session = new::launch(dirs, order)?;
                writeln!(
                    out,
                    "session {} `{}` runs; `sessdeck` shows it",
                    session.id, session.name
                )?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(lines: &[Line], file: &Path, out: &mut impl Write) -> Result<()> {
    if lines.is_empty() {
        writeln!(
            out,
            "the inbox is empty ({}); `sessdeck park TEXT…` adds a line",
            file.display()
        )?;
    }
    for line in lines {
        let date = line.date.as_deref().unwrap_or_default();
        let tag = line
            .profile
            .as_deref()
            .map(|profile| format!("#{profile} "))
            .unwrap_or_default();
        writeln!(
            out,
            "{:>3}  {date:<10}  {tag}{}",
            line.n,
            crate::terminal::plain(&line.text)
        )?;
    }
    Ok(())
}

fn open_lines(dirs: &Dirs) -> Result<(PathBuf, Vec<Line>)> {
    let here = load::here(dirs, &std::env::current_dir()?)?;
    let file = InboxFile::new(
        &here.repo.root,
        Path::new(&here.settings.inbox),
        &dirs.state,
    )?;
    Ok((file.path().to_owned(), inbox::open_lines(&file.read()?)))
}
