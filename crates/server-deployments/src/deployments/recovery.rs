//! Ends operations whose servers have stopped.

use std::collections::BTreeMap;
use std::sync::Weak;

use tokio::time::sleep;

use super::change::Tools;
use super::lock::{BEAT, LockWatcher};
use super::record::{ChangeKind, Lock, Operation, Progress, State};
use super::repository::Repository;
use crate::apply;
use krm_template_server_core::status::Result;
use krm_template_server_core::store::Revision;

/// The message of an interrupted operation.
const INTERRUPTED: &str = "the server stopped before the operation was done; run the request again";

/// The number of checks of the locks for each search for operations without a lock.
const CHECKS: u32 = 12;

/// Ends all open operations. No server may be running one.
pub(super) async fn all(records: &Repository, watcher: &mut LockWatcher) -> Result<()> {
    locks(records, watcher, true).await?;
    for operation in records.open_operations().await? {
        settle(records, &operation.value.name).await?;
    }
    Ok(())
}

/// Ends operations whose lock is stale or missing, until the service is dropped.
pub(super) async fn watch(tools: Weak<Tools>, mut watcher: LockWatcher) {
    let mut orphans = Orphans::default();
    let mut checks: u32 = 0;
    loop {
        sleep(BEAT).await;
        let Some(tools) = tools.upgrade() else {
            return;
        };
        checks = checks.wrapping_add(1);
        let checked = locks(&tools.records, &mut watcher, false).await;
        let checked = match checked {
            Ok(()) if checks.is_multiple_of(CHECKS) => orphans.end(&tools.records).await,
            checked => checked,
        };
        if let Err(error) = checked {
            tracing::warn!(%error, "cannot check for interrupted operations");
        }
    }
}

/// Ends the operations of stale locks, and releases the locks.
async fn locks(records: &Repository, watcher: &mut LockWatcher, all: bool) -> Result<()> {
    for stale in watcher.take_over(records, all).await? {
        settle(records, &stale.operation).await?;
        stale.release(records).await?;
    }
    Ok(())
}

/// Ends an operation that no server runs any more. The record of the deployment decides its final
/// state, and receives the objects that it applied.
async fn settle(records: &Repository, name: &str) -> Result<()> {
    let key = Operation::key(name);
    let Some(mut operation) = records.get::<Operation>(&key).await? else {
        return Ok(());
    };
    if operation.value.state.is_final() {
        return Ok(());
    }
    let target = operation.value.target();
    let known = records.deployment(&target).await?;
    let end = match known {
        None if operation.value.change == ChangeKind::Delete => {
            records.delete_all(&target.manifests(), |_| false).await?;
            Progress::Done
        }
        None => Progress::Interrupted,
        Some(known) if known.value.operation != name => Progress::Interrupted,
        Some(mut known) if known.value.state.is_busy() => {
            let before = &known.value.resources;
            known.value.resources = apply::record(before, &operation.value.steps);
            known.value.state = State::Interrupted;
            known.value.errors = vec![INTERRUPTED.to_owned()];
            records
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
    records
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
    async fn end(&mut self, records: &Repository) -> Result<()> {
        let mut seen = BTreeMap::new();
        for operation in records.open_operations().await? {
            let name = operation.value.name.clone();
            let lock = records
                .get::<Lock>(&operation.value.target().lock())
                .await?;
            if lock.is_some_and(|lock| lock.value.operation == name) {
                continue;
            }
            if self.0.get(&name) == Some(&operation.revision) {
                settle(records, &name).await?;
            } else {
                seen.insert(name, operation.revision);
            }
        }
        self.0 = seen;
        Ok(())
    }
}
