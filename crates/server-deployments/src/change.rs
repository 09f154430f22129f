//! One change of a deployment, from the request to the last write.
//!
//! The manifest is written first, under a new name. The write of the deployment then makes it the
//! latest manifest: a server that stops before this write leaves the deployment unchanged. Objects
//! of the cluster are changed before it, between two writes of the deployment, and the operation
//! records each of them. So a manifest becomes the latest one, and others are forgotten, only when
//! the change is complete. The deployment keeps its manifests until all its objects are deleted.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use krm_template_deployment_manager::model::Request;
use serde_json::{Value, json};

use super::expansion::Expander;
use super::record::{
    ChangeKind, Deployment, Operation, Progress as Far, State, Target, manifest_name,
};
use super::repository::{Repository, Stored, too_large};
use krm_template_cluster::{Cluster, Failure, Object, Owner, Prune, Recorded, Step};
use krm_template_server_core::{Result, Revision, Status, User, rfc3339};

/// The maximum number of writes for the steps of an operation. With more steps, several share a
/// write.
const MAX_NOTES: usize = 200;

/// A change of a deployment, as requested.
#[derive(Clone, Debug)]
pub struct ChangeRequest {
    /// The kind: creation, update or deletion.
    pub change: ChangeKind,
    /// The new configuration; `None` for a deletion.
    pub request: Option<Request>,
    /// The kinds of objects that may be deleted from the cluster.
    pub prune: Prune,
    /// Whether a deletion leaves the objects in the cluster.
    pub abandon: bool,
}

/// The result of a successful change.
#[derive(Clone, Debug)]
pub struct ChangeResult {
    /// The deployment after the change.
    pub deployment: Deployment,
    /// Its latest manifest, as JSON.
    pub manifest: Bytes,
    /// Warnings of the expansion, without values.
    pub warnings: Vec<String>,
    /// A human-readable description of the result.
    pub message: String,
}

/// The error of a failed change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status code for the client.
    pub code: u16,
    /// A `Status` object for the response.
    pub status: Value,
    /// Messages for people, one for each error.
    pub errors: Vec<String>,
}

impl From<Box<Status>> for Problem {
    fn from(status: Box<Status>) -> Self {
        Self { code: status.code, status: status.object(), errors: vec![status.message] }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self { code: failure.code, errors: vec![failure.to_string()], status: failure.status }
    }
}

/// State that all changes share.
pub(super) struct ChangeContext {
    pub(super) records: Repository,
    pub(super) expander: Expander,
    /// The cluster to which objects are applied, if any.
    pub(super) cluster: Option<Arc<Cluster>>,
    /// The maximum size of a stored object in bytes.
    pub(super) max_object_bytes: usize,
}

pub(super) struct ChangeRun {
    pub(super) tools: Arc<ChangeContext>,
    pub(super) user: User,
    pub(super) target: Target,
    pub(super) wanted: ChangeRequest,
    pub(super) operation: Stored<Operation>,
    /// The deployment before the change.
    pub(super) known: Option<Stored<Deployment>>,
}

impl ChangeRun {
    pub(super) async fn perform(&mut self) -> Result<ChangeResult, Problem> {
        let name = match &self.known {
            Some(known) => known.value.next_manifest(),
            None => manifest_name(1),
        };
        self.operation.value.state = Far::Running;
        self.operation.value.manifest = Some(name.clone());
        self.note().await?;
        match self.wanted.request.take() {
            Some(request) => self.place(&name, request).await,
            None => self.delete(&name).await,
        }
    }

    /// Writes the record of the operation.
    async fn note(&mut self) -> Result<()> {
        let key = Operation::key(&self.operation.value.name);
        let records = &self.tools.records;
        let revision = self.operation.revision;
        self.operation.revision = records.update(&key, &self.operation.value, revision).await?;
        Ok(())
    }

