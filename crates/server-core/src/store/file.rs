//! A store in one file.
//!
//! All items are also in memory, where reads find them; the file makes changes durable. One thread
//! writes: it takes all queued writes, evaluates them in order, commits them together and then
//! answers them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::{mpsc, oneshot};

use super::contents::Contents;
use super::disk::{Check, Disk, Identity, unavailable};
use super::feed::{Feed, KeyChange};
use super::memory::Memory;
use super::objects::{Entry, Objects, Write};
use super::types::{Error, Revision};

/// The maximum number of writes in one commit, and in the queue.
const MAX_BATCH: usize = 256;

/// The free space below which a file system counts as full, in bytes.
const MIN_FREE_BYTES: u64 = 1 << 20;

/// A store in a file. Clones share the items.
#[derive(Clone, Debug)]
pub(super) struct FileStore {
    memory: Memory,
    requests: mpsc::Sender<Request>,
    health: Arc<Health>,
}

type Answer<T> = oneshot::Sender<Result<T, Error>>;

#[derive(Debug)]
enum Request {
    Write(Write, Answer<Revision>),
    /// Makes a revision the last one; the current one checks that the file can be written.
    Advance(Option<Revision>, Answer<()>),
    Close(oneshot::Sender<()>),
}

impl FileStore {
    /// Opens or creates a file.
    pub(super) fn open(path: &Path, check: Check) -> Result<Self, Error> {
        let (disk, contents) = Disk::open(path, check)?;
        for key in contents.damaged() {
            tracing::error!(key, "the value of an object is damaged");
        }
        let Contents { entries, revision, changes, .. } = contents;
        let start = changes.first().map_or(revision, |change| change.item().revision - 1);
        let feed = Arc::new(Feed::new(start));
        feed.push(changes, revision);
        let memory = Memory::with(Objects::new(entries, revision, feed));
        let (requests, waiting) = mpsc::channel(MAX_BATCH);
        let health = Arc::new(Health {
            path: path.to_owned(),
            identity: disk.identity(),
            trouble: Mutex::new(None),
        });
        let writer = Writer {
            health: Arc::clone(&health),
            disk: Some(disk),
            memory: memory.clone(),
            unsure: Vec::new(),
        };
        thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer.run(waiting))
            .map_err(|error| Error::Unavailable(format!("cannot start a thread: {error}")))?;
        Ok(Self { memory, requests, health })
    }

    /// Returns the items, for reading.
    pub(super) const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Executes one write. It is durable when this returns.
    pub(super) async fn write(&self, write: Write) -> Result<Revision, Error> {
        self.ask(|answer| Request::Write(write, answer)).await
    }

    /// Makes a revision the last one, without a change.
    pub(super) async fn advance(&self, revision: Revision) -> Result<(), Error> {
        self.ask(|answer| Request::Advance(Some(revision), answer)).await
    }

    /// Checks that the store is open, and that its file is in its place and can be written.
    pub(super) async fn ready(&self) -> Result<(), Error> {
        if self.requests.is_closed() {
            return Err(closed());
        }
        self.health.is_in_place()?;
        self.health.has_space()?;
        if self.health.trouble().is_none() {
            return Ok(());
        }
        // Without requests, nothing else shows that the trouble is over.
        self.ask(|answer| Request::Advance(None, answer)).await
    }

    async fn ask<T>(&self, request: impl FnOnce(Answer<T>) -> Request) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        let sent = self.requests.send(request(answer)).await;
        sent.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    /// Finishes the queued writes and closes the file, so another process can open it.
    pub(super) async fn close(&self) {
        let (answer, answered) = oneshot::channel();
        if self.requests.send(Request::Close(answer)).await.is_ok() {
            // An error means that the thread has ended, so the file is closed.
            let _ended = answered.await;
        }
    }
}

fn closed() -> Error {
    Error::Unavailable("the store is closed".to_owned())
}

/// The state of the file for a health check.
#[derive(Debug)]
struct Health {
    path: PathBuf,
    identity: Identity,
    /// The error of the last commit.
    trouble: Mutex<Option<Error>>,
}

impl Health {
    fn trouble(&self) -> MutexGuard<'_, Option<Error>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_in_place(&self) -> Result<(), Error> {
        self.identity.check(&self.path)
    }

    fn has_space(&self) -> Result<(), Error> {
        let file_system = rustix::fs::statvfs(&self.path);
        let file_system = file_system.map_err(|error| unavailable(&self.path, &error))?;
        let free = file_system.f_bavail.saturating_mul(file_system.f_frsize);
        if free >= MIN_FREE_BYTES {
            return Ok(());
        }
        let why = format!("no space left: its file system has {free} bytes");
        Err(unavailable(&self.path, &why))
    }
}

