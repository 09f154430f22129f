//! Locks: one operation at a time changes a deployment, even with several servers. Operations whose
//! servers have stopped are ended.

use std::collections::BTreeMap;
use std::sync::Weak;
use std::time::Duration;

use tokio::time::sleep;

use super::change::ChangeContext;
use super::record::{ChangeKind, Deployment, LOCKS, Operation, Progress, State, Target};
use super::repository::{Repository, Stored, refused};
use krm_template_server_core::lease::{Lease, Record, Timing, Watcher};
use krm_template_server_core::{Details, Result, Revision, Status};

/// The message of an interrupted operation.
const INTERRUPTED: &str = "the server stopped before the operation was done; run the request again";

/// The error of a deployment whose change a running server could not complete.
const UNFINISHED: &str = "the server could not complete the operation; run the request again";

/// The number of checks of the locks for each search for operations without a lock.
const CHECKS: u32 = 12;

/// Ends all open operations. No server may be running one.
pub(super) async fn all(records: &Repository, watcher: &mut Watcher) -> Result<()> {
    locks(records, watcher, Duration::ZERO).await?;
    for operation in records.open_operations().await? {
        settle(records, &operation.value.name).await?;
    }
    Ok(())
}

/// Ends operations whose lock is stale or missing, until the service is dropped.
pub(super) async fn watch(tools: Weak<ChangeContext>, mut watcher: Watcher) {
    let mut orphans = Orphans::default();
    let mut checks: u32 = 0;
    loop {
        sleep(TIMING.beat).await;
        let Some(tools) = tools.upgrade() else {
            return;
        };
        checks = checks.wrapping_add(1);
        let checked = locks(&tools.records, &mut watcher, TIMING.stale).await;
        let checked = match checked {
            Ok(()) if checks.is_multiple_of(CHECKS) => orphans.end(&tools.records).await,
            checked => checked,
        };
        if let Err(error) = checked {
            tracing::warn!(%error, "cannot check for interrupted operations");
        }
    }
}

