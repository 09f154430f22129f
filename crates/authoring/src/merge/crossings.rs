//! Selectors that, in the merged Template, also select pods of another Template.

use crate::merge::objects::{Found, find};
use crate::merge::part::Part;
use krm_core::label_selector::LabelSelector;
use krm_core::selection::{Pods, pod_labels, selector, selector_field};
use krm_yaml::View;
use krm_yaml::diagnostic::Diagnostics;

/// Warns of each object that selects pods of its own Template and those of another. One that
/// selects only those of others was written for them.
pub(super) fn warn(parts: &[Part<'_>], found: &mut Diagnostics) {
    let objects: Vec<Vec<Found>> = parts.iter().map(find).collect();
    let each = || {
        let objects = parts.iter().zip(&objects).enumerate();
        objects.flat_map(|(index, (part, objects))| {
            let values = objects.iter().map(move |one| (one, one.value(part)));
            values.filter_map(move |(one, value)| Some((index, part, one, value?)))
        })
    };
    let mut pods = Pods::default();
    for (index, _, object, value) in each() {
        for (labels, _) in pod_labels(value.into()) {
            let labels = labels.into_iter();
            let labels = labels.map(|(key, value)| (key.into_owned(), value.into_owned()));
            pods.add(&object.identity.namespace, labels.collect(), index);
        }
    }
    for (index, part, object, value) in each() {
        let Some(labels) = selected(value.into()) else {
            continue;
        };
        let namespace = &object.identity.namespace;
        let own = pods.find(namespace, &labels, |owner| *owner == index);
        let other = pods.find(namespace, &labels, |owner| *owner != index);
        let other = other.filter(|_| own.is_some());
        let Some(other) = other.and_then(|other| parts.get(*other)) else {
            continue;
        };
        let message = format!(
            "`{}` of Template `{}` also selects pods of Template `{}`",
            object.identity, part.label, other.label
        );
        found.push(
            part.warning(message, value.at(&["metadata", "name"]))
                .rule("crossing-selector")
                .field(object.field())
                .hint("give the pods of each Template a label with another value, and select them by it"),
        );
    }
}

/// The labels that a workload or a Service selects.
fn selected(object: View<'_>) -> Option<LabelSelector> {
    selector(object)?;
    LabelSelector::of_workload(selector_field(object)?.0)
}
