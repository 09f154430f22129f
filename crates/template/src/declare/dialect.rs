//! The two reference syntaxes and rule sets of Templates.

use krm_yaml::DuplicateKeys;

/// The API group of the program's own kinds.
pub const OWN_GROUP: &str = "template.krm.dev";
/// The one version of it.
pub const OWN_API_VERSION: &str = "template.krm.dev/v1alpha1";
/// OpenShift's API group of the Template kind.
pub const OPENSHIFT_GROUP: &str = "template.openshift.io";

/// One idea in two syntaxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The Kubernetes proposal: `$(NAME)`, `$((NAME))`, labels on selectors too.
    Proposal,
    /// The dialect of `oc process`: `${NAME}`, `${{NAME}}`, labels on metadata only.
    OpenShift,
}

impl Dialect {
    /// The name in the annotation `template.krm.dev/dialect`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proposal => "proposal",
            Self::OpenShift => "openshift",
        }
    }

    /// The treatment of a mapping that has a key twice.
    pub const fn duplicate_keys(self) -> DuplicateKeys {
        match self {
            Self::Proposal => DuplicateKeys::Refuse,
            Self::OpenShift => DuplicateKeys::LastWins,
        }
    }

    /// The reference that inserts the value of a parameter as a string.
    pub fn string_reference(self, name: &str) -> String {
        match self {
            Self::Proposal => format!("$({name})"),
            Self::OpenShift => format!("${{{name}}}"),
        }
    }

    /// The reference that inserts the value of a parameter as a number, a bool or a structure.
    pub fn raw_reference(self, name: &str) -> String {
        match self {
            Self::Proposal => format!("$(({name}))"),
            Self::OpenShift => format!("\"${{{{{name}}}}}\""),
        }
    }
}
