//! Leaves out links, mail addresses, paths and file names.

use std::borrow::Cow;
use std::ops::Range;

use super::text::{GAP, is_cjk};

/// Without links, mail addresses, paths and file names.
pub(crate) fn without_references(line: &str) -> Cow<'_, str> {
    const SIGNS: &[char] = &['/', '\\', '.', '@', ':'];
    if !line.contains(SIGNS) {
        return Cow::Borrowed(line);
    }
    let mut kept = String::with_capacity(line.len());
    let mut seen = 0;
    while let Some(at) = line[seen..].find(SIGNS).map(|at| seen + at) {
        let before = line[seen..at].trim_end_matches(|c: char| !c.is_whitespace());
        let start = seen + before.len();
        let end = line[at..]
            .find(char::is_whitespace)
            .map_or(line.len(), |len| at + len);
        kept.push_str(before);
        keep_words(&line[start..end], &mut kept);
        seen = end;
    }
    kept.push_str(&line[seen..]);
    Cow::Owned(kept)
}

/// The first file or folder that a text names, without the signs around it; `@`, by which clients take files in, is none
/// of it.
pub(crate) fn place(text: &str) -> Option<&str> {
    text.split_whitespace().find_map(|word| {
        let word = word
            .trim_start_matches(['(', '[', '{', '<', '"', '\'', '`', '*', '@'])
            .trim_end_matches([
                ')', ']', '}', '>', '"', '\'', '`', '*', ',', ';', ':', '!', '?', '.',
            ]);
        let folder = word.len() > 1 && word.ends_with('/');
        let named = is_reference(word) || folder;
        let place = link(word).is_none() && !is_address(word) && !is_host(word);
        (named && place).then_some(word)
    })
}

/// Keeps of something without blanks what is no reference.
fn keep_words(mut text: &str, kept: &mut String) {
    while let Some(link) = link(text) {
        keep_parts(&text[..link.start], kept);
        kept.push(GAP);
        text = &text[link.end..];
    }
    keep_parts(text, kept);
}

/// Where a link begins and ends.
fn link(text: &str) -> Option<Range<usize>> {
    let scheme = text.find("://").map(|at| {
        let name =
            text[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c));
        name.len()
    });
    let start = [scheme, text.find("mailto:"), text.find("www.")]
        .into_iter()
        .flatten()
        .min()?;
    let ends = |c: char| is_cjk(c) || is_cjk_sign(c) || "\"<>|`".contains(c) || c == GAP;
    let len = text[start..].find(ends).unwrap_or(text.len() - start);
    (len > 0).then_some(start..start + len)
}

/// The signs of Han, kana and Hangul texts, at which a path or link ends.
fn is_cjk_sign(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{301f}' | '\u{30fb}')
}

fn keep_parts(text: &str, kept: &mut String) {
    let separates = |c: char| matches!(c, ',' | ';' | '|' | '"') || c == GAP || is_cjk_sign(c);
    for part in text.split_inclusive(separates) {
        let name = part.trim_end_matches(separates);
        for segment in segments(name) {
            if is_reference(segment) {
                kept.push(GAP);
            } else {
                kept.push_str(segment);
            }
        }
        kept.push_str(&part[name.len()..]);
    }
}

/// Cuts where Han, kana or Hangul touch other letters, but not within a path.
fn segments(text: &str) -> Vec<&str> {
    let mut segments = Vec::new();
    let (mut from, mut in_path) = (0, false);
    let mut before: Option<char> = None;
    for (at, c) in text.char_indices() {
        let is_slash = matches!(c, '/' | '\\');
        let cuts = before.is_some_and(|before| match (is_cjk(before), is_cjk(c)) {
            (false, true) => !matches!(before, '/' | '\\'),
            (true, false) => !(is_slash || in_path && matches!(c, '.' | '-' | '_')),
            _ => false,
        });
        if cuts {
            segments.push(&text[from..at]);
            (from, in_path) = (at, false);
        }
        in_path |= is_slash;
        before = Some(c);
    }
    segments.push(&text[from..]);
    segments
}

/// A mail address, a path or a file name, whatever brackets and stops stand around it.
fn is_reference(text: &str) -> bool {
    let text = text
        .trim_start_matches(['(', '[', '{', '<', '*', '\'', '!', '?', ':', '='])
        .trim_end_matches([')', ']', '}', '>', '*', '\'', '!', '?', ':', '.']);
    let slashes = text.matches(['/', '\\']).count();
    let named = |c: char| c.is_alphanumeric() || c == '_';
    slashes >= 2
        || ["/", "./", "../", "~/", "@", ".\\", "..\\"]
            .iter()
            .any(|start| {
                text.strip_prefix(start)
                    .is_some_and(|rest| rest.contains(named))
            })
        || is_drive(text)
        || is_address(text)
        || is_file_name(text)
        || is_host(text)
}

fn is_drive(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.as_str().starts_with(":\\")
}

fn is_address(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, host)| {
        name.ends_with(|c: char| c.is_alphanumeric() || "_-+".contains(c))
            && host.starts_with(char::is_alphanumeric)
    })
}

