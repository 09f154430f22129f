//! A store in one file.
//!
//! All items are also in memory, where reads find them; the file makes changes durable. One thread
//! writes: it takes all queued writes, evaluates them in order, commits them together and then
//! answers them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use tokio::sync::{mpsc, oneshot};

use super::disk::{Contents, Disk};
use super::feed::{Feed, KeyChange};
use super::memory::Memory;
use super::objects::{Entry, Objects, Write};
use super::types::{Error, Revision};

/// The maximum number of writes in one commit, and in the queue.
const MAX_BATCH: usize = 256;

/// A store in a file. Clones share the items.
#[derive(Clone, Debug)]
pub(super) struct FileStore {
    memory: Memory,
    requests: mpsc::Sender<Request>,
}

#[derive(Debug)]
enum Request {
    Write(Write, oneshot::Sender<Result<Revision, Error>>),
    Close(oneshot::Sender<()>),
}

impl FileStore {
    /// Opens or creates a file.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let disk = Disk::open(path)?;
        let Contents {
            entries,
            revision,
            changes,
        } = disk.contents()?;
        let start = changes
            .first()
            .map_or(revision, |change| change.item().revision - 1);
        let feed = Arc::new(Feed::new(start));
        feed.push(changes, revision);
        let memory = Memory::with(Objects::new(entries, revision, feed));
        let (requests, waiting) = mpsc::channel(MAX_BATCH);
        let writer = Writer {
            path: path.to_owned(),
            disk: Some(disk),
            memory: memory.clone(),
            unsure: Vec::new(),
        };
        thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer.run(waiting))
            .map_err(|error| Error::Unavailable(format!("cannot start a thread: {error}")))?;
        Ok(Self { memory, requests })
    }

    /// Returns the items, for reading.
    pub(super) const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Executes one write. It is durable when this returns.
    pub(super) async fn write(&self, write: Write) -> Result<Revision, Error> {
        let (answer, answered) = oneshot::channel();
        self.requests
            .send(Request::Write(write, answer))
            .await
            .map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    /// Checks that the store is open.
    pub(super) fn ready(&self) -> Result<(), Error> {
        if self.requests.is_closed() {
            Err(closed())
        } else {
            Ok(())
        }
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

/// The state of the writer thread.
#[derive(Debug)]
struct Writer {
    path: PathBuf,
    /// `None` after an error, until the file is reopened.
    disk: Option<Disk>,
    memory: Memory,
    /// The changes of a failed commit, which may or may not be in the file.
    unsure: Vec<KeyChange>,
}

type Answers = Vec<(
    oneshot::Sender<Result<Revision, Error>>,
    Result<Revision, Error>,
)>;

impl Writer {
    fn run(mut self, mut waiting: mpsc::Receiver<Request>) {
        while let Some(first) = waiting.blocking_recv() {
            let mut next = Some(first);
            let mut writes = Vec::new();
            let mut close = None;
            while let Some(request) = next {
                match request {
                    Request::Write(write, answer) => writes.push((write, answer)),
                    Request::Close(answer) => close = Some(answer),
                }
                let is_full = close.is_some() || writes.len() >= MAX_BATCH;
                next = if is_full {
                    None
                } else {
                    waiting.try_recv().ok()
                };
            }
            self.write(writes);
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
    fn write(&mut self, writes: Vec<(Write, oneshot::Sender<Result<Revision, Error>>)>) {
        let opened = self.reopen();
        let (changes, answers) = self.decide(writes);
        let written = opened.and_then(|()| self.append(changes));
        for (sender, answer) in answers {
            // The caller may have gone.
            let _gone = sender.send(written.clone().and(answer));
        }
    }

    /// Reopens the file after an error, and determines the outcome of the last commit.
    fn reopen(&mut self) -> Result<(), Error> {
        if self.disk.is_some() {
            return Ok(());
        }
        let disk = Disk::open(&self.path)?;
        let (durable, shown) = (disk.revision()?, self.memory.read().revision());
        let unsure = self.unsure.last().map(|change| change.item().revision);
        if Some(durable) == unsure {
            self.memory.change().apply(std::mem::take(&mut self.unsure));
        } else if durable != shown {
            let path = self.path.display();
            let why = format!("{path}: another process has written to the file");
            return Err(Error::Unavailable(why));
        }
        self.unsure.clear();
        self.disk = Some(disk);
        Ok(())
    }

    /// Evaluates writes in order. Each write sees the changes of the previous ones.
    fn decide(
        &self,
        writes: Vec<(Write, oneshot::Sender<Result<Revision, Error>>)>,
    ) -> (Vec<KeyChange>, Answers) {
        let objects = self.memory.read();
        let mut overlay: BTreeMap<String, Option<Entry>> = BTreeMap::new();
        let mut changes = Vec::new();
        let mut answers = Answers::new();
        let mut revision = objects.revision();
        for (write, sender) in writes {
            let key = write.key();
            let now = overlay
                .get(key)
                .map_or_else(|| objects.entry(key), Option::as_ref);
            let answer = write.change(now, revision + 1).map(|change| {
                revision += 1;
                let entry = match &change {
                    KeyChange::Put(item, _) => Some(Entry {
                        value: item.value.clone(),
                        revision,
                    }),
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
        let Some(disk) = self.disk.as_mut().filter(|_| !changes.is_empty()) else {
            return Ok(());
        };
        if let Err(error) = disk.append(&changes) {
            self.disk = None;
            self.unsure = changes;
            return Err(error);
        }
        self.memory.change().apply(changes);
        Ok(())
    }
}
