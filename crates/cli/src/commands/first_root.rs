//! The document of a stream that a command processes.

use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Document, SharedNode};

/// The document of the stream that is processed: the first that is not empty.
pub(crate) fn first_root(
    document: &Arc<Document>,
    diagnostics: &mut Diagnostics,
) -> Option<SharedNode> {
    let mut roots = SharedNode::roots(document);
    let Some(root) = roots.next() else {
        let name = document.source().name();
        diagnostics.push(
            Diagnostic::error(format!("`{name}` is empty, expected a Template"))
                .hint("`krm-template --help` shows a small example"),
        );
        return None;
    };
    if let Some(second) = roots.next() {
        diagnostics.push(
            Diagnostic::warning("found several documents, only the first is processed")
                .at(second.cursor().key_place()),
        );
    }
    Some(root)
}
