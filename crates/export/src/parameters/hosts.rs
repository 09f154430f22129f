//! The names of hosts, and the domains that several share.

use std::collections::{BTreeMap, BTreeSet};

use crate::parameters::declarations::NewParameter;
use crate::parameters::maker::{Maker, Object};
use crate::references::marks;
use krm_yaml::Value;

/// The domains that several hosts share: the part after the first dot, if it has a dot itself.
pub(crate) fn shared_domains<'h>(hosts: impl Iterator<Item = &'h String>) -> BTreeSet<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for host in hosts {
        if let Some((_, domain)) = host.split_once('.') {
            *counts.entry(domain).or_default() += 1;
        }
    }
    let shared = counts.into_iter().filter(|(domain, count)| *count > 1 && domain.contains('.'));
    shared.map(|(domain, _)| domain.to_owned()).collect()
}

/// Makes a parameter of a host, or refers to that of the same host.
pub(crate) fn of_field(
    field: &mut Value<'_>,
    path: &str,
    object: &Object<'_>,
    maker: &mut Maker<'_>,
) {
    let host = field.as_str();
    let host = host.filter(|host| !host.is_empty() && !host.contains('$'));
    let Some(host) = host.map(str::to_owned) else {
        return;
    };
    let known = maker.hosts.get(&host).cloned();
    let reference = known.unwrap_or_else(|| {
        let reference = reference(&host, path, object, maker);
        maker.hosts.insert(host, reference.clone());
        reference
    });
    field.set(Value::string(reference).data);
}

fn reference(host: &str, path: &str, object: &Object<'_>, maker: &mut Maker<'_>) -> String {
    let shared = host.split_once('.');
    let shared = shared.filter(|(_, domain)| maker.scope.domains.contains(*domain));
    let new = NewParameter {
        name: &[object.word, "HOST"],
        title: &["Host of ", object.short()],
        origin: &["`", path, "` of ", object.called],
        group: object.called,
        value: shared.map_or(host, |(own, _)| own),
        is_required: true,
        ..NewParameter::default()
    };
    let own = marks::text(maker.parameters.add(&new, &|_| false));
    let Some((_, domain)) = shared else {
        return own;
    };
    let new = NewParameter {
        name: &["DOMAIN"],
        title: &["Domain"],
        origin: &["the domain of several hosts"],
        value: domain,
        ..NewParameter::default()
    };
    [&own, ".", maker.shared("domain", new)].concat()
}

#[cfg(test)]
mod tests {
    use super::shared_domains;

    #[test]
    fn a_domain_is_shared_by_several_hosts() {
        let shared = |hosts: &[&str]| {
            let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
            shared_domains(hosts.iter()).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(shared(&["a.example.org", "b.example.org"]), ["example.org"]);
        assert!(shared(&["a.example.org", "b.example.com"]).is_empty());
        assert!(shared(&["a.org", "b.org"]).is_empty());
        assert!(shared(&["a", "b"]).is_empty());
    }
}
