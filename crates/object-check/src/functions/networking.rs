//! Ingresses and network policies.

use krm_yaml::{Scalar, View};

use crate::formats::{Format, cidr, is_ip, is_wildcard_subdomain};
use crate::walk::{Walk, get, has, list, number, steps, text};

/// Checks an Ingress.
pub(crate) fn ingress<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    if !has(spec, "rules")
        && get(spec, "defaultBackend").is_none()
        && get(spec, "rules").is_none_or(View::is_sequence)
    {
        walk.refuse(spec, &[], "must have `defaultBackend` or `rules`");
    }
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

/// Checks what requests are sent to.
pub(crate) fn backend<'v>(walk: &mut Walk<'v>, backend: View<'v>) {
    let service = get(backend, "service");
    let resource = get(backend, "resource");
    match (service, resource) {
        (Some(_), Some(_)) => {
            walk.refuse(backend, steps!["resource"], "must not be set next to `service`")
        }
        (None, None) => walk.refuse(backend, &[], "must have `service` or `resource`"),
        _ => {}
    }
    let Some(service) = service.filter(|service| service.is_mapping()) else {
        return;
    };
    let port = get(service, "port");
    let name = port.is_some_and(|port| has(port, "name"));
    let number = port.is_some_and(|port| number(port, "number").is_some_and(|number| number != 0));
    let is_plain = port.is_none_or(|port| {
        port.is_mapping()
            && get(port, "number").is_none_or(|one| matches!(one.scalar(), Some(Scalar::Number(_))))
    });
    if name && number {
        walk.refuse(backend, steps!["service", "port"], "must have one of `name` and `number`");
    } else if !name && !number && is_plain {
        walk.refuse(backend, steps!["service", "port"], "must have `name` or `number`");
    }
}

/// Checks the port of a policy.
pub(crate) fn policy_port<'v>(walk: &mut Walk<'v>, port: View<'v>) {
    let Some(end) = number(port, "endPort") else {
        return;
    };
    match get(port, "port").and_then(View::scalar) {
        None => walk.refuse(port, steps!["endPort"], "can only be set next to `port`"),
        Some(Scalar::String(_)) => {
            walk.refuse(port, steps!["endPort"], "can only be set next to the number of a port")
        }
        Some(Scalar::Number(digits)) if digits.parse::<i64>().is_ok_and(|port| port > end) => {
            walk.refuse(port, steps!["endPort"], "must be at least `port`");
        }
        _ => {}
    }
}

/// Checks a peer of a policy.
pub(crate) fn peer<'v>(walk: &mut Walk<'v>, peer: View<'v>) {
    let selectors = ["podSelector", "namespaceSelector"]
        .iter()
        .filter(|field| get(peer, field).is_some())
        .count();
    let block = get(peer, "ipBlock");
    if block.is_some() && selectors > 0 {
        walk.refuse(peer, steps!["ipBlock"], "must not be set next to a selector");
    }
    if block.is_none() && selectors == 0 {
        walk.refuse(peer, &[], "must have `podSelector`, `namespaceSelector` or `ipBlock`");
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

/// Checks an IngressClass.
pub(crate) fn class<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    if let Some(name) = text(spec, "controller") {
        let (domain, path) = name.split_once('/').unwrap_or((&name, ""));
        if !Format::Subdomain.fits(domain) || path.is_empty() || name.len() > 250 {
            walk.refuse(
                spec,
                steps!["controller"],
                "must have a domain and a path, as in `example.com/controller`",
            );
        }
    }
    let Some(parameters) = get(spec, "parameters").filter(|one| one.is_mapping()) else {
        return;
    };
    let scope = text(parameters, "scope");
    match scope.as_deref() {
        Some("Namespace") if !has(parameters, "namespace") => {
            walk.refuse(
                spec,
                steps!["parameters", "namespace"],
                "is required for `scope: Namespace`",
            );
        }
        Some("Cluster") | None if has(parameters, "namespace") => {
            walk.refuse(
                spec,
                steps!["parameters", "namespace"],
                "can only be set for `scope: Namespace`",
            );
        }
        Some("Namespace" | "Cluster") | None => {}
        Some(other) => {
            walk.not_one_of(spec, steps!["parameters", "scope"], other, &["Cluster", "Namespace"])
        }
    }
}
