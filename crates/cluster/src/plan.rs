//! Checks objects, and splits recorded ones into the waves of their deletion.

use krm_template_composition::legacy_rank;
use serde_json::{Map, Value};

use super::failure::Refusal;
use super::types::{Object, Recorded, group};
use krm_template_server_core::status::Status;

/// The maximum number of objects of a deployment.
const MAX_OBJECTS: usize = 10_000;

/// The maximum nesting depth of Lists.
const MAX_LISTS: usize = 16;

/// An object to apply. Its namespace is empty if the manifest has none.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) identity: Recorded,
    pub(super) value: Map<String, Value>,
}

/// The phase in which an object is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Namespaces,
    Definitions,
    Others,
}

impl Phase {
    pub(super) fn of(object: &Recorded) -> Self {
        match (object.group(), object.kind.as_str()) {
            ("", "Namespace") => Self::Namespaces,
            ("apiextensions.k8s.io", "CustomResourceDefinition") => Self::Definitions,
            _ => Self::Others,
        }
    }
}

/// Checks objects, and takes them out of Lists.
pub(super) fn plan(objects: &[Object]) -> Result<Vec<Planned>, Refusal> {
    let mut planned = Vec::new();
    for Object(value) in objects {
        read(value, 0, &mut planned)?;
    }
    Ok(planned)
}

/// Returns the sort key of an object.
pub(super) fn key(object: &Recorded) -> (Phase, usize) {
    (Phase::of(object), legacy_rank(&object.kind))
}

/// Splits recorded objects into waves, in the order of their deletion: no object of a wave needs one
/// of an earlier wave.
pub fn waves(recorded: &[Recorded]) -> Vec<Vec<Recorded>> {
    let mut all = recorded.to_vec();
    all.sort_by_key(key);
    let mut waves: Vec<Vec<Recorded>> = Vec::new();
    for object in all.into_iter().rev() {
        match waves.last_mut() {
            Some(wave) if wave.first().map(key) == Some(key(&object)) => wave.push(object),
            _ => waves.push(vec![object]),
        }
    }
    waves
}

fn read(value: &Value, depth: usize, planned: &mut Vec<Planned>) -> Result<(), Refusal> {
    let identity = Recorded::of(value);
    if (identity.api_version.as_str(), identity.kind.as_str()) == ("v1", "List") {
        if depth == MAX_LISTS {
            return Err(refused(format!("Lists are nested more than {MAX_LISTS} levels deep")));
        }
        let items = value.get("items").and_then(Value::as_array);
        return items.into_iter().flatten().try_for_each(|item| read(item, depth + 1, planned));
    }
    if planned.len() == MAX_OBJECTS {
        return Err(refused(format!("more than {MAX_OBJECTS} objects")));
    }
    let Value::Object(fields) = value else {
        return Err(refused("an object is not a map".to_owned()));
    };
    check(&identity)?;
    planned.push(Planned { identity, value: fields.clone() });
    Ok(())
}

fn check(identity: &Recorded) -> Result<(), Refusal> {
    let Recorded { kind, name, .. } = identity;
    if kind.is_empty() || identity.api_version.is_empty() {
        return Err(refused(format!("the object `{name}` has no `apiVersion` or no `kind`")));
    }
    if name.is_empty() {
        return Err(refused(format!(
            "an object of kind `{kind}` has no `metadata.name`; apply needs one"
        )));
    }
    let is_segment = |text: &str| ![".", ".."].contains(&text) && !text.contains(['/', '%']);
    if !is_segment(name) || !is_segment(&identity.namespace) {
        return Err(refused(format!(
            "the name or namespace of the {kind} `{name}` is not a valid path segment"
        )));
    }
    Ok(())
}

fn refused(why: String) -> Refusal {
    Status::bad_request(why).into()
}

/// Returns the group and kind that a CustomResourceDefinition defines.
pub(super) fn defined(planned: &Planned) -> Option<(&str, &str)> {
    if Phase::of(&planned.identity) != Phase::Definitions {
        return None;
    }
    let spec = planned.value.get("spec")?;
    let kind = spec.get("names")?.get("kind")?.as_str()?;
    Some((spec.get("group")?.as_str()?, kind))
}

/// Returns `true` if one of the objects defines the kind of `object`.
pub(super) fn defines(all: &[Planned], object: &Recorded) -> bool {
    let wanted = (group(&object.api_version), object.kind.as_str());
    all.iter().any(|planned| defined(planned) == Some(wanted))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(objects: &[Value]) -> Result<Vec<String>, Refusal> {
        let objects: Vec<Object> = objects.iter().cloned().map(Object).collect();
        let mut planned = plan(&objects)?;
        crate::order::sort(&mut planned).map_err(|stop| stop.0)?;
        Ok(planned
            .iter()
            .map(|one| format!("{}/{}", one.identity.kind, one.identity.name))
            .collect())
    }

    fn object(api_version: &str, kind: &str, name: &str) -> Value {
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}})
    }

    #[test]
    fn objects_come_after_what_they_need() {
        let found = names(&[
            object("example.org/v1", "Widget", "w2"),
            object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "hook"),
            object("apps/v1", "Deployment", "d"),
            object("example.org/v1", "Widget", "w1"),
            json!({"apiVersion": "v1", "kind": "List", "items": [
                object("v1", "Secret", "s"),
                object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets"),
                object("v1", "ResourceQuota", "q"),
            ]}),
            object("v1", "ConfigMap", "c"),
            object("v1", "Namespace", "n"),
        ]);
        assert_eq!(
            found.unwrap(),
            [
                "Namespace/n",
                "CustomResourceDefinition/widgets",
                "ResourceQuota/q",
                "ConfigMap/c",
                "Secret/s",
                "Deployment/d",
                "Widget/w2",
                "Widget/w1",
                "ValidatingWebhookConfiguration/hook",
            ]
        );
    }

    #[test]
    fn what_has_no_place_in_a_cluster_is_refused() {
        let mut lists = json!({"apiVersion": "v1", "kind": "List", "items": []});
        for _ in 0..=MAX_LISTS {
            lists = json!({"apiVersion": "v1", "kind": "List", "items": [lists]});
        }
        let named = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "a-"}});
        for wrong in [
            json!(null),
            json!("a"),
            json!({"kind": "Pod", "metadata": {"name": "a"}}),
            json!({"apiVersion": "v1", "metadata": {"name": "a"}}),
            named,
            object("v1", "Pod", ".."),
            object("v1", "Pod", "a/b"),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "../b"}}),
            lists,
        ] {
            assert_eq!(names(std::slice::from_ref(&wrong)).unwrap_err().code, 400, "{wrong}");
        }
        let many = json!({"apiVersion": "v1", "kind": "List",
                          "items": vec![object("v1", "Pod", "a"); MAX_OBJECTS + 1]});
        assert_eq!(names(&[many]).unwrap_err().code, 400);
    }
}
