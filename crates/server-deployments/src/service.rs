//! The service: reads deployments, and starts changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use krm_template_deployment_manager::model::Request;
use krm_template_deployment_manager::python::Interpreters;
use krm_yaml::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::change::{ChangeContext, ChangeRequest, ChangeResult, ChangeRun, Problem};
use super::expansion::{Expander, Texts};
use super::fetch::Fetcher;
use super::input::{check_name, check_namespace};
use super::manifest::Collected;
use super::record::{ChangeKind, Deployment, Operation, State, Target};
use super::recovery;
use super::recovery::{holder, take};
use super::repository::{Repository, Stored};
use krm_template_cluster::Cluster;
use krm_template_server_core::lease::{Lease, Watcher};
use krm_template_server_core::{
    Admission, Details, Limits, Measured, Metrics, Result, Revision, Status, User, panics,
};

/// The deployments of a store, and the changes that run.
pub struct Deployments {
    pub(super) tools: Arc<ChangeContext>,
    /// The number of running changes.
    running: Arc<watch::Sender<usize>>,
}

/// The parts of the server that deployments use.
pub struct Dependencies {
    /// The store, shared with Templates.
    pub store: Arc<Measured>,
    /// The limits of requests and expansions.
    pub limits: Limits,
    /// The permits for expansions, shared with Templates.
    pub admission: Admission,
    /// The metrics, shared with Templates.
    pub metrics: Arc<Metrics>,
    /// Runs Python templates, or refuses them.
    pub python: Arc<dyn Interpreters>,
    /// Fetches templates by URL, if that is allowed.
    pub fetcher: Option<Fetcher>,
    /// The cluster to which objects are applied, if any.
    pub cluster: Option<Arc<Cluster>>,
}

/// A deployment with its latest manifest.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The deployment. Its state is `Interrupted` if its operation no longer runs.
    pub deployment: Deployment,
    /// A human-readable description of the state.
    pub message: String,
    /// The latest manifest, as JSON.
    pub manifest: Bytes,
}

/// A change that goes on without the request.
#[derive(Debug)]
pub struct Started {
    /// The name of its operation.
    pub operation: String,
    /// The task that makes the change.
    pub done: JoinHandle<Result<ChangeResult, Problem>>,
}

