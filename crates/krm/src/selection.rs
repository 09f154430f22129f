//! Which pods an object selects: its selector, and the labels of the pods it creates.

use crate::identity::group;
use crate::pods;
use krm_yaml::Value;

/// Labels or a selector: keys with their values.
pub type Pairs<'v> = Vec<(&'v str, &'v str)>;

/// The labels of the pods that an object creates.
#[must_use]
pub fn pod_labels<'v>(object: &'v Value<'_>) -> Option<Pairs<'v>> {
    let pod = pods::pod(object.str_at(&["kind"])?)?;
    let labels = object.at(pod)?.at(&["metadata", "labels"])?;
    pairs(labels)
}

/// The labels by which an object selects pods. One without labels, or with expressions as well,
/// has no such selector.
#[must_use]
pub fn selector<'v>(object: &'v Value<'_>) -> Option<Pairs<'v>> {
    let group = group(object.str_at(&["apiVersion"]).unwrap_or_default());
    let (field, is_plain) = match (group, object.str_at(&["kind"])?) {
        ("", "Service" | "ReplicationController") | ("apps.openshift.io", "DeploymentConfig") => {
            ("selector", true)
        }
        ("networking.k8s.io", "NetworkPolicy") => ("podSelector", false),
        (_, "DaemonSet" | "Deployment" | "PodDisruptionBudget" | "ReplicaSet" | "StatefulSet") => {
            ("selector", false)
        }
        _ => return None,
    };
    let selector = object.at(&["spec", field])?;
    if is_plain {
        return pairs(selector);
    }
    if selector.get("matchExpressions").is_some() {
        return None;
    }
    pairs(selector.get("matchLabels")?)
}

fn pairs<'v>(mapping: &'v Value<'_>) -> Option<Pairs<'v>> {
    let entries = mapping.entries().filter(|entries| !entries.is_empty())?;
    let pair = |(key, value): &'v (_, Value<'_>)| -> Option<(&'v str, &'v str)> {
        let key: &'v std::borrow::Cow<'_, str> = key;
        Some((key.as_ref(), value.as_str()?))
    };
    entries.iter().map(pair).collect()
}
