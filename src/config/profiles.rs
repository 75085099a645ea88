//! A profile file: `[[profile]]`, `[guard]`, `[mcp.NAME]`, `extends`. Its schema, and what it may not say.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::config::colors;
use crate::config::nearest::nearest;
use crate::config::parse::{parse, wrong};
use crate::config::settings::GuardSigns;
use crate::deck::profile::Profile;
use crate::error::{Error, Result};

/// What one file says. The text is checked; what other files say is not known here.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct File {
    pub(crate) guard: GuardSigns,
    pub(crate) profiles: Vec<Profile>,
    /// Built-in profiles that take part although the repo has profiles of its own.
    pub(crate) extends: Vec<String>,
    /// MCP servers by name, as they were written.
    pub(crate) mcp: BTreeMap<String, toml::Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    #[serde(default)]
    extends: Vec<Spanned<String>>,
    #[serde(default)]
    guard: GuardSigns,
    #[serde(default)]
    profile: Vec<RawProfile>,
    #[serde(default)]
    mcp: BTreeMap<String, toml::Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProfile {
    name: Spanned<String>,
    about: Option<Spanned<String>>,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    covers: Vec<String>,
    #[serde(default)]
    keywords: Vec<Spanned<String>>,
    agent: Option<Spanned<String>>,
    model: Option<Spanned<String>>,
    effort: Option<Spanned<String>>,
    #[serde(default)]
    mcp: Vec<String>,
    skill: Option<Spanned<String>>,
    start_file: Option<Spanned<String>>,
    hint: Option<Spanned<String>>,
    #[serde(default)]
    flags: Vec<Spanned<String>>,
    color: Option<Spanned<String>>,
    default: Option<Spanned<bool>>,
}

/// The profile file in `text`. `built_in` are the names that `extends` can name.
pub(crate) fn read(text: &str, file: &Path, built_in: &[&str]) -> Result<File> {
    let source = Source { text, file };
    let raw: RawFile = parse(text, file)?;
    let mut read = File {
        guard: raw.guard,
        mcp: raw.mcp,
        ..File::default()
    };
    for name in raw.extends {
        if !built_in.contains(&name.get_ref().as_str()) {
            return Err(source.unknown(&name, "built-in profile", built_in));
        }
        read.extends.push(name.into_inner());
    }
    for profile in raw.profile {
        let span = profile.name.span();
        let default = profile.default.as_ref().map(Spanned::span);
        let profile = source.profile(profile)?;
        if read.profiles.iter().any(|known| known.name == profile.name) {
            let what = format!("a second profile called `{}`", profile.name);
            return Err(source.wrong(span, what));
        }
        if let (true, Some(span)) = (profile.default, default)
            && let Some(first) = read.profiles.iter().find(|known| known.default)
        {
            let what = format!("a second default; `{}` is one already", first.name);
            return Err(source.wrong(span, what));
        }
        read.profiles.push(profile);
    }
    Ok(read)
}

/// A file's text with its name, to say where something is wrong.
struct Source<'a> {
    text: &'a str,
    file: &'a Path,
}

