//! Services and their endpoints.

use std::borrow::Cow;
use std::collections::BTreeSet;

use krm_yaml::{Scalar, View};

use crate::formats::{Format, is_ip, is_ipv4};
use crate::walk::{Walk, get, has, list, number, steps, text};

/// Checks a Service.
pub(crate) fn service<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let kind = text(spec, "type").unwrap_or(Cow::Borrowed("ClusterIP"));
    if walk.is_open_text(&kind) {
        return;
    }
    let is_headless = text(spec, "clusterIP").as_deref() == Some("None")
        || list(spec, "clusterIPs").next().and_then(View::as_str).as_deref() == Some("None");
    super::metadata::label_map(walk, spec, "selector");
    ports(walk, spec, &kind, is_headless);
    addresses(walk, spec, &kind, is_headless);
    let is_balancer = kind == "LoadBalancer";
    let is_external = is_balancer || kind == "NodePort";
    if kind == "ExternalName" {
        match text(spec, "externalName") {
            None => {
                walk.refuse(spec, steps!["externalName"], "is required for `type: ExternalName`")
            }
            Some(name) => {
                let name = name.strip_suffix('.').unwrap_or(&name);
                if !Format::Subdomain.fits(name) {
                    walk.refuse(
                        spec,
                        steps!["externalName"],
                        &format!("must be {}", Format::Subdomain.words()),
                    );
                }
            }
        }
    }
    if !is_balancer {
        for field in ["loadBalancerClass", "allocateLoadBalancerNodePorts"] {
            if get(spec, field).is_some() {
                walk.refuse(spec, steps![field], "can only be set for `type: LoadBalancer`");
            }
        }
        if has(spec, "loadBalancerSourceRanges") {
            walk.refuse(
                spec,
                steps!["loadBalancerSourceRanges"],
                "can only be set for `type: LoadBalancer`",
            );
        }
    }
    let has_external_ips = has(spec, "externalIPs");
    if has(spec, "externalTrafficPolicy")
        && !is_external
        && !(kind == "ClusterIP" && has_external_ips)
    {
        let what = "can only be set for a Service that is reached from outside";
        walk.refuse(spec, steps!["externalTrafficPolicy"], what);
    }
    if number(spec, "healthCheckNodePort").is_some_and(|port| port != 0) {
        let is_local = text(spec, "externalTrafficPolicy").as_deref() == Some("Local");
        if !(is_balancer && is_local) {
            let what =
                "can only be set for `type: LoadBalancer` and `externalTrafficPolicy: Local`";
            walk.refuse(spec, steps!["healthCheckNodePort"], what);
        }
    }
    if let Some(policy) = text(spec, "trafficDistribution")
        && !matches!(policy.as_ref(), "PreferClose" | "PreferSameZone" | "PreferSameNode")
    {
        let words = ["PreferClose", "PreferSameZone", "PreferSameNode"];
        walk.not_one_of(spec, steps!["trafficDistribution"], &policy, &words);
    }
}

