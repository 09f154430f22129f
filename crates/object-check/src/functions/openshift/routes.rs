//! Routes.

use krm_yaml::{Scalar, View};

use crate::formats::{is_label, is_subdomain};
use crate::walk::{Part, Walk, get, has, is_empty, list, number, steps, text};

/// Checks a Route.
pub(crate) fn route<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let host = text(spec, "host");
    for field in ["host", "subdomain"] {
        if let Some(name) = text(spec, field) {
            let is_host = is_subdomain(&name) && name.split('.').all(is_label);
            if !is_host {
                walk.refuse(
                    spec,
                    steps![field],
                    "must be a DNS name of parts of up to 63 lower case letters, digits and `-`",
                );
            }
        }
    }
    if let Some(path) = text(spec, "path")
        && !path.starts_with('/')
    {
        walk.refuse(spec, steps!["path"], "must begin with `/`");
    }
    if get(spec, "to").is_none() {
        walk.missing(spec, steps!["to", "name"]);
    }
    if let Some(to) = get(spec, "to") {
        target(walk, spec, to, &["to".into()]);
    }
    let mut count = 0;
    for (index, other) in list(spec, "alternateBackends").enumerate() {
        count += 1;
        target(walk, spec, other, &["alternateBackends".into(), index.into()]);
    }
    if count > 3 {
        walk.refuse(spec, steps!["alternateBackends"], "must have at most 3 items");
    }
    if let Some(port) = get(spec, "port").filter(|port| port.is_mapping()) {
        let target = get(port, "targetPort").and_then(View::scalar);
        let is_none = match &target {
            None => get(port, "targetPort").is_none(),
            Some(Scalar::String(name)) => name.is_empty(),
            Some(Scalar::Number(digits)) => digits == "0",
            Some(_) => false,
        };
        if is_none {
            walk.missing(spec, steps!["port", "targetPort"]);
        }
    }
    let wildcard = text(spec, "wildcardPolicy");
    if wildcard.as_deref() == Some("Subdomain") && host.is_none() {
        walk.refuse(spec, steps!["wildcardPolicy"], "must not be `Subdomain` without `host`");
    }
    tls(walk, spec, wildcard.as_deref());
}

fn target<'v>(walk: &mut Walk<'v>, spec: View<'v>, target: View<'v>, path: &[Part<'v>]) {
    if !target.is_mapping() {
        return;
    }
    let at = |field: &'static str| {
        let mut path = path.to_vec();
        path.push(Part::from(field));
        path
    };
    if get(target, "kind")
        .and_then(View::as_str)
        .is_some_and(|kind| kind != "Service" && !kind.is_empty())
    {
        walk.refuse(spec, &at("kind"), "must be `Service`");
    }
    if !has(target, "name") {
        walk.missing(spec, &at("name"));
    }
    if number(target, "weight").is_some_and(|weight| !(0..=256).contains(&weight)) {
        walk.refuse(spec, &at("weight"), "must be between 0 and 256");
    }
}

fn tls<'v>(walk: &mut Walk<'v>, spec: View<'v>, wildcard: Option<&str>) {
    let Some(tls) = get(spec, "tls").filter(|tls| tls.is_mapping() && !is_empty(*tls)) else {
        return;
    };
    // Old capitals are read as well.
    let kind = text(tls, "termination").map(|kind| kind.to_ascii_lowercase());
    match kind.as_deref() {
        Some("reencrypt" | "edge" | "passthrough") | None => {}
        Some(other) => {
            let words = ["edge", "passthrough", "reencrypt"];
            walk.not_one_of(spec, steps!["tls", "termination"], other, &words);
        }
    }
    if kind.as_deref() == Some("passthrough") {
        for field in [
            "certificate",
            "key",
            "caCertificate",
            "destinationCACertificate",
            "externalCertificate",
        ] {
            if has(tls, field) {
                walk.refuse(
                    spec,
                    steps!["tls", field],
                    "must not be set for `termination: passthrough`",
                );
            }
        }
        if wildcard == Some("Subdomain") {
            walk.refuse(
                spec,
                steps!["wildcardPolicy"],
                "must not be `Subdomain` for `termination: passthrough`",
            );
        }
        if has(spec, "path") {
            walk.refuse(spec, steps!["path"], "must not be set for `termination: passthrough`");
        }
    }
    if kind.as_deref() == Some("edge") && has(tls, "destinationCACertificate") {
        walk.refuse(
            spec,
            steps!["tls", "destinationCACertificate"],
            "must not be set for `termination: edge`",
        );
    }
    if let Some(policy) = text(tls, "insecureEdgeTerminationPolicy") {
        let words: &[&str] = match kind.as_deref() {
            Some("passthrough") => &["None", "Redirect"],
            _ => &["None", "Redirect", "Allow"],
        };
        if !words.contains(&policy.as_ref()) {
            walk.not_one_of(spec, steps!["tls", "insecureEdgeTerminationPolicy"], &policy, words);
        }
    }
}
