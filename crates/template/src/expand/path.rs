//! The path of a value in its object.

use std::fmt;

use krm_yaml::{write_index, write_key};

/// The way from an object down to the value being looked at.
#[derive(Clone, Copy)]
pub enum Path<'p> {
    /// The object, under its field of the Template.
    Root(&'p str),
    /// A key of a mapping.
    Key(&'p Self, &'p str),
    /// An index of a list, from 0.
    Index(&'p Self, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(name) => f.write_str(name),
            Self::Key(parent, key) => {
                write!(f, "{parent}")?;
                write_key(f, key, matches!(parent, Self::Root("")))
            }
            Self::Index(parent, index) => {
                write!(f, "{parent}")?;
                write_index(f, *index)
            }
        }
    }
}

impl<'p> Path<'p> {
    /// The last key; `None` for an index or the object itself.
    pub const fn key(&self) -> Option<&'p str> {
        match self {
            Self::Key(_, key) => Some(key),
            _ => None,
        }
    }

    /// The keys from the object down, without the positions in lists.
    pub(crate) fn keys(&self) -> Vec<&'p str> {
        match self {
            Self::Root(_) => Vec::new(),
            Self::Key(parent, key) => {
                let mut keys = parent.keys();
                keys.push(key);
                keys
            }
            Self::Index(parent, _) => parent.keys(),
        }
    }

    /// The last key, that of the list for an item.
    pub(crate) const fn last_key(&self) -> Option<&'p str> {
        match self {
            Self::Root(_) => None,
            Self::Key(_, key) => Some(key),
            Self::Index(list, _) => list.key(),
        }
    }

    /// Whether this is an item of a command or its arguments.
    pub(crate) fn is_in_command(&self) -> bool {
        matches!(self, Self::Index(list, _) if matches!(list.key(), Some("command" | "args")))
    }

    /// Whether this is an annotation.
    pub(crate) fn is_annotation(&self) -> bool {
        self.parent().and_then(Path::key) == Some("annotations")
    }

    const fn parent(&self) -> Option<&'p Self> {
        match self {
            Self::Root(_) => None,
            Self::Key(parent, _) | Self::Index(parent, _) => Some(parent),
        }
    }

    /// Whether this is a container of a pod specification.
    pub fn is_container(&self) -> bool {
        let Self::Index(list, _) = self else {
            return false;
        };
        matches!(list.key(), Some("containers" | "initContainers" | "ephemeralContainers"))
            && list.parent().and_then(Path::key) == Some("spec")
    }

    /// Whether a reference that nothing replaces could never be valid here: in what identifies an
    /// object, in labels and in selectors.
    pub fn needs_replacement(&self) -> bool {
        match self {
            // `values` of a selector's `matchExpressions`.
            Self::Index(Self::Key(Self::Index(list, _), "values"), _) => {
                list.key() == Some("matchExpressions")
            }
            Self::Key(parent, key) => match (parent.key(), *key) {
                (None, "apiVersion" | "kind") => parent.is_object(),
                (Some("metadata"), "name" | "generateName" | "namespace") => {
                    parent.parent().is_some_and(Self::is_object)
                }
                (Some("roleRef"), _) => parent.parent().is_some_and(Self::is_object),
                (None, "name" | "namespace")
                    if parent.parent().and_then(Self::key) == Some("subjects") =>
                {
                    true
                }
                (None, "name" | "image") if parent.is_container() => true,
                // The labels of an object, and those of the Template.
                (Some("labels"), _) => parent.parent().is_some_and(|above| {
                    above.key() == Some("metadata") || matches!(above, Self::Root(""))
                }),
                (Some("selector" | "matchLabels" | "nodeSelector"), _) => true,
                (None, "key") => parent.parent().and_then(Self::key) == Some("matchExpressions"),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a key with a reference that nothing replaces could never be valid here: in
    /// annotations, and in the data of a `ConfigMap` or `Secret`.
    pub(crate) fn needs_replaced_key(&self) -> bool {
        let Self::Key(parent, _) = self else {
            return false;
        };
        match (parent.key(), parent.parent()) {
            (Some("annotations"), Some(above)) => above.key() == Some("metadata"),
            (Some("data" | "stringData" | "binaryData"), Some(above)) => above.is_object(),
            _ => false,
        }
    }

    /// Whether this is an item of the list that the object may be.
    pub(crate) fn is_item_of_list(&self) -> bool {
        matches!(self, Self::Index(Self::Key(Self::Root(_), "items"), _))
    }

    /// Whether this is an object: the one looked at, or an item of the list that it is.
    fn is_object(&self) -> bool {
        match self {
            Self::Root(_) => true,
            Self::Index(Self::Key(parent, "items"), _) => parent.is_object(),
            _ => false,
        }
    }
}
