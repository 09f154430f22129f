//! Pods: what their containers and volumes need of each other.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::View;

use crate::formats::Format;
use crate::walk::{Walk, at, entries, get, has, is_true, list, number, steps, text};

/// Checks the specification of a pod.
pub(crate) fn pod_spec<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    container_names(walk, spec);
    mounts(walk, spec);
    host_ports(walk, spec);
    searches(walk, spec);
    if is_true(spec, "hostNetwork") {
        host_network(walk, spec);
    }
}

fn container_names<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let mut names = BTreeSet::new();
    for field in ["initContainers", "containers"] {
        for (index, container) in list(spec, field).enumerate() {
            if let Some(name) = text(container, "name")
                && !names.insert(name)
            {
                walk.refuse(spec, steps![field, index, "name"], "must be unique in the pod");
            }
        }
    }
}

/// The names of volumes, and of the claims that a StatefulSet makes volumes of.
fn mounts<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let mut names: BTreeSet<Cow<'v, str>> = BTreeSet::new();
    let mut devices: BTreeSet<Cow<'v, str>> = BTreeSet::new();
    for (index, volume) in list(spec, "volumes").enumerate() {
        let Some(name) = text(volume, "name") else {
            continue;
        };
        if has(volume, "persistentVolumeClaim") || has(volume, "ephemeral") {
            devices.insert(name.clone());
        }
        if !names.insert(name) {
            walk.refuse(spec, steps!["volumes", index, "name"], "must be unique in the pod");
        }
    }
    if walk.kind == "StatefulSet"
        && let Some(own) = get(walk.root, "spec")
    {
        for claim in list(own, "volumeClaimTemplates") {
            if let Some(name) = get(claim, "metadata").and_then(|meta| text(meta, "name")) {
                devices.insert(name.clone());
                names.insert(name);
            }
        }
    }
    if names.iter().any(|name| walk.is_placeholder_text(name)) {
        return;
    }
    for field in ["initContainers", "containers"] {
        for (index, container) in list(spec, field).enumerate() {
            let mut paths = BTreeSet::new();
            for (mount, value) in list(container, "volumeMounts").enumerate() {
                let there = text(value, "name");
                if there.is_some_and(|name| !names.contains(&name)) {
                    let path = steps![field, index, "volumeMounts", mount, "name"];
                    walk.refuse(spec, path, "must be the name of a volume of the pod");
                }
                if let Some(path) = text(value, "mountPath")
                    && !paths.insert(path)
                {
                    let path = steps![field, index, "volumeMounts", mount, "mountPath"];
                    walk.refuse(spec, path, "must be unique in the container");
                }
            }
            let mut used = BTreeSet::new();
            for (device, value) in list(container, "volumeDevices").enumerate() {
                let Some(name) = text(value, "name") else {
                    continue;
                };
                let path = steps![field, index, "volumeDevices", device, "name"];
                if !names.contains(&name) {
                    walk.refuse(spec, path, "must be the name of a volume of the pod");
                } else if !devices.contains(&name) {
                    walk.refuse(spec, path, "must be the name of a volume with a claim");
                } else if !used.insert(name) {
                    walk.refuse(spec, path, "must be unique in the container");
                }
                if let Some(path) = text(value, "devicePath")
                    && paths.contains(&path)
                {
                    let path = steps![field, index, "volumeDevices", device, "devicePath"];
                    walk.refuse(spec, path, "must not be a path of `volumeMounts`");
                }
            }
        }
    }
}

fn host_ports<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let mut used = BTreeSet::new();
    for (index, container) in list(spec, "containers").enumerate() {
        for (at, port) in list(container, "ports").enumerate() {
            let on_host = number(port, "hostPort").filter(|port| *port != 0);
            let on_host = on_host.or_else(|| {
                is_true(spec, "hostNetwork").then(|| number(port, "containerPort")).flatten()
            });
            let Some(on_host) = on_host else { continue };
            let protocol = text(port, "protocol").unwrap_or(Cow::Borrowed("TCP"));
            let address = text(port, "hostIP").unwrap_or_default();
            if !used.insert((on_host, protocol, address)) {
                let path = steps!["containers", index, "ports", at, "hostPort"];
                walk.refuse(spec, path, "must be unique in the pod");
            }
        }
    }
}

fn host_network<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    for field in ["initContainers", "containers"] {
        for (index, container) in list(spec, field).enumerate() {
            for (at, port) in list(container, "ports").enumerate() {
                let own = number(port, "containerPort");
                let on_host = number(port, "hostPort").filter(|port| *port != 0);
                if on_host.is_some() && own.is_some() && on_host != own {
                    let path = steps![field, index, "ports", at, "hostPort"];
                    walk.refuse(
                        spec,
                        path,
                        "must equal `containerPort` next to `hostNetwork: true`",
                    );
                }
            }
        }
    }
}

fn searches<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let config = get(spec, "dnsConfig").into_iter();
    for (index, domain) in config.flat_map(|config| list(config, "searches")).enumerate() {
        let domain = domain.as_str().unwrap_or_default();
        let domain = domain.strip_suffix('.').unwrap_or(&domain);
        // Newer versions allow underscores.
        if !domain.is_empty() && !Format::Subdomain.fits(&domain.replace('_', "a")) {
            let what = format!("must be {}", Format::Subdomain.words());
            walk.refuse(spec, steps!["dnsConfig", "searches", index], &what);
        }
    }
}

/// The labels of a template of pods.
pub(crate) fn template_labels(spec: View<'_>) -> Option<View<'_>> {
    at(spec, &["template", "metadata", "labels"])
}

/// Whether the labels of a template have all of these.
pub(crate) fn has_labels<'v>(labels: Option<View<'v>>, wanted: View<'v>, field: &str) -> bool {
    let own = labels.and_then(View::entries).into_iter().flatten();
    let own: BTreeMap<Cow<'v, str>, View<'v>> = own.collect();
    entries(wanted, field).all(|(key, value)| {
        let own = own.get(&key).copied();
        let text = |view: View<'v>| view.as_str().unwrap_or_default();
        own.is_some_and(|own| text(own) == text(value))
    })
}
