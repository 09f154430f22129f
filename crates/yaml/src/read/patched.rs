//! A node with other values for some of its parts: only these parts are read.

use std::borrow::Cow;
use std::iter::Peekable;

use crate::read::document::Cursor;
use crate::read::ordinary::Ordinary;
use crate::scalar::data::Scalar;
use crate::table::{Kind, NodeId};
use crate::value::{Data, Value};

/// A node with other values for some of its parts. Few parts of an object change, and to read and
/// compare the others takes more time than all else.
#[derive(Clone, Debug)]
pub struct Patched<'d> {
    root: Ordinary<'d>,
    parts: Parts<'d>,
}

/// The parts of a node that have other values, in the order of the text. None is in another.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'d>(Vec<(NodeId, Value<'d>)>);

impl<'d> Parts<'d> {
    /// The index of the first part that is not before a node.
    fn first(&self, id: NodeId) -> usize {
        match self.0.last() {
            Some((last, _)) if *last >= id => self.0.partition_point(|(part, _)| *part < id),
            _ => self.0.len(),
        }
    }

    fn get(&self, id: NodeId) -> Option<&Value<'d>> {
        let (part, value) = self.0.get(self.first(id))?;
        (*part == id).then_some(value)
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[(NodeId, Value<'d>)] {
        &self.0
    }
}

impl<'d> Patched<'d> {
    /// The node itself.
    #[must_use]
    pub fn new(root: Ordinary<'d>) -> Self {
        /// Few objects have more.
        const PARTS: usize = 12;
        Self {
            root,
            parts: Parts(Vec::with_capacity(PARTS)),
        }
    }

    /// The node.
    #[must_use]
    pub const fn root(&self) -> Ordinary<'d> {
        self.root
    }

    pub(crate) const fn parts(&self) -> &Parts<'d> {
        &self.parts
    }

    /// Gives a part that has no changed ones in it, and is not in one, another value.
    pub fn set(&mut self, part: Cursor<'d>, data: Data<'d>) {
        let (id, at) = (part.id(), self.parts.first(part.id()));
        let origin = Some(id);
        self.parts.0.insert(at, (id, Value { origin, data }));
    }

    /// The value of a part that was changed.
    pub fn changed_mut(&mut self, part: Cursor<'d>) -> Option<&mut Value<'d>> {
        let at = self.parts.first(part.id());
        let (id, value) = self.parts.0.get_mut(at)?;
        (*id == part.id()).then_some(value)
    }

    /// The value of a part that is not in a changed one, to be changed.
    pub fn value_mut(&mut self, part: Cursor<'d>) -> &mut Value<'d> {
        let id = part.id();
        let at = self.parts.first(id);
        let end = self.parts.first(NodeId(part.node().next));
        let parts = &mut self.parts.0;
        let is_known = parts.get(at).is_some_and(|(known, _)| *known == id);
        let value = if is_known {
            parts.remove(at).1
        } else {
            let mut value = part.ordinary_value();
            put(part, &mut value, &mut parts.drain(at..end).peekable());
            value
        };
        &mut parts.insert_mut(at, (id, value)).1
    }

    /// The whole value.
    #[must_use]
    pub fn into_value(mut self) -> Value<'d> {
        let root = self.root.cursor();
        std::mem::replace(self.value_mut(root), Data::Scalar(Scalar::Null).into())
    }

    /// Its data, to be looked at.
    #[must_use]
    pub const fn view(&self) -> View<'_> {
        View(Seen::Node(self.root.cursor(), &self.parts))
    }

    /// The data of a part as it is written, without changes.
    #[must_use]
    pub const fn written(&self, part: Cursor<'d>) -> View<'d> {
        const NOTHING: &Parts<'_> = &Parts(Vec::new());
        View(Seen::Node(part, NOTHING))
    }

    /// The data of a part that is not in a changed one.
    #[must_use]
    pub fn view_of(&self, part: Cursor<'d>) -> View<'_> {
        View::of_part(part, &self.parts)
    }
}

/// Puts changed parts into the value of an ordinary node.
fn put<'d>(
    node: Cursor<'d>,
    value: &mut Value<'d>,
    parts: &mut Peekable<impl Iterator<Item = (NodeId, Value<'d>)>>,
) {
    for (index, child) in node.children().enumerate() {
        let slot = match &mut value.data {
            Data::Scalar(_) => None,
            Data::Sequence(items) => items.get_mut(index),
            Data::Mapping(entries) => entries.get_mut(index).map(|(_, part)| part),
        };
        let Some((slot, (id, _))) = slot.zip(parts.peek()) else {
            return;
        };
        if *id == child.id() {
            if let Some((_, new)) = parts.next() {
                *slot = new;
            }
        } else if id.0 < child.node().next {
            put(child, slot, parts);
        }
    }
}

/// A value, or an ordinary node of which some parts have other values.
#[derive(Clone, Copy, Debug)]
pub struct View<'v>(Seen<'v>);

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen<'v> {
    Value(&'v Value<'v>),
    Node(Cursor<'v>, &'v Parts<'v>),
}