    /// Records the outcome of the operation.
    pub(super) async fn end(&mut self, outcome: &Result<ChangeResult, Problem>) {
        let operation = &mut self.operation.value;
        match outcome {
            Ok(ended) => {
                operation.message.clone_from(&ended.message);
                operation.warnings.clone_from(&ended.warnings);
                operation.end(Far::Done);
            }
            Err(problem) => {
                operation.errors.clone_from(&problem.errors);
                operation.error = Some(problem.status.clone());
                operation.end(Far::Failed);
            }
        }
        if let Err(error) = self.note().await {
            tracing::warn!(%error, "the end of an operation cannot be stored");
        }
    }

    /// Creates or updates the deployment.
    async fn place(&mut self, name: &str, request: Request) -> Result<ChangeResult, Problem> {
        let tools = Arc::clone(&self.tools);
        let wants_objects = tools.cluster.is_some();
        let made = tools.expander.made(name.to_owned(), request, wants_objects).await?;
        let manifest = Bytes::from(made.manifest);
        let mut deployment = self.next();
        if self.known.is_none() {
            deployment.add_manifest(name);
        }
        if wants_objects {
            self.check_room(&deployment, &made.objects)?;
        }
        let (records, key) = (&tools.records, self.target.key());
        records.write(&self.target.manifest(name), manifest.clone()).await?;
        let mut revision = self.known_revision();
        if let Some(cluster) = &tools.cluster {
            deployment.state = State::Applying;
            let applied = self.change(cluster, deployment, Some(&made.objects)).await?;
            deployment = applied.value;
            revision = Some(applied.revision);
            deployment.state = State::Applied;
            deployment.modified_at = rfc3339(Timestamp::now());
            deployment.deployed_at = Some(deployment.modified_at.clone());
        } else {
            deployment.state = State::Expanded;
        }
        if deployment.latest_manifest != name {
            deployment.add_manifest(name);
        }
        records.put(&key, &deployment, revision).await?;
        Ok(ChangeResult {
            message: deployment.message(),
            deployment,
            manifest,
            warnings: made.warnings,
        })
    }

    /// Returns the deployment before the change, with this operation. A new one has no manifest.
    fn next(&self) -> Deployment {
        let now = rfc3339(Timestamp::now());
        let mut deployment = match &self.known {
            Some(known) => known.value.clone(),
            None => Deployment {
                name: self.target.name.clone(),
                namespace: self.target.namespace.clone(),
                created_at: now.clone(),
                ..Deployment::default()
            },
        };
        deployment.modified_at = now;
        deployment.operation.clone_from(&self.operation.value.name);
        deployment.errors.clear();
        deployment
    }

    fn known_revision(&self) -> Option<Revision> {
        self.known.as_ref().map(|known| known.revision)
    }

    /// Checks that the record of all objects fits into the store, before any object is applied.
    fn check_room(&self, deployment: &Deployment, objects: &[Object]) -> Result<()> {
        /// The size of the field names and the uid in a record.
        const REST: usize = 160;
        let text = |object: &Object, path: &str| {
            let value = object.0.pointer(path).and_then(Value::as_str);
            value.map_or(0, str::len)
        };
        let new: usize = objects
            .iter()
            .map(|object| {
                let paths = ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"];
                let texts: usize = paths.iter().map(|path| text(object, path)).sum();
                texts + REST
            })
            .sum();
        // The name of the manifest and the time that are added later are shorter.
        let old = REST + serde_json::to_vec(deployment).map_or(0, |bytes| bytes.len());
        let limit = self.tools.max_object_bytes;
        if new + old <= limit {
            return Ok(());
        }
        Err(too_large("the record of its objects", new + old, limit))
    }

    fn owner(&self) -> Owner {
        Owner {
            kind: "Deployment".to_owned(),
            namespace: self.target.namespace.clone(),
            name: self.target.name.clone(),
        }
    }

