//! The API groups that the server serves, and the kinds of stored objects.

/// An API group with stored Templates.
///
/// A Template lives in the group in which it was created: the groups are two dialects, and a
/// conversion would change its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// `template.krm.dev/v1alpha1`, the group of the Templates proposal.
    Krm,
    /// `template.openshift.io/v1`, the group of OpenShift's Templates.
    OpenShift,
}

impl Group {
    /// All groups, in the order of their names.
    pub const ALL: [Self; 2] = [Self::Krm, Self::OpenShift];

    /// Returns the group with the given name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.name() == name)
    }

    /// Returns the name, such as `template.krm.dev`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Krm => "template.krm.dev",
            Self::OpenShift => "template.openshift.io",
        }
    }

    /// Returns the only served version of the group.
    pub const fn version(self) -> &'static str {
        match self {
            Self::Krm => "v1alpha1",
            Self::OpenShift => "v1",
        }
    }

    /// Returns the dialect of its Templates, for metrics.
    pub const fn dialect(self) -> &'static str {
        match self {
            Self::Krm => "proposal",
            Self::OpenShift => "openshift",
        }
    }

    /// Returns the group and version, as in the field `apiVersion`.
    pub const fn api_version(self) -> &'static str {
        match self {
            Self::Krm => "template.krm.dev/v1alpha1",
            Self::OpenShift => "template.openshift.io/v1",
        }
    }
}

/// A kind of stored objects, which both groups have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A Template.
    Template,
    /// A TemplateInstance: a Template with its values, to be installed in a cluster.
    Instance,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Template, Self::Instance];

    /// Returns the kind with the given name, such as `Template`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the kind of the objects of a resource, such as `templates`.
    pub fn of_resource(resource: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.resource() == resource)
    }

    /// Returns the name, as in the field `kind`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Template => "Template",
            Self::Instance => "TemplateInstance",
        }
    }

    /// Returns the plural name, as in paths and keys of the store.
    pub const fn resource(self) -> &'static str {
        match self {
            Self::Template => "templates",
            Self::Instance => "templateinstances",
        }
    }
}
