//! Quotas, limits, priorities and what is about the cluster itself.

use std::collections::BTreeSet;

use krm_yaml::View;

use super::containers::amount;
use crate::formats::{Format, is_fully_qualified};
use crate::walk::{Walk, entries, get, has, is_true, list, number, steps, text};

/// Checks the limits of a LimitRange.
pub(crate) fn limits<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let mut seen = BTreeSet::new();
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
        if kind == "Pod" {
            for field in ["default", "defaultRequest"] {
                if has(item, field) {
                    walk.refuse(
                        spec,
                        steps!["limits", index, field],
                        "must not be set for `type: Pod`",
                    );
                }
            }
        }
        if kind == "PersistentVolumeClaim" {
            let has_storage = ["min", "max"]
                .iter()
                .any(|field| get(item, field).is_some_and(|all| all.get("storage").is_some()));
            if !has_storage {
                walk.refuse(spec, steps!["limits", index], "must have `min` or `max` of `storage`");
            }
        }
        if !seen.insert(kind) {
            walk.refuse(spec, steps!["limits", index, "type"], "must be unique");
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
    const SCOPES: [&str; 7] = [
        "Terminating",
        "NotTerminating",
        "BestEffort",
        "NotBestEffort",
        "PriorityClass",
        "CrossNamespacePodAffinity",
        "VolumeAttributesClass",
    ];
    let scopes: Vec<_> = list(spec, "scopes").filter_map(View::as_str).collect();
    for (index, scope) in scopes.iter().enumerate() {
        if !SCOPES.contains(&scope.as_ref()) {
            walk.not_one_of(spec, steps!["scopes", index], scope, &SCOPES);
        }
    }
    let both =
        |a: &str, b: &str| scopes.iter().any(|one| one == a) && scopes.iter().any(|one| one == b);
    if both("Terminating", "NotTerminating") || both("BestEffort", "NotBestEffort") {
        walk.refuse(spec, steps!["scopes"], "must not have a scope and its opposite");
    }
    let Some(selector) = get(spec, "scopeSelector") else {
        return;
    };
    for (index, one) in list(selector, "matchExpressions").enumerate() {
        let path = |field: &'static str| {
            [
                crate::walk::Part::from("scopeSelector"),
                "matchExpressions".into(),
                index.into(),
                field.into(),
            ]
        };
        let scope = text(one, "scopeName").unwrap_or_default();
        if !SCOPES.contains(&scope.as_ref()) {
            walk.not_one_of(spec, &path("scopeName"), &scope, &SCOPES);
        }
        let count = list(one, "values").count();
        match text(one, "operator").as_deref() {
            Some("In" | "NotIn") if count == 0 => {
                walk.refuse(
                    spec,
                    &path("values"),
                    "is required for the operators `In` and `NotIn`",
                );
            }
            Some("Exists" | "DoesNotExist") if count > 0 => {
                walk.refuse(
                    spec,
                    &path("values"),
                    "must be empty for the operators `Exists` and `DoesNotExist`",
                );
            }
            Some("In" | "NotIn" | "Exists" | "DoesNotExist") => {}
            other => {
                let words = ["In", "NotIn", "Exists", "DoesNotExist"];
                walk.not_one_of(spec, &path("operator"), other.unwrap_or_default(), &words);
            }
        }
    }
}

/// Checks a PriorityClass.
pub(crate) fn priority<'v>(walk: &mut Walk<'v>, class: View<'v>) {
    let name = get(class, "metadata").and_then(|meta| text(meta, "name")).unwrap_or_default();
    let is_system = matches!(name.as_ref(), "system-node-critical" | "system-cluster-critical");
    if name.starts_with("system-") && !is_system {
        walk.refuse(class, steps!["metadata", "name"], "must not begin with `system-`");
    }
    if !is_system && number(class, "value").is_some_and(|value| value > 1_000_000_000) {
        walk.refuse(class, steps!["value"], "must be at most 1000000000");
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
    let skips = is_true(spec, "insecureSkipTLSVerify");
    match get(spec, "service").filter(|service| service.is_mapping()) {
        None => {
            if skips {
                walk.refuse(
                    object,
                    steps!["spec", "insecureSkipTLSVerify"],
                    "must not be true without `service`",
                );
            }
            if has(spec, "caBundle") {
                walk.refuse(
                    object,
                    steps!["spec", "caBundle"],
                    "must not be set without `service`",
                );
            }
        }
        Some(_) => {
            if skips && has(spec, "caBundle") {
                walk.refuse(
                    object,
                    steps!["spec", "insecureSkipTLSVerify"],
                    "must not be true next to `caBundle`",
                );
            }
        }
    }
    for (field, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1_000)] {
        let is_wrong = number(spec, field).is_some_and(|number| number < 1 || number > most);
        if is_wrong || get(spec, field).is_none() {
            walk.refuse(object, steps!["spec", field], &format!("must be between 1 and {most}"));
        }
    }
}

