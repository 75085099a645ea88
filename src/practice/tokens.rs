//! How full the context is, call by call.

/// The figures of one call, named as in the transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) cache_creation: u64,
    pub(super) cache_read: u64,
    pub(super) output: u64,
}

impl Usage {
    /// What the conversation holds after the call.
    pub(super) fn context(self) -> u64 {
        self.input + self.cache_creation + self.cache_read + self.output
    }
}

/// Instructions and tools that every conversation starts with.
const STARTUP: u64 = 18_000;

/// Tokens outside any cache, in every call.
const UNCACHED: u64 = 12;

/// The running figures of one conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    window: u64,
    /// What the next call reads from the cache.
    cached: u64,
    /// What the next call writes to it besides its own growth.
    fresh: u64,
    /// As the transcript shows it now; 0 before the first answer.
    context: u64,
}

impl Tokens {
    pub(super) fn new(window: u64) -> Self {
        Self {
            window,
            cached: 0,
            fresh: STARTUP,
            context: 0,
        }
    }

    /// Goes on where an earlier run of the conversation ended.
    pub(super) fn resumed(window: u64, last: Usage) -> Self {
        Self {
            window,
            cached: last.cache_read + last.cache_creation,
            fresh: last.input + last.output,
            context: last.context(),
        }
    }

    pub(super) fn context(&self) -> u64 {
        self.context
    }

    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Whether a turn of this size would burst the window, so that the conversation is summarised first.
    pub(super) fn bursts(&self, growth: u64) -> bool {
        self.context > STARTUP * 2 && self.context + growth > self.limit()
    }

    fn limit(&self) -> u64 {
        self.window / 100 * 97
    }

    /// One call of the model. It never grows over the window.
    pub(super) fn call(&mut self, growth: u64, output: u64) -> Usage {
        let held = self.cached + self.fresh;
        let growth = growth.min(self.limit().saturating_sub(held + output + UNCACHED));
        let usage = Usage {
            input: UNCACHED,
            cache_creation: self.fresh + growth,
            cache_read: self.cached,
            output,
        };
        self.cached += usage.cache_creation;
        self.fresh = usage.input + usage.output;
        self.context = usage.context();
        usage
    }

    /// Summarises; the figures before and after, as the transcript states them.
    pub(super) fn compact(&mut self) -> (u64, u64) {
        let before = self.context;
        let after = 2_000 + before / 100;
        self.cached = 0;
        self.fresh = STARTUP + after;
        self.context = after;
        (before, after)
    }
}

/// The window of a model, as the client that we stand in for knows it.
pub(super) fn window(model: &str) -> u64 {
    let old = model.starts_with("claude-") && (model.contains("-4-5") || model.contains("-4-1"));
    if old && !model.ends_with("[1m]") {
        200_000
    } else {
        1_000_000
    }
}

/// The full name of a model by its short one.
pub(super) fn full_name(model: &str) -> String {
    let bare = model.strip_suffix("[1m]").unwrap_or(model);
    match bare {
        "haiku" | "sonnet" | "opus" => format!("claude-{bare}-5-5"),
        "fable" => "claude-fable-5-2".into(),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_reads_what_the_calls_before_wrote() {
        let mut tokens = Tokens::new(200_000);
        let first = tokens.call(7_000, 100);
        let second = tokens.call(8_000, 50);
        assert_eq!(
            first,
            Usage {
                input: 12,
                cache_creation: 25_000,
                cache_read: 0,
                output: 100
            }
        );
        assert_eq!(
            second,
            Usage {
                input: 12,
                cache_creation: 8_112,
                cache_read: 25_000,
                output: 50
            }
        );
        assert_eq!(tokens.context(), 33_174);
        assert_eq!(Tokens::resumed(200_000, second), tokens);
    }

    #[test]
    fn the_window_is_never_burst() {
        let mut tokens = Tokens::new(200_000);
        assert!(
            !tokens.bursts(900_000),
            "a first turn has nothing to summarise"
        );
        tokens.call(900_000, 100);
        assert_eq!(tokens.context(), 194_000);
        assert!(tokens.bursts(6_000));
        tokens.call(6_000, 100);
        assert!(tokens.context() < 200_000);
    }

    #[test]
    fn a_summary_leaves_little_and_the_next_call_writes_anew() {
        let mut tokens = Tokens::new(200_000);
        tokens.call(100_000, 0);
        let (before, after) = tokens.compact();
        assert_eq!((before, after, tokens.context()), (118_012, 3_180, 3_180));
        assert_eq!(tokens.call(1_000, 0).cache_read, 0);
        assert_eq!(tokens.context(), 12 + 18_000 + 3_180 + 1_000);
    }

    #[test]
    fn models_have_the_windows_of_the_real_client() {
        for (model, name, tokens) in [
            ("sonnet", "claude-sonnet-5-5", 1_000_000),
            ("fable[1m]", "claude-fable-5-2", 1_000_000),
            ("claude-sonnet-4-5", "claude-sonnet-4-5", 200_000),
            ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5", 1_000_000),
            ("other", "other", 1_000_000),
        ] {
            assert_eq!(
                (full_name(model).as_str(), window(model)),
                (name, tokens),
                "{model}"
            );
        }
    }
}
