//! What one painter still has to draw: the lines that differ from those it was given last.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::cells::{Cursor, Line, Modes, Size};
use super::engine::Engine;

/// What is new since the last picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) size: Size,
    /// All rows are new; those not named are blank.
    pub(crate) whole: bool,
    pub(crate) rows: Vec<(u16, Line)>,
    pub(crate) cursor: Cursor,
    pub(crate) modes: Modes,
}

/// One painter's memory of what it was given. Belongs to one engine; another engine, another reader.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    revision: u64,
    size: Option<Size>,
    cursor: Cursor,
    modes: Modes,
    /// A program that redraws what stands there already, or scrolls blank lines, changes nothing.
    drawn: Vec<u64>,
}

impl Reader {
    /// What changed; none if nothing did, or if the program is in the middle of a frame. `impatient` takes half a
    /// frame too, for programs that never end one.
    pub(crate) fn read(&mut self, engine: &mut dyn Engine, impatient: bool) -> Option<Picture> {
        if engine.revision() == self.revision {
            return None;
        }
        if !engine.synchronized() || impatient {
            let rows = engine.changed_since(self.revision).into_iter();
            let rows = rows.map(|row| (row, engine.line(row))).collect();
            let (size, cursor, modes) = (engine.size(), engine.cursor(), engine.modes());
            return self.keep(engine.revision(), size, rows, cursor, modes);
        }
        engine.hold();
        let still = engine.still()?;
        if still.revision <= self.revision {
            return None;
        }
        let rows = (0..).zip(&still.rows);
        let rows = rows
            .filter(|(_, (changed, _))| *changed > self.revision)
            .map(|(row, (_, line))| (row, line.clone()))
            .collect();
        self.keep(still.revision, still.size, rows, still.cursor, still.modes)
    }

    fn keep(
        &mut self,
        revision: u64,
        size: Size,
        mut rows: Vec<(u16, Line)>,
        cursor: Cursor,
        modes: Modes,
    ) -> Option<Picture> {
        let whole = self.size != Some(size);
        if whole {
            self.drawn.clear();
            self.drawn
                .resize(usize::from(size.rows), hash(&Line::default()));
        }
        rows.retain(|(row, line)| {
            let new = hash(line);
            std::mem::replace(&mut self.drawn[usize::from(*row)], new) != new
        });
        let same = rows.is_empty() && !whole && (cursor, modes) == (self.cursor, self.modes);
        self.revision = revision;
        self.size = Some(size);
        (self.cursor, self.modes) = (cursor, modes);
        (!same).then_some(Picture {
            size,
            whole,
            rows,
            cursor,
            modes,
        })
    }
}

fn hash(line: &Line) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}
