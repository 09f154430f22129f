//! A Composition with all that it imports, ready to run.

use std::sync::Arc;

use crate::engine::step::Step;
use crate::read;
use crate::read::consolidate::All;
use crate::run::runner::step;
use krm_core::files::Files;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Document, NodeId};

/// Reads the Composition in a file, or in `composition.yaml` of a directory, with all that it
/// imports. After errors, do not use the result.
pub fn consolidate(files: &dyn Files, path: &str, diagnostics: &mut Diagnostics) -> Vec<Step> {
    let list = read::consolidate::consolidate(files, path, diagnostics);
    steps(list, diagnostics)
}

/// Reads the Composition under a node; its paths are relative to `directory`.
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

fn steps(all: All, diagnostics: &mut Diagnostics) -> Vec<Step> {
    let additions = Arc::new(all.additions);
    let steps = all.transformers.into_iter();
    steps
        .filter_map(|transformer| diagnostics.take(step(transformer, &additions)))
        .collect()
}
