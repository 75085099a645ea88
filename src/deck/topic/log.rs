//! Lines of logs: a time stamp or a level first.

use super::machine::digits;

const LEVELS: &[&str] = &[
    "trace", "debug", "info", "notice", "warn", "warning", "error", "err", "crit", "critical",
    "fatal", "severe", "verbose",
];

/// A time stamp or a level first, behind the name of a container if need be.
pub(crate) fn is_log(line: &str) -> bool {
    let starts = |line: &str| {
        starts_with_time(line) || starts_with_level(line) || starts_with_level(behind_figures(line))
    };
    starts(line)
        || [
            "npm ERR!",
            "npm WARN",
            "npm warn ",
            "npm error ",
            "level=",
            "ts=",
            "time=",
        ]
        .iter()
        .any(|opening| line.starts_with(opening))
        || line.split_once("| ").is_some_and(|(name, rest)| {
            name.split_whitespace().count() == 1 && starts(rest.trim_start())
        })
}

/// The line without the figures of a date or time in front of it; a bullet or a count is none.
fn behind_figures(line: &str) -> &str {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || "-:/.,[]TZ+ ".contains(c));
    let figures = line[..line.len() - rest.len()]
        .bytes()
        .filter(u8::is_ascii_digit);
    if figures.count() >= 4 { rest } else { "" }
}

fn starts_with_level(line: &str) -> bool {
    let bracketed = line.starts_with(['[', '<', '(']);
    let rest = line.trim_start_matches(['[', '<', '(']).trim_start();
    let end = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    let (level, rest) = rest.split_at(end);
    if !LEVELS.iter().any(|known| level.eq_ignore_ascii_case(known)) {
        return false;
    }
    if bracketed {
        return rest.trim_start().starts_with([']', '>', ')']);
    }
    // In a line that is all capitals nobody can tell a level from a shouted word.
    let is_capital = level.chars().all(|c| c.is_ascii_uppercase())
        && rest.contains(|c: char| c.is_lowercase() || c.is_ascii_digit() || c == ':');
    let is_code = level == "error" && (rest.starts_with('[') || rest.starts_with(" TS"));
    is_code
        || rest.starts_with(':')
        || (is_capital && rest.starts_with([' ', '\t', '[', ']', '|', '-', '(', '/']))
}

/// Shapes of time stamps: `0` is a digit, `a` a letter, all else itself.
const TIMES: &[&str] = &[
    "0000-00-00a00:00",
    "0000-00-00 00:00",
    "0000-00-00, 00:00",
    "0000/00/00 00:00",
    "00/00/0000 00:00",
    "00-00-0000 00:00",
    "00.00.0000 00:00",
    "00/aaa/0000:00:00",
    "00-aaa-0000 00:00",
    "00 aaa 0000 00:00",
    "00:00:00",
    "00:00] ",
    "aaa 00 00:00:00",
    "aaa  0 00:00:00",
    "aaa aaa 00 00:00:00",
    "aaa, 00 aaa 0000 00:00",
    "a0000 00:00:00",
    "0000000000.0",
    "0000000000000 ",
];

fn starts_with_time(line: &str) -> bool {
    let rest = line.trim_start_matches(['[', '(', '<']);
    let shape: String = rest
        .chars()
        .take(24)
        .map(|c| match c {
            '0'..='9' => '0',
            c if c.is_ascii_alphabetic() => 'a',
            c => c,
        })
        .collect();
    TIMES
        .iter()
        .any(|time| shape.starts_with(time) || shape.replace('T', "a").starts_with(time))
        || is_kernel_time(line)
        || is_access_log(line)
}

/// `[   12.345678] …`
fn is_kernel_time(line: &str) -> bool {
    line.strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .and_then(|(time, _)| time.trim_start().split_once('.'))
        .is_some_and(|(a, b)| {
            !a.is_empty() && !b.is_empty() && digits(a) == a.len() && digits(b) == b.len()
        })
}

/// `203.0.113.9 - - [01/Sep/2026:12:00:00 +0000] "GET / HTTP/1.1" 200`
fn is_access_log(line: &str) -> bool {
    line.split_once(" - ").is_some_and(|(host, _)| {
        host.contains(['.', ':'])
            && host
                .chars()
                .all(|c| c.is_ascii_hexdigit() || c == '.' || c == ':')
    })
}
