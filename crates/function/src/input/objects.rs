//! The objects that a function works on, and the changes of them, whatever holds the objects.

use std::collections::BTreeSet;

use krm_core::item_keys::ITEM_KEYS;
use krm_core::resource_list::{Changes, ResourceList};
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::{Cursor, Document, Edit, SharedNode, Value};

/// A container of the objects that a function works on.
pub(crate) trait Objects {
    /// The change of an object.
    type ItemChange;
    /// An object to be added.
    type New;

    /// The object at a position, to be opened.
    ///
    /// # Errors
    /// If it has no text.
    fn at(&self, position: usize) -> Result<&SharedNode>;

    /// The change that makes `new` of the object at a position, which is `old` when opened; none if
    /// no text changes.
    ///
    /// # Errors
    /// As [`krm_yaml::update_read`].
    fn change(
        &self,
        position: usize,
        old: Cursor<'_>,
        new: Value<'_>,
    ) -> Result<Option<Self::ItemChange>>;

    /// An object to be added, which was read from `document` and changed.
    ///
    /// # Errors
    /// As [`krm_yaml::render`].
    fn add(&self, document: &Document, object: &Value<'_>) -> Result<Self::New>;
}

/// The changes that a function decides on.
pub(crate) struct Decision<C, N> {
    pub(crate) changed: Vec<C>,
    /// The positions of objects that are taken out.
    pub(crate) removed: BTreeSet<usize>,
    /// Objects to be added after the last one.
    pub(crate) added: Vec<N>,
}

impl<C, N> Default for Decision<C, N> {
    fn default() -> Self {
        Self { changed: Vec::new(), removed: BTreeSet::new(), added: Vec::new() }
    }
}

/// The items of a ResourceList, whose text is edited.
pub(crate) struct ListItems<'l, 'd> {
    list: &'l ResourceList<'d>,
    pub(crate) nodes: Vec<SharedNode>,
}

impl<'l, 'd> ListItems<'l, 'd> {
    pub(crate) fn of(list: &'l ResourceList<'d>) -> Self {
        Self { list, nodes: list.shared_items() }
    }
}

impl Objects for ListItems<'_, '_> {
    type ItemChange = Vec<Edit>;
    type New = String;

    fn at(&self, position: usize) -> Result<&SharedNode> {
        let node = self.nodes.get(position);
        node.ok_or_else(|| Diagnostic::error(format!("there is no item {position}")).into())
    }

    fn change(&self, _: usize, old: Cursor<'_>, new: Value<'_>) -> Result<Option<Vec<Edit>>> {
        let edits = krm_yaml::update_read(old, new, &ITEM_KEYS)?;
        Ok(Some(edits).filter(|edits| !edits.is_empty()))
    }

    fn add(&self, document: &Document, object: &Value<'_>) -> Result<String> {
        self.list.item_text(document, object)
    }
}

impl From<Decision<Vec<Edit>, String>> for Changes {
    fn from(decision: Decision<Vec<Edit>, String>) -> Self {
        Self {
            edits: decision.changed.concat(),
            removed: decision.removed,
            added: decision.added,
            ..Self::default()
        }
    }
}
