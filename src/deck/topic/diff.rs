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

fn is_header(line: &str, next: Option<&str>) -> bool {
    [
        "diff --git ",
        "diff -",
        "index ",
        "+++ ",
        "new file mode ",
        "deleted file mode ",
        "old mode ",
        "new mode ",
        "similarity index ",
        "rename from ",
        "rename to ",
        "Binary files ",
    ]
    .iter()
    .any(|opening| {
        line.strip_prefix(opening)
            .is_some_and(|rest| match *opening {
                "index " => rest.contains(".."),
                "rename from " | "rename to " => rest.contains(['/', '.']) && !rest.contains(' '),
                _ => true,
            })
    }) || (line.starts_with("--- ") && next.is_some_and(|next| next.starts_with("+++ ")))
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
        let mut count = |old: usize, new: usize| {
            self.old = self.old.map(|left| left.saturating_sub(old));
            self.new = self.new.map(|left| left.saturating_sub(new));
            true
        };
        match line.chars().next() {
            None => {
                !run_out && (self.old.is_some() || self.new.is_some()) && {
                    self.old = self.old.map(|left| left.saturating_sub(1));
                    self.new = self.new.map(|left| left.saturating_sub(1));
                    true
                }
            }
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
    let signed = |line: &str| line.starts_with(['+', '-']);
    let mut from = 0;
    while from < lines.len() {
        let len = lines[from..].iter().take_while(|line| signed(line)).count();
        let block = &lines[from..from + len];
        let has = |sign| block.iter().any(|line| line.starts_with(sign));
        if has('+') && has('-') && !block.iter().all(|line| is_bullet(line)) {
            drop[from..from + len].fill(true);
        }
        from += len.max(1);
    }
}
