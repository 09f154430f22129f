//! The pods that the objects of an expansion create, with the labels that they get.

use std::collections::BTreeSet;

use krm_core::label_selector::LabelSelector;
use krm_core::pods;
use krm_core::selection::{self, GIVEN, Pods, selector_field};
use krm_yaml::View;

/// Labels in the order they are written.
pub(crate) type Labels = [(String, String)];

/// The pods of an expansion, before and after they get labels.
#[derive(Debug, Default)]
pub struct KnownPods {
    /// With what creates them, for messages.
    pods: Pods<String>,
    /// The namespace of objects that name none.
    namespace: String,
}

impl KnownPods {
    /// No pods. `namespace` is that of objects that name none.
    #[must_use]
    pub fn new(namespace: Option<&str>) -> Self {
        Self { pods: Pods::default(), namespace: namespace.unwrap_or_default().to_owned() }
    }

    /// Adds the pods of an object. `all` are the labels that objects get, of which their pod
    /// templates get `templates`.
    pub fn add(&mut self, object: View<'_>, all: &Labels, templates: &Labels) {
        let found = pods::found_in(object);
        if found.is_empty() {
            return;
        }
        let namespace = object.str_at(&["metadata", "namespace"]);
        let title = title(object);
        for (pod, position) in found {
            let labels = if position.is_empty() { all } else { templates };
            let namespace = self.namespace_of(namespace.as_deref().unwrap_or_default());
            let namespace = namespace.to_owned();
            self.pods.add(&namespace, Self::labels_of(pod, labels), title.clone());
        }
    }

    /// Adds pods with these labels.
    pub(crate) fn insert(&mut self, namespace: &str, labels: selection::Labels, owner: String) {
        let namespace = self.namespace_of(namespace).to_owned();
        self.pods.add(&namespace, labels, owner);
    }

    /// The labels of a pod template, and those that it gets.
    pub(crate) fn labels_of(pod: View<'_>, labels: &Labels) -> selection::Labels {
        let own = pod.at(&["metadata", "labels"]).and_then(View::entries);
        let own = own.into_iter().flatten();
        let own =
            own.filter_map(|(key, value)| Some((key.into_owned(), value.as_str()?.into_owned())));
        own.chain(labels.iter().cloned()).collect()
    }

    /// Whether a selector of an object in a namespace selects some of the pods. Labels that the
    /// cluster adds to pods are met by any of them.
    pub(crate) fn has(&self, namespace: &str, selector: LabelSelector) -> bool {
        self.owner(namespace, selector).is_some()
    }

    fn owner(&self, namespace: &str, selector: LabelSelector) -> Option<&str> {
        let selector = selector.without(|key| GIVEN.contains(&key));
        let selector = Some(selector).filter(|selector| !selector.is_empty())?;
        let namespace = self.namespace_of(namespace);
        let owner = self.pods.find(namespace, &selector, |_| true)?;
        Some(owner.as_str())
    }

    /// The namespace of an object that names this one, or none.
    pub(crate) fn namespace_of<'n>(&'n self, own: &'n str) -> &'n str {
        if own.is_empty() { &self.namespace } else { own }
    }

    /// The labels among `labels` for which an object selects no pods, although there are pods with
    /// all others that it requires; and what creates these.
    pub(crate) fn missing<'l>(
        &self,
        object: View<'_>,
        labels: &'l Labels,
    ) -> Option<(Vec<&'l (String, String)>, &str)> {
        let (selector, _) = selector_field(object)?;
        let selector = LabelSelector::of_workload(selector)?;
        let required: BTreeSet<(&str, &str)> = selector.pairs().collect();
        let labels: Vec<&(String, String)> =
            labels.iter().filter(|(key, value)| required.contains(&(key, value))).collect();
        let namespace = object.str_at(&["metadata", "namespace"]);
        let namespace = namespace.unwrap_or_default();
        if labels.is_empty() || self.owner(&namespace, selector.clone()).is_some() {
            return None;
        }
        let is_one = |key: &str| labels.iter().any(|(own, _)| own == key);
        let owner = self.owner(&namespace, selector.without(is_one))?;
        Some((labels, owner))
    }
}

/// The kind and name of an object.
pub(crate) fn title(object: View<'_>) -> String {
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
    let kind = object.str_at(&["kind"]).unwrap_or_default();
    format!("{kind} `{name}`")
}
