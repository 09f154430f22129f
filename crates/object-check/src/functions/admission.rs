//! Webhooks and policies of admission.

use std::collections::BTreeSet;

use krm_yaml::View;

use crate::formats::{Format, is_subdomain};
use crate::walk::{Walk, get, has, list, number, steps, text};

/// Checks a configuration of webhooks.
pub(crate) fn configuration<'v>(walk: &mut Walk<'v>, object: View<'v>) {
    let mut names = BTreeSet::new();
    for (index, hook) in list(object, "webhooks").enumerate() {
        if let Some(name) = text(hook, "name")
            && !names.insert(name)
        {
            walk.refuse(object, steps!["webhooks", index, "name"], "must be unique");
        }
    }
}

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
    let mut seen = BTreeSet::new();
    for (index, version) in versions.into_iter().enumerate() {
        if !seen.insert(version) {
            walk.refuse(hook, steps!["admissionReviewVersions", index], "must be unique");
        }
    }
    if number(hook, "timeoutSeconds").is_some_and(|seconds| !(1..=30).contains(&seconds)) {
        walk.refuse(hook, steps!["timeoutSeconds"], "must be between 1 and 30");
    }
    conditions(walk, hook);
}

fn conditions<'v>(walk: &mut Walk<'v>, around: View<'v>) {
    let mut names = BTreeSet::new();
    for (index, one) in list(around, "matchConditions").enumerate() {
        match text(one, "name") {
            None => walk.missing(around, steps!["matchConditions", index, "name"]),
            Some(name) => {
                if !Format::QualifiedName.fits(&name) {
                    let what = format!("must be {}", Format::QualifiedName.words());
                    walk.refuse(around, steps!["matchConditions", index, "name"], &what);
                }
                if !names.insert(name) {
                    walk.refuse(around, steps!["matchConditions", index, "name"], "must be unique");
                }
            }
        }
        if text(one, "expression").is_none_or(|expression| expression.trim().is_empty()) {
            walk.missing(around, steps!["matchConditions", index, "expression"]);
        }
    }
    if names.len() > 64 {
        walk.refuse(around, steps!["matchConditions"], "must have at most 64 items");
    }
}

/// Checks where a webhook is.
pub(crate) fn client<'v>(walk: &mut Walk<'v>, config: View<'v>) {
    let url = get(config, "url").and_then(View::as_str);
    let service = get(config, "service");
    if get(config, "url").is_some() == service.is_some() {
        walk.refuse(config, &[], "must have one of `url` and `service`");
        return;
    }
    if let Some(url) = url {
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
    let Some(service) = service.filter(|service| service.is_mapping()) else {
        return;
    };
    for field in ["namespace", "name"] {
        if !has(service, field) {
            walk.missing(config, steps!["service", field]);
        }
    }
    if let Some(path) = text(service, "path").filter(|path| path != "/") {
        let is_path = path.strip_prefix('/').is_some_and(|rest| {
            rest.strip_suffix('/').unwrap_or(rest).split('/').all(is_subdomain)
        });
        if !is_path {
            walk.refuse(
                config,
                steps!["service", "path"],
                "must begin with `/`, and its parts must be DNS names",
            );
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

/// Checks a policy.
pub(crate) fn policy<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    conditions(walk, spec);
    if walk.kind == "ValidatingAdmissionPolicy" {
        if !has(spec, "validations")
            && !has(spec, "auditAnnotations")
            && get(spec, "validations").is_none_or(View::is_sequence)
        {
            walk.refuse(spec, steps!["validations"], "or `auditAnnotations` is required");
        }
    } else if !has(spec, "mutations") && get(spec, "mutations").is_none_or(View::is_sequence) {
        walk.missing(spec, steps!["mutations"]);
    }
    match get(spec, "matchConstraints") {
        None => walk.missing(spec, steps!["matchConstraints"]),
        Some(matched) => {
            if matched.is_mapping() && !has(matched, "resourceRules") {
                walk.missing(spec, steps!["matchConstraints", "resourceRules"]);
            }
        }
    }
    for (index, variable) in list(spec, "variables").enumerate() {
        let Some(name) = text(variable, "name") else {
            continue;
        };
        if !Format::CIdentifier.fits(&name) {
            walk.refuse(
                spec,
                steps!["variables", index, "name"],
                "must be a name of CEL: letters, digits and `_`",
            );
        }
    }
    let mut keys = BTreeSet::new();
    for (index, one) in list(spec, "auditAnnotations").enumerate() {
        match text(one, "key") {
            None => walk.missing(spec, steps!["auditAnnotations", index, "key"]),
            Some(key) => {
                if !keys.insert(key) {
                    walk.refuse(spec, steps!["auditAnnotations", index, "key"], "must be unique");
                }
            }
        }
        if !has(one, "valueExpression") {
            walk.missing(spec, steps!["auditAnnotations", index, "valueExpression"]);
        }
    }
    if let Some(kind) = get(spec, "paramKind") {
        for field in ["apiVersion", "kind"] {
            if !has(kind, field) {
                walk.missing(spec, steps!["paramKind", field]);
            }
        }
        if walk.kind == "MutatingAdmissionPolicy" {
            return;
        }
        if text(kind, "apiVersion").is_some_and(|version| version.split('/').count() > 2) {
            walk.refuse(spec, steps!["paramKind", "apiVersion"], "must be a group and a version");
        }
    }
}

/// Checks a binding of a policy.
pub(crate) fn binding<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let actions: Vec<_> = list(spec, "validationActions").filter_map(View::as_str).collect();
    let mut seen = BTreeSet::new();
    for (index, action) in actions.iter().enumerate() {
        if !seen.insert(action.clone()) {
            walk.refuse(spec, steps!["validationActions", index], "must be unique");
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        walk.refuse(spec, steps!["validationActions"], "must not have both `Deny` and `Warn`");
    }
    if let Some(parameter) = get(spec, "paramRef").filter(|one| one.is_mapping()) {
        let has_name = has(parameter, "name");
        let has_selector = get(parameter, "selector").is_some();
        if has_name == has_selector {
            walk.refuse(spec, steps!["paramRef"], "must have one of `name` and `selector`");
        }
        if get(parameter, "parameterNotFoundAction").is_none() {
            walk.missing(spec, steps!["paramRef", "parameterNotFoundAction"]);
        }
    }
}
