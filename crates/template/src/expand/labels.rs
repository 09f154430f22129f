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
use krm_yaml::{Cursor, Data, EntryLine, Patched, Value, View};

/// Labels to be set, and what they may take.
#[derive(Clone, Copy)]
pub struct Set<'l> {
    pub(crate) labels: &'l Labels,
    pub(crate) budget: Option<&'l Budget<'l>>,
}

impl<'l> Set<'l> {
    /// Labels that take from no budget.
    #[must_use]
    pub const fn of(labels: &'l Labels) -> Self {
        Self { labels, budget: None }
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

/// The labels as lines, to be added to objects that are not read as a whole.
pub(crate) type Lines = [Arc<EntryLine>];

/// The lines of labels; `None` if one of them takes several.
pub(crate) fn lines(labels: &Labels) -> Option<Vec<Arc<EntryLine>>> {
    let labels = labels.iter();
    labels
        .map(|(key, value)| EntryLine::of(key, Value::string(value.clone())).map(Arc::new))
        .collect()
}

/// Sets the labels on `metadata.labels`. Returns `false` if labels that were there had to go
/// because they are not a mapping of strings, as `oc` does.
pub fn on_object(object: &mut Value<'_>, labels: Set<'_>) -> bool {
    let metadata = object.mapping_at("metadata");
    metadata.is_none_or(|metadata| on_metadata(metadata, labels))
}

/// As [`on_object`], for an object that is not read as a whole. `None` if it must be.
pub(crate) fn on_metadata_of<'d>(
    object: &mut Patched<'d>,
    metadata: Cursor<'d>,
    labels: Set<'_>,
    lines: &'d Lines,
) -> Option<()> {
    let is_changed = object.changed_mut(metadata).is_some();
    let own = metadata.get("labels").filter(|own| own.is_mapping());
    let Some(own) = own.filter(|_| !is_changed) else {
        return on_metadata(object.value_mut(metadata), labels).then_some(());
    };
    let mut entries = own.children();
    let are_strings = entries.all(|entry| object.view_of(entry).as_str().is_some());
    are_strings.then(|| insert_all(object, own, labels, lines))
}

/// As [`set_all`], for a mapping of an object that is not read as a whole.
fn insert_all<'d>(
    object: &mut Patched<'d>,
    mapping: Cursor<'d>,
    labels: Set<'_>,
    lines: &'d Lines,
) {
    if !labels.fits() {
        return;
    }
    for line in lines {
        if labels.is_over() {
            return;
        }
        object.insert(mapping, line);
    }
}

