//! The labels of an expansion, by where they are set.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::declare::dialect::Dialect;
use crate::declare::label::{Label, Scope};
use crate::declare::model::Template;
use crate::expand::labels;
use crate::expand::path::Path;
use crate::expand::pods::Labels;
use crate::expand::strings::Substitution;
use crate::values::budget::{self, Budget};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, EntryLine};

/// The Template's labels with references replaced, and the given ones over them. `None` if there
/// is no such field; that differs from an empty one.
pub(super) fn template_labels(
    template: &Template,
    given: &[Label],
    budget: Option<&Budget<'_>>,
    substitution: &mut Substitution<'_, '_>,
) -> Option<LabelSets> {
    if template.labels().is_none() && given.is_empty() {
        return None;
    }
    let mut labels: Vec<Label> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut set = |label: Label| {
        let at = *known.entry(label.key.clone()).or_insert(labels.len());
        match labels.get_mut(at) {
            Some(old) => *old = label,
            None => labels.push(label),
        }
    };
    let root = Path::Root("");
    let field = Path::Key(&root, "labels");
    let mut own: Vec<TemplateLabel<'_>> = Vec::new();
    for (entry, scope) in template.label_entries() {
        if !budget::goes_on(budget) {
            return None;
        }
        let Ok(key) = entry.key() else { continue };
        let value = entry.text().ok().flatten().unwrap_or_default();
        let path = Path::Key(&field, &key);
        let id = Some(entry.id());
        let new_key = substitution.text(&key, id, &path);
        own.push(TemplateLabel {
            entry,
            is_replaced: new_key != key,
            label: Label { key: new_key, value: substitution.text(&value, id, &path), scope },
        });
    }
    if template.dialect == Dialect::Proposal {
        refuse_equal(&own, substitution.diagnostics);
    }
    let replaced = own.iter().filter(|label| label.is_replaced);
    let replaced: BTreeSet<&str> = replaced.map(|own| own.label.key.as_str()).collect();
    for own in &own {
        // As `oc`: the replaced key beats the literal one.
        if own.is_replaced || !replaced.contains(own.label.key.as_str()) {
            set(own.label.clone());
        }
    }
    for given in given {
        let path = Path::Key(&field, &given.key);
        set(Label {
            key: substitution.text(&given.key, None, &path),
            value: substitution.text(&given.value, None, &path),
            scope: given.scope,
        });
    }
    Some(LabelSets::of(&labels, template.labels_selectors()))
}

/// Labels by where they are set, in the order they are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelSets {
    /// Those for `metadata.labels` of objects.
    pub(crate) all: Vec<(String, String)>,
    /// Those among them for pod templates.
    pub(super) templates: Vec<(String, String)>,
    /// Those among these for selectors.
    pub(super) selectors: Vec<(String, String)>,
    /// Whether a label is not for selectors, though others may be.
    pub(crate) is_grouped: bool,
}

/// Keys with their values.
type Pairs<'p> = Vec<&'p (String, String)>;

impl LabelSets {
    /// The labels as groups, each with the field that says where its labels are set.
    pub(crate) fn groups(&self) -> [(Option<&'static str>, Pairs<'_>); 3] {
        [
            (Some("includeSelectors"), self.selectors.iter().collect()),
            (Some("includeTemplates"), others(&self.templates, &self.selectors)),
            (None, others(&self.all, &self.templates)),
        ]
    }

    fn of(labels: &[Label], on_selectors: bool) -> Self {
        let with = |scope| {
            let labels = labels.iter().filter(move |label| label.scope >= scope);
            let labels = labels.map(|label| (label.key.clone(), label.value.clone()));
            labels.collect::<Vec<_>>()
        };
        let with_some = |scope| {
            if on_selectors { with(scope) } else { Vec::new() }
        };
        Self {
            all: with(Scope::Objects),
            templates: with_some(Scope::Templates),
            selectors: with_some(Scope::Selectors),
            is_grouped: on_selectors && labels.iter().any(|one| one.scope < Scope::Selectors),
        }
    }
}

/// The labels that are not among others.
fn others<'l>(labels: &'l Labels, others: &Labels) -> Vec<&'l (String, String)> {
    let known: BTreeSet<&(String, String)> = others.iter().collect();
    let labels = labels.iter();
    labels.filter(|label| !known.contains(label)).collect()
}

/// The same, as lines.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) all: Vec<Arc<EntryLine>>,
    pub(super) templates: Vec<Arc<EntryLine>>,
    pub(super) selectors: Vec<Arc<EntryLine>>,
}

impl Lines {
    pub(super) fn of(labels: &LabelSets) -> Self {
        let [all, templates, selectors] = [&labels.all, &labels.templates, &labels.selectors]
            .map(|labels| labels::lines(labels).unwrap_or_default());
        Self { all, templates, selectors }
    }
}

/// A label of the Template with its references replaced.
struct TemplateLabel<'d> {
    entry: Cursor<'d>,
    /// Whether its key held references.
    is_replaced: bool,
    label: Label,
}

/// Labels whose keys became equal.
fn refuse_equal(labels: &[TemplateLabel<'_>], diagnostics: &mut Diagnostics) {
    let mut known: BTreeMap<&str, &TemplateLabel<'_>> = BTreeMap::new();
    for label in labels {
        let first = match known.entry(&label.label.key) {
            Entry::Vacant(new) => {
                new.insert(label);
                continue;
            }
            Entry::Occupied(first) => *first.get(),
        };
        diagnostics.push(
            Diagnostic::error(format!(
                "duplicate label `{}` after references are replaced",
                label.label.key
            ))
            .rule("duplicate-key")
            .at(label.entry.key_place())
            .related(first.entry.key_place(), "the other one")
            .field(format!("labels.{}", label.label.key))
            .hint("rename one of the two"),
        );
    }
}
