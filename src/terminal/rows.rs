//! Rows of the engine's grid as lines of styled runs.

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
        let cell = cells[n];
        let wide =
            cell.wide() == Wide::Wide && cells.get(n + 1).is_some_and(|next| next.is_spacer());
        let look = Look::of(cell, wide);
        if cell.has_grapheme() && !cell.is_bg_only() {
            let mut run = new_run(grid, cell, Width::Cluster(if wide { 2 } else { 1 }));
            push_cluster(grid, cell, &mut run.text);
            runs.push(run);
            open = None;
        } else {
            match runs.last_mut() {
                Some(run) if open == Some(look) => run.text.push(shown(cell)),
                _ => {
                    let width = if wide { Width::Wide } else { Width::Narrow };
                    let mut run = new_run(grid, cell, width);
                    run.text.push(shown(cell));
                    runs.push(run);
                    open = Some(look);
                }
            }
        }
        n += if wide { 2 } else { 1 };
    }
    Line(runs)
}

/// Cells that look alike make one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    wide: bool,
    /// The style id, or the inline background of a cell without text.
    style: u64,
    link: Option<u16>,
}

impl Look {
    fn of(cell: Square, wide: bool) -> Look {
        Look {
            wide,
            // The content tag (two bits) tells ids and colours apart.
            style: match cell.content_tag() {
                ContentTag::Codepoint => u64::from(cell.style_id()),
                ContentTag::BgPalette | ContentTag::BgRgb => (cell.raw() >> 30) | (1 << 63),
            },
            link: cell.extras_id_checked().filter(|_| cell.has_hyperlink()),
        }
    }
}

/// The cell has no text, and its style paints nothing without one.
fn is_blank(grid: &Grid<Square>, cell: Square) -> bool {
    if cell.is_default() {
        return true;
    }
    !cell.is_bg_only()
        && matches!(cell.c(), '\0' | ' ' | '\t')
        && cell.extras_id_checked().is_none()
        && !grid.style_of(&cell).renders_on_blank()
}

/// Control characters never leave the grid: a tab is kept in its first cell, an unwritten cell is NUL.
fn shown(cell: Square) -> char {
    if cell.is_bg_only() || matches!(cell.wide(), Wide::Spacer | Wide::LeadingSpacer) {
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
