//! Our hooks in a client's own settings file, for sessions that are started outside the deck. Text in, text out: what
//! stands in the file beside them, comments and layout included, stays as it is.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Value, json};

/// How a client's settings file names our hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ours {
    /// The agent's word in `sessdeck hook`.
    pub(super) agent: &'static str,
    /// The events, and the seconds after which the client goes on without us.
    pub(super) events: &'static [(&'static str, u64)],
    pub(super) command: String,
    /// With them the client starts the program itself; without them `command` is a shell line.
    pub(super) args: Option<Vec<String>>,
}

/// One of our hooks, as it stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) event: String,
    /// The path of the program that it calls.
    pub(crate) program: String,
}

impl Ours {
    /// The events that the file should have.
    pub(crate) fn events(&self) -> usize {
        self.events.len()
    }

    /// The file with our hooks in it, each once. The same text if they are all there.
    ///
    /// # Errors
    /// Why the text is no settings file that can be added to.
    pub(crate) fn install(&self, text: &str) -> Result<String, String> {
        let (bom, root) = parse(text)?;
        let object = root
            .object_value_or_create()
            .ok_or("it holds something else than an object")?;
        once(&object, "hooks")?;
        let hooks = object
            .object_value_or_create("hooks")
            .ok_or("`hooks` is no object in it")?;
        // An older version of ours may have listened to more.
        let listens = |name: &str| self.events.iter().any(|(event, _)| *event == name);
        for property in hooks.properties() {
            let name = property.decoded_name().unwrap_or_default();
            if let Some(groups) = property.array_value().filter(|_| !listens(&name))
                && remove(&groups, self.agent)
                && groups.elements().is_empty()
            {
                property.remove();
            }
        }
        for (event, timeout) in self.events {
            once(&hooks, event)?;
            let groups = hooks
                .array_value_or_create(event)
                .ok_or_else(|| format!("`hooks.{event}` is no list in it"))?;
            let wanted = self.handler(*timeout);
            // A group of its own, without a matcher that would keep tools from it.
            let group = json!({ "hooks": [wanted] });
            let stands = groups
                .elements()
                .iter()
                .filter(|node| node.to_serde_value().as_ref() == Some(&group))
                .count();
            if stands == 1 && handlers(&groups, self.agent).len() == 1 {
                continue;
            }
            remove(&groups, self.agent);
            groups.append(input(&group));
        }
        Ok(format!("{bom}{root}"))
    }

    /// The file without any hook of ours, and without what held nothing else. The same text if there is none.
    ///
    /// # Errors
    /// Why the text is no settings file.
    pub(crate) fn uninstall(&self, text: &str) -> Result<String, String> {
        let (bom, root) = parse(text)?;
        let hooks = root
            .object_value()
            .and_then(|object| object.object_value("hooks"));
        let Some(hooks) = hooks else {
            return Ok(text.to_owned());
        };
        let mut removed = false;
        for property in hooks.properties() {
            let Some(groups) = property.array_value() else {
                continue;
            };
            if remove(&groups, self.agent) {
                removed = true;
                if groups.elements().is_empty() {
                    property.remove();
                }
            }
        }
        if !removed {
            return Ok(text.to_owned());
        }
        if hooks.properties().is_empty()
            && let Some(property) = root.object_value().and_then(|object| object.get("hooks"))
        {
            property.remove();
        }
        Ok(format!("{bom}{root}"))
    }

    /// Our hooks in the file, whatever program of ours they call.
    ///
    /// # Errors
    /// Why the text is no settings file.
    pub(crate) fn found(&self, text: &str) -> Result<Vec<Found>, String> {
        let (_, root) = parse(text)?;
        let hooks = root
            .object_value()
            .and_then(|object| object.object_value("hooks"));
        let properties = hooks.iter().flat_map(CstObject::properties);
        Ok(properties
            .filter_map(|property| Some((property.decoded_name()?, property.array_value()?)))
            .flat_map(|(event, groups)| {
                handlers(&groups, self.agent)
                    .into_iter()
                    .filter_map(move |handler| {
                        Some(Found {
                            event: event.clone(),
                            program: program(&handler, self.agent)?,
                        })
                    })
            })
            .collect())
    }

