//! The records in the store: deployments, manifests, operations, and the locks of changes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use krm_template_cluster::{Recorded, Step, What};
use krm_template_server_core::rfc3339;

/// The number of manifests that are kept for a deployment.
pub const KEPT_MANIFESTS: usize = 20;

/// The key prefix of deployments.
pub(super) const DEPLOYMENTS: &str = "/dm/deployments/";

/// The key prefix of operations.
pub(super) const OPERATIONS: &str = "/dm/operations/";

/// The key prefix of locks.
pub(super) const LOCKS: &str = "/dm/locks/";

/// The namespace and name of a deployment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The namespace, `default` if the request names none.
    pub namespace: String,
    /// The name of the deployment.
    pub name: String,
}

impl Target {
    /// Returns the key of the deployment.
    pub(super) fn key(&self) -> String {
        format!("{DEPLOYMENTS}{}/{}", self.namespace, self.name)
    }

    /// Returns the key of its lock.
    pub(super) fn lock(&self) -> String {
        format!("{LOCKS}{}/{}", self.namespace, self.name)
    }

    /// Returns the deployment of the lock with a key.
    pub(super) fn of_lock(key: &str) -> Self {
        let rest = key.strip_prefix(LOCKS).unwrap_or_default();
        let (namespace, name) = rest.split_once('/').unwrap_or_default();
        Self { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// Returns the key prefix of its manifests.
    pub(super) fn manifests(&self) -> String {
        format!("/dm/manifests/{}/{}/", self.namespace, self.name)
    }

    /// Returns the key of a manifest.
    pub(super) fn manifest(&self, name: &str) -> String {
        self.manifests() + name
    }
}

/// The state of a deployment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has a manifest, and nothing was applied to a cluster.
    #[default]
    Expanded,
    /// The objects of its latest manifest are applied.
    Applied,
    /// An operation applies objects to the cluster.
    Applying,
    /// An operation deletes its objects.
    Deleting,
    /// It is deleted. No deployment is stored with this state.
    Deleted,
    /// Its last change ended with an error after it had changed the cluster.
    Failed,
    /// Its last change was interrupted.
    Interrupted,
}

impl State {
    /// Returns `true` if an operation is running.
    pub const fn is_busy(self) -> bool {
        matches!(self, Self::Applying | Self::Deleting)
    }
}

/// A deployment, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    /// The name, unique in the namespace.
    pub name: String,
    /// The namespace that authorization uses.
    pub namespace: String,
    /// The state after the last write.
    pub state: State,
    /// The time of the creation.
    pub created_at: String,
    /// The time of the last change.
    pub modified_at: String,
    /// The time at which all objects were last applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed_at: Option<String>,
    /// The name of the latest manifest.
    pub latest_manifest: String,
    /// The names of the kept manifests, oldest first.
    pub manifests: Vec<String>,
    /// The name of the last operation that changed it.
    pub operation: String,
    /// The errors of this operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// The objects in the cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Recorded>,
}

impl Deployment {
    /// Returns what is known of a deployment whose record is damaged.
    pub(super) fn damaged(key: &str) -> Option<Self> {
        let (namespace, name) = key.strip_prefix(DEPLOYMENTS)?.split_once('/')?;
        let error = "its record is damaged in the store; restore it from a backup, or delete it \
                     with ?abandon=true";
        Some(Self {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            state: State::Failed,
            errors: vec![error.to_owned()],
            ..Self::default()
        })
    }

