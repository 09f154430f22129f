//! A Composition with all that it imports, ready to run.

use std::sync::Arc;

use crate::composition::engine::step::Step;
use crate::composition::engine::transformer::Transformer;
use crate::composition::read;
use crate::composition::run::runner::step;
use crate::files::Files;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Document, NodeId};

/// Reads the Composition in a file, or in `composition.yaml` of a directory, and all that it
/// imports. With errors, what is returned is not to be used.
pub fn consolidate(files: &dyn Files, path: &str, diagnostics: &mut Diagnostics) -> Vec<Step> {
    let list = read::consolidate::consolidate(files, path, diagnostics);
    steps(list, diagnostics)
}

/// The same of a Composition that is a part of a document; its paths are relative to `directory`.
pub fn consolidate_node(
    files: &dyn Files,
    document: &Arc<Document>,
    node: NodeId,
    directory: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Step> {
    let list = read::consolidate::consolidate_node(files, document, node, directory, diagnostics);
    steps(list, diagnostics)
}

fn steps(list: Vec<Transformer>, diagnostics: &mut Diagnostics) -> Vec<Step> {
    let steps = list.into_iter();
    steps
        .filter_map(|transformer| diagnostics.take(step(transformer)))
        .collect()
}
