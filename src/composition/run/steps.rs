//! A Composition with all that it imports, ready to run.

use std::sync::Arc;

use crate::composition::builtin::table;
use crate::composition::engine::transformer::Transformer;
use crate::composition::read;
use crate::composition::run::provider::Provider;
use crate::files::Files;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Document, NodeId};

/// Reads the Composition in a file, or in `composition.yaml` of a directory, and all that it
/// imports. With errors, what is returned is not to be used.
pub fn consolidate(
    files: &dyn Files,
    path: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Transformer> {
    let list = read::consolidate::consolidate(files, path, diagnostics);
    finish(list, diagnostics)
}

/// The same of a Composition that is a part of a document; its paths are relative to `directory`.
pub fn consolidate_node(
    files: &dyn Files,
    document: &Arc<Document>,
    node: NodeId,
    directory: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Transformer> {
    let list = read::consolidate::consolidate_node(files, document, node, directory, diagnostics);
    finish(list, diagnostics)
}

/// Checks that there is something to run each transformer with, and what built-in ones say.
fn finish(list: Vec<Transformer>, diagnostics: &mut Diagnostics) -> Vec<Transformer> {
    for transformer in &list {
        let provider = diagnostics.take(Provider::of(transformer));
        if provider == Some(Provider::Builtin)
            && let Some(builtin) = table::find(&transformer.id)
        {
            diagnostics.take((builtin.check)(transformer));
        }
    }
    list
}