/// The state of the writer thread.
#[derive(Debug)]
struct Writer {
    health: Arc<Health>,
    /// `None` after an error, until the file is reopened.
    disk: Option<Disk>,
    memory: Memory,
    /// The changes of a failed commit, which may or may not be in the file.
    unsure: Vec<KeyChange>,
}

type Answers = Vec<(Answer<Revision>, Result<Revision, Error>)>;

impl Writer {
    fn run(mut self, mut waiting: mpsc::Receiver<Request>) {
        while let Some(first) = waiting.blocking_recv() {
            let mut next = Some(first);
            let mut writes = Vec::new();
            let (mut advance, mut close) = (None, None);
            while let Some(request) = next {
                match request {
                    Request::Write(write, answer) => writes.push((write, answer)),
                    Request::Advance(revision, answer) => advance = Some((revision, answer)),
                    Request::Close(answer) => close = Some(answer),
                }
                let is_full = advance.is_some() || close.is_some() || writes.len() >= MAX_BATCH;
                next = if is_full { None } else { waiting.try_recv().ok() };
            }
            self.write(writes);
            if let Some((revision, answer)) = advance {
                // The caller may have gone.
                let _gone = answer.send(self.advance(revision));
            }
            if let Some(answer) = close {
                waiting.close();
                drop(self);
                // The caller may have gone.
                let _gone = answer.send(());
                return;
            }
        }
    }

    /// Evaluates writes, commits them, publishes them to readers, and answers them.
    fn write(&mut self, writes: Vec<(Write, Answer<Revision>)>) {
        let opened = self.reopen();
        let (changes, answers) = self.decide(writes);
        let written = opened.and_then(|()| self.append(changes));
        if !answers.is_empty() {
            *self.health.trouble() = written.clone().err();
        }
        for (sender, answer) in answers {
            // The caller may have gone.
            let _gone = sender.send(written.clone().and(answer));
        }
    }

    /// Commits a revision without a change: a given one, or the last one again.
    fn advance(&mut self, revision: Option<Revision>) -> Result<(), Error> {
        let done = self.reopen().and_then(|()| {
            let last = self.memory.read().revision();
            let next = revision.map_or(last, |revision| revision.max(last));
            if let Some(Err(error)) = self.disk.as_ref().map(|disk| disk.advance(next)) {
                self.disk = None;
                return Err(error);
            }
            if next > last {
                self.memory.change().advance(next);
            }
            Ok(())
        });
        *self.health.trouble() = done.clone().err();
        done
    }

    /// Checks that the file is in its place. Reopens it after an error, and determines the outcome
    /// of the last commit.
    fn reopen(&mut self) -> Result<(), Error> {
        self.health.is_in_place()?;
        if self.disk.is_some() {
            return Ok(());
        }
        let disk = Disk::reopen(&self.health.path)?;
        let (durable, shown) = (disk.revision()?, self.memory.read().revision());
        let unsure = self.unsure.last().map(|change| change.item().revision);
        if Some(durable) == unsure {
            self.memory.change().apply(std::mem::take(&mut self.unsure));
        } else if durable != shown {
            let why = "another process has written to the file";
            return Err(unavailable(&self.health.path, &why));
        }
        self.unsure.clear();
        self.disk = Some(disk);
        Ok(())
    }

    /// Evaluates writes in order. Each write sees the changes of the previous ones.
    fn decide(&self, writes: Vec<(Write, Answer<Revision>)>) -> (Vec<KeyChange>, Answers) {
        let objects = self.memory.read();
        let mut overlay: BTreeMap<String, Option<Entry>> = BTreeMap::new();
        let mut changes = Vec::new();
        let mut answers = Answers::new();
        let mut revision = objects.revision();
        for (write, sender) in writes {
            let key = write.key();
            let now = overlay.get(key).map_or_else(|| objects.entry(key), Option::as_ref);
            let answer = write.change(now, revision + 1).map(|change| {
                revision += 1;
                let entry = match &change {
                    KeyChange::Put(item, _) => Some(Entry::whole(item.value.clone(), revision)),
                    KeyChange::Delete(_) => None,
                };
                overlay.insert(change.item().key.clone(), entry);
                changes.push(change);
                revision
            });
            answers.push((sender, answer));
        }
        (changes, answers)
    }

    /// Commits changes, then publishes them to readers.
    fn append(&mut self, changes: Vec<KeyChange>) -> Result<(), Error> {
        let Some(disk) = self.disk.as_ref().filter(|_| !changes.is_empty()) else {
            return Ok(());
        };
        let forgotten = self.memory.read().feed().start();
        if let Err(error) = disk.append(&changes, forgotten) {
            self.disk = None;
            self.unsure = changes;
            return Err(error);
        }
        self.memory.change().apply(changes);
        Ok(())
    }
}
