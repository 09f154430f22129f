//! Compares an edited text with its value, without reading the copied lines again.

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
}
