//! Puts the labels of a Template on its objects, on their pods and on the selectors of these.

use std::borrow::Cow;
use std::sync::Arc;

use crate::expand::pods::{KnownPods, Labels};
use crate::values::budget::Budget;
use krm_core::identity::group;
use krm_core::label_fields::{
    Branch, Create, Scope, Selects, Sets, for_pod_template, for_template,
};
use krm_core::label_selector::LabelSelector;
use krm_core::pods;
use krm_yaml::{Data, EntryLine, Value, View, ViewMut};

/// Labels to be set, and what they may take.
#[derive(Clone, Copy)]
pub struct Set<'l> {
    pub(crate) labels: &'l Labels,
    /// The labels as lines, to be added to objects that are not read as a whole; none if one of them
    /// takes several.
    pub(crate) lines: &'l [Arc<EntryLine>],
    pub(crate) budget: Option<&'l Budget<'l>>,
}

impl<'l> Set<'l> {
    /// Labels that take from no budget.
    #[must_use]
    pub const fn of(labels: &'l Labels) -> Self {
        Self { labels, lines: &[], budget: None }
    }

    /// Counts the labels, to be set once more. Returns whether there is room for them.
    fn fits(self) -> bool {
        self.budget.is_none_or(|budget| {
            let labels = self.labels.iter();
            budget.take(labels.map(|(key, value)| key.len() + value.len()).sum())
        })
    }

    /// Whether the expansion has used up what it may use.
    fn is_over(self) -> bool {
        self.budget.is_some_and(|budget| !budget.goes_on())
    }
}

/// The lines of labels; `None` if one of them takes several.
pub(crate) fn lines(labels: &Labels) -> Option<Vec<Arc<EntryLine>>> {
    let labels = labels.iter();
    labels
        .map(|(key, value)| EntryLine::of(key, Value::string(value.clone())).map(Arc::new))
        .collect()
}

/// Sets the labels on `metadata.labels`. Returns `false` if labels that were there had to go
/// because they are not a mapping of strings, as `oc` does.
pub fn on_object(object: ViewMut<'_, '_>, labels: Set<'_>) -> bool {
    let Some(mut metadata) = object.mapping_at("metadata") else {
        return true;
    };
    let own = metadata.view().get("labels").filter(|own| !own.is_null());
    let fits = own.is_none_or(|own| {
        let mut entries = own.entries().into_iter().flatten();
        own.is_mapping() && entries.all(|(_, value)| value.as_str().is_some())
    });
    if !fits {
        let metadata = metadata.reborrow().value_mut();
        metadata.insert(Cow::Borrowed("labels"), Value::mapping(Vec::new()));
        if let Some(old) = metadata.get_mut("labels") {
            old.origin = None;
        }
    }
    if let Some(own) = metadata.mapping_at("labels") {
        set_all(own, labels);
    }
    fits
}

fn set_all(mut mapping: ViewMut<'_, '_>, labels: Set<'_>) {
    if !labels.fits() {
        return;
    }
    for (index, (key, value)) in labels.labels.iter().enumerate() {
        if labels.is_over() {
            return;
        }
        let mapping = mapping.reborrow();
        if let Some(line) = labels.lines.get(index) {
            mapping.insert(line);
        } else {
            let value = Value::string(value.clone());
            mapping.value_mut().insert(Cow::Owned(key.clone()), value);
        }
    }
}

/// The labels for pod templates and for selectors, and the pods that may be selected.
#[derive(Clone, Copy)]
pub struct Selecting<'l> {
    /// The labels for pod templates.
    pub templates: Set<'l>,
    /// The labels for selectors; those for pod templates include them.
    pub selectors: Set<'l>,
    /// Finds the pods that get the labels.
    pub pods: &'l dyn Fn() -> &'l KnownPods,
}

impl<'l> Selecting<'l> {
    const fn labels(&self, scope: Scope) -> Set<'l> {
        match scope {
            Scope::Templates => self.templates,
            Scope::Selectors => self.selectors,
        }
    }

    /// Whether the selector under a key of `parent` gets the labels: it selects pods that get them.
    fn selects(&self, parent: View<'_>, branch: &Branch, namespace: &str) -> bool {
        match branch.selects {
            None => true,
            Some(Selects::Own) if parent.get("template").is_some_and(View::is_mapping) => true,
            Some(Selects::Own | Selects::Any) => self.any(parent, branch.key, namespace),
        }
    }

    fn any(&self, parent: View<'_>, key: &str, namespace: &str) -> bool {
        let others = parent.get("namespaces").and_then(View::items);
        let is_other = |one: View<'_>| {
            let own = (self.pods)().namespace_of(namespace);
            one.as_str().is_none_or(|one| one != own)
        };
        let leaves = parent.get("namespaceSelector").is_some_and(|one| !one.is_null())
            || others.into_iter().flatten().any(is_other);
        let selector = parent.get(key).filter(|_| !leaves);
        let selector = selector.and_then(LabelSelector::of_workload);
        selector.is_some_and(|selector| (self.pods)().has(namespace, selector))
    }
}

/// Sets the labels on the pod templates of an object and on the selectors that select pods with
/// them.
pub fn on_selectors(mut object: ViewMut<'_, '_>, labels: Selecting<'_>) {
    if labels.templates.labels.is_empty() {
        return;
    }
    let view = object.view();
    let text = |keys: &[&str]| view.str_at(keys).unwrap_or_default();
    let branches = for_template(group(&text(&["apiVersion"])), &text(&["kind"]));
    let namespace = text(&["metadata", "namespace"]).into_owned();
    if branches.is_empty() {
        on_other_kind(object.reborrow(), labels, &namespace);
    }
    for branch in branches {
        on_branch(object.reborrow(), branch, labels, &namespace);
    }
}

