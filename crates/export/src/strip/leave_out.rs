//! Decides which objects are left out.

use crate::fields::left_out::{Condition, LEFT_OUT};
use crate::read::cluster::Cluster;
use krm_core::Identity;
use krm_core::annotations::is_local;
use krm_core::identity::is_built_in;
use krm_template_engine::OWN_GROUP;
use krm_yaml::{Data, Scalar, Value, View};

/// API groups whose kinds are for tools.
const CONFIGURATION: &[&str] =
    &["config.kubernetes.io", "fn.kpt.dev", "kpt.dev", "kustomize.config.k8s.io", OWN_GROUP];

/// Why an object is left out; `None` if it is exported. [`is_bare`] decides after stripping.
pub(crate) fn reason(object: &Value<'_>, identity: &Identity, cluster: &Cluster) -> Option<String> {
    let metadata = object.get("metadata");
    if is_local(metadata.map(View::of)) {
        return Some(
            "it is a configuration of kpt or kustomize, not an object of a cluster".into(),
        );
    }
    let Identity { group, kind, .. } = identity;
    if CONFIGURATION.contains(&group.as_str()) {
        return Some(format!("a {kind} is not an object of a cluster"));
    }
    if is_built_in(group) {
        let mut rows = LEFT_OUT.iter();
        let row = rows.find(|row| {
            row.kinds.contains(&kind.as_str()) && holds(row.condition, (object, identity), cluster)
        });
        if let Some(row) = row {
            return Some(row.reason.to_owned());
        }
    }
    let owner = cluster.owner(metadata?, &identity.namespace)?;
    Some(format!("its owner, {owner}, creates it"))
}

/// Whether nothing is left of an object that the cluster makes in each namespace.
pub(crate) fn is_bare(object: &Value<'_>, identity: &Identity) -> Option<&'static str> {
    let Identity { kind, name, .. } = identity;
    let row = LEFT_OUT.iter().find(|row| {
        let Condition::Bare(names) = row.condition else {
            return false;
        };
        row.kinds.contains(&kind.as_str()) && names.contains(&name.as_str())
    })?;
    let is_empty = |value: &Value<'_>| match &value.data {
        Data::Scalar(_) => value.is_null(),
        Data::Sequence(items) => items.is_empty(),
        Data::Mapping(entries) => entries.is_empty(),
    };
    let has_only = |value: &Value<'_>, known: &[&str]| {
        let mut entries = value.entries().into_iter().flatten();
        entries.all(|(key, value)| known.contains(&key.as_ref()) || is_empty(value))
    };
    let metadata = object.get("metadata")?;
    let is_bare = has_only(object, &["apiVersion", "kind", "metadata"])
        && has_only(metadata, &["name", "namespace"]);
    is_bare.then_some(row.reason)
}

fn holds(
    condition: Condition,
    (object, identity): (&Value<'_>, &Identity),
    cluster: &Cluster,
) -> bool {
    let Identity { namespace, name, .. } = identity;
    let annotation = |key: &str| object.str_at(&["metadata", "annotations", key]);
    let label = |key: &str| object.str_at(&["metadata", "labels", key]);
    let kind_of = || object.str_at(&["type"]);
    match condition {
        Condition::Always => true,
        Condition::Controlled => has_controller(object),
        Condition::Finished => has_finished(object),
        Condition::OfSelector => {
            let service = label("kubernetes.io/service-name").unwrap_or(name);
            !cluster.is_without_selector(namespace, service)
        }
        Condition::Annotated(key) => annotation(key).is_some(),
        Condition::Labelled(key, value) => label(key) == Some(value),
        Condition::Named(names) => names.contains(&name.as_str()),
        Condition::Begins(start) => name.starts_with(start),
        Condition::Typed(kind) => kind_of() == Some(kind),
        Condition::Generated(kind, infix) => {
            let account = annotation("kubernetes.io/service-account.name");
            let account = account.or_else(|| {
                annotation("openshift.io/internal-registry-auth-token.service-account")
            });
            let is_generated = match account {
                Some(account) => name.starts_with(&format!("{account}{infix}")),
                None => name.contains(infix),
            };
            kind_of() == Some(kind) && is_generated
        }
        Condition::Bare(_) => false,
        Condition::Local => {
            let service = object.at(&["spec", "service"]);
            service.is_none_or(Value::is_null)
        }
    }
}

fn has_controller(object: &Value<'_>) -> bool {
    let owners = object.at(&["metadata", "ownerReferences"]);
    let mut owners = owners.and_then(Value::items).into_iter().flatten();
    let is_true = |value: &Value<'_>| value.scalar() == Some(&Scalar::Bool(true));
    owners.any(|owner| owner.get("controller").is_some_and(is_true))
}

fn has_finished(object: &Value<'_>) -> bool {
    let phase = object.str_at(&["status", "phase"]);
    let conditions = object.at(&["status", "conditions"]);
    let mut conditions = conditions.and_then(Value::items).into_iter().flatten();
    let is_end = |condition: &Value<'_>| {
        let kind = condition.str_at(&["type"]);
        let is_end = matches!(kind, Some("Complete" | "Failed"));
        is_end && condition.str_at(&["status"]) == Some("True")
    };
    matches!(phase, Some("Succeeded" | "Failed"))
        || object.at(&["status", "completionTime"]).is_some()
        || conditions.any(is_end)
}
