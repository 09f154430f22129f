//! Finds the dialect of a Template: its API version and annotation decide, for `v1` its references.

use crate::declare::dialect::{Dialect, OPENSHIFT_GROUP};
use crate::declare::parameter::names;
use crate::declare::reference;
use krm_core::identity::group;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, Kind};

/// The annotation that decides the dialect against the API version.
pub(crate) const DIALECT: &str = "template.krm.dev/dialect";

/// The dialect of the Template under a node, which may be in any state.
pub fn detect(template: Cursor<'_>) -> Dialect {
    let api_version = template.text_at(["apiVersion"]).unwrap_or_default();
    dialect_of(template, &api_version, &mut Diagnostics::new())
}

/// The dialect of a Template with this API version.
pub(crate) fn dialect_of(
    template: Cursor<'_>,
    api_version: &str,
    diagnostics: &mut Diagnostics,
) -> Dialect {
    if let Some(annotation) = template.at(["metadata", "annotations", DIALECT]) {
        let text = annotation.text().ok().flatten().unwrap_or_default();
        let mut known = [Dialect::Proposal, Dialect::OpenShift].into_iter();
        match known.find(|one| one.name() == text) {
            Some(dialect) => return dialect,
            None => diagnostics.push(
                Diagnostic::error(format!(
                    "annotation `{DIALECT}` must be `proposal` or `openshift`"
                ))
                .at(annotation.place())
                .field(format!("metadata.annotations[{DIALECT}]")),
            ),
        }
    }
    match group(api_version) {
        OPENSHIFT_GROUP => Dialect::OpenShift,
        "" => of_legacy(template),
        _ => Dialect::Proposal,
    }
}

/// `apiVersion: v1` comes from OpenShift. The Template is the proposal's only if it refers to
/// a parameter in that syntax, and to none in OpenShift's.
fn of_legacy(template: Cursor<'_>) -> Dialect {
    let names = names(template);
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let refers = |dialect: Dialect| {
        ["objects", "labels", "objectLabels", "message"]
            .iter()
            .filter_map(|key| template.get(key))
            .any(|part| refers(part, &names, dialect))
    };
    if refers(Dialect::Proposal) && !refers(Dialect::OpenShift) {
        Dialect::Proposal
    } else {
        Dialect::OpenShift
    }
}

/// Whether a string somewhere in `part` refers to one of the names.
pub(crate) fn refers(part: Cursor<'_>, names: &[&str], dialect: Dialect) -> bool {
    let begin = match dialect {
        Dialect::Proposal => "$(",
        Dialect::OpenShift => "${",
    };
    if !part.raw().contains(begin) {
        return false;
    }
    let part = part.open();
    let part = part.cursor();
    let names_one = |text: &str| reference::names(text, dialect).any(|name| names.contains(&name));
    match part.kind() {
        Kind::Scalar(_) => part.text().ok().flatten().is_some_and(|text| names_one(&text)),
        _ => part.children().any(|child| {
            child.key().is_ok_and(|key| names_one(&key)) || refers(child, names, dialect)
        }),
    }
}
