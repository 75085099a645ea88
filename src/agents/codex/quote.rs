//! Text inside of a TOML value and inside of a shell line, the one place where either is written by hand.

use std::fmt::Write as _;

/// The text as a TOML string on one line.
pub(super) fn toml(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            letter if letter.is_control() => {
                write!(quoted, "\\u{:04X}", u32::from(letter)).expect("a string takes all text");
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// The text as one word of a POSIX shell.
pub(super) fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const TEXTS: [&str; 10] = [
        "/usr/bin/sessdeck",
        "/home/a b/it's \"quoted\"",
        "$HOME `id` $(id) \\ \\n !! # ; & | > *",
        "two\nlines\tand a tab",
        "größe ✓ \u{1f600}",
        "'",
        "''",
        "\u{7f}\u{1}\u{85}",
        "\\",
        "",
    ];

    #[test]
    fn a_toml_string_reads_back_as_it_was() {
        for text in TEXTS {
            let table: toml::Table = format!("key={}", toml(text)).parse().unwrap();
            assert_eq!(table["key"].as_str(), Some(text), "{}", toml(text));
        }
    }

    #[test]
    fn a_shell_reads_back_the_word_as_it_was() {
        for text in TEXTS {
            let output = Command::new("sh")
                .args(["-c", &format!("printf %s {}", shell(text))])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
        }
    }
}
