//! The rest of a command line, taken apart: flags of the deck, flags of the agent, words.
//!
//! Wherever a word could be the value of a flag or the other way round, the person is asked for the form that cannot
//! be misread, `--flag=value` or a lone `--` before the words.

use std::fmt;

use super::Flags;

/// What a command line holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) owned: Owned,
    /// The agent's own flags, each followed by its values, as they were typed.
    pub(crate) flags: Vec<String>,
    /// What is neither, as it was typed.
    pub(crate) words: Vec<String>,
    /// Sentences about flags that were not forwarded.
    pub(crate) warnings: Vec<String>,
}

/// The flags that the deck keeps for itself; given twice, the last one holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    pub(crate) profile: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) dir: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) inbox: Option<String>,
    pub(crate) worktree: Choosable,
    pub(crate) resume: Choosable,
}

/// A flag whose value may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Choosable {
    #[default]
    Absent,
    /// Given without a value: the deck chooses, or asks.
    Any,
    This(String),
}

/// Flags of the commands `new` and `run` themselves, which say what becomes of the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Switches {
    /// The words are a program with its arguments.
    pub(crate) exec: bool,
    pub(crate) detach: bool,
    pub(crate) print: bool,
    pub(crate) json: bool,
}

/// A command line that can be read in two ways or in none: what is wrong, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) what: String,
    pub(crate) mend: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.mend)
    }
}

impl Split {
    /// The words as one text, joined by single blanks.
    pub(crate) fn task(&self) -> Option<String> {
        let task = self.words.join(" ");
        (!task.is_empty()).then_some(task)
    }
}

/// Takes the switches out of a raw line. `split` takes the rest.
///
/// This needs no list of the agent's flags, since a word that looks like a flag is never the value of another.
pub(crate) fn switches(raw: Vec<String>) -> (Switches, Vec<String>) {
    let mut switches = Switches::default();
    let mut rest: Vec<String> = Vec::with_capacity(raw.len());
    let mut open = true;
    for word in raw {
        let switch = match word.as_str() {
            "--exec" => Some(&mut switches.exec),
            "--detach" => Some(&mut switches.detach),
            "--print" => Some(&mut switches.print),
            "--json" => Some(&mut switches.json),
            _ => None,
        };
        if let Some(switch) = switch.filter(|_| open) {
            *switch = true;
            continue;
        }
        let is_value = rest
            .last()
            .is_some_and(|last| Owned::default().valued(last).is_some());
        let is_program = switches.exec && !is_value && flag(&word).is_none();
        open &= word != "--" && !is_program;
        rest.push(word);
    }
    (switches, rest)
}

/// The deck's own flags on a line whose agent is not known yet. An agent's own spellings of them are not seen.
pub(crate) fn owned(raw: &[String]) -> Result<Owned, Wrong> {
    Ok(split(raw, &Flags::default())?.owned)
}

/// Takes a line apart by the flags that the agent knows.
pub(crate) fn split(raw: &[String], known: &Flags) -> Result<Split, Wrong> {
    let mut split = Split::default();
    let mut rest = raw;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        if word == "--" {
            split.words.extend_from_slice(after);
            break;
        }
        match flag(word) {
            Some(found) => rest = split.take(word, found, after, known)?,
            None => split.words.push(word.clone()),
        }
    }
    Ok(split)
}

/// Takes the line of a plain session apart: the deck's flags, then the program with its arguments as they are.
///
/// The program begins at the first word that is no flag or value, or after a lone `--`.
pub(crate) fn split_command(raw: &[String]) -> Result<Split, Wrong> {
    let none = Flags::default();
    let mut split = Split::default();
    let mut rest = raw;
    while let Some((word, after)) = rest.split_first() {
        if word == "--" {
            split.words = after.to_vec();
            break;
        }
        let Some(found) = flag(word) else {
            split.words = rest.to_vec();
            break;
        };
        rest = split.take(word, found, after, &none)?;
    }
    Ok(split)
}

