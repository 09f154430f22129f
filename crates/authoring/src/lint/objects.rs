//! Rules about objects that belong together: their identities, their selectors and pods.

use std::collections::BTreeMap;

use crate::lint::context::Context;
use crate::lint::facts::{Facts, Pairs, Selection};
use krm_core::identity::Identity;
use krm_core::selection::GIVEN;
use krm_template_engine::Object;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

/// How a selector and the labels of pods go together.
fn unmet<'p>(
    context: &Context<'_>,
    selector: &'p Pairs,
    labels: &'p Pairs,
) -> Vec<(&'p str, &'p str, Option<&'p str>)> {
    let is_open = |text: &str| !context.is_known(text);
    let keys_are_known = labels.iter().all(|(key, _)| !is_open(key));
    let wrong = selector.iter().filter_map(|(key, value)| {
        let label = labels.iter().find(|(other, _)| other == key);
        let label = label.map(|(_, label)| label.as_str());
        let may_match = match label {
            Some(label) => label == value || is_open(label) || is_open(value),
            None => is_open(key) || !keys_are_known || GIVEN.contains(&key.as_str()),
        };
        (!may_match).then_some((key.as_str(), value.as_str(), label))
    });
    wrong.collect()
}

/// A workload that does not select its own pods. The API server rejects it.
pub(super) fn selector_mismatch(
    context: &Context<'_>,
    object: &Object<'_>,
    found: &mut Diagnostics,
) {
    let selection = Selection::of(object);
    if !selection.is_workload() {
        return;
    }
    let (Some((selector, place)), Some((labels, labels_place))) =
        (&selection.selector, selection.pods.first())
    else {
        return;
    };
    for (key, value, label) in unmet(context, selector, labels) {
        let why = match label {
            Some(label) => format!("their label is `{key}: {label}`"),
            None => "they do not have this label".to_owned(),
        };
        found.push(
            Diagnostic::error(format!(
                "the {} selects pods with `{key}: {value}`, but not its own: {why}",
                selection.kind
            ))
            .at(place.clone())
            .related(labels_place.clone(), "the labels of its pods")
            .field(format!("{}.spec.selector", object.field))
            .hint("selector and pod template must match, or Kubernetes rejects the object"),
        );
    }
}

/// A Service (or similar kind) that selects no pods of the Template but shares a label with some.
pub(super) fn unmatched_selector(context: &Context<'_>, facts: &[Facts], found: &mut Diagnostics) {
    let pods = || {
        let selections = facts.iter().map(|facts| &facts.selection);
        selections.flat_map(|one| one.pods.iter().map(move |pods| (one, pods)))
    };
    let is_of_other_kind = |selector: &Pairs| {
        let mut others = facts.iter().flat_map(|facts| &facts.selection.possible_pods);
        others.any(|labels| unmet(context, selector, labels).is_empty())
    };
    for one in facts.iter().filter(|facts| !facts.selection.is_workload()) {
        let Some((selector, place)) = &one.selection.selector else {
            continue;
        };
        if pods().any(|(_, (labels, _))| unmet(context, selector, labels).is_empty())
            || is_of_other_kind(selector)
        {
            continue;
        }
        let shared = |labels: &Pairs| selector.iter().filter(|pair| labels.contains(pair)).count();
        let nearest = pods().max_by_key(|(_, (labels, _))| shared(labels));
        let Some((workload, (labels, labels_place))) = nearest else {
            continue;
        };
        if shared(labels) == 0 {
            continue;
        }
        let unmet = unmet(context, selector, labels);
        let differs = unmet.iter().any(|(_, _, label)| label.is_some());
        let missing: Vec<String> = unmet
            .iter()
            .map(|(key, value, label)| match label {
                Some(label) => format!("`{key}: {value}` (they have `{key}: {label}`)"),
                None => format!("`{key}: {value}`"),
            })
            .collect();
        let message = format!(
            "the {} selects no pods of this Template: the pods of {} `{}` lack {}",
            one.selection.kind,
            workload.kind,
            workload.name,
            missing.join(", ")
        );
        // A missing label may be added to running pods.
        let diagnostic =
            if differs { Diagnostic::warning(message) } else { Diagnostic::info(message) };
        found.push(
            diagnostic
                .at(place.clone())
                .related(labels_place.clone(), "the closest labels")
                .field(format!("{}.spec", one.field))
                .hint("make selector and labels match"),
        );
    }
}

/// Objects with the same identity.
pub(super) fn duplicate_object(_: &Context<'_>, facts: &[Facts], found: &mut Diagnostics) {
    let mut seen: BTreeMap<&Identity, &Facts> = BTreeMap::new();
    for one in facts {
        let Some(identity) = one.identity.as_ref().filter(|identity| !identity.name.is_empty())
        else {
            continue;
        };
        if let Some(first) = seen.get(identity) {
            found.push(
                Diagnostic::error(format!("the Template creates {identity} twice"))
                    .at(one.place.clone())
                    .related(first.place.clone(), "first here")
                    .field(format!("{}.metadata.name", one.field))
                    .hint("rename or remove one of them"),
            );
        } else {
            seen.insert(identity, one);
        }
    }
}
