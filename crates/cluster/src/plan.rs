//! Checks objects, and sorts them: Namespaces, CustomResourceDefinitions, then other objects by kind.
//! An object that depends on another one by the annotation `config.kubernetes.io/depends-on` comes
//! after it. Deletions go in waves.

use std::collections::{BTreeMap, BTreeSet};

use krm_template_composition::legacy_rank;
use serde_json::{Map, Value};

use super::failure::{Failure, Refusal};
use super::types::{Key, Object, Recorded, group};
use krm_template_server_core::Status;

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
pub fn deletion_waves(recorded: &[Recorded]) -> Vec<Vec<Recorded>> {
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

/// The annotation with the objects on which an object depends.
///
/// Source: `pkg/object/dependson` of `sigs.k8s.io/cli-utils`.
const DEPENDS_ON: &str = "config.kubernetes.io/depends-on";

/// The place of an object: that of its kind, or of what it depends on, and the length of the chain
/// of objects on which it depends there.
type Place = ((Phase, usize), usize);

/// An error, and the object that it is about.
type Stop = Box<(Refusal, Option<Recorded>)>;

/// Sorts objects. The sort is stable.
pub(super) fn sort(planned: &mut Vec<Planned>) -> Result<(), Stop> {
    let all = planned.iter();
    let all: Vec<_> = all.map(|one| (&one.identity, one.value.get("metadata"))).collect();
    let places = places(&all)?;
    let mut sorted: Vec<_> = places.into_iter().zip(std::mem::take(planned)).collect();
    sorted.sort_by_key(|(place, _)| *place);
    planned.extend(sorted.into_iter().map(|(_, one)| one));
    Ok(())
}

/// Returns the number of the wave of each object. Objects are given with their `metadata`.
///
/// # Errors
/// If objects depend on one another in a cycle, or name an object in an invalid way.
pub fn apply_waves(all: &[(&Recorded, Option<&Value>)]) -> Result<Vec<usize>, Failure> {
    let places = places(all).map_err(|stop| stop.0.failure(stop.1, Vec::new()))?;
    let different: BTreeSet<&Place> = places.iter().collect();
    let numbers: BTreeMap<&Place, usize> = different.into_iter().zip(0..).collect();
    let number = |place| numbers.get(place).copied().unwrap_or_default();
    Ok(places.iter().map(number).collect())
}

fn places(all: &[(&Recorded, Option<&Value>)]) -> Result<Vec<Place>, Stop> {
    let mut places: Vec<Place> = all.iter().map(|(one, _)| (key(one), 0)).collect();
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    let mut missing = vec![0_usize; all.len()];
    let known: BTreeMap<Key<'_>, usize> = all.iter().map(|(one, _)| one.key()).zip(0..).collect();
    for (index, (one, metadata)) in all.iter().enumerate() {
        let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
        let text = annotations.and_then(|all| all.get(DEPENDS_ON)?.as_str());
        for wanted in text.into_iter().flat_map(|text| text.split(',')) {
            let Some(wanted) = reference(wanted.trim()) else {
                let why = format!(
                    "the annotation `{DEPENDS_ON}` has {wanted:?}; write \
                     `GROUP/namespaces/NAMESPACE/KIND/NAME`, or `GROUP/KIND/NAME` for an object \
                     without a namespace"
                );
                return Err(Box::new((Status::bad_request(why).into(), Some((*one).clone()))));
            };
            // Others exist already, or never will: the cluster says so.
            if let Some(found) = known.get(&wanted)
                && let Some(needed_by) = needed_by.get_mut(*found)
                && let Some(missing) = missing.get_mut(index)
            {
                needed_by.push(index);
                *missing += 1;
            }
        }
    }
    let mut free: Vec<usize> =
        missing.iter().zip(0..).filter(|(n, _)| **n == 0).map(|(_, i)| i).collect();
    while let Some(index) = free.pop() {
        let Some(&(key, depth)) = places.get(index) else {
            continue;
        };
        for &after in needed_by.get(index).into_iter().flatten() {
            if let Some(place) = places.get_mut(after) {
                *place = (*place).max((key, depth + 1));
            }
            if let Some(missing) = missing.get_mut(after) {
                *missing -= 1;
                if *missing == 0 {
                    free.push(after);
                }
            }
        }
    }
    match missing.iter().zip(all).find(|(missing, _)| **missing > 0) {
        Some((_, (one, _))) => {
            let why = format!("it depends on itself through `{DEPENDS_ON}`");
            Err(Box::new((Status::bad_request(why).into(), Some((*one).clone()))))
        }
        None => Ok(places),
    }
}

/// Reads a reference to an object.
fn reference(text: &str) -> Option<Key<'_>> {
    let parts: Vec<&str> = text.split('/').collect();
    let found = match parts.as_slice() {
        [group, kind, name] => (*group, *kind, "", *name),
        [group, "namespaces", namespace, kind, name] => (*group, *kind, *namespace, *name),
        _ => return None,
    };
    (!found.1.is_empty() && !found.3.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(objects: &[Value]) -> Result<Vec<String>, Refusal> {
        let objects: Vec<Object> = objects.iter().cloned().map(Object).collect();
        let mut planned = plan(&objects)?;
        sort(&mut planned).map_err(|stop| stop.0)?;
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

    fn numbers(objects: &[(&str, &str, &str)]) -> Result<Vec<usize>, String> {
        let objects = objects.iter().map(|(kind, name, needs)| {
            let api_version = if *kind == "Deployment" { "apps/v1" } else { "v1" };
            let one = Recorded::new(api_version, kind, "shop", name);
            let annotations = if needs.is_empty() { json!({}) } else { json!({DEPENDS_ON: needs}) };
            (one, json!({"annotations": annotations}))
        });
        let objects: Vec<_> = objects.collect();
        let all: Vec<_> = objects.iter().map(|(one, data)| (one, Some(data))).collect();
        apply_waves(&all).map_err(|failure| failure.to_string())
    }

    #[test]
    fn an_object_comes_after_what_it_depends_on() {
        let found = numbers(&[
            ("ConfigMap", "late", "apps/namespaces/shop/Deployment/web, /namespaces/shop/Secret/s"),
            ("Deployment", "web", ""),
            ("ConfigMap", "early", ""),
            ("ConfigMap", "last", "/namespaces/shop/ConfigMap/late"),
            ("Secret", "s", "/namespaces/shop/ConfigMap/of-others"),
        ]);
        assert_eq!(found, Ok(vec![3, 2, 0, 4, 1]));
    }

    #[test]
    fn cycles_and_odd_references_are_errors() {
        let cycle = numbers(&[
            ("ConfigMap", "a", "/namespaces/shop/ConfigMap/b"),
            ("ConfigMap", "b", "/namespaces/shop/ConfigMap/a"),
        ]);
        assert!(cycle.unwrap_err().contains("depends on itself"));
        let odd = numbers(&[("ConfigMap", "a", "b")]);
        assert!(odd.unwrap_err().contains("GROUP/KIND/NAME"));
    }
}
