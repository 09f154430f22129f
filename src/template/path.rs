//! Where a value stands in its object.

use std::fmt;

/// The way from an object down to the value being looked at.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    /// The object, under the field of the Template it stands in.
    Root(&'p str),
    Key(&'p Self, &'p str),
    Index(&'p Self, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(name) => f.write_str(name),
            Self::Key(parent, key) => {
                write!(f, "{parent}")?;
                if key.contains(['.', '/', '[']) {
                    write!(f, "[{key}]")
                } else if matches!(parent, Self::Root("")) {
                    f.write_str(key)
                } else {
                    write!(f, ".{key}")
                }
            }
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

impl<'p> Path<'p> {
    pub(crate) const fn key(&self) -> Option<&'p str> {
        match self {
            Self::Key(_, key) => Some(key),
            _ => None,
        }
    }

    const fn parent(&self) -> Option<&'p Self> {
        match self {
            Self::Root(_) => None,
            Self::Key(parent, _) | Self::Index(parent, _) => Some(parent),
        }
    }

    /// Whether this is a container of a pod specification.
    pub(crate) fn is_container(&self) -> bool {
        let Self::Index(list, _) = self else {
            return false;
        };
        matches!(
            list.key(),
            Some("containers" | "initContainers" | "ephemeralContainers")
        ) && list.parent().and_then(Path::key) == Some("spec")
    }

    /// Whether a reference that nothing replaces could never be valid here: in what identifies an
    /// object, in labels and in selectors.
    pub(crate) fn needs_replacement(&self) -> bool {
        let (parent, key) = match self {
            Self::Root(_) => return false,
            Self::Index(list, _) => return list.is_in_expression(),
            Self::Key(parent, key) => (parent, key),
        };
        match (parent, parent.key()) {
            (Self::Root(_), _) => matches!(*key, "apiVersion" | "kind"),
            (Self::Key(Path::Root(_), _), Some("metadata"))
                if matches!(*key, "name" | "namespace") =>
            {
                true
            }
            // The labels of an object, and those of the Template.
            (Self::Key(above, _), Some("labels")) => {
                above.key() == Some("metadata") || matches!(above, Self::Root(""))
            }
            (_, Some("selector" | "matchLabels" | "nodeSelector")) => true,
            _ => false,
        }
    }

    /// Whether this is the list of values that a selector's expression compares a label with.
    fn is_in_expression(&self) -> bool {
        let Self::Key(Self::Index(expressions, _), "values") = self else {
            return false;
        };
        expressions.key() == Some("matchExpressions")
    }
}
