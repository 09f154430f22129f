//! The namespace of objects that name none, as other objects call it.
//!
//! `process` prints no namespace for an exported Template, and its output must export to the same.

use std::collections::BTreeSet;

use crate::visit::containers;
use krm_core::pods;
use krm_yaml::Value;

/// Where a namespace is named; a field counts for more than a DNS name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Field,
    DnsName,
}

/// References to objects that name a namespace: kind, name and namespace.
#[derive(Default)]
pub(crate) struct Evidence(BTreeSet<(Source, &'static str, String, String)>);

impl Evidence {
    /// Takes note of the references of an object.
    pub(crate) fn add(&mut self, object: &Value<'_>, kind: &str) {
        let subjects = object.get("subjects").and_then(Value::items);
        for subject in subjects.into_iter().flatten() {
            let name = subject.str_at(&["name"]).zip(subject.str_at(&["namespace"]));
            if let Some((name, namespace)) = name
                && subject.str_at(&["kind"]) == Some("ServiceAccount")
            {
                self.insert(Source::Field, "ServiceAccount", name, namespace);
            }
        }
        let webhooks = object.get("webhooks").and_then(Value::items);
        let clients = webhooks.into_iter().flatten();
        let services = clients.filter_map(|webhook| webhook.at(&["clientConfig", "service"]));
        for service in services.chain(object.at(&["spec", "service"])) {
            let name = service.str_at(&["name"]).zip(service.str_at(&["namespace"]));
            if let Some((name, namespace)) = name {
                self.insert(Source::Field, "Service", name, namespace);
            }
        }
        let spec = pods::spec(kind).and_then(|path| object.at(path));
        if let Some(spec) = spec {
            containers(spec).for_each(|container| self.dns_names(container));
        }
    }

    fn insert(&mut self, source: Source, kind: &'static str, name: &str, namespace: &str) {
        let (name, namespace) = (name.to_owned(), namespace.to_owned());
        self.0.insert((source, kind, name, namespace));
    }

    /// The names of Services in variables and arguments, as `web.shop.svc`.
    fn dns_names(&mut self, container: &Value<'_>) {
        let items = |key| container.get(key).and_then(Value::items).into_iter().flatten();
        let values = items("env").filter_map(|one| one.str_at(&["value"]));
        let words = items("command").chain(items("args"));
        for text in values.chain(words.filter_map(Value::as_str)) {
            if !text.contains(".svc") {
                continue;
            }
            let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
            for word in text.split(|c| !is_word(c)) {
                let mut labels = word.split('.');
                if let (Some(name), Some(namespace), Some("svc")) =
                    (labels.next(), labels.next(), labels.next())
                {
                    self.insert(Source::DnsName, "Service", name, namespace);
                }
            }
        }
    }

    /// The one namespace in which references look for objects that are in the input.
    pub(crate) fn namespace(&self, has: &dyn Fn(&str, &str) -> bool) -> Option<String> {
        let of = |source: Source| -> BTreeSet<&str> {
            let found = self.0.iter().filter(|one| one.0 == source);
            let found = found.filter(|(_, kind, name, _)| has(kind, name));
            found.map(|(_, _, _, namespace)| namespace.as_str()).collect()
        };
        let sources = [Source::Field, Source::DnsName].into_iter().map(of);
        let mut found = sources.into_iter().find(|found| !found.is_empty())?.into_iter();
        let first = found.next()?;
        found.next().is_none().then(|| first.to_owned())
    }
}
