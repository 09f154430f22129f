//! A node with other values for some of its parts: only these parts are read.

use std::borrow::Cow;
use std::iter::Peekable;
use std::ops::Range;

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

/// What is different in a node, in the order of the text.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'d> {
    /// The parts that have other values. None is in another.
    values: Vec<(NodeId, Value<'d>)>,
    /// The entries added to mappings, none of which is one of these parts or in one.
    added: Vec<Added<'d>>,
}

/// An entry added at the end of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Added<'d> {
    pub(crate) mapping: NodeId,
    pub(crate) entry: &'d EntryLine,
}

/// An entry of a block mapping on one line, written and read back once, to be added to many mappings.
#[derive(Clone, Debug)]
pub struct EntryLine {
    pub(crate) key: String,
    /// A scalar.
    pub(crate) value: Value<'static>,
    /// Without a line break.
    pub(crate) text: String,
}

impl<'d> Parts<'d> {
    const NONE: Self = Self {
        values: Vec::new(),
        added: Vec::new(),
    };

    /// The index of the first part that is not before a node.
    fn first(&self, id: NodeId) -> usize {
        match self.values.last() {
            Some((last, _)) if *last >= id => self.values.partition_point(|(part, _)| *part < id),
            _ => self.values.len(),
        }
    }

    fn get(&self, id: NodeId) -> Option<&Value<'d>> {
        let (part, value) = self.values.get(self.first(id))?;
        (*part == id).then_some(value)
    }

    /// The parts that have other values.
    pub(crate) fn values(&self) -> &[(NodeId, Value<'d>)] {
        &self.values
    }

    /// The entries added to mappings, those of one mapping together.
    pub(crate) fn added(&self) -> &[Added<'d>] {
        &self.added
    }

    /// The entries added to a mapping or to those in it, by their index.
    fn range_added(&self, ids: Range<NodeId>) -> Range<usize> {
        let index = |id| self.added.partition_point(|added| added.mapping < id);
        if self.added.is_empty() {
            return 0..0;
        }
        index(ids.start)..index(ids.end)
    }

    /// The entries added to a mapping.
    pub(crate) fn added_to(&self, mapping: NodeId) -> &[Added<'d>] {
        let range = self.range_added(mapping..NodeId(mapping.0.saturating_add(1)));
        self.added.get(range).unwrap_or_default()
    }

    /// Whether entries are added to a node or to one in it.
    pub(crate) fn adds_to(&self, node: Cursor<'_>) -> bool {
        !self
            .range_added(node.id()..NodeId(node.node().next))
            .is_empty()
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
            parts: Parts {
                values: Vec::with_capacity(PARTS),
                ..Parts::NONE
            },
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
        self.parts.values.insert(at, (id, Value { origin, data }));
    }

    /// Sets an entry of a mapping that is neither changed nor in a changed part, as
    /// [`Value::insert`] does.
    pub fn insert(&mut self, mapping: Cursor<'d>, entry: &'d EntryLine) {
        let mut entries = mapping.document.children(mapping.id());
        if let Some(old) = entries.find(|old| old.has_key(&entry.key)) {
            self.value_mut(old).data = entry.value.data.clone();
            return;
        }
        let is_filled_block = !mapping.is_flow() && mapping.node().next > mapping.id().0 + 1;
        // An object in braces keeps no layout: its new entries need no lines.
        if !is_filled_block && !self.root.cursor().is_flow() {
            let key = Cow::Borrowed(entry.key.as_str());
            self.value_mut(mapping).insert(key, entry.value.clone());
            return;
        }
        let id = mapping.id();
        let range = self.parts.range_added(id..NodeId(id.0.saturating_add(1)));
        let mut own = self
            .parts
            .added
            .get_mut(range.clone())
            .unwrap_or_default()
            .iter_mut();
        if let Some(added) = own.find(|added| added.entry.key == entry.key) {
            added.entry = entry;
            return;
        }
        let added = Added { mapping: id, entry };
        self.parts.added.insert(range.end, added);
    }

    /// The value of a part that was changed.
    pub fn changed_mut(&mut self, part: Cursor<'d>) -> Option<&mut Value<'d>> {
        let at = self.parts.first(part.id());
        let (id, value) = self.parts.values.get_mut(at)?;
        (*id == part.id()).then_some(value)
    }

    /// The value of a part that is not in a changed one, to be changed.
    pub fn value_mut(&mut self, part: Cursor<'d>) -> &mut Value<'d> {
        let id = part.id();
        let at = self.parts.first(id);
        let end = self.parts.first(NodeId(part.node().next));
        let added = self.parts.range_added(id..NodeId(part.node().next));
        let parts = &mut self.parts.values;
        let is_known = parts.get(at).is_some_and(|(known, _)| *known == id);
        let value = if is_known {
            parts.remove(at).1
        } else {
            let mut value = part.ordinary_value();
            put(part, &mut value, &mut parts.drain(at..end).peekable());
            for added in self.parts.added.drain(added) {
                if let Some(mapping) = read_from(&mut value, added.mapping) {
                    let EntryLine { key, value, .. } = added.entry;
                    mapping.insert(Cow::Borrowed(key), value.clone());
                }
            }
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
        const NONE: &Parts<'_> = &Parts::NONE;
        View(Seen::Node(part, NONE))
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

/// The part of a value that was read from a node.
fn read_from<'v, 'd>(value: &'v mut Value<'d>, origin: NodeId) -> Option<&'v mut Value<'d>> {
    if value.origin == Some(origin) {
        return Some(value);
    }
    match &mut value.data {
        Data::Scalar(_) => None,
        Data::Sequence(items) => items.iter_mut().find_map(|item| read_from(item, origin)),
        Data::Mapping(entries) => {
            let mut parts = entries.iter_mut();
            parts.find_map(|(_, part)| read_from(part, origin))
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
                if let Some(entry) = entries.find(|entry| entry.has_key(key)) {
                    return Some(Self::of_part(entry, parts));
                }
                let mut added = parts.added_to(node.id()).iter();
                let added = added.find(|added| added.entry.key == key)?;
                Some(Self::from(&added.entry.value))
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
                let added = parts.added_to(node.id()).iter();
                let added = added.map(|Added { entry, .. }| {
                    (Cow::Borrowed(entry.key.as_str()), Self::from(&entry.value))
                });
                let entries = children.filter_map(entry).chain(added);
                (Default::default(), Some(entries))
            }
            Seen::Node(..) => return None,
        };
        let values = values.iter();
        let values = values.map(|(key, value)| (Cow::Borrowed(key.as_ref()), value.into()));
        Some(values.chain(nodes.into_iter().flatten()))
    }
}
