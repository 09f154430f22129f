//! Containers: environment, ports, resources, probes and handlers.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{Scalar, View};

use crate::formats::Format;
use crate::scalars::quantity;
use crate::walk::{Walk, entries, get, has, is_true, list, number, steps, text};

/// Checks a container.
pub(crate) fn container<'v>(walk: &mut Walk<'v>, container: View<'v>) {
    let is_initial = walk.passes("initContainers");
    match get(container, "image").map(View::as_str) {
        // A trigger may set it.
        None if walk.kind == "DeploymentConfig" || is_template_only(walk) => {}
        None => walk.missing(container, steps!["image"]),
        Some(Some(image)) if image.is_empty() => {
            if walk.kind != "DeploymentConfig" {
                walk.missing(container, steps!["image"]);
            }
        }
        Some(Some(image)) if image.trim() != image && walk.kind == "Pod" => {
            walk.refuse(container, steps!["image"], "must not begin or end with spaces");
        }
        Some(_) => {}
    }
    let mut names = BTreeSet::new();
    for (index, port) in list(container, "ports").enumerate() {
        if let Some(name) = text(port, "name")
            && !names.insert(name)
        {
            walk.refuse(
                container,
                steps!["ports", index, "name"],
                "must be unique in the container",
            );
        }
    }
    probes(walk, container, is_initial);
    let is_privileged =
        get(container, "securityContext").is_some_and(|one| is_true(one, "privileged"));
    for (index, mount) in list(container, "volumeMounts").enumerate() {
        if has(mount, "subPath") && has(mount, "subPathExpr") {
            let what = "must not be set next to `subPath`";
            walk.refuse(container, steps!["volumeMounts", index, "subPathExpr"], what);
        }
        if text(mount, "mountPropagation").as_deref() == Some("Bidirectional") && !is_privileged {
            let what = "can be `Bidirectional` only in a privileged container";
            walk.refuse(container, steps!["volumeMounts", index, "mountPropagation"], what);
        }
    }
}

/// Whether containers are not those of pods.
fn is_template_only(walk: &Walk<'_>) -> bool {
    !matches!(
        walk.kind,
        "Pod"
            | "Job"
            | "CronJob"
            | "Deployment"
            | "ReplicaSet"
            | "DaemonSet"
            | "StatefulSet"
            | "ReplicationController"
            | "PodTemplate"
    )
}

fn probes<'v>(walk: &mut Walk<'v>, container: View<'v>, is_initial: bool) {
    let is_sidecar = text(container, "restartPolicy").as_deref() == Some("Always");
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = get(container, field).filter(|probe| probe.is_mapping()) else {
            continue;
        };
        if is_initial && !is_sidecar {
            walk.refuse(
                container,
                steps![field],
                "must not be set for an init container without `restartPolicy: Always`",
            );
            continue;
        }
        handler(walk, container, field, &["exec", "httpGet", "tcpSocket", "grpc"]);
        let successes = number(probe, "successThreshold").unwrap_or(1);
        if field != "readinessProbe" && successes != 1 && successes != 0 {
            walk.refuse(
                container,
                steps![field, "successThreshold"],
                &format!("must be 1 for a {field}"),
            );
        }
        if get(probe, "terminationGracePeriodSeconds").is_some() {
            if field == "readinessProbe" {
                let what = "must not be set for a readinessProbe";
                walk.refuse(container, steps![field, "terminationGracePeriodSeconds"], what);
            } else if number(probe, "terminationGracePeriodSeconds")
                .is_some_and(|seconds| seconds < 1)
            {
                walk.refuse(
                    container,
                    steps![field, "terminationGracePeriodSeconds"],
                    "must be at least 1",
                );
            }
        }
    }
    if is_initial && !is_sidecar && get(container, "lifecycle").is_some_and(View::is_mapping) {
        walk.refuse(
            container,
            steps!["lifecycle"],
            "must not be set for an init container without `restartPolicy: Always`",
        );
    }
}

/// Checks what is done after a container has started and before it stops.
pub(crate) fn lifecycle<'v>(walk: &mut Walk<'v>, lifecycle: View<'v>) {
    for field in ["postStart", "preStop"] {
        if get(lifecycle, field).is_some_and(View::is_mapping) {
            handler(walk, lifecycle, field, &["exec", "httpGet", "tcpSocket", "sleep"]);
        }
    }
}