    fn handler(&self, timeout: u64) -> Value {
        let mut handler = json!({ "type": "command", "command": self.command });
        if let Some(args) = &self.args {
            handler["args"] = json!(args);
        }
        handler["timeout"] = timeout.into();
        handler
    }
}

/// The text in its parts; an empty file is one that nothing stands in yet.
fn parse(text: &str) -> Result<(&str, CstRootNode), String> {
    let (bom, json) = match text.strip_prefix('\u{feff}') {
        Some(json) => (&text[..'\u{feff}'.len_utf8()], json),
        None => ("", text),
    };
    // What editors and people write: JSON, with comments and trailing commas.
    let options = ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
        ..ParseOptions::default()
    };
    let json = if json.trim().is_empty() { "{}\n" } else { json };
    let root = CstRootNode::parse(json, &options).map_err(|error| error.to_string())?;
    Ok((bom, root))
}

/// Of a name that stands twice the client takes the last and we the first.
fn once(object: &CstObject, name: &str) -> Result<(), String> {
    let named = |property: &CstObjectProp| property.decoded_name().as_deref() == Some(name);
    if object.properties().iter().filter(|it| named(it)).count() > 1 {
        return Err(format!("`{name}` stands in it twice"));
    }
    Ok(())
}

/// Our handlers among these groups.
fn handlers(groups: &CstArray, agent: &str) -> Vec<Value> {
    groups
        .elements()
        .iter()
        .filter_map(|group| group.as_object()?.array_value("hooks"))
        .flat_map(|handlers| handlers.elements())
        .filter_map(|node| node.to_serde_value())
        .filter(|handler| program(handler, agent).is_some())
        .collect()
}

/// Takes our handlers out, and the groups that held nothing else; true if there were any.
fn remove(groups: &CstArray, agent: &str) -> bool {
    let mut removed = false;
    for group in groups.elements() {
        let handlers = group
            .as_object()
            .and_then(|group| group.array_value("hooks"));
        let Some(handlers) = handlers else { continue };
        let ours = |node: &CstNode| {
            let value = node.to_serde_value();
            value.is_some_and(|value| program(&value, agent).is_some())
        };
        let own: Vec<CstNode> = handlers.elements().into_iter().filter(ours).collect();
        if own.is_empty() {
            continue;
        }
        removed = true;
        if own.len() == handlers.elements().len() {
            group.remove();
        } else {
            own.into_iter().for_each(CstNode::remove);
        }
    }
    removed
}

