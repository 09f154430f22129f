//! The context in which a transformer runs.

use std::sync::Arc;

use crate::composition::engine::functions::Functions;
use crate::composition::engine::transformer::Transformer;
use crate::composition::resources::resource::{Documents, Resource};
use crate::files::{Files, join};
use krm_yaml::FieldPath;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Severity};
use krm_yaml::source::Source;

/// Builds a Composition while another one is built.
pub(crate) trait Builder<'d> {
    /// The resources that the Composition in `file` creates from nothing; none after an error,
    /// which is reported. A field of `transformer` names the file.
    fn build(
        &self,
        file: &str,
        transformer: &Transformer,
        field: &FieldPath,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Resource<'d>>>;
}

/// What a transformer can use.
pub(crate) struct Context<'c, 'd> {
    /// The transformer that runs.
    pub(crate) transformer: &'c Transformer,
    /// Finds files by paths that the transformer [resolves](Transformer::resolve).
    pub(crate) files: &'c dyn Files,
    /// Runs functions that are not built in.
    pub(crate) functions: &'c dyn Functions,
    /// Keeps the documents that resources are read from.
    pub(crate) documents: &'d Documents,
    /// Collects messages; after an error, the chain ends with this transformer.
    pub(crate) diagnostics: &'c mut Diagnostics,
    /// Builds other Compositions.
    pub(crate) builder: &'c dyn Builder<'d>,
}

impl Context<'_, '_> {
    /// The bytes of the file that a field names, which is in or below the directory of the field.
    pub(crate) fn read(&self, field: &FieldPath, path: &str) -> Result<Vec<u8>> {
        let root = self.transformer.directory_of(field);
        self.files.read(&join(root, path), root)
    }

    /// The text of the file that a field names.
    pub(crate) fn source(&self, field: &FieldPath, path: &str) -> Result<Arc<Source>> {
        let root = self.transformer.directory_of(field);
        self.files.source(&join(root, path), root)
    }

    /// Warns about a field of the configuration that the transformer accepts.
    pub(crate) fn warn_of(&mut self, field: &FieldPath, problem: Diagnostic) {
        let place = self.transformer.error(field, &problem.message);
        self.diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            hints: problem.hints,
            ..place
        });
    }

    /// Reports an error about a resource.
    pub(crate) fn outcome(&mut self, resource: &Resource<'_>, outcome: Result<(), String>) {
        if let Err(problem) = outcome {
            let mut diagnostic = self.transformer.error(&FieldPath::root(), problem);
            diagnostic.object = Some(resource.reference());
            if let Some(place) = resource.place() {
                diagnostic = diagnostic.related(place, "of this object");
            }
            self.diagnostics.push(diagnostic);
        }
    }
}

impl<'d> Context<'_, 'd> {
    /// The resources that the Composition in a file creates; `field` names the file.
    pub(crate) fn build(&mut self, file: &str, field: &FieldPath) -> Option<Vec<Resource<'d>>> {
        self.builder
            .build(file, self.transformer, field, self.diagnostics)
    }
}