fn ports<'v>(walk: &mut Walk<'v>, spec: View<'v>, kind: &str, is_headless: bool) {
    let count = list(spec, "ports").count();
    if count == 0
        && kind != "ExternalName"
        && !is_headless
        && get(spec, "ports").is_none_or(View::is_sequence)
    {
        walk.missing(spec, steps!["ports"]);
    }
    let mut names = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    let mut node_ports = BTreeSet::new();
    for (index, port) in list(spec, "ports").enumerate() {
        let name = text(port, "name");
        match &name {
            None if count > 1 => walk.refuse(
                spec,
                steps!["ports", index, "name"],
                "is required if there are several ports",
            ),
            Some(name) if !names.insert(name.clone()) => {
                walk.refuse(spec, steps!["ports", index, "name"], "must be unique in the Service");
            }
            _ => {}
        }
        let own = number(port, "port");
        if get(port, "port").is_none() {
            walk.missing(spec, steps!["ports", index, "port"]);
        }
        let protocol = text(port, "protocol").unwrap_or(Cow::Borrowed("TCP"));
        if let Some(own) = own
            && !numbers.insert((own, protocol.clone()))
        {
            walk.refuse(
                spec,
                steps!["ports", index],
                "must differ from the others in `port` or `protocol`",
            );
        }
        target_port(walk, spec, port, index);
        let Some(node_port) = number(port, "nodePort").filter(|port| *port != 0) else {
            continue;
        };
        if kind == "ClusterIP" || kind == "ExternalName" {
            if kind == "ClusterIP" {
                walk.refuse(
                    spec,
                    steps!["ports", index, "nodePort"],
                    "must not be set for `type: ClusterIP`",
                );
            }
        } else if !node_ports.insert((node_port, protocol)) {
            walk.refuse(spec, steps!["ports", index, "nodePort"], "must be unique in the Service");
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
            if !name.is_empty() && !Format::PortName.fits(&name) && !walk.is_open_text(&name) =>
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
    if kind == "ExternalName" && !is_headless && single.is_some() {
        walk.refuse(spec, steps!["clusterIP"], "must not be set for `type: ExternalName`");
    }
    if let Some(address) = &single
        && address != "None"
        && !is_ip(address)
    {
        walk.refuse(spec, steps!["clusterIP"], "must be an IP address or `None`");
    }
    let mut count = 0;
    for (index, address) in list(spec, "clusterIPs").enumerate() {
        count += 1;
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
    if count > 2 {
        walk.refuse(spec, steps!["clusterIPs"], "must have at most 2 items");
    }
    let mut families = BTreeSet::new();
    for (index, family) in list(spec, "ipFamilies").enumerate() {
        if let Some(family) = family.as_str()
            && !families.insert(family)
        {
            walk.refuse(spec, steps!["ipFamilies", index], "must be unique");
        }
    }
    if kind == "ExternalName" {
        for field in ["ipFamilyPolicy", "ipFamilies", "clusterIPs"] {
            if has(spec, field) && !is_headless {
                walk.refuse(spec, steps![field], "must not be set for `type: ExternalName`");
            }
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
    if text(spec, "ipFamilyPolicy").as_deref() == Some("SingleStack") && families.len() > 1 {
        walk.refuse(
            spec,
            steps!["ipFamilyPolicy"],
            "must not be `SingleStack` next to several families",
        );
    }
}

/// Checks Endpoints.
pub(crate) fn subset<'v>(walk: &mut Walk<'v>, subset: View<'v>) {
    if !has(subset, "addresses") && !has(subset, "notReadyAddresses") {
        walk.refuse(subset, &[], "must have `addresses` or `notReadyAddresses`");
    }
    let count = list(subset, "ports").count();
    for (index, port) in list(subset, "ports").enumerate() {
        if count > 1 && !has(port, "name") {
            walk.refuse(
                subset,
                steps!["ports", index, "name"],
                "is required if there are several ports",
            );
        }
        if get(port, "port").is_none() {
            walk.missing(subset, steps!["ports", index, "port"]);
        }
    }
}

/// Checks an address of Endpoints.
pub(crate) fn address<'v>(walk: &mut Walk<'v>, address: View<'v>) {
    match text(address, "ip") {
        Some(ip) if is_ip(&ip) => {
            if is_local(&ip) {
                walk.refuse(address, steps!["ip"], "must not be an address of the node itself");
            }
        }
        Some(_) => {}
        None => walk.missing(address, steps!["ip"]),
    }
}

/// Whether an address is one of the node itself, or of its link.
pub(crate) fn is_local(ip: &str) -> bool {
    if is_ipv4(ip) {
        ["127.", "169.254.", "224.0.0."].iter().any(|start| ip.starts_with(start))
            || ip == "0.0.0.0"
    } else {
        matches!(ip, "::" | "::1") || ip.to_ascii_lowercase().starts_with("fe80:")
    }
}

/// Checks an EndpointSlice.
pub(crate) fn slice<'v>(walk: &mut Walk<'v>, slice: View<'v>) {
    let kind = text(slice, "addressType");
    for (index, endpoint) in list(slice, "endpoints").enumerate() {
        let mut count = 0;
        for (at, address) in list(endpoint, "addresses").enumerate() {
            count += 1;
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
        if count > 100 {
            walk.refuse(
                slice,
                steps!["endpoints", index, "addresses"],
                "must have at most 100 items",
            );
        }
    }
    let mut names = BTreeSet::new();
    for (index, port) in list(slice, "ports").enumerate() {
        let name = text(port, "name").unwrap_or_default();
        if !names.insert(name) {
            walk.refuse(slice, steps!["ports", index, "name"], "must be unique");
        }
    }
}
