//! A cell of the screen in 16 bytes, so that rows are kept and compared cheaply.

use crate::terminal::{Attrs, Color, Underline};

/// What one cell of the terminal shows.
///
/// `glyph` is a `char`, or [`CLUSTER`] and an index of [`super::tables::Tables`]; with [`WIDE`] the next cell is [`SPACER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) glyph: u32,
    pub(super) fg: Packed,
    pub(super) bg: Packed,
    pub(super) look: Look,
}

/// Covered by the wide glyph to its left.
pub(super) const SPACER: u32 = 0;
pub(super) const CLUSTER: u32 = 1 << 31;
pub(super) const WIDE: u32 = 1 << 30;
const VALUE: u32 = WIDE - 1;

impl Cell {
    pub(super) const BLANK: Cell = Cell {
        glyph: ' ' as u32,
        fg: Packed(0),
        bg: Packed(0),
        look: Look(0),
    };
    /// Nobody knows what the terminal shows there; differs from every cell that is ever drawn.
    pub(super) const UNKNOWN: Cell = Cell {
        glyph: u32::MAX,
        ..Cell::BLANK
    };

    pub(super) fn wide(self) -> bool {
        self.glyph & WIDE != 0
    }

    /// The index of its cluster, if it is not a single `char`.
    pub(super) fn cluster(self) -> Option<usize> {
        (self.glyph & CLUSTER != 0).then_some((self.glyph & VALUE) as usize)
    }

    pub(super) fn char(self) -> char {
        char::from_u32(self.glyph & VALUE).unwrap_or(' ')
    }

    /// The style without the glyph.
    pub(super) fn pen(self) -> Pen {
        (self.fg, self.bg, self.look)
    }

    pub(super) fn blanked(self) -> Cell {
        Cell {
            glyph: ' ' as u32,
            ..self
        }
    }
}

pub(super) type Pen = (Packed, Packed, Look);

/// A colour: kind in the top byte (0 the terminal's own, 1 palette, 2 direct), value below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packed(u32);

impl From<Color> for Packed {
    fn from(color: Color) -> Self {
        match color {
            Color::Default => Packed(0),
            Color::Indexed(index) => Packed(1 << 24 | u32::from(index)),
            Color::Rgb(r, g, b) => Packed(2 << 24 | u32::from_be_bytes([0, r, g, b])),
        }
    }
}

impl From<Packed> for Color {
    fn from(Packed(bits): Packed) -> Self {
        let [kind, r, g, b] = bits.to_be_bytes();
        match kind {
            0 => Color::Default,
            1 => Color::Indexed(b),
            _ => Color::Rgb(r, g, b),
        }
    }
}

/// Attributes (bits 0–7), underline (bits 8–10), index of underline colour and link (bits 16–31).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look(u32);

const UNDERLINES: [Underline; 6] = [
    Underline::None,
    Underline::Single,
    Underline::Double,
    Underline::Curly,
    Underline::Dotted,
    Underline::Dashed,
];

impl Look {
    pub(super) fn new(attrs: Attrs, underline: Underline, extra: u16) -> Self {
        let underline = UNDERLINES
            .iter()
            .position(|known| *known == underline)
            .unwrap_or(0);
        let underline = u32::try_from(underline).unwrap_or(0);
        Look(u32::from(attrs.0) | underline << 8 | u32::from(extra) << 16)
    }

    pub(super) fn attrs(self) -> Attrs {
        Attrs(self.0.to_be_bytes()[3])
    }

    pub(super) fn underline(self) -> Underline {
        let index = (self.0 >> 8 & 7) as usize;
        UNDERLINES.get(index).copied().unwrap_or_default()
    }

    pub(super) fn extra(self) -> usize {
        (self.0 >> 16) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_come_back_out_of_their_bits() {
        for color in [Color::Default, Color::Indexed(255), Color::Rgb(255, 0, 128)] {
            assert_eq!(Color::from(Packed::from(color)), color);
        }
        for underline in UNDERLINES {
            let attrs = Attrs::STRIKE.with(Attrs::BOLD);
            let look = Look::new(attrs, underline, 513);
            assert_eq!(
                (look.attrs(), look.underline(), look.extra()),
                (attrs, underline, 513)
            );
        }
    }
}
