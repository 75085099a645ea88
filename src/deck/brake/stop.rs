//! What may still be done at the stop step: look, write the note, commit it. Everything else waits.

use std::path::{Path, PathBuf};

use super::super::tool::Tool;

/// Whether a tool of the main conversation may run while the note is still due. `resolve` gives the real path of what
/// may not exist yet, seen from where the shell stands.
pub(crate) fn allows(
    tool: &Tool,
    note: &Path,
    resolve: impl Fn(&Path) -> Option<PathBuf> + Copy,
) -> bool {
    match tool {
        Tool::Read { .. } | Tool::Search => true,
        Tool::Write { .. } => tool.writes_only(note, resolve),
        Tool::Run { command } => commits(command, note, resolve),
        Tool::Other => false,
    }
}

/// Whether the line is `git add -- NOTE` or `git commit -m TEXT -- NOTE`, and nothing beside it.
fn commits(command: &str, note: &Path, resolve: impl Fn(&Path) -> Option<PathBuf>) -> bool {
    let Some(words) = words(command) else {
        return false;
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["git", "add", "--", path] | ["git", "commit", "-m", _, "--", path] => {
            resolve(Path::new(path)).as_deref() == Some(note)
        }
        _ => false,
    }
}

/// The words of one plain command as a shell reads them; none if the line holds anything that a shell would act on
/// (operators, substitutions, patterns, assignments) or does not end its quotes.
pub(crate) fn words(command: &str) -> Option<Vec<String>> {
    const ACTIVE: &str = ";|&<>()$`\\*?[]{}~#!=\n\r";
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '$' | '`' | '\\' | '!' => return None,
                        inner => word.push(inner),
                    }
                }
            }
            active if ACTIVE.contains(active) || active.is_control() => return None,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "/repo/docs/handoffs/login.md";

    fn resolve(path: &Path) -> Option<PathBuf> {
        let plain = !path.components().any(|part| part.as_os_str() == "..");
        plain.then(|| Path::new("/repo").join(path))
    }

    #[test]
    fn looking_and_the_note_are_all_that_is_left() {
        let write = |paths: &[&str]| Tool::Write {
            paths: paths.iter().map(PathBuf::from).collect(),
        };
        for (tool, allowed) in [
            (
                Tool::Read {
                    path: "src/a.rs".into(),
                },
                true,
            ),
            (Tool::Search, true),
            (write(&[NOTE]), true),
            (write(&["docs/handoffs/login.md"]), true),
            (write(&["docs/handoffs/other.md"]), false),
            (write(&["docs/handoffs/../handoffs/login.md"]), false),
            (write(&[NOTE, "src/a.rs"]), false),
            (Tool::Other, false),
        ] {
            assert_eq!(allows(&tool, Path::new(NOTE), resolve), allowed, "{tool:?}");
        }
    }

    #[test]
    fn the_note_is_committed_by_two_plain_lines_and_no_other() {
        for (command, allowed) in [
            ("git add -- docs/handoffs/login.md", true),
            (" git  add -- '/repo/docs/handoffs/login.md' ", true),
            (
                "git commit -m 'note; done & $HOME' -- docs/handoffs/login.md",
                true,
            ),
            (
                "git commit -m \"note: it's done\" -- docs/handoffs/login.md",
                true,
            ),
            (
                "git commit -m \"note $(rm x)\" -- docs/handoffs/login.md",
                false,
            ),
            (
                "git commit -m \"note `rm x`\" -- docs/handoffs/login.md",
                false,
            ),
            ("git commit -m note docs/handoffs/login.md", false),
            ("git commit -am note -- docs/handoffs/login.md", false),
            (
                "git commit -m note --amend -- docs/handoffs/login.md",
                false,
            ),
            (
                "git commit -m note -- docs/handoffs/login.md src/a.rs",
                false,
            ),
            ("git add docs/handoffs/login.md", false),
            ("git add -- src/a.rs", false),
            ("git add -A", false),
            ("git add -- docs/handoffs/login.md && make", false),
            ("git add -- docs/handoffs/login.md; make", false),
            ("git add -- docs/handoffs/login.md\nmake", false),
            ("git add -- docs/handoffs/login.md | tee x", false),
            ("git add -- docs/handoffs/login.md > x", false),
            ("git add -- docs/handoffs/*.md", false),
            ("git add -- docs/handoffs/login.md & make", false),
            ("git add -- $NOTE", false),
            ("GIT_DIR=/x git add -- docs/handoffs/login.md", false),
            ("git -C /x add -- docs/handoffs/login.md", false),
            ("(git add -- docs/handoffs/login.md)", false),
            ("sudo git add -- docs/handoffs/login.md", false),
            ("git add -- 'docs/handoffs/login.md", false),
            ("git add -- \"docs/handoffs/login.md", false),
            ("git add -- docs/handoffs\\/login.md", false),
            ("git push", false),
            ("", false),
        ] {
            let tool = Tool::Run {
                command: command.into(),
            };
            assert_eq!(
                allows(&tool, Path::new(NOTE), resolve),
                allowed,
                "{command}"
            );
        }
    }

    #[test]
    fn a_plain_line_falls_into_its_words() {
        for (command, expected) in [
            ("cat 'a b'\"c\" ''", Some(&["cat", "a bc", ""][..])),
            ("\t", Some(&[][..])),
            ("cat a; rm b", None),
        ] {
            let found = words(command);
            let found = found
                .as_ref()
                .map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(found.as_deref(), expected, "{command}");
        }
    }
}
