//! The form in which texts are compared, and what letters, words and blanks are in it.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Stands where something was left out, so that what stood on either side does not grow together.
pub(crate) const GAP: char = '\u{fffc}';

/// Full-width letters, ligatures and decomposed accents become the plain letters; case stays.
pub(crate) fn normal(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    if is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return without_invisible(text);
    }
    let normal: String = text.nfkc().collect();
    Cow::Owned(without_invisible(&normal).into_owned())
}

fn without_invisible(text: &str) -> Cow<'_, str> {
    if text.contains(is_invisible) {
        Cow::Owned(text.replace(is_invisible, ""))
    } else {
        Cow::Borrowed(text)
    }
}

/// Case folding. The way over capitals folds what lower case alone keeps apart: ß and ss, ς and σ.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        // The capital of the dotless i is the plain I, which is another letter.
        if c == 'ı' {
            folded.push(c);
        } else {
            folded.extend(c.to_uppercase().flat_map(char::to_lowercase));
        }
    }
    folded.nfkc().collect()
}

/// Han, kana and Hangul are written without blanks between words.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' // Hangul
        | '\u{3041}'..='\u{3096}' | '\u{3099}'..='\u{309f}' // Hiragana
        | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' // Katakana
        | '\u{3005}'..='\u{3007}' | '\u{2e80}'..='\u{2fd5}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}')
}

/// A letter, digit, accent or `_` of a word that ends at blanks and signs; next to it no other word begins.
pub(crate) fn is_word(c: char) -> bool {
    // U+02BC is a letter by name and an apostrophe by use.
    (c.is_alphanumeric() || c == '_' || is_accent(c)) && !is_cjk(c) && c != '\u{2bc}'
}

/// `-` and the hyphens that look like it.
pub(crate) fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2013}')
}

/// Combining marks that have no composed form with their letter.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}')
}

/// Takes no room and separates nothing: soft hyphens, joiners, direction marks, byte order marks.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// White space, and the zero-width space, which separates words too.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{200b}'
}

/// The rest of `text` after `sign`, in whatever width it is typed; `None` if it does not start so.
pub(crate) fn after_sign<'a>(text: &'a str, sign: &str) -> Option<&'a str> {
    let sign = fold(&normal(sign));
    let mut left = sign.as_str();
    let mut rest = text;
    while !left.is_empty() {
        let c = rest.chars().next()?;
        rest = &rest[c.len_utf8()..];
        let mut plain = [0; 4];
        let typed = fold(&normal(c.encode_utf8(&mut plain)));
        left = left.strip_prefix(typed.as_str())?;
    }
    (!sign.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_in_other_letters_compares_equal() {
        for (a, b) in [
            ("ＳＥＯ", "seo"),
            ("documentacio\u{301}n", "DOCUMENTACIÓN"),
            ("STRASSE", "straße"),
            ("ΟΔΟΣ", "οδος"),
            ("ﬁx", "FIX"),
            ("site\u{ad}map", "sitemap"),
            ("サイトマップ", "ｻｲﾄﾏｯﾌﾟ"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("\u{212a}elvin", "kelvin"),
        ] {
            assert_eq!(fold(&normal(a)), fold(&normal(b)), "{a} {b}");
        }
        assert_ne!(fold("ı"), fold("i"));
    }

    #[test]
    fn a_sign_is_found_in_either_width() {
        for (text, sign, rest) in [
            ("!!x", "!!", Some("x")),
            ("！!x", "!!", Some("x")),
            ("‼ x", "!!", Some(" x")),
            ("!x", "!!", None),
            ("", "!!", None),
            ("Force: x", "force:", Some(" x")),
            ("anything", "", None),
        ] {
            assert_eq!(after_sign(text, sign), rest, "{text}");
        }
    }
}
