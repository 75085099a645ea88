//! What a tool of an agent is about to do, as far as the brake and the guard have to know.

use std::path::{Path, PathBuf};

/// A use of a tool, in the deck's words whatever the client calls it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Reads one file.
    Read { path: PathBuf },
    /// Looks for names or words in files here, and changes nothing.
    Search,
    /// Writes these files and does nothing else.
    Write { paths: Vec<PathBuf> },
    /// Runs a line in a shell.
    Run { command: String },
    /// Anything else.
    #[default]
    Other,
}

impl Tool {
    /// Whether it does nothing but write `note`. `resolve` gives the real path of what may not exist yet.
    pub(crate) fn writes_only(
        &self,
        note: &Path,
        resolve: impl Fn(&Path) -> Option<PathBuf>,
    ) -> bool {
        match self {
            Self::Write { paths } => {
                !paths.is_empty()
                    && paths
                        .iter()
                        .all(|path| resolve(path).as_deref() == Some(note))
            }
            Self::Read { .. } | Self::Search | Self::Run { .. } | Self::Other => false,
        }
    }

    /// Whether it does nothing but read `note`.
    pub(crate) fn reads_only(
        &self,
        note: &Path,
        resolve: impl Fn(&Path) -> Option<PathBuf>,
    ) -> bool {
        matches!(self, Self::Read { path } if resolve(path).as_deref() == Some(note))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_touches_the_note_and_nothing_else() {
        let note = Path::new("/repo/note.md");
        let resolve =
            |path: &Path| (!path.ends_with("gone")).then(|| Path::new("/repo").join(path));
        let write = |paths: &[&str]| Tool::Write {
            paths: paths.iter().map(PathBuf::from).collect(),
        };
        let read = |path: &str| Tool::Read { path: path.into() };
        for (tool, writes, reads) in [
            (write(&["note.md"]), true, false),
            (write(&["/repo/note.md", "note.md"]), true, false),
            (write(&["note.md", "src/a.rs"]), false, false),
            (write(&["gone"]), false, false),
            (write(&[]), false, false),
            (read("note.md"), false, true),
            (read("src/a.rs"), false, false),
            (Tool::Search, false, false),
            (Tool::Other, false, false),
        ] {
            assert_eq!(tool.writes_only(note, resolve), writes, "{tool:?}");
            assert_eq!(tool.reads_only(note, resolve), reads, "{tool:?}");
        }
    }
}
