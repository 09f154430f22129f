//! Common parts of all objects, found before the first one is changed.

mod inferred;

use std::collections::BTreeSet;

use crate::fields::parameter_fields::{Form, parameter_fields};
use crate::parameters::{Images, can_be_renamed};
use crate::survey::inferred::Evidence;
use crate::visit::{self, containers};
use krm_core::Identity;
use krm_core::identity::is_built_in;
use krm_core::pods;
use krm_core::scope::is_namespaced;
use krm_template_engine::labels::are_on_selectors;
use krm_yaml::Value;

/// The fewest characters of a common prefix.
const SHORTEST: usize = 3;

/// The common parts of all objects.
#[derive(Default)]
pub(crate) struct Survey {
    /// The identities of the objects, with their API versions.
    pub(crate) objects: Vec<(Identity, String)>,
    /// The namespaces of the objects; one is empty if some name none.
    namespaces: BTreeSet<String>,
    pub(crate) images: Images,
    pub(crate) hosts: BTreeSet<String>,
    /// Labels that all objects have with the same value.
    labels: Option<Vec<(String, String)>>,
    /// The names that other objects have for the namespace.
    evidence: Evidence,
    /// Whether a text may look like a reference.
    pub(crate) has_dollar: bool,
}

impl Survey {
    /// Takes note of an object.
    pub(crate) fn add(
        &mut self,
        object: &Value<'_>,
        (identity, api_version): (Identity, String),
        adds_selectors: bool,
    ) {
        self.look(object, &identity, adds_selectors);
        self.objects.push((identity, api_version));
    }

    fn look(&mut self, object: &Value<'_>, identity: &Identity, adds_selectors: bool) {
        let is_known = self.namespaces.contains(&identity.namespace);
        if !is_known && is_namespaced(&identity.group, &identity.kind) {
            self.namespaces.insert(identity.namespace.clone());
        }
        self.common_labels(object, identity, adds_selectors);
        self.has_dollar = self.has_dollar || has_dollar(object);
        if !is_built_in(&identity.group) {
            return;
        }
        let kind = identity.kind.as_str();
        if identity.namespace.is_empty() {
            self.evidence.add(object, kind);
        }
        let spec = pods::spec(kind).and_then(|path| object.at(path));
        if let Some(spec) = spec {
            for container in containers(spec) {
                if let Some(image) = container.str_at(&["image"]) {
                    self.images.add(image);
                }
            }
        }
        for row in parameter_fields(kind) {
            match row.form {
                Form::Host => visit::look_at_scalars(object, row.path, &mut |host| {
                    self.hosts.extend(host.as_str().map(str::to_owned));
                }),
                Form::Image => visit::look(object, row.path, &mut |from| {
                    let name = from.str_at(&["name"]);
                    let is_image = from.str_at(&["kind"]) == Some("DockerImage");
                    if let Some(name) = name.filter(|_| is_image) {
                        self.images.add(name);
                    }
                }),
                _ => {}
            }
        }
    }

    /// Keeps the labels that this object has, too, and everywhere where a Template would set them.
    fn common_labels(&mut self, object: &Value<'_>, identity: &Identity, adds_selectors: bool) {
        if self.labels.as_ref().is_some_and(Vec::is_empty) {
            return;
        }
        let own = object.at(&["metadata", "labels"]);
        let labels = self.labels.get_or_insert_with(|| {
            let own = own.and_then(Value::entries).into_iter().flatten();
            let own = own.filter_map(|(key, value)| Some((key, value.as_str()?)));
            own.map(|(key, value)| (key.to_string(), value.to_owned())).collect()
        });
        labels.retain(|label| {
            let (key, value) = label;
            let text = own.and_then(|own| own.get(key)?.as_str());
            if text.is_none_or(|text| text != *value) {
                return false;
            }
            let (group, kind) = (&identity.group, &identity.kind);
            !adds_selectors || are_on_selectors(object, group, kind, std::slice::from_ref(label))
        });
    }

    /// Puts objects that name no namespace into the one that others call them by.
    pub(crate) fn infer_namespace(&mut self) {
        if self.namespaces().next().is_some() {
            return;
        }
        let objects = self.objects.iter();
        let objects = objects.map(|(one, _)| (one.kind.as_str(), one.name.as_str()));
        let objects: BTreeSet<(&str, &str)> = objects.collect();
        let has = |kind: &str, name: &str| objects.contains(&(kind, name));
        let Some(namespace) = self.evidence.namespace(&has) else {
            return;
        };
        if self.namespaces.remove("") {
            self.namespaces.insert(namespace.clone());
        }
        for (identity, _) in &mut self.objects {
            if is_namespaced(&identity.group, &identity.kind) {
                namespace.clone_into(&mut identity.namespace);
            }
        }
    }

    /// The labels that all objects have, and that a Template may set.
    pub(crate) fn labels(&self) -> &[(String, String)] {
        self.labels.as_deref().unwrap_or_default()
    }

    /// The namespace of all objects, if they have one and the same.
    pub(crate) fn namespace(&self) -> Option<&str> {
        let mut namespaces = self.namespaces.iter();
        let first = namespaces.next().filter(|first| !first.is_empty());
        first.filter(|_| namespaces.next().is_none()).map(String::as_str)
    }

    /// The namespaces that objects name.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &str> {
        let names = self.namespaces.iter().map(String::as_str);
        names.filter(|name| !name.is_empty())
    }

    /// The longest beginning that all names have in common; it ends at a `-` or with the name.
    pub(crate) fn prefix(&self) -> Option<&str> {
        let mut names = self.names();
        let first = names.next()?;
        let length = names.fold(first.len(), |length, name| {
            let same = first.bytes().zip(name.bytes());
            same.take_while(|(a, b)| a == b).count().min(length)
        });
        let ends =
            |name: &str, at: usize| name.len() == at || name.as_bytes().get(at) == Some(&b'-');
        // Every name is the same up to there, so only the rest can differ.
        let is_end = |at: &usize| {
            let is_letter = first.as_bytes().get(at - 1) != Some(&b'-');
            is_letter && self.names().all(|name| ends(name, *at))
        };
        let shorter = (SHORTEST..length).rev();
        let at = [length].into_iter().filter(|at| *at >= SHORTEST).chain(shorter);
        let mut at = at.filter(|at| length == *at || first.as_bytes().get(*at) == Some(&b'-'));
        let at = at.find(is_end)?;
        first.get(..at)
    }

    /// The names that may be changed.
    fn names(&self) -> impl Iterator<Item = &str> {
        let objects = self.objects.iter();
        let free = objects.filter(|(identity, _)| can_be_renamed(identity));
        free.map(|(identity, _)| identity.name.as_str())
    }
}

/// Whether a text of an object looks like a reference.
fn has_dollar(value: &Value<'_>) -> bool {
    let looks = |text: &str| {
        let mut dollars = memchr::memchr_iter(b'$', text.as_bytes());
        dollars.any(|at| matches!(text.as_bytes().get(at + 1), Some(b'(' | b'{')))
    };
    let mut items = value.items().into_iter().flatten();
    let mut entries = value.entries().into_iter().flatten();
    value.as_str().is_some_and(looks)
        || items.any(has_dollar)
        || entries.any(|(key, value)| looks(key) || has_dollar(value))
}
