//! The context of a conversation from the end of its transcript, without the rest.

use super::{Compaction, Fact, Figures, Last, Meter};

/// Rows that come newest first, until older ones cannot change the context figure any more.
#[derive(Debug)]
pub(crate) struct Newest {
    of_subagent: bool,
    /// Newest first.
    rows: Vec<Vec<Fact>>,
    /// The newest call: its key, or the running total behind it.
    call: Option<Ident>,
    /// A compaction that may be followed by a row which repeats the total from before it.
    compacted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Ident {
    Key(Option<String>),
    Total(u64),
}

impl Newest {
    /// `of_subagent`: the transcript is a subagent's own, so its rows are the main ones.
    pub(crate) fn new(of_subagent: bool) -> Self {
        Self {
            of_subagent,
            rows: Vec::new(),
            call: None,
            compacted: false,
        }
    }

    /// Takes the facts of the next older row; true once that is enough.
    pub(crate) fn add(&mut self, facts: Vec<Fact>) -> bool {
        if facts.is_empty() {
            return false;
        }
        let enough = facts.iter().any(|fact| self.decides(fact));
        self.rows.push(facts);
        enough
    }

    /// What the rows come to. Sums in it hold what was read alone; only context, model and window are of use.
    pub(crate) fn figures(self) -> Figures {
        let mut meter = Meter {
            of_subagent: self.of_subagent,
            ..Meter::default()
        };
        for fact in self.rows.into_iter().rev().flatten() {
            meter.feed(fact);
        }
        meter.figures
    }

    fn decides(&mut self, fact: &Fact) -> bool {
        let call = match fact {
            Fact::Call { sidechain, .. } if *sidechain && !self.of_subagent => return false,
            Fact::Call { key, .. } => Ident::Key(key.clone()),
            Fact::Total {
                last: Last::Estimate(_),
                ..
            }
            | Fact::Compacted(Compaction::Boundary { .. }) => return true,
            Fact::Total { total, .. } => Ident::Total(*total),
            Fact::Compacted(Compaction::Record | Compaction::Event) => {
                self.compacted = true;
                return false;
            }
            Fact::Prompt { .. }
            | Fact::Model(_)
            | Fact::Window(_)
            | Fact::Written(_)
            | Fact::Forked(_)
            | Fact::Delegated
            | Fact::Bad => return false,
        };
        // A row without a key is a call of its own.
        let other = self
            .call
            .as_ref()
            .is_some_and(|newest| *newest != call || call == Ident::Key(None));
        let enough = other || self.compacted;
        self.call.get_or_insert(call);
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::super::Usage;
    use super::*;

    fn call(key: &str, input: u64, output: u64) -> Fact {
        Fact::Call {
            key: Some(key.into()),
            model: "opus".into(),
            usage: Usage { input, output },
            sidechain: false,
        }
    }

    fn total(total: u64, context: u64) -> Fact {
        let usage = Usage {
            input: context,
            output: 0,
        };
        Fact::Total {
            total,
            sums: usage,
            last: Last::Call { usage, context },
        }
    }

    /// The context after these rows (oldest first), and how many of them were needed.
    fn newest(rows: &[Fact]) -> (Option<u64>, usize) {
        let mut newest = Newest::new(false);
        let mut needed = 0;
        for fact in rows.iter().rev() {
            needed += 1;
            if newest.add(vec![fact.clone()]) {
                break;
            }
        }
        (newest.figures().context_tokens, needed)
    }

    #[test]
    fn as_many_rows_are_read_as_can_change_the_figure() {
        let boundary = |left| Fact::Compacted(Compaction::Boundary { id: None, left });
        let side = Fact::Call {
            key: Some("s".into()),
            model: "haiku".into(),
            usage: Usage {
                input: 9_000,
                output: 0,
            },
            sidechain: true,
        };
        let estimate = Fact::Total {
            total: 50,
            sums: Usage::default(),
            last: Last::Estimate(7),
        };
        let record = Fact::Compacted(Compaction::Record);
        for (rows, expected) in [
            (vec![], (None, 0)),
            (
                vec![call("a", 1, 0), call("b", 5, 1), call("b", 5, 9)],
                (Some(14), 3),
            ),
            (
                vec![call("a", 1, 0), call("b", 5, 9), call("b", 5, 1)],
                (Some(14), 3),
            ),
            (vec![call("a", 1, 1), side.clone(), side], (Some(2), 3)),
            (vec![call("a", 9, 0), boundary(Some(3))], (Some(3), 1)),
            (vec![call("a", 9, 0), boundary(None)], (None, 1)),
            (
                vec![call("a", 9, 0), boundary(None), call("b", 2, 0)],
                (Some(2), 2),
            ),
            (vec![total(10, 10), total(30, 20)], (Some(20), 2)),
            (
                vec![total(10, 10), total(30, 20), total(30, 20)],
                (Some(20), 3),
            ),
            // The total that is repeated after a compaction is no call.
            (
                vec![total(30, 20), record.clone(), total(30, 20)],
                (None, 3),
            ),
            (
                vec![total(30, 20), record, total(30, 20), estimate],
                (Some(7), 1),
            ),
        ] {
            assert_eq!(newest(&rows), expected, "{rows:?}");
        }
    }
}
