//! Pods: what their containers and volumes need of each other.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::View;

use super::metadata::{label_map, requirement};
use crate::formats::{Format, is_ip};
use crate::walk::{Walk, at, entries, get, has, is_true, list, number, steps, text};

/// Checks the specification of a pod.
pub(crate) fn pod_spec<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    restart_policy(walk, spec);
    container_names(walk, spec);
    mounts(walk, spec);
    host_ports(walk, spec);
    label_map(walk, spec, "nodeSelector");
    dns(walk, spec);
    if is_true(spec, "hostPID") && is_true(spec, "shareProcessNamespace") {
        walk.refuse(
            spec,
            steps!["shareProcessNamespace"],
            "must not be set next to `hostPID: true`",
        );
    }
    if is_true(spec, "hostNetwork") {
        host_network(walk, spec);
    }
    spread(walk, spec);
    if has(spec, "ephemeralContainers") {
        walk.refuse(spec, steps!["ephemeralContainers"], "can only be added to a pod that runs");
    }
}

/// The kinds whose pods are always started again.
const CONTROLLERS: [&str; 6] = [
    "Deployment",
    "ReplicaSet",
    "DaemonSet",
    "StatefulSet",
    "ReplicationController",
    "DeploymentConfig",
];

fn restart_policy<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    if get(spec, "restartPolicy").is_some_and(|policy| policy.as_str().is_none()) {
        return;
    }
    let policy = text(spec, "restartPolicy");
    match walk.kind {
        "Job" | "CronJob" => match policy.as_deref() {
            None => {
                walk.refuse(spec, steps!["restartPolicy"], "is required: `OnFailure` or `Never`");
            }
            Some("Always") => {
                walk.refuse(
                    spec,
                    steps!["restartPolicy"],
                    "must be `OnFailure` or `Never` in a job",
                );
            }
            Some(_) => {}
        },
        kind if CONTROLLERS.contains(&kind) => {
            if matches!(policy.as_deref(), Some("OnFailure" | "Never")) {
                walk.refuse(
                    spec,
                    steps!["restartPolicy"],
                    &format!("must be `Always` in a {kind}"),
                );
            }
        }
        _ => {}
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
    if names.iter().any(|name| walk.is_open_text(name)) {
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

fn dns<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let config = get(spec, "dnsConfig");
    let servers = config.map_or(0, |config| list(config, "nameservers").count());
    if text(spec, "dnsPolicy").as_deref() == Some("None") && servers == 0 {
        walk.refuse(spec, steps!["dnsConfig", "nameservers"], "is required for `dnsPolicy: None`");
    }
    let Some(config) = config else { return };
    if servers > 3 {
        walk.refuse(spec, steps!["dnsConfig", "nameservers"], "must have at most 3 items");
    }
    for (index, option) in list(config, "options").enumerate() {
        if !has(option, "name") {
            walk.missing(spec, steps!["dnsConfig", "options", index, "name"]);
        }
    }
    for (index, domain) in list(config, "searches").enumerate() {
        let domain = domain.as_str().unwrap_or_default();
        let domain = domain.strip_suffix('.').unwrap_or(&domain);
        // Newer versions allow underscores.
        if !domain.is_empty() && !Format::Subdomain.fits(&domain.replace('_', "a")) {
            let what = format!("must be {}", Format::Subdomain.words());
            walk.refuse(spec, steps!["dnsConfig", "searches", index], &what);
        }
    }
}

fn spread<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let mut seen = BTreeSet::new();
    for (index, one) in list(spec, "topologySpreadConstraints").enumerate() {
        let key = (text(one, "topologyKey"), text(one, "whenUnsatisfiable"));
        if !seen.insert(key) {
            let what = "must differ from the others in `topologyKey` or `whenUnsatisfiable`";
            walk.refuse(spec, steps!["topologySpreadConstraints", index], what);
        }
        if has(one, "matchLabelKeys") && get(one, "labelSelector").is_none() {
            let what = "must not be set without `labelSelector`";
            walk.refuse(spec, steps!["topologySpreadConstraints", index, "matchLabelKeys"], what);
        }
        if get(one, "minDomains").is_some() {
            if number(one, "minDomains").is_some_and(|number| number < 1) {
                walk.refuse(
                    spec,
                    steps!["topologySpreadConstraints", index, "minDomains"],
                    "must be at least 1",
                );
            }
            if text(one, "whenUnsatisfiable").as_deref() == Some("ScheduleAnyway") {
                let what = "can only be set with `whenUnsatisfiable: DoNotSchedule`";
                walk.refuse(spec, steps!["topologySpreadConstraints", index, "minDomains"], what);
            }
        }
    }
}

/// Checks a toleration.
pub(crate) fn toleration<'v>(walk: &mut Walk<'v>, one: View<'v>) {
    let operator = text(one, "operator");
    let key = text(one, "key");
    if let Some(key) = &key
        && !Format::QualifiedName.fits(key)
    {
        walk.refuse(one, steps!["key"], &format!("must be {}", Format::QualifiedName.words()));
    }
    let is_exists = operator.as_deref() == Some("Exists");
    if key.is_none() && !is_exists {
        walk.refuse(one, steps!["operator"], "must be `Exists` if `key` is empty");
    }
    if is_exists && has(one, "value") {
        walk.refuse(one, steps!["value"], "must be empty for `operator: Exists`");
    }
    if !is_exists && text(one, "value").is_some_and(|value| !Format::LabelValue.fits(&value)) {
        walk.refuse(one, steps!["value"], &format!("must be {}", Format::LabelValue.words()));
    }
    let effect = text(one, "effect");
    if get(one, "tolerationSeconds").is_some() && effect.as_deref() != Some("NoExecute") {
        walk.refuse(one, steps!["effect"], "must be `NoExecute` next to `tolerationSeconds`");
    }
}

