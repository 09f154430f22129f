//! A Composition with all that it imports, as one list of transformers.

use crate::composition::transformer::Transformer;
use crate::diagnostic::Diagnostics;
use crate::files::Files;

/// Reads the Composition in a file, or in `composition.yaml` of a directory, and all that it
/// imports. With errors, what is returned is not to be used.
pub fn consolidate(
    _files: &dyn Files,
    _path: &str,
    _diagnostics: &mut Diagnostics,
) -> Vec<Transformer> {
    Vec::new()
}
