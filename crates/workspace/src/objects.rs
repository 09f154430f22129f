//! The objects in documents, as far as an API server checks them.

use krm_template_object_check::Checker;
use krm_yaml::{Cursor, Document};

/// Adds the custom resources that a document defines.
pub fn define(document: &Document, checker: &mut Checker) {
    for root in document.roots().flat_map(with_items) {
        checker.define(root);
    }
}

/// A document and, if it is a list, its items.
pub(crate) fn with_items(root: Cursor<'_>) -> impl Iterator<Item = Cursor<'_>> {
    let items = root.get("items").filter(|items| items.is_sequence());
    let items = items.into_iter().flat_map(Cursor::children);
    std::iter::once(root).chain(items)
}

/// Whether a text has a placeholder of another tool, such as `envsubst`, Flux or a template language,
/// which replaces it later.
pub(crate) fn has_placeholder(text: &str) -> bool {
    ["${", "$(", "{{"].iter().any(|begin| text.contains(begin))
}
