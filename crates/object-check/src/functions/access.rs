//! Roles and their bindings.

use krm_yaml::View;

use crate::formats::{Format, is_subdomain};
use crate::walk::{Walk, get, has, list, steps, text};

/// Checks a rule of a role.
pub(crate) fn rule<'v>(walk: &mut Walk<'v>, rule: View<'v>) {
    if walk.passes("resourceRules") || walk.group != "rbac.authorization.k8s.io" {
        return;
    }
    let has_urls = list(rule, "nonResourceURLs").next().is_some();
    let has_any = ["apiGroups", "resources", "resourceNames"]
        .iter()
        .any(|field| list(rule, field).next().is_some());
    if has_urls {
        if walk.kind == "Role" {
            walk.refuse(rule, steps!["nonResourceURLs"], "must not be set in a Role");
        } else if has_any {
            walk.refuse(rule, steps!["nonResourceURLs"], "must not be set next to resources");
        }
        return;
    }
    for field in ["apiGroups", "resources"] {
        if list(rule, field).next().is_none() && get(rule, field).is_none_or(View::is_sequence) {
            walk.missing(rule, steps![field]);
        }
    }
}

/// Checks a binding of a role.
pub(crate) fn binding<'v>(walk: &mut Walk<'v>, binding: View<'v>) {
    let Some(role) = get(binding, "roleRef").filter(|role| role.is_mapping()) else {
        if get(binding, "roleRef").is_none() {
            walk.missing(binding, steps!["roleRef"]);
        }
        return;
    };
    if walk.group != "rbac.authorization.k8s.io" {
        return;
    }
    let kinds: &[&str] =
        if walk.kind == "ClusterRoleBinding" { &["ClusterRole"] } else { &["Role", "ClusterRole"] };
    let kind = text(role, "kind").unwrap_or_default();
    if !kinds.contains(&kind.as_ref()) {
        walk.not_one_of(binding, steps!["roleRef", "kind"], &kind, kinds);
    }
    if let Some(group) = text(role, "apiGroup")
        && group != "rbac.authorization.k8s.io"
    {
        walk.not_one_of(
            binding,
            steps!["roleRef", "apiGroup"],
            &group,
            &["rbac.authorization.k8s.io"],
        );
    }
}

/// Checks a subject of a binding.
pub(crate) fn subject<'v>(walk: &mut Walk<'v>, subject: View<'v>) {
    if walk.group != "rbac.authorization.k8s.io" {
        return;
    }
    let kind = text(subject, "kind").unwrap_or_default();
    let group = get(subject, "apiGroup").and_then(View::as_str);
    let group = group.as_deref();
    match kind.as_ref() {
        "ServiceAccount" => {
            if group.is_some_and(|group| !group.is_empty()) {
                walk.refuse(subject, steps!["apiGroup"], "must be empty for a ServiceAccount");
            }
            if !has(subject, "namespace") && walk.kind == "ClusterRoleBinding" {
                walk.refuse(subject, steps!["namespace"], "is required for a ServiceAccount");
            }
            if text(subject, "name").is_some_and(|name| !is_subdomain(&name)) {
                walk.refuse(
                    subject,
                    steps!["name"],
                    &format!("must be {}", Format::Subdomain.words()),
                );
            }
        }
        "User" | "Group"
            if group
                .is_some_and(|group| !group.is_empty() && group != "rbac.authorization.k8s.io") =>
        {
            let words = ["rbac.authorization.k8s.io"];
            walk.not_one_of(subject, steps!["apiGroup"], "", &words);
        }
        _ => {}
    }
}
