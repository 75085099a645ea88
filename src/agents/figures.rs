//! Dialects and meter together: transcripts in, figures out.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Lines, named};
use crate::deck::meter::{Fact, Figures, Meter, Source, Sum};

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// What was read, and whether the last line is torn.
fn read(client: &str, bytes: &[u8], meter: &mut Meter) -> bool {
    let dialect = named(client).unwrap();
    let mut lines = Lines::default();
    let mut whole = Vec::new();
    // Pieces that fall into the middle of letters.
    for piece in bytes.chunks(997) {
        lines.feed(piece, |line| whole.extend(dialect.facts(line)));
    }
    let rest = dialect.facts(lines.rest());
    let torn = rest.contains(&Fact::Bad);
    if !torn {
        whole.extend(rest);
    }
    for fact in whole {
        meter.feed(fact);
    }
    torn
}

fn meter_of(client: &str, file: &Path) -> (Meter, bool) {
    let mut meter = Meter::default();
    let torn = read(client, &fs::read(file).unwrap(), &mut meter);
    (meter, torn)
}

/// The figures as the cases write them.
fn written(client: &str, figures: &Figures, torn: bool) -> Value {
    let source = match figures.context_source {
        Source::None => "none",
        Source::Usage => "usage",
        Source::CompactBoundary => "compact_boundary",
        Source::ClientEstimate => "client_estimate",
    };
    let per_model: serde_json::Map<String, Value> = figures
        .per_model
        .iter()
        .map(|(model, sum)| (model.clone(), sum_of(*sum)))
        .collect();
    let rounded = |share: f64| (share * 10_000.0).round() / 10_000.0;
    json!({
        "client": client,
        "context_tokens": figures.context_tokens,
        "context_input_tokens": figures.context_input_tokens,
        "context_source": source,
        "peak_context_tokens": figures.peak_context_tokens,
        "turns": figures.main.turns,
        "user_prompts": figures.user_prompts,
        "replayed_input_tokens": figures.main.input_tokens,
        "output_tokens": figures.main.output_tokens,
        "input_tokens_above_300k": figures.input_tokens_above_300k,
        "share_above_300k": figures.share_above_300k().map(rounded),
        "compactions": figures.compactions,
        "per_model": per_model,
        "sidechain": sum_of(figures.sidechain),
        "bad_lines": figures.bad_lines,
        "torn_tail": torn,
        "window": figures.window,
        "window_at_least": named(client).unwrap().window_at_least(figures.peak_context_tokens),
    })
}

fn sum_of(sum: Sum) -> Value {
    json!({
        "turns": sum.turns,
        "input_tokens": sum.input_tokens,
        "output_tokens": sum.output_tokens,
    })
}

#[test]
fn the_cases_come_out_as_worked_by_hand() {
    let folder = tests().join("cases/meter");
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let case = entry.unwrap().path();
        if case.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let mut expected: Value = serde_json::from_slice(&fs::read(&case).unwrap()).unwrap();
        let client = expected["client"].as_str().unwrap().to_owned();
        expected.as_object_mut().unwrap().remove("work");
        let (meter, torn) = meter_of(&client, &case.with_extension("jsonl"));
        assert_eq!(
            written(&client, meter.figures(), torn),
            expected,
            "{}",
            case.display()
        );
        count += 1;
    }
    assert!(count >= 6, "{count} cases");
}

#[test]
fn the_recorded_transcripts_hold_what_the_client_was_told() {
    // Context, its input side, prompts, calls, compactions, window.
    for (client, file, expected) in [
        (
            "claude",
            "session",
            (Some(32_651), Some(32_611), 3, 4, 0, None),
        ),
        (
            "claude",
            "compaction",
            (Some(21_732), Some(21_512), 2, 2, 1, None),
        ),
        (
            "claude",
            "recorded",
            (Some(2_869), Some(2_869), 4, 7, 1, None),
        ),
        (
            "codex",
            "session",
            (Some(33_300), Some(33_000), 2, 3, 0, Some(258_400)),
        ),
        (
            "codex",
            "compaction",
            (Some(9_020), Some(9_000), 2, 4, 1, Some(258_400)),
        ),
        (
            "codex",
            "subagent",
            (Some(9_015), Some(9_000), 0, 1, 0, Some(258_400)),
        ),
        (
            "codex",
            "recorded",
            (Some(8_258), Some(8_258), 4, 5, 1, Some(258_400)),
        ),
        (
            "codex",
            "recorded-subagent",
            (Some(9_280), Some(9_260), 0, 1, 0, Some(258_400)),
        ),
    ] {
        let path = format!("fixtures/{client}/transcripts/{file}.jsonl");
        let (meter, torn) = meter_of(client, &tests().join(path));
        let figures = meter.figures();
        assert_eq!(
            (
                figures.context_tokens,
                figures.context_input_tokens,
                figures.user_prompts,
                figures.main.turns,
                figures.compactions,
                figures.window,
            ),
            expected,
            "{client} {file}"
        );
        assert_eq!((figures.bad_lines, torn), (0, false), "{client} {file}");
    }
}

#[test]
fn a_subagents_file_is_kept_apart_and_has_a_meter_of_its_own() {
    for (file, (turns, input_tokens, output_tokens), context) in [
        ("subagent", (2, 18_660, 42), 9_410),
        ("recorded-subagent", (1, 9_260, 20), 9_260),
    ] {
        let path = tests().join(format!("fixtures/claude/transcripts/{file}.jsonl"));
        let sum = Sum {
            turns,
            input_tokens,
            output_tokens,
        };
        let (main, _) = meter_of("claude", &path);
        let figures = main.figures();
        assert_eq!((figures.sidechain, figures.main), (sum, Sum::default()));
        assert_eq!(figures.context_tokens, None);

        let mut own = Meter::of_subagent();
        read("claude", &fs::read(&path).unwrap(), &mut own);
        let figures = own.figures();
        assert_eq!((figures.sidechain, figures.main), (Sum::default(), sum));
        assert_eq!(figures.context_input_tokens, Some(context), "{file}");
    }
}
