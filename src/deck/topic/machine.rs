//! Which lines did a machine write? Quoted mail, tables, stack frames, logs, diffs, shell, JSON, compilers, source.

use super::log::is_log;
use super::trace::{is_exception, is_frame, is_python_frame};
use super::{diff, source};

/// The lines of a text, of which a machine wrote some.
pub(crate) struct Lines<'a> {
    lines: Vec<&'a str>,
    /// Those that only their neighbours give away.
    in_block: Vec<bool>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut in_block = vec![false; lines.len()];
        drop_tables(&lines, &mut in_block);
        drop_continued(&lines, &mut in_block);
        diff::drop_diffs(&lines, &mut in_block);
        source::drop_code(&lines, &mut in_block);
        Self { lines, in_block }
    }

    /// Line by line what a person typed, `None` for a machine's line. Both ends can be read without the middle.
    pub(crate) fn typed(&self) -> impl DoubleEndedIterator<Item = Option<&'a str>> {
        self.lines
            .iter()
            .zip(&self.in_block)
            .map(|(line, in_block)| (!in_block && !is_machine(line)).then_some(*line))
    }
}

/// Rows around a `---|---` line, which need no leading `|`.
fn drop_tables(lines: &[&str], drop: &mut [bool]) {
    let mut in_table = false;
    for index in 0..lines.len() {
        let line = lines[index].trim();
        let is_rule = line.contains("--")
            && line.contains(['|', '+'])
            && line.chars().all(|c| " |+-:=".contains(c));
        if is_rule {
            drop[index] = true;
            if index > 0 && lines[index - 1].contains('|') {
                drop[index - 1] = true;
            }
        } else if in_table && line.contains('|') {
            drop[index] = true;
        }
        in_table = is_rule || (in_table && line.contains('|'));
    }
}

/// The source line under a Python frame, and the rest of a command that goes on behind a backslash.
fn drop_continued(lines: &[&str], drop: &mut [bool]) {
    for index in 1..lines.len() {
        let above = lines[index - 1].trim();
        let is_source = is_python_frame(above) && lines[index].starts_with([' ', '\t']);
        let goes_on = above.ends_with('\\') && (drop[index - 1] || is_shell(above));
        drop[index] |= is_source || goes_on;
    }
}

fn is_machine(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && is_machine_text(line)
}

fn is_machine_text(line: &str) -> bool {
    is_quoted_or_table(line)
        || is_shell(line)
        || is_frame(line)
        || is_exception(line)
        || is_log(line)
        || is_json(line)
        || is_compiler(line)
}

fn is_quoted_or_table(line: &str) -> bool {
    line.starts_with(|c| matches!(c, '>' | '|' | '\u{2500}'..='\u{257f}'))
        || line.starts_with("+--")
        || line.starts_with("+==")
}

fn is_shell(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let prompt = first.strip_suffix(['$', '#', '%']);
    let is_prompt = match prompt {
        Some("") => first == "$",
        Some(place) => {
            place.contains(['@', '~']) || place.starts_with("bash-") || place.starts_with("sh-")
        }
        None => matches!(first, "❯" | "➜"),
    };
    is_prompt
        || (line.starts_with("PS ") && line.contains('>') && line.contains(":\\"))
        || drive_prompt(line)
}

/// `C:\site>dir`
fn drive_prompt(line: &str) -> bool {
    line.get(1..3) == Some(":\\")
        && line
            .split_whitespace()
            .next()
            .is_some_and(|p| p.contains('>'))
}

fn is_json(line: &str) -> bool {
    let line = line.trim_end_matches([',', ';']);
    if let Some(rest) = line.strip_prefix('"') {
        return rest
            .split_once('"')
            .is_some_and(|(_, rest)| rest.trim_start().starts_with(':'));
    }
    match line.chars().next() {
        Some('{') => {
            line.starts_with("{\"")
                || line.ends_with(['{', '['])
                || (line.ends_with('}') && line.contains(':'))
        }
        Some('[') => {
            line.starts_with("[{")
                || line.starts_with("[\"")
                || (line.ends_with(']') && line.contains('"'))
        }
        Some('}' | ']') => line.chars().all(|c| "}]),; ".contains(c)) || line.ends_with('{'),
        _ => false,
    }
}

