//! Reads and writes the records of deployments.

use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::record::{DEPLOYMENTS, Deployment, OPERATIONS, Operation, Progress, Target};
use krm_template_server_core::store::{Error, Page};
use krm_template_server_core::{Details, Item, Measured, Result, Revision, Status};

/// The number of items of a page.
const PAGE: usize = 100;

/// The maximum number of stored operations. Running ones are never deleted.
const MAX_OPERATIONS: u64 = 1_000;

/// The records in the store.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    store: Arc<Measured>,
    /// The maximum size of an item in bytes.
    limit: usize,
}

/// A stored value and its revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored<T> {
    pub(super) value: T,
    pub(super) revision: Revision,
}

impl Repository {
    pub(super) const fn new(store: Arc<Measured>, limit: usize) -> Self {
        Self { store, limit }
    }

    pub(super) const fn store(&self) -> &Arc<Measured> {
        &self.store
    }

    /// Reads the record with a key.
    pub(super) async fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<Stored<T>>> {
        let item = self.store.get(key).await.map_err(|error| refused(&error))?;
        item.map(|item| decoded(&item)).transpose()
    }

    /// Creates an item. Returns `None` if it already exists.
    pub(super) async fn create<T: Serialize + Sync>(
        &self,
        key: &str,
        value: &T,
    ) -> Result<Option<Revision>> {
        match self.store.create(key, self.encoded(value)?).await {
            Ok(revision) => Ok(Some(revision)),
            Err(Error::Exists) => Ok(None),
            Err(error) => Err(refused(&error)),
        }
    }

    /// Replaces an item, if it still has this revision.
    pub(super) async fn update<T: Serialize + Sync>(
        &self,
        key: &str,
        value: &T,
        revision: Revision,
    ) -> Result<Revision> {
        let value = self.encoded(value)?;
        let written = self.store.update(key, value, revision).await;
        written.map_err(|error| refused(&error))
    }

    /// Creates an item, or replaces the known revision.
    pub(super) async fn put<T: Serialize + Sync>(
        &self,
        key: &str,
        value: &T,
        known: Option<Revision>,
    ) -> Result<Revision> {
        match known {
            Some(revision) => self.update(key, value, revision).await,
            None => self.create(key, value).await?.ok_or_else(changed),
        }
    }

    /// Creates or replaces an item with the given bytes.
    pub(super) async fn write(&self, key: &str, value: Bytes) -> Result<()> {
        self.check(value.len(), key)?;
        let written = match self.store.create(key, value.clone()).await {
            Err(Error::Exists) => {
                let item = self.store.get(key).await.map_err(|error| refused(&error))?;
                let item = item.ok_or_else(changed)?;
                self.store.update(key, value, item.revision).await
            }
            written => written,
        };
        written.map(drop).map_err(|error| refused(&error))
    }

    /// Deletes an item, if it still has this revision. A missing item is not an error.
    pub(super) async fn delete(&self, key: &str, revision: Revision) -> Result<()> {
        match self.store.delete(key, revision).await {
            Ok(_) | Err(Error::Missing) => Ok(()),
            Err(error) => Err(refused(&error)),
        }
    }

    /// Deletes items that are damaged.
    pub(super) async fn delete_damaged(&self, keys: &[String]) -> Result<()> {
        for key in keys {
            if let Err(Error::Damaged { revision, .. }) = self.store.get(key).await {
                self.delete(key, revision).await?;
            }
        }
        Ok(())
    }

    /// Reads the bytes of an item.
    pub(super) async fn bytes(&self, key: &str) -> Result<Option<Bytes>> {
        let item = self.store.get(key).await.map_err(|error| refused(&error))?;
        Ok(item.map(|item| item.value))
    }

    /// Deletes the manifests that the record of the deployment does not list. The caller holds the
    /// lock: an operation writes its manifest first.
    pub(super) async fn forget_manifests(&self, target: &Target) -> Result<()> {
        let known = self.deployment(target).await?;
        let kept = known.map_or_else(Vec::new, |known| known.value.manifests);
        let kept: Vec<String> = kept.iter().map(|name| target.manifest(name)).collect();
        let mut all = self.all(&target.manifests()).await?;
        for item in all.items.iter().filter(|item| !kept.contains(&item.key)) {
            self.delete(&item.key, item.revision).await?;
        }
        all.damaged.retain(|key| !kept.contains(key));
        self.delete_damaged(&all.damaged).await
    }

    /// Reads all items with a prefix.
    async fn all(&self, prefix: &str) -> Result<Page> {
        self.store.list(prefix, None, 0, None).await.map_err(|error| refused(&error))
    }

    /// Reads a page of items with a prefix, after the key `after`.
    pub(super) async fn page(&self, prefix: &str, after: Option<&str>) -> Result<Page> {
        let page = self.store.list(prefix, after, PAGE, None).await;
        page.map_err(|error| refused(&error))
    }

    /// Returns the deployments of a namespace; damaged ones only with their names.
    pub(super) async fn deployments(&self, namespace: &str) -> Result<Vec<Deployment>> {
        let prefix = format!("{DEPLOYMENTS}{namespace}/");
        let all = self.all(&prefix).await?;
        let deployments = all.items.iter().map(|item| Ok(decoded::<Deployment>(item)?.value));
        let mut deployments = deployments.collect::<Result<Vec<_>>>()?;
        deployments.extend(all.damaged.iter().filter_map(|key| Deployment::damaged(key)));
        Ok(deployments)
    }

