//! The state that the transformers of a build share.

use std::sync::Arc;

use crate::engine::field_tables::{Additions, Tables};
use crate::engine::functions::Functions;
use crate::engine::transformer::Transformer;
use crate::engine::var::Var;
use crate::resources::positions::Positions;
use crate::resources::trace::Tracing;
use crate::tables::schema::Schema;
use krm_core::files::{Files, join};
use krm_yaml::FieldPath;
use krm_yaml::diagnostic::{Diagnostic, Result};

/// The maximum number of Compositions and Kustomizations built by others.
const MAX_BUILDS: usize = 10_000;
/// The maximum number of objects that one build reads and generates, those of a directory that is
/// built twice counted twice.
const MAX_OBJECTS: usize = 100_000;

/// The state of a build.
#[derive(Default)]
pub(crate) struct State {
    /// The entries that Compositions built on the way add to the tables, for those that build
    /// them.
    pub(crate) inherited: Additions,
    /// The Compositions and Kustomizations that are being built, each by the one before.
    pub(crate) building: Vec<String>,
    /// The number of Compositions and Kustomizations built by others.
    pub(crate) builds: usize,
    /// The number of objects that were read and generated.
    pub(crate) objects: usize,
    /// The state that the Kustomizations of one build share.
    pub(crate) shared: Shared,
    /// Whether the step that runs is part of a Kustomization.
    pub(crate) is_of_kustomization: bool,
    /// Whether the resources note what has set their fields.
    pub(crate) keeps_history: bool,
    /// The tables of the last step, with what they were made of.
    pub(crate) tables: Option<(Additions, Arc<Tables>)>,
    /// The positions of the resources, for [generators](crate::engine::step::Transform::is_generator)
    /// and as long as only these run.
    pub(crate) positions: Positions,
}

/// The state that the Kustomizations of one build share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) vars: Vec<Var>,
    /// The schema of the first one that has one.
    pub(crate) schema: Option<Arc<Schema>>,
    has_schema: bool,
    /// Whether kustomize needs its built-in schema before that.
    needs_built_in: bool,
    pub(crate) tracing: Tracing,
    /// The namespace of the innermost one that has one.
    pub(crate) namespace: Option<String>,
}

impl Shared {
    /// Takes the schema of a Kustomization, if it is the first one that names any.
    pub(crate) fn set_schema(&mut self, additions: &Additions) {
        let is_named = additions.names_built_in || additions.schema.is_some();
        if is_named && !self.has_schema {
            self.schema.clone_from(&additions.schema);
            self.has_schema = true;
            if let Some(schema) = self.schema.as_mut().filter(|_| self.needs_built_in) {
                Arc::make_mut(schema).is_added = true;
            }
        }
    }

    /// Notes that kustomize needs its built-in schema from now on: one that a Kustomization names
    /// later is added to it.
    pub(crate) const fn need_built_in_schema(&mut self) {
        self.needs_built_in |= !self.has_schema;
    }
}

impl State {
    /// Whether a limit was exceeded: the error that ends the build is reported.
    pub(crate) const fn is_too_large(&self) -> bool {
        self.builds > MAX_BUILDS || self.objects > MAX_OBJECTS
    }

    /// Counts a Composition or Kustomization that another one builds.
    ///
    /// # Errors
    /// If there are too many.
    pub(crate) fn count_build(&mut self) -> Result<()> {
        self.builds = self.builds.saturating_add(1);
        if self.builds <= MAX_BUILDS {
            return Ok(());
        }
        Err(too_many(&format!(
            "more than {MAX_BUILDS} Compositions and Kustomizations are built within others"
        )))
    }

    /// Counts objects that were read.
    ///
    /// # Errors
    /// If the whole build has too many.
    pub(crate) fn count(&mut self, objects: usize) -> Result<()> {
        let is_reported = self.objects > MAX_OBJECTS;
        self.objects = self.objects.saturating_add(objects);
        if is_reported || self.objects <= MAX_OBJECTS {
            return Ok(());
        }
        Err(too_many(&format!("the build has more than {MAX_OBJECTS} objects")))
    }

    /// The path that a field of `transformer` names, from where files are read. A git repository
    /// that it is the URL of is fetched.
    ///
    /// # Errors
    /// As [`Functions::fetch`], or if it leads out of a repository.
    pub(crate) fn locate(
        &mut self,
        (files, functions): (&dyn Files, &dyn Functions),
        transformer: &Transformer,
        field: &FieldPath,
        path: &str,
    ) -> Result<String> {
        let from = transformer.directory_of(field);
        let resolved = join(from, path);
        if files.entry(&resolved).is_none()
            && let Some(checkout) = functions.fetch(path, from)?
        {
            let resolved = join(&checkout.directory, &checkout.path);
            self.shared.tracing.add(checkout);
            return Ok(resolved);
        }
        files.check_base(&resolved, from)?;
        Ok(resolved)
    }
}

fn too_many(problem: &str) -> Box<Diagnostic> {
    let hint = "a directory that is named twice is built twice, with all that it names";
    Diagnostic::error(problem).hint(hint).into()
}