impl Deployments {
    /// Creates the service. It does not end interrupted operations.
    #[must_use]
    pub fn new(needs: Dependencies) -> Self {
        let limit = needs.limits.max_object_bytes;
        let expander = Expander {
            limits: needs.limits,
            admission: needs.admission,
            metrics: needs.metrics,
            python: needs.python,
            fetcher: needs.fetcher,
        };
        Self {
            tools: Arc::new(ChangeContext {
                records: Repository::new(needs.store, limit),
                expander,
                cluster: needs.cluster,
                max_object_bytes: limit,
            }),
            running: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Returns `true` if objects are applied to a cluster.
    pub fn applies(&self) -> bool {
        self.tools.cluster.is_some()
    }

    /// Ends operations of stopped servers in the background. If the store is this server's `own`,
    /// first ends all open operations.
    ///
    /// # Errors
    ///
    /// If the store cannot be read. The background task is then not started.
    pub async fn recover(&self, own: bool) -> Result<()> {
        let mut watcher = Watcher::default();
        if own {
            recovery::all(&self.tools.records, &mut watcher).await?;
        }
        tokio::spawn(recovery::watch(Arc::downgrade(&self.tools), watcher));
        Ok(())
    }

    /// Waits until no change is running.
    pub async fn ended(&self) {
        // The sender lives as long as `self`.
        let _ = self.running.subscribe().wait_for(|&count| count == 0).await;
    }

    /// Expands a configuration without storing it.
    ///
    /// # Errors
    ///
    /// 400 with the first error, 422 or 504 if the expansion exceeds a limit,
    /// 429 if too many expansions wait.
    pub async fn texts(&self, request: Request) -> Result<Texts> {
        self.tools.expander.texts(request).await
    }

    /// Returns the deployments of a namespace.
    ///
    /// # Errors
    ///
    /// 400 if the name of the namespace is invalid.
    pub async fn list(&self, namespace: &str) -> Result<Vec<Deployment>> {
        check_namespace(namespace)?;
        let mut all = self.tools.records.deployments(namespace).await?;
        for deployment in &mut all {
            self.mark_interrupted(deployment).await?;
        }
        Ok(all)
    }

    /// Returns a deployment with its latest manifest.
    ///
    /// # Errors
    ///
    /// 404 if the deployment does not exist.
    pub async fn get(&self, target: &Target) -> Result<Shown> {
        let mut deployment = self.found(target).await?.value;
        self.mark_interrupted(&mut deployment).await?;
        let manifest = self.manifest(target, &deployment.latest_manifest).await?;
        Ok(Shown { message: deployment.message(), deployment, manifest })
    }

    /// Returns the names of the kept manifests of a deployment, oldest first.
    ///
    /// # Errors
    ///
    /// 404 if the deployment does not exist.
    pub async fn manifests(&self, target: &Target) -> Result<Vec<String>> {
        Ok(self.found(target).await?.value.manifests)
    }

    /// Returns a manifest as JSON.
    ///
    /// # Errors
    ///
    /// 404 if the manifest does not exist.
    pub async fn manifest(&self, target: &Target, name: &str) -> Result<Bytes> {
        let missing = || Status::not_found("", "manifests", name);
        let known = self.found(target).await?;
        if !known.value.manifests.iter().any(|known| known == name) {
            return Err(missing());
        }
        let bytes = self.tools.records.bytes(&target.manifest(name)).await?;
        bytes.ok_or_else(missing)
    }

    /// Returns the names of all types in the latest manifests of a namespace, as JSON.
    ///
    /// # Errors
    ///
    /// 413 if the list is too large, 429 if too many expansions wait, 504 if it takes too long.
    pub async fn types(&self, namespace: &str) -> Result<String> {
        self.collect(namespace, Collected::Types(BTreeSet::new())).await
    }

    /// Returns the instances of a type in the latest manifests of a namespace, as JSON. Without a
    /// type, returns the instances of all types.
    ///
    /// # Errors
    ///
    /// 413 if the list is too large, 429 if too many expansions wait, 504 if it takes too long.
    pub async fn instances(&self, namespace: &str, kind: Option<&str>) -> Result<String> {
        let kind = kind.map(str::to_owned);
        self.collect(namespace, Collected::Instances(kind, Vec::new())).await
    }

    async fn collect(&self, namespace: &str, mut collected: Collected) -> Result<String> {
        check_namespace(namespace)?;
        let Expander { admission, metrics, limits, .. } = &self.tools.expander;
        let _permit = admission.expansion().await?;
        let end = Instant::now() + limits.expansion_timeout;
        for deployment in self.tools.records.deployments(namespace).await? {
            if Instant::now() > end {
                let message = "the manifests of the namespace take too long to read";
                return Err(Status::new(504, "Timeout", message));
            }
            let target = deployment.target();
            let manifest = deployment.latest_manifest;
            let Some(json) = self.tools.records.bytes(&target.manifest(&manifest)).await? else {
                continue;
            };
            let limit = limits.max_expansion_bytes;
            collected = panics::blocking(metrics, move || {
                collected.add(&target.name, &manifest, &json)?;
                if collected.size() > limit {
                    let message = format!("the list is larger than {limit} bytes");
                    return Err(Status::new(413, "RequestEntityTooLarge", message));
                }
                Ok(collected)
            })
            .await?;
        }
        Ok(collected.json())
    }

    /// Returns an operation.
    ///
    /// # Errors
    ///
    /// 404 if the operation does not exist, or is no longer kept.
    pub async fn operation(&self, name: &str) -> Result<Operation> {
        let key = Operation::key(name);
        let operation = self.tools.records.get::<Operation>(&key).await?;
        let operation = operation.ok_or_else(|| Status::not_found("", "operations", name))?;
        Ok(operation.value)
    }

    /// Starts a change, which continues even if the caller does not wait for it.
    ///
    /// # Errors
    ///
    /// 400 for invalid names, 404 or 409 if the deployment does not allow the change, 409 if
    /// another operation changes it.
    pub async fn start(
        self: &Arc<Self>,
        user: &User,
        target: &Target,
        wanted: ChangeRequest,
    ) -> Result<Started> {
        let (service, user, target) = (Arc::clone(self), user.clone(), target.clone());
        // A task of its own: a client that disconnects must not leave a lock behind.
        let task = tokio::spawn(async move {
            let metrics = &service.tools.expander.metrics;
            panics::caught(metrics, service.begin(&user, &target, wanted)).await
        });
        let ended = "the server ended before the change was started";
        task.await.unwrap_or_else(|_| Err(Status::unavailable(ended)))
    }

    async fn begin(
        &self,
        user: &User,
        target: &Target,
        mut wanted: ChangeRequest,
    ) -> Result<Started> {
        check_name(&target.name)?;
        check_namespace(&target.namespace)?;
        if let Some(request) = &mut wanted.request {
            request.name.clone_from(&target.name);
            let name = Value::string(target.name.clone());
            request.env.insert("deployment".to_owned(), name);
        }
        let records = &self.tools.records;
        let known = find(records, target, &wanted).await?;
        self.check(target, &wanted, known.as_ref())?;
        let operation = Operation::new(wanted.change, target, &user.name);
        let (name, key) = (operation.name.clone(), Operation::key(&operation.name));
        records.forget_operations().await?;
        let revision = records.put(&key, &operation, None).await?;
        let held = match take(records, target, &name).await {
            Ok(held) => held,
            Err(busy) => {
                forget(records, &key, revision, None).await;
                return Err(busy);
            }
        };
        // It may have changed before the lock was taken.
        let known = find(records, target, &wanted).await;
        let known = known.and_then(|known| {
            self.check(target, &wanted, known.as_ref())?;
            Ok(known)
        });
        let known = match known {
            Ok(known) => known,
            Err(error) => {
                forget(records, &key, revision, Some(held)).await;
                return Err(error);
            }
        };
        let work = ChangeRun {
            tools: Arc::clone(&self.tools),
            user: user.clone(),
            target: target.clone(),
            wanted,
            operation: Stored { value: operation, revision },
            known,
        };
        let counted = Counted::new(&self.running);
        let metrics = Arc::clone(&self.tools.expander.metrics);
        let done = tokio::spawn(run(work, held, metrics, counted));
        Ok(Started { operation: name, done })
    }

    /// Checks that the deployment allows a change.
    fn check(
        &self,
        target: &Target,
        wanted: &ChangeRequest,
        known: Option<&Stored<Deployment>>,
    ) -> Result<()> {
        let name = &target.name;
        match (wanted.change, known) {
            (ChangeKind::Create, Some(known)) if !known.value.is_unfinished() => {
                Err(Status::already_exists("", "deployments", name))
            }
            (ChangeKind::Update | ChangeKind::Delete, None) => {
                Err(Status::not_found("", "deployments", name))
            }
            (ChangeKind::Delete, Some(known))
                if !self.applies() && !wanted.abandon && !known.value.resources.is_empty() =>
            {
                let count = known.value.resources.len();
                let message = format!(
                    "deployment {name:?} has {count} objects in a cluster, but this server does \
                     not apply objects: start it with --apply, or keep them with ?abandon=true"
                );
                Err(Status::new(409, "Conflict", message).with(Details::of(
                    "",
                    "deployments",
                    name,
                )))
            }
            _ => Ok(()),
        }
    }

    async fn found(&self, target: &Target) -> Result<Stored<Deployment>> {
        let missing = || Status::not_found("", "deployments", &target.name);
        check_namespace(&target.namespace)?;
        check_name(&target.name).map_err(|_| missing())?;
        let found = self.tools.records.deployment(target).await?;
        found.ok_or_else(missing)
    }

    /// Sets the state to `Interrupted` if the operation no longer runs.
    pub(super) async fn mark_interrupted(&self, deployment: &mut Deployment) -> Result<()> {
        if deployment.state.is_busy() {
            let holder = holder(&self.tools.records, &deployment.target()).await?;
            if holder.as_ref() != Some(&deployment.operation) {
                deployment.state = State::Interrupted;
            }
        }
        Ok(())
    }
}

/// Finds the deployment to change. Only a damaged one that is abandoned can be changed.
async fn find(
    records: &Repository,
    target: &Target,
    wanted: &ChangeRequest,
) -> Result<Option<Stored<Deployment>>> {
    if wanted.change == ChangeKind::Delete && wanted.abandon {
        records.abandoned(target).await
    } else {
        records.deployment(target).await
    }
}

/// Deletes the record of an operation that does not start, and releases its lock.
async fn forget(records: &Repository, key: &str, revision: Revision, held: Option<Lease>) {
    if let Err(error) = records.delete(key, revision).await {
        // A server ends the operation later, because it has no lock.
        tracing::warn!(%error, "the record of an operation cannot be deleted");
    }
    if let Some(held) = held {
        held.release().await;
    }
}

/// Makes a change, ends its operation, and releases the lock.
async fn run(
    mut work: ChangeRun,
    held: Lease,
    metrics: Arc<Metrics>,
    _counted: Counted,
) -> Result<ChangeResult, Problem> {
    let outcome = tokio::select! {
        outcome = panics::caught(&metrics, async { Ok(work.perform().await) }) => {
            outcome.unwrap_or_else(|panicked| Err(panicked.into()))
        }
        () = held.lost() => {
            let message = "the server could not reach the store in time, and abandoned the operation";
            return Err(Status::unavailable(message).into());
        }
    };
    match end(&mut work, &outcome).await {
        Ok(()) => held.release().await,
        // The lock becomes stale, and a server ends the operation.
        Err(error) => tracing::warn!(%error, "the end of a change cannot be stored"),
    }
    outcome
}

/// Writes the outcome of a change.
async fn end(work: &mut ChangeRun, outcome: &Result<ChangeResult, Problem>) -> Result<()> {
    let records = work.tools.records.clone();
    if outcome.is_err() {
        recovery::conclude(&records, &work.operation.value).await?;
    }
    // Who sees that the operation is done may start the next one: only the lock is left to release.
    records.forget_manifests(&work.target).await?;
    work.end(outcome).await;
    Ok(())
}

/// A guard that counts a running change until it is dropped.
struct Counted(Arc<watch::Sender<usize>>);

impl Counted {
    fn new(running: &Arc<watch::Sender<usize>>) -> Self {
        running.send_modify(|count| *count += 1);
        Self(Arc::clone(running))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use krm_template_deployment_manager::python::Forbidden;
    use krm_template_server_core::store::Store;

    use super::*;

    #[tokio::test]
    async fn lists_of_types_wait_for_permits_of_expansions() {
        #[derive(clap::Parser)]
        struct Program {
            #[command(flatten)]
            limits: Limits,
        }
        let arguments = ["server", "--max-expansions", "1", "--max-waiting-expansions", "0"];
        let limits = <Program as clap::Parser>::parse_from(arguments).limits;
        let admission = Admission::new(&limits);
        let metrics = Arc::new(Metrics::new(admission.clone(), "", ""));
        let service = Deployments::new(Dependencies {
            store: Arc::new(Measured::new(Store::memory(), Arc::clone(&metrics))),
            limits,
            admission: admission.clone(),
            metrics,
            python: Arc::new(Forbidden(&[])),
            fetcher: None,
            cluster: None,
        });
        let permit = admission.expansion().await.unwrap();
        assert_eq!(service.types("default").await.unwrap_err().code, 429);
        drop(permit);
        assert_eq!(service.types("default").await.unwrap(), "[]");
    }

    #[tokio::test]
    async fn a_change_that_does_not_start_leaves_no_lock() {
        let records = Repository::memory();
        let target = Target { namespace: "default".to_owned(), name: "web".to_owned() };
        let operation = Operation::new(ChangeKind::Create, &target, "ada");
        let key = Operation::key(&operation.name);
        let revision = records.put(&key, &operation, None).await.unwrap();
        let held = take(&records, &target, &operation.name).await.unwrap();
        // The record cannot be deleted, because it has another revision.
        forget(&records, &key, revision + 7, Some(held)).await;
        assert!(records.get::<Operation>(&key).await.unwrap().is_some());
        assert!(take(&records, &target, "next").await.is_ok());
    }
}