/// The same for an object of a kind whose fields are not known.
fn on_other_kind(object: ViewMut<'_, '_>, labels: Selecting<'_>, namespace: &str) {
    let selects = selects_own(object.view(), labels, namespace);
    let found = pods::found_in(object.view()).into_iter();
    let positions: Vec<pods::Position> = found.map(|(_, position)| position).collect();
    if positions.is_empty() && !selects {
        return;
    }
    let object = object.value_mut();
    for position in positions {
        if let Some(template) = part_mut(object, &position).filter(|_| !position.is_empty()) {
            for branch in for_pod_template() {
                on_branch(template.into(), branch, labels, namespace);
            }
        }
    }
    if let Some(selector) = object.at_mut(&["spec", "selector"]).filter(|_| selects) {
        let is_whole = ["matchLabels", "matchExpressions"].map(|key| selector.get(key).is_some());
        if is_whole == [false, false] {
            set_all(selector.into(), labels.selectors);
        } else if let Some(own) = selector.get_mut("matchLabels") {
            on_field(own.into(), Sets::More, labels.selectors);
        }
    }
}

/// Whether the selector in the `spec` of such an object selects its own pods, or those of the
/// workload that an Argo Rollout refers to.
fn selects_own(object: View<'_>, labels: Selecting<'_>, namespace: &str) -> bool {
    let Some(spec) = object.get("spec") else {
        return false;
    };
    let selector = spec.get("selector").and_then(LabelSelector::of_workload);
    let Some(selector) = selector.filter(|selector| !selector.is_empty()) else {
        return false;
    };
    match spec.get("template") {
        Some(template) => {
            let own = KnownPods::labels_of(template, labels.templates.labels);
            selector.matches_some(&own)
        }
        None => spec.get("workloadRef").is_some() && (labels.pods)().has(namespace, selector),
    }
}

/// The part of an object at a position.
fn part_mut<'v, 's>(object: &'v mut Value<'s>, position: &[usize]) -> Option<&'v mut Value<'s>> {
    position.iter().try_fold(object, |value, index| match &mut value.data {
        Data::Mapping(entries) => entries.get_mut(*index).map(|(_, value)| value),
        Data::Sequence(items) => items.get_mut(*index),
        Data::Scalar(_) => None,
    })
}

fn on_branch(value: ViewMut<'_, '_>, branch: &Branch, labels: Selecting<'_>, namespace: &str) {
    if value.view().is_sequence() {
        value.each_item(|item| on_branch(item, branch, labels, namespace));
        return;
    }
    if !labels.selects(value.view(), branch, namespace) {
        return;
    }
    let next = match branch.create {
        Create::Always => value.mapping_at(branch.key),
        Create::InSelector if has_entries(value.view()) => value.mapping_at(branch.key),
        Create::InSelector | Create::Never => value.get_mut(branch.key),
    };
    let Some(mut next) = next else { return };
    on_field(next.reborrow(), branch.sets, labels.labels(branch.scope));
    for inner in &branch.children {
        on_branch(next.reborrow(), inner, labels, namespace);
    }
}

fn on_field(value: ViewMut<'_, '_>, sets: Sets, labels: Set<'_>) {
    if sets == Sets::No {
        return;
    }
    if value.view().is_sequence() {
        value.each_item(|item| on_field(item, sets, labels));
    } else if sets == Sets::Yes || has_entries(value.view()) {
        set_all(value, labels);
    }
}

/// Whether an object of a group and kind has the labels wherever [`on_selectors`] may set them.
pub fn are_on_selectors(object: &Value<'_>, group: &str, kind: &str, labels: &Labels) -> bool {
    let branches = for_template(group, kind);
    if branches.is_empty() {
        let mut found = pods::found_in(object.into()).into_iter();
        return found.all(|(pod, _)| {
            let own = pod.at(&["metadata", "labels"]);
            let has =
                |(key, label): &(String, String)| own?.str_at(&[key]).filter(|own| *own == *label);
            labels.iter().all(|label| has(label).is_some())
        });
    }
    branches.iter().all(|branch| are_on_branch(object, branch, labels))
}

fn are_on_branch(value: &Value<'_>, branch: &Branch, labels: &Labels) -> bool {
    if let Some(items) = value.items() {
        let mut items = items.iter();
        return items.all(|item| are_on_branch(item, branch, labels));
    }
    let creates = match branch.create {
        Create::Always => value.entries().is_some(),
        Create::InSelector => has_entries(value.into()),
        Create::Never => false,
    };
    let Some(next) = value.get(branch.key).filter(|next| !creates || !next.is_null()) else {
        return !creates;
    };
    if creates && next.entries().is_none() {
        return true;
    }
    are_on_field(next, branch.sets, labels)
        && branch.children.iter().all(|inner| are_on_branch(next, inner, labels))
}

fn are_on_field(value: &Value<'_>, sets: Sets, labels: &Labels) -> bool {
    if let Some(items) = value.items() {
        let mut items = items.iter();
        return items.all(|item| are_on_field(item, sets, labels));
    }
    let is_meant = match sets {
        Sets::Yes => value.entries().is_some(),
        Sets::More => has_entries(value.into()),
        Sets::No => false,
    };
    let has = |(key, label): &(String, String)| value.str_at(&[key]) == Some(label);
    !is_meant || labels.iter().all(has)
}

fn has_entries(value: View<'_>) -> bool {
    value.entries().is_some_and(|mut entries| entries.next().is_some())
}