/// A word in the form of a flag: its name, and its value if an `=` follows.
#[derive(Clone, Copy)]
struct Flag<'a> {
    name: &'a str,
    value: Option<&'a str>,
}

/// The flag that a word has the form of: `-x`, `--word`, either with `=…`. A sentence that starts with `--`, a
/// negative number, `-` and `->` are words.
fn flag(word: &str) -> Option<Flag<'_>> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    let bare = name.strip_prefix("--").or_else(|| name.strip_prefix('-'))?;
    let named = bare.starts_with(|c: char| c.is_ascii_alphabetic())
        && bare
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_');
    named.then_some(Flag { name, value })
}

impl Split {
    /// Takes in one flag of the line, and what of `after` belongs to it. The rest of the line comes back.
    fn take<'a>(
        &mut self,
        word: &str,
        found: Flag<'_>,
        after: &'a [String],
        known: &Flags,
    ) -> Result<&'a [String], Wrong> {
        let Flag { name, value } = found;
        let name = known
            .aliases
            .iter()
            .find(|(alias, _)| *alias == name)
            .map_or(name, |(_, owned)| owned);
        if name == "--agent-flag" {
            let Some(value) = value.filter(|value| !value.is_empty()) else {
                return Err(Wrong {
                    what: "`--agent-flag` has no value".into(),
                    mend: "write `--agent-flag=--name=value`".into(),
                });
            };
            self.flags.push(value.to_owned());
            return Ok(after);
        }
        if let Some(target) = self.owned.choosable(name) {
            *target = match value {
                Some(value) => Choosable::This(one_word(name, value)?),
                None => Choosable::Any,
            };
            return Ok(after);
        }
        if let Some((target, free)) = self.owned.valued(name) {
            let (value, after) = match value {
                Some(value) => (value, after),
                None => next_value(name, after)?,
            };
            *target = Some(if free && !value.is_empty() {
                value.to_owned()
            } else {
                one_word(name, value)?
            });
            return Ok(after);
        }
        if value.is_some() || known.bare.contains(&name) || is_short_group(name, known) {
            self.flags.push(word.to_owned());
            return Ok(after);
        }
        if known.value.contains(&name) {
            let (value, after) = next_value(name, after)?;
            self.flags.extend([word.to_owned(), value.to_owned()]);
            return Ok(after);
        }
        if known.variadic.contains(&name) {
            let (values, after) = all_values(name, after)?;
            self.flags.push(word.to_owned());
            self.flags.extend_from_slice(values);
            return Ok(after);
        }
        self.warnings.push(format!(
            "`{name}` is no flag that is known here and was left out; write `{name}=value`, or `--agent-flag={name}` \
             if it takes none, or put `--` before the words"
        ));
        Ok(after)
    }
}

impl Owned {
    fn choosable(&mut self, name: &str) -> Option<&mut Choosable> {
        match name {
            "--worktree" => Some(&mut self.worktree),
            "--resume" => Some(&mut self.resume),
            _ => None,
        }
    }

    /// Where the value of a flag goes, and whether it may hold blanks.
    fn valued(&mut self, name: &str) -> Option<(&mut Option<String>, bool)> {
        Some(match name {
            "--model" => (&mut self.model, false),
            "--effort" => (&mut self.effort, false),
            "--profile" => (&mut self.profile, false),
            "--agent" => (&mut self.agent, false),
            "--inbox" => (&mut self.inbox, false),
            "--title" => (&mut self.title, true),
            "--dir" => (&mut self.dir, true),
            "--from" => (&mut self.from, true),
            _ => return None,
        })
    }
}

/// `-mVALUE` and `-abc`: a value flag with its value, or flags without values, written together.
fn is_short_group(name: &str, known: &Flags) -> bool {
    let Some(letters) = name.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return false;
    };
    let is = |list: &[&str], letter: char| {
        list.iter().any(|flag| {
            flag.strip_prefix('-')
                .is_some_and(|flag| flag.chars().eq([letter]))
        })
    };
    letters.len() > 1
        && (letters.starts_with(|first| is(known.value, first))
            || letters.chars().all(|letter| is(known.bare, letter)))
}