impl<'v> From<&'v Value<'v>> for View<'v> {
    fn from(value: &'v Value<'v>) -> Self {
        Self(Seen::Value(value))
    }
}

impl<'v> View<'v> {
    pub(crate) const fn seen(self) -> Seen<'v> {
        self.0
    }

    pub(crate) fn of_part(node: Cursor<'v>, parts: &'v Parts<'v>) -> Self {
        let value = parts.get(node.id()).map(Seen::Value);
        Self(value.unwrap_or(Seen::Node(node, parts)))
    }

    /// The node that it was read from, if it was not made up.
    #[must_use]
    pub fn origin(self) -> Option<NodeId> {
        match self.0 {
            Seen::Value(value) => value.origin,
            Seen::Node(node, _) => Some(node.id()),
        }
    }

    /// The value under a key of a mapping.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        match self.0 {
            Seen::Value(value) => value.get(key).map(Self::from),
            Seen::Node(node, parts) => {
                (node.node().kind == Kind::Mapping).then_some(())?;
                let mut entries = node.document.children(node.id());
                let entry = entries.find(|entry| entry.has_key(key))?;
                Some(Self::of_part(entry, parts))
            }
        }
    }

    /// Follows keys downwards: `at(&["metadata", "name"])`.
    #[must_use]
    pub fn at(self, keys: &[&str]) -> Option<Self> {
        keys.iter().try_fold(self, |view, key| view.get(key))
    }

    /// The scalar, if this is one.
    #[must_use]
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
    #[must_use]
    pub fn as_str(self) -> Option<Cow<'v, str>> {
        match self.scalar()? {
            Scalar::String(text) => Some(text),
            Scalar::Number(_) | Scalar::Bool(_) | Scalar::Null => None,
        }
    }

    /// The string under these keys, if there is one.
    #[must_use]
    pub fn str_at(self, keys: &[&str]) -> Option<Cow<'v, str>> {
        self.at(keys)?.as_str()
    }

    /// The items, if this is a sequence.
    #[must_use]
    pub fn items(self) -> Option<impl Iterator<Item = Self>> {
        let (values, nodes) = match self.0 {
            Seen::Value(value) => (value.items()?, None),
            Seen::Node(node, parts) if node.node().kind == Kind::Sequence => {
                let children = node.document.children(node.id());
                let items = children.map(move |item| Self::of_part(item, parts));
                (Default::default(), Some(items))
            }
            Seen::Node(..) => return None,
        };
        let values = values.iter().map(Self::from);
        Some(values.chain(nodes.into_iter().flatten()))
    }

    /// The entries, if this is a mapping.
    #[must_use]
    pub fn entries(self) -> Option<impl Iterator<Item = (Cow<'v, str>, Self)>> {
        let (values, nodes) = match self.0 {
            Seen::Value(value) => (value.entries()?, None),
            Seen::Node(node, parts) if node.node().kind == Kind::Mapping => {
                let entry =
                    move |entry: Cursor<'v>| Some((entry.key().ok()?, Self::of_part(entry, parts)));
                let children = node.document.children(node.id());
                (Default::default(), Some(children.filter_map(entry)))
            }
            Seen::Node(..) => return None,
        };
        let values = values.iter();
        let values = values.map(|(key, value)| (Cow::Borrowed(key.as_ref()), value.into()));
        Some(values.chain(nodes.into_iter().flatten()))
    }
}
