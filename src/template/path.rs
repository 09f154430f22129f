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
        let Self::Key(parent, key) = self else {
            return false;
        };
        match (parent, parent.key()) {
            (Self::Root(_), _) => matches!(*key, "apiVersion" | "kind"),
            (Self::Key(Path::Root(_), _), Some("metadata"))
                if matches!(*key, "name" | "namespace") =>
            {
                true
            }
            (Self::Key(above, _), Some("labels")) => above.key() == Some("metadata"),
            (_, Some("selector" | "matchLabels" | "nodeSelector")) => true,
            _ => false,
        }
    }
}