    /// Deletes the objects, and then the deployment.
    async fn delete(&mut self, name: &str) -> Result<ChangeResult, Problem> {
        let tools = Arc::clone(&self.tools);
        let Some(mut revision) = self.known_revision() else {
            return Err(Status::not_found("", "deployments", &self.target.name).into());
        };
        let mut deployment = self.next();
        if let Some(cluster) = tools.cluster.as_ref().filter(|_| !self.wanted.abandon) {
            deployment.state = State::Deleting;
            let deleted = self.change(cluster, deployment, None).await?;
            deployment = deleted.value;
            revision = deleted.revision;
        }
        tools.records.delete(&self.target.key(), revision).await?;
        deployment.state = State::Deleted;
        name.clone_into(&mut deployment.latest_manifest);
        deployment.manifests = vec![name.to_owned()];
        Ok(ChangeResult {
            message: deployment.message(),
            deployment,
            manifest: Bytes::from(empty_manifest(name, &self.target).to_string()),
            warnings: Vec::new(),
        })
    }

    /// Stores the `busy` deployment, and changes the cluster: applies `objects` and deletes those
    /// that are no longer among them, or deletes all objects without them. Returns the deployment
    /// with the objects in the cluster, which is not stored yet.
    async fn change(
        &mut self,
        cluster: &Cluster,
        mut busy: Deployment,
        objects: Option<&[Object]>,
    ) -> Result<Stored<Deployment>, Problem> {
        let (owner, user, prune) = (self.owner(), self.user.clone(), self.wanted.prune);
        let known = self.known_revision();
        let records = &self.tools.records;
        let revision = records.put(&self.target.key(), &busy, known).await?;
        let before = busy.resources.clone();
        let mut journal = self.journal(objects.map_or(0, <[Object]>::len) + before.len());
        let done = if let Some(objects) = objects {
            let update = cluster.update(&user, &owner, &before, objects, prune, &mut journal);
            update.await
        } else {
            let delete = cluster.delete(&user, &owner, &before, prune, &mut journal);
            delete.await
        };
        let steps = match done {
            Ok(steps) => steps,
            Err(failure) => return Err(self.failed(busy, revision, failure).await?),
        };
        busy.resources = krm_template_cluster::record(&before, &steps);
        Ok(Stored { value: busy, revision })
    }

    /// Records a failed change of the cluster. If the cluster has not changed, the deployment is as
    /// it was before the request.
    async fn failed(
        &mut self,
        busy: Deployment,
        revision: Revision,
        failure: Failure,
    ) -> Result<Problem> {
        if let Some(object) = &failure.object {
            self.operation.value.add(&Step {
                object: Recorded::clone(object),
                what: krm_template_cluster::What::Failed,
                message: failure.message().to_owned(),
            });
        }
        let resources = krm_template_cluster::record(&busy.resources, &failure.done);
        let has_changed = failure.has_changed;
        let problem = Problem::from(failure);
        let deployment = match &self.known {
            _ if has_changed => Some(Deployment {
                state: State::Failed,
                errors: problem.errors.clone(),
                modified_at: rfc3339(Timestamp::now()),
                ..busy
            }),
            known => known.as_ref().map(|known| known.value.clone()),
        };
        let (records, key) = (&self.tools.records, self.target.key());
        match deployment {
            Some(mut deployment) => {
                deployment.resources = resources;
                records.update(&key, &deployment, revision).await?;
            }
            None => records.delete(&key, revision).await?,
        }
        Ok(problem)
    }

    fn journal(&mut self, steps: usize) -> Journal<'_> {
        Journal { work: self, every: steps.div_ceil(MAX_NOTES).max(1), since: 0 }
    }
}

/// A journal of the steps of an operation.
struct Journal<'w> {
    work: &'w mut ChangeRun,
    /// The number of steps between two writes of the record.
    every: usize,
    since: usize,
}

impl krm_template_cluster::Progress for Journal<'_> {
    async fn step(&mut self, step: &Step) -> Result<()> {
        self.work.operation.value.add(step);
        self.since += 1;
        if self.since < self.every {
            return Ok(());
        }
        self.since = 0;
        self.work.note().await
    }
}

/// Returns the manifest of a deleted deployment.
fn empty_manifest(name: &str, target: &Target) -> Value {
    json!({
        "name": name,
        "deployment": target.name,
        "inputConfig": {"name": "config", "content": "resources: []\n", "imports": []},
        "expandedConfig": {"resources": []},
        "layout": {"resources": []},
    })
}
