//! What the client's input box is sent, in forms proven on 2.1.332 (`tests/clients/README.md`).

use super::super::{Step, typing};

/// Keys that empty the box after `prompt` was put back into it.
///
/// ctrl-u takes a row of the box up to the cursor, then the line feed before it; in an empty box it does nothing, where
/// ctrl-c would be half of quitting and escape would begin to rewind. As a single byte it is a key only in short bursts;
/// in the form of the kitty protocol, which the client reads unasked, always.
pub(super) fn clear(prompt: &str) -> Vec<u8> {
    const CTRL_U: &[u8] = b"\x1b[117;5u";
    const NARROWEST: usize = 20;
    const MOST: usize = 1000;
    // A letter may be two cells wide.
    let rows = prompt.lines().count() + 2 * prompt.chars().count() / NARROWEST;
    CTRL_U.repeat((2 * rows + 8).min(MOST))
}

/// The prompt as keys. One longer paste would reach the model as something pasted; several short ones stand in the
/// box as typed text.
pub(super) fn typed(prompt: &str) -> String {
    const SHORT: usize = 300;
    let lines: Vec<String> = prompt
        .split('\n')
        .map(|line| {
            let letters: Vec<char> = line.chars().collect();
            letters
                .chunks(SHORT)
                .map(|piece| typing::paste(&String::from_iter(piece)))
                .collect()
        })
        .collect();
    // At the start of the box `!` would run the prompt as a shell line.
    let shield = if prompt.starts_with('!') { " " } else { "" };
    // The blank, which the client drops, closes a list that a last word like `@src` may have opened.
    format!("{shield}{} ", lines.join("\n"))
}

/// Enter in the form of the kitty protocol. A carriage return that comes with what was pasted, as it does where the
/// client is slow to read, is a new line in the box.
pub(super) fn enter() -> Step {
    Step::Bytes(b"\x1b[13u".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_typed_in_pieces_that_stay_text() {
        let long = "x".repeat(301);
        let piece = |text: &str| format!("\u{1b}[200~{text}\u{1b}[201~");
        for (prompt, expected) in [
            ("fix it", piece("fix it")),
            ("a\n\nö", format!("{}\n\n{}", piece("a"), piece("ö"))),
            ("!ls", format!(" {}", piece("!ls"))),
            (&long, format!("{}{}", piece(&long[1..]), piece("x"))),
        ] {
            assert_eq!(typed(prompt), format!("{expected} "));
        }
    }

    #[test]
    fn every_row_of_the_box_is_cleared() {
        for (prompt, keys) in [("", 8), ("one", 10), ("a\nb\nc", 14)] {
            assert_eq!(clear(prompt), b"\x1b[117;5u".repeat(keys));
        }
        assert_eq!(clear(&"long ".repeat(100_000)).len(), 8 * 1000);
    }
}
