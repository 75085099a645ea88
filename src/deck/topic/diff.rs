//! Which lines are a diff? A typed bullet list is none.

/// Marks the headers, hunks and bodies of diffs.
pub(crate) fn drop_diffs(lines: &[&str], drop: &mut [bool]) {
    let mut hunk: Option<Hunk> = None;
    for (index, line) in lines.iter().enumerate() {
        let line = line.trim_end_matches(['\n', '\r']);
        if let Some(opened) = Hunk::opened_by(line) {
            drop[index] = true;
            hunk = Some(opened);
        } else if is_header(line, lines.get(index + 1).copied()) {
            drop[index] = true;
            hunk = None;
        } else if let Some(open) = &mut hunk {
            if open.takes(line) {
                drop[index] = true;
            } else {
                hunk = None;
            }
        }
    }
    drop_bare_bodies(lines, drop);
}

const HEADERS: &[&str] = &[
    "diff --git ",
    "diff --cc ",
    "diff -",
    "+++ ",
    "similarity index ",
    "Binary files ",
];

fn is_header(line: &str, next: Option<&str>) -> bool {
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit()) && !text.is_empty();
    let mode = [
        "new file mode ",
        "deleted file mode ",
        "old mode ",
        "new mode ",
    ]
    .iter()
    .find_map(|opening| line.strip_prefix(opening));
    let renamed = ["rename from ", "rename to "]
        .iter()
        .find_map(|opening| line.strip_prefix(opening));
    HEADERS.iter().any(|opening| line.starts_with(opening))
        || mode.is_some_and(is_number)
        || renamed.is_some_and(|path| path.contains(['/', '.']) && !path.contains(' '))
        || line
            .strip_prefix("index ")
            .is_some_and(|rest| rest.contains(".."))
        || (line.starts_with("--- ") && next.is_some_and(|next| next.starts_with("+++ ")))
}

/// The body of a hunk, by the figures in its head; `None` where it has none.
struct Hunk {
    old: Option<usize>,
    new: Option<usize>,
}

impl Hunk {
    fn opened_by(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("@@")?;
        let mut figures = rest.split_whitespace();
        let mut figure = |sign| {
            let range = figures.next()?.strip_prefix(sign)?;
            range
                .split_once(',')
                .map_or("1", |(_, count)| count)
                .parse()
                .ok()
        };
        Some(Self {
            old: figure('-'),
            new: figure('+'),
        })
    }

    /// Whether the hunk goes on with this line. People shorten what they paste, so where the figures have run out
    /// only what looks like a typed bullet ends it.
    fn takes(&mut self, line: &str) -> bool {
        let run_out = self.old == Some(0) && self.new == Some(0);
        let has_figures = self.old.is_some();
        let mut count = |old: usize, new: usize| {
            self.old = self.old.map(|left| left.saturating_sub(old));
            self.new = self.new.map(|left| left.saturating_sub(new));
            true
        };
        match line.chars().next() {
            // Some tools drop the blank before an empty line. Without figures it ends the hunk.
            None => !run_out && has_figures && count(1, 1),
            Some('-') => !(run_out && is_bullet(line)) && count(1, 0),
            Some('+') => count(0, 1),
            Some(' ' | '\t') => count(1, 1),
            Some('\\') => true,
            Some(_) => false,
        }
    }
}

/// `- words`, with one blank
fn is_bullet(line: &str) -> bool {
    let rest = line.get(1..).unwrap_or_default();
    rest.starts_with(' ') && !rest.starts_with("  ")
}

/// Lines with `+` and `-` by turns are a diff without its head, unless each is a bullet.
fn drop_bare_bodies(lines: &[&str], drop: &mut [bool]) {
    let mut from = 0;
    while from < lines.len() {
        let len = (from..lines.len())
            .take_while(|index| !drop[*index] && lines[*index].starts_with(['+', '-']))
            .count();
        let block = &lines[from..from + len];
        let has = |sign| block.iter().any(|line| line.starts_with(sign));
        if has('+') && has('-') && !block.iter().all(|line| is_bullet(line)) {
            drop[from..from + len].fill(true);
        }
        from += len.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diffs_are_told_from_bullets() {
        for (text, kept) in [
            ("- a sitemap\n- b", "- a sitemap\n- b"),
            ("+ a sitemap\n- b", "+ a sitemap\n- b"),
            ("+1 for the sitemap", "+1 for the sitemap"),
            ("-sitemap: a\n+sitemap: b\nwhy?", "why?"),
            ("-  sitemap: a\n+  sitemap: b\nwhy?", "why?"),
            (
                "diff --git a/x b/x\nindex 1a2b..3c4d 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn seo\n a\n-b\n+c\nwhy?",
                "why?",
            ),
            (
                "@@ -1,2 +1,2 @@\n a\n-b\n+c\n- write the sitemap\n- and more",
                "- write the sitemap\n- and more",
            ),
            ("@@ -1,3 +1,3 @@\n a\n\n-b\n+c\nwhy?", "why?"),
            ("@@ -1,3 +1,3 @@\n-a\n+b\n+c\n+d\n+e\n f\nwhy?", "why?"),
            ("@@\n-a\n+b\n\n- write it", "\n- write it"),
            (
                "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\nwhy?",
                "why?",
            ),
            ("--- a\n+++ b\nwhy?", "why?"),
            ("--- a heading ---\nwhy?", "--- a heading ---\nwhy?"),
            (
                "rename from the sitemap page",
                "rename from the sitemap page",
            ),
            ("index the sitemap", "index the sitemap"),
            ("new mode for the sitemap", "new mode for the sitemap"),
        ] {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let mut drop = vec![false; lines.len()];
            drop_diffs(&lines, &mut drop);
            let kept_lines: String = lines
                .iter()
                .zip(drop)
                .filter(|(_, drop)| !drop)
                .map(|(line, _)| *line)
                .collect();
            assert_eq!(kept_lines, kept, "{text}");
        }
    }
}
