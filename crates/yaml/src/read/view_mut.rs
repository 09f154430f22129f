//! Mutable views of values and of patched nodes.

use std::borrow::Cow;

use crate::read::document::Cursor;
use crate::read::keys::KeyIndex;
use crate::read::parts::Parts;
use crate::read::patched::Patched;
use crate::read::view::View;
use crate::table::{Kind, NodeId};
use crate::value::{Data, Value};

/// A mutable view of a value, or of a part of a [patched node](Patched), which is read where it
/// changes. It does not see entries that were [added](Patched::insert).
#[derive(Debug)]
pub struct ViewMut<'p, 'd>(Held<'p, 'd>);

#[derive(Debug)]
enum Held<'p, 'd> {
    Value(&'p mut Value<'d>),
    /// A node that is neither in a changed part nor taken out.
    Node(&'p mut Patched<'d>, Cursor<'d>),
}

impl<'p, 'd> From<&'p mut Value<'d>> for ViewMut<'p, 'd> {
    fn from(value: &'p mut Value<'d>) -> Self {
        Self(Held::Value(value))
    }
}

impl<'p, 'd> From<&'p mut Patched<'d>> for ViewMut<'p, 'd> {
    fn from(object: &'p mut Patched<'d>) -> Self {
        let root = object.root().cursor();
        Self::of(object, root)
    }
}

impl<'p, 'd> ViewMut<'p, 'd> {
    const fn of(object: &'p mut Patched<'d>, node: Cursor<'d>) -> Self {
        Self(Held::Node(object, node))
    }

    /// A view of the same part, with a shorter lifetime.
    #[must_use]
    pub fn by_ref(&mut self) -> ViewMut<'_, 'd> {
        ViewMut(match &mut self.0 {
            Held::Value(value) => Held::Value(value),
            Held::Node(object, node) => Held::Node(object, *node),
        })
    }

    /// The value, if the node was changed as a whole through an earlier [reborrow](Self::by_ref).
    fn fresh(self) -> Held<'p, 'd> {
        match self.0 {
            Held::Node(object, node) if object.parts().get(node.id()).is_some() => {
                Held::Value(object.value_mut(node))
            }
            held => held,
        }
    }

