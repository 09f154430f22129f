//! Labels of a Template or an instance, and where they are set: as a mapping, or in groups as those
//! of a kustomization.

use crate::declare::fields::unknown_fields;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, Scalar, View};

/// A label for objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// Where it is set.
    pub scope: Scope,
}

/// A label for selectors, pod templates and objects.
impl From<(String, String)> for Label {
    fn from((key, value): (String, String)) -> Self {
        Self { key, value, scope: Scope::Selectors }
    }
}

/// Where a label is set. Each place includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// In `metadata.labels` of objects.
    Objects,
    /// In pod templates.
    Templates,
    /// In selectors.
    Selectors,
}

/// The fields of a group of labels.
const GROUP_FIELDS: &[&str] = &["pairs", "includeSelectors", "includeTemplates"];

/// The labels in a field, each with its place: those of a mapping, or of the groups in a list.
pub(crate) fn entries(labels: Cursor<'_>) -> impl Iterator<Item = (Cursor<'_>, Scope)> {
    let whole = Some((labels, Scope::Selectors)).filter(|_| labels.is_mapping());
    let groups = labels.children().filter(move |_| labels.is_sequence());
    let groups = groups.filter_map(|group| {
        let pairs = group.get("pairs").filter(|pairs| pairs.is_mapping())?;
        let flags = ["includeSelectors", "includeTemplates"].map(|key| {
            let flag = group.get(key).and_then(|flag| flag.scalar().ok()?);
            flag == Some(Scalar::Bool(true))
        });
        Some((pairs, Scope::of_flags(flags)))
    });
    let all = whole.into_iter().chain(groups);
    all.flat_map(|(pairs, scope)| pairs.children().map(move |entry| (entry, scope)))
}

impl Scope {
    /// Where the labels of a group are set.
    #[must_use]
    pub fn of_group(group: View<'_>) -> Self {
        let is_set = |key| group.get(key).and_then(View::scalar) == Some(Scalar::Bool(true));
        Self::of_flags(["includeSelectors", "includeTemplates"].map(is_set))
    }

    /// As in a kustomization, selectors include pod templates.
    const fn of_flags([selectors, templates]: [bool; 2]) -> Self {
        if selectors {
            Self::Selectors
        } else if templates {
            Self::Templates
        } else {
            Self::Objects
        }
    }
}

/// Checks the labels in a field of a Template or an instance. Returns whether they can be read.
pub(crate) fn check(
    labels: Cursor<'_>,
    field: &str,
    may_have_groups: bool,
    found: &mut Diagnostics,
) -> bool {
    if labels.is_mapping() {
        check_pairs(labels, field, found);
        return true;
    }
    if !labels.is_sequence() || !may_have_groups {
        found.push(
            Diagnostic::error("`labels` must be a mapping")
                .at(labels.place())
                .field(field)
                .maybe_hint(labels.space_hint()),
        );
        return false;
    }
    for (index, group) in labels.children().enumerate() {
        check_group(group, &format!("{field}[{index}]"), found);
    }
    true
}

fn check_group(group: Cursor<'_>, field: &str, found: &mut Diagnostics) {
    let pairs = group.get("pairs").filter(|pairs| !pairs.is_null());
    let Some(pairs) = pairs.filter(|_| group.is_mapping()) else {
        found.push(
            Diagnostic::error("the group of labels has no `pairs`")
                .at(group.place())
                .field(format!("{field}.pairs"))
                .hint("write `- pairs: {KEY: VALUE}`, as in a kustomization, or make `labels` a mapping"),
        );
        return;
    };
    let path = format!("{field}.");
    unknown_fields(group, GROUP_FIELDS, &path, "a group of labels", found);
    for key in ["includeSelectors", "includeTemplates"] {
        let flag = group.get(key).filter(|flag| !flag.is_null());
        let Some(flag) = flag.filter(|flag| !matches!(flag.scalar(), Ok(Some(Scalar::Bool(_)))))
        else {
            continue;
        };
        found.push(
            Diagnostic::error(format!("`{key}` must be `true` or `false`"))
                .at(flag.place())
                .field(format!("{field}.{key}")),
        );
    }
    let field = format!("{field}.pairs");
    if pairs.is_mapping() {
        check_pairs(pairs, &field, found);
    } else {
        found.push(
            Diagnostic::error("`pairs` must be a mapping")
                .at(pairs.place())
                .field(field)
                .maybe_hint(pairs.space_hint()),
        );
    }
}

fn check_pairs(pairs: Cursor<'_>, field: &str, found: &mut Diagnostics) {
    for label in pairs.children() {
        if !matches!(label.scalar(), Ok(Some(Scalar::String(_)))) {
            let key = label.key().unwrap_or_default();
            found.push(
                Diagnostic::error(format!("label `{key}` must be a string"))
                    .at(label.place())
                    .field(format!("{field}.{key}"))
                    .hint(format!("put it in quotes: `\"{}\"`", label.raw())),
            );
        }
    }
}
