//! The transcript's file: where it is, what an earlier run left in it, and how it grows.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::row::{Chain, Row};
use super::screen::Line;
use super::tokens::Usage;
use crate::error::{Error, Result};

/// A folder's name may be no longer; the rest becomes a hash.
const LONGEST_SLUG: usize = 200;

/// One conversation's file. It is made with the first row.
#[derive(Debug)]
pub(super) struct Transcript {
    path: PathBuf,
    file: Option<File>,
    pub(super) chain: Chain,
}

/// What an earlier run of a conversation left.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    pub(super) lines: Vec<Line>,
    pub(super) usage: Option<Usage>,
    rows: u64,
    prompts: u32,
    parent: Option<String>,
}

/// The folder of a project's conversations.
pub(super) fn folder(config_dir: &Path, cwd: &str) -> PathBuf {
    config_dir.join("projects").join(slug(cwd))
}

/// Every UTF-16 unit that is no ASCII letter or digit becomes a dash.
fn slug(cwd: &str) -> String {
    let slug: String = cwd
        .encode_utf16()
        .map(|unit| match u8::try_from(unit).map(char::from) {
            Ok(letter) if letter.is_ascii_alphanumeric() => letter,
            _ => '-',
        })
        .collect();
    if slug.len() <= LONGEST_SLUG {
        return slug;
    }
    let hash = cwd.bytes().fold(5381_u32, |hash, byte| {
        hash.wrapping_mul(33) ^ u32::from(byte)
    });
    format!("{}-{hash:x}", &slug[..LONGEST_SLUG])
}

/// The file of a conversation, in whatever project it was begun.
pub(super) fn find(config_dir: &Path, id: &str) -> Option<PathBuf> {
    let name = format!("{id}.jsonl");
    fs::read_dir(config_dir.join("projects"))
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join(&name)))
        .find(|path| path.is_file())
}

/// The id of the conversation in this folder that was written to last.
pub(super) fn newest(folder: &Path) -> Option<String> {
    fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let id = entry
                .file_name()
                .to_str()?
                .strip_suffix(".jsonl")?
                .to_owned();
            Some((entry.metadata().ok()?.modified().ok()?, id))
        })
        .max()
        .map(|(_, id)| id)
}

/// Reads what an earlier run wrote. Lines that are no JSON are passed over.
pub(super) fn earlier(path: &Path) -> Result<Earlier> {
    let file = File::open(path).map_err(|error| Error::from(error).at(path, None))?;
    let mut earlier = Earlier::default();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| Error::from(error).at(path, None))?;
        earlier.rows += 1;
        if let Ok(row) = serde_json::from_str::<Value>(&line) {
            earlier.take(&row);
        }
    }
    Ok(earlier)
}

impl Earlier {
    fn take(&mut self, row: &Value) {
        if let Some(uuid) = row["uuid"].as_str() {
            self.parent = Some(uuid.to_owned());
        }
        let content = &row["message"]["content"];
        match (row["type"].as_str(), content) {
            (Some("user"), Value::String(text)) if row["promptSource"] == "typed" => {
                self.prompts += 1;
                self.lines.push(Line::Prompt(text.clone()));
            }
            (Some("assistant"), Value::Array(blocks)) => {
                let figure =
                    |name: &str| row["message"]["usage"][name].as_u64().unwrap_or_default();
                let usage = Usage {
                    input: figure("input_tokens"),
                    cache_creation: figure("cache_creation_input_tokens"),
                    cache_read: figure("cache_read_input_tokens"),
                    output: figure("output_tokens"),
                };
                if usage != Usage::default() {
                    self.usage = Some(usage);
                }
                for block in blocks {
                    if let Some(text) = block["text"].as_str() {
                        self.lines.push(Line::Reply(text.to_owned()));
                    }
                }
            }
            (Some("system"), _) if row["subtype"] == "compact_boundary" => {
                self.usage = Some(Usage {
                    input: row["compactMetadata"]["postTokens"]
                        .as_u64()
                        .unwrap_or_default(),
                    ..Usage::default()
                });
                self.lines
                    .push(Line::Notice("Conversation compacted".into()));
            }
            _ => {}
        }
    }
}

impl Transcript {
    pub(super) fn new(path: PathBuf, chain: Chain) -> Self {
        Self {
            path,
            file: None,
            chain,
        }
    }

    /// Goes on in a file that is there.
    pub(super) fn resumed(path: PathBuf, mut chain: Chain, earlier: &Earlier) -> Self {
        chain.parent.clone_from(&earlier.parent);
        chain.rows = earlier.rows;
        chain.prompt = earlier.prompts;
        Self::new(path, chain)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Adds a row, in one write. `now` is RFC 3339 in UTC.
    pub(super) fn record(&mut self, row: &Row, now: &str) -> Result<()> {
        let mut rows = Vec::new();
        if !self.path.exists() {
            rows.extend(self.chain.opening());
        }
        rows.extend(self.chain.extend(row, now));
        let mut text = String::new();
        for row in rows {
            text.push_str(&row.to_string());
            text.push('\n');
        }
        let told = |error: std::io::Error| Error::from(error).at(&self.path, None);
        let file = if let Some(file) = &mut self.file {
            file
        } else {
            self.file.insert(open(&self.path).map_err(told)?)
        };
        file.write_all(text.as_bytes()).map_err(told)
    }
}

/// Prompts are the person's own: nobody else may read them.
fn open(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::practice::row::Content;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_project_folder_is_named_like_the_real_clients() {
        for (cwd, expected) in [
            ("/home/dev/shop", "-home-dev-shop"),
            ("/home/dev/My_Shop.v2", "-home-dev-My-Shop-v2"),
            ("/é/𝄞", "-----"),
        ] {
            assert_eq!(slug(cwd), expected, "{cwd}");
        }
        let long = slug(&"/x".repeat(200));
        assert!(long.len() > LONGEST_SLUG && long.len() < 220, "{long}");
    }

    #[test]
    fn a_conversation_goes_on_where_it_was_left() {
        let home = tempfile::tempdir().unwrap();
        let id = "7c1d0a52-3b6e-4f18-9a47-5d2e8f60b1c3";
        let folder = folder(home.path(), "/home/dev/shop");
        let path = folder.join(format!("{id}.jsonl"));
        let chain = || Chain::new(id.into(), "/home/dev/shop".into(), String::new());
        let usage = Usage {
            input: 12,
            cache_creation: 800,
            cache_read: 900,
            output: 30,
        };
        let mut transcript = Transcript::new(path.clone(), chain());
        assert!(!transcript.exists());
        let prompt = Row::Prompt {
            prompt: 1,
            text: "hi".into(),
        };
        let message = Row::Message {
            blocks: vec![Content::Thinking("…"), Content::Text("hello".into())],
            usage,
            stop: "end_turn",
        };
        let error = Row::ApiError { text: "529".into() };
        for row in [&prompt, &message, &error] {
            transcript.record(row, "2026-11-03T09:00:20.540Z").unwrap();
        }

        assert_eq!(find(home.path(), id), Some(path.clone()));
        assert_eq!(newest(&folder).as_deref(), Some(id));
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let earlier = earlier(&path).unwrap();
        assert_eq!(earlier.usage, Some(usage));
        assert_eq!(
            earlier.lines[..2],
            [Line::Prompt("hi".into()), Line::Reply("hello".into())]
        );
        let resumed = Transcript::resumed(path, chain(), &earlier);
        assert_eq!(resumed.chain.parent, transcript.chain.parent);
        assert_eq!(resumed.chain.prompt, 1);
    }
}
