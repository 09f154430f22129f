//! Webhooks and policies of admission.

use std::collections::BTreeSet;

use krm_yaml::View;

use crate::formats::is_subdomain;
use crate::walk::{Walk, get, list, steps, text};

/// Checks a webhook.
pub(crate) fn webhook<'v>(walk: &mut Walk<'v>, hook: View<'v>) {
    if let Some(name) = text(hook, "name")
        && is_subdomain(&name)
        && name.split('.').count() < 3
    {
        walk.refuse(hook, steps!["name"], "must have at least three parts with dots between them");
    }
    let versions: Vec<_> = list(hook, "admissionReviewVersions").filter_map(View::as_str).collect();
    if !versions.is_empty()
        && !versions.iter().any(|version| matches!(version.as_ref(), "v1" | "v1beta1"))
    {
        walk.refuse(hook, steps!["admissionReviewVersions"], "must have `v1` or `v1beta1`");
    }
}

/// Checks where a webhook is.
pub(crate) fn client<'v>(walk: &mut Walk<'v>, config: View<'v>) {
    if let Some(url) = get(config, "url").and_then(View::as_str)
        && get(config, "service").is_none()
    {
        let rest = url.strip_prefix("https://");
        let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
        if host.is_none_or(str::is_empty) {
            walk.refuse(config, steps!["url"], "must be an address such as `https://host/path`");
        } else if rest.is_some_and(|rest| {
            rest.contains(['?', '#']) || host.is_some_and(|host| host.contains('@'))
        }) {
            walk.refuse(config, steps!["url"], "must have no user, query or fragment");
        }
    }
}

/// Checks the service of a webhook.
pub(crate) fn service<'v>(walk: &mut Walk<'v>, service: View<'v>) {
    if let Some(path) = text(service, "path").filter(|path| path != "/") {
        let is_path = path.strip_prefix('/').is_some_and(|rest| {
            rest.strip_suffix('/').unwrap_or(rest).split('/').all(is_subdomain)
        });
        if !is_path {
            let what = "must begin with `/`, and its parts must be DNS names";
            walk.refuse(service, steps!["path"], what);
        }
    }
}

/// Checks a rule for what is admitted.
pub(crate) fn rule<'v>(walk: &mut Walk<'v>, rule: View<'v>) {
    for field in ["operations", "apiGroups", "apiVersions"] {
        let words: Vec<_> = list(rule, field).filter_map(View::as_str).collect();
        if words.len() > 1 && words.iter().any(|word| word == "*") {
            walk.refuse(rule, steps![field], "must not have other items next to `*`");
        }
    }
    let resources: Vec<_> = list(rule, "resources").filter_map(View::as_str).collect();
    let is_all = resources.iter().any(|one| one == "*/*");
    if is_all && resources.len() > 1 {
        walk.refuse(rule, steps!["resources"], "must not have other items next to `*/*`");
    }
    let has_all = resources.iter().any(|one| one == "*");
    if has_all && resources.iter().any(|one| one != "*" && !one.contains('/')) {
        walk.refuse(
            rule,
            steps!["resources"],
            "must not have other resources without `/` next to `*`",
        );
    }
    let all_of: BTreeSet<&str> =
        resources.iter().filter_map(|one| one.strip_suffix("/*")).collect();
    let is_covered = |one: &str| {
        one.split_once('/').is_some_and(|(resource, sub)| sub != "*" && all_of.contains(resource))
    };
    if !is_all && resources.iter().any(|one| is_covered(one)) {
        walk.refuse(rule, steps!["resources"], "must not have a subresource next to all of them");
    }
}

/// Checks the kind of the parameters of a policy.
pub(crate) fn parameters<'v>(walk: &mut Walk<'v>, kind: View<'v>) {
    if walk.kind != "MutatingAdmissionPolicy"
        && text(kind, "apiVersion").is_some_and(|version| version.split('/').count() > 2)
    {
        walk.refuse(kind, steps!["apiVersion"], "must be a group and a version");
    }
}
