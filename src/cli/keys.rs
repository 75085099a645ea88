//! `sessdeck keys`.

use std::io::Write;

use crate::config::dirs::Dirs;
use crate::config::load;
use crate::error::Result;
use crate::ui::{Action, Keymap};

/// Writes every action with its keys and its name, both as `[keys.bind]` takes them.
pub(super) fn run(dirs: &Dirs, out: &mut impl Write) -> Result<()> {
    let settings = load::settings(dirs)?;
    let keymap = Keymap::new(&settings.keys)?;
    let leaders: Vec<String> = settings
        .keys
        .leader
        .iter()
        .map(ToString::to_string)
        .collect();
    writeln!(out, "leader: {}", leaders.join(" or "))?;
    for action in Action::ALL {
        let keys: Vec<String> = keymap
            .bindings(*action)
            .map(|key| key.to_string())
            .collect();
        writeln!(
            out,
            "{:<25} {:<13} {}",
            keys.join(", "),
            action.name(),
            action.words()
        )?;
    }
    Ok(())
}
