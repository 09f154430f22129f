//! Objects that are applied, and the steps of a change.

use std::future::Future;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::status::Result;

/// The deployment that owns objects of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its kind.
    pub kind: String,
    /// Its namespace, which is that of objects that name none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// An object for a cluster, or a `v1` `List` of some.
#[derive(Clone, Debug, PartialEq)]
pub struct Object(pub Value);

/// An object that was applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recorded {
    /// The API version by which it was applied.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty if its kind has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Distinguishes it from others that have the same name at different times; empty as long
    /// as it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
}

impl Recorded {
    /// The API group.
    #[must_use]
    pub fn group(&self) -> &str {
        group(&self.api_version)
    }

    /// Whether both are the same object, perhaps at different times.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.group() == other.group()
            && self.kind == other.kind
            && self.namespace == other.namespace
            && self.name == other.name
    }
}

/// The group of an API version.
pub(super) fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Others wait until the cluster has it ready.
    Waiting,
    /// It was created or changed.
    Applied,
    /// It was applied and was so before.
    Unchanged,
    /// It was deleted.
    Deleted,
    /// It was not there any more.
    Gone,
    /// It was not deleted, because its kind needs [`Prune::All`].
    Kept,
    /// It was not deleted, because it is not of this deployment.
    Foreign,
    /// It could not be changed.
    Failed,
}

/// One step of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The object.
    #[serde(flatten)]
    pub object: Recorded,
    /// The result.
    pub what: What,
    /// More about it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Takes note of steps as they are made.
pub trait Progress: Send {
    /// A step was made. The next one begins when this has ended.
    ///
    /// # Errors
    /// If no further step is to be made.
    fn step(&mut self, step: &Step) -> impl Future<Output = Result<()>> + Send;
}

/// Which kinds of objects are deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    /// All but those that hold others or data: Namespaces, PersistentVolumeClaims and
    /// CustomResourceDefinitions.
    #[default]
    Default,
    /// All.
    All,
}

/// The objects of a deployment in the cluster after some steps, in the order in which they were
/// applied. `before` are those before the steps.
#[must_use]
pub fn record(before: &[Recorded], steps: &[Step]) -> Vec<Recorded> {
    let mut recorded = before.to_vec();
    for Step { object, what, .. } in steps {
        match what {
            What::Applied | What::Unchanged => {
                recorded.retain(|other| !other.is_same(object));
                recorded.push(object.clone());
            }
            What::Deleted | What::Gone | What::Foreign => {
                recorded.retain(|other| !other.is_same(object));
            }
            What::Waiting | What::Kept | What::Failed => {}
        }
    }
    recorded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(what: What, name: &str, uid: &str) -> Step {
        let object = Recorded {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: "shop".to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
        };
        Step {
            object,
            what,
            message: String::new(),
        }
    }

    #[test]
    fn a_record_has_the_order_of_the_last_apply() {
        let first = [step(What::Applied, "b", "1"), step(What::Applied, "c", "2")];
        let before = record(&[], &first);
        let second = [
            step(What::Applied, "a", "3"),
            step(What::Applied, "b", "4"),
            step(What::Deleted, "c", "2"),
        ];
        let after = record(&before, &second);
        let found: Vec<(&str, &str)> = after
            .iter()
            .map(|one| (one.name.as_str(), one.uid.as_str()))
            .collect();
        assert_eq!(found, [("a", "3"), ("b", "4")]);
    }
}
