//! The context meter: a bar where the window is known, the tokens always.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::look::style;
use super::super::text;
use crate::config::themes::Theme;
use crate::protocol::client::Meter;

/// `412k/1M`, `412k` where nobody stated the window, `~412k` for an estimate, `!412k`, `!!` and `!!!` from the soft, hard
/// and last step of the brake on; empty before the first call.
pub(in super::super) fn figure(meter: &Meter) -> String {
    let Some(used) = meter.context_tokens else {
        return String::new();
    };
    let about = if meter.estimate { "~" } else { "" };
    let about = format!(
        "{}{about}",
        "!".repeat(reached(meter).saturating_sub(1).min(3))
    );
    let used = text::tokens(used);
    match meter.window {
        Some(window) => format!("{about}{used}/{}", text::tokens(window)),
        None => format!("{about}{used}"),
    }
}

/// The figure without the window, where a bar says how much of it that is.
pub(in super::super) fn tokens(meter: &Meter) -> String {
    let mut figure = figure(meter);
    figure.truncate(figure.find('/').unwrap_or(figure.len()));
    figure
}

/// The style says which step of the brake was reached.
pub(in super::super) fn level(meter: &Meter, theme: &Theme) -> Style {
    style(match reached(meter) {
        0 => theme.meter_calm,
        1 => theme.meter_checkpoint,
        2 => theme.meter_soft,
        3 => theme.meter_hard,
        _ => theme.meter_stop,
    })
}

/// How many steps of the brake the context has passed.
fn reached(meter: &Meter) -> usize {
    let used = meter.context_tokens.unwrap_or(0);
    meter.steps.iter().filter(|step| **step <= used).count()
}

/// A bar of so many cells: heavy as far as the window is used, light beyond. Empty where the window is unknown.
pub(in super::super) fn bar(meter: &Meter, width: u16, theme: &Theme) -> Line<'static> {
    let (Some(used), Some(window)) = (meter.context_tokens, meter.window) else {
        return Line::default();
    };
    let cells = u64::from(width);
    // Something in it is never shown as nothing.
    let full = (used * cells / window.max(1)).clamp(u64::from(used > 0), cells);
    let full = usize::try_from(full).unwrap_or(0).min(usize::from(width));
    Line::from(vec![
        Span::styled("━".repeat(full), level(meter, theme)),
        Span::styled(
            "─".repeat(usize::from(width) - full),
            style(theme.meter_empty),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meter_shows_what_is_known() {
        for (used, window, estimate, figures, drawn) in [
            (None, Some(1_000_000), false, "", ""),
            (Some(412_345), None, false, "412k", ""),
            (
                Some(412_345),
                Some(1_000_000),
                false,
                "412k/1M",
                "━━━━──────",
            ),
            (Some(90), Some(200_000), true, "~90/200k", "━─────────"),
            (Some(0), Some(200_000), false, "0/200k", "──────────"),
            (
                Some(300_000),
                Some(200_000),
                false,
                "300k/200k",
                "━━━━━━━━━━",
            ),
            (Some(5), Some(0), false, "5/0", "━━━━━━━━━━"),
        ] {
            let meter = Meter {
                context_tokens: used,
                window,
                estimate,
                ..Meter::default()
            };
            let bar = bar(&meter, 10, &Theme::default()).to_string();
            assert_eq!((figure(&meter).as_str(), bar.as_str()), (figures, drawn));
            let tokens = tokens(&meter);
            assert!(figures.starts_with(&tokens) && !tokens.contains('/'));
        }
    }
    #[test]
    fn the_steps_of_the_brake_show_without_colour() {
        for (used, figures) in [
            (100, "100"),
            (250, "250"),
            (400, "!400"),
            (560, "!!560"),
            (900, "!!!900"),
        ] {
            let meter = Meter {
                context_tokens: Some(used),
                steps: vec![250, 400, 550, 650],
                ..Meter::default()
            };
            assert_eq!(figure(&meter), figures);
        }
    }
}
