//! Watched files: transcripts by offset, inboxes, handoff notes, profile files. One thread reads, nobody else waits.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use notify::event::ModifyKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::agents::{Dialect, Lines};
use crate::deck::SessionId;
use crate::deck::meter::Fact;

/// Where the system cannot tell us of changes (network mounts, no watches left), files are looked at this often.
const POLL: Duration = Duration::from_secs(2);
const CHUNK: usize = 256 << 10;

/// What the loop wants watched.
enum Order {
    Follow {
        session: SessionId,
        transcript: PathBuf,
        dialect: &'static dyn Dialect,
    },
    Unfollow {
        session: SessionId,
    },
    /// Look again now: something says that there is news.
    Poke {
        session: SessionId,
    },
    File {
        kind: Kind,
        repo: PathBuf,
        path: PathBuf,
    },
    Changed(BTreeSet<PathBuf>),
    /// Folders that may be among these, and all below them, are not watched any more.
    Gone(Vec<PathBuf>),
}

/// What a watched file or folder is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Inbox,
    Profiles,
    /// A folder of notes.
    Notes,
}

/// What was seen.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Rows were added; `afresh`: the file was replaced or cut, these are its rows from the start.
    Facts {
        session: SessionId,
        facts: Vec<Fact>,
        afresh: bool,
    },
    /// None: there is no such file.
    Text {
        kind: Kind,
        repo: PathBuf,
        path: PathBuf,
        text: Option<String>,
    },
}

/// The loop's hold on the thread; it ends with this.
pub(crate) struct Watcher {
    orders: Sender<Order>,
}

impl Watcher {
    /// Starts the thread; `tell` is called on it.
    pub(crate) fn start(tell: impl Fn(Seen) + Send + 'static) -> Self {
        let (orders, received) = mpsc::channel();
        let changes = orders.clone();
        thread::spawn(move || {
            let events =
                notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                    let Ok(event) = event else { return };
                    if event.kind.is_access() {
                        return;
                    }
                    if matches!(
                        event.kind,
                        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
                    ) {
                        drop(changes.send(Order::Gone(event.paths.clone())));
                    }
                    drop(changes.send(Order::Changed(event.paths.into_iter().collect())));
                });
            Watch {
                system: events.ok(),
                ..Watch::new(tell)
            }
            .run(&received);
        });
        Self { orders }
    }

    /// Reads this transcript from its start and then whatever is added to it.
    pub(crate) fn follow(
        &self,
        session: SessionId,
        transcript: PathBuf,
        dialect: &'static dyn Dialect,
    ) {
        self.order(Order::Follow {
            session,
            transcript,
            dialect,
        });
    }

    pub(crate) fn unfollow(&self, session: SessionId) {
        self.order(Order::Unfollow { session });
    }

    /// A hook ran in this session, so its transcript may have grown.
    pub(crate) fn poke(&self, session: SessionId) {
        self.order(Order::Poke { session });
    }

    /// Tells of this file now and whenever it changes. Naming it again is harmless.
    pub(crate) fn file(&self, kind: Kind, repo: &Path, path: &Path) {
        self.order(Order::File {
            kind,
            repo: repo.to_owned(),
            path: path.to_owned(),
        });
    }

    fn order(&self, order: Order) {
        // The thread lives as long as this sender.
        drop(self.orders.send(order));
    }
}

struct Tail {
    path: PathBuf,
    dialect: &'static dyn Dialect,
    offset: u64,
    rows: Lines,
}

struct Watch<T> {
    tell: T,
    system: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
    /// Folders that the system does not watch for us.
    polled: BTreeSet<PathBuf>,
    tails: HashMap<SessionId, Tail>,
    files: BTreeMap<(Kind, PathBuf), Watched>,
}

/// What a file held when it was looked at last.
#[derive(PartialEq, Eq)]
enum Last {
    Never,
    Missing,
    Text(String),
}

struct Watched {
    repo: PathBuf,
    last: Last,
    notes: BTreeMap<PathBuf, String>,
}

impl<T: Fn(Seen)> Watch<T> {
    fn new(tell: T) -> Self {
        Self {
            tell,
            system: None,
            folders: BTreeSet::new(),
            polled: BTreeSet::new(),
            tails: HashMap::new(),
            files: BTreeMap::new(),
        }
    }

