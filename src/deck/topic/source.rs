//! Which lines are source code that nobody marked as such? Only what no sentence looks like.

/// Marks lines of code, and what stands between a line that opens a block and the one that closes it.
pub(crate) fn drop_code(lines: &[&str], drop: &mut [bool]) {
    // How many blocks begin and end before each line.
    let mut changes = vec![0_i64; lines.len() + 1];
    let mut open = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let line = line.trim();
        drop[index] |= is_code(line);
        if line.starts_with(['}', ']', ')'])
            && let Some(start) = open.pop()
        {
            changes[start] += 1;
            changes[index + 1] -= 1;
        }
        if line.ends_with(['{', '[']) {
            open.push(index);
        }
    }
    let mut depth = 0;
    for (drop, change) in drop.iter_mut().zip(changes) {
        depth += change;
        *drop |= depth > 0;
    }
}

/// Words that begin a definition, before a name and an opening parenthesis.
const FUNCTIONS: &[&str] = &["def", "fn", "func", "function", "void", "int", "async"];

fn is_code(line: &str) -> bool {
    if line.starts_with("//") || line.starts_with("/*") || line.starts_with("#include ") {
        return true;
    }
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let third = words.next().unwrap_or_default();
    match first {
        "export" | "const" | "let" | "var" | "static" if line.contains(" = ") => return true,
        "import" | "export" | "from" if line.contains(" from '") || line.contains(" from \"") => {
            return true;
        }
        "from" if third == "import" && !line.ends_with('.') => return true,
        _ if FUNCTIONS.contains(&first) && calls(second) => return true,
        _ => {}
    }
    let assigns = is_name(first) && matches!(second, "=" | ":=" | "+=");
    let is_call =
        calls(first) && line.ends_with(')') && is_name(&first[..first.find('(').unwrap_or(0)]);
    let is_statement = line.ends_with(';')
        && (line.contains(['=', '{'])
            || line.contains("::")
            || calls(line)
            || matches!(first, "import" | "use" | "return"));
    (assigns && (calls(line) || line.contains(['[', '{', '"', '\''])))
        || is_call
        || is_statement
        || line.ends_with(" {")
        || (line.ends_with('}') && line.contains(" { "))
}

/// Whether an opening parenthesis stands right behind a name.
fn calls(text: &str) -> bool {
    text.match_indices('(')
        .any(|(at, _)| text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "_.$".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_code_is_told_from_sentences() {
        for (text, typed) in [
            ("const seo = canonical\nwhy?", "why?"),
            (
                "export const seo = {\n  canonical: url,\n  a: [\n    x\n  ],\n}\nwhy?",
                "why?",
            ),
            ("import { Sitemap } from './seo'\nwhy?", "why?"),
            ("from seo import sitemap\nwhy?", "why?"),
            ("use seo::sitemap;\nwhy?", "why?"),
            ("def sitemap(canonical):\nwhy?", "why?"),
            ("sitemap = build(canonical)\nwhy?", "why?"),
            ("sitemap.add(canonical, hreflang)\nwhy?", "why?"),
            ("return canonical;\nwhy?", "why?"),
            (".seo { color: red }\nwhy?", "why?"),
            ("// sitemap of the canonical\nwhy?", "why?"),
            ("if (seo) {\n  canonical\nwhy?", "  canonical\nwhy?"),
            (
                "let us add the sitemap (all shops);",
                "let us add the sitemap (all shops);",
            ),
            (
                "import all sitemaps from the old shop",
                "import all sitemaps from the old shop",
            ),
            (
                "use {{canonical}} and {{sitemap}}",
                "use {{canonical}} and {{sitemap}}",
            ),
            (
                "goal = sitemap and canonical",
                "goal = sitemap and canonical",
            ),
            (
                "from here on import the sitemap",
                "from here on import the sitemap",
            ),
            (
                "function and use of the canonical",
                "function and use of the canonical",
            ),
            (
                "add the sitemap; then the canonical;",
                "add the sitemap; then the canonical;",
            ),
        ] {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let mut drop = vec![false; lines.len()];
            drop_code(&lines, &mut drop);
            let kept: String = lines
                .iter()
                .zip(drop)
                .filter(|(_, drop)| !drop)
                .map(|(line, _)| *line)
                .collect();
            assert_eq!(kept, typed, "{text}");
        }
    }
}
