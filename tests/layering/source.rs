//! The paths that a Rust source names, found without a compiler: comments and literals left out, groups taken apart.

/// A path as it stands in the source, the groups of a `use` taken apart.
pub(crate) struct Named {
    pub(crate) line: usize,
    pub(crate) parts: Vec<String>,
    /// How many `mod name { … }` of this file stand around it.
    pub(crate) inline_modules: usize,
    pub(crate) in_tests: bool,
}

/// Every path of a file, in order.
pub(crate) fn paths(source: &str) -> Vec<Named> {
    let tokens = tokens(source);
    let text = |i: usize| tokens.get(i).map_or("", |token| token.text.as_str());
    let mut found = Vec::new();
    let mut depth = 0;
    // Each open inline module: the depth of its braces, and whether it is built for tests alone.
    let mut modules: Vec<(usize, bool)> = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        match text(i) {
            "mod" if text(i + 2) == "{" => {
                modules.push((depth, built_for_tests(&tokens[..i])));
                i += 2;
            }
            "{" => {
                depth += 1;
                i += 1;
            }
            "}" => {
                depth -= 1;
                if modules.last().is_some_and(|(at, _)| *at == depth) {
                    modules.pop();
                }
                i += 1;
            }
            word if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                let mut named = Vec::new();
                i = path(&tokens, i, &[], &mut named);
                found.extend(named.into_iter().map(|(line, parts)| Named {
                    line,
                    parts,
                    inline_modules: modules.len(),
                    in_tests: modules.iter().any(|(_, tests)| *tests),
                }));
            }
            _ => i += 1,
        }
    }
    found
}

/// The modules in files of their own that are built for tests alone.
pub(crate) fn test_modules(source: &str) -> Vec<String> {
    let tokens = tokens(source);
    (2..tokens.len())
        .filter(|i| tokens[*i].text == ";" && tokens[i - 2].text == "mod")
        .filter(|i| built_for_tests(&tokens[..i - 2]))
        .map(|i| tokens[i - 1].text.clone())
        .collect()
}

/// Whether `#[cfg(test)]` is the last of what stands before an item.
fn built_for_tests(before: &[Token]) -> bool {
    let attribute = ["#", "[", "cfg", "(", "test", ")", "]"];
    let start = before.len().saturating_sub(attribute.len());
    before[start..]
        .iter()
        .map(|token| token.text.as_str())
        .eq(attribute)
}

/// Reads the path at `i` into `found`, each with the line of its last word; gives where it ends.
fn path(
    tokens: &[Token],
    mut i: usize,
    before: &[String],
    found: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let text = |i: usize| tokens.get(i).map_or("", |token| token.text.as_str());
    let mut parts = before.to_vec();
    let mut line = tokens[i].line;
    loop {
        if text(i) == "{" {
            i += 1;
            while i < tokens.len() && text(i) != "}" {
                i = if text(i) == "," {
                    i + 1
                } else {
                    path(tokens, i, &parts, found)
                };
            }
            return i + 1;
        }
        line = tokens.get(i).map_or(line, |token| token.line);
        parts.push(text(i).to_owned());
        i += 1;
        let joined = text(i) == ":" && text(i + 1) == ":";
        if !joined || !text(i + 2).starts_with(|c: char| c.is_alphabetic() || "_{*".contains(c)) {
            found.push((line, parts));
            let renamed_in_group = text(i) == "as" && !before.is_empty();
            return if renamed_in_group { i + 2 } else { i };
        }
        i += 2;
    }
}

/// A word, or one character of what is not a word, with its line.
struct Token {
    line: usize,
    text: String,
}

/// The source without comments, spaces and the insides of literals.
fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut found = Vec::new();
    let mut i = 0;
    let mut line = 1;
    while i < chars.len() {
        let start = i;
        i = match at(i) {
            '/' if at(i + 1) == '/' => (i..chars.len())
                .find(|i| at(*i) == '\n')
                .unwrap_or(chars.len()),
            '/' if at(i + 1) == '*' => comment_end(&chars, i),
            'r' if opens_raw_string(&chars[i + 1..]) => raw_string_end(&chars, i + 1),
            'b' if at(i + 1) == 'r' && opens_raw_string(&chars[i + 2..]) => {
                raw_string_end(&chars, i + 2)
            }
            '"' => string_end(&chars, i),
            '\'' if at(i + 1) == '\\' => (i + 3..chars.len())
                .find(|i| at(*i) == '\'')
                .map_or(chars.len(), |end| end + 1),
            '\'' if at(i + 2) == '\'' => i + 3,
            c if c.is_alphanumeric() || c == '_' => (i..chars.len())
                .find(|i| !(at(*i).is_alphanumeric() || at(*i) == '_'))
                .unwrap_or(chars.len()),
            _ => i + 1,
        };
        let first = at(start);
        let word = first.is_alphanumeric() || first == '_';
        if (word && !chars[start..i].contains(&'"')) || (!word && i == start + 1) {
            let text: String = chars[start..i].iter().collect();
            if !text.trim().is_empty() {
                found.push(Token { line, text });
            }
        }
        line += chars[start..i].iter().filter(|c| **c == '\n').count();
    }
    found
}

/// Behind a block comment that begins at `start`; they nest.
fn comment_end(chars: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut i = start;
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                i += 2;
            }
            ('*', Some('/')) => {
                depth -= 1;
                i += 2;
                if depth == 0 {
                    return i;
                }
            }
            _ => i += 1,
        }
    }
    i
}

/// Behind a string literal that begins at `start`.
fn string_end(chars: &[char], start: usize) -> usize {
    let mut i = start + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

fn opens_raw_string(chars: &[char]) -> bool {
    chars.iter().find(|c| **c != '#') == Some(&'"')
}

/// Behind a raw string literal whose hashes, if any, begin at `start`.
fn raw_string_end(chars: &[char], start: usize) -> usize {
    let hashes = chars[start..].iter().take_while(|c| **c == '#').count();
    let mut close = vec!['"'];
    close.extend(std::iter::repeat_n('#', hashes));
    let text = start + hashes + 1;
    (text..chars.len())
        .find(|i| chars[*i..].starts_with(&close))
        .map_or(chars.len(), |end| end + close.len())
}
