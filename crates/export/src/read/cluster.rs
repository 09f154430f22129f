//! Facts about other objects in the input: owners, Services, autoscalers.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use crate::read::gather::Types;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, DuplicateKeys, Scalar, Value};

/// The objects of the input, as far as others depend on them.
#[derive(Default)]
pub(crate) struct Cluster {
    /// The names of the objects in messages, by their `uid`.
    by_uid: BTreeMap<String, String>,
    /// Name, namespace and kind of all objects.
    all: IndexSet<(String, String, String), RandomState>,
    /// Namespace and name of the Services without a selector.
    without_selector: BTreeSet<(String, String)>,
    /// Kind, namespace and name of the objects that autoscalers scale.
    scaled: BTreeSet<(String, String, String)>,
}

/// The text of a field, if it is a string.
fn text(field: Option<Cursor<'_>>) -> Option<String> {
    match field?.scalar() {
        Ok(Some(Scalar::String(text))) => Some(text.into_owned()),
        _ => None,
    }
}

impl Cluster {
    /// Takes note of the object under a node. Its errors are found when it is exported.
    pub(crate) fn add(&mut self, node: Cursor<'_>, types: Option<&Types>) {
        let [kind, metadata, spec] = node.get_all(["kind", "metadata", "spec"]);
        let metadata = metadata.map(|metadata| metadata.get_all(["namespace", "name", "uid"]));
        let [namespace, name, uid] = metadata.unwrap_or_default().map(text);
        let types = types.filter(|_| kind.is_none());
        let kind = types.map(|types| types.kind.clone()).or_else(|| text(kind));
        let [kind, namespace, name] = [kind, namespace, name].map(Option::unwrap_or_default);
        if let Some(uid) = uid {
            self.by_uid.insert(uid, format!("{kind} `{name}`"));
        }
        let spec = || spec?.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
        match kind.as_str() {
            "Service" => {
                let spec = spec();
                let selector = spec.as_ref().and_then(|spec| spec.get("selector"));
                let selector = selector.and_then(Value::entries);
                if selector.is_none_or(<[_]>::is_empty) {
                    self.without_selector.insert((namespace.clone(), name.clone()));
                }
            }
            "HorizontalPodAutoscaler" => {
                let spec = spec();
                let target = |key| spec.as_ref()?.str_at(&["scaleTargetRef", key]);
                if let Some((kind, name)) = target("kind").zip(target("name")) {
                    self.scaled.insert((kind.to_owned(), namespace.clone(), name.to_owned()));
                }
            }
            _ => {}
        }
        self.all.insert((name, namespace, kind));
    }

    /// The owner of an object as messages call it, if it is in the input. The metadata and the
    /// namespace are the object's.
    pub(crate) fn owner(&self, metadata: &Value<'_>, namespace: &str) -> Option<String> {
        let mut owners = metadata.get("ownerReferences")?.items()?.iter();
        owners.find_map(|owner| {
            let uid = owner.str_at(&["uid"]);
            if let Some(called) = uid.and_then(|uid| self.by_uid.get(uid)) {
                return Some(called.clone());
            }
            let (kind, name) = owner.str_at(&["kind"]).zip(owner.str_at(&["name"]))?;
            let is_there = |namespace: &str| {
                let key = (name.to_string(), namespace.to_owned(), kind.to_string());
                self.all.contains(&key)
            };
            (is_there(namespace) || is_there("")).then(|| format!("{kind} `{name}`"))
        })
    }

    /// Whether a Service is in the input and has no selector.
    pub(crate) fn is_without_selector(&self, namespace: &str, name: &str) -> bool {
        let key = (namespace.to_owned(), name.to_owned());
        self.without_selector.contains(&key)
    }

    /// Whether an autoscaler scales this object.
    pub(crate) fn is_scaled(&self, kind: &str, namespace: &str, name: &str) -> bool {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        self.scaled.contains(&key)
    }
}