/// Ends the operations of locks that have not changed for the time `stale`, and releases the locks.
async fn locks(records: &Repository, watcher: &mut Watcher, stale: Duration) -> Result<()> {
    let taken = watcher.take_over(records.store(), LOCKS, stale).await;
    for lock in taken.map_err(|error| refused(&error))? {
        settle(records, &lock.holder).await?;
        records.forget_manifests(&Target::of_lock(&lock.key)).await?;
        lock.release(records.store()).await.map_err(|error| refused(&error))?;
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
    let known = records.deployment(&operation.value.target()).await?;
    let end = match known {
        None if operation.value.change == ChangeKind::Delete => Progress::Done,
        None => Progress::Interrupted,
        Some(known) if known.value.operation != name => Progress::Interrupted,
        Some(known) => match known.value.state {
            State::Applying | State::Deleting => {
                interrupt(records, known, &operation.value, INTERRUPTED).await?;
                Progress::Interrupted
            }
            State::Failed => Progress::Failed,
            State::Interrupted => Progress::Interrupted,
            _ => Progress::Done,
        },
    };
    if end == Progress::Interrupted {
        INTERRUPTED.clone_into(&mut operation.value.message);
    }
    operation.value.end(end);
    records.update(&key, &operation.value, operation.revision).await?;
    Ok(())
}

/// Ends the change of an operation that failed on this server before it wrote its outcome.
pub(super) async fn conclude(records: &Repository, operation: &Operation) -> Result<()> {
    match records.deployment(&operation.target()).await? {
        Some(known) if known.value.operation == operation.name && known.value.state.is_busy() => {
            interrupt(records, known, operation, UNFINISHED).await
        }
        _ => Ok(()),
    }
}

/// Writes that the operation of a deployment was interrupted, and the objects that it changed.
async fn interrupt(
    records: &Repository,
    mut known: Stored<Deployment>,
    operation: &Operation,
    why: &str,
) -> Result<()> {
    let deployment = &mut known.value;
    deployment.resources = krm_template_cluster::record(&deployment.resources, &operation.steps);
    deployment.state = State::Interrupted;
    deployment.errors = vec![why.to_owned()];
    let key = operation.target().key();
    records.update(&key, deployment, known.revision).await?;
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
            if holder(records, &operation.value.target()).await?.as_ref() == Some(&name) {
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

/// The intervals of the heartbeats. All locks are checked in the first one, too.
pub(super) const TIMING: Timing = Timing {
    beat: Duration::from_secs(5),
    held: Duration::from_secs(15),
    stale: Duration::from_secs(25),
};

/// Acquires the lock of a deployment for an operation.
///
/// # Errors
///
/// 409 if another operation holds it.
pub(super) async fn take(records: &Repository, target: &Target, operation: &str) -> Result<Lease> {
    let acquired = Lease::acquire(records.store(), &target.lock(), operation, TIMING).await;
    if let Some(lease) = acquired.map_err(|error| refused(&error))? {
        return Ok(lease);
    }
    let other = holder(records, target).await?;
    Err(busy(target, other.as_deref().unwrap_or("another one")))
}

/// Returns the operation that holds the lock of a deployment.
pub(super) async fn holder(records: &Repository, target: &Target) -> Result<Option<String>> {
    let lock = records.bytes(&target.lock()).await?;
    Ok(lock.map(|lock| Record::read(&lock).holder))
}

/// Returns a 409: another operation changes the deployment.
fn busy(target: &Target, operation: &str) -> Box<Status> {
    let name = &target.name;
    let message = format!(
        "deployment {name:?} is being changed by the operation {operation:?}; try again when it is \
         done"
    );
    Status::new(409, "Conflict", message).with(Details::of("", "deployments", name))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use krm_template_cluster::{Recorded, Step, What};

    fn object(name: &str) -> Recorded {
        Recorded::new("v1", "ConfigMap", "", name)
    }

    /// Returns a store with a deletion that has deleted one of two objects. Without `state`, it has
    /// also deleted the deployment.
    async fn stopped(state: Option<State>) -> (Repository, Target, Operation) {
        let records = Repository::memory();
        let target = Target { namespace: "shop".to_owned(), name: "web".to_owned() };
        let mut operation = Operation::new(ChangeKind::Delete, &target, "jane");
        operation.state = Progress::Running;
        operation.add(&Step { object: object("b"), what: What::Deleted, message: String::new() });
        let key = Operation::key(&operation.name);
        records.put(&key, &operation, None).await.unwrap();
        drop(take(&records, &target, &operation.name).await.unwrap());
        let names = ["manifest-0001", "manifest-0002"];
        if let Some(state) = state {
            let deployment = Deployment {
                name: target.name.clone(),
                namespace: target.namespace.clone(),
                state,
                created_at: String::new(),
                modified_at: String::new(),
                deployed_at: Some(String::new()),
                latest_manifest: names[1].to_owned(),
                manifests: names.map(str::to_owned).to_vec(),
                operation: operation.name.clone(),
                errors: Vec::new(),
                resources: ["a", "b"].map(object).to_vec(),
            };
            let put = records.put(&target.key(), &deployment, None).await;
            put.unwrap();
        }
        for name in [names[0], names[1], "manifest-0003"] {
            let manifest = Bytes::from_static(b"{}");
            let written = records.write(&target.manifest(name), manifest).await;
            written.unwrap();
        }
        (records, target, operation)
    }

    /// Returns the names of the stored manifests.
    async fn manifests(records: &Repository, target: &Target) -> Vec<String> {
        let prefix = target.manifests();
        let items = records.page(&prefix, None).await.unwrap().items;
        let names = items.iter().filter_map(|item| item.key.strip_prefix(&prefix));
        names.map(str::to_owned).collect()
    }

    async fn state(records: &Repository, operation: &Operation) -> Progress {
        let key = Operation::key(&operation.name);
        let found = records.get::<Operation>(&key).await.unwrap().unwrap();
        found.value.state
    }

    #[tokio::test]
    async fn an_interrupted_deletion_keeps_the_manifests_and_what_remains() {
        let (records, target, operation) = stopped(Some(State::Deleting)).await;
        let mut watcher = Watcher::default();
        all(&records, &mut watcher).await.unwrap();
        let found = records.deployment(&target).await.unwrap().unwrap().value;
        assert_eq!(found.state, State::Interrupted);
        assert_eq!(found.resources, [object("a")]);
        // The third manifest belongs to no complete change.
        let kept = ["manifest-0001", "manifest-0002"];
        assert_eq!(manifests(&records, &target).await, kept);
        assert_eq!(state(&records, &operation).await, Progress::Interrupted);
        assert_eq!(holder(&records, &target).await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_deletion_that_stopped_at_its_end_is_completed() {
        let (records, target, operation) = stopped(None).await;
        let mut watcher = Watcher::default();
        all(&records, &mut watcher).await.unwrap();
        assert_eq!(manifests(&records, &target).await, [""; 0]);
        assert_eq!(state(&records, &operation).await, Progress::Done);
    }

    #[tokio::test]
    async fn a_change_whose_outcome_cannot_be_written_keeps_what_remains() {
        let (records, target, operation) = stopped(Some(State::Deleting)).await;
        conclude(&records, &operation).await.unwrap();
        let found = records.deployment(&target).await.unwrap().unwrap();
        assert_eq!(found.value.state, State::Interrupted);
        assert_eq!(found.value.resources, [object("a")]);
        assert_eq!(found.value.errors, [UNFINISHED]);
        // An outcome that is written stays.
        let (records, target, operation) = stopped(Some(State::Applied)).await;
        let before = records.deployment(&target).await.unwrap();
        conclude(&records, &operation).await.unwrap();
        assert_eq!(records.deployment(&target).await.unwrap(), before);
    }

    #[tokio::test]
    async fn one_operation_has_the_lock_until_it_gives_it_back() {
        let records = Repository::memory();
        let web = Target { namespace: "default".to_owned(), name: "web".to_owned() };
        let lock = take(&records, &web, "one").await.unwrap();
        let error = take(&records, &web, "two").await.map(drop).unwrap_err();
        assert_eq!(error.code, 409);
        assert!(error.message.contains("\"one\""), "{}", error.message);
        lock.release().await;
        assert!(take(&records, &web, "two").await.is_ok());
    }
}