    /// A read-only view of the part.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        match &self.0 {
            Held::Value(value) => View::from(&**value),
            Held::Node(object, node) => View::of_part(*node, object.parts()),
        }
    }

    /// Whether there may be a null in it. For a part of a node, a null anywhere in the node counts,
    /// also one that was taken out.
    #[must_use]
    pub fn may_have_null(&self) -> bool {
        match &self.0 {
            Held::Value(value) => value.has_null(),
            Held::Node(object, _) => {
                let mut values = object.parts().values().iter();
                object.root().has_null() || values.any(|(_, value)| value.has_null())
            }
        }
    }

    /// The value under a key of a mapping.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        match self.fresh() {
            Held::Value(value) => value.get_mut(key).map(Self::from),
            Held::Node(object, node) => {
                (node.node().kind == Kind::Mapping).then_some(())?;
                let entry = node.entry(key)?;
                let is_there = !object.parts().removes(entry.id());
                is_there.then(|| Self::of(object, entry))
            }
        }
    }

    /// Follows keys downwards: `at(&["metadata", "name"])`.
    #[must_use]
    pub fn at(self, keys: &[&str]) -> Option<Self> {
        keys.iter().try_fold(self, |part, key| part.get(key))
    }

    /// Calls `visit` with each item of a sequence.
    pub fn each_item(self, mut visit: impl FnMut(ViewMut<'_, 'd>)) {
        match self.fresh() {
            Held::Value(value) => {
                let items = value.items_mut().into_iter().flatten();
                items.for_each(|item| visit(item.into()));
            }
            Held::Node(object, node) if node.node().kind == Kind::Sequence => {
                for item in node.document.children(node.id()) {
                    if !object.parts().removes(item.id()) {
                        visit(ViewMut::of(object, item));
                    }
                }
            }
            Held::Node(..) => {}
        }
    }

    /// Calls `visit` with each entry of a mapping.
    pub fn each_entry(self, mut visit: impl FnMut(&str, ViewMut<'_, 'd>)) {
        match self.fresh() {
            Held::Value(value) => {
                if let Data::Mapping(entries) = &mut value.data {
                    for (key, value) in entries {
                        visit(key, value.into());
                    }
                }
            }
            Held::Node(object, node) if node.node().kind == Kind::Mapping => {
                for entry in node.document.children(node.id()) {
                    if let Ok(key) = entry.key()
                        && !object.parts().removes(entry.id())
                    {
                        visit(&key, ViewMut::of(object, entry));
                    }
                }
            }
            Held::Node(..) => {}
        }
    }

    /// Calls `visit` with each entry of a mapping whose key is in an index, with the number of the key.
    pub fn each_entry_of(self, keys: &KeyIndex, mut visit: impl FnMut(usize, ViewMut<'_, 'd>)) {
        match self.fresh() {
            Held::Node(object, node) if node.node().kind == Kind::Mapping => {
                for entry in node.document.children(node.id()) {
                    if let Ok(key) = entry.key()
                        && let Some(number) = keys.get(&key)
                        && !object.parts().removes(entry.id())
                    {
                        visit(number, ViewMut::of(object, entry));
                    }
                }
            }
            held => Self(held).each_entry(|key, part| {
                if let Some(number) = keys.get(key) {
                    visit(number, part);
                }
            }),
        }
    }

    /// The value of a part that was changed as a whole.
    pub fn changed(self) -> Result<&'p mut Value<'d>, Self> {
        match self.fresh() {
            Held::Value(value) => Ok(value),
            held @ Held::Node(..) => Err(Self(held)),
        }
    }

    /// Calls `visit` with each entry and item that was changed or contains changes, with its key or its
    /// index.
    pub fn each_changed(self, mut visit: impl FnMut(Option<&str>, usize, ViewMut<'_, 'd>)) {
        let Held::Node(object, node) = self.fresh() else {
            return;
        };
        let is_mapping = node.node().kind == Kind::Mapping;
        let mut index = 0;
        let mut next = object.parts().next_changed(node.id());
        for child in node.document.children(node.id()) {
            if next.is_none_or(|next| next.0 >= node.node().next) {
                return;
            }
            if object.parts().removes(child.id()) {
                continue;
            }
            if next.is_some_and(|next| next.0 < child.node().next) {
                let key = if is_mapping { child.key().ok() } else { None };
                visit(key.as_deref(), index, ViewMut::of(object, child));
                next = object.parts().next_changed(NodeId(child.node().next));
            }
            index += 1;
        }
    }

    /// Keeps the entries of a mapping, or the items of a sequence, for which `keep` is true. It gets the
    /// key of an entry.
    pub fn retain(self, mut keep: impl FnMut(Option<&str>, View<'_>) -> bool) {
        match self.fresh() {
            Held::Value(value) => match &mut value.data {
                Data::Scalar(_) => {}
                Data::Sequence(items) => items.retain(|item| keep(None, item.into())),
                Data::Mapping(entries) => {
                    entries.retain(|(key, value)| keep(Some(key), value.into()));
                }
            },
            Held::Node(object, node) => {
                let mut gone = |parts: &Parts<'_>| -> Vec<Cursor<'d>> {
                    let children = node.document.children(node.id());
                    let there = children.filter(|child| !parts.removes(child.id()));
                    let is_mapping = node.node().kind == Kind::Mapping;
                    let is_gone = |child: &Cursor<'_>| {
                        let key = if is_mapping { child.key().ok() } else { None };
                        !keep(key.as_deref(), View::of_part(*child, parts))
                    };
                    there.filter(is_gone).collect()
                };
                let gone = gone(object.parts());
                object.remove(node, &gone);
            }
        }
    }

    /// Removes the entry `key` of a mapping.
    pub fn remove(self, key: &str) {
        match self.fresh() {
            Held::Value(value) => {
                value.remove(key);
            }
            Held::Node(object, node) if node.node().kind == Kind::Mapping => {
                let entry = node
                    .entry(key)
                    .filter(|entry| !object.parts().removes(entry.id()));
                if let Some(entry) = entry {
                    object.remove(node, &[entry]);
                }
            }
            Held::Node(..) => {}
        }
    }

    /// Replaces the data, as [`Value::set`] does.
    pub fn set(self, data: Data<'d>) {
        match self.fresh() {
            Held::Value(value) => value.set(data),
            Held::Node(object, node) if matches!(node.node().kind, Kind::Scalar(_)) => {
                object.set(node, data);
            }
            Held::Node(object, node) => object.value_mut(node).set(data),
        }
    }

    /// Sets an entry of a mapping, as [`Value::insert`] does.
    pub fn insert(self, key: Cow<'d, str>, value: Value<'d>) {
        match self.fresh() {
            Held::Value(mapping) => mapping.insert(key, value),
            Held::Node(object, node) => object.value_mut(node).insert(key, value),
        }
    }

    /// The whole value, for any change.
    #[must_use]
    pub fn value(self) -> &'p mut Value<'d> {
        match self.fresh() {
            Held::Value(value) => value,
            Held::Node(object, node) => object.value_mut(node),
        }
    }
}