/// The word after a flag that takes one value.
fn next_value<'a>(name: &str, after: &'a [String]) -> Result<(&'a str, &'a [String]), Wrong> {
    match after.split_first() {
        Some((next, _)) if next != "--" && flag(next).is_some() => Err(Wrong {
            what: format!("`{name}` has no value before `{next}`"),
            mend: format!("write `{name}={next}` if that is the value"),
        }),
        Some((next, rest)) if next != "--" => Ok((next, rest)),
        _ => Err(Wrong {
            what: format!("`{name}` has no value"),
            mend: format!("write `{name}=value`"),
        }),
    }
}

/// The words after a flag that takes several. More than one are its values only if a lone `--` closes the list.
fn all_values<'a>(name: &str, after: &'a [String]) -> Result<(&'a [String], &'a [String]), Wrong> {
    next_value(name, after)?;
    let end = after
        .iter()
        .position(|word| word == "--" || flag(word).is_some())
        .unwrap_or(after.len());
    let closed = after.get(end).is_some_and(|word| word == "--");
    if end > 1 && !closed {
        return Err(Wrong {
            what: format!("`{name}` would take `{}` and all words after it", after[0]),
            mend: format!("write `{name}={}`, once for each value", after[0]),
        });
    }
    Ok(after.split_at(end))
}

