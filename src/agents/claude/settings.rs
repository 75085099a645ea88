//! The settings that a session is started with: our hooks, merged into what the person gave.

use std::path::PathBuf;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::{Map, Value, json};

/// The events that the deck hears, and the seconds after which the client goes on without us.
pub(super) static EVENTS: [(&str, u64); 12] = [
    ("SessionStart", 5),
    ("UserPromptSubmit", 5),
    ("PreToolUse", 5),
    ("SubagentStart", 5),
    ("SubagentStop", 5),
    ("PostToolUse", 5),
    ("PostToolUseFailure", 5),
    ("PermissionRequest", 5),
    ("Notification", 5),
    ("Stop", 5),
    ("StopFailure", 5),
    ("SessionEnd", 1),
];

/// Settings that hold our hooks alone.
pub(super) fn ours(sessdeck: &str) -> String {
    let mut settings = Map::new();
    add_hooks(&mut settings, sessdeck);
    Value::Object(settings).to_string()
}

/// The person's settings with our hooks added; none if they are no settings.
pub(super) fn merged(text: &str, sessdeck: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut settings: Map<String, Value> = serde_json::from_str(text).ok()?;
    add_hooks(&mut settings, sessdeck);
    Some(Value::Object(settings).to_string())
}

fn add_hooks(settings: &mut Map<String, Value>, sessdeck: &str) {
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    // The client skips hooks of another shape, so nothing that works is lost.
    if !hooks.is_object() {
        *hooks = json!({});
    }
    let Value::Object(hooks) = hooks else { return };
    for (event, timeout) in EVENTS {
        // With `args` the client starts the program itself, so no shell reads the path.
        let group = json!({ "hooks": [{
            "type": "command",
            "command": sessdeck,
            "args": ["hook", "claude"],
            "timeout": timeout,
        }] });
        let groups = hooks.entry(event).or_insert_with(|| json!([]));
        match groups.as_array_mut() {
            Some(groups) => groups.push(group),
            None => *groups = json!([group]),
        }
    }
}

/// Whether hooks are switched off. `files` stand in the order in which they count; what the session is started
/// with counts most.
pub(super) fn hooks_off(files: &[(PathBuf, String)], given: Option<&str>) -> bool {
    files
        .iter()
        .map(|(_, text)| text.as_str())
        .chain(given)
        .filter_map(|text| {
            let root = CstRootNode::parse(text, &ParseOptions::default()).ok()?;
            root.to_serde_value()
        })
        .filter_map(|settings| settings.get("disableAllHooks")?.as_bool())
        .next_back()
        .unwrap_or(false)
}
