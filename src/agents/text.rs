//! Text out of JSON that need not be sound: clients cut strings in the middle of a character.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A JSON string. Half characters (lone surrogates, bad UTF-8) become replacement characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Asked for bytes, serde_json hands over strings that it would refuse to call text.
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Ok(Text(String::from_utf8_lossy(bytes).into_owned()))
    }
}

/// The bytes without a byte order mark and the white space around them.
pub(super) fn bare(bytes: &[u8]) -> &[u8] {
    bytes
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(bytes)
        .trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_characters_do_not_spoil_a_string() {
        for (json, text) in [
            (&b"\"gr\\u00f6\xC3\x9Fe\\n\""[..], "größe\n"),
            (br#""cut \ud83d here""#, "cut \u{fffd}\u{fffd}\u{fffd} here"),
            (b"\"bad \xFF byte\"", "bad \u{fffd} byte"),
            (br#""\ud83d\ude00""#, "😀"),
        ] {
            assert_eq!(serde_json::from_slice::<Text>(json).unwrap().0, text);
        }
        assert!(serde_json::from_slice::<Text>(b"7").is_err());
    }
}
