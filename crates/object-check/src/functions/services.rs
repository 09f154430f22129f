//! Services and their endpoints.

use std::borrow::Cow;
use std::collections::BTreeSet;

use krm_yaml::{Scalar, View};

use crate::formats::{Format, is_ip, is_ipv4, is_local};
use crate::walk::{Walk, get, has, list, number, steps, text};

/// Checks a Service.
pub(crate) fn service<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let kind = text(spec, "type").unwrap_or(Cow::Borrowed("ClusterIP"));
    if walk.is_placeholder_text(&kind) {
        return;
    }
    let is_headless = text(spec, "clusterIP").as_deref() == Some("None")
        || list(spec, "clusterIPs").next().and_then(View::as_str).as_deref() == Some("None");
    ports(walk, spec, &kind);
    addresses(walk, spec, &kind, is_headless);
}

fn ports<'v>(walk: &mut Walk<'v>, spec: View<'v>, kind: &str) {
    named_ports(walk, spec);
    let mut names = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    let mut node_ports = BTreeSet::new();
    for (index, port) in list(spec, "ports").enumerate() {
        if text(port, "name").is_some_and(|name| !names.insert(name)) {
            walk.refuse(spec, steps!["ports", index, "name"], "must be unique in the Service");
        }
        let protocol = text(port, "protocol").unwrap_or(Cow::Borrowed("TCP"));
        if number(port, "port").is_some_and(|own| !numbers.insert((own, protocol.clone()))) {
            let what = "must differ from the others in `port` or `protocol`";
            walk.refuse(spec, steps!["ports", index], what);
        }
        target_port(walk, spec, port, index);
        let Some(node_port) = number(port, "nodePort").filter(|port| *port != 0) else {
            continue;
        };
        let path = steps!["ports", index, "nodePort"];
        if kind == "ClusterIP" {
            walk.refuse(spec, path, "must not be set for `type: ClusterIP`");
        } else if kind != "ExternalName" && !node_ports.insert((node_port, protocol)) {
            walk.refuse(spec, path, "must be unique in the Service");
        }
    }
}

/// Checks that each of several ports has a name.
pub(crate) fn named_ports<'v>(walk: &mut Walk<'v>, around: View<'v>) {
    let is_one = list(around, "ports").count() == 1;
    for (index, port) in list(around, "ports").enumerate().filter(|_| !is_one) {
        if !has(port, "name") {
            let what = "is required if there are several ports";
            walk.refuse(around, steps!["ports", index, "name"], what);
        }
    }
}

fn target_port<'v>(walk: &mut Walk<'v>, spec: View<'v>, port: View<'v>, index: usize) {
    let what = match get(port, "targetPort").and_then(View::scalar) {
        Some(Scalar::Number(digits)) => {
            // 0 is like none.
            let number: i64 = digits.parse().unwrap_or(1);
            (!(0..=65535).contains(&number)).then(|| "must be between 1 and 65535".to_owned())
        }
        Some(Scalar::String(name))
            if !name.is_empty()
                && !Format::PortName.fits(&name)
                && !walk.is_placeholder_text(&name) =>
        {
            Some(format!("must be {}", Format::PortName.words()))
        }
        _ => None,
    };
    if let Some(what) = what {
        walk.refuse(spec, steps!["ports", index, "targetPort"], &what);
    }
}

fn addresses<'v>(walk: &mut Walk<'v>, spec: View<'v>, kind: &str, is_headless: bool) {
    let single = get(spec, "clusterIP").and_then(View::as_str).filter(|text| !text.is_empty());
    if is_headless && (kind == "NodePort" || kind == "LoadBalancer") {
        walk.refuse(spec, steps!["clusterIP"], &format!("must not be `None` for `type: {kind}`"));
    }
    if let Some(address) = &single
        && address != "None"
        && !is_ip(address)
    {
        walk.refuse(spec, steps!["clusterIP"], "must be an IP address or `None`");
    }
    for (index, address) in list(spec, "clusterIPs").enumerate() {
        let Some(address) = address.as_str() else {
            continue;
        };
        if index == 0 && single.as_ref().is_some_and(|single| *single != address) {
            walk.refuse(spec, steps!["clusterIPs", 0], "must equal `clusterIP`");
        }
        if index == 0 && single.is_none() && !address.is_empty() {
            walk.refuse(spec, steps!["clusterIPs"], "must be empty without `clusterIP`");
        }
        if address != "None" && !is_ip(&address) {
            walk.refuse(spec, steps!["clusterIPs", index], "must be an IP address or `None`");
        } else if address == "None" && index > 0 {
            walk.refuse(spec, steps!["clusterIPs", index], "must be an IP address");
        }
    }
    for (index, address) in list(spec, "externalIPs").enumerate() {
        if address.as_str().is_some_and(|address| is_ip(&address) && is_local(&address)) {
            walk.refuse(
                spec,
                steps!["externalIPs", index],
                "must not be an address of the node itself",
            );
        }
    }
}

/// Checks an EndpointSlice.
pub(crate) fn slice<'v>(walk: &mut Walk<'v>, slice: View<'v>) {
    let kind = text(slice, "addressType");
    for (index, endpoint) in list(slice, "endpoints").enumerate() {
        for (at, address) in list(endpoint, "addresses").enumerate() {
            let Some(address) = address.as_str() else {
                continue;
            };
            let path = steps!["endpoints", index, "addresses", at];
            match kind.as_deref() {
                Some("IPv4") if !is_ipv4(&address) => {
                    walk.refuse(slice, path, "must be an IPv4 address");
                }
                Some("IPv6") if !is_ip(&address) || is_ipv4(&address) => {
                    walk.refuse(slice, path, "must be an IPv6 address");
                }
                Some("IPv4" | "IPv6") if is_local(&address) => {
                    walk.refuse(slice, path, "must not be an address of the node itself");
                }
                Some("FQDN") if !Format::Subdomain.fits(&address) || !address.contains('.') => {
                    walk.refuse(slice, path, "must be a DNS name");
                }
                _ => {}
            }
        }
    }
}
