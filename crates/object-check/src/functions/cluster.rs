//! Quotas, limits, priorities and what is about the cluster itself.

use std::collections::BTreeSet;

use krm_yaml::View;

use super::containers::amount;
use crate::formats::{Format, is_fully_qualified};
use crate::walk::{Walk, entries, get, list, steps, text};

/// Checks the limits of a LimitRange.
pub(crate) fn limits<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    for (index, item) in list(spec, "limits").enumerate() {
        let Some(kind) = text(item, "type") else {
            continue;
        };
        if !matches!(kind.as_ref(), "Pod" | "Container" | "PersistentVolumeClaim")
            && !is_fully_qualified(&kind)
        {
            walk.not_one_of(
                spec,
                steps!["limits", index, "type"],
                &kind,
                &["Pod", "Container", "PersistentVolumeClaim"],
            );
        }
        let mut sizes = ["min", "max"].into_iter().filter_map(|field| get(item, field));
        if kind == "PersistentVolumeClaim" && !sizes.any(|all| all.get("storage").is_some()) {
            walk.refuse(spec, steps!["limits", index], "must have `min` or `max` of `storage`");
        }
        limit(walk, spec, item, index);
    }
}

/// The most resources of a limit that are compared.
const MOST: usize = 100;

fn limit<'v>(walk: &mut Walk<'v>, spec: View<'v>, item: View<'v>, index: usize) {
    // From the least to the most.
    const ORDER: [&str; 4] = ["min", "defaultRequest", "default", "max"];
    let mut names = BTreeSet::new();
    for field in ORDER.into_iter().chain(["maxLimitRequestRatio"]) {
        for (name, _) in entries(item, field) {
            let is_standard =
                matches!(name.as_ref(), "cpu" | "memory" | "ephemeral-storage" | "storage")
                    || name.starts_with("hugepages-");
            if !is_standard
                && (!Format::QualifiedName.fits(&name) || !name.contains('/'))
                && !is_quota_name(&name)
            {
                walk.refuse(
                    spec,
                    steps!["limits", index, field, name.clone()],
                    "must be a resource, such as `cpu`",
                );
            }
            names.insert(name);
        }
    }
    // Each is looked up in all of them.
    for name in names.iter().take(MOST) {
        let of = |field: &str| get(item, field).and_then(|all| get(all, name)).and_then(amount);
        for (at, high) in ORDER.iter().enumerate() {
            for low in ORDER.iter().take(at) {
                if of(low).zip(of(high)).is_some_and(|(low, high)| low > high) {
                    walk.refuse(
                        spec,
                        steps!["limits", index, *low, name.clone()],
                        &format!("must be at most `{high}`"),
                    );
                }
            }
        }
        if let Some(ratio) = of("maxLimitRequestRatio") {
            let path = steps!["limits", index, "maxLimitRequestRatio", name.clone()];
            if ratio < 1.0 {
                walk.refuse(spec, path, "must be at least 1");
            } else if of("min")
                .zip(of("max"))
                .is_some_and(|(min, max)| min > 0.0 && ratio > max / min)
            {
                walk.refuse(spec, path, "must be at most `max` divided by `min`");
            }
        }
    }
}

/// Whether a quota can be about this.
fn is_quota_name(name: &str) -> bool {
    matches!(
        name,
        "cpu"
            | "memory"
            | "ephemeral-storage"
            | "requests.cpu"
            | "requests.memory"
            | "requests.storage"
            | "requests.ephemeral-storage"
            | "limits.cpu"
            | "limits.memory"
            | "limits.ephemeral-storage"
    ) || is_counted(name)
        || name.starts_with("requests.hugepages-")
        || name.starts_with("hugepages-")
}

/// Whether a quota has the number of these objects.
fn is_counted(name: &str) -> bool {
    matches!(
        name,
        "pods"
            | "resourcequotas"
            | "services"
            | "replicationcontrollers"
            | "secrets"
            | "persistentvolumeclaims"
            | "configmaps"
            | "services.nodeports"
            | "services.loadbalancers"
    )
}

/// Checks a quota.
pub(crate) fn quota<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    for (name, value) in entries(spec, "hard") {
        if !is_quota_name(&name) && (!name.contains('/') || !Format::QualifiedName.fits(&name)) {
            walk.refuse(
                spec,
                steps!["hard", name.clone()],
                "must be a resource that a quota can limit, such as `limits.cpu`",
            );
        }
        let amount = amount(value);
        if amount.is_some_and(|amount| amount < 0.0) {
            walk.refuse(spec, steps!["hard", name.clone()], "must be at least 0");
        }
        let is_count = is_counted(&name) || name.starts_with("count/");
        if is_count && amount.is_some_and(|amount| amount.fract() != 0.0) {
            walk.refuse(spec, steps!["hard", name], "must be an integer");
        }
    }
}

/// Checks an APIService.
pub(crate) fn api_service<'v>(walk: &mut Walk<'v>, object: View<'v>) {
    let Some(spec) = get(object, "spec") else {
        return;
    };
    let (group, version) =
        (text(spec, "group").unwrap_or_default(), text(spec, "version").unwrap_or_default());
    if let Some(name) = get(object, "metadata").and_then(|meta| text(meta, "name"))
        && name != format!("{version}.{group}")
        && !version.is_empty()
    {
        walk.refuse(object, steps!["metadata", "name"], "must be the version, `.` and the group");
    }
}
