//! A theme: one style for each thing that the screen distinguishes.

use std::path::Path;

use serde::{Deserialize, Deserializer};

use crate::config::colors;
use crate::config::parse::{parse, unknown};
use crate::error::{Error, Exit, Result};
use crate::terminal::Style;

macro_rules! roles {
    ($($(#[doc = $doc:literal])+ $role:ident,)*) => {
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) struct Theme {
            $($(#[doc = $doc])+ pub(crate) $role: Style,)*
        }

        /// A theme as its file holds it: what it leaves out is taken from [`Theme::default`].
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            $(#[serde(default, deserialize_with = "style")] $role: Option<Style>,)*
        }

        impl File {
            fn over(self, base: &Theme) -> Theme {
                Theme { $($role: self.$role.unwrap_or(base.$role),)* }
            }

            /// The theme, if the file names every role.
            fn whole(self) -> Option<Theme> {
                Some(Theme { $($role: self.$role?,)* })
            }
        }
    };
}

roles! {
    /// Ordinary text.
    text,
    /// What matters less: dates, paths, figures that are old.
    dim,
    /// Names and numbers that lead the eye.
    accent,
    /// Lines between the parts of the screen.
    border,
    /// The frame of what has the keys.
    border_focus,
    /// The heading of a pane or modal.
    title,
    /// The inside of a modal.
    modal,
    /// A field that text is typed into.
    field,
    /// The chosen row.
    selection,
    /// The line of hints at the bottom.
    hints,
    /// A key in a hint.
    key,
    /// A profile's tag, where the profile names no colour of its own.
    tag,
    /// The letters and words that matched.
    matched,
    /// Good news.
    ok,
    /// Look at this when there is time.
    warn,
    /// Look at this now.
    alert,
    /// Sign of a session whose agent works.
    working,
    /// Sign of a session that asks permission or a question.
    needs_you,
    /// Sign of a session whose turn has ended.
    your_turn,
    /// Sign of a session whose program is over.
    ended,
    /// Sign of a session that nothing runs for until it is resumed.
    asleep,
    /// Sign of a session of which nothing is known.
    unknown,
    /// The part of the meter that is not filled.
    meter_empty,
    /// The meter below the first step of the brake.
    meter_calm,
    /// The meter from the first step on.
    meter_checkpoint,
    /// The meter from the second step on.
    meter_soft,
    /// The meter from the third step on.
    meter_hard,
    /// The meter from the last step on.
    meter_stop,
}

/// The themes that are always there.
const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
    ("contrast", include_str!("../../themes/contrast.toml")),
];

impl Default for Theme {
    fn default() -> Self {
        parse::<File>(BUILT_IN[0].1, Path::new("themes/dark.toml"))
            .ok()
            .and_then(File::whole)
            .expect("a test reads the built-in theme, and it names every role")
    }
}

impl Theme {
    /// The built-in theme of that name.
    pub(crate) fn built_in(name: &str) -> Option<Self> {
        let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        Self::parse(text, Path::new(name)).ok()
    }

    /// The theme in a file's text.
    pub(crate) fn parse(text: &str, file: &Path) -> Result<Self> {
        Ok(parse::<File>(text, file)?.over(&Self::default()))
    }

    /// The error of a name that neither is built in nor has a file in `folder`.
    pub(crate) fn missing(name: &str, folder: &Path) -> Error {
        let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        Error::new(Exit::Settings, format!("no theme called `{name}`")).mend(format!(
            "`{}`, or write `{}`",
            known.join("`, `"),
            folder.join(format!("{name}.toml")).display()
        ))
    }
}

fn style<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Style>, D::Error> {
    let text = String::deserialize(deserializer)?;
    colors::style(&text)
        .map(Some)
        .map_err(|word| unknown("style", &word, &colors::style_words()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Color;

    #[test]
    fn every_built_in_theme_names_every_role() {
        for (name, text) in BUILT_IN {
            let file = parse::<File>(text, Path::new(name)).unwrap();
            assert!(file.whole().is_some(), "{name}");
        }
        assert_eq!(Theme::built_in("dark"), Some(Theme::default()));
        assert_ne!(Theme::built_in("light"), Some(Theme::default()));
        assert_eq!(Theme::built_in("neon"), None);
    }

    #[test]
    fn the_contrast_theme_keeps_to_the_16_colors() {
        let (_, text) = BUILT_IN[2];
        let values = text.lines().filter_map(|line| line.split('"').nth(1));
        for word in values.flat_map(str::split_whitespace) {
            if let Some(Color::Indexed(16..) | Color::Rgb(..)) = colors::color(word) {
                panic!("`{word}` is not one of the terminal's own colours");
            }
        }
    }

    #[test]
    fn a_theme_may_name_a_few_roles_only() {
        let theme = Theme::parse("accent = \"bold #010203\"", Path::new("my.toml")).unwrap();
        assert_eq!(theme.accent.fg, Color::Rgb(1, 2, 3));
        assert_eq!(theme.text, Theme::default().text);
    }

    #[test]
    fn a_wrong_role_or_colour_is_told_with_its_place() {
        for (text, expected) in [
            (
                "acent = \"red\"",
                "unknown field `acent`, expected `accent` (my.toml:1:1)",
            ),
            (
                "\naccent = \"bold rad\"",
                "unknown style `rad`, expected `red` (my.toml:2:10)",
            ),
        ] {
            let error = Theme::parse(text, Path::new("my.toml")).unwrap_err();
            assert!(error.line().starts_with(expected), "{}", error.line());
        }
    }
}