/// Checks a term of affinity to pods, with a weight or without.
pub(crate) fn weighted<'v>(walk: &mut Walk<'v>, term: View<'v>) {
    let weight = number(term, "weight");
    let is_missing = get(term, "weight").is_none();
    if is_missing || weight.is_some_and(|weight| !(1..=100).contains(&weight)) {
        walk.refuse(term, steps!["weight"], "must be between 1 and 100");
    }
}

/// Checks an expression of a node selector.
pub(crate) fn node_requirement<'v>(walk: &mut Walk<'v>, one: View<'v>) {
    let is_comparison = matches!(text(one, "operator").as_deref(), Some("Gt" | "Lt"));
    if !is_comparison {
        let words = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
        requirement(walk, one, &words);
    } else if list(one, "values").count() != 1 {
        walk.refuse(one, steps!["values"], "must have one item for the operators `Gt` and `Lt`");
    }
}

/// Checks an alias of a host.
pub(crate) fn host_alias<'v>(walk: &mut Walk<'v>, alias: View<'v>) {
    if text(alias, "ip").is_none_or(|ip| !is_ip(&ip)) {
        walk.refuse(alias, steps!["ip"], "must be an IP address");
    }
}

/// Checks the security context of a pod or container.
pub(crate) fn security_context<'v>(walk: &mut Walk<'v>, context: View<'v>) {
    if is_true(context, "privileged") && is_false(context, "allowPrivilegeEscalation") {
        walk.refuse(
            context,
            steps!["allowPrivilegeEscalation"],
            "must not be false next to `privileged: true`",
        );
    }
    for (index, sysctl) in list(context, "sysctls").enumerate() {
        let name = text(sysctl, "name").unwrap_or_default();
        let is_word = |part: &str| {
            !part.is_empty()
                && !part.starts_with(['-', '_'])
                && !part.ends_with(['-', '_'])
                && part.bytes().all(|byte| {
                    byte.is_ascii_lowercase()
                        || byte.is_ascii_digit()
                        || matches!(byte, b'-' | b'_')
                })
        };
        if name.len() > 253 || !name.split(['.', '/']).all(is_word) {
            walk.refuse(context, steps!["sysctls", index, "name"], "must be the name of a sysctl");
        }
    }
}

fn is_false(view: View<'_>, key: &str) -> bool {
    view.get(key).and_then(View::scalar) == Some(krm_yaml::Scalar::Bool(false))
}

/// Checks a profile for seccomp or AppArmor.
pub(crate) fn profile<'v>(walk: &mut Walk<'v>, profile: View<'v>) {
    let is_local = text(profile, "type").as_deref() == Some("Localhost");
    if is_local && !has(profile, "localhostProfile") {
        walk.refuse(profile, steps!["localhostProfile"], "is required for `type: Localhost`");
    }
    if !is_local && has(profile, "type") && get(profile, "localhostProfile").is_some() {
        walk.refuse(profile, steps!["localhostProfile"], "can only be set with `type: Localhost`");
    }
}

/// The path of a field of a pod that an environment variable or a file holds.
pub(crate) fn field_path<'v>(walk: &mut Walk<'v>, field: View<'v>) {
    let Some(path) = text(field, "fieldPath") else {
        return;
    };
    let is_environment = walk.passes("valueFrom");
    let key = |prefix: &str| {
        let rest = path.strip_prefix(prefix).and_then(|rest| rest.strip_suffix("']"));
        rest.is_some_and(|key| Format::QualifiedName.fits(&key.to_lowercase()))
    };
    let subscript = key("metadata.labels['") || key("metadata.annotations['");
    let known: &[&str] = if is_environment {
        &[
            "metadata.name",
            "metadata.namespace",
            "metadata.uid",
            "spec.nodeName",
            "spec.serviceAccountName",
            "status.hostIP",
            "status.hostIPs",
            "status.podIP",
            "status.podIPs",
        ]
    } else {
        &[
            "metadata.name",
            "metadata.namespace",
            "metadata.labels",
            "metadata.annotations",
            "metadata.uid",
        ]
    };
    if !subscript && !known.contains(&path.as_ref()) {
        let what = if is_environment {
            "must be a field of pods that environment variables can hold, such as `status.podIP`"
        } else {
            "must be a field of pods that files can hold, such as `metadata.labels`"
        };
        walk.refuse(field, steps!["fieldPath"], what);
    }
}

/// Checks the terms of an affinity to nodes.
pub(crate) fn node_selector<'v>(walk: &mut Walk<'v>, selector: View<'v>) {
    for (index, term) in list(selector, "nodeSelectorTerms").enumerate() {
        for (at, field) in list(term, "matchFields").enumerate() {
            if text(field, "key").as_deref() != Some("metadata.name") {
                let path = steps!["nodeSelectorTerms", index, "matchFields", at, "key"];
                walk.refuse(selector, path, "must be `metadata.name`");
            }
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