fn one_word(name: &str, value: &str) -> Result<String, Wrong> {
    if value.is_empty() {
        return Err(Wrong {
            what: format!("`{name}` has no value"),
            mend: format!("write `{name}=value`"),
        });
    }
    if value.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(Wrong {
            what: format!("`{name}` takes one word"),
            mend: "put `--` before the words, if this belongs to them".into(),
        });
    }
    Ok(value.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const KNOWN: Flags = Flags {
        value: &["--append-system-prompt", "--permission-mode", "-c"],
        bare: &["--verbose", "--continue", "-p", "-v"],
        variadic: &["--add-dir", "--allowedTools"],
        aliases: &[("-m", "--model"), ("-C", "--dir")],
    };

    fn words(line: &str) -> Vec<String> {
        shlex::split(line).unwrap()
    }

    fn read(line: &str) -> Result<Split, Wrong> {
        split(&words(line), &KNOWN)
    }

    #[test]
    fn flags_count_before_the_first_lone_dashes_and_words_are_kept() {
        for (line, flags, task) in [
            ("fix the login", "", Some("fix the login")),
            (
                "fix --verbose the login",
                "--verbose",
                Some("fix the login"),
            ),
            (
                "fix it -v --permission-mode plan",
                "-v --permission-mode plan",
                Some("fix it"),
            ),
            (
                "--append-system-prompt 'a  b' fix",
                "--append-system-prompt 'a  b'",
                Some("fix"),
            ),
            ("--foo=bar fix", "--foo=bar", Some("fix")),
            (
                "--permission-mode=plan fix",
                "--permission-mode=plan",
                Some("fix"),
            ),
            ("fix -- --model x", "", Some("fix --model x")),
            ("-- --model x", "", Some("--model x")),
            ("-- --", "", Some("--")),
            (
                "'--model is ignored by the parser'",
                "",
                Some("--model is ignored by the parser"),
            ),
            (
                "'--model x=1 is ignored'",
                "",
                Some("--model x=1 is ignored"),
            ),
            (
                "subtract -5 from - and -> it",
                "",
                Some("subtract -5 from - and -> it"),
            ),
            (
                "'a\nb' \"it's\" '$(x)' '🙂  '",
                "",
                Some("a\nb it's $(x) 🙂  "),
            ),
            (
                "--add-dir ../a --verbose fix",
                "--add-dir ../a --verbose",
                Some("fix"),
            ),
            (
                "--add-dir ../a ../b -- fix it",
                "--add-dir ../a ../b",
                Some("fix it"),
            ),
            ("fix --add-dir ../a", "--add-dir ../a", Some("fix")),
            ("--agent-flag=--profile=x fix", "--profile=x", Some("fix")),
            ("-pv -ckey=1 -c a=b fix", "-pv -ckey=1 -c a=b", Some("fix")),
            ("", "", None),
            ("--", "", None),
            ("--verbose", "--verbose", None),
        ] {
            let found = read(line).unwrap();
            assert_eq!(found.flags, words(flags), "{line}");
            assert_eq!(found.task().as_deref(), task, "{line}");
            assert_eq!((found.owned, found.warnings), Default::default(), "{line}");
        }
    }

    #[test]
    fn the_decks_own_flags_are_taken_out() {
        let found = read(
            "fix --model opus --effort=high -m haiku --profile bugfix --agent codex --title 'My fix' -C '../my dir' \
             --from docs/n.md --inbox 3 --worktree --resume=abc it",
        )
        .unwrap();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            found.owned,
            Owned {
                model: text("haiku"),
                effort: text("high"),
                profile: text("bugfix"),
                agent: text("codex"),
                title: text("My fix"),
                dir: text("../my dir"),
                from: text("docs/n.md"),
                inbox: text("3"),
                worktree: Choosable::Any,
                resume: Choosable::This("abc".into()),
            }
        );
        assert_eq!((found.task(), found.flags), (text("fix it"), vec![]));
    }

    #[test]
    fn an_unknown_flag_is_left_out_and_told() {
        for (line, name) in [("--foo fix", "--foo"), ("fix -x", "-x"), ("-vx fix", "-vx")] {
            let found = read(line).unwrap();
            assert_eq!(
                (found.task().as_deref(), found.flags.len()),
                (Some("fix"), 0)
            );
            let [warning] = &found.warnings[..] else {
                panic!("{:?}", found.warnings)
            };
            assert!(
                warning.contains(&format!("write `{name}=value`")),
                "{warning}"
            );
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for (line, what) in [
            ("fix --model", "`--model` has no value"),
            ("--model -- fix", "`--model` has no value"),
            ("--model= fix", "`--model` has no value"),
            ("--title= fix", "`--title` has no value"),
            (
                "--model --effort high",
                "`--model` has no value before `--effort`",
            ),
            ("fix --permission-mode", "`--permission-mode` has no value"),
            (
                "--append-system-prompt -v fix",
                "`--append-system-prompt` has no value before `-v`",
            ),
            ("'--model=x is ignored'", "`--model` takes one word"),
            ("--add-dir", "`--add-dir` has no value"),
            (
                "--add-dir ../a fix it",
                "`--add-dir` would take `../a` and all words after it",
            ),
            (
                "--add-dir ../a fix --verbose",
                "`--add-dir` would take `../a` and all words after it",
            ),
            ("--agent-flag --profile fix", "`--agent-flag` has no value"),
        ] {
            assert_eq!(read(line).unwrap_err().what, what, "{line}");
        }
    }

    #[test]
    fn switches_are_found_without_knowing_the_agent() {
        let none = Switches::default();
        for (line, expected, rest) in [
            (
                "fix --print it --json",
                Switches {
                    print: true,
                    json: true,
                    ..none
                },
                "fix it",
            ),
            (
                "--detach -- --print",
                Switches {
                    detach: true,
                    ..none
                },
                "-- --print",
            ),
            (
                "--exec --title x -- ls --json",
                Switches { exec: true, ..none },
                "--title x -- ls --json",
            ),
            (
                "--exec ls --json",
                Switches { exec: true, ..none },
                "ls --json",
            ),
        ] {
            let (found, left) = switches(words(line));
            assert_eq!((found, left), (expected, words(rest)), "{line}");
        }
    }

    #[test]
    fn a_plain_command_is_kept_as_it_is() {
        for (line, command, title) in [
            ("htop -d 5", "htop -d 5", None),
            (
                "--title=top -- htop --model x -- y",
                "htop --model x -- y",
                Some("top"),
            ),
            ("--title top htop --title z", "htop --title z", Some("top")),
            ("-- --odd", "--odd", None),
        ] {
            let found = split_command(&words(line)).unwrap();
            assert_eq!(found.words, words(command), "{line}");
            assert_eq!(found.owned.title.as_deref(), title, "{line}");
        }
    }

    /// A part of a command line, and what it must come to.
    #[derive(Clone, Debug)]
    enum Part {
        Word(String),
        Flag(Vec<String>),
        Model(String),
    }

    /// Text that has not the form of a flag, odd as it may be.
    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z]{1,8}",
            "[^\u{0}]{0,12}",
            "--[a-z]{1,6} [^\u{0}=]{0,9}",
            Just("-".to_owned()),
            Just("$(rm -rf x)".to_owned()),
            Just("it's \"so\"\n🙂".to_owned()),
        ]
        .prop_filter("is a word", |word| word != "--" && flag(word).is_none())
    }

    fn part() -> impl Strategy<Value = Part> {
        prop_oneof![
            4 => word().prop_map(Part::Word),
            1 => (proptest::sample::select(KNOWN.value), word())
                .prop_map(|(flag, value)| Part::Flag(vec![flag.to_owned(), value])),
            1 => (proptest::sample::select(KNOWN.value), "[^\u{0}]{0,9}")
                .prop_map(|(flag, value)| Part::Flag(vec![format!("{flag}={value}")])),
            1 => proptest::sample::select(KNOWN.bare)
                .prop_map(|flag| Part::Flag(vec![flag.to_owned()])),
            1 => "[a-z0-9.]{1,8}".prop_map(Part::Model),
        ]
    }

    proptest! {
        #[test]
        fn every_word_stays_a_word_and_every_value_with_its_flag(
            parts in vec(part(), 0..12),
            closed in proptest::option::of(vec("[^\u{0}]{0,12}|--[a-z]{1,5}", 0..5)),
        ) {
            let (mut raw, mut task, mut flags, mut model) = (vec![], vec![], vec![], None);
            for part in parts {
                match part {
                    Part::Word(word) => {
                        raw.push(word.clone());
                        task.push(word);
                    }
                    Part::Flag(flag) => {
                        raw.extend(flag.clone());
                        flags.extend(flag);
                    }
                    Part::Model(name) => {
                        raw.extend(["--model".to_owned(), name.clone()]);
                        model = Some(name);
                    }
                }
            }
            if let Some(words) = closed {
                raw.push("--".to_owned());
                raw.extend(words.clone());
                task.extend(words);
            }
            let found = split(&raw, &KNOWN).unwrap();
            prop_assert_eq!(&found.words, &task);
            prop_assert_eq!(found.task().unwrap_or_default(), task.join(" "));
            prop_assert_eq!(found.flags, flags);
            prop_assert_eq!(found.owned.model, model);
            prop_assert!(found.warnings.is_empty());
        }

        #[test]
        fn nothing_that_is_typed_disappears_untold(raw in vec("-{0,2}[a-z=]{0,6}|[^\u{0}]{0,9}", 0..12)) {
            let Ok(found) = split(&raw, &KNOWN) else { return Ok(()) };
            let lone = raw.iter().position(|word| word == "--");
            for (n, word) in raw.iter().enumerate() {
                let name = word.split('=').next().unwrap_or_default();
                let told = found.warnings.iter().any(|warning| warning.contains(&format!("`{name}`")));
                let kept = found.words.contains(word) || found.flags.contains(word);
                prop_assert!(
                    Some(n) == lone || kept || told || found.owned != Owned::default(),
                    "{word:?} of {raw:?}"
                );
            }
        }
    }
}