/// Checks that a probe or hook does exactly one thing.
fn handler<'v>(walk: &mut Walk<'v>, around: View<'v>, field: &'static str, kinds: &[&'static str]) {
    let Some(one) = get(around, field) else {
        return;
    };
    let mut set = kinds.iter().filter(|kind| get(one, kind).is_some());
    if set.next().is_none() {
        let names: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
        let what = format!("must have {}", crate::walk::one_of(&names));
        walk.refuse(around, steps![field], &what);
    }
    for other in set {
        walk.refuse(around, steps![field, *other], "must not be set next to another handler");
    }
}

/// Checks an environment variable of a pod.
pub(crate) fn variable<'v>(walk: &mut Walk<'v>, variable: View<'v>) {
    if walk.passes("buildArgs") {
        return;
    }
    match text(variable, "name") {
        None if get(variable, "name").is_none_or(|name| name.as_str().is_some()) => {
            walk.missing(variable, steps!["name"]);
        }
        Some(name) => {
            let format = match walk.group.as_str() {
                // Older rules.
                _ if walk.passes("execNewPod") => Format::CIdentifier,
                group if group.ends_with(".openshift.io") => Format::OldEnvironmentName,
                _ => Format::EnvironmentName,
            };
            if !format.fits(&name) {
                walk.refuse(variable, steps!["name"], &format!("must be {}", format.words()));
            }
        }
        None => {}
    }
    let Some(from) = get(variable, "valueFrom").filter(|from| from.is_mapping()) else {
        return;
    };
    if text(variable, "value").is_some() {
        walk.refuse(variable, steps!["valueFrom"], "must not be set next to `value`");
    }
    let kinds = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let count = kinds.iter().filter(|kind| get(from, kind).is_some()).count();
    if count != 1 {
        let what =
            "must have one of `fieldRef`, `resourceFieldRef`, `configMapKeyRef` and `secretKeyRef`";
        walk.refuse(variable, steps!["valueFrom"], what);
    }
}

/// Checks a reference to a key of a ConfigMap or Secret.
pub(crate) fn key_selector<'v>(walk: &mut Walk<'v>, selector: View<'v>) {
    match text(selector, "key") {
        None if get(selector, "key").is_none_or(|key| key.as_str().is_some()) => {
            walk.missing(selector, steps!["key"]);
        }
        Some(key) if !is_data_key(&key) => {
            walk.refuse(selector, steps!["key"], KEY);
        }
        _ => {}
    }
    match text(selector, "name") {
        None if get(selector, "name").is_none_or(|name| name.as_str().is_some()) => {
            walk.missing(selector, steps!["name"]);
        }
        Some(name) if !Format::Subdomain.fits(&name) => {
            walk.refuse(
                selector,
                steps!["name"],
                &format!("must be {}", Format::Subdomain.words()),
            );
        }
        _ => {}
    }
}

/// The form of a key of a ConfigMap.
pub(crate) const KEY: &str = "must be a key of letters, digits, `-`, `_` and `.`";

/// Whether a text is a key of a ConfigMap or Secret.
pub(crate) fn is_data_key(key: &str) -> bool {
    let is_of_words =
        key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    (1..=253).contains(&key.len()) && is_of_words && key != "." && !key.starts_with("..")
}

/// Checks the sources of environment variables of a container.
pub(crate) fn variables_from<'v>(walk: &mut Walk<'v>, source: View<'v>) {
    let sources = ["configMapRef", "secretRef"];
    let count = sources.iter().filter(|kind| get(source, kind).is_some()).count();
    if count != 1 {
        walk.refuse(source, &[], "must have one of `configMapRef` and `secretRef`");
    }
    let format = if walk.group == "apps.openshift.io" {
        Format::OldEnvironmentName
    } else {
        Format::EnvironmentName
    };
    if text(source, "prefix").is_some_and(|prefix| !format.fits(&prefix)) {
        walk.refuse(source, steps!["prefix"], &format!("must be {}", format.words()));
    }
}

