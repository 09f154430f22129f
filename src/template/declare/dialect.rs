//! Which of the two reference syntaxes and rule sets a Template is written in.

use crate::krm::identity::group;
use crate::template::declare::reference;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, DuplicateKeys, Kind};

/// Our own API group.
pub(crate) const OWN_GROUP: &str = "template.krm.dev";
/// The one version of it.
pub(crate) const OWN_API_VERSION: &str = "template.krm.dev/v1alpha1";
/// OpenShift's API group of the Template kind.
pub(crate) const OPENSHIFT_GROUP: &str = "template.openshift.io";
/// The annotation that decides the dialect against the API version.
pub(crate) const DIALECT: &str = "template.krm.dev/dialect";

/// One idea in two syntaxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The Kubernetes proposal: `$(NAME)`, `$((NAME))`, labels on selectors too.
    Proposal,
    /// What `oc process` runs: `${NAME}`, `${{NAME}}`, labels on metadata only.
    OpenShift,
}

impl Dialect {
    /// The dialect of a Template with this API version and these parameter names.
    pub(crate) fn of(
        template: Cursor<'_>,
        api_version: &str,
        names: &[&str],
        diagnostics: &mut Diagnostics,
    ) -> Self {
        if let Some(annotation) = template.at(["metadata", "annotations", DIALECT]) {
            match annotation.text().ok().flatten().as_deref() {
                Some("proposal") => return Self::Proposal,
                Some("openshift") => return Self::OpenShift,
                _ => diagnostics.push(
                    Diagnostic::error(format!(
                        "annotation `{DIALECT}` must be `proposal` or `openshift`"
                    ))
                    .at(annotation.place())
                    .field(format!("metadata.annotations[{DIALECT}]")),
                ),
            }
        }
        match group(api_version) {
            OPENSHIFT_GROUP => Self::OpenShift,
            "" => Self::of_legacy(template, names),
            _ => Self::Proposal,
        }
    }

    /// What a mapping that has a key twice means.
    pub(crate) const fn duplicate_keys(self) -> DuplicateKeys {
        match self {
            Self::Proposal => DuplicateKeys::Refuse,
            Self::OpenShift => DuplicateKeys::LastWins,
        }
    }

    /// `apiVersion: v1` is what OpenShift used. The Template is the proposal's only if it refers to
    /// a parameter in that syntax, and to none in OpenShift's.
    fn of_legacy(template: Cursor<'_>, names: &[&str]) -> Self {
        let refers = |dialect: Self| {
            ["objects", "labels", "objectLabels", "message"]
                .iter()
                .filter_map(|key| template.get(key))
                .any(|part| refers(part, names, dialect))
        };
        if refers(Self::Proposal) && !refers(Self::OpenShift) {
            Self::Proposal
        } else {
            Self::OpenShift
        }
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
        Kind::Scalar(_) => part
            .text()
            .ok()
            .flatten()
            .is_some_and(|text| names_one(&text)),
        _ => part.children().any(|child| {
            child.key().is_ok_and(|key| names_one(&key)) || refers(child, names, dialect)
        }),
    }
}
