//! A node with other values for some of its parts: only these parts are read.

use std::borrow::Cow;
use std::iter::Peekable;
use std::sync::Arc;

use crate::read::document::Cursor;
use crate::read::ordinary::Ordinary;
use crate::read::parts::{Added, EntryLine, Parts};
use crate::read::view::View;
use crate::scalar::data::Scalar;
use crate::table::NodeId;
use crate::value::{Data, Value};

/// A node with other values for some of its parts. Few parts of an object change, and reading and
/// comparing the others would take most of the time.
#[derive(Clone, Debug)]
pub struct Patched<'d> {
    root: Ordinary<'d>,
    parts: Parts<'d>,
}

impl<'d> Patched<'d> {
    /// Creates a node without changes.
    #[must_use]
    pub fn new(root: Ordinary<'d>) -> Self {
        /// The number of parts that suffices for most objects.
        const PARTS: usize = 12;
        Self { root, parts: Parts { values: Vec::with_capacity(PARTS), ..Parts::NONE } }
    }

    /// As [`new`](Self::new), for a node that may well stay as it is.
    #[must_use]
    pub const fn unchanged(root: Ordinary<'d>) -> Self {
        Self { root, parts: Parts::NONE }
    }

    /// The node as it was read, without the changes.
    pub const fn root(&self) -> Ordinary<'d> {
        self.root
    }

    pub(crate) const fn parts(&self) -> &Parts<'d> {
        &self.parts
    }

    /// Sets the value of a part. Neither the part nor a node around it or inside may have changed.
    pub fn set(&mut self, part: Cursor<'d>, data: Data<'d>) {
        let (id, at) = (part.id(), self.parts.first(part.id()));
        let origin = Some(id);
        self.parts.values.insert(at, (id, Value { origin, data }));
    }

    /// Sets an entry of a mapping, as [`Value::insert`] does. Neither the mapping nor a node around
    /// it may have changed.
    pub fn insert(&mut self, mapping: Cursor<'d>, entry: &Arc<EntryLine>) {
        let mut entries = mapping.document.children(mapping.id());
        let old = entries.find(|old| old.has_key(&entry.key));
        if let Some(old) = old {
            self.value_mut(old).data = entry.value.data.clone();
            return;
        }
        let is_filled_block = !mapping.is_flow() && mapping.node().next > mapping.id().0 + 1;
        // An object in braces keeps no layout: its new entries need no lines.
        if !is_filled_block && !self.root.cursor().is_flow() {
            let key = Cow::Owned(entry.key.clone());
            self.value_mut(mapping).insert(key, entry.value.clone());
            return;
        }
        let id = mapping.id();
        let range = self.parts.range_added(id..NodeId(id.0.saturating_add(1)));
        let mut own = self.parts.added.get_mut(range.clone()).unwrap_or_default().iter_mut();
        if let Some(added) = own.find(|added| added.entry.key == entry.key) {
            added.entry = Arc::clone(entry);
            return;
        }
        let entry = Arc::clone(entry);
        let added = Added { mapping: id, entry };
        self.parts.added.insert(range.end, added);
    }

    /// The value of a changed part.
    pub fn changed(&self, part: Cursor<'_>) -> Option<&Value<'d>> {
        self.parts.get(part.id())
    }

    /// Whether lines were added to a mapping.
    pub fn is_extended(&self, mapping: Cursor<'_>) -> bool {
        !self.parts.added_to(mapping.id()).is_empty()
    }

    /// The value of a changed part, to be changed further.
    pub fn changed_mut(&mut self, part: Cursor<'d>) -> Option<&mut Value<'d>> {
        let at = self.parts.first(part.id());
        let (id, value) = self.parts.values.get_mut(at)?;
        (*id == part.id()).then_some(value)
    }

    /// The value of a part, to be changed. The part must not be inside a changed one.
    pub fn value_mut(&mut self, part: Cursor<'d>) -> &mut Value<'d> {
        let id = part.id();
        let at = self.parts.first(id);
        let end = self.parts.first(NodeId(part.node().next));
        let added = self.parts.range_added(id..NodeId(part.node().next));
        let values = &mut self.parts.values;
        let is_known = values.get(at).is_some_and(|(known, _)| *known == id);
        let value = if is_known {
            values.remove(at).1
        } else {
            let mut value = part.ordinary_value();
            put(part, &mut value, &mut values.drain(at..end).peekable());
            for added in self.parts.added.drain(added) {
                if let Some(mapping) = read_from(&mut value, added.mapping) {
                    let EntryLine { key, value, .. } = &*added.entry;
                    mapping.insert(Cow::Owned(key.clone()), value.clone());
                }
            }
            value
        };
        &mut values.insert_mut(at, (id, value)).1
    }

    /// Whether no part was read to be changed, and no line added.
    pub const fn is_unchanged(&self) -> bool {
        self.parts.values.is_empty() && self.parts.added.is_empty()
    }

    /// The number of nodes in the node.
    pub fn size(&self) -> usize {
        let root = self.root.cursor();
        (root.node().next - root.id().0) as usize
    }

    /// Reads the node with all changes.
    pub fn into_value(mut self) -> Value<'d> {
        let root = self.root.cursor();
        std::mem::replace(self.value_mut(root), Data::Scalar(Scalar::Null).into())
    }

    /// A read-only view of the node with all changes.
    pub fn view(&self) -> View<'_> {
        self.view_of(self.root.cursor())
    }

    /// The data of a part as written, without changes.
    pub const fn written(&self, part: Cursor<'d>) -> View<'d> {
        const NONE: &Parts<'_> = &Parts::NONE;
        View::of_node(part, NONE)
    }

    /// The data of a part, which must not be inside a changed one.
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