    /// Returns the namespace and name.
    pub fn target(&self) -> Target {
        Target { namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// Returns `true` if its creation never completed. Creating it again completes it.
    pub(super) fn is_unfinished(&self) -> bool {
        self.deployed_at.is_none() && matches!(self.state, State::Failed | State::Interrupted)
    }

    /// Returns a human-readable description of the state.
    pub fn message(&self) -> String {
        let left = self.resources.len();
        let (objects, remain) = match left {
            1 => ("1 object".to_owned(), "remains"),
            many => (format!("{many} objects"), "remain"),
        };
        match self.state {
            State::Expanded if left == 0 => {
                "expanded only: nothing was applied to a cluster".to_owned()
            }
            State::Expanded => format!(
                "expanded only: nothing was applied to a cluster; {objects} of an earlier manifest \
             {remain} there"
            ),
            State::Applied => format!("the cluster has {objects} of the deployment"),
            State::Deleted if left == 0 => "deleted".to_owned(),
            State::Deleted => format!("deleted; {objects} {remain} in the cluster"),
            State::Applying | State::Deleting => {
                format!("the operation {:?} is running", self.operation)
            }
            State::Failed => format!(
                "the operation {:?} failed; correct the cause and run the request again",
                self.operation
            ),
            State::Interrupted => format!(
                "the operation {:?} was interrupted; run the request again to complete it",
                self.operation
            ),
        }
    }

    /// Returns the name of the next manifest.
    pub(super) fn next_manifest(&self) -> String {
        let number = self.latest_manifest.strip_prefix("manifest-");
        let number: u64 = number.and_then(|digits| digits.parse().ok()).unwrap_or(0);
        manifest_name(number.saturating_add(1))
    }

    /// Makes a manifest the latest one.
    pub(super) fn add_manifest(&mut self, name: &str) {
        name.clone_into(&mut self.latest_manifest);
        self.manifests.push(name.to_owned());
        let surplus = self.manifests.len().saturating_sub(KEPT_MANIFESTS);
        self.manifests.drain(..surplus);
    }
}

/// Returns the name of a manifest, such as `manifest-0001`.
pub(super) fn manifest_name(number: u64) -> String {
    format!("manifest-{number:04}")
}

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Creates a deployment that does not exist.
    Create,
    /// Replaces the configuration of a deployment.
    Update,
    /// Deletes a deployment and its manifests.
    Delete,
}

/// The state of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// It is stored, but has not started.
    Pending,
    /// Its change is being made.
    Running,
    /// It ended without an error.
    Done,
    /// It ended with an error.
    Failed,
    /// The server stopped before it was done.
    Interrupted,
}

impl Progress {
    /// Returns `true` if the operation has ended.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Interrupted)
    }
}

/// A stored operation, which changes a deployment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// The name, generated by the server.
    pub name: String,
    /// The kind, shown as `type`.
    #[serde(rename = "type")]
    pub change: ChangeKind,
    /// The name of the deployment.
    pub deployment: String,
    /// The namespace of the deployment.
    pub namespace: String,
    /// The user who requested it.
    pub user: String,
    /// The state after the last write.
    pub state: Progress,
    /// The time at which it started.
    pub started_at: String,
    /// The time at which it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    /// The name of the manifest that it creates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// A human-readable description of the result.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The warnings of the expansion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The errors with which it ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// The `Status` of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// The last step of each object in the cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

impl Operation {
    pub(super) fn new(change: ChangeKind, target: &Target, user: &str) -> Self {
        let now = Timestamp::now();
        Self {
            name: format!("operation-{:012x}-{}", now.as_millisecond(), Uuid::new_v4().simple()),
            change,
            deployment: target.name.clone(),
            namespace: target.namespace.clone(),
            user: user.to_owned(),
            state: Progress::Pending,
            started_at: rfc3339(now),
            finished_at: None,
            manifest: None,
            message: String::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
            error: None,
            steps: Vec::new(),
        }
    }

    /// Returns the deployment that it changes.
    pub fn target(&self) -> Target {
        Target { namespace: self.namespace.clone(), name: self.deployment.clone() }
    }

    /// Returns the key of an operation.
    pub(super) fn key(name: &str) -> String {
        format!("{OPERATIONS}{name}")
    }

    /// Sets the final state and the time at which it ended.
    pub(super) fn end(&mut self, state: Progress) {
        self.state = state;
        self.finished_at = Some(rfc3339(Timestamp::now()));
    }

    /// Adds a step, which replaces an earlier step of the same object. A `Waiting` step replaces
    /// nothing.
    pub(super) fn add(&mut self, step: &Step) {
        let mut steps = self.steps.iter_mut().rev();
        match steps.find(|one| one.object.is_same(&step.object)) {
            Some(_) if step.what == What::Waiting => {}
            Some(known) => *known = step.clone(),
            None => self.steps.push(step.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_twenty_manifests_are_kept() {
        let mut deployment = Deployment {
            name: "web".to_owned(),
            namespace: "default".to_owned(),
            ..Deployment::default()
        };
        assert_eq!(deployment.next_manifest(), "manifest-0001");
        for _ in 0..25 {
            let next = deployment.next_manifest();
            deployment.add_manifest(&next);
        }
        assert_eq!(deployment.latest_manifest, "manifest-0025");
        assert_eq!(deployment.manifests.len(), KEPT_MANIFESTS);
        assert_eq!(deployment.manifests.first().unwrap(), "manifest-0006");
        deployment.latest_manifest = "manifest-9999".to_owned();
        assert_eq!(deployment.next_manifest(), "manifest-10000");
    }
}
