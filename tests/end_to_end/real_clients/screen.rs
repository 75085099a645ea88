//! What the clients make of our terminal: keys, frames, and what else they turn on only where it is answered.

use std::fs;

use super::stage::{Client, Stage};
use super::with_both;

with_both!(
    the_client_uses_all_that_the_terminal_offers,
    shift_enter_is_a_new_line,
);

/// Every byte that the program of this session wrote.
fn written(stage: &Stage, id: u64) -> Vec<u8> {
    let folder = stage
        .home
        .path(&format!("deck/state/sessions/{id}/journal"));
    let mut segments: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
    segments.sort_by_key(std::fs::DirEntry::file_name);
    segments
        .iter()
        .flat_map(|it| fs::read(it.path()).unwrap())
        .collect()
}

fn the_client_uses_all_that_the_terminal_offers(client: &'static Client) {
    let stage = Stage::echo(client);
    let _terminal = stage.waiting();
    let bytes = written(&stage, 1);
    let text = String::from_utf8_lossy(&bytes);
    for (what, sequence) in [
        ("keys of the kitty protocol", client.kitty_keys),
        ("synchronized frames", "\x1b[?2026h"),
        ("bracketed paste", "\x1b[?2004h"),
        ("focus", "\x1b[?1004h"),
        ("mouse", "\x1b[?1006h"),
        ("state", "\x1b]7501;state="),
    ] {
        assert!(text.contains(sequence), "{what}: {text:?}");
    }
}

fn shift_enter_is_a_new_line(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = stage.waiting();
    client.type_out(&terminal, "", "the first row");
    terminal.send("\x1b[13;2u");
    let second = "and a second";
    for (at, letter) in second.char_indices() {
        terminal.send(letter.to_string());
        terminal.wait_for_text(second[..=at].trim_end());
    }
    terminal.wait_for("two rows", |screen| {
        let first = screen.find("the first row");
        let second = screen.find(second);
        matches!((first, second), (Some((row, _)), Some((below, _))) if below == row + 1)
    });
    terminal.keys("enter");
    stage.wait_for_prompt("the first row\nand a second");
}
