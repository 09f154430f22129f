//! Locks: one operation at a time changes a deployment, even with several servers.

use std::time::Duration;

use super::record::Target;
use super::repository::{Repository, refused};
use krm_template_server_core::lease::{Lease, Record, Timing};
use krm_template_server_core::status::{Details, Result, Status};

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
    use super::*;

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
