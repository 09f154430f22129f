//! Ends operations whose servers have stopped.

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
const INTERRUPTED: &str = "the server stopped before the operation was done; run the request again";

/// The number of checks of the locks for each search for operations without a lock.
const LOOKS: u32 = 12;

/// Ends all open operations. No server may be running one.
pub(super) async fn all(books: &Books, watchman: &mut Watchman) -> Result<()> {
    locks(books, watchman, true).await?;
    for operation in books.open_operations().await? {
        settle(books, &operation.value.name).await?;
    }
    Ok(())
}

/// Ends operations whose lock is stale or missing, until the service is dropped.
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

/// Ends the operations of stale locks, and releases the locks.
async fn locks(books: &Books, watchman: &mut Watchman, all: bool) -> Result<()> {
    for left in watchman.look(books, all).await? {
        settle(books, &left.operation).await?;
        left.release(books).await?;
    }
    Ok(())
}

/// Ends an operation that no server runs any more. The record of the deployment decides its final
/// state, and receives the objects that it applied.
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

/// Operations without a lock at the last search.
#[derive(Debug, Default)]
struct Orphans(BTreeMap<String, Revision>);

impl Orphans {
    /// Ends the operations that had no lock at the last search either, and have not changed since.
    /// Their servers stopped before they acquired one.
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
