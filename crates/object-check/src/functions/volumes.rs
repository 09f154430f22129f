//! Volumes, and what they project.

use std::collections::BTreeSet;

use krm_yaml::View;

use super::containers::{KEY, is_data_key};
use crate::formats::Format;
use crate::walk::{Walk, entries, get, has, list, number, steps, text};

/// Checks that a volume has one source.
pub(crate) fn volume<'v>(walk: &mut Walk<'v>, volume: View<'v>) {
    let Some(fields) = volume.entries() else {
        return;
    };
    let sources = fields.into_iter().filter(|(key, value)| key != "name" && !value.is_null());
    let sources: Vec<_> = sources.map(|(key, _)| key).filter(|key| is_source(key)).collect();
    for other in sources.into_iter().skip(1) {
        walk.refuse(volume, steps![other], "must not be set next to another source of the volume");
    }
    let claim = get(volume, "persistentVolumeClaim");
    if let Some(name) = claim.and_then(|claim| text(claim, "claimName"))
        && !Format::Subdomain.fits(&name)
    {
        // Newer versions do not check it: the finding needs a certain refusal.
        let _ = name;
    }
    if let Some(name) = get(volume, "configMap")
        && !has(name, "name")
        && name.is_mapping()
        && walk.group != "build.openshift.io"
    {
        walk.missing(volume, steps!["configMap", "name"]);
    }
    if let Some(secret) = get(volume, "secret")
        && secret.is_mapping()
        && !has(secret, "secretName")
    {
        walk.missing(volume, steps!["secret", "secretName"]);
    }
}

/// The sources of a volume of a pod, or of a persistent volume.
pub(crate) fn is_source(field: &str) -> bool {
    matches!(
        field,
        "awsElasticBlockStore"
            | "azureDisk"
            | "azureFile"
            | "cephfs"
            | "cinder"
            | "configMap"
            | "csi"
            | "downwardAPI"
            | "emptyDir"
            | "ephemeral"
            | "fc"
            | "flexVolume"
            | "flocker"
            | "gcePersistentDisk"
            | "gitRepo"
            | "glusterfs"
            | "hostPath"
            | "image"
            | "iscsi"
            | "local"
            | "nfs"
            | "persistentVolumeClaim"
            | "photonPersistentDisk"
            | "portworxVolume"
            | "projected"
            | "quobyte"
            | "rbd"
            | "scaleIO"
            | "secret"
            | "storageos"
            | "vsphereVolume"
    )
}

/// Checks the keys of a ConfigMap or Secret that become files.
pub(crate) fn key_to_path<'v>(walk: &mut Walk<'v>, item: View<'v>) {
    if text(item, "path").is_some_and(|path| path.starts_with("..") && !path.starts_with("../")) {
        walk.refuse(item, steps!["path"], "must not begin with `..`");
    }
}

/// Checks a source of a projected volume.
pub(crate) fn projection<'v>(walk: &mut Walk<'v>, source: View<'v>) {
    let kinds = [
        "secret",
        "configMap",
        "downwardAPI",
        "serviceAccountToken",
        "clusterTrustBundle",
        "podCertificate",
    ];
    let mut set = kinds.iter().filter(|kind| get(source, kind).is_some());
    set.next();
    for other in set {
        walk.refuse(source, steps![*other], "must not be set next to another source");
    }
    for field in ["secret", "configMap"] {
        if get(source, field).is_some_and(|one| one.is_mapping() && !has(one, "name")) {
            walk.missing(source, steps![field, "name"]);
        }
    }
    if let Some(token) = get(source, "serviceAccountToken") {
        if let Some(seconds) = number(token, "expirationSeconds") {
            if seconds < 600 {
                walk.refuse(
                    source,
                    steps!["serviceAccountToken", "expirationSeconds"],
                    "must be at least 600",
                );
            } else if seconds > 1 << 32 {
                walk.refuse(
                    source,
                    steps!["serviceAccountToken", "expirationSeconds"],
                    "must be at most 2^32",
                );
            }
        }
        if token.is_mapping() && !has(token, "path") {
            walk.missing(source, steps!["serviceAccountToken", "path"]);
        }
    }
}

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

/// Checks a file with a field of the pod.
pub(crate) fn downward_file<'v>(walk: &mut Walk<'v>, file: View<'v>) {
    let count =
        ["fieldRef", "resourceFieldRef"].iter().filter(|field| get(file, field).is_some()).count();
    if count != 1 {
        walk.refuse(file, &[], "must have one of `fieldRef` and `resourceFieldRef`");
    }
}

/// Checks a path of the node.
pub(crate) fn host_path<'v>(walk: &mut Walk<'v>, volume: View<'v>) {
    if text(volume, "path").is_some_and(|path| path.split('/').any(|part| part == "..")) {
        walk.refuse(volume, steps!["path"], "must not contain `..`");
    }
}

/// Checks the keys of a ConfigMap or Secret.
pub(crate) fn data<'v>(walk: &mut Walk<'v>, object: View<'v>) {
    let mut keys = BTreeSet::new();
    for field in ["data", "binaryData"] {
        for (key, _) in entries(object, field) {
            if !is_data_key(&key) {
                walk.refuse(object, steps![field, key.clone()], KEY);
            }
            if !keys.insert(key.clone()) {
                walk.refuse(object, steps![field, key], "must not be a key of `data` as well");
            }
        }
    }
}

/// Checks a Secret: its type says which keys it needs.
pub(crate) fn secret<'v>(walk: &mut Walk<'v>, secret: View<'v>) {
    for field in ["data", "stringData"] {
        for (key, _) in entries(secret, field) {
            if !is_data_key(&key) {
                walk.refuse(secret, steps![field, key], KEY);
            }
        }
    }
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