    fn run(mut self, orders: &Receiver<Order>) {
        loop {
            let order = if self.polled.is_empty() {
                orders.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                orders.recv_timeout(POLL)
            };
            match order {
                Ok(Order::Changed(mut paths)) => {
                    // A burst of changes is one look.
                    let mut after = Vec::new();
                    for next in orders.try_iter() {
                        match next {
                            Order::Changed(more) => paths.extend(more),
                            Order::Gone(paths) => self.gone(&paths),
                            Order::Follow { .. }
                            | Order::Unfollow { .. }
                            | Order::Poke { .. }
                            | Order::File { .. } => after.push(next),
                        }
                    }
                    self.changed(&paths);
                    for order in after {
                        self.obey(order);
                    }
                }
                Ok(order) => self.obey(order),
                Err(RecvTimeoutError::Timeout) => {
                    let polled = self.polled.clone();
                    self.look_below(|path| polled.iter().any(|folder| path.starts_with(folder)));
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Follow {
                session,
                transcript,
                dialect,
            } => {
                self.watch_above(&transcript);
                let tail = Tail {
                    path: transcript,
                    dialect,
                    offset: 0,
                    rows: Lines::default(),
                };
                self.tails.insert(session, tail);
                self.read(session);
            }
            Order::Unfollow { session } => drop(self.tails.remove(&session)),
            Order::Poke { session } => self.read(session),
            Order::File { kind, repo, path } => {
                self.watch_above(&path);
                let key = (kind, path);
                if !self.files.contains_key(&key) {
                    self.files.insert(
                        key.clone(),
                        Watched {
                            repo,
                            last: Last::Never,
                            notes: BTreeMap::new(),
                        },
                    );
                }
                self.look(&key);
            }
            Order::Changed(paths) => self.changed(&paths),
            Order::Gone(paths) => self.gone(&paths),
        }
    }

    /// A folder that comes back under the same name is another one, to be watched anew.
    fn gone(&mut self, paths: &[PathBuf]) {
        self.folders.retain(|folder| {
            let stays = !paths.iter().any(|path| folder.starts_with(path));
            if !stays {
                self.polled.remove(folder);
                if let Some(system) = &mut self.system {
                    // The system has let go of most of them by itself.
                    drop(system.unwatch(folder));
                }
            }
            stays
        });
    }

    fn changed(&mut self, paths: &BTreeSet<PathBuf>) {
        self.look_below(|path| {
            paths
                .iter()
                .any(|changed| path.starts_with(changed) || changed.starts_with(path))
        });
    }

    /// Looks at everything whose path `concerned` names.
    fn look_below(&mut self, concerned: impl Fn(&Path) -> bool) {
        let tails: Vec<_> = self
            .tails
            .iter()
            .filter(|(_, tail)| concerned(&tail.path))
            .map(|(session, _)| *session)
            .collect();
        for session in tails {
            if let Some(path) = self.tails.get(&session).map(|tail| tail.path.clone()) {
                self.watch_above(&path);
            }
            self.read(session);
        }
        let files: Vec<_> = self
            .files
            .keys()
            .filter(|(_, path)| concerned(path))
            .cloned()
            .collect();
        for key in files {
            self.watch_above(&key.1);
            self.look(&key);
        }
    }

    /// Watches the folder of this file, or the nearest one above that exists, so that we learn of its making.
    fn watch_above(&mut self, path: &Path) {
        let nearest = || {
            let own = path.is_dir().then_some(path);
            own.or_else(|| path.ancestors().skip(1).find(|folder| folder.is_dir()))
        };
        let mut watched = None;
        // A nearer one may have been made before the watch was set, which then tells nothing of it.
        while let Some(folder) = nearest().filter(|folder| watched != Some(*folder)) {
            self.watch(folder);
            watched = Some(folder);
        }
    }

    fn watch(&mut self, folder: &Path) {
        if self.folders.contains(folder) {
            return;
        }
        let watched = self
            .system
            .as_mut()
            .is_some_and(|system| system.watch(folder, RecursiveMode::NonRecursive).is_ok());
        if !watched {
            self.polled.insert(folder.to_owned());
        }
        self.folders.insert(folder.to_owned());
    }

    fn read(&mut self, session: SessionId) {
        let Some(tail) = self.tails.get_mut(&session) else {
            return;
        };
        // A transcript that is not there yet is no fault: the client makes it at the first prompt.
        let Ok((facts, afresh)) = tail.news() else {
            return;
        };
        if afresh || !facts.is_empty() {
            (self.tell)(Seen::Facts {
                session,
                facts,
                afresh,
            });
        }
    }

    fn look(&mut self, key: &(Kind, PathBuf)) {
        let Some(watched) = self.files.get_mut(key) else {
            return;
        };
        let (kind, path) = key;
        match kind {
            Kind::Inbox | Kind::Profiles => {
                let text = fs::read(path)
                    .ok()
                    .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                let now = text.clone().map_or(Last::Missing, Last::Text);
                if watched.last != now {
                    watched.last = now;
                    (self.tell)(Seen::Text {
                        kind: *kind,
                        repo: watched.repo.clone(),
                        path: path.clone(),
                        text,
                    });
                }
            }
            Kind::Notes => watched.look_at_notes(path, &self.tell),
        }
    }
}

impl Watched {
    /// Tells of notes that are new or changed since the first look, which takes in what is there.
    fn look_at_notes(&mut self, folder: &Path, tell: &impl Fn(Seen)) {
        let first = self.last == Last::Never;
        self.last = Last::Missing;
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for path in entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "md"))
        {
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            if self.notes.get(&path) == Some(&text) {
                continue;
            }
            self.notes.insert(path.clone(), text.clone());
            if !first {
                tell(Seen::Text {
                    kind: Kind::Notes,
                    repo: self.repo.clone(),
                    path,
                    text: Some(text),
                });
            }
        }
    }
}

impl Tail {
    /// The facts of all whole rows since the last look, in one piece, so that nothing is decided by the middle of a
    /// long file. `true`: the file was replaced or cut, these are its rows from the start.
    fn news(&mut self) -> io::Result<(Vec<Fact>, bool)> {
        let mut file = File::open(&self.path)?;
        let afresh = file.metadata()?.len() < self.offset;
        if afresh {
            self.offset = 0;
            self.rows = Lines::default();
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut chunk = vec![0; CHUNK];
        let mut facts = Vec::new();
        loop {
            let read = file.read(&mut chunk)?;
            if read == 0 {
                return Ok((facts, afresh));
            }
            self.offset += read as u64;
            let dialect = self.dialect;
            self.rows
                .feed(&chunk[..read], |row| facts.extend(dialect.facts(row)));
        }
    }
}
