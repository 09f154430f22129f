//! Volumes, and what they project.

use std::collections::BTreeSet;

use krm_yaml::View;

use crate::formats::Format;
use crate::walk::{Walk, entries, get, has, list, steps, text};

/// Checks that the files of a projected volume differ.
pub(crate) fn projected<'v>(walk: &mut Walk<'v>, volume: View<'v>) {
    let mut paths = BTreeSet::new();
    for (index, source) in list(volume, "sources").enumerate() {
        for field in ["secret", "configMap", "downwardAPI"] {
            let Some(one) = get(source, field) else {
                continue;
            };
            for (at, item) in list(one, "items").enumerate() {
                if let Some(path) = text(item, "path")
                    && !paths.insert(path)
                {
                    walk.refuse(
                        volume,
                        steps!["sources", index, field, "items", at, "path"],
                        "must be unique in the volume",
                    );
                }
            }
        }
    }
}

/// Checks the keys of a ConfigMap or Secret.
pub(crate) fn data<'v>(walk: &mut Walk<'v>, object: View<'v>) {
    data_keys(walk, object, &["data", "binaryData"]);
    let texts: BTreeSet<_> = entries(object, "data").map(|(key, _)| key).collect();
    for (key, _) in entries(object, "binaryData") {
        if texts.contains(&key) {
            walk.refuse(object, steps!["binaryData", key], "must not be a key of `data` as well");
        }
    }
}

fn data_keys<'v>(walk: &mut Walk<'v>, object: View<'v>, fields: &[&'static str]) {
    for field in fields {
        for (key, _) in entries(object, field) {
            if !Format::DataKey.fits(&key) {
                let what = format!("must be {}", Format::DataKey.words());
                walk.refuse(object, steps![*field, key], &what);
            }
        }
    }
}

/// Checks a Secret: its type says which keys it needs.
pub(crate) fn secret<'v>(walk: &mut Walk<'v>, secret: View<'v>) {
    data_keys(walk, secret, &["data", "stringData"]);
    let kind = text(secret, "type");
    let there = |key: &str| {
        ["data", "stringData"]
            .iter()
            .any(|field| get(secret, field).is_some_and(|data| data.get(key).is_some()))
    };
    let needed: &[&'static str] = match kind.as_deref() {
        Some("kubernetes.io/tls") => &["tls.crt", "tls.key"],
        Some("kubernetes.io/ssh-auth") => &["ssh-privatekey"],
        Some("kubernetes.io/dockercfg") => &[".dockercfg"],
        Some("kubernetes.io/dockerconfigjson") => &[".dockerconfigjson"],
        Some("kubernetes.io/basic-auth") => {
            if !there("username") && !there("password") {
                walk.refuse(
                    secret,
                    steps!["data"],
                    "must have `username` or `password` for this type",
                );
            }
            &[]
        }
        Some("kubernetes.io/service-account-token") => {
            let meta = get(secret, "metadata");
            let name = meta.and_then(|meta| get(meta, "annotations"));
            if name.is_none_or(|name| !has(name, "kubernetes.io/service-account.name")) {
                let path = steps!["metadata", "annotations", "kubernetes.io/service-account.name"];
                walk.refuse(secret, path, "is required for this type");
            }
            &[]
        }
        _ => &[],
    };
    for key in needed {
        if !there(key) {
            walk.refuse(secret, steps!["data", *key], "is required for this type");
        }
    }
}