/// Checks a request for a certificate.
pub(crate) fn signing<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    const USAGES: [&str; 23] = [
        "signing",
        "digital signature",
        "content commitment",
        "key encipherment",
        "key agreement",
        "data encipherment",
        "cert sign",
        "crl sign",
        "encipher only",
        "decipher only",
        "any",
        "server auth",
        "client auth",
        "code signing",
        "email protection",
        "s/mime",
        "ipsec end system",
        "ipsec tunnel",
        "ipsec user",
        "timestamping",
        "ocsp signing",
        "microsoft sgc",
        "netscape sgc",
    ];
    let mut seen = BTreeSet::new();
    for (index, usage) in list(spec, "usages").enumerate() {
        let Some(usage) = usage.as_str() else {
            continue;
        };
        if !USAGES.contains(&usage.as_ref()) {
            walk.not_one_of(spec, steps!["usages", index], &usage, &USAGES);
        }
        if !seen.insert(usage) {
            walk.refuse(spec, steps!["usages", index], "must be unique");
        }
    }
    match get(spec, "request") {
        None => walk.missing(spec, steps!["request"]),
        // The beginning of a block of PEM, as base64.
        Some(request)
            if request.as_str().is_some_and(|text| !text.trim_start().starts_with("LS0tLS1")) =>
        {
            walk.refuse(spec, steps!["request"], "must be a `CERTIFICATE REQUEST` as PEM");
        }
        Some(_) => {}
    }
    if let Some(signer) = text(spec, "signerName") {
        let (domain, path) = signer.split_once('/').unwrap_or((&signer, ""));
        if path.is_empty() || !Format::Subdomain.fits(domain) || domain.split('.').count() < 2 {
            walk.refuse(
                spec,
                steps!["signerName"],
                "must have a domain and a path, as in `example.com/signer`",
            );
        }
    }
    if number(spec, "expirationSeconds").is_some_and(|seconds| seconds < 600) {
        walk.refuse(spec, steps!["expirationSeconds"], "must be at least 600");
    }
}

/// Checks a namespace.
pub(crate) fn namespace<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    for (index, finalizer) in list(spec, "finalizers").enumerate() {
        let finalizer = finalizer.as_str().unwrap_or_default();
        if !matches!(finalizer.as_ref(), "kubernetes" | "orphan" | "foregroundDeletion")
            && !is_fully_qualified(&finalizer)
        {
            walk.refuse(
                spec,
                steps!["finalizers", index],
                "must have a domain and `/`, as in `example.com/name`",
            );
        }
    }
}

/// Checks where the pods of a class run.
pub(crate) fn scheduling<'v>(walk: &mut Walk<'v>, scheduling: View<'v>) {
    super::metadata::label_map(walk, scheduling, "nodeSelector");
}

/// Checks a driver of storage.
pub(crate) fn csi_driver<'v>(walk: &mut Walk<'v>, object: View<'v>) {
    let Some(spec) = get(object, "spec") else {
        return;
    };
    let mut seen = BTreeSet::new();
    for (index, request) in list(spec, "tokenRequests").enumerate() {
        if !seen.insert(text(request, "audience").unwrap_or_default()) {
            walk.refuse(
                object,
                steps!["spec", "tokenRequests", index, "audience"],
                "must be unique",
            );
        }
        if number(request, "expirationSeconds").is_some_and(|seconds| seconds < 600) {
            walk.refuse(
                object,
                steps!["spec", "tokenRequests", index, "expirationSeconds"],
                "must be at least 600",
            );
        }
    }
    for (index, mode) in list(spec, "volumeLifecycleModes").enumerate() {
        if let Some(mode) = mode.as_str()
            && !matches!(mode.as_ref(), "Persistent" | "Ephemeral")
        {
            walk.not_one_of(
                object,
                steps!["spec", "volumeLifecycleModes", index],
                &mode,
                &["Persistent", "Ephemeral"],
            );
        }
    }
}

/// Checks a request for a device.
pub(crate) fn device_request<'v>(walk: &mut Walk<'v>, request: View<'v>) {
    let has_exact = get(request, "exactly").is_some();
    if has_exact == has(request, "firstAvailable") {
        walk.refuse(request, &[], "must have one of `exactly` and `firstAvailable`");
    }
    if let Some(exact) = get(request, "exactly")
        && text(exact, "allocationMode").as_deref() != Some("All")
        && number(exact, "count").is_some_and(|count| count < 0)
    {
        walk.refuse(request, steps!["exactly", "count"], "must be at least 1");
    }
}

/// Checks a claim of devices.
pub(crate) fn device_claim<'v>(walk: &mut Walk<'v>, claim: View<'v>) {
    let mut names = BTreeSet::new();
    for (index, request) in list(claim, "requests").enumerate() {
        if let Some(name) = text(request, "name")
            && !names.insert(name)
        {
            walk.refuse(claim, steps!["requests", index, "name"], "must be unique");
        }
    }
}

/// Checks a rule of a flow for subjects.
pub(crate) fn flow_subject<'v>(walk: &mut Walk<'v>, subject: View<'v>) {
    let kind = text(subject, "kind").unwrap_or_default();
    for (name, field) in
        [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")]
    {
        let there = get(subject, field);
        if kind == name && there.is_none() {
            walk.refuse(subject, steps![field], &format!("is required for `kind: {name}`"));
        } else if kind != name && there.is_some() {
            walk.refuse(subject, steps![field], &format!("can only be set for `kind: {name}`"));
        } else if let Some(there) = there
            && there.is_mapping()
            && !has(there, "name")
        {
            walk.missing(subject, steps![field, "name"]);
        }
    }
}
