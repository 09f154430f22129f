//! The document of a stream that a command processes.

use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, Document};

/// The document of the stream that is processed: the first that is not empty.
pub(super) fn first_root<'d>(
    document: &'d Document,
    diagnostics: &mut Diagnostics,
) -> Option<Cursor<'d>> {
    let mut roots = document.roots();
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
                .at(second.key_place()),
        );
    }
    Some(root)
}
