//! What we keep beside the engine, because it does not, or not within bounds.

use rio_vt::crosswords::pos::CharsetIndex;

use super::damage::{Damage, Term};
use super::engine::{Colors, Event, Still};
use super::replies::Replies;

/// Characters that one feed may print. Only a flood of REP (`CSI 65535 b`, eight bytes for 65,535 characters) needs
/// more, and would hold everybody up.
const MOST_PRINTED: u32 = 1 << 20;
const MOST_TITLES: usize = 16;
const MOST_EVENTS: usize = 256;

#[derive(Debug)]
pub(super) struct Side {
    pub(super) replies: Replies,
    pub(super) colors: Colors,
    pub(super) damage: Damage,
    pub(super) still: Option<Still>,
    /// Somebody waits for the frame under way.
    pub(super) hold: bool,
    pub(super) title: String,
    titles: Vec<String>,
    events: Vec<Event>,
    /// Top and bottom row of the scroll region counted from 1, if it is not the whole screen.
    pub(super) region: Option<(usize, usize)>,
    /// Which of the four character sets is in use.
    pub(super) charset: CharsetIndex,
    /// How often the engine's table was found full.
    pub(super) crowded: u32,
    printed: u32,
}

impl Side {
    pub(super) fn new(replies: Replies, damage: Damage) -> Self {
        Side {
            replies,
            colors: Colors::default(),
            damage,
            still: None,
            hold: false,
            title: String::new(),
            titles: Vec::new(),
            events: Vec::new(),
            region: None,
            charset: CharsetIndex::default(),
            crowded: 0,
            printed: 0,
        }
    }

    pub(super) fn feed_begins(&mut self) {
        self.printed = 0;
    }

    #[inline]
    pub(super) fn may_print(&mut self) -> bool {
        self.printed += 1;
        self.printed <= MOST_PRINTED
    }

    /// A synchronized update is complete.
    pub(super) fn frame_ends(&mut self, term: &mut Term) {
        if self.hold {
            self.hold = false;
            self.damage.settle(term);
            self.still = Some(self.damage.still(term));
        }
    }

    /// The program asked for a fresh terminal.
    pub(super) fn reset(&mut self) {
        self.region = None;
        self.charset = CharsetIndex::default();
        self.titles.clear();
        self.set_title(String::new());
    }

    pub(super) fn set_title(&mut self, title: String) {
        if title != self.title {
            self.title.clone_from(&title);
            self.announce(Event::Title(title));
        }
    }

    pub(super) fn push_title(&mut self) {
        if self.titles.len() == MOST_TITLES {
            self.titles.remove(0);
        }
        self.titles.push(self.title.clone());
    }

    pub(super) fn pop_title(&mut self) {
        if let Some(title) = self.titles.pop() {
            self.set_title(title);
        }
    }

    /// Keeps an event for the next [`Side::take_events`]. Where only the last of its kind counts, it replaces the one before.
    pub(super) fn announce(&mut self, event: Event) {
        let replaces = |waiting: &Event| match (waiting, &event) {
            (Event::Title(_), Event::Title(_))
            | (Event::Bell, Event::Bell)
            | (Event::Cwd(_), Event::Cwd(_))
            | (Event::Progress { .. }, Event::Progress { .. })
            | (Event::Clipboard(_), Event::Clipboard(_)) => true,
            (waiting, event) => waiting == event,
        };
        if let Some(at) = self.events.iter().position(replaces) {
            self.events.remove(at);
        } else if self.events.len() == MOST_EVENTS {
            self.events.remove(0);
        }
        self.events.push(event);
    }

    pub(super) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// A colour that the program did not change: 0 to 255 of the palette, then foreground, background, cursor.
    pub(super) fn color(&self, index: usize) -> (u8, u8, u8) {
        match u8::try_from(index) {
            Ok(n) => palette(n),
            Err(_) if index == 257 => self.colors.bg,
            Err(_) => self.colors.fg,
        }
    }
}

/// xterm's palette. What the person's terminal shows for the first 16 nobody can know here.
fn palette(n: u8) -> (u8, u8, u8) {
    const FIRST: [(u8, u8, u8); 16] = [
        (0x00, 0x00, 0x00),
        (0xcd, 0x00, 0x00),
        (0x00, 0xcd, 0x00),
        (0xcd, 0xcd, 0x00),
        (0x00, 0x00, 0xee),
        (0xcd, 0x00, 0xcd),
        (0x00, 0xcd, 0xcd),
        (0xe5, 0xe5, 0xe5),
        (0x7f, 0x7f, 0x7f),
        (0xff, 0x00, 0x00),
        (0x00, 0xff, 0x00),
        (0xff, 0xff, 0x00),
        (0x5c, 0x5c, 0xff),
        (0xff, 0x00, 0xff),
        (0x00, 0xff, 0xff),
        (0xff, 0xff, 0xff),
    ];
    let step = |level: u8| if level == 0 { 0 } else { 55 + level * 40 };
    match n {
        0..16 => FIRST[usize::from(n)],
        16..232 => {
            let cube = n - 16;
            (step(cube / 36), step(cube / 6 % 6), step(cube % 6))
        }
        232.. => {
            let gray = 8 + (n - 232) * 10;
            (gray, gray, gray)
        }
    }
}

/// A colour of the engine, whose channels go from 0 to 1, as bytes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 0..=255 before"
)]
pub(super) fn rgb(color: [f32; 4]) -> (u8, u8, u8) {
    let byte = |channel: f32| (channel * 255.0).round().clamp(0.0, 255.0) as u8;
    (byte(color[0]), byte(color[1]), byte(color[2]))
}

#[cfg(test)]
mod tests {
    use super::palette;

    #[test]
    fn the_palette_is_the_one_programs_expect() {
        for (n, color) in [
            (1, (0xcd, 0, 0)),
            (16, (0, 0, 0)),
            (17, (0, 0, 0x5f)),
            (196, (0xff, 0, 0)),
            (231, (0xff, 0xff, 0xff)),
            (232, (8, 8, 8)),
            (255, (0xee, 0xee, 0xee)),
        ] {
            assert_eq!(palette(n), color, "{n}");
        }
    }
}
