//! Generated values that are kept in a Secret beside the objects, and are read from it as the user who
//! asks for the objects.

use std::collections::BTreeMap;

use base64::engine::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::events::problem_of;
use super::expansion::{Problem, VALUES_CHANGED, data};
use super::objects::{owner, suffixed};
use super::store::{Instance, Plan};
use crate::templates::instance::{Expansion, Generated};
use krm_template_cluster::{Cluster, Failure, Object, Recorded};
use krm_template_server_core::{Group, User};

/// The annotation of the Secret that tells to which Template and parameter each value belongs.
const OF: &str = "template.krm.dev/generated-for";

/// The values that a user may keep, and why there may be others.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) values: BTreeMap<String, Generated>,
    refused: Option<Failure>,
    /// Whether the Secret has another value than the plan of the same request.
    has_changed: bool,
}

/// Returns the Secret with generated values as it is recorded.
pub(super) fn recorded(instance: &Instance) -> Recorded {
    let name = suffixed(instance.name(), "-generated");
    Recorded::new("v1", "Secret", instance.namespace(), &name)
}

/// Returns the Secret with generated values, if there are any.
pub(super) fn secret(
    instance: &Instance,
    generated: &BTreeMap<String, Generated>,
) -> Option<Object> {
    if generated.is_empty() {
        return None;
    }
    let entries = |value: fn(&Generated) -> Value| -> Map<String, Value> {
        let all = generated.iter();
        all.map(|(key, one)| (key.clone(), value(one))).collect()
    };
    let of = Value::Object(entries(|one| json!(one.of)));
    let Recorded { name, namespace, .. } = recorded(instance);
    Some(Object(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {OF: of.to_string()},
        },
        "type": "Opaque",
        "data": entries(|one| json!(STANDARD.encode(&one.value))),
    })))
}

/// Reads the values that a user may keep. Those of a plan count only for the user who asked for them,
/// and until they are in the Secret. A preview passes `false` for `may_plan`, because it changes
/// nothing, and so does the check of an author, who must read them from the Secret.
pub(super) async fn of(
    cluster: &Cluster,
    instance: &Instance,
    user: &User,
    plan: &Plan,
    may_plan: bool,
) -> Kept {
    let mut kept = Kept::default();
    let is_openshift = instance.group() == Group::OpenShift;
    if may_plan && (is_openshift || plan.asked == instance.asked()) {
        kept.values.clone_from(&plan.generated);
    }
    // OpenShift's group has no Secret, and its spec never changes.
    if is_openshift || plan.generated.is_empty() {
        return kept;
    }
    let live = match cluster.live(user, &recorded(instance)).await {
        Ok(live) => live,
        Err(failure) => {
            kept.refused = Some(failure);
            return kept;
        }
    };
    let live = live.filter(|live| owner(instance).has(live));
    let values = live.as_ref().and_then(|live| data(live, true));
    let of = live.as_ref().and_then(|live| {
        let annotations = live.pointer("/metadata/annotations")?;
        serde_json::from_str::<Value>(annotations.get(OF)?.as_str()?).ok()
    });
    for (key, value) in values.unwrap_or_default() {
        let of = match &of {
            Some(of) => of.get(&key).and_then(Value::as_str),
            // Earlier versions did not write it, but planned the same value.
            None => plan.generated.get(&key).filter(|one| one.value == value).map(|_| ""),
        };
        if let Some(of) = of.map(str::to_owned) {
            let new = Generated { value, of };
            // Without `may_plan`, or for another request, there is none of the plan.
            kept.has_changed |= kept.values.get(&key).is_some_and(|old| old.value != new.value);
            kept.values.insert(key, new);
        }
    }
    kept
}

impl Kept {
    /// Checks that an expansion has generated no value anew that the instance had before.
    pub(super) fn check(
        &self,
        instance: &Instance,
        user: &User,
        plan: &Plan,
        expansion: &Expansion,
    ) -> Result<(), Problem> {
        let name = recorded(instance).name;
        if self.has_changed {
            let message = format!(
                "somebody has changed the generated values in the Secret {name:?}; to use them, run \
                 `krm-template-server upgrade {}`",
                instance.name()
            );
            return Err(Problem::new(VALUES_CHANGED, message));
        }
        let is_lost = |(key, new): (&String, &Generated)| {
            let before = plan.generated.get(key);
            let before = before.filter(|before| before.of.is_empty() || before.of == new.of);
            let kept = self.values.get(key).map(|kept| &kept.value);
            before.is_some() && kept != Some(&new.value)
        };
        if instance.group() == Group::OpenShift || !expansion.generated.iter().any(is_lost) {
            return Ok(());
        }
        let way = "or give the parameters values";
        match &self.refused {
            Some(failure) if matches!(failure.code, 401 | 403) => {
                let message = format!(
                    "the generated values are in the Secret {name:?}, which the user {:?} may not \
                     read; change the spec as somebody who may, {way}",
                    user.name
                );
                Err(Problem::new("Forbidden", message))
            }
            Some(failure) => Err(problem_of(std::slice::from_ref(failure))),
            None => {
                let message = format!(
                    "the Secret {name:?} does not have the generated values any more; restore it, \
                     {way}"
                );
                Err(Problem::new("ParametersMissing", message))
            }
        }
    }
}
