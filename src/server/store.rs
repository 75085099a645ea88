//! The sessions on disk: one folder each, so that two writes never meet in one file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::deck::brake::{Brake, Step};
use crate::deck::{Seed, Session, SessionId, Signal, State};
use crate::files;

const RECORD: &str = "session.json";

/// `<state>/sessions/`.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    folder: PathBuf,
}

/// What is kept of a session. Its task stands in `argv`, so the file is for the user alone.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    id: u64,
    name: String,
    title: String,
    profile: Option<String>,
    color: Option<String>,
    agent: String,
    dir: PathBuf,
    repo: PathBuf,
    argv: Vec<String>,
    conversation: Option<String>,
    transcript: Option<PathBuf>,
    /// The brake's steps, lowest first: what each is and its tokens.
    steps: Vec<(StepWord, u64)>,
    /// How many of them have fired.
    #[serde(default)]
    fired: usize,
    window: Option<u64>,
    #[serde(default)]
    model: Option<String>,
    guarded: bool,
    handoff_from: Option<PathBuf>,
    inbox: Option<String>,
    ended: bool,
    exit_code: Option<i32>,
    /// Seconds since 1970.
    since: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StepWord {
    Checkpoint,
    Soft,
    Hard,
    Stop,
}

impl From<Step> for StepWord {
    fn from(step: Step) -> Self {
        match step {
            Step::Checkpoint => Self::Checkpoint,
            Step::Soft => Self::Soft,
            Step::Hard => Self::Hard,
            Step::Stop => Self::Stop,
        }
    }
}

impl From<StepWord> for Step {
    fn from(word: StepWord) -> Self {
        match word {
            StepWord::Checkpoint => Self::Checkpoint,
            StepWord::Soft => Self::Soft,
            StepWord::Hard => Self::Hard,
            StepWord::Stop => Self::Stop,
        }
    }
}

impl Store {
    pub(crate) fn new(state: &Path) -> Self {
        Self {
            folder: state.join("sessions"),
        }
    }

    /// Where a session's journal lies.
    pub(crate) fn journal(&self, id: SessionId) -> PathBuf {
        self.folder.join(id.to_string()).join("journal")
    }

    pub(crate) fn save(&self, session: &Session) -> io::Result<()> {
        let folder = self.folder.join(session.id.to_string());
        files::make_private_dir(&folder)?;
        let text = serde_json::to_vec_pretty(&Record::of(session))?;
        files::replace(&folder.join(RECORD), 0o600, &text)
    }

    pub(crate) fn forget(&self, id: SessionId) -> io::Result<()> {
        fs::remove_dir_all(self.folder.join(id.to_string()))
    }

    /// Every session whose record can be read, oldest first. A broken record is left alone.
    pub(crate) fn load(&self) -> Vec<Session> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut sessions: Vec<_> = entries
            .filter_map(|entry| fs::read(entry.path().join(RECORD)).ok())
            .filter_map(|bytes| serde_json::from_slice::<Record>(&bytes).ok())
            .map(Record::session)
            .collect();
        sessions.sort_by_key(|session| session.id);
        sessions
    }

    /// The largest id ever used, as far as folders tell.
    pub(crate) fn last_id(&self) -> u64 {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .max()
            .unwrap_or(0)
    }
}

impl Record {
    fn of(session: &Session) -> Self {
        let seed = &session.seed;
        let (ended, exit_code) = match session.state {
            State::Ended { code } => (true, code),
            State::Working | State::NeedsYou | State::YourTurn | State::Asleep | State::Unknown => {
                (false, None)
            }
        };
        Self {
            id: session.id.0,
            name: session.name.clone(),
            title: seed.title.clone(),
            profile: seed.profile.clone(),
            color: seed.color.clone(),
            agent: seed.agent.clone(),
            dir: seed.dir.clone(),
            repo: seed.repo.clone(),
            argv: seed.argv.clone(),
            conversation: session.conversation.clone(),
            transcript: session.transcript.clone(),
            steps: seed
                .brake
                .steps()
                .iter()
                .map(|(step, tokens)| ((*step).into(), *tokens))
                .collect(),
            fired: seed.brake.fired(),
            window: seed.window,
            model: seed.model.clone(),
            guarded: seed.guarded,
            handoff_from: seed.handoff_from.clone(),
            inbox: seed.inbox.clone(),
            ended,
            exit_code,
            since: session
                .since
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default()
                .as_secs(),
        }
    }

    /// The session as far as the record knows it: without its program, which the keeper may still hold.
    fn session(self) -> Session {
        let steps = self
            .steps
            .into_iter()
            .map(|(word, tokens)| (word.into(), tokens))
            .collect();
        let since: SystemTime = UNIX_EPOCH + Duration::from_secs(self.since);
        let seed = Seed {
            title: self.title,
            profile: self.profile,
            color: self.color,
            agent: self.agent,
            dir: self.dir,
            repo: self.repo,
            argv: self.argv,
            conversation: self.conversation.clone(),
            brake: Brake::restored(steps, self.fired),
            window: self.window,
            model: self.model,
            guarded: self.guarded,
            handoff_from: self.handoff_from,
            inbox: self.inbox,
        };
        let mut session = Session::new(SessionId(self.id), self.name, seed, since);
        session.conversation = self.conversation;
        session.transcript = self.transcript;
        let state = if self.ended {
            State::Ended {
                code: self.exit_code,
            }
        } else {
            State::Asleep
        };
        session.stand(state, Signal::Process, since);
        session
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_comes_back_as_it_was_saved_but_for_its_program() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path());
        let seed = Seed {
            title: "fix \"ci\" 🙂".into(),
            agent: "claude".into(),
            argv: vec!["claude".into(), "--".into(), "a\nb".into()],
            brake: Brake::restored(vec![(Step::Checkpoint, 10), (Step::Checkpoint, 20)], 1),
            window: Some(7),
            model: Some("opus".into()),
            inbox: Some("abc".into()),
            ..Seed::default()
        };
        let mut session = Session::new(
            SessionId(7),
            "fix-ci".into(),
            seed,
            UNIX_EPOCH + Duration::from_secs(9),
        );
        session.transcript = Some("/t.jsonl".into());
        store.save(&session).unwrap();

        let loaded = store.load().remove(0);
        assert_eq!(loaded.seed, session.seed);
        assert_eq!((loaded.state, loaded.since), (State::Asleep, session.since));
        assert_eq!(
            (loaded.transcript, store.last_id()),
            (session.transcript, 7)
        );

        store.forget(SessionId(7)).unwrap();
        assert!(store.load().is_empty());
    }

    #[test]
    fn a_broken_record_hides_no_other() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path());
        let session = Session::new(SessionId(2), "b".into(), Seed::default(), UNIX_EPOCH);
        store.save(&session).unwrap();
        fs::create_dir_all(home.path().join("sessions/1")).unwrap();
        fs::write(home.path().join("sessions/1").join(RECORD), "{").unwrap();
        let ids: Vec<_> = store.load().iter().map(|session| session.id).collect();
        assert_eq!(ids, [SessionId(2)]);
    }
}
