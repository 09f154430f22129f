//! The order in which objects are applied: Namespaces, CustomResourceDefinitions, then other objects
//! by kind. An object that depends on another one by the annotation
//! `config.kubernetes.io/depends-on` comes after it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::failure::{Failure, Refusal};
use super::plan::{Phase, Planned, key};
use super::types::{Key, Recorded};
use krm_template_server_core::status::Status;

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
pub fn waves(all: &[(&Recorded, Option<&Value>)]) -> Result<Vec<usize>, Failure> {
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

    fn numbers(objects: &[(&str, &str, &str)]) -> Result<Vec<usize>, String> {
        let objects = objects.iter().map(|(kind, name, needs)| {
            let api_version = if *kind == "Deployment" { "apps/v1" } else { "v1" };
            let one = Recorded::new(api_version, kind, "shop", name);
            let annotations = if needs.is_empty() { json!({}) } else { json!({DEPENDS_ON: needs}) };
            (one, json!({"annotations": annotations}))
        });
        let objects: Vec<_> = objects.collect();
        let all: Vec<_> = objects.iter().map(|(one, data)| (one, Some(data))).collect();
        waves(&all).map_err(|failure| failure.to_string())
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
