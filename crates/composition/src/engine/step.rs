//! A step of a Composition: a transformer with what runs it, and what it can use.

use std::fmt;
use std::sync::Arc;

use crate::engine::field_tables::{Additions, Tables};
use crate::engine::functions::Functions;
use crate::engine::program::Program;
use crate::engine::state::State;
use crate::engine::transformer::Transformer;
use crate::fields::field_tree::Problem;
use crate::resources::resource::Resource;
use crate::values::budget::Budget;
use krm_core::files::{Files, join};
use krm_yaml::FieldPath;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Severity};
use krm_yaml::source::Source;

/// A built-in transformer with its configuration.
pub(crate) trait Transform {
    /// Changes the resources, or reports errors. New resources may borrow from the transformer,
    /// which then keeps what it has read.
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>);

    /// Whether it only adds resources at the end, or changes other fields than their identities:
    /// then the others need not be looked at after each of many.
    fn is_generator(&self) -> bool {
        false
    }
}

impl fmt::Debug for dyn Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a built-in transformer")
    }
}

/// A transformer with what runs it.
#[derive(Debug)]
pub struct Step {
    /// The transformer as it was declared and overridden.
    pub transformer: Transformer,
    pub(crate) runner: Runner,
    /// The entries that the Composition adds to the tables for all its transformers.
    pub(crate) additions: Arc<Additions>,
    /// Whether it is part of a Kustomization: then references are updated at the end of the build.
    pub(crate) is_of_kustomization: bool,
}

/// The implementation of a transformer.
#[derive(Debug)]
pub(crate) enum Runner {
    Builtin(Box<dyn Transform>),
    /// It is itself a list of steps, which is read when it runs.
    Nested(Nested, Vec<Step>),
    /// One of our own functions, in this process.
    Own,
    Program(Program),
    /// A Starlark script, which this program does not run.
    Starlark,
}

impl Runner {
    /// Whether it is a built-in [generator](Transform::is_generator).
    pub(crate) fn is_generator(&self) -> bool {
        matches!(self, Self::Builtin(builtin) if builtin.is_generator())
    }
}

/// A list of steps that is read when it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nested {
    /// The transformers of a Composition.
    Composition,
    /// The steps of a Kustomization, with the resources so far as its first ones.
    Kustomization,
    /// The steps of a Component, as part of the Kustomization that names it.
    Component,
    /// Each generator of a list in files.
    Generators,
    /// Each transformer of a list in files.
    Transformers,
    /// As transformers, which must not change the resources.
    Validators,
}

/// A path of resources that is to be built.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Base<'b> {
    /// The file of a Composition.
    Composition(&'b str),
    /// The directory of a Kustomization.
    Kustomization(&'b str),
}

impl Step {
    /// Whether it is part of a Kustomization.
    pub const fn is_of_kustomization(&self) -> bool {
        self.is_of_kustomization
    }

    /// Whether one of our own functions runs it.
    pub const fn is_own(&self) -> bool {
        matches!(self.runner, Runner::Own)
    }
}

/// Builds `base`, which a field of the transformer names, from nothing; none after an error, which is
/// reported. The resources borrow from the steps, which become those of the base.
pub(crate) type Build = for<'d> fn(
    &mut Context<'_>,
    Base<'_>,
    &FieldPath,
    &'d mut Vec<Step>,
) -> Option<Vec<Resource<'d>>>;

/// The surroundings of a transformer while it runs.
pub(crate) struct Context<'c> {
    pub(crate) transformer: &'c Transformer,
    /// The fields that it changes by default, and those that name objects.
    pub(crate) tables: &'c Tables,
    /// Finds files by paths that the transformer [resolves](Transformer::resolve).
    pub(crate) files: &'c dyn Files,
    /// Runs functions that are not built in.
    pub(crate) functions: &'c dyn Functions,
    /// Collects messages; after an error, the chain ends with this transformer.
    pub(crate) diagnostics: &'c mut Diagnostics,
    /// Counts what the transformer reads and adds.
    pub(crate) budget: &'c Budget,
    /// Builds Compositions and Kustomizations that the transformer refers to.
    pub(crate) build: Build,
    /// The state of the whole build.
    pub(crate) state: &'c mut State,
    /// Whether the transformer is part of a Kustomization: references are updated at its end.
    pub(crate) is_of_kustomization: bool,
}

impl Context<'_> {
    /// The bytes of the file that a field names, which is in or below the directory of the field.
    pub(crate) fn read(&self, field: &FieldPath, path: &str) -> Result<Vec<u8>> {
        let root = self.transformer.directory_of(field);
        let bytes = self.files.read(&join(root, path), root)?;
        self.budget.take(bytes.len());
        Ok(bytes)
    }

    /// The text of the file that a field names.
    pub(crate) fn source(&self, field: &FieldPath, path: &str) -> Result<Arc<Source>> {
        let root = self.transformer.directory_of(field);
        let source = self.files.source(&join(root, path), root)?;
        self.budget.take(source.text().len());
        Ok(source)
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

    /// Reports the fields of a resource that could not be changed.
    pub(crate) fn problems(&mut self, resource: &Resource<'_>, problems: Vec<Problem>) {
        for Problem { path, text } in problems {
            self.outcome(resource, Err(format!("fieldSpec `{path}`: {text}")));
        }
    }

    /// The resources that a Composition or Kustomization creates; `field` names it. They borrow
    /// from `steps`, which become those of the base.
    pub(crate) fn build<'d>(
        &mut self,
        base: Base<'_>,
        field: &FieldPath,
        steps: &'d mut Vec<Step>,
    ) -> Option<Vec<Resource<'d>>> {
        (self.build)(self, base, field, steps)
    }

    /// The path that a field names, from where files are read.
    ///
    /// # Errors
    /// As [`State::locate`].
    pub(crate) fn locate(&mut self, field: &FieldPath, path: &str) -> Result<String> {
        self.state.locate((self.files, self.functions), self.transformer, field, path)
    }
}
