//! `ResourceAccumulator`: adds the resources of files and directories.
//!
//! Source: KEP-2299, and `resources` of kustomize 5.8 (`api/internal/target`, `api/resmap`). A
//! Composition in a directory is built without input.

use std::sync::Arc;

use serde::Deserialize;

use crate::builtin::known::ResourceIds;
use crate::engine::step::{Base, Context, Step, Transform};
use crate::names::references;
use crate::read::locate::{Found, find, is_composition, is_kustomization};
use crate::read::model::built_kind;
use crate::resources::objects::objects;
use crate::resources::resource::Resource;
use krm_core::files;
use krm_core::identity::{group, is_built_in};
use krm_yaml::diagnostic::{Diagnostic, Result, Severity};
use krm_yaml::source::Source;
use krm_yaml::{Document, FieldPath};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResourceAccumulatorConfig {
    #[serde(alias = "files")]
    paths: Vec<Named>,
}

/// A path, with what was read from there: the resources borrow from it.
#[derive(Deserialize)]
#[serde(from = "String")]
struct Named {
    text: String,
    document: Option<Arc<Document>>,
    /// The steps of a Composition.
    steps: Vec<Step>,
}

impl From<String> for Named {
    fn from(text: String) -> Self {
        Self { text, document: None, steps: Vec::new() }
    }
}

impl Transform for ResourceAccumulatorConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let list = ["paths", "files"].map(|key| FieldPath::root().key(key));
        let list = list.into_iter().find(|field| {
            let value = context.transformer.config.lookup(field);
            value.is_some()
        });
        let list = list.unwrap_or_else(FieldPath::root);
        let mut known = ResourceIds::of(resources, context.is_of_kustomization);
        let mut is_renamed = false;
        for (index, path) in self.paths.iter_mut().enumerate() {
            let mut accumulation = Accumulation { field: list.clone().index(index), context };
            let new = accumulation.path(path);
            is_renamed |= new.iter().any(Resource::has_former_name);
            let field = accumulation.field;
            let (transformer, diagnostics) = (context.transformer, &mut *context.diagnostics);
            known.add(resources, new, &field, transformer, diagnostics);
        }
        // Resources around a Composition may refer to those that it has renamed.
        if is_renamed {
            references::update(resources, context);
        }
    }
}

/// Reads the resources at one path.
struct Accumulation<'a, 'c> {
    /// The field that holds the path.
    field: FieldPath,
    context: &'a mut Context<'c>,
}

impl Accumulation<'_, '_> {
    fn error(&self, problem: impl std::fmt::Display) -> Diagnostic {
        self.context.transformer.error(&self.field, problem)
    }

