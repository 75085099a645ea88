//! Rows of the engine's grid as lines of styled runs.

use rio_vt::codepoint_width::codepoint_width;
use rio_vt::config::colors::AnsiColor;
use rio_vt::crosswords::grid::Grid;
use rio_vt::crosswords::pos::Line as Row;
use rio_vt::crosswords::square::{ContentTag, Square, Wide};
use rio_vt::crosswords::style::{Style as RioStyle, StyleFlags, UnderlineKind};

use super::cells::{Attrs, Color, Line, Run, Style, Underline, Width};
use super::damage::Term;

/// How a row goes on in the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A new line begins below.
    Hard,
    /// The same line goes on below; this row is full.
    Soft,
    /// The same; the last cell is empty because a wide character did not fit.
    SoftBeforeWide,
}

pub(super) fn end(term: &Term, row: Row) -> End {
    match term.grid[row].last() {
        Some(last) if last.wrapline() && last.wide() == Wide::LeadingSpacer => End::SoftBeforeWide,
        Some(last) if last.wrapline() => End::Soft,
        _ => End::Hard,
    }
}

pub(super) fn line(term: &Term, row: Row) -> Line {
    let grid = &term.grid;
    let cells = &grid[row].inner;
    let len = cells
        .iter()
        .rposition(|cell| !is_blank(grid, *cell))
        .map_or(0, |last| last + 1);
    let mut runs: Vec<Run> = Vec::new();
    let mut open: Option<Look> = None;
    let mut n = 0;
    while n < len {
        let mut cell = cells[n];
        let wide =
            cell.wide() == Wide::Wide && cells.get(n + 1).is_some_and(|next| next.is_spacer());
        if !wide && is_half(cell) {
            cell.set_wide(Wide::Spacer);
        }
        n += if wide { 2 } else { 1 };
        if cell.has_grapheme() && !cell.is_bg_only() && !is_hollow(cell) {
            let mut run = new_run(grid, cell, Width::Cluster(if wide { 2 } else { 1 }));
            push_cluster(grid, cell, &mut run.text);
            runs.push(run);
            open = None;
            continue;
        }
        // The colour of a blank does not show, so it need not begin a run of its own.
        let blank = is_blank(grid, cell);
        let look = match open {
            Some(look) if blank && look.takes_blanks => look,
            _ if blank => Look::BLANK,
            _ => Look::of(grid, cell, wide),
        };
        if open != Some(look) {
            let width = if wide { Width::Wide } else { Width::Narrow };
            let source = if blank { Square::default() } else { cell };
            let run = new_run(grid, source, width);
            // One colour may have several names, and then several ids.
            if !runs.last().is_some_and(|last| last.is_like(&run)) {
                runs.push(run);
            }
            open = Some(look);
        }
        if let Some(run) = runs.last_mut() {
            run.text.push(shown(cell));
        }
    }
    // Half a character at the end turned out to be a blank.
    if open.is_some_and(|look| look.takes_blanks)
        && let Some(last) = runs.last_mut()
    {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if last.text.is_empty() {
            runs.pop();
        }
    }
    Line(runs)
}

impl Run {
    fn is_like(&self, other: &Run) -> bool {
        (self.style, self.width) == (other.style, other.width) && self.link == other.link
    }
}

/// Cells that look alike make one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    wide: bool,
    /// The style id, or the inline background of a cell without text.
    style: u64,
    link: Option<u16>,
    /// A blank in this style would show nothing.
    takes_blanks: bool,
}

impl Look {
    const BLANK: Look = Look {
        wide: false,
        style: 0,
        link: None,
        takes_blanks: true,
    };

    fn of(grid: &Grid<Square>, cell: Square, wide: bool) -> Look {
        let link = cell.extras_id_checked().filter(|_| cell.has_hyperlink());
        let shows = wide || link.is_some() || grid.style_of(&cell).renders_on_blank();
        Look {
            wide,
            // The content tag (two bits) tells ids and colours apart.
            style: match cell.content_tag() {
                ContentTag::Codepoint => u64::from(cell.style_id()),
                ContentTag::BgPalette | ContentTag::BgRgb => (cell.raw() >> 30) | (1 << 63),
            },
            link,
            takes_blanks: !shows,
        }
    }
}

