//! What the meter shows.

use super::fact::Usage;

/// Where the context figure comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nothing is known: no call yet, or a compaction that names no figure.
    #[default]
    None,
    /// The last call.
    Usage,
    /// What a compaction left: the messages only, a lower bound.
    CompactBoundary,
    /// The client's own estimate.
    ClientEstimate,
}

/// Calls and their tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) turns: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
}

impl Sum {
    pub(super) fn add(&mut self, usage: Usage) {
        self.turns += 1;
        self.input_tokens += usage.input;
        self.output_tokens += usage.output;
    }

    pub(super) fn remove(&mut self, usage: Usage) {
        self.turns -= 1;
        self.input_tokens -= usage.input;
        self.output_tokens -= usage.output;
    }
}

/// What the meter shows. All figures are tokens or counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// What the conversation holds now: input side and output of the last main call.
    pub(crate) context_tokens: Option<u64>,
    /// The same without output, as the client's own percentage counts.
    pub(crate) context_input_tokens: Option<u64>,
    pub(crate) context_source: Source,
    /// The model of the last main call, as the name is written.
    pub(crate) model: Option<String>,
    pub(crate) peak_context_tokens: Option<u64>,
    /// Main calls.
    pub(crate) main: Sum,
    pub(crate) user_prompts: u64,
    /// The input of main calls whose input side is over 300,000.
    pub(crate) input_tokens_above_300k: u64,
    pub(crate) compactions: u32,
    /// Main calls by model, as the name is written, in order of first use.
    pub(crate) per_model: Vec<(String, Sum)>,
    pub(crate) sidechain: Sum,
    pub(crate) bad_lines: u64,
    /// The window, where the transcript itself states it.
    pub(crate) window: Option<u64>,
}

impl Figures {
    /// The part of the replayed input that was expensive; none without input.
    #[cfg(test)]
    pub(crate) fn share_above_300k(&self) -> Option<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "sums of tokens stay far below 2^52"
        )]
        let (part, whole) = (
            self.input_tokens_above_300k as f64,
            self.main.input_tokens as f64,
        );
        (self.main.input_tokens > 0).then(|| part / whole)
    }
}
