//! What the server said last. Nothing here decides; it is what views draw and keys refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::protocol::client::{Ask, Frame, Inbox, Session, State};
use crate::terminal::{Cursor, Line, Modes, Size};

#[derive(Debug, Default)]
pub(super) struct Mirror {
    /// Those of one repo stand together.
    pub(super) sessions: Vec<Session>,
    /// One a repo, by its root.
    inboxes: BTreeMap<PathBuf, Inbox>,
    /// The screen of the session that this client looks at; none until its first frame came.
    pub(super) grid: Option<Grid>,
    /// Asks that were answered here and that the server still lists.
    answered: BTreeSet<u64>,
}

/// The screen of one program.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) session: u64,
    pub(super) size: Size,
    pub(super) lines: Vec<Line>,
    pub(super) cursor: Cursor,
    pub(super) modes: Modes,
    /// A frame came since the server was last told where we look and how much room there is.
    pub(super) current: bool,
}

/// What of the pane a frame made new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fresh {
    Rows(Vec<u16>),
    /// Everything, the size perhaps too.
    All,
    /// Another session's frame, late.
    Nothing,
}

impl Mirror {
    pub(super) fn session(&self, id: u64) -> Option<&Session> {
        self.sessions.iter().find(|session| session.id == id)
    }

    /// Its place in the list, from 0.
    pub(super) fn place(&self, id: u64) -> Option<usize> {
        self.sessions.iter().position(|session| session.id == id)
    }

    /// The asks of a session that nobody has answered here, oldest first.
    pub(super) fn open_asks<'a>(&'a self, session: &'a Session) -> impl Iterator<Item = &'a Ask> {
        session
            .asks
            .iter()
            .filter(|ask| !self.answered.contains(&ask.id))
    }

    /// True if the person is waited for, by the agent or by the deck.
    pub(super) fn waits(&self, session: &Session) -> bool {
        session.state == State::NeedsYou || self.open_asks(session).next().is_some()
    }

    /// Takes the list and says which asks are new in it, each with its session.
    pub(super) fn listed(&mut self, sessions: Vec<Session>) -> Vec<(u64, Ask)> {
        let known: BTreeSet<u64> = self.asks().map(|(_, ask)| ask.id).collect();
        self.sessions = sessions;
        let listed: BTreeSet<u64> = self.asks().map(|(_, ask)| ask.id).collect();
        self.answered.retain(|ask| listed.contains(ask));
        self.asks()
            .filter(|(_, ask)| !known.contains(&ask.id))
            .map(|(session, ask)| (session, ask.clone()))
            .collect()
    }

    fn asks(&self) -> impl Iterator<Item = (u64, &Ask)> {
        self.sessions
            .iter()
            .flat_map(|session| session.asks.iter().map(|ask| (session.id, ask)))
    }

    pub(super) fn answered(&mut self, ask: u64) {
        self.answered.insert(ask);
    }

    /// The answer did not reach the server; the ask is open again.
    pub(super) fn unanswered(&mut self, ask: u64) {
        self.answered.remove(&ask);
    }

    pub(super) fn take_inbox(&mut self, inbox: Inbox) {
        self.inboxes.insert(inbox.repo.clone(), inbox);
    }

    /// The inbox of the innermost repo that `dir` lies in.
    pub(super) fn inbox(&self, dir: &Path) -> Option<&Inbox> {
        self.inboxes
            .values()
            .filter(|inbox| dir.starts_with(&inbox.repo))
            .max_by_key(|inbox| inbox.repo.components().count())
    }

    pub(super) fn inboxes(&self) -> impl Iterator<Item = &Inbox> {
        self.inboxes.values()
    }

    /// The first session of the innermost repo that `dir` lies in.
    pub(super) fn first_in(&self, dir: &Path) -> Option<u64> {
        let depth = |session: &&Session| session.repo.components().count();
        self.sessions
            .iter()
            .rev()
            .filter(|session| dir.starts_with(&session.repo))
            .max_by_key(depth)
            .map(|session| session.id)
    }

    /// Takes a frame of the session that is looked at.
    pub(super) fn framed(&mut self, front: Option<u64>, frame: Frame) -> Fresh {
        if front != Some(frame.session) {
            return Fresh::Nothing;
        }
        let rows = usize::from(frame.size.rows);
        let before = self
            .grid
            .take()
            .filter(|grid| grid.session == frame.session && !frame.whole);
        let resized = before.as_ref().is_none_or(|grid| grid.size != frame.size);
        let mut grid = before.unwrap_or(Grid {
            session: frame.session,
            size: frame.size,
            lines: Vec::new(),
            cursor: frame.cursor,
            modes: frame.modes,
            current: true,
        });
        grid.size = frame.size;
        grid.current = true;
        grid.cursor = frame.cursor;
        grid.modes = frame.modes;
        grid.lines.resize(rows, Line::default());
        let mut fresh = Vec::with_capacity(frame.rows.len());
        for (row, line) in frame.rows {
            if let Some(place) = grid.lines.get_mut(usize::from(row)) {
                *place = line;
                fresh.push(row);
            }
        }
        self.grid = Some(grid);
        if frame.whole || resized {
            Fresh::All
        } else {
            Fresh::Rows(fresh)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{Run, Style, Width};

    fn line(text: &str) -> Line {
        Line(vec![Run {
            text: text.into(),
            style: Style::default(),
            width: Width::Narrow,
            link: None,
        }])
    }

    fn frame(session: u64, rows: u16, whole: bool, lines: &[(u16, &str)]) -> Frame {
        Frame {
            number: 1,
            session,
            size: Size { cols: 10, rows },
            whole,
            rows: lines.iter().map(|(row, text)| (*row, line(text))).collect(),
            cursor: Cursor::default(),
            modes: Modes::default(),
        }
    }

    #[test]
    fn frames_fold_into_the_grid() {
        let mut mirror = Mirror::default();
        for (frame, fresh, expected) in [
            (frame(1, 2, true, &[(0, "a")]), Fresh::All, vec!["a", ""]),
            (
                frame(1, 2, false, &[(1, "b")]),
                Fresh::Rows(vec![1]),
                vec!["a", "b"],
            ),
            (
                frame(2, 2, true, &[(0, "x")]),
                Fresh::Nothing,
                vec!["a", "b"],
            ),
            (
                frame(1, 2, false, &[(0, "c"), (7, "outside")]),
                Fresh::Rows(vec![0]),
                vec!["c", "b"],
            ),
            (frame(1, 3, false, &[]), Fresh::All, vec!["c", "b", ""]),
            (frame(1, 1, true, &[]), Fresh::All, vec![""]),
        ] {
            assert_eq!(mirror.framed(Some(1), frame.clone()), fresh, "{frame:?}");
            let grid = mirror.grid.as_ref().unwrap();
            let lines: Vec<String> = grid.lines.iter().map(Line::text).collect();
            assert_eq!(lines, expected, "{frame:?}");
        }
    }

    #[test]
    fn the_innermost_repo_has_the_inbox() {
        let mut mirror = Mirror::default();
        for repo in ["/home/a", "/home/a/sub", "/home/b"] {
            mirror.take_inbox(Inbox {
                repo: repo.into(),
                ..Inbox::default()
            });
        }
        for (dir, repo) in [
            ("/home/a/src", Some("/home/a")),
            ("/home/a/sub/src", Some("/home/a/sub")),
            ("/home/c", None),
        ] {
            let found = mirror
                .inbox(Path::new(dir))
                .map(|inbox| inbox.repo.as_path());
            assert_eq!(found, repo.map(Path::new), "{dir}");
        }
    }
}