const FILE_ENDINGS: &[&str] = &[
    "adoc",
    "astro",
    "bak",
    "bash",
    "bat",
    "bin",
    "bmp",
    "c",
    "cc",
    "cfg",
    "cjs",
    "clj",
    "conf",
    "cpp",
    "cs",
    "css",
    "csv",
    "cxx",
    "dart",
    "db",
    "diff",
    "dll",
    "doc",
    "docx",
    "ejs",
    "env",
    "erb",
    "erl",
    "ex",
    "exe",
    "exs",
    "fish",
    "gif",
    "go",
    "gql",
    "gradle",
    "graphql",
    "gz",
    "h",
    "hbs",
    "hpp",
    "hs",
    "htm",
    "html",
    "ico",
    "ini",
    "ipynb",
    "jar",
    "java",
    "jpeg",
    "jpg",
    "jl",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "jsx",
    "kt",
    "kts",
    "less",
    "lock",
    "log",
    "lua",
    "m",
    "map",
    "md",
    "mdx",
    "mjs",
    "ml",
    "mm",
    "mov",
    "mp3",
    "mp4",
    "mts",
    "cts",
    "nim",
    "nix",
    "odt",
    "pdf",
    "php",
    "pl",
    "plist",
    "png",
    "ppt",
    "pptx",
    "prisma",
    "properties",
    "proto",
    "ps1",
    "psd",
    "py",
    "pyi",
    "r",
    "rb",
    "rs",
    "rst",
    "sass",
    "scala",
    "scss",
    "sh",
    "sol",
    "sql",
    "sqlite",
    "srt",
    "styl",
    "svelte",
    "svg",
    "swift",
    "tar",
    "tex",
    "tf",
    "tfvars",
    "tgz",
    "toml",
    "ts",
    "tsv",
    "tsx",
    "ttf",
    "twig",
    "txt",
    "vb",
    "vue",
    "wasm",
    "wav",
    "webm",
    "webp",
    "woff",
    "woff2",
    "xls",
    "xlsx",
    "xml",
    "xsd",
    "xsl",
    "yaml",
    "yml",
    "zig",
    "zip",
    "zsh",
    "7z",
    "patch",
    "ics",
    "mod",
    "sum",
    "sln",
    "csproj",
    "mk",
    "cmake",
];

/// `guide.md`, `page.tsx:12:3`, `guide.md#start`, `a.ts(12,3)`, `page.html?x=1`
fn is_file_name(text: &str) -> bool {
    let name = text
        .strip_suffix("'s")
        .or(text.strip_suffix("’s"))
        .unwrap_or(text);
    let name = name.split(['#', '(', '?', ':']).next().unwrap_or(name);
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        stem.ends_with(|c: char| c.is_alphanumeric() || "_-*)]}".contains(c))
            && FILE_ENDINGS
                .iter()
                .any(|known| ending.eq_ignore_ascii_case(known))
    })
}

const HOST_ENDINGS: &[&str] = &[
    "com", "org", "net", "io", "dev", "app", "edu", "gov", "de", "uk", "eu", "fr", "jp", "cn",
];

/// `shop.example.com`, with a path behind it or not.
fn is_host(text: &str) -> bool {
    let host = text.split(['/', ':', '?', '#']).next().unwrap_or(text);
    let mut labels = host.rsplit('.');
    let ending = labels.next().unwrap_or_default();
    let mut labels = labels.peekable();
    labels.peek().is_some()
        && HOST_ENDINGS.contains(&ending)
        && labels.all(|label| {
            !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_that_is_named_is_found() {
        for (text, found) in [
            (
                "look at `src/money.rs`, it rounds wrong",
                Some("src/money.rs"),
            ),
            ("see @docs/a.md:", Some("docs/a.md")),
            ("README.md is old; so is a.txt", Some("README.md")),
            ("the tests/ folder", Some("tests/")),
            ("in ~/work/app.", Some("~/work/app")),
            ("use and/or, a/b test, 3/4", None),
            ("https://example.org/a/b.html and ada@example.org", None),
            ("", None),
        ] {
            assert_eq!(place(text), found, "{text}");
        }
    }

    #[test]
    fn references_are_left_out() {
        for (text, kept) in [
            ("see https://a.b/seo?x=1, then", "see ¤ then"),
            ("[the guide](https://a.b/c)", "[the guide](¤"),
            ("見てhttps://a.b/cを", "見て¤を"),
            ("www.seo.example mailto:a@b", "¤ ¤"),
            ("to a.b@c.example.org.", "to ¤"),
            ("in src/seo/a and/or b a/b test", "in ¤ and/or b a/b test"),
            ("src/a.ts, docs/guide b", "¤, docs/guide b"),
            ("/seo ./seo ../seo ~/seo @seo C:\\seo", "¤ ¤ ¤ ¤ ¤ ¤"),
            ("a\\b\\c \\\\host\\share", "¤ ¤"),
            (
                "/ . .. a. b: @ ~ ... e.g. i.e.",
                "/ . .. a. b: @ ~ ... e.g. i.e.",
            ),
            ("open README.md. (GUIDE.MD) guide.md's", "open ¤ ¤ ¤"),
            (
                "a.ts:12:3 a.md#seo a.ts(1,2) sitemap.xml.gz **a.md**",
                "¤ ¤ ¤,2) ¤ ¤",
            ),
            ("add .gitignore to doc", "add .gitignore to doc"),
            ("app/(group)/page app/[slug]/page", "¤ ¤"),
            ("a,docs/guide.md,b", "a,¤,b"),
            ("src/seo/a.tsを直す", "¤を直す"),
            ("docs/文档/指南.mdを見て", "¤を見て"),
            ("検索/置換を", "検索/置換を"),
            ("seo.example.com/x shop.de v1.2", "¤ ¤ v1.2"),
            ("end.Then next", "end.Then next"),
        ] {
            assert_eq!(without_references(text).replace(GAP, "¤"), kept, "{text}");
        }
    }
}
