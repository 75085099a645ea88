//! What a screen is made of, in terms that no engine and no wire owns: lines of styled runs.

use serde::{Deserialize, Serialize};

/// Columns and rows of a terminal, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Size {
    pub(crate) cols: u16,
    pub(crate) rows: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Color {
    /// The terminal's own foreground or background.
    #[default]
    Default,
    /// One of the 256 palette colours; the first 16 are the terminal's own.
    Indexed(u8),
    Rgb(u8, u8, u8),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Underline {
    #[default]
    None,
    Single,
    Double,
    Curly,
    Dotted,
    Dashed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Style {
    pub(crate) fg: Color,
    pub(crate) bg: Color,
    pub(crate) underline: Underline,
    pub(crate) underline_color: Color,
    pub(crate) attrs: Attrs,
}

/// A set of on-off attributes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Attrs(pub(crate) u8);

impl Attrs {
    pub(crate) const BOLD: Attrs = Attrs(1);
    pub(crate) const DIM: Attrs = Attrs(2);
    pub(crate) const ITALIC: Attrs = Attrs(4);
    pub(crate) const BLINK: Attrs = Attrs(8);
    pub(crate) const REVERSE: Attrs = Attrs(16);
    pub(crate) const HIDDEN: Attrs = Attrs(32);
    pub(crate) const STRIKE: Attrs = Attrs(64);

    pub(crate) fn contains(self, other: Attrs) -> bool {
        self.0 & other.0 == other.0
    }

    #[must_use]
    pub(crate) fn with(self, other: Attrs) -> Attrs {
        Attrs(self.0 | other.0)
    }
}

/// How many cells the text of a run takes. The engine decides, nobody measures it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Width {
    /// Each `char` takes one cell.
    Narrow,
    /// Each `char` takes two cells.
    Wide,
    /// The whole text is one grapheme cluster that takes so many cells.
    Cluster(u8),
}

/// Neighbouring cells of one style, one width and one hyperlink. Holds no control characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) text: String,
    pub(crate) style: Style,
    pub(crate) width: Width,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
}

impl Run {
    /// How many cells the run takes.
    pub(crate) fn cells(&self) -> usize {
        match self.width {
            Width::Narrow => self.text.chars().count(),
            Width::Wide => self.text.chars().count() * 2,
            Width::Cluster(cells) => usize::from(cells),
        }
    }
}

/// One row of the screen from its first column on; what is missing on the right is blank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Line(pub(crate) Vec<Run>);

impl Line {
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|run| run.text.as_str()).collect()
    }

    /// How many cells are filled; the rest of the row is blank.
    pub(crate) fn cells(&self) -> usize {
        self.0.iter().map(Run::cells).sum()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CursorShape {
    #[default]
    Block,
    Underline,
    Bar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    pub(crate) col: u16,
    pub(crate) row: u16,
    pub(crate) visible: bool,
    pub(crate) shape: CursorShape,
    pub(crate) blinking: bool,
}

/// Which mouse events the program asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mouse {
    #[default]
    Off,
    /// Mode 1000: presses, releases, wheel.
    Click,
    /// Mode 1002: also motion while a button is down.
    Drag,
    /// Mode 1003: any motion.
    Motion,
}

/// What the program asked of its terminal, as far as keys, paste and mouse depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent mode of the terminal"
)]
pub(crate) struct Modes {
    pub(crate) alternate_screen: bool,
    pub(crate) application_cursor: bool,
    pub(crate) application_keypad: bool,
    pub(crate) bracketed_paste: bool,
    pub(crate) focus_reports: bool,
    /// Mode 1007: the wheel sends arrow keys while the alternate screen shows.
    pub(crate) alternate_scroll: bool,
    pub(crate) mouse: Mouse,
    /// Mode 1006: mouse reports in the SGR form.
    pub(crate) sgr_mouse: bool,
    /// Flags of the kitty keyboard protocol that are in force; 0 is legacy.
    pub(crate) kitty: u8,
    /// XTMODKEYS: 0, 1 or 2.
    pub(crate) modify_other_keys: u8,
}
