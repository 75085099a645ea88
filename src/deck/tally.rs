//! What the hooks' decisions come to: how often, how long, and which words hold up too much.

use std::collections::BTreeMap;

/// One decision, as far as it is counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decision {
    pub(crate) event: String,
    pub(crate) verdict: String,
    pub(crate) step: Option<String>,
    pub(crate) profile: Option<String>,
    pub(crate) matched: Vec<String>,
    /// So many subagents that were stopped the parent was told of.
    pub(crate) told: usize,
    /// Something of ours could not be read or written.
    pub(crate) faulty: bool,
    /// Milliseconds.
    pub(crate) took: f64,
}

/// The sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// By verdict, in the log's word.
    pub(crate) verdicts: BTreeMap<String, u64>,
    /// Steps of the brake that were told.
    pub(crate) steps: BTreeMap<String, u64>,
    /// Decisions for which something of ours could not be read or written.
    pub(crate) faults: u64,
    /// Subagents that were stopped and their parents told.
    pub(crate) told: usize,
    /// By event, in the client's word.
    pub(crate) took: BTreeMap<String, Took>,
    /// The keywords of each profile, the one that held up most first.
    pub(crate) words: BTreeMap<String, Vec<Word>>,
}

/// How long runs took, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Took {
    pub(crate) runs: usize,
    pub(crate) median: f64,
    pub(crate) p95: f64,
    pub(crate) longest: f64,
}

/// A keyword that decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// It held a prompt back.
    pub(crate) blocked: u64,
    /// The person sent the prompt all the same: a vote against the word.
    pub(crate) sent: u64,
}

impl Tally {
    pub(crate) fn of(decisions: impl IntoIterator<Item = Decision>) -> Self {
        let mut tally = Self::default();
        let mut took: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for decision in decisions {
            *tally.verdicts.entry(decision.verdict.clone()).or_default() += 1;
            if let Some(step) = &decision.step {
                *tally.steps.entry(step.clone()).or_default() += 1;
            }
            tally.told += decision.told;
            tally.faults += u64::from(decision.faulty);
            tally.vote(&decision);
            took.entry(decision.event).or_default().push(decision.took);
        }
        for words in tally.words.values_mut() {
            words.sort_by_key(|word| std::cmp::Reverse((word.blocked, word.sent)));
        }
        tally.took = took
            .into_iter()
            .map(|(event, took)| (event, spread(took)))
            .collect();
        tally
    }

    /// How often one of these verdicts was given.
    pub(crate) fn count(&self, verdicts: &[&str]) -> u64 {
        verdicts
            .iter()
            .filter_map(|verdict| self.verdicts.get(*verdict))
            .sum()
    }

    fn vote(&mut self, decision: &Decision) {
        let Some(profile) = &decision.profile else {
            return;
        };
        for named in &decision.matched {
            let words = self.words.entry(profile.clone()).or_default();
            let at = words.iter().position(|word| word.text == *named);
            let at = at.unwrap_or_else(|| {
                words.push(Word {
                    text: named.clone(),
                    ..Word::default()
                });
                words.len() - 1
            });
            match decision.verdict.as_str() {
                "block" => words[at].blocked += 1,
                "sent" => words[at].sent += 1,
                _ => {}
            }
        }
    }
}

fn spread(mut took: Vec<f64>) -> Took {
    took.sort_by(f64::total_cmp);
    let at = |percent: usize| {
        let last = took.len().saturating_sub(1);
        took.get((last * percent).div_ceil(100)).copied()
    };
    Took {
        runs: took.len(),
        median: at(50).unwrap_or_default(),
        p95: at(95).unwrap_or_default(),
        longest: at(100).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(verdict: &str, matched: &[&str], took: f64) -> Decision {
        Decision {
            event: "UserPromptSubmit".into(),
            verdict: verdict.into(),
            profile: (!matched.is_empty()).then(|| "docs".into()),
            matched: matched.iter().map(ToString::to_string).collect(),
            took,
            ..Decision::default()
        }
    }

    #[test]
    fn verdicts_steps_and_votes_are_counted() {
        let told = Decision {
            event: "PostToolUse".into(),
            verdict: "step".into(),
            step: Some("soft".into()),
            told: 2,
            faulty: true,
            ..Decision::default()
        };
        let tally = Tally::of([
            decision("block", &["readme"], 1.0),
            decision("block", &["guide", "readme"], 1.0),
            decision("sent", &["guide", "readme"], 1.0),
            decision("force", &[], 1.0),
            told,
        ]);
        assert_eq!(tally.count(&["sent", "force"]), 2);
        assert_eq!(tally.count(&["block"]), 2);
        assert_eq!(tally.count(&["park"]), 0);
        assert_eq!(tally.steps, [("soft".to_owned(), 1)].into());
        assert_eq!((tally.told, tally.faults), (2, 1));
        let word = |word: &str, blocked, sent| Word {
            text: word.into(),
            blocked,
            sent,
        };
        assert_eq!(
            tally.words["docs"],
            [word("readme", 2, 1), word("guide", 1, 1)]
        );
    }

    #[test]
    fn times_are_told_by_their_spread() {
        let times = (1..=100).map(|time| decision("pass", &[], f64::from(time)));
        let took = Tally::of(times).took["UserPromptSubmit"];
        let expected = Took {
            runs: 100,
            median: 51.0,
            p95: 96.0,
            longest: 100.0,
        };
        assert_eq!(took, expected);
        let one = Tally::of([decision("pass", &[], 3.0)]).took["UserPromptSubmit"];
        assert_eq!((one.median, one.p95, one.longest), (3.0, 3.0, 3.0));
        assert_eq!(Tally::of([]), Tally::default());
    }
}