impl Source<'_> {
    fn wrong(&self, span: Range<usize>, what: impl Into<String>) -> Error {
        wrong(self.file, self.text, Some(span), what)
    }

    fn unknown(&self, word: &Spanned<String>, kind: &str, known: &[&str]) -> Error {
        let near = nearest(word.get_ref(), known.iter().copied())
            .map(|near| format!(", expected `{near}`"))
            .unwrap_or_default();
        let what = format!("unknown {kind} `{}`{near}", word.get_ref());
        self.wrong(word.span(), what)
            .mend(format!("known here: `{}`", known.join("`, `")))
    }

    fn profile(&self, raw: RawProfile) -> Result<Profile> {
        let name = self.word(raw.name)?;
        let color = match raw.color {
            Some(color) if colors::color(color.get_ref()).is_none() => {
                return Err(self.unknown(&color, "color", &colors::color_names()));
            }
            color => color.map(Spanned::into_inner),
        };
        let keywords = raw
            .keywords
            .into_iter()
            .map(|keyword| self.keyword(keyword));
        let flags = raw.flags.into_iter().map(|flag| self.flag(flag));
        Ok(Profile {
            name,
            about: raw
                .about
                .map(|about| self.line(about))
                .transpose()?
                .unwrap_or_default(),
            open: raw.open,
            covers: raw.covers,
            keywords: keywords.collect::<Result<_>>()?,
            agent: raw.agent.map(|agent| self.word(agent)).transpose()?,
            model: raw.model.map(|model| self.line(model)).transpose()?,
            effort: raw.effort.map(|effort| self.word(effort)).transpose()?,
            mcp: raw.mcp,
            skill: raw.skill.map(|skill| self.line(skill)).transpose()?,
            start_file: raw.start_file.map(|file| self.line(file)).transpose()?,
            hint: raw.hint.map(|hint| self.text(hint)).transpose()?,
            flags: flags.collect::<Result<_>>()?,
            color,
            default: raw.default.is_some_and(Spanned::into_inner),
        })
    }

    /// A name that stands as `#tag` on an inbox line, in commands and in file names.
    fn word(&self, word: Spanned<String>) -> Result<String> {
        let span = word.span();
        let word = word.into_inner();
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if word.starts_with(char::is_alphanumeric) && word.chars().all(fits) {
            return Ok(word);
        }
        let what = format!("`{}` is no name", word.escape_debug());
        Err(self
            .wrong(span, what)
            .mend("letters, digits, `-`, `_` and `.`, a letter or digit first"))
    }

    fn line(&self, text: Spanned<String>) -> Result<String> {
        self.without(text, char::is_control)
    }

    fn text(&self, text: Spanned<String>) -> Result<String> {
        self.without(text, |c| c.is_control() && c != '\n' && c != '\t')
    }

    fn without(&self, text: Spanned<String>, control: impl Fn(char) -> bool) -> Result<String> {
        match text.get_ref().chars().find(|c| control(*c)) {
            Some(found) => {
                let what = format!("a control character, `{}`", found.escape_debug());
                Err(self.wrong(text.span(), what))
            }
            None => Ok(text.into_inner()),
        }
    }

    fn keyword(&self, keyword: Spanned<String>) -> Result<String> {
        if keyword.get_ref().contains(char::is_alphanumeric) {
            return self.line(keyword);
        }
        Err(self.wrong(keyword.span(), "a keyword without a letter or digit"))
    }

    fn flag(&self, flag: Spanned<String>) -> Result<String> {
        for (name, field) in [("--model", "model"), ("--effort", "effort")] {
            let rest = flag.get_ref().strip_prefix(name);
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('=')) {
                return Err(self
                    .wrong(flag.span(), format!("`{name}` among the flags"))
                    .mend(format!("write `{field} = \"…\"`")));
            }
        }
        self.text(flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> std::result::Result<File, String> {
        read(text, Path::new("p.toml"), &["plan", "docs"]).map_err(|error| error.line())
    }

    #[test]
    fn a_file_holds_profiles_guard_servers_and_what_it_extends() {
        let read = file(
            r##"
            extends = ["plan"]
            [guard]
            force_prefix = "++"
            [[profile]]
            name = "bugfix"
            about = "mend what is broken"
            open = false
            covers = ["incident"]
            keywords = ["bug", "failing test", "バグ"]
            agent = "codex"
            model = "opus"
            effort = "high"
            mcp = ["tickets"]
            skill = "debugging"
            start_file = "docs/bugs.md"
            hint = "write the test first"
            flags = ["--permission-mode", "plan"]
            color = "#ff8800"
            default = true
            [[profile]]
            name = "docs"
            [mcp.tickets]
            command = "tickets-mcp"
            args = ["--read-only"]
            "##,
        )
        .unwrap();
        assert_eq!(read.extends, ["plan"]);
        assert_eq!(read.guard.force_prefix.as_deref(), Some("++"));
        assert_eq!(read.mcp["tickets"]["command"].as_str(), Some("tickets-mcp"));
        let [bugfix, docs] = &read.profiles[..] else {
            panic!("{read:?}")
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            *bugfix,
            Profile {
                name: "bugfix".into(),
                about: "mend what is broken".into(),
                open: false,
                covers: vec!["incident".into()],
                keywords: vec!["bug".into(), "failing test".into(), "バグ".into()],
                agent: text("codex"),
                model: text("opus"),
                effort: text("high"),
                mcp: vec!["tickets".into()],
                skill: text("debugging"),
                start_file: text("docs/bugs.md"),
                hint: text("write the test first"),
                flags: vec!["--permission-mode".into(), "plan".into()],
                color: text("#ff8800"),
                default: true,
            }
        );
        let bare = Profile {
            name: "docs".into(),
            ..Profile::default()
        };
        assert_eq!(*docs, bare);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_the_nearest_word() {
        for (text, expected) in [
            (
                "[[profile]]\nname = 'a'\nkeyword = ['x']",
                "unknown field `keyword`, expected `keywords` (p.toml:3:1)",
            ),
            (
                "[[profile]]\nabout = 'x'",
                "missing field `name` (p.toml:1:1)",
            ),
            (
                "[[profiles]]\nname = 'a'",
                "unknown field `profiles`, expected `profile` (p.toml:1:3)",
            ),
            (
                "[[profile]]\nname = 'a'\nopen = 'yes'",
                "invalid type: string \"yes\", expected `true` or `false` (p.toml:3:8)",
            ),
            (
                "[[profile]]\nname = 'a'\ncolor = 'gren'",
                "unknown color `gren`, expected `green` (p.toml:3:9)",
            ),
            (
                "[[profile]]\nname = 'a b'",
                "`a b` is no name (p.toml:2:8); letters, digits",
            ),
            ("[[profile]]\nname = ''", "`` is no name (p.toml:2:8)"),
            (
                "[[profile]]\nname = 'a'\n[[profile]]\nname = 'a'",
                "a second profile called `a` (p.toml:4:8)",
            ),
            (
                "[[profile]]\nname = 'a'\ndefault = true\n[[profile]]\nname = 'b'\ndefault = true",
                "a second default; `a` is one already (p.toml:6:11)",
            ),
            (
                "[[profile]]\nname = 'a'\nkeywords = ['x', '--']",
                "a keyword without a letter or digit (p.toml:3:18)",
            ),
            (
                "[[profile]]\nname = 'a'\nflags = ['--model=opus']",
                "`--model` among the flags (p.toml:3:10); write `model",
            ),
            (
                "[[profile]]\nname = 'a'\nabout = \"\\u001b[31m\"",
                "a control character, `\\u{1b}` (p.toml:3:9)",
            ),
            (
                "extends = ['plan', 'dcos']",
                "unknown built-in profile `dcos`, expected `docs` (p.toml:1:20)",
            ),
            (
                "[guard]\nmin_hit = 2",
                "unknown field `min_hit`, expected `min_hits` (p.toml:2:1)",
            ),
            (
                "[[profile]\nname = 'a'",
                "unclosed array table, expected `]` (p.toml:1:11)",
            ),
        ] {
            let error = file(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}\n{error}");
        }
    }
}
