//! Facts for rules that compare objects: identities, selectors and labels.

use crate::lint::context::place;
use krm_core::identity::Identity;
use krm_core::selection::{pod_labels, selector};
use krm_template_engine::Object;
use krm_yaml::Value;
use krm_yaml::source::Place;

pub(super) type Pairs = Vec<(String, String)>;

/// The path of the labels of the pods that an object creates.
const POD_LABELS: &[&[&str]] = &[
    &["spec", "template", "metadata", "labels"],
    &[
        "spec",
        "jobTemplate",
        "spec",
        "template",
        "metadata",
        "labels",
    ],
];

fn is_empty(labels: &Value<'_>) -> bool {
    labels.is_null() || labels.entries().is_some_and(<[_]>::is_empty)
}

/// The selector of an object, and the labels of its own pods.
pub(super) struct Selection {
    pub(super) kind: String,
    pub(super) name: String,
    /// The labels of its pods, and where they are.
    pub(super) pods: Option<(Pairs, Place)>,
    /// Its selector, and where that is.
    pub(super) selector: Option<(Pairs, Place)>,
}

impl Selection {
    pub(super) fn of(object: &Object<'_>) -> Self {
        let value = &object.value;
        let text = |keys| value.str_at(keys).unwrap_or_default().to_owned();
        let owned = |pairs: Vec<(&str, &str)>| {
            let pairs = pairs.into_iter();
            pairs
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect()
        };
        let selected = ["selector", "podSelector"]
            .iter()
            .find_map(|key| value.at(&["spec", key]));
        let labels = POD_LABELS.iter().find_map(|keys| value.at(keys));
        let template = value.at(&["spec", "template"]);
        let pods = match template.filter(|one| one.entries().is_some()) {
            Some(template) if labels.is_none_or(is_empty) => {
                Some((Vec::new(), place(&object.look(), template.into())))
            }
            _ => pod_labels(value).map(|pairs| {
                // The labels of a Pod are its own.
                let labels = labels.or_else(|| value.at(&["metadata", "labels"]));
                (
                    owned(pairs),
                    place(&object.look(), labels.unwrap_or(value).into()),
                )
            }),
        };
        Self {
            kind: text(&["kind"]),
            name: text(&["metadata", "name"]),
            pods,
            selector: selector(value).map(|pairs| {
                (
                    owned(pairs),
                    place(&object.look(), selected.unwrap_or(value).into()),
                )
            }),
        }
    }

    /// Whether it creates the pods that it selects.
    pub(super) fn is_workload(&self) -> bool {
        !matches!(
            self.kind.as_str(),
            "Service" | "PodDisruptionBudget" | "NetworkPolicy"
        )
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
