//! Lines of stack traces: frames, and the exceptions above them.

use super::machine::digits;

pub(crate) fn is_python_frame(line: &str) -> bool {
    line.starts_with("File \"") && line.contains(", line ")
}

pub(crate) fn is_frame(line: &str) -> bool {
    if is_python_frame(line) {
        return true;
    }
    // `#0 0x00 in render () at x.c:1`, `#3 /var/www/x.php(12): render()`
    if let Some(rest) = line.strip_prefix('#') {
        let number = digits(rest);
        let rest = rest[number..].trim_start();
        return number > 0
            && (rest.starts_with("0x") || rest.contains("): ") || rest.contains(") at "));
    }
    // `12: core::panicking::panic`, under which the place stands.
    let number = digits(line);
    if number > 0
        && let Some(rest) = line[number..].strip_prefix(": ")
    {
        return rest.contains("::") && !rest.contains(char::is_whitespace);
    }
    if let Some(rest) = line.strip_prefix("at ") {
        return ends_with_place(rest) || (rest.contains(") in ") && rest.contains(":line "));
    }
    if let Some(rest) = line.strip_prefix("from ") {
        return rest.contains(":in `") || rest.contains(":in '");
    }
    // `render@https://shop.example/button.js:3:11`
    line.split_once('@').is_some_and(|(name, place)| {
        !name.contains(char::is_whitespace) && place.contains('/') && ends_with_place(place)
    }) || is_more_frames(line)
}

/// `... 12 more`
fn is_more_frames(line: &str) -> bool {
    line.strip_prefix("... ")
        .is_some_and(|rest| digits(rest) > 0 && rest.ends_with(" more"))
}

/// Whether a frame's text ends with a place in a file, in parentheses or bare.
fn ends_with_place(text: &str) -> bool {
    let bare = |place: &str| {
        let mut parts = place.rsplit(':');
        let last = parts.next().unwrap_or_default();
        parts.next().is_some() && !last.is_empty() && digits(last) == last.len()
    };
    match text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once('('))
    {
        Some((_, place)) => {
            bare(place)
                || matches!(
                    place,
                    "native" | "<anonymous>" | "Native Method" | "Unknown Source" | "index 0"
                )
        }
        None => {
            bare(text)
                && !text
                    .trim_end_matches(|c: char| c.is_ascii_digit() || c == ':')
                    .contains(' ')
        }
    }
}

/// How exceptions are announced in the languages that agents write.
const EXCEPTION_OPENINGS: &[&str] = &[
    "Traceback (most recent call last)",
    "During handling of the above exception",
    "The above exception was the direct cause",
    "Exception in thread \"",
    "Caused by: ",
    "Suppressed: ",
    "[cause]: ",
    "stack backtrace:",
    "note: run with `RUST_BACKTRACE",
    "PHP Fatal error",
    "PHP Warning",
    "PHP Notice",
    "PHP Parse error",
    "Fatal error: ",
    "fatal error: ",
    "fatal: ",
    "panic: ",
    "Segmentation fault",
];

pub(crate) fn is_exception(line: &str) -> bool {
    if EXCEPTION_OPENINGS
        .iter()
        .any(|opening| line.starts_with(opening))
    {
        return true;
    }
    if line.starts_with("thread '") && line.contains("panicked at")
        || line.starts_with("goroutine ") && line.ends_with("]:")
        || line.starts_with("E   ")
    {
        return true;
    }
    let line = ["Uncaught ", "Unhandled ", "(in promise) "]
        .iter()
        .fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
    // `java.lang.NullPointerException: …`, `TypeError [ERR_X]: …`, `KeyError` alone
    let whole = line
        .find(|c: char| !(c.is_alphanumeric() || "_.$\\:".contains(c)))
        .map_or(line, |end| &line[..end]);
    let path = whole.replace("::", ".");
    let (path, announced) = match path.split_once(':') {
        Some((path, _)) => (path, true),
        None => (
            path.as_str(),
            [" (", " ["]
                .iter()
                .any(|sign| line[whole.len()..].starts_with(sign)),
        ),
    };
    let name = path.rsplit(['.', '\\']).next().unwrap_or(path);
    let stands_alone = whole.len() == line.len();
    let is_kind = |kind: &&str| {
        name.ends_with(*kind) && (announced || (stands_alone && name.len() > kind.len()))
    };
    let is_dotted = announced && path.contains('.');
    let is_named = KINDS.iter().any(is_kind);
    name.starts_with(char::is_uppercase) && (is_dotted || is_named)
}

/// How the names of exceptions end.
const KINDS: &[&str] = &[
    "Error",
    "Exception",
    "Warning",
    "Fault",
    "Interrupt",
    "Panic",
];