fn on_metadata(metadata: &mut Value<'_>, labels: Set<'_>) -> bool {
    let own = metadata.get("labels").filter(|own| !own.is_null());
    let fits = own.is_none_or(|own| {
        let entries = own.entries();
        entries.is_some_and(|entries| entries.iter().all(|(_, value)| value.as_str().is_some()))
    });
    if !fits {
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

fn set_all(mapping: &mut Value<'_>, labels: Set<'_>) {
    if !labels.fits() {
        return;
    }
    for (key, value) in labels.labels {
        if labels.is_over() {
            return;
        }
        mapping.insert(Cow::Owned(key.clone()), Value::string(value.clone()));
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
pub fn on_selectors(object: &mut Value<'_>, labels: Selecting<'_>) {
    if labels.templates.labels.is_empty() {
        return;
    }
    let kind = object.str_at(&["kind"]).unwrap_or_default();
    let group = group(object.str_at(&["apiVersion"]).unwrap_or_default());
    let branches = for_template(group, kind);
    let namespace = object.str_at(&["metadata", "namespace"]);
    let namespace = namespace.unwrap_or_default().to_owned();
    if branches.is_empty() {
        on_other_kind(object, labels, &namespace);
    }
    for branch in branches {
        on_branch(object, branch, labels, &namespace);
    }
}

/// The same for an object of a kind whose fields are not known.
fn on_other_kind(object: &mut Value<'_>, labels: Selecting<'_>, namespace: &str) {
    let selects = selects_own((&*object).into(), labels, namespace);
    let found = pods::found_in((&*object).into()).into_iter();
    let positions: Vec<pods::Position> = found.map(|(_, position)| position).collect();
    for position in positions {
        if let Some(template) = part_mut(object, &position).filter(|_| !position.is_empty()) {
            for branch in for_pod_template() {
                on_branch(template, branch, labels, namespace);
            }
        }
    }
    if let Some(selector) = object.at_mut(&["spec", "selector"]).filter(|_| selects) {
        let is_whole = ["matchLabels", "matchExpressions"].map(|key| selector.get(key).is_some());
        if is_whole == [false, false] {
            set_all(selector, labels.selectors);
        } else if let Some(own) = selector.get_mut("matchLabels").filter(|own| has_entries(own)) {
            set_all(own, labels.selectors);
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

fn on_branch(value: &mut Value<'_>, branch: &Branch, labels: Selecting<'_>, namespace: &str) {
    if let Data::Sequence(items) = &mut value.data {
        for item in items {
            on_branch(item, branch, labels, namespace);
        }
        return;
    }
    if !labels.selects((&*value).into(), branch, namespace) {
        return;
    }
    let next = match branch.create {
        Create::Always => value.mapping_at(branch.key),
        Create::InSelector if has_entries(value) => value.mapping_at(branch.key),
        Create::InSelector | Create::Never => value.get_mut(branch.key),
    };
    let Some(next) = next else { return };
    on_field(next, branch.sets, labels.labels(branch.scope));
    for inner in &branch.children {
        on_branch(next, inner, labels, namespace);
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
        Create::InSelector => has_entries(value),
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
        Sets::More => has_entries(value),
        Sets::No => false,
    };
    let has = |(key, label): &(String, String)| value.str_at(&[key]) == Some(label);
    !is_meant || labels.iter().all(has)
}

/// As [`on_selectors`], for an object that is not read as a whole. `None` if it must be: a mapping
/// on the way is missing.
pub(crate) fn on_selectors_of<'d>(
    object: &mut Patched<'d>,
    api_version: &str,
    kind: &str,
    labels: Selecting<'_>,
    lines: Scoped<'d>,
) -> Option<()> {
    if lines.templates.is_empty() {
        return Some(());
    }
    let root = object.root().cursor();
    let branches = for_template(group(api_version), kind);
    if branches.is_empty() {
        let has_pods = !pods::found_in(object.view()).is_empty();
        let spec = object.view().get("spec");
        let refers = spec.is_some_and(|spec| spec.get("workloadRef").is_some());
        return (!has_pods && !refers).then_some(());
    }
    let namespace = object.view().str_at(&["metadata", "namespace"]);
    let namespace = namespace.unwrap_or_default().into_owned();
    let on = OnBranches { labels, lines, namespace: &namespace };
    let mut branches = branches.iter();
    branches.try_for_each(|branch| on.branch(object, root, branch))
}

/// The labels for pod templates and for selectors, as lines.
#[derive(Clone, Copy)]
pub(crate) struct Scoped<'d> {
    pub(crate) templates: &'d Lines,
    pub(crate) selectors: &'d Lines,
}

/// Labels for an object that is not read as a whole.
struct OnBranches<'l, 'n, 'd> {
    labels: Selecting<'l>,
    lines: Scoped<'d>,
    namespace: &'n str,
}

impl<'d> OnBranches<'_, '_, 'd> {
    fn branch(&self, object: &mut Patched<'d>, node: Cursor<'d>, branch: &Branch) -> Option<()> {
        if node.is_sequence() {
            let mut items = node.children();
            return items.try_for_each(|item| self.branch(object, item, branch));
        }
        let Some(next) = node.get(branch.key) else {
            return (branch.create == Create::Never).then_some(());
        };
        if branch.selects.is_some() {
            let parent = object.view_of(node);
            if !self.labels.selects(parent, branch, self.namespace) {
                return Some(());
            }
        }
        if branch.sets != Sets::No {
            next.is_mapping().then_some(())?;
            if branch.sets == Sets::Yes || next.children().next().is_some() {
                let lines = match branch.scope {
                    Scope::Templates => self.lines.templates,
                    Scope::Selectors => self.lines.selectors,
                };
                insert_all(object, next, self.labels.labels(branch.scope), lines);
            }
        }
        (next.is_mapping() || next.is_sequence()).then_some(())?;
        let mut inner = branch.children.iter();
        inner.try_for_each(|inner| self.branch(object, next, inner))
    }
}

fn on_field(value: &mut Value<'_>, sets: Sets, labels: Set<'_>) {
    if sets == Sets::No {
        return;
    }
    if let Data::Sequence(items) = &mut value.data {
        for item in items {
            on_field(item, sets, labels);
        }
    } else if sets == Sets::Yes || has_entries(value) {
        set_all(value, labels);
    }
}

fn has_entries(value: &Value<'_>) -> bool {
    value.entries().is_some_and(|entries| !entries.is_empty())
}