    pub(super) async fn deployment(&self, target: &Target) -> Result<Option<Stored<Deployment>>> {
        self.get(&target.key()).await
    }

    /// Returns a deployment to abandon, which may be damaged.
    pub(super) async fn abandoned(&self, target: &Target) -> Result<Option<Stored<Deployment>>> {
        match self.store.get(&target.key()).await {
            Err(Error::Damaged { key, revision }) => {
                Ok(Deployment::damaged(&key).map(|value| Stored { value, revision }))
            }
            item => {
                let item = item.map_err(|error| refused(&error))?;
                item.map(|item| decoded(&item)).transpose()
            }
        }
    }

    /// Deletes the oldest operations, if there are too many.
    pub(super) async fn forget_operations(&self) -> Result<()> {
        let first = self.page(OPERATIONS, None).await?;
        self.delete_damaged(&first.damaged).await?;
        let count = first.remaining.saturating_add(first.items.len() as u64);
        let surplus = usize::try_from(count.saturating_sub(MAX_OPERATIONS)).unwrap_or(usize::MAX);
        for item in first.items.iter().take(surplus) {
            let operation = decoded::<Operation>(item)?;
            if operation.value.state.is_final() {
                self.delete(&item.key, item.revision).await?;
            }
        }
        Ok(())
    }

    /// Returns the operations that have not ended.
    pub(super) async fn open_operations(&self) -> Result<Vec<Stored<Operation>>> {
        let (mut open, mut after) = (Vec::new(), None);
        loop {
            let page = self.page(OPERATIONS, after.as_deref()).await?;
            for item in &page.items {
                let operation = decoded::<Operation>(item)?;
                if matches!(operation.value.state, Progress::Pending | Progress::Running) {
                    open.push(operation);
                }
            }
            match page.items.last() {
                Some(last) if page.remaining > 0 => after = Some(last.key.clone()),
                _ => return Ok(open),
            }
        }
    }

    /// Serializes a value, and checks its size.
    fn encoded<T: Serialize>(&self, value: &T) -> Result<Bytes> {
        let bytes = serde_json::to_vec(value);
        let bytes = bytes.map_err(|_| Status::internal("a record cannot be written"))?;
        self.check(bytes.len(), "the record of the deployment")?;
        Ok(bytes.into())
    }

    fn check(&self, length: usize, what: &str) -> Result<()> {
        if length <= self.limit {
            return Ok(());
        }
        let name = what.rsplit('/').next().unwrap_or(what);
        Err(too_large(name, length, self.limit))
    }
}

#[cfg(test)]
impl Repository {
    /// Returns an empty store in memory.
    pub(super) fn memory() -> Self {
        use krm_template_server_core::flow_control::admission::Admission;
        use krm_template_server_core::flow_control::limits::Limits;
        use krm_template_server_core::store::Store;
        use krm_template_server_core::telemetry::metrics::Metrics;

        #[derive(clap::Parser)]
        struct Program {
            #[command(flatten)]
            limits: Limits,
        }
        let program = <Program as clap::Parser>::parse_from(["server"]);
        let admission = Admission::new(&program.limits);
        let metrics = Arc::new(Metrics::new(admission, "", ""));
        Self::new(Arc::new(Measured::new(Store::memory(), metrics)), 1 << 20)
    }
}

/// Returns a 413: an item is too large for the store.
pub(super) fn too_large(what: &str, length: usize, limit: usize) -> Box<Status> {
    let message = format!("Request entity too large: {what} has {length} bytes, limit is {limit}");
    Status::new(413, "RequestEntityTooLarge", message).with(Details::default())
}

/// Deserializes the record in an item.
pub(super) fn decoded<T: DeserializeOwned>(item: &Item) -> Result<Stored<T>> {
    let value = serde_json::from_slice(&item.value).map_err(|error| {
        tracing::error!(key = item.key, line = error.line(), "a value of the store cannot be read");
        Status::internal("a value of the store cannot be read")
    })?;
    Ok(Stored { value, revision: item.revision })
}

/// Returns a 409: another server changed the record first.
pub(super) fn changed() -> Box<Status> {
    let message = "another server has changed the deployment; please try again";
    Status::new(409, "Conflict", message).with(Details::default())
}

/// Converts an error of the store to a `Status`.
pub(super) fn refused(error: &Error) -> Box<Status> {
    match error {
        Error::Exists | Error::Missing | Error::Stale(_) => changed(),
        Error::TooLarge => Status::new(413, "RequestEntityTooLarge", error.to_string()),
        Error::Compacted(_) | Error::Future(_) => Status::internal(error.to_string()),
        Error::Damaged { key, .. } => {
            tracing::error!(key, "a record in the store is damaged");
            let name = key.rsplit('/').next().unwrap_or(key);
            Status::internal(format!(
                "the record of {name:?} is damaged in the store; restore it from a backup, or \
                 delete its deployment with ?abandon=true"
            ))
        }
        Error::Unavailable(why) => {
            tracing::warn!(why, "the store is unavailable");
            Status::unavailable("the store is unavailable, please try again later")
        }
    }
}
