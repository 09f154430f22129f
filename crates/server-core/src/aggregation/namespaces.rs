//! The namespaces of the cluster, by a list and a watch.
//!
//! kube-apiserver does not check the namespace of a request that it passes on, so a Template could be
//! created in one that does not exist, or that is being deleted, where it would stay.
//!
//! Source: the admission plugin `NamespaceLifecycle` of `k8s.io/apiserver`.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{ListParams, ObjectMeta, WatchEvent, WatchParams};
use kube::{Api, Client};
use tokio::time::{sleep, timeout};

use crate::auth::cluster::TIMEOUT;
use crate::groups::Group;
use crate::status::{Cause, Details, Result, Status};

/// The delay after a watch that failed.
const RETRY: Duration = Duration::from_secs(2);

/// The namespaces of a cluster.
pub struct Namespaces {
    all: Api<Namespace>,
    /// The known namespaces, and whether they are being deleted.
    known: RwLock<BTreeMap<String, bool>>,
}

impl Namespaces {
    /// Begins to follow the namespaces.
    pub(super) fn start(client: Client) -> Arc<Self> {
        let namespaces = Arc::new(Self { all: Api::all(client), known: RwLock::default() });
        tokio::spawn(Arc::clone(&namespaces).follow());
        namespaces
    }

    /// Checks that an object can be created in a namespace.
    ///
    /// # Errors
    /// 404 if the namespace does not exist, 403 if it is being deleted, 503 if the cluster cannot be
    /// asked.
    pub async fn check(
        &self,
        (group, resource): (Group, &str),
        namespace: &str,
        name: &str,
    ) -> Result<()> {
        let known = self.known(namespace);
        let is_deleted = match known {
            Some(is_deleted) => is_deleted,
            // It may be new.
            None => self.ask(namespace).await?,
        };
        if is_deleted {
            return Err(terminating((group, resource), namespace, name));
        }
        Ok(())
    }

    fn known(&self, namespace: &str) -> Option<bool> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(namespace).copied()
    }

    /// Asks the cluster whether a namespace is being deleted.
    async fn ask(&self, namespace: &str) -> Result<bool> {
        let reason = match timeout(TIMEOUT, self.all.get_metadata_opt(namespace)).await {
            Ok(Ok(Some(found))) => return Ok(is_deleted(&found.metadata)),
            Ok(Ok(None)) => return Err(Status::not_found("", "namespaces", namespace)),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer".to_owned(),
        };
        tracing::error!("cannot read the namespace {namespace}: {reason}");
        let message = "the namespaces of the cluster cannot be read; try again later";
        let details = Details { retry_after_seconds: 1, ..Details::default() };
        Err(Status::new(503, "ServiceUnavailable", message).with(details))
    }

    async fn follow(self: Arc<Self>) {
        loop {
            if let Err(error) = self.list_and_watch().await {
                tracing::warn!("cannot follow the namespaces of the cluster: {error}");
            }
            sleep(RETRY).await;
        }
    }

    /// Lists the namespaces, and follows their changes until a watch fails.
    async fn list_and_watch(&self) -> kube::Result<()> {
        let list = self.all.list_metadata(&ListParams::default()).await?;
        let mut version = list.metadata.resource_version.unwrap_or_default();
        let found = list.items.iter().filter_map(|item| entry(&item.metadata));
        let found: BTreeMap<String, bool> = found.collect();
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = found;
        loop {
            let (parameters, after) = (WatchParams::default(), version.clone());
            let watch = self.all.watch_metadata(&parameters, &after);
            let mut events = pin!(watch.await?);
            while let Some(event) = events.next().await {
                match event? {
                    WatchEvent::Added(item) | WatchEvent::Modified(item) => {
                        version = item.metadata.resource_version.clone().unwrap_or(version);
                        self.change(|known| known.extend(entry(&item.metadata)));
                    }
                    WatchEvent::Deleted(item) => {
                        version = item.metadata.resource_version.clone().unwrap_or(version);
                        let name = item.metadata.name.unwrap_or_default();
                        self.change(|known| _ = known.remove(&name));
                    }
                    WatchEvent::Bookmark(bookmark) => {
                        version = bookmark.metadata.resource_version;
                    }
                    // The version is too old.
                    WatchEvent::Error(_) => return Ok(()),
                }
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, bool>)) {
        change(&mut self.known.write().unwrap_or_else(PoisonError::into_inner));
    }
}

fn entry(metadata: &ObjectMeta) -> Option<(String, bool)> {
    Some((metadata.name.clone()?, is_deleted(metadata)))
}

const fn is_deleted(metadata: &ObjectMeta) -> bool {
    metadata.deletion_timestamp.is_some()
}

/// Returns the 403 error for a namespace that is being deleted.
fn terminating((group, resource): (Group, &str), namespace: &str, name: &str) -> Box<Status> {
    let group = group.name();
    let message = format!(
        "{resource}.{group} {name:?} is forbidden: unable to create new content in namespace \
         {namespace} because it is being terminated"
    );
    let message_of_cause = format!("namespace {namespace} is being terminated");
    let cause = Cause::new("NamespaceTerminating", "metadata.namespace", message_of_cause);
    Status::new(403, "Forbidden", message)
        .with(Details { causes: vec![cause], ..Details::of(group, resource, name) })
}
