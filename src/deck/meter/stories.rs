//! Stories of rows in short words, and the figures they come to.

use super::fact::{Compaction, Last, Usage};
use super::{Fact, Meter, Source};

/// Facts as short words: `a:10+5` a call with its key, `~a:10+5` a subagent's, `:10+5` one without a key,
/// `b7=40` a boundary with what is left, `b7` one that names no figure, `p1` a prompt;
/// `t100:60+40` a running total with its last call, `t100:?` without one, `t100:0` all zero, `t100:~30` an estimate,
/// `r` and `e` a compaction's record and event, `@5` the second, `fork5` the parent's second, `!` a bad line,
/// `next` another file.
fn story(words: &str) -> Meter {
    let mut meter = Meter::default();
    for word in words.split_whitespace() {
        match word {
            "next" => meter.next_file(),
            word => meter.feed(fact(word)),
        }
    }
    meter
}

fn fact(word: &str) -> Fact {
    let number = |text: &str| text.parse::<u64>().expect(word);
    let usage = |text: &str| {
        let (input, output) = text.split_once('+').expect(word);
        Usage {
            input: number(input),
            output: number(output),
        }
    };
    let id = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    match word {
        "r" => return Fact::Compacted(Compaction::Record),
        "e" => return Fact::Compacted(Compaction::Event),
        "!" => return Fact::Bad,
        "delegated" => return Fact::Delegated,
        _ => {}
    }
    if let Some(second) = word.strip_prefix('@') {
        return Fact::Written(second.into());
    }
    if let Some(second) = word.strip_prefix("fork") {
        return Fact::Forked(second.into());
    }
    if let Some(rest) = word.strip_prefix('p') {
        return Fact::Prompt { id: id(rest) };
    }
    if let Some(rest) = word.strip_prefix('b') {
        let (name, left) = match rest.split_once('=') {
            Some((name, left)) => (name, Some(number(left))),
            None => (rest, None),
        };
        return Fact::Compacted(Compaction::Boundary { id: id(name), left });
    }
    let (head, tail) = word.split_once(':').expect(word);
    if let Some(total) = head.strip_prefix('t') {
        let total = number(total);
        let last = match tail {
            "?" => Last::Missing,
            "0" => Last::Zero,
            tail => match tail.strip_prefix('~') {
                Some(left) => Last::Estimate(number(left)),
                None => Last::Call {
                    usage: usage(tail),
                    context: usage(tail).context(),
                },
            },
        };
        // In these stories a tenth of every total is output.
        let sums = Usage {
            input: total - total / 10,
            output: total / 10,
        };
        return Fact::Total { total, sums, last };
    }
    Fact::Call {
        key: id(head.trim_start_matches('~')),
        model: "m".into(),
        usage: usage(tail),
        sidechain: head.starts_with('~'),
    }
}

#[test]
fn calls_are_counted_once_and_the_last_one_is_the_context() {
    for (words, context, turns, input, output) in [
        ("", None, 0, 0, 0),
        ("a:10+5", Some(15), 1, 10, 5),
        // Rows of one call: the largest output counts, whatever stands between them.
        ("a:10+9 p1 a:10+159", Some(169), 1, 10, 159),
        ("a:10+159 a:10+9", Some(169), 1, 10, 159),
        ("a:10+5 k:20+5 a:10+50", Some(25), 2, 30, 55),
        // Without any id each row is a call.
        (":10+5 :10+5", Some(15), 2, 20, 10),
        // A resumed file repeats the older one.
        (
            "a:10+5 k:20+5 next a:10+5 k:20+5 c:30+5",
            Some(35),
            3,
            60,
            15,
        ),
        // Equal totals are repeats, equal sizes are not.
        ("t15:10+5 t15:10+5 t30:10+5", Some(15), 2, 20, 10),
        ("t100:? t150:? t30:?", Some(30), 3, 162, 18),
        ("t100:? next t100:?", Some(100), 2, 180, 20),
        // The first row of a forked file holds the parent's total.
        ("t100:0 t115:10+5", Some(15), 1, 10, 5),
        (
            "@5 fork5 t50:40+10 t100:40+10 @6 t115:10+5",
            Some(15),
            1,
            10,
            5,
        ),
        ("@5 fork5 t50:40+10 next @5 t50:40+10", Some(50), 1, 40, 10),
    ] {
        let meter = story(words);
        let figures = meter.figures();
        assert_eq!(
            (
                figures.context_tokens,
                figures.main.turns,
                figures.main.input_tokens,
                figures.main.output_tokens
            ),
            (context, turns, input, output),
            "{words}"
        );
        assert_eq!(figures.model.is_some(), turns > 0, "{words}");
        let models = figures.per_model.iter().map(|(_, sum)| sum.turns);
        assert_eq!(models.sum::<u64>(), turns, "{words}");
    }
}