/// Checks a reference to the resources of a container.
pub(crate) fn resource_field<'v>(walk: &mut Walk<'v>, field: View<'v>) {
    let Some(resource) = text(field, "resource") else {
        if get(field, "resource").is_none_or(|one| one.as_str().is_some()) {
            walk.missing(field, steps!["resource"]);
        }
        return;
    };
    let name = resource.strip_prefix("limits.").or_else(|| resource.strip_prefix("requests."));
    let is_known = name.is_some_and(|name| {
        matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-")
    });
    if !is_known {
        walk.refuse(
            field,
            steps!["resource"],
            "must be `limits.` or `requests.` with `cpu`, `memory` or `ephemeral-storage`",
        );
        return;
    }
    let divisor = get(field, "divisor").and_then(amount);
    let Some(divisor) = divisor.filter(|divisor| *divisor != 0.0) else {
        return;
    };
    let fits = if name == Some("cpu") {
        matches!(divisor, 0.001 | 1.0)
    } else {
        let powers = (1..=6).flat_map(|at| [1000f64.powi(at), 1024f64.powi(at)]);
        divisor == 1.0 || powers.into_iter().any(|power| power == divisor)
    };
    if !fits {
        let what = if name == Some("cpu") {
            "must be `1m` or `1` for a CPU"
        } else {
            "must be 1 of a unit, such as `1Mi`"
        };
        walk.refuse(field, steps!["divisor"], what);
    }
}

/// The number of a quantity.
pub(crate) fn amount(value: View<'_>) -> Option<f64> {
    let quantity = match value.scalar()? {
        Scalar::String(text) | Scalar::Number(text) => quantity(&text),
        _ => None,
    };
    quantity.map(|quantity| quantity.value)
}

/// Whether a resource is one of Kubernetes, and not of a device.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Checks the resources of a container or pod.
pub(crate) fn resources<'v>(walk: &mut Walk<'v>, resources: View<'v>) {
    if walk.group == "build.openshift.io" {
        return;
    }
    for field in ["limits", "requests"] {
        for (name, value) in entries(resources, field) {
            resource_name(walk, resources, field, &name);
            let is_extended = !is_native(&name);
            if is_extended && amount(value).is_some_and(|amount| amount.fract() != 0.0) {
                walk.refuse(resources, steps![field, name.clone()], "must be an integer");
            }
        }
    }
    let limits: BTreeMap<Cow<'v, str>, View<'v>> = entries(resources, "limits").collect();
    for (name, request) in entries(resources, "requests") {
        let limit = limits.get(&name).copied();
        let can_exceed = is_native(&name) && !name.starts_with("hugepages-");
        let path = steps!["requests", name.clone()];
        let Some(limit) = limit else {
            if !can_exceed {
                let what = "is required, as the resource is requested";
                walk.refuse(resources, steps!["limits", name.clone()], what);
            }
            continue;
        };
        let (Some(limit), Some(request)) = (amount(limit), amount(request)) else {
            continue;
        };
        if can_exceed && request > limit {
            walk.refuse(resources, path, "must be at most the limit");
        } else if !can_exceed && request != limit {
            walk.refuse(resources, path, "must equal the limit");
        }
    }
}

fn resource_name<'v>(walk: &mut Walk<'v>, resources: View<'v>, field: &'static str, name: &str) {
    let path = || name.to_owned();
    let is_standard =
        matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
    if is_standard {
        return;
    }
    // Claims ask for storage only.
    if walk.passes("volumeClaimTemplates")
        || walk.passes("volumeClaimTemplate")
        || walk.kind == "PersistentVolumeClaim"
    {
        return;
    }
    if !Format::QualifiedName.fits(name) || !name.contains('/') {
        let what =
            "has a resource that is not `cpu`, `memory`, `ephemeral-storage` or one with a domain";
        walk.refuse(
            resources,
            &[field.into(), std::borrow::Cow::<str>::Owned(path()).into()],
            what,
        );
    }
}

/// Checks an action by HTTP.
pub(crate) fn http_get<'v>(walk: &mut Walk<'v>, action: View<'v>) {
    port(walk, action);
}

/// Checks the port of an action: it must be there.
pub(crate) fn port<'v>(walk: &mut Walk<'v>, action: View<'v>) {
    if get(action, "port").is_none() {
        walk.missing(action, steps!["port"]);
    }
}
