//! A key on its way to the program, and what the program writes on its way to the screen.

use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::{Color, CursorShape, NamedColor, Rgb};

use crate::home::Home;
use crate::keys::Mouse;
use crate::patience::wait_until;

#[test]
fn a_key_reaches_the_program_and_its_echo_the_screen() {
    let home = Home::new();
    let deck = home.deck_with_bash("read -p 'name? ' name; echo hello ${name^^}; read");
    deck.wait_for_text("name? ");
    deck.keys("a d a");
    let screen = deck.wait_for_text("name? ada");
    let (row, column) = screen.find("name? ada").unwrap();
    assert_eq!((screen.cursor.row, screen.cursor.column), (row, column + 9));
    deck.keys("enter");
    deck.wait_for_text("hello ADA");
}

#[test]
fn keys_arrive_as_the_program_asked_for_them() {
    let home = Home::new();
    let deck = home.deck_with_bash(
        r"stty raw -echo; printf 'plain '; head -c16 | cat -vT
          printf '\r\n\e[?1h\e[?2004h\e[?1000h\e[?1006hmodes '; head -c28 | cat -v
          printf '\r\n\e[>1ukitty '; head -c12 | cat -v; echo; cat",
    );
    deck.wait_for_text("plain");
    deck.keys("up ctrl-c alt-x é tab shift-tab f1 esc");
    deck.wait_for_text("plain ^[[A^C^[xM-CM-)^I^[[Z^[OP^[");
    deck.wait_for_text("modes");
    deck.keys("up");
    deck.paste("b\nc");
    deck.mouse(Mouse::WheelUp, "modes");
    let screen = deck.wait_for_text("modes ^[OA^[[200~b^Mc^[[201~^[[<64;");
    // Where the wheel was is counted from the program's own corner.
    assert!(screen.contains("^[[<64;1;2M"), "{screen}");
    deck.wait_for_text("kitty");
    deck.keys("esc ctrl-c");
    deck.wait_for_text("kitty ^[[27u^[[99;5u");
}

#[test]
fn the_leader_speaks_to_the_deck_and_twice_to_the_program() {
    let home = Home::new();
    let deck = home.deck_with_bash("stty raw -echo; printf 'bytes '; head -c6 | cat -v; cat");
    deck.wait_for_text("bytes");
    deck.keys("ctrl-space");
    deck.wait_for_text(" DECK ");
    deck.keys("ctrl-space");
    deck.wait_for("the end of deck mode", |screen| !screen.contains(" DECK "));
    // A key that means nothing to the deck was meant for the program.
    deck.keys("f12 f12 ctrl-space z");
    deck.wait_for_text("bytes ^@^[[24~");
}

#[test]
fn colours_wide_characters_and_marks_are_shown_as_written() {
    let home = Home::new();
    let deck = home.deck_with_bash(
        r"printf '\e[31mred\e[m \e[1;38;5;208morange\e[m \e[4;7;38;2;1;2;3mtrue\e[m \e[48;5;19mback\e[m\r\n'
          printf '漢字|e\u0301|👩‍👩‍👧|\r\n\e[9mstruck\e[m \e[3mslanted\e[m\e[4 q end'; read",
    );
    let screen = deck.wait_for_text(" end");
    let red = screen.cell_of("red");
    assert!(
        matches!(red.fg, Color::Named(NamedColor::Red) | Color::Indexed(1)),
        "{red:?}"
    );
    let orange = screen.cell_of("orange");
    assert_eq!(orange.fg, Color::Indexed(208));
    assert!(orange.flags.contains(Flags::BOLD));
    let exact = screen.cell_of("true");
    assert_eq!(exact.fg, Color::Spec(Rgb { r: 1, g: 2, b: 3 }));
    assert!(exact.flags.contains(Flags::INVERSE | Flags::UNDERLINE));
    assert_eq!(screen.cell_of("back").bg, Color::Indexed(19));
    let wide = screen.cell_of("漢");
    assert!(wide.flags.contains(Flags::WIDE_CHAR));
    assert!(screen.contains("漢字|e\u{301}|"), "{screen}");
    assert!(screen.cell_of("struck").flags.contains(Flags::STRIKEOUT));
    assert!(screen.cell_of("slanted").flags.contains(Flags::ITALIC));
    assert_eq!(screen.cursor.shape, CursorShape::Underline);
}

#[test]
fn the_alternate_screen_comes_and_goes() {
    let home = Home::new();
    let deck = home.deck_with_bash(
        r"printf 'first line\r\nsecond line\r\n'; read
          printf '\e[?1049h\e[2J\e[5;10Hover it'; read; printf '\e[?1049l'; read",
    );
    deck.wait_for_text("second line");
    deck.keys("enter");
    let over = deck.wait_for_text("over it");
    assert!(!over.contains("first line"), "{over}");
    deck.keys("enter");
    let back = deck.wait_for_text("second line");
    assert!(
        back.contains("first line") && !back.contains("over it"),
        "{back}"
    );
}

#[test]
fn a_flood_ends_in_the_right_picture_and_ctrl_c_stops_it() {
    let home = Home::new();
    let deck =
        home.deck_with_bash("trap 'echo stopped by you' INT; seq 1000000000; seq 20000; read");
    deck.wait_for_text("1000");
    deck.keys("ctrl-c");
    let screen = deck.wait_for("the end of the flood", |screen| {
        screen.contains("stopped by you") || screen.contains("20000")
    });
    assert!(!screen.contains("^C1000"), "{screen}");
    let screen = deck.wait_for_text("20000");
    let last = screen.find("20000").unwrap().0;
    for (above, number) in (19_980..20_000).rev().enumerate() {
        assert!(
            screen.row(last - 1 - above).contains(&number.to_string()),
            "{screen}"
        );
    }
}

#[test]
fn clipboard_and_bell_reach_the_terminal_of_the_person() {
    let home = Home::new();
    let deck = home.deck_with_bash(r"echo ready; read; printf '\e]52;c;aGVsbG8=\a\adone'; read");
    deck.wait_for_text("ready");
    deck.keys("enter");
    deck.wait_for_text("done");
    wait_until("the clipboard", || {
        deck.clipboard().filter(|text| text == "hello")
    });
    wait_until("the bell", || (deck.bells() > 0).then_some(()));
}
