//! Settles operations whose servers have ended.

use std::collections::BTreeMap;
use std::sync::Weak;

use tokio::time::sleep;

use super::books::Books;
use super::change::Tools;
use super::lock::{BEAT, Watchman};
use super::record::{Change, Lock, Operation, Progress, State};
use crate::apply;
use crate::status::Result;
use crate::store::Revision;

/// The message of an interrupted operation.
const INTERRUPTED: &str = "the server ended before the operation was done; run the request again";

/// After so many looks at locks, operations without a lock are looked for.
const LOOKS: u32 = 12;

/// Settles all operations that have not ended. No server works at one.
pub(super) async fn all(books: &Books, watchman: &mut Watchman) -> Result<()> {
    locks(books, watchman, true).await?;
    for operation in books.open_operations().await? {
        settle(books, &operation.value.name).await?;
    }
    Ok(())
}

/// Looks for locks whose holders have ended, and for operations without a lock, until the service
/// is dropped.
pub(super) async fn watch(tools: Weak<Tools>, mut watchman: Watchman) {
    let mut orphans = Orphans::default();
    let mut looks: u32 = 0;
    loop {
        sleep(BEAT).await;
        let Some(tools) = tools.upgrade() else {
            return;
        };
        looks = looks.wrapping_add(1);
        let looked = locks(&tools.books, &mut watchman, false).await;
        let looked = match looked {
            Ok(()) if looks.is_multiple_of(LOOKS) => orphans.look(&tools.books).await,
            looked => looked,
        };
        if let Err(error) = looked {
            tracing::warn!(%error, "operations that have ended cannot be looked for");
        }
    }
}

/// Settles the operations of locks whose holders have ended.
async fn locks(books: &Books, watchman: &mut Watchman, all: bool) -> Result<()> {
    for left in watchman.look(books, all).await? {
        settle(books, &left.operation).await?;
        left.release(books).await?;
    }
    Ok(())
}

/// Ends an operation that nobody works at any more: it is done if the deployment says so, else it
/// was interrupted. What it applied goes into the record of the deployment.
async fn settle(books: &Books, name: &str) -> Result<()> {
    let key = Operation::key(name);
    let Some(mut operation) = books.get::<Operation>(&key).await? else {
        return Ok(());
    };
    if operation.value.state.is_final() {
        return Ok(());
    }
    let target = operation.value.target();
    let known = books.deployment(&target).await?;
    let end = match known {
        None if operation.value.change == Change::Delete => {
            books.delete_all(&target.manifests(), |_| false).await?;
            Progress::Done
        }
        None => Progress::Interrupted,
        Some(known) if known.value.operation != name => Progress::Interrupted,
        Some(mut known) if known.value.state.is_busy() => {
            let before = &known.value.resources;
            known.value.resources = apply::record(before, &operation.value.steps);
            known.value.state = State::Interrupted;
            known.value.errors = vec![INTERRUPTED.to_owned()];
            books
                .update(&target.key(), &known.value, known.revision)
                .await?;
            Progress::Interrupted
        }
        Some(known) => match known.value.state {
            State::Failed => Progress::Failed,
            State::Interrupted => Progress::Interrupted,
            _ => Progress::Done,
        },
    };
    if end == Progress::Interrupted {
        INTERRUPTED.clone_into(&mut operation.value.message);
    }
    operation.value.end(end);
    books
        .update(&key, &operation.value, operation.revision)
        .await?;
    Ok(())
}

/// Operations that were seen without a lock.
#[derive(Debug, Default)]
struct Orphans(BTreeMap<String, Revision>);

impl Orphans {
    /// Settles those that were seen without a lock before and have not changed since: their servers
    /// ended before they took one.
    async fn look(&mut self, books: &Books) -> Result<()> {
        let mut seen = BTreeMap::new();
        for operation in books.open_operations().await? {
            let name = operation.value.name.clone();
            let lock = books.get::<Lock>(&operation.value.target().lock()).await?;
            if lock.is_some_and(|lock| lock.value.operation == name) {
                continue;
            }
            if self.0.get(&name) == Some(&operation.revision) {
                settle(books, &name).await?;
            } else {
                seen.insert(name, operation.revision);
            }
        }
        self.0 = seen;
        Ok(())
    }
}
