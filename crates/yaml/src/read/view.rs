//! Read-only views of values and of patched nodes.

use std::borrow::Cow;

use crate::read::document::Cursor;
use crate::read::parts::{Added, Parts};
use crate::scalar::data::Scalar;
use crate::table::{Kind, NodeId};
use crate::value::{Data, Value};

/// A value, or an ordinary node of which some parts have other values.
#[derive(Clone, Copy, Debug)]
pub struct View<'v>(Seen<'v>);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen<'v> {
    Value(&'v Value<'v>),
    Node(Cursor<'v>, &'v Parts<'v>),
}

impl<'v> From<&'v Value<'v>> for View<'v> {
    fn from(value: &'v Value<'v>) -> Self {
        Self::of(value)
    }
}

impl<'v> View<'v> {
    pub(crate) const fn seen(self) -> Seen<'v> {
        self.0
    }

    /// Creates a view of a value.
    #[must_use]
    pub const fn of(value: &'v Value<'v>) -> Self {
        Self(Seen::Value(value))
    }

    /// A node as written, except for its changed parts.
    pub(crate) const fn of_node(node: Cursor<'v>, parts: &'v Parts<'v>) -> Self {
        Self(Seen::Node(node, parts))
    }

    /// A node, or the value it was changed to.
    pub(crate) fn of_part(node: Cursor<'v>, parts: &'v Parts<'v>) -> Self {
        let value = parts.get(node.id()).map(Seen::Value);
        Self(value.unwrap_or(Seen::Node(node, parts)))
    }

    /// The node that the value was read from; `None` for a new value.
    pub fn origin(self) -> Option<NodeId> {
        match self.0 {
            Seen::Value(value) => value.origin,
            Seen::Node(node, _) => Some(node.id()),
        }
    }

    /// Whether this is a mapping.
    pub fn is_mapping(self) -> bool {
        match self.0 {
            Seen::Value(value) => matches!(value.data, Data::Mapping(_)),
            Seen::Node(node, _) => node.is_mapping(),
        }
    }

    /// Whether this is a sequence.
    pub fn is_sequence(self) -> bool {
        match self.0 {
            Seen::Value(value) => matches!(value.data, Data::Sequence(_)),
            Seen::Node(node, _) => node.is_sequence(),
        }
    }

    /// Whether the value is null.
    pub fn is_null(self) -> bool {
        self.scalar() == Some(Scalar::Null)
    }

    /// The value under a key of a mapping.
    pub fn get(self, key: &str) -> Option<Self> {
        match self.0 {
            Seen::Value(value) => value.get(key).map(Self::from),
            Seen::Node(node, parts) => {
                (node.node().kind == Kind::Mapping).then_some(())?;
                if let Some(entry) = node.entry(key) {
                    return Some(Self::of_part(entry, parts));
                }
                let mut added = parts.added_to(node.id()).iter();
                let added = added.find(|added| added.entry.key == key)?;
                Some(Self::from(&added.entry.value))
            }
        }
    }

    /// Follows keys downwards: `at(&["metadata", "name"])`.
    pub fn at(self, keys: &[&str]) -> Option<Self> {
        keys.iter().try_fold(self, |view, key| view.get(key))
    }

    /// The scalar, if this is one.
    pub fn scalar(self) -> Option<Scalar<'v>> {
        match self.0 {
            Seen::Value(value) => match &value.data {
                Data::Scalar(Scalar::String(text)) => Some(Scalar::String(Cow::Borrowed(text))),
                Data::Scalar(Scalar::Number(text)) => Some(Scalar::Number(Cow::Borrowed(text))),
                Data::Scalar(Scalar::Bool(flag)) => Some(Scalar::Bool(*flag)),
                Data::Scalar(Scalar::Null) => Some(Scalar::Null),
                Data::Sequence(_) | Data::Mapping(_) => None,
            },
            Seen::Node(node, _) => {
                let is_scalar = matches!(node.node().kind, Kind::Scalar(_));
                is_scalar.then(|| node.scalar().ok().flatten().unwrap_or(Scalar::Null))
            }
        }
    }

    /// The text, if this is a string.
    pub fn as_str(self) -> Option<Cow<'v, str>> {
        if let Seen::Node(node, _) = self.0
            && let Some(text) = node.literal()
        {
            return Some(Cow::Borrowed(text));
        }
        match self.scalar()? {
            Scalar::String(text) => Some(text),
            Scalar::Number(_) | Scalar::Bool(_) | Scalar::Null => None,
        }
    }

    /// The string under these keys, if there is one.
    pub fn str_at(self, keys: &[&str]) -> Option<Cow<'v, str>> {
        self.at(keys)?.as_str()
    }

    /// The items, if this is a sequence.
    pub fn items(self) -> Option<impl Iterator<Item = Self>> {
        Some(match self.0 {
            Seen::Value(value) => Either::Value(value.items()?.iter().map(Self::from)),
            Seen::Node(node, parts) if node.node().kind == Kind::Sequence => {
                let items = node.document.children(node.id());
                Either::Node(items.map(move |item| Self::of_part(item, parts)))
            }
            Seen::Node(..) => return None,
        })
    }

    /// The entries, if this is a mapping.
    pub fn entries(self) -> Option<impl Iterator<Item = (Cow<'v, str>, Self)>> {
        Some(match self.0 {
            Seen::Value(value) => {
                let values = value.entries()?.iter();
                Either::Value(
                    values.map(|(key, value)| (Cow::Borrowed(key.as_ref()), value.into())),
                )
            }
            Seen::Node(node, parts) if node.node().kind == Kind::Mapping => {
                let entry =
                    move |entry: Cursor<'v>| Some((entry.key().ok()?, Self::of_part(entry, parts)));
                let children = node.document.children(node.id());
                let added = parts.added_to(node.id()).iter();
                let added = added.map(|Added { entry, .. }| {
                    (Cow::Borrowed(entry.key.as_str()), Self::from(&entry.value))
                });
                Either::Node(children.filter_map(entry).chain(added))
            }
            Seen::Node(..) => return None,
        })
    }
}

/// The parts of a value, or of a node.
enum Either<V, N> {
    Value(V),
    Node(N),
}

impl<T, V: Iterator<Item = T>, N: Iterator<Item = T>> Iterator for Either<V, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self {
            Self::Value(values) => values.next(),
            Self::Node(nodes) => nodes.next(),
        }
    }
}
