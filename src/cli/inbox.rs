//! `sessdeck inbox`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::new;
use crate::config::dirs::Dirs;
use crate::config::load;
use crate::deck::inbox::{self, Line, Refusal};
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
    /// Close line N with a link to the change that settled it.
    Close {
        n: usize,
        /// A commit, a pull request, a file.
        #[arg(long)]
        link: String,
    },
    /// Take line N out of the inbox.
    Drop { n: usize },
    /// Give line N other words; its date and profile stay.
    Edit {
        n: usize,
        #[arg(required = true)]
        text: Vec<String>,
    },
}

impl Inbox {
    pub(crate) fn run(self, dirs: &Dirs, out: &mut impl Write) -> Result<ExitCode> {
        let here = load::here(dirs, &std::env::current_dir()?)?;
        let file = InboxFile::new(
            &here.repo.root,
            Path::new(&here.settings.inbox),
            &dirs.state,
        )?;
        let lines = inbox::open_lines(&file.read()?);
        let line = |n| line(&lines, n, file.path());
        match self.what {
            None | Some(What::List) if self.json => {
                let all: Vec<_> = lines.iter().map(object).collect();
                writeln!(out, "{:#}", json!(all))?;
            }
            None | Some(What::List) => list(&lines, file.path(), out)?,
            Some(What::Open { n }) => {
                let line = line(n)?;
                let order = Order {
                    task: Some(inbox::prompt_of(line)),
                    profile: line.profile.clone(),
                    inbox: Some(line.hash.clone()),
                    dir: std::env::current_dir()?,
                    env: load::environment(),
                    ..Order::default()
                };
                new::launch(dirs, order, out)?;
            }
            Some(What::Close { n, link }) => {
                let hash = &line(n)?.hash;
                change(&file, |text| inbox::close(text, hash, &link))?;
            }
            Some(What::Drop { n }) => {
                let hash = &line(n)?.hash;
                change(&file, |text| inbox::drop(text, hash))?;
            }
            Some(What::Edit { n, text: words }) => {
                let hash = &line(n)?.hash;
                change(&file, |text| inbox::edit(text, hash, &words.join(" ")))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn line<'a>(lines: &'a [Line], n: usize, file: &Path) -> Result<&'a Line> {
    lines.iter().find(|line| line.n == n).ok_or_else(|| {
        Error::new(Exit::Usage, format!("the inbox has no open line {n}"))
            .at(file, None)
            .mend("`sessdeck inbox` lists them")
    })
}

fn change(
    file: &InboxFile,
    with: impl Fn(&str) -> std::result::Result<String, Refusal>,
) -> Result<()> {
    file.rewrite(|text| {
        with(text)
            .map_err(|refusal| Error::new(Exit::Fault, refusal.to_string()).at(file.path(), None))
    })
}

fn object(line: &Line) -> Value {
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
