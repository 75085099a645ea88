//! What the rows of a transcript tell the meter, whatever client wrote them.

/// What one row of a transcript tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// A row of a model call. Rows with the same `key` are one call; without a key a row is a call of its own.
    Call {
        key: Option<String>,
        model: String,
        usage: Usage,
        /// A subagent's, which never touches the main figures.
        sidechain: bool,
    },
    /// A client that keeps running totals says where they stand. A call only if the total moved.
    Total {
        total: u64,
        /// The same in its two parts.
        sums: Usage,
        last: Last,
    },
    /// The client compacted the main conversation.
    Compacted(Compaction),
    /// A person typed a prompt. Rows with the same id are one.
    Prompt { id: Option<String> },
    /// The model of the calls that follow.
    Model(String),
    /// The window as the transcript states it, in tokens.
    Window(u64),
    /// The second in which the row was written. Comes before the row's other facts.
    Written(String),
    /// The file begins with its parent's history; rows written in this second are that history.
    Forked(String),
    /// The file is a subagent's own: nobody typed its prompts.
    Delegated,
    /// A complete line that is not a row.
    Bad,
}

/// The tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// The whole input side: fresh, written to the cache, read from the cache.
    pub(crate) input: u64,
    /// Reasoning included.
    pub(crate) output: u64,
}

impl Usage {
    /// What the conversation holds after the call.
    pub(crate) fn context(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// What the row of a running total says about the latest call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// Its figures, and what the client calls their sum.
    Call { usage: Usage, context: u64 },
    /// Nothing; the totals tell the difference.
    Missing,
    /// No call: the client's estimate of what a compaction left.
    Estimate(u64),
    /// All zero: no call, the row only says where the totals stand.
    Zero,
}

/// How a compaction stands in the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Compaction {
    /// One row; the same id twice is the same compaction.
    Boundary {
        id: Option<String>,
        /// Tokens of the messages that are left, without system prompt and tools.
        left: Option<u64>,
    },
    /// A row of its own.
    Record,
    /// An event beside that row; one of the two may be missing.
    Event,
}