    /// The resources of a file or directory. Reports all errors.
    fn path<'d>(&mut self, named: &'d mut Named) -> Vec<Resource<'d>> {
        let Named { text: path, document, steps } = named;
        if path.is_empty() {
            let wrong = self.error("an empty path");
            let wrong = wrong.hint("name a file, or a directory");
            self.context.diagnostics.push(wrong);
            return Vec::new();
        }
        let resolved = self.context.locate(&self.field, path);
        let found = resolved.and_then(|path| Ok((find(self.context.files, &path)?, path)));
        let Some((found, resolved)) = self.take(found) else {
            return Vec::new();
        };
        if self.context.is_of_kustomization && path.starts_with('/') && found != Found::File {
            let wrong = self.error(format!("`{path}` is absolute"));
            let wrong = wrong.hint("name the directory relative to this one");
            self.context.diagnostics.push(wrong);
            return Vec::new();
        }
        match found {
            Found::File => self.file(&resolved, document, steps),
            Found::Composition(file) => self.build(Base::Composition(&file), steps),
            Found::Kustomization => self.build(Base::Kustomization(&resolved), steps),
            Found::Nothing => {
                let file = if self.context.is_of_kustomization {
                    "kustomization.yaml"
                } else {
                    "composition.yaml"
                };
                let problem =
                    format!("`{resolved}` holds neither a Composition nor a Kustomization");
                let hint = format!("name the files in it one by one, or give it a `{file}`");
                let wrong = self.error(problem).hint(hint);
                self.context.diagnostics.push(wrong);
                Vec::new()
            }
        }
    }

    /// Takes a value, or reports its error at the path.
    fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        let result = result.map_err(|mut problem| {
            if problem.place.is_none() {
                let transformer = self.context.transformer;
                problem.place = transformer.place_of(&self.field);
                problem.field = Some(transformer.written_as(&self.field).to_string());
            }
            problem
        });
        self.context.diagnostics.take(result)
    }

    /// The resources of a file, or those that it creates if it is a Composition.
    fn file<'d>(
        &mut self,
        path: &str,
        document: &'d mut Option<Arc<Document>>,
        steps: &'d mut Vec<Step>,
    ) -> Vec<Resource<'d>> {
        let root = self.context.transformer.directory_of(&self.field);
        let may_be_read = self.context.files.check(path, root);
        if may_be_read.is_err() && is_composition(path) {
            // It means its directory, which may be anywhere.
            return self.build(Base::Composition(path), steps);
        }
        let source = self.context.files.source(path, root);
        let Some(source) = self.take(source) else {
            return Vec::new();
        };
        let Some(document) = self.parse(&source, document) else {
            return Vec::new();
        };
        let kind = document.roots().next().and_then(built_kind);
        match kind.as_deref() {
            Some("Composition") => self.build(Base::Composition(path), steps),
            Some("Kustomization") => self.no_directory(path),
            _ if is_kustomization(path) => self.no_directory(path),
            _ => {
                let resources = self.documents(document);
                if resources.is_empty() && !self.context.diagnostics.has_errors() {
                    let mut warning = self.error(format!("`{path}` holds no objects"));
                    warning.severity = Severity::Warning;
                    self.context.diagnostics.push(warning);
                }
                resources
            }
        }
    }

    /// Reports the path of the file of a Kustomization instead of its directory.
    fn no_directory<'d>(&mut self, path: &str) -> Vec<Resource<'d>> {
        let wrong = self
            .error(format!("`{path}` is a Kustomization"))
            .hint(format!("name the directory it is in: `{}`", files::directory_of(path)));
        self.context.diagnostics.push(wrong);
        Vec::new()
    }

    /// The resources that a Composition or Kustomization creates.
    fn build<'d>(&mut self, base: Base<'_>, steps: &'d mut Vec<Step>) -> Vec<Resource<'d>> {
        let built = self.context.build(base, &self.field, steps);
        built.unwrap_or_default()
    }

    fn parse<'d>(
        &mut self,
        source: &Arc<Source>,
        place: &'d mut Option<Arc<Document>>,
    ) -> Option<&'d Arc<Document>> {
        let document = self.context.diagnostics.take(Document::parse(source))?;
        Some(place.insert(Arc::new(document)))
    }

    fn documents<'d>(&mut self, document: &'d Arc<Document>) -> Vec<Resource<'d>> {
        self.context.budget.take(document.text().len());
        let named = self.context.transformer.place_of(&self.field);
        let read = objects(document, named.as_ref(), self.context.diagnostics);
        let counted = self.context.state.count(read.len());
        self.take(counted);
        if self.context.is_of_kustomization {
            if read.iter().any(is_custom) {
                self.context.state.shared.need_built_in_schema();
            }
            let mut nameless = read.iter();
            let is_nameless = |one: &&Resource<'_>| one.is_named_by_server();
            if let Some(place) = nameless.find(is_nameless).and_then(Resource::place) {
                let wrong = Diagnostic::error("the object has no `metadata.name`").at(place);
                let wrong = wrong.hint("a Kustomization needs it; `generateName` is not enough");
                self.context.diagnostics.push(wrong);
            }
        }
        read
    }
}

/// Whether kustomize looks for the kind of an object in its built-in schema.
fn is_custom(resource: &Resource<'_>) -> bool {
    let group = group(resource.str_at(&["apiVersion"]).unwrap_or_default());
    !is_built_in(group) || group.ends_with(".openshift.io")
}
