//! Persistent volumes, claims and classes of storage.

use std::collections::BTreeSet;

use krm_yaml::View;

use super::containers::amount;
use crate::walk::{Walk, entries, get, is_empty, list, steps, text};

/// Checks a PersistentVolume.
pub(crate) fn volume<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let capacity = get(spec, "capacity");
    if capacity.is_none_or(is_empty) {
        walk.missing(spec, steps!["capacity"]);
    } else {
        for (name, value) in entries(spec, "capacity") {
            if name != "storage" {
                walk.refuse(spec, steps!["capacity"], "must have `storage` and nothing else");
            } else if amount(value).is_some_and(|amount| amount <= 0.0) {
                walk.refuse(spec, steps!["capacity", "storage"], "must be more than 0");
            }
        }
    }
}

/// Checks a StorageClass.
pub(crate) fn class<'v>(walk: &mut Walk<'v>, class: View<'v>) {
    parameters(walk, class);
    let mut seen = BTreeSet::new();
    for (index, term) in list(class, "allowedTopologies").enumerate() {
        let all: Vec<_> = list(term, "matchLabelExpressions")
            .map(|one| {
                let values: Vec<_> =
                    list(one, "values").map(|value| value.as_str().unwrap_or_default()).collect();
                (text(one, "key"), values)
            })
            .collect();
        if !seen.insert(all) {
            walk.refuse(class, steps!["allowedTopologies", index], "must be unique");
        }
    }
}

/// Checks the parameters of a class.
pub(crate) fn parameters<'v>(walk: &mut Walk<'v>, class: View<'v>) {
    if entries(class, "parameters").any(|(key, _)| key.is_empty()) {
        walk.refuse(class, steps!["parameters"], "must not have an empty key");
    }
}
