//! Stands between the parser and the engine: bounds what output may cost, answers in our name, makes events.
//!
//! The engine interns the joined code points of a cell and copies them for every further one, so a cell that grew
//! without bound would stall it. Images and glyph uploads are not handed on, which drops them.

use std::path::PathBuf;

use rio_vt::ansi::mode::{Mode, NamedPrivateMode, PrivateMode};
use rio_vt::ansi::{
    ClearMode, CursorShape, KeyboardModes, KeyboardModesApplyBehavior, LineClearMode,
    TabulationClearMode,
};
use rio_vt::codepoint_width::codepoint_width;
use rio_vt::config::colors::ColorRgb;
use rio_vt::crosswords::Mode as TermMode;
use rio_vt::crosswords::attr::Attr;
use rio_vt::crosswords::grid::Dimensions as _;
use rio_vt::crosswords::grid::row::SemanticPrompt;
use rio_vt::crosswords::pos::{CharsetIndex, Column, Line, Pos, StandardCharset};
use rio_vt::crosswords::square::{Hyperlink, Wide};
use rio_vt::event::{ProgressReport, ProgressState};
use rio_vt::performer::handler::{Handler, ScpCharPath, ScpUpdateMode};

use super::damage::Term;
use super::engine::{Event, Progress, plain};
use super::side::{Side, rgb};

/// Code points that may join one cell. The longest emoji sequences have ten.
const MOST_JOINED: usize = 32;
/// Longer addresses are no links that anybody follows.
const LONGEST_LINK: usize = 2083;
const LONGEST_TITLE: usize = 256;
const LONGEST_PATH: usize = 4096;
const LONGEST_NOTICE: usize = 500;
/// When the engine's table of links and marks is full, it looks for unused entries only so often.
const CROWDED: u32 = 4096;

pub(super) struct Guard<'a> {
    pub(super) term: &'a mut Term,
    pub(super) side: &'a mut Side,
}

impl Guard<'_> {
    /// The cell that a joining code point would go to holds the maximum already.
    fn is_full(&self) -> bool {
        let grid = &self.term.grid;
        let cursor = &grid.cursor;
        let row = cursor.pos.row;
        let mut col = if cursor.should_wrap {
            cursor.pos.col.0
        } else {
            cursor.pos.col.0.saturating_sub(1)
        };
        if grid[row][Column(col)].is_spacer() {
            col = col.saturating_sub(1);
        }
        grid[row][Column(col)].has_grapheme()
            && grid
                .cell_text(Pos::new(row, Column(col)))
                .take(MOST_JOINED + 1)
                .count()
                > MOST_JOINED
    }

    /// There is room for one more link or mark in the engine's table, or it is time to look for some.
    fn has_room(&mut self) -> bool {
        if !self.term.grid.extras_table.under_pressure() {
            return true;
        }
        self.side.crowded = (self.side.crowded + 1) % CROWDED;
        self.side.crowded == 0
    }

    /// Writes a code point with a width into a cell of its own.
    fn input_apart(&mut self, c: char) {
        let mode = NamedPrivateMode::GraphemeCluster;
        let joins = self.term.mode().contains(TermMode::GRAPHEME_CLUSTER);
        Handler::unset_private_mode(self.term, mode.into());
        self.term.input(c);
        if joins {
            Handler::set_private_mode(self.term, mode.into());
        }
    }

    /// Writes what may join the character in the last column. If that one becomes wide it moves to the next row, where
    /// the engine loses it if a wide character stood there before; so it is put back.
    fn input_at_edge(&mut self, c: char) {
        let cursor = &self.term.grid.cursor;
        let mut moved = self.term.grid[cursor.pos.row][cursor.pos.col];
        self.term.input(c);
        let grid = &mut self.term.grid;
        let row = grid.cursor.pos.row;
        let wrapped = !grid.cursor.should_wrap && grid.cursor.pos.col == 2;
        let first = grid[row][Column(0)];
        let lost = first.c() == '\0' && !first.is_bg_only() && grid[row][Column(1)].is_spacer();
        if wrapped && lost {
            moved.set_wide(Wide::Wide);
            moved.set_wrapline(false);
            moved.set_extras_id(first.extras_id());
            moved.set_cell_flags(moved.cell_flags() | first.cell_flags());
            grid[row][Column(0)] = moved;
            if row > 0 {
                let edge = grid.last_column();
                grid[row - 1i32][edge].set_wide(Wide::LeadingSpacer);
            }
        }
    }

    fn show_alternate(&mut self, on: bool) {
        let mode = NamedPrivateMode::SwapScreenAndSetRestoreCursor.into();
        if on {
            Handler::set_private_mode(self.term, mode);
        } else {
            Handler::unset_private_mode(self.term, mode);
        }
    }
}