const COMPILER_OPENINGS: &[&str] = &[
    "--> ",
    "= note:",
    "= help:",
    "make: ",
    "make[",
    "ld: ",
    "collect2: ",
    "gcc: ",
    "clang: ",
    "cc1: ",
    "In file included from ",
    "Module not found: ",
    "--- FAIL",
    "FAILED ",
];

/// `src/a.ts:12:3: error`, `a.ts(12,3): error`, `12:3  error  …`, `12 | code`
fn is_compiler(line: &str) -> bool {
    if COMPILER_OPENINGS
        .iter()
        .any(|opening| line.starts_with(opening) && (*opening != "FAILED " || line.contains("::")))
    {
        return true;
    }
    let number = digits(line);
    if number > 0 {
        let rest = &line[number..];
        let column = rest.strip_prefix(':').map_or(0, digits);
        let says = rest[usize::from(column > 0) + column..].trim_start();
        return rest.trim_start().starts_with("| ")
            || (column > 0 && (says.starts_with("error ") || says.starts_with("warning ")));
    }
    let first = line.split_whitespace().next().unwrap_or_default();
    let rest = &line[first.len()..];
    if let Some((file, place)) = first.split_once('(')
        && is_file(file)
    {
        return place.ends_with("):") && place.starts_with(|c: char| c.is_ascii_digit());
    }
    let Some((file, place)) = first.split_once(':') else {
        return false;
    };
    let row = digits(place);
    let behind = &place[row..];
    let column = behind.strip_prefix(':').map_or(0, digits);
    let ends_with_colon = behind[usize::from(column > 0) + column..].starts_with(':');
    is_file(file) && row > 0 && (ends_with_colon || rest.starts_with(" - "))
}

fn is_file(text: &str) -> bool {
    text.contains(['.', '/', '\\']) && text.contains(char::is_alphabetic)
}