#[test]
fn a_subagent_never_touches_the_main_figures() {
    for (words, context, main, sidechain) in [
        ("a:10+5 ~k:900+5", Some(15), 1, 1),
        ("a:10+5 ~a:10+5 ~k:20+5", Some(15), 1, 1),
        ("~a:10+5 a:10+5", Some(15), 1, 0),
        ("~k:900+5 ~k:900+50", None, 0, 1),
    ] {
        let meter = story(words);
        let figures = meter.figures();
        assert_eq!(
            (
                figures.context_tokens,
                figures.main.turns,
                figures.sidechain.turns
            ),
            (context, main, sidechain),
            "{words}"
        );
    }
}

#[test]
fn after_a_compaction_the_old_figure_never_stands() {
    for (words, context, source, compactions) in [
        ("a:90+5 b1=40", Some(40), Source::CompactBoundary, 1),
        ("a:90+5 b1", None, Source::None, 1),
        ("a:90+5 b1 a:90+50", None, Source::None, 1),
        ("a:90+5 b1=40 c:30+5", Some(35), Source::Usage, 1),
        ("a:90+5 b1=40 b1=40", Some(40), Source::CompactBoundary, 1),
        ("a:90+5 b1=40 c:30+5 next b1=40", Some(35), Source::Usage, 1),
        ("b=40 b=30", Some(30), Source::CompactBoundary, 2),
        ("t100:90+10 r", None, Source::None, 1),
        ("t100:90+10 r t100:90+10", None, Source::None, 1),
        ("t100:90+10 r e", None, Source::None, 1),
        ("t100:90+10 e r", None, Source::None, 1),
        (
            "t100:90+10 r t100:~30 e",
            Some(30),
            Source::ClientEstimate,
            1,
        ),
        ("t100:90+10 r e t130:20+10 e r", None, Source::None, 2),
        (
            "t100:90+10 r t100:~30 t130:20+10",
            Some(30),
            Source::Usage,
            1,
        ),
    ] {
        let meter = story(words);
        let figures = meter.figures();
        assert_eq!(
            (
                figures.context_tokens,
                figures.context_source,
                figures.compactions
            ),
            (context, source, compactions),
            "{words}"
        );
        assert_eq!(figures.context_input_tokens.is_none(), context.is_none());
    }
}

#[test]
fn prompts_and_bad_lines_are_counted_where_they_stand() {
    for (words, prompts, bad) in [
        ("p1 p1 p2 p p", 4, 0),
        ("p1 next p1", 1, 0),
        ("delegated p1 next p2", 1, 0),
        ("@5 fork5 p1 ! @6 p2 !", 1, 1),
    ] {
        let meter = story(words);
        let figures = meter.figures();
        assert_eq!(
            (figures.user_prompts, figures.bad_lines),
            (prompts, bad),
            "{words}"
        );
    }
}

#[test]
fn expensive_input_is_that_of_calls_over_the_line() {
    for (words, peak, above, share) in [
        ("", None, 0, None),
        ("a:300000+1", Some(300_001), 0, Some(0.0)),
        ("a:300001+1 k:100+1", Some(300_002), 300_001, Some(0.9997)),
        ("a:1+1 a:400000+1", Some(400_001), 400_000, Some(1.0)),
    ] {
        let meter = story(words);
        let figures = meter.figures();
        assert_eq!(
            (figures.peak_context_tokens, figures.input_tokens_above_300k),
            (peak, above),
            "{words}"
        );
        let rounded = |share: f64| (share * 10_000.0).round() / 10_000.0;
        assert_eq!(figures.share_above_300k().map(rounded), share, "{words}");
    }
}
