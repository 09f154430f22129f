//! Compares an edited text with its value, without reading the copied lines again.

use crate::read::document::Cursor;
use crate::read::parts::{Added, Parts};
use crate::read::rescan::Rescanned;
use crate::read::values::hold_entries;
use crate::table::{Kind, NodeId};
use crate::value::{Data, Value};

impl Rescanned<'_> {
    /// As [`Cursor::holds`](crate::Cursor::holds). A part of the value that was read from a copied
    /// node was compared with it before: if they differed, the text would have been edited there.
    pub(super) fn holds(&self, id: NodeId, value: &Value<'_>) -> bool {
        if self.is_copied(id) {
            let read = self.cursor(id);
            return value.origin == Some(read.id()) || read.holds(value);
        }
        match &value.data {
            Data::Scalar(_) => self.cursor(id).holds(value),
            Data::Sequence(items) => {
                let is_list = self.cursor(id).node().kind == Kind::Sequence;
                let mut children = self.children(id);
                let mut holds = |item| children.next().is_some_and(|id| self.holds(id, item));
                is_list && items.iter().all(&mut holds) && children.next().is_none()
            }
            Data::Mapping(entries) => {
                let key = |id| self.cursor(id).key();
                let holds = |id, value: &Value<'_>| self.holds(id, value);
                self.cursor(id).node().kind == Kind::Mapping
                    && hold_entries(self.children(id), entries, key, holds)
            }
        }
    }

    /// Whether a node is written like `old`, except for changed parts and added entries. Removes the
    /// parts that it has compared from the front of `values`.
    pub(super) fn has_parts(
        &self,
        id: NodeId,
        old: Cursor<'_>,
        values: &mut &[(NodeId, Value<'_>)],
        parts: &Parts<'_>,
    ) -> bool {
        let end = NodeId(old.node().next);
        let is_copied = self.is_copied(id);
        while let Some((part, value)) = values.first().filter(|(part, _)| *part < end) {
            if *part == old.id() {
                values.split_off_first();
                return self.holds(id, value);
            }
            if !is_copied {
                break;
            }
            // It is written as it was: the text is that of its value already.
            values.split_off_first();
            if !old.document().cursor(*part).holds(value) {
                return false;
            }
        }
        let new = self.cursor(id);
        if is_copied {
            return new.id() == old.id() && parts.has_same_entries(old);
        }
        if new.node().kind != old.node().kind {
            return false;
        }
        if matches!(old.node().kind, Kind::Scalar(_)) {
            return new.raw() == old.raw();
        }
        let mut children = self.children(id);
        let mut is_same = |old: Cursor<'_>| {
            children.next().is_some_and(|id| {
                self.cursor(id).has_key_of(old) && self.has_parts(id, old, values, parts)
            })
        };
        if !old.children().all(&mut is_same) {
            return false;
        }
        let mut added = parts.added_to(old.id()).iter();
        let mut is_added = |added: &Added| {
            children.next().is_some_and(|id| {
                let key = self.cursor(id).key();
                key.is_ok_and(|key| key == added.entry.key) && self.holds(id, &added.entry.value)
            })
        };
        added.all(&mut is_added) && children.next().is_none()
    }
}