/// How many digits the text begins with.
pub(crate) fn digits(text: &str) -> usize {
    text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> String {
        Lines::new(text).typed().flatten().collect()
    }

    #[test]
    fn lines_of_machines() {
        for line in [
            "> the seo team wants a sitemap",
            ">no blank",
            "| a | b |",
            "│ a │ b │",
            "+---+---+",
            "$ npm run docs",
            "dev@host:~/seo$ ls",
            "host:~/seo% ls",
            "bash-5.1$ ls docs",
            "PS C:\\seo> dir",
            "C:\\seo>dir docs",
            "❯ npm run docs",
            "  File \"app.py\", line 10, in run",
            "    at renderComponent (webpack:///src/button.js:3:11)",
            "at async Checkout.render (src/checkout.js:9:2)",
            "at com.shop.Checkout.run(Checkout.java:12)",
            "at java.base/java.lang.Thread.run(Native Method)",
            "at src/checkout.js:9:2",
            "... 12 more",
            "#0 0x00007f in render () at x.c:1",
            "#3 /var/www/x.php(12): Checkout->render()",
            "  12: core::panicking::panic",
            "render@https://shop.example/button.js:3:11",
            "from app/checkout.rb:12:in 'render'",
            "Traceback (most recent call last):",
            "ValueError: broken checkout",
            "java.lang.NullPointerException: checkout",
            "Uncaught TypeError: checkout is null",
            "TypeError [ERR_INVALID_ARG]: checkout",
            "NoMethodError (undefined method 'checkout')",
            "App\\Checkout\\CartException: empty",
            "ActiveRecord::RecordInvalid::BaseError: checkout",
            "KeyError",
            "requests.exceptions.Timeout: checkout",
            "at Shop.Cart.Add(Item item) in C:\\shop\\cart.cs:line 12",
            "app/cart.rb:12:in 'add': undefined checkout (NoMethodError)",
            "[12:01] someone: sitemap",
            "2026-09-01 INFO sitemap",
            "12:01 WARN sitemap",
            "Caused by: checkout failed",
            "thread 'main' panicked at src/main.rs:3:5:",
            "Exception in thread \"main\" checkout",
            "2026-09-01 12:00:01 INFO sitemap",
            "2026-09-01T12:00:01.123Z sitemap",
            "[2026-09-01 12:00:01] sitemap",
            "12:00:01 sitemap",
            "Sep  1 12:00:01 host sitemap",
            "Sep 11 12:00:01 host sitemap",
            "01/Sep/2026:12:00:01 sitemap",
            "I0901 12:00:00.000000 sitemap",
            "1693564800.123 sitemap",
            "[   12.345678] sitemap",
            "203.0.113.9 - - [01/Sep/2026:12:00:00 +0000] \"GET /\"",
            "INFO sitemap written",
            "[info] sitemap written",
            "[ERROR] sitemap",
            "WARN: sitemap",
            "warning: unused sitemap",
            "ERROR:root:sitemap",
            "web_1  | 2026-09-01 12:00:01 sitemap",
            "api-1 | INFO sitemap",
            "npm ERR! sitemap",
            "level=info msg=sitemap",
            "\"sitemap\": true,",
            "{\"sitemap\":1}",
            "{\"sitemap\":1,\"cut\":",
            "[{\"sitemap\":1}]",
            "src/a.ts:12:3: error: no canonical",
            "src/a.ts:12:3 - error TS2322: no canonical",
            "src/a.ts(12,3): error TS2322: no canonical",
            "a.py:12: note: canonical",
            "error[E0425]: cannot find canonical",
            "error TS2322: canonical",
            "  --> src/canonical.rs:1:2",
            "12 | let canonical",
            "   | ^^^^^^^^^ canonical",
            "  = note: canonical",
            "  12:3  error  no canonical  rule",
            "make: *** [sitemap] Error 1",
        ] {
            assert_eq!(typed(&format!("a\n{line}\nb")), "a\nb", "{line}");
        }
    }

    #[test]
    fn lines_of_people() {
        for line in [
            "- add a sitemap",
            "* add a sitemap",
            "+ add a sitemap",
            "1. add a sitemap",
            "# Sitemap",
            "$5 a page for the sitemap",
            "100% of the canonical tags",
            "at the moment the sitemap is empty",
            "at the page (see the sitemap) it fails",
            "at noon: the sitemap",
            "from the sitemap: all of it",
            "Error handling of the sitemap",
            "TypeError in the checkout endpoint, look at it",
            "the ValueError: is it ours",
            "2026-09-01 is when the sitemap is due",
            "2026-09-01: write the sitemap",
            "12:30 is too late for the sitemap",
            "debug the sitemap",
            "Info about the sitemap",
            "ERROR IN THE SITEMAP PLEASE",
            "Information: the sitemap",
            "trace where the sitemap comes from",
            "\"sitemap\" is the word",
            "{sitemap} and {canonical}",
            "[urgent] write the sitemap",
            "[sitemap, canonical]",
            "src/a.ts:12 has no canonical",
            "src/a.ts has no canonical: mend it",
            "sitemap: write it",
            "a | b, one of the two",
            "note: write the sitemap",
            "12 pages lack a canonical",
            "3: write the sitemap",
            "- ERROR: none of the sitemaps",
            "404 ERROR on the sitemap",
            "shop.Sitemap is empty",
            "FINE, write the sitemap",
            "me@work says: write the sitemap",
        ] {
            let text = format!("a\n{line}\nb");
            assert_eq!(typed(&text), text);
        }
    }

    #[test]
    fn lines_that_their_neighbours_give_away() {
        for (text, kept) in [
            ("page | canonical\n---|---\nhome | yes\nwhy?", "why?"),
            (
                " page | canonical\n------+------\n home | yes\n\nwhy | x?",
                "\nwhy | x?",
            ),
            (
                "  File \"a.py\", line 1, in run\n    sitemap.build\nwhy?",
                "why?",
            ),
            (
                "$ curl -x \\\n  --data sitemap \\\n  --canonical\nwhy?",
                "why?",
            ),
            ("a \\\nsitemap", "a \\\nsitemap"),
        ] {
            assert_eq!(typed(text), kept, "{text}");
        }
    }
}
