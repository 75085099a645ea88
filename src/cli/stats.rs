//! `sessdeck stats --guard`: what the hooks decided.

use std::io::Write;
use std::time::{Duration, SystemTime};

use clap::Args;
use serde_json::{Value, json};

use crate::config::dirs::Dirs;
use crate::deck::tally::{Decision, Tally};
use crate::error::{Error, Exit, Result};
use crate::files::hook_log::{self, Entry};
use crate::terminal::plain;

/// So many keywords of a profile are shown.
const WORDS: usize = 5;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Sum what the agents' hooks decided: blocks, overrides, parks, steps, denials, and how long they took.
///
/// With --json: `{"since", "decisions", "prompts", "blocks", "overrides", "parks", "steps": {STEP: n}, "refused_at_stop",
/// "denials", "warnings", "parents_told", "faults", "unreadable_lines", "verdicts": {VERDICT: n}, "took_ms": {EVENT: {"runs",
/// "median", "p95", "longest"}}, "words": {PROFILE: [{"word", "blocked", "sent"}]}}`.
#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// The decisions of topic check, park, brake and guard.
    #[arg(long)]
    guard: bool,
    /// Only those of the last so many days.
    #[arg(long, value_name = "DAYS")]
    since: Option<u32>,
    #[arg(long)]
    json: bool,
}

impl Stats {
    pub(crate) fn run(&self, dirs: &Dirs, out: &mut impl Write) -> Result<()> {
        if !self.guard {
            return Err(
                Error::new(Exit::Usage, "the report over transcripts is not offered")
                    .mend("`sessdeck stats --guard` sums what the hooks decided"),
            );
        }
        let since = self.since.map(|days| {
            let begin = now()
                .checked_sub(DAY * days)
                .unwrap_or(SystemTime::UNIX_EPOCH);
            jiff::Timestamp::try_from(begin).unwrap_or_default()
        });
        let (entries, unreadable) = hook_log::read(&dirs.state);
        let kept = entries.into_iter().filter(|entry| {
            let at = entry.time.parse::<jiff::Timestamp>();
            since.is_none_or(|since| at.is_ok_and(|at| at >= since))
        });
        let tally = Tally::of(kept.map(decision));
        if self.json {
            let since = since.map(|since| since.to_string());
            writeln!(out, "{:#}", object(&tally, since.as_deref(), unreadable))?;
        } else {
            table(&tally, unreadable, out)?;
        }
        Ok(())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a command is an edge: it reads the time once and hands it on"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

fn decision(entry: Entry) -> Decision {
    Decision {
        event: plain(&entry.event),
        verdict: plain(&entry.verdict),
        step: entry.step,
        profile: entry.profile.as_deref().map(plain),
        matched: entry.matched.iter().map(|word| plain(word)).collect(),
        told: entry.told,
        faulty: entry.fault.is_some(),
        took: entry.ms,
    }
}

/// What is counted: how it is shown, how JSON calls it, and the verdicts that it sums.
const COUNTS: [(&str, &str, &[&str]); 6] = [
    ("prompts held back", "blocks", &["block"]),
    ("sent all the same", "overrides", &["sent", "force"]),
    ("parked", "parks", &["parked", "park"]),
    (
        "tools refused at the stop step",
        "refused_at_stop",
        &["stop"],
    ),
    ("tools denied to subagents", "denials", &["deny"]),
    ("subagents warned", "warnings", &["warn"]),
];

fn object(tally: &Tally, since: Option<&str>, unreadable: usize) -> Value {
    let mut object = json!({
        "since": since,
        "decisions": tally.verdicts.values().sum::<u64>(),
        "prompts": tally.took.get("UserPromptSubmit").map_or(0, |took| took.runs),
    });
    for (_, name, verdicts) in COUNTS {
        object[name] = tally.count(verdicts).into();
    }
    object["faults"] = tally.faults.into();
    object["parents_told"] = tally.told.into();
    object["steps"] = json!(tally.steps);
    object["unreadable_lines"] = unreadable.into();
    object["verdicts"] = json!(tally.verdicts);
    for (event, took) in &tally.took {
        object["took_ms"][event] = json!({
            "runs": took.runs, "median": took.median, "p95": took.p95, "longest": took.longest,
        });
    }
    for (profile, words) in &tally.words {
        object["words"][profile] = words
            .iter()
            .map(|word| json!({ "word": word.text, "blocked": word.blocked, "sent": word.sent }))
            .collect();
    }
    object
}

fn table(tally: &Tally, unreadable: usize, out: &mut impl Write) -> Result<()> {
    let decisions: u64 = tally.verdicts.values().sum();
    writeln!(out, "{decisions:>7}  decisions")?;
    for (shown, _, verdicts) in COUNTS {
        writeln!(out, "{:>7}  {shown}", tally.count(verdicts))?;
    }
    writeln!(out, "{:>7}  faults of ours", tally.faults)?;
    writeln!(
        out,
        "{:>7}  subagents that were stopped and their parents told",
        tally.told
    )?;
    for (step, times) in &tally.steps {
        writeln!(out, "{times:>7}  steps told: {}", plain(step))?;
    }
    if unreadable > 0 {
        writeln!(out, "{unreadable:>7}  lines of the log that cannot be read")?;
    }
    if !tally.took.is_empty() {
        writeln!(out, "\n   runs   median      p95  longest  (ms)")?;
    }
    for (event, took) in &tally.took {
        writeln!(
            out,
            "{:>7} {:>8.2} {:>8.2} {:>8.2}  {event}",
            took.runs, took.median, took.p95, took.longest
        )?;
    }
    for (profile, words) in &tally.words {
        writeln!(out, "\nwords of {profile}: held back, sent all the same")?;
        for word in words.iter().take(WORDS) {
            writeln!(out, "{:>7} {:>5}  {}", word.blocked, word.sent, word.text)?;
        }
    }
    Ok(())
}
