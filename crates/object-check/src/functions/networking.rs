//! Ingresses and network policies.

use krm_yaml::{Scalar, View};

use crate::formats::{Format, cidr, is_ip, is_wildcard_subdomain};
use crate::walk::{Walk, get, list, number, steps, text};

/// Checks an Ingress.
pub(crate) fn ingress<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    for (index, rule) in list(spec, "rules").enumerate() {
        let name = text(rule, "host");
        if name.as_ref().is_some_and(|name| is_ip(name)) {
            walk.refuse(
                spec,
                steps!["rules", index, "host"],
                "must be a DNS name, not an IP address",
            );
        }
        host(walk, spec, name, steps!["rules", index, "host"]);
    }
    for (index, tls) in list(spec, "tls").enumerate() {
        for (at, name) in list(tls, "hosts").enumerate() {
            let name = name.as_str().filter(|name| !name.is_empty());
            host(walk, spec, name, steps!["tls", index, "hosts", at]);
        }
    }
}

fn host<'v>(
    walk: &mut Walk<'v>,
    spec: View<'v>,
    name: Option<std::borrow::Cow<'v, str>>,
    path: &[crate::walk::Part<'v>],
) {
    let Some(name) = name else { return };
    if name.contains('*') && (!name.starts_with("*.") || !is_wildcard_subdomain(&name)) {
        walk.refuse(spec, path, "can have `*` only as its first part, as in `*.example.com`");
    } else if !is_wildcard_subdomain(&name) {
        walk.refuse(spec, path, &format!("must be {}", Format::Subdomain.words()));
    }
}

/// Checks a path of an Ingress.
pub(crate) fn path<'v>(walk: &mut Walk<'v>, path: View<'v>) {
    let own = text(path, "path").unwrap_or_default();
    let kind = text(path, "pathType");
    if matches!(kind.as_deref(), Some("Exact" | "Prefix")) {
        if own.is_empty() && get(path, "path").is_none_or(|own| own.as_str().is_some()) {
            walk.refuse(path, steps!["path"], "must be an absolute path");
        }
        for part in ["//", "/./", "/../", "%2f", "%2F"] {
            if own.contains(part) {
                walk.refuse(path, steps!["path"], &format!("must not contain `{part}`"));
            }
        }
        for part in ["/..", "/."] {
            if own.ends_with(part) {
                walk.refuse(path, steps!["path"], &format!("must not end with `{part}`"));
            }
        }
    }
}

/// Checks the port of a policy.
pub(crate) fn policy_port<'v>(walk: &mut Walk<'v>, port: View<'v>) {
    let Some(end) = number(port, "endPort") else {
        return;
    };
    match get(port, "port").and_then(View::scalar) {
        Some(Scalar::String(_)) => {
            walk.refuse(port, steps!["endPort"], "can only be set next to the number of a port");
        }
        Some(Scalar::Number(digits)) if digits.parse::<i64>().is_ok_and(|port| port > end) => {
            walk.refuse(port, steps!["endPort"], "must be at least `port`");
        }
        _ => {}
    }
}

/// Checks a block of addresses of a policy.
pub(crate) fn block<'v>(walk: &mut Walk<'v>, block: View<'v>) {
    let Some((outer, bits, is_v4)) = text(block, "cidr").and_then(|text| cidr(&text)) else {
        return;
    };
    for (index, except) in list(block, "except").enumerate() {
        let Some((inner, own, v4)) = except.as_str().and_then(|text| cidr(&text)) else {
            continue;
        };
        let width = if is_v4 { 32 } else { 128 };
        let mask = |address: u128| {
            if bits == 0 { 0 } else { address >> (width - bits) }
        };
        if v4 != is_v4 || own <= bits || mask(inner) != mask(outer) {
            walk.refuse(block, steps!["except", index], "must be a part of `cidr`");
        }
    }
}