/// The cell has no text, and its style paints nothing without one.
fn is_blank(grid: &Grid<Square>, cell: Square) -> bool {
    if cell.is_default() {
        return true;
    }
    let empty =
        is_hollow(cell) || (matches!(cell.c(), ' ' | '\t') && cell.extras_id_checked().is_none());
    empty && !cell.is_bg_only() && !grid.style_of(&cell).renders_on_blank()
}

/// The cell has no character of its own: never written, or part of a wide character. The engine may have left marks
/// of an earlier character with it.
fn is_hollow(cell: Square) -> bool {
    cell.c() == '\0' || matches!(cell.wide(), Wide::Spacer | Wide::LeadingSpacer)
}

/// The other half of the character was shifted away or overwritten, and one half is nothing.
fn is_half(cell: Square) -> bool {
    let c = cell.c();
    cell.wide() == Wide::Wide
        || (c > '\u{ff}'
            && cell.wide() == Wide::Narrow
            && !cell.has_grapheme()
            && codepoint_width(u32::from(c)) == Some(2))
}

/// Control characters never leave the grid: a tab is kept in its first cell, an unwritten cell is NUL.
fn shown(cell: Square) -> char {
    if cell.is_bg_only() || is_hollow(cell) {
        return ' ';
    }
    Some(cell.c()).filter(|c| !c.is_control()).unwrap_or(' ')
}

fn push_cluster(grid: &Grid<Square>, cell: Square, text: &mut String) {
    text.push(shown(cell));
    if let Some(extras) = cell
        .extras_id_checked()
        .and_then(|id| grid.extras_table.get(id))
    {
        text.extend(extras.zerowidth.iter().filter(|mark| !mark.is_control()));
    }
}

fn new_run(grid: &Grid<Square>, cell: Square, width: Width) -> Run {
    Run {
        text: String::new(),
        style: style(grid.style_of(&cell)),
        width,
        link: link(grid, cell),
    }
}

pub(super) fn link(grid: &Grid<Square>, cell: Square) -> Option<String> {
    let id = cell.extras_id_checked().filter(|_| cell.has_hyperlink())?;
    let link = grid.extras_table.get(id)?.hyperlink.as_ref()?;
    Some(link.uri().to_owned())
}

pub(super) fn style(style: RioStyle) -> Style {
    let attrs = [
        (StyleFlags::BOLD, Attrs::BOLD),
        (StyleFlags::DIM, Attrs::DIM),
        (StyleFlags::ITALIC, Attrs::ITALIC),
        (StyleFlags::ALL_BLINK, Attrs::BLINK),
        (StyleFlags::INVERSE, Attrs::REVERSE),
        (StyleFlags::HIDDEN, Attrs::HIDDEN),
        (StyleFlags::STRIKEOUT, Attrs::STRIKE),
    ]
    .into_iter()
    .filter(|(flag, _)| style.flags.intersects(*flag))
    .fold(Attrs::default(), |all, (_, attr)| all.with(attr));
    Style {
        fg: color(style.fg),
        bg: color(style.bg),
        underline: match style.flags.underline_kind() {
            None => Underline::None,
            Some(UnderlineKind::Single) => Underline::Single,
            Some(UnderlineKind::Double) => Underline::Double,
            Some(UnderlineKind::Curly) => Underline::Curly,
            Some(UnderlineKind::Dotted) => Underline::Dotted,
            Some(UnderlineKind::Dashed) => Underline::Dashed,
        },
        underline_color: style.underline_color.map_or(Color::Default, color),
        attrs,
    }
}

fn color(color: AnsiColor) -> Color {
    match color {
        // The 16 colours have names below 16; what lies above are the terminal's own.
        AnsiColor::Named(name) => match u8::try_from(name as u16) {
            Ok(n) if n < 16 => Color::Indexed(n),
            _ => Color::Default,
        },
        AnsiColor::Indexed(n) => Color::Indexed(n),
        AnsiColor::Spec(rgb) => Color::Rgb(rgb.r, rgb.g, rgb.b),
    }
}
