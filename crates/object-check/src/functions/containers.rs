//! Containers: environment, ports, resources, probes and handlers.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_yaml::{Scalar, View};

use crate::formats::Format;
use crate::scalars::quantity;
use crate::walk::{Walk, entries, get, is_true, list, steps, text};

/// Checks a container.
pub(crate) fn container<'v>(walk: &mut Walk<'v>, container: View<'v>) {
    let is_privileged =
        get(container, "securityContext").is_some_and(|one| is_true(one, "privileged"));
    for (index, mount) in list(container, "volumeMounts").enumerate() {
        if text(mount, "mountPropagation").as_deref() == Some("Bidirectional") && !is_privileged {
            let what = "can be `Bidirectional` only in a privileged container";
            walk.refuse(container, steps!["volumeMounts", index, "mountPropagation"], what);
        }
    }
}

/// Checks a reference to the resources of a container.
pub(crate) fn resource_field<'v>(walk: &mut Walk<'v>, field: View<'v>) {
    let Some(resource) = text(field, "resource") else { return };
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
