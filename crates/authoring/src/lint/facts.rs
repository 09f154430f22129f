//! Facts for rules that compare objects: identities, selectors and labels.

use crate::lint::context::place;
use krm_core::identity::{Identity, group, is_built_in};
use krm_core::pods;
use krm_core::selection::{self, selector, selector_field};
use krm_template_engine::Object;
use krm_yaml::View;
use krm_yaml::source::Place;

pub(super) type Pairs = Vec<(String, String)>;

fn is_empty(labels: View<'_>) -> bool {
    labels.is_null() || labels.entries().is_some_and(|mut labels| labels.next().is_none())
}

fn owned(pairs: selection::Pairs<'_>) -> Pairs {
    let pairs = pairs.into_iter();
    pairs.map(|(key, value)| (key.into_owned(), value.into_owned())).collect()
}

/// The labels in a mapping, if all are strings.
fn pairs(labels: View<'_>) -> Option<Pairs> {
    let pairs = labels.entries()?;
    pairs.map(|(key, value)| Some((key.into_owned(), value.as_str()?.into_owned()))).collect()
}

/// The depth to which labels are looked for in an object of a kind that is not known.
const MAX_DEPTH: usize = 8;

/// Finds the labels in an object, but for those of selectors: `spec.podMetadata.labels` of a
/// Prometheus, `spec.podLabels` of others.
fn add_labels(value: View<'_>, depth: usize, found: &mut Vec<Pairs>) {
    if depth > MAX_DEPTH {
        return;
    }
    for item in value.items().into_iter().flatten() {
        add_labels(item, depth + 1, found);
    }
    for (key, value) in value.entries().into_iter().flatten() {
        match key.as_ref() {
            "metadata" if depth == 0 => {}
            "matchLabels" => {}
            _ if key.ends_with("abels") => found.extend(pairs(value)),
            _ => add_labels(value, depth + 1, found),
        }
    }
}

/// The selector of an object, and the labels of its own pods.
pub(super) struct Selection {
    pub(super) kind: String,
    pub(super) name: String,
    /// The labels of its pods, and where they are.
    pub(super) pods: Vec<(Pairs, Place)>,
    /// Labels that may be those of its pods, as its kind is not known.
    pub(super) possible_pods: Vec<Pairs>,
    /// Its selector, and where that is.
    pub(super) selector: Option<(Pairs, Place)>,
}

impl Selection {
    pub(super) fn of(object: &Object<'_>) -> Self {
        let value = View::from(&object.value);
        let text = |keys| value.str_at(keys).unwrap_or_default().into_owned();
        let look = object.look();
        let pods = pods::found_in(value).into_iter().filter_map(|(pod, _)| {
            let labels = pod.at(&["metadata", "labels"]);
            match labels.filter(|labels| !is_empty(*labels)) {
                Some(labels) => Some((pairs(labels)?, place(&look, labels))),
                // The labels of a Pod are its own.
                None => pod
                    .get("metadata")
                    .is_none_or(View::is_mapping)
                    .then(|| (Vec::new(), place(&look, pod))),
            }
        });
        let pods: Vec<(Pairs, Place)> = pods.collect();
        let kind = text(&["kind"]);
        let api_version = text(&["apiVersion"]);
        let mut possible_pods = Vec::new();
        if !is_built_in(group(&api_version)) {
            add_labels(value, 0, &mut possible_pods);
        }
        let selected = selector_field(value).map(|(field, _)| field);
        let selector = selector(value).map(owned).zip(selected);
        Self {
            name: text(&["metadata", "name"]),
            kind,
            pods,
            possible_pods,
            selector: selector.map(|(pairs, field)| (pairs, place(&look, field))),
        }
    }

    /// Whether it creates the pods that it selects.
    pub(super) fn is_workload(&self) -> bool {
        !matches!(self.kind.as_str(), "Service" | "PodDisruptionBudget" | "NetworkPolicy")
    }
}

/// The facts about one object.
pub(super) struct Facts {
    pub(super) identity: Option<Identity>,
    /// The position of its name; without one, of the object.
    pub(super) place: Place,
    pub(super) field: String,
    pub(super) selection: Selection,
}

impl Facts {
    pub(super) fn of(object: &Object<'_>) -> Self {
        let name = object.value.at(&["metadata", "name"]);
        Self {
            identity: Identity::of(&object.value),
            place: place(&object.look(), name.unwrap_or(&object.value).into()),
            field: object.field.clone(),
            selection: Selection::of(object),
        }
    }
}
