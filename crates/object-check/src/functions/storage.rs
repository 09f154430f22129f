//! Persistent volumes, claims and classes of storage.

use std::collections::BTreeSet;

use krm_yaml::View;

use super::containers::amount;
use super::volumes::is_source;
use crate::formats::Format;
use crate::walk::{Walk, entries, get, has, is_empty, list, steps, text};

/// Checks a PersistentVolume.
pub(crate) fn volume<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let fields = spec.entries().into_iter().flatten();
    let sources: Vec<_> = fields
        .filter(|(key, value)| is_source(key) && !value.is_null())
        .map(|(key, _)| key)
        .collect();
    if sources.is_empty() {
        walk.refuse(spec, &[], "must have a source of the volume, such as `nfs` or `csi`");
    }
    for other in sources.iter().skip(1) {
        walk.refuse(
            spec,
            steps![other.clone()],
            "must not be set next to another source of the volume",
        );
    }
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
    modes(walk, spec);
    if get(spec, "local").is_some() && get(spec, "nodeAffinity").is_none() {
        walk.refuse(spec, steps!["nodeAffinity"], "is required for a local volume");
    }
    if let Some(path) = get(spec, "hostPath")
        && text(path, "path").as_deref() == Some("/")
        && text(spec, "persistentVolumeReclaimPolicy").as_deref() == Some("Recycle")
    {
        walk.refuse(
            spec,
            steps!["persistentVolumeReclaimPolicy"],
            "must not be `Recycle` for the root of the node",
        );
    }
}

fn modes<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
    let mut has_pod = false;
    let mut count = 0;
    for (index, mode) in list(spec, "accessModes").enumerate() {
        let Some(mode) = mode.as_str() else { continue };
        count += 1;
        has_pod |= mode == "ReadWriteOncePod";
        if !MODES.contains(&mode.as_ref()) && !walk.is_open_text(&mode) {
            walk.not_one_of(spec, steps!["accessModes", index], &mode, &MODES);
        }
    }
    if has_pod && count > 1 {
        walk.refuse(
            spec,
            steps!["accessModes"],
            "must not have another mode next to `ReadWriteOncePod`",
        );
    }
}

/// Checks a claim, or a template of claims.
pub(crate) fn claim<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    modes(walk, spec);
    let resources = get(spec, "resources");
    let requests = resources.and_then(|resources| get(resources, "requests"));
    match requests.and_then(|requests| get(requests, "storage")) {
        None => walk.missing(spec, steps!["resources", "requests", "storage"]),
        Some(size) => {
            if amount(size).is_some_and(|size| size <= 0.0) {
                walk.refuse(
                    spec,
                    steps!["resources", "requests", "storage"],
                    "must be more than 0",
                );
            }
        }
    }
    for field in ["dataSourceRef"] {
        let Some(source) = get(spec, field).filter(|source| source.is_mapping()) else {
            continue;
        };
        for name in ["kind", "name"] {
            if !has(source, name) {
                walk.missing(spec, steps![field, name]);
            }
        }
        if !has(source, "apiGroup")
            && text(source, "kind").is_some_and(|kind| kind != "PersistentVolumeClaim")
        {
            walk.refuse(
                spec,
                steps![field],
                "must have an `apiGroup`, or the kind `PersistentVolumeClaim`",
            );
        }
    }
    if let (Some(one), Some(other)) = (get(spec, "dataSource"), get(spec, "dataSourceRef"))
        && ["apiGroup", "kind", "name"].iter().any(|field| text(one, field) != text(other, field))
    {
        walk.refuse(spec, steps!["dataSource"], "must equal `dataSourceRef`");
    }
}

/// Checks a StorageClass.
pub(crate) fn class<'v>(walk: &mut Walk<'v>, class: View<'v>) {
    parameters(walk, class);
    let policy = text(class, "reclaimPolicy");
    if policy.as_deref() == Some("Recycle") {
        walk.not_one_of(class, steps!["reclaimPolicy"], "Recycle", &["Delete", "Retain"]);
    }
    let mut seen = BTreeSet::new();
    for (index, term) in list(class, "allowedTopologies").enumerate() {
        let mut keys = BTreeSet::new();
        for (at, one) in list(term, "matchLabelExpressions").enumerate() {
            let Some(key) = text(one, "key") else {
                continue;
            };
            if !keys.insert(key) {
                walk.refuse(
                    class,
                    steps!["allowedTopologies", index, "matchLabelExpressions", at, "key"],
                    "must be unique",
                );
            }
            let mut values = BTreeSet::new();
            for (value, text) in list(one, "values").enumerate() {
                if text.as_str().is_some_and(|text| !values.insert(text)) {
                    let path = steps![
                        "allowedTopologies",
                        index,
                        "matchLabelExpressions",
                        at,
                        "values",
                        value
                    ];
                    walk.refuse(class, path, "must be unique");
                }
            }
        }
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

/// Checks parameters.
fn parameters<'v>(walk: &mut Walk<'v>, class: View<'v>) {
    for (key, _) in entries(class, "parameters") {
        if key.is_empty() {
            walk.refuse(class, steps!["parameters"], "must not have an empty key");
        }
    }
}

/// Checks a VolumeAttributesClass.
pub(crate) fn attributes_class<'v>(walk: &mut Walk<'v>, class: View<'v>) {
    parameters(walk, class);
    if get(class, "parameters").is_none_or(is_empty) {
        walk.missing(class, steps!["parameters"]);
    }
}

/// Checks a source of the kind CSI.
pub(crate) fn csi<'v>(walk: &mut Walk<'v>, source: View<'v>) {
    if !has(source, "driver") {
        walk.missing(source, steps!["driver"]);
    }
    if let Some(name) = text(source, "driver")
        && (name.len() > 63 || !Format::Subdomain.fits(&name.to_ascii_lowercase()))
    {
        walk.refuse(
            source,
            steps!["driver"],
            "must be the name of a driver: a DNS name of up to 63 characters",
        );
    }
}