/// The program that a handler of ours calls; none if it is not ours.
fn program(handler: &Value, agent: &str) -> Option<String> {
    let command = handler.get("command")?.as_str()?;
    let (program, rest) = if let Some(args) = handler.get("args").and_then(Value::as_array) {
        let args = args.iter().map(|arg| arg.as_str().map(str::to_owned));
        (command.to_owned(), args.collect::<Option<Vec<_>>>()?)
    } else {
        let mut words = shlex::split(command)?;
        if words.is_empty() {
            return None;
        }
        (words.remove(0), words)
    };
    let name = program.rsplit('/').next()?;
    (name.starts_with("sessdeck") && rest.len() >= 2 && rest[0] == "hook" && rest[1] == agent)
        .then_some(program)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is) => CstInputValue::Bool(*is),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ours(path: &str) -> Ours {
        Ours {
            agent: "claude",
            events: &[("Stop", 5), ("SessionEnd", 1)],
            command: path.into(),
            args: Some(["hook", "claude", "--installed"].map(String::from).into()),
        }
    }

    const FILES: [&str; 11] = [
        "",
        "{}",
        "\u{feff}{ }\r\n",
        "{\n  \"model\": \"opus\"\n}\n",
        "// mine\n{\n  // keep this\n  \"a\": [1, 2,], /* and this */\n}\n",
        "{\"hooks\":{}}",
        "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"bell\" } ] } // ring\n\t\t]\n\t}\n}\n",
        "{\"hooks\":{\"Stop\":[],\"Setup\":7},\"z\":1}",
        "{\"hooks\":{\"Stop\":[{\"matcher\":\"x\",\"hooks\":[{\"command\":\"/o/sessdeck\",\"args\":[\"hook\",\"claude\"]},{\"command\":\"bell\"}]}]}}",
        "{\"hooks\":{\"Stop\":[{\"matcher\":\"x\",\"hooks\":[{\"type\":\"command\",\"command\":\"/opt/sessdeck\",\"args\":[\"hook\",\"claude\",\"--installed\"],\"timeout\":5}]}]}}",
        "{\"hooks\":{\"Gone\":[{\"hooks\":[{\"command\":\"/opt/sessdeck hook claude\"}]}]}}",
    ];

    #[test]
    fn what_is_there_stays_and_ours_comes_once() {
        for file in FILES {
            let once = ours("/opt/sessdeck").install(file).unwrap();
            assert_eq!(
                ours("/opt/sessdeck").install(&once).unwrap(),
                once,
                "{file}"
            );
            let found = ours("").found(&once).unwrap();
            let events: Vec<&str> = found.iter().map(|found| found.event.as_str()).collect();
            assert_eq!(events.len(), 2, "{once}");
            assert!(events.contains(&"Stop") && events.contains(&"SessionEnd"));
            assert!(
                found.iter().all(|found| found.program == "/opt/sessdeck"),
                "{once}"
            );
            for part in [
                "// mine",
                "// keep this",
                "[1, 2,]",
                "/* and this */",
                "// ring",
                "\"bell\"",
                "\"Setup\":7",
                "\"opus\"",
            ] {
                assert_eq!(once.contains(part), file.contains(part), "{part} in {once}");
            }
            assert_eq!(once.starts_with('\u{feff}'), file.starts_with('\u{feff}'));
        }
    }

    #[test]
    fn a_moved_program_is_mended_and_another_agents_hook_let_be() {
        let old = ours("/old/sessdeck").install(FILES[6]).unwrap();
        let new = ours("/new/bin/sessdeck").install(&old).unwrap();
        assert!(!new.contains("/old/") && new.contains("bell"), "{new}");
        let codex = Ours {
            agent: "codex",
            command: "'/a b/sessdeck' hook codex --installed".into(),
            args: None,
            ..ours("")
        };
        let both = codex.install(&new).unwrap();
        assert_eq!(codex.found(&both).unwrap()[0].program, "/a b/sessdeck");
        assert_eq!(ours("").found(&both).unwrap().len(), 2);
        assert_eq!(codex.uninstall(&both).unwrap(), new);
    }

    #[test]
    fn what_came_goes_and_nothing_else() {
        for (file, after) in [
            ("", "{}\n"),
            (FILES[3], FILES[3]),
            (FILES[4], FILES[4]),
            (FILES[6], FILES[6]),
        ] {
            let there = ours("/opt/sessdeck").install(file).unwrap();
            let gone = ours("").uninstall(&there).unwrap();
            assert_eq!(ours("").found(&gone).unwrap(), []);
            let plain = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(plain(&gone), plain(after), "{gone}");
            assert_eq!(ours("").uninstall(&gone).unwrap(), gone);
        }
        assert_eq!(
            ours("").uninstall("{\"hooks\":{}}").unwrap(),
            "{\"hooks\":{}}"
        );
    }

    #[test]
    fn what_is_no_settings_file_is_refused() {
        for file in [
            "{broken",
            "[1]",
            "7",
            "{\"hooks\":7}",
            "{\"hooks\":{\"Stop\":{}}}",
            "{'a':1}",
            "{\"hooks\":{},\"a\":1,\"hooks\":{}}",
            "{\"hooks\":{\"Stop\":[],\"Stop\":[]}}",
            "{} {}",
        ] {
            assert!(ours("/opt/sessdeck").install(file).is_err(), "{file}");
        }
    }

    proptest! {
        #[test]
        fn any_settings_mean_the_same_afterwards(keys in proptest::collection::btree_map("[a-z]{1,6}", any::<i32>(), 0..6), pretty: bool) {
            let before = json!({ "env": keys, "hooks": { "Stop": [{ "hooks": [{ "command": "bell" }] }] } });
            let text = if pretty { format!("{before:#}") } else { before.to_string() };
            let there = ours("/opt/sessdeck").install(&text).unwrap();
            let mut after: Value = serde_json::from_str(&there).unwrap();
            prop_assert_eq!(&after["hooks"]["Stop"][0], &before["hooks"]["Stop"][0]);
            after["hooks"] = before["hooks"].clone();
            prop_assert_eq!(&after, &before);
            let gone: Value = serde_json::from_str(&ours("").uninstall(&there).unwrap()).unwrap();
            prop_assert_eq!(gone, before);
        }
    }
}
