//! Puts the labels of a Template on its objects.

use std::borrow::Cow;

use crate::values::budget::Budget;
use krm_core::identity::group;
use krm_core::label_fields::{Branch, Create, Sets, for_template};
use krm_yaml::{Cursor, Data, EntryLine, Patched, Value};

/// Labels in the order they are written.
pub(crate) type Labels = [(String, String)];

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
        Self {
            labels,
            budget: None,
        }
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
pub(crate) type Lines = [EntryLine];

/// The lines of labels; `None` if one of them takes several.
pub(crate) fn lines(labels: &Labels) -> Option<Vec<EntryLine>> {
    let labels = labels.iter();
    labels
        .map(|(key, value)| EntryLine::of(key, Value::string(value.clone())))
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

/// Sets the labels on the selectors of an object and on the pod templates they select.
pub fn on_selectors(object: &mut Value<'_>, labels: Set<'_>) {
    if labels.labels.is_empty() {
        return;
    }
    let kind = object.str_at(&["kind"]).unwrap_or_default();
    let group = group(object.str_at(&["apiVersion"]).unwrap_or_default());
    for branch in for_template(group, kind) {
        on_branch(object, branch, labels);
    }
}

fn on_branch(value: &mut Value<'_>, branch: &Branch, labels: Set<'_>) {
    if let Data::Sequence(items) = &mut value.data {
        for item in items {
            on_branch(item, branch, labels);
        }
        return;
    }
    let next = match branch.create {
        Create::Always => value.mapping_at(branch.key),
        Create::InSelector if has_entries(value) => value.mapping_at(branch.key),
        Create::InSelector | Create::Never => value.get_mut(branch.key),
    };
    let Some(next) = next else { return };
    on_field(next, branch.sets, labels);
    for inner in &branch.children {
        on_branch(next, inner, labels);
    }
}

/// Whether an object of a group and kind has the labels wherever [`on_selectors`] sets them.
#[must_use]
pub fn are_on_selectors(object: &Value<'_>, group: &str, kind: &str, labels: &Labels) -> bool {
    let mut branches = for_template(group, kind).iter();
    branches.all(|branch| are_on_branch(object, branch, labels))
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
    let Some(next) = value
        .get(branch.key)
        .filter(|next| !creates || !next.is_null())
    else {
        return !creates;
    };
    if creates && next.entries().is_none() {
        return true;
    }
    are_on_field(next, branch.sets, labels)
        && branch
            .children
            .iter()
            .all(|inner| are_on_branch(next, inner, labels))
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
    labels: Set<'_>,
    lines: &'d Lines,
) -> Option<()> {
    if lines.is_empty() {
        return Some(());
    }
    let root = object.root().cursor();
    let mut branches = for_template(group(api_version), kind).iter();
    branches.try_for_each(|branch| on_branch_of(object, root, branch, labels, lines))
}

fn on_branch_of<'d>(
    object: &mut Patched<'d>,
    node: Cursor<'d>,
    branch: &Branch,
    labels: Set<'_>,
    lines: &'d Lines,
) -> Option<()> {
    if node.is_sequence() {
        let mut items = node.children();
        return items.try_for_each(|item| on_branch_of(object, item, branch, labels, lines));
    }
    let Some(next) = node.get(branch.key) else {
        return (branch.create == Create::Never).then_some(());
    };
    if branch.sets != Sets::No {
        next.is_mapping().then_some(())?;
        if branch.sets == Sets::Yes || next.children().next().is_some() {
            insert_all(object, next, labels, lines);
        }
    }
    (next.is_mapping() || next.is_sequence()).then_some(())?;
    let mut inner = branch.children.iter();
    inner.try_for_each(|inner| on_branch_of(object, next, inner, labels, lines))
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
