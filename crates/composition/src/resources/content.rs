//! The value of a resource, of which only the parts that change are read, unless the whole is asked
//! for.

use std::borrow::Cow;
use std::sync::OnceLock;

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, DuplicateKeys, Ordinary, Patched, Value, View, ViewMut, Words};

/// The number of nodes up to which an object is changed part by part: each part that changes takes
/// time for all behind it that have changed before.
const MAX_NODES: usize = 16_384;

/// The value of a resource.
#[derive(Clone, Debug)]
pub(crate) enum Content<'d> {
    /// An ordinary node with its changed parts, and the whole value once that was asked for.
    Parts(Patched<'d>, IdentityNodes<'d>, OnceLock<Value<'d>>),
    /// A new value, or one that was read as a whole.
    Whole(Value<'d>),
}

impl<'d> Content<'d> {
    /// Reads a node; none if it cannot be read, for example because of a duplicate key.
    pub(crate) fn read(
        node: Cursor<'d>,
        words: Words,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let Some(node) = Ordinary::of(node) else {
            let value = node.value_with(DuplicateKeys::Refuse, words, diagnostics)?;
            return Some(Self::Whole(value));
        };
        Some(Self::Parts(
            Patched::unchanged(node),
            IdentityNodes::of(node.cursor()),
            OnceLock::new(),
        ))
    }

    /// The node with its changed parts, if it was not read as a whole to be changed.
    pub(crate) const fn parts(&self) -> Option<&Patched<'d>> {
        match self {
            Self::Parts(parts, ..) => Some(parts),
            Self::Whole(_) => None,
        }
    }

    /// Whether it was never handed out to be changed.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.parts().is_some_and(Patched::is_unchanged)
    }

    /// The value, to be read part by part.
    pub(crate) fn view(&self) -> View<'_> {
        match self {
            Self::Parts(parts, ..) => parts.view(),
            Self::Whole(value) => value.into(),
        }
    }

    /// The value, to be changed part by part.
    pub(crate) fn view_mut(&mut self) -> ViewMut<'_, 'd> {
        let is_whole = match self {
            Self::Parts(parts, _, value) => value.get().is_some() || parts.size() > MAX_NODES,
            Self::Whole(_) => true,
        };
        if is_whole {
            return self.value_mut().into();
        }
        match self {
            Self::Parts(parts, ..) => parts.into(),
            Self::Whole(value) => value.into(),
        }
    }

    /// The whole value, which is read the first time.
    pub(crate) fn value(&self) -> &Value<'d> {
        match self {
            Self::Parts(parts, _, value) => value.get_or_init(|| parts.clone().into_value()),
            Self::Whole(value) => value,
        }
    }

    /// The whole value, to be changed.
    pub(crate) fn value_mut(&mut self) -> &mut Value<'d> {
        loop {
            match self {
                Self::Whole(value) => return value,
                Self::Parts(parts, _, value) => {
                    let value = value.take().unwrap_or_else(|| parts.clone().into_value());
                    *self = Self::Whole(value);
                }
            }
        }
    }

    pub(crate) fn into_value(self) -> Value<'d> {
        match self {
            Self::Parts(parts, _, value) => {
                value.into_inner().unwrap_or_else(|| parts.into_value())
            }
            Self::Whole(value) => value,
        }
    }

    /// The string under these keys, if there is one. Does not read the whole value for it.
    pub(crate) fn str_at(&self, keys: &[&str]) -> Option<&str> {
        if let Self::Parts(parts, nodes, _) = self
            && let Ok(text) = nodes.text(parts, keys)
        {
            return text;
        }
        match self.view().str_at(keys)? {
            Cow::Borrowed(text) => Some(text),
            Cow::Owned(_) => self.value().str_at(keys),
        }
    }
}

/// The nodes of the fields that are asked for after each transformer, found in one walk: they make up
/// the identity of the object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdentityNodes<'d> {
    api_version: Option<Cursor<'d>>,
    kind: Option<Cursor<'d>>,
    metadata: Option<Cursor<'d>>,
    name: Option<Cursor<'d>>,
    namespace: Option<Cursor<'d>>,
}

impl<'d> IdentityNodes<'d> {
    fn of(object: Cursor<'d>) -> Self {
        let [api_version, kind, metadata] = object.get_all(["apiVersion", "kind", "metadata"]);
        let inner = metadata.map(|metadata| metadata.get_all(["name", "namespace"]));
        let [name, namespace] = inner.unwrap_or_default();
        Self { api_version, kind, metadata, name, namespace }
    }

    /// The string under these keys, if there is one.
    ///
    /// # Errors
    /// If that takes a search.
    fn text<'c>(&self, parts: &'c Patched<'d>, keys: &[&str]) -> Result<Option<&'c str>, Search> {
        let root = parts.root().cursor();
        let (around, node) = match keys {
            ["apiVersion"] => (Some(root), self.api_version),
            ["kind"] => (Some(root), self.kind),
            ["metadata", "name"] => (self.metadata, self.name),
            ["metadata", "namespace"] => (self.metadata, self.namespace),
            _ => return Err(Search),
        };
        if let Some(object) = parts.changed(root) {
            return Ok(object.str_at(keys));
        }
        let around = around.ok_or(Search)?;
        if let Some((mapping, key)) = parts.changed(around).zip(keys.last()) {
            return Ok(mapping.str_at(&[key]));
        }
        match node {
            None if parts.is_extended(around) => Err(Search),
            None => Ok(None),
            Some(node) => match parts.changed(node) {
                Some(value) => Ok(value.as_str()),
                None => node.literal().map(Some).ok_or(Search),
            },
        }
    }
}

/// A string is not among what is noted.
struct Search;
