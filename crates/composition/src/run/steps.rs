//! A Composition with all that it imports, or a Kustomization, ready to run.

use std::sync::Arc;

use crate::engine::step::Step;
use crate::kustomization::file::{self, Kustomization};
use crate::kustomization::finalize::{self, Ending};
use crate::kustomization::steps::steps as steps_of;
use crate::read;
use crate::read::consolidate::Consolidated;
use crate::read::locate::{Found, find, is_kustomization};
use crate::run::runner::step;
use krm_core::files::{Files, directory_of, join};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Document, NodeId};

/// Reads the Composition in a file, or the Composition or Kustomization of a directory. After
/// errors, do not use the result.
pub fn consolidate_root(
    files: &dyn Files,
    path: &str,
    ending: &Ending,
    diagnostics: &mut Diagnostics,
) -> Vec<Step> {
    let directory = join(".", path);
    match find(files, &directory) {
        Ok(Found::Kustomization) => {
            let kustomization = file::read(files, &directory, diagnostics);
            kustomization.map_or_else(Vec::new, |kustomization| {
                build(&kustomization, ending, files, diagnostics)
            })
        }
        Ok(Found::File) if is_kustomization(&directory) => {
            let wrong = Diagnostic::error(format!("`{path}` is the file of a Kustomization"));
            let hint = format!("name the directory it is in: `{}`", directory_of(&directory));
            diagnostics.push(wrong.hint(hint));
            Vec::new()
        }
        Ok(Found::Nothing) => {
            let problem = format!("`{path}` holds neither a Kustomization nor a Composition");
            let hint = "name the directory with `kustomization.yaml` or `composition.yaml`";
            diagnostics.push(Diagnostic::error(problem).hint(hint));
            Vec::new()
        }
        _ => consolidate(files, path, diagnostics),
    }
}

/// Reads the Kustomization under a node, as the root of a build; its paths are relative to
/// `directory`. After errors, do not use the result.
pub fn consolidate_kustomization(
    files: &dyn Files,
    document: &Arc<Document>,
    node: NodeId,
    directory: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Step> {
    let kustomization = file::read_node(document, node, directory, diagnostics);
    kustomization.map_or_else(Vec::new, |kustomization| {
        build(&kustomization, &Ending::default(), files, diagnostics)
    })
}

/// All steps of a Kustomization that is the root of a build.
pub(crate) fn build(
    kustomization: &Kustomization,
    ending: &Ending,
    files: &dyn Files,
    diagnostics: &mut Diagnostics,
) -> Vec<Step> {
    let mut steps = steps_of(kustomization, files, diagnostics);
    let additions = steps.first().map(|step| Arc::clone(&step.additions));
    let additions = additions.unwrap_or_default();
    steps.insert(0, finalize::start(kustomization, &additions));
    steps.append(&mut finalize::steps(kustomization, ending, &additions, diagnostics));
    steps
}

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

fn steps(all: Consolidated, diagnostics: &mut Diagnostics) -> Vec<Step> {
    let additions = Arc::new(all.additions);
    let steps = all.transformers.into_iter();
    steps.filter_map(|transformer| diagnostics.take(step(transformer, &additions))).collect()
}
