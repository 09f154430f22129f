//! A node with other values for some of its parts: only these parts are read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter::{self, Peekable};

use crate::read::document::Cursor;
use crate::read::ordinary::Ordinary;
use crate::read::parts::{Added, EntryLine, Parts, Removed};
use crate::read::view::View;
use crate::scalar::data::{Scalar, Style};
use crate::table::{Flags, Kind, NodeId};
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
        Self {
            root,
            parts: Parts {
                values: Vec::with_capacity(PARTS),
                ..Parts::NONE
            },
        }
    }

    /// The node as it was read, without the changes.
    #[must_use]
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
    pub fn insert(&mut self, mapping: Cursor<'d>, entry: &'d EntryLine) {
        let mut entries = mapping.document.children(mapping.id());
        let old = entries.find(|old| old.has_key(&entry.key));
        if let Some(old) = old.filter(|old| !self.parts.removes(old.id())) {
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

    /// Removes some entries or items, in order, of a collection. Neither the collection nor a node
    /// around it may have changed.
    pub fn remove(&mut self, collection: Cursor<'d>, children: &[Cursor<'d>]) {
        let Some(first) = children.first() else {
            return;
        };
        let mut gone = children.iter().map(|child| child.id()).peekable();
        let mut there = self.parts.children(collection);
        let keeps_some = there.any(|child| gone.next_if_eq(&child.id()).is_none());
        drop(there);
        if !keeps_some {
            // An empty collection is written as `{}` or `[]`.
            let mut index = 0;
            retain(self.value_mut(collection), |_| {
                index += 1;
                index > children.len()
            });
            return;
        }
        let removed = &mut self.parts.removed;
        let at = removed.partition_point(|removed| removed.child < first.id());
        let mut others = removed.split_off(at).into_iter().peekable();
        for child in children {
            let ids = child.id()..NodeId(child.node().next);
            let values = self.parts.first(ids.start)..self.parts.first(ids.end);
            self.parts.values.drain(values);
            let added = self.parts.range_added(ids.clone());
            self.parts.added.drain(added);
            let removed = &mut self.parts.removed;
            removed.extend(iter::from_fn(|| {
                others.next_if(|other| other.child < ids.start)
            }));
            while others.next_if(|other| other.child < ids.end).is_some() {}
            removed.push(Removed {
                collection: collection.id(),
                child: child.id(),
            });
        }
        self.parts.removed.extend(others);
    }

    /// Removes entries and items from an unchanged node, in order. None may be inside another.
    pub fn remove_all(&mut self, children: &[NodeId]) {
        if children.is_empty() {
            return;
        }
        let root = self.root.cursor();
        let mut by_collection: BTreeMap<NodeId, Vec<Cursor<'d>>> = BTreeMap::new();
        let mut around: Vec<Cursor<'d>> = Vec::new();
        for id in (root.id().0..root.node().next).map(NodeId) {
            let node = root.document.cursor(id);
            while around.pop_if(|around| around.node().next <= id.0).is_some() {}
            if children.binary_search(&id).is_ok()
                && let Some(collection) = around.last()
            {
                by_collection.entry(collection.id()).or_default().push(node);
            }
            around.push(node);
        }
        for (collection, children) in by_collection {
            self.remove(root.document.cursor(collection), &children);
        }
    }

    /// The plain scalars that are in no changed or removed part. Outside of braces and brackets,
    /// those that the reader noted as strings are left out.
    pub fn plain_scalars(&self) -> impl Iterator<Item = Cursor<'d>> {
        let root = self.root.cursor();
        let values = self.parts.values.iter().map(|(id, _)| *id);
        let (mut values, mut removed) = (values.peekable(), self.removed().peekable());
        let mut next_gone = move || {
            let is_next = |id: &NodeId| removed.peek().is_none_or(|removed| id < removed);
            values.next_if(is_next).or_else(|| removed.next())
        };
        let mut gone = next_gone();
        let ids = root.id().0..root.node().next;
        let nodes = root
            .document
            .nodes
            .get(ids.start as usize..ids.end as usize);
        let mut stays_from = ids.start;
        ids.zip(nodes.unwrap_or_default())
            .filter_map(move |(id, node)| {
                if gone == Some(NodeId(id)) {
                    stays_from = node.next;
                    gone = next_gone();
                }
                let is_noted = node.has(Flags::TEXT) && !node.has(Flags::IN_FLOW);
                let is_plain = node.kind == Kind::Scalar(Style::Plain);
                let is_wanted = is_plain && !is_noted && id >= stays_from;
                is_wanted.then(|| root.document.cursor(NodeId(id)))
            })
    }

    /// The new values of parts, in the order of the text.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value<'d>> {
        self.parts.values.iter_mut().map(|(_, value)| value)
    }

    /// Whether nothing but entries and items were removed.
    #[must_use]
    pub const fn only_lacks_parts(&self) -> bool {
        self.parts.values.is_empty() && self.parts.added.is_empty()
    }

    /// The removed entries and items, in the order of the text.
    pub fn removed(&self) -> impl Iterator<Item = NodeId> {
        self.parts.removed.iter().map(|removed| removed.child)
    }

    /// The value of a changed part.
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
        let ids = id..NodeId(part.node().next);
        let (added, removed) = (
            self.parts.range_added(ids.clone()),
            self.parts.range_removed(ids),
        );
        let values = &mut self.parts.values;
        let is_known = values.get(at).is_some_and(|(known, _)| *known == id);
        let value = if is_known {
            values.remove(at).1
        } else {
            let mut value = part.ordinary_value();
            put(part, &mut value, &mut values.drain(at..end).peekable());
            take_out(
                &mut value,
                &mut self.parts.removed.drain(removed).peekable(),
            );
            for added in self.parts.added.drain(added) {
                if let Some(mapping) = read_from(&mut value, added.mapping) {
                    let EntryLine { key, value, .. } = added.entry;
                    mapping.insert(Cow::Borrowed(key), value.clone());
                }
            }
            value
        };
        &mut values.insert_mut(at, (id, value)).1
    }

    /// Reads the node with all changes.
    #[must_use]
    pub fn into_value(mut self) -> Value<'d> {
        let root = self.root.cursor();
        std::mem::replace(self.value_mut(root), Data::Scalar(Scalar::Null).into())
    }

    /// A read-only view of the node with all changes.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        self.view_of(self.root.cursor())
    }

    /// The data of a part as written, without changes.
    #[must_use]
    pub const fn written(&self, part: Cursor<'d>) -> View<'d> {
        const NONE: &Parts<'_> = &Parts::NONE;
        View::of_node(part, NONE)
    }

    /// The data of a part, which must not be inside a changed one.
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

/// Removes parts from a value.
fn take_out(value: &mut Value<'_>, removed: &mut Peekable<impl Iterator<Item = Removed>>) {
    retain(value, |part| {
        let next = removed.peek().map(|next| next.child);
        let is_gone = next.is_some() && part.origin == next;
        if is_gone {
            removed.next();
        } else if next.is_some() {
            take_out(part, removed);
        }
        !is_gone
    });
}

/// Keeps some entries or items of a value.
fn retain<'d>(value: &mut Value<'d>, mut keep: impl FnMut(&mut Value<'d>) -> bool) {
    match &mut value.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => items.retain_mut(keep),
        Data::Mapping(entries) => entries.retain_mut(|(_, part)| keep(part)),
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