/// Methods that the engine takes as they are.
macro_rules! hand_on {
    ($($name:ident($($arg:ident: $type:ty),*))*) => {
        $(#[inline]
        fn $name(&mut self, $($arg: $type),*) {
            Handler::$name(self.term, $($arg),*);
        })*
    };
}

impl Handler for Guard<'_> {
    #[inline]
    fn input(&mut self, c: char) {
        if !self.side.may_print() {
            return;
        }
        if c > '\u{ff}' {
            let joins = codepoint_width(u32::from(c)).unwrap_or(0) == 0;
            if self.is_full() {
                if !joins {
                    self.input_apart(c);
                }
                return;
            }
            if joins && !self.has_room() {
                return;
            }
            if self.term.grid.cursor.should_wrap {
                self.input_at_edge(c);
                return;
            }
        }
        self.term.input(c);
    }

    fn set_title(&mut self, title: Option<String>) {
        let title = plain(&title.unwrap_or_default(), LONGEST_TITLE);
        self.side.set_title(title);
    }

    fn push_title(&mut self) {
        self.side.push_title();
    }

    fn pop_title(&mut self) {
        self.side.pop_title();
    }

    fn set_current_directory(&mut self, path: PathBuf) {
        let path = path.to_string_lossy();
        if path.len() <= LONGEST_PATH && !path.contains(char::is_control) {
            self.side.announce(Event::Cwd(path.into_owned()));
        }
    }

    fn bell(&mut self) {
        self.side.announce(Event::Bell);
    }

    fn desktop_notification(&mut self, title: String, body: String) {
        self.side.announce(Event::Notification {
            title: plain(&title, LONGEST_TITLE),
            body: plain(&body, LONGEST_NOTICE),
        });
    }

    fn set_progress_report(&mut self, report: ProgressReport) {
        self.side.announce(Event::Progress {
            state: match report.state {
                ProgressState::Remove => Progress::Remove,
                ProgressState::Set => Progress::Set,
                ProgressState::Error => Progress::Error,
                ProgressState::Indeterminate => Progress::Indeterminate,
                ProgressState::Pause => Progress::Paused,
            },
            percent: report.progress,
        });
    }

    fn clipboard_store(&mut self, _which: u8, base64: &[u8]) {
        let known = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
        if base64.iter().all(known) {
            let base64 = String::from_utf8_lossy(base64).into_owned();
            self.side.announce(Event::Clipboard(base64));
        }
    }

    fn set_hyperlink(&mut self, link: Option<Hyperlink>) {
        // Without the id, equal addresses share one entry of the engine's table.
        let link = link
            .filter(|link| {
                link.uri().len() <= LONGEST_LINK && !link.uri().contains(char::is_control)
            })
            .filter(|_| self.has_room())
            .map(|link| Hyperlink::new(Some(""), link.uri()));
        Handler::set_hyperlink(self.term, link);
    }

    fn identify_terminal(&mut self, kind: Option<char>) {
        match kind {
            // A VT220 with colours and a clipboard that can be written.
            None => self.side.replies.push(b"\x1b[?62;22;52c"),
            Some(_) => Handler::identify_terminal(self.term, kind),
        }
    }

    fn report_version(&mut self) {
        let name = concat!("\x1bP>|sessdeck ", env!("CARGO_PKG_VERSION"), "\x1b\\");
        self.side.replies.push(name.as_bytes());
    }

    fn dynamic_color_sequence(&mut self, prefix: String, index: usize, terminator: &str) {
        let (r, g, b) = self.term.colors[index].map_or_else(|| self.side.color(index), rgb);
        let reply =
            format!("\x1b]{prefix};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{terminator}");
        self.side.replies.push(reply.as_bytes());
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        let lines = self.term.screen_lines();
        let bottom = bottom.unwrap_or(lines).min(lines);
        if top < bottom {
            self.side.region = (top > 1 || bottom < lines).then_some((top, bottom));
            Handler::set_scrolling_region(self.term, top, Some(bottom));
        }
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.side.charset = index;
        Handler::set_active_charset(self.term, index);
    }

    fn reset_state(&mut self) {
        Handler::reset_state(self.term);
        self.term.blinking_cursor = false;
        self.side.reset();
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        match mode {
            // 132 columns: the size is the person's.
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => {}
            PrivateMode::Unknown(47 | 1047) => self.show_alternate(true),
            PrivateMode::Unknown(1048) => Handler::save_cursor_position(self.term),
            PrivateMode::Named(_) | PrivateMode::Unknown(_) => {
                Handler::set_private_mode(self.term, mode);
            }
        }
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        match mode {
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => {}
            PrivateMode::Named(NamedPrivateMode::SyncUpdate) => {
                Handler::unset_private_mode(self.term, mode);
                self.side.frame_ends(self.term);
            }
            PrivateMode::Unknown(47 | 1047) => self.show_alternate(false),
            PrivateMode::Unknown(1048) => Handler::restore_cursor_position(self.term),
            PrivateMode::Named(_) | PrivateMode::Unknown(_) => {
                Handler::unset_private_mode(self.term, mode);
            }
        }
    }

    hand_on! {
        set_semantic_prompt(mark: SemanticPrompt)
        set_cursor_style(shape: Option<CursorShape>, blinking: bool)
        set_cursor_shape(shape: CursorShape)
        input_ascii_str(text: &str)
        goto(line: Line, col: Column)
        goto_line(line: Line)
        goto_col(col: Column)
        insert_blank(count: usize)
        move_up(rows: usize)
        move_down(rows: usize)
        device_status(kind: usize)
        move_forward(cols: Column)
        move_backward(cols: Column)
        move_down_and_cr(rows: usize)
        move_up_and_cr(rows: usize)
        put_tab(count: u16)
        backspace()
        carriage_return()
        linefeed()
        substitute()
        newline()
        set_horizontal_tabstop()
        scroll_up(rows: usize)
        scroll_down(rows: usize)
        insert_blank_lines(count: usize)
        delete_lines(count: usize)
        erase_chars(count: Column)
        delete_chars(count: usize)
        move_backward_tabs(count: u16)
        move_forward_tabs(count: u16)
        save_cursor_position()
        restore_cursor_position()
        clear_line(mode: LineClearMode)
        clear_screen(mode: ClearMode)
        set_tabs(interval: u16)
        clear_tabs(mode: TabulationClearMode)
        reverse_index()
        terminal_attribute(attr: Attr)
        set_mode(mode: Mode)
        unset_mode(mode: Mode)
        report_mode(mode: Mode)
        report_private_mode(mode: PrivateMode)
        set_keypad_application_mode()
        unset_keypad_application_mode()
        configure_charset(index: CharsetIndex, charset: StandardCharset)
        set_color(index: usize, color: ColorRgb)
        reset_color(index: usize)
        decaln()
        text_area_size_chars()
        report_keyboard_mode()
        push_keyboard_mode(mode: KeyboardModes)
        pop_keyboard_modes(count: u16)
        set_keyboard_mode(mode: KeyboardModes, how: KeyboardModesApplyBehavior)
        xtgettcap_response(reply: String)
        set_modify_other_keys(level: u8)
        set_scp(path: ScpCharPath, update: ScpUpdateMode)
    }
}
