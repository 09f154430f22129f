//! Passes resources through transformers, from the first to the last.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::field_tables::{Additions, Tables};
use crate::engine::functions::Functions;
use crate::engine::program::Program;
use crate::engine::step::{Base, Builder, Context, Nested, Runner, Step};
use crate::engine::transformer::Transformer;
use crate::engine::var::Var;
use crate::names::conflicts;
use crate::resources::history::Setter;
use crate::resources::positions::Positions;
use crate::resources::resource::Resource;
use crate::resources::trace::Tracing;
use crate::run::call::{call, invalid};
use crate::tables::schema::Schema;
use crate::values::budget::Budget;
use krm_core::files::{Entry, Files, join};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Severity};
use krm_yaml::source::Place;
use krm_yaml::{FieldPath, Value};

pub use crate::run::unread::report_unread;

/// The maximum number of Compositions and Kustomizations built by others.
const MAX_BUILDS: usize = 10_000;
/// The maximum number of objects that one build reads and generates, those of a directory that is
/// built twice counted twice.
const MAX_OBJECTS: usize = 100_000;

/// State that all transformers of a chain share.
pub(crate) struct Surroundings<'c> {
    pub(crate) files: &'c dyn Files,
    functions: &'c dyn Functions,
    /// The entries that Compositions built on the way add to the tables, for those that build
    /// them.
    pub(crate) inherited: Additions,
    /// The Compositions and Kustomizations that are being built, each by the one before.
    pub(crate) building: Vec<String>,
    /// The number of Compositions and Kustomizations built by others.
    builds: usize,
    /// The number of objects that were read and generated.
    objects: usize,
    /// Their budget.
    budget: Rc<Budget>,
    /// The state that the Kustomizations of one build share.
    pub(crate) shared: Shared,
    /// Whether the step that runs is part of a Kustomization.
    pub(crate) is_of_kustomization: bool,
    /// Whether the resources note what has set their fields.
    keeps_history: bool,
    /// The tables of the last step, with what they were made of.
    tables: Option<(Additions, Arc<Tables>)>,
    /// The positions of the resources, as long as only generators run.
    positions: Positions,
}

/// The state that the Kustomizations of one build share.
#[derive(Default)]
pub(crate) struct Shared {
    vars: Vec<Var>,
    /// The schema of the first one that has one.
    schema: Option<Arc<Schema>>,
    has_schema: bool,
    /// Whether kustomize needs its built-in schema before that.
    needs_built_in: bool,
    pub(crate) tracing: Tracing,
    /// The namespace of the innermost one that has one.
    namespace: Option<String>,
}

impl Shared {
    /// Takes the schema of a Kustomization, if it is the first one that names any.
    fn set_schema(&mut self, additions: &Additions) {
        let is_named = additions.names_built_in || additions.schema.is_some();
        if is_named && !self.has_schema {
            self.schema.clone_from(&additions.schema);
            self.has_schema = true;
            if let Some(schema) = self.schema.as_mut().filter(|_| self.needs_built_in) {
                Arc::make_mut(schema).is_added = true;
            }
        }
    }
}

/// The time and the output of one transformer.
#[derive(Debug)]
pub struct Stat {
    /// The kind and name of the transformer.
    pub name: String,
    /// The wall-clock time it took.
    pub time: Duration,
    /// The number of resources after it.
    pub count: usize,
}

/// Passes `resources` through all steps, from which new resources borrow. After an error, do not
/// use the result.
pub fn run<'d>(
    steps: &'d mut [Step],
    resources: Vec<Resource<'d>>,
    files: &dyn Files,
    functions: &dyn Functions,
    diagnostics: &mut Diagnostics,
) -> (Vec<Resource<'d>>, Vec<Stat>) {
    surroundings(files, functions).run(steps, resources, diagnostics)
}

/// As [`run`] without resources. The new ones know which transformer has set each
/// [field](Resource::setter).
pub fn run_with_history<'d>(
    steps: &'d mut [Step],
    files: &dyn Files,
    functions: &dyn Functions,
    diagnostics: &mut Diagnostics,
) -> Vec<Resource<'d>> {
    let mut around = Surroundings { keeps_history: true, ..surroundings(files, functions) };
    around.run(steps, Vec::new(), diagnostics).0
}

/// Runs steps as [`run`] does, without resources. Also returns the number of objects and
/// directories that were read.
pub fn check<'d>(
    steps: &'d mut [Step],
    files: &dyn Files,
    functions: &dyn Functions,
    diagnostics: &mut Diagnostics,
) -> (Vec<Resource<'d>>, usize) {
    let mut around = surroundings(files, functions);
    let resources = around.run(steps, Vec::new(), diagnostics).0;
    (resources, around.objects.saturating_add(around.builds))
}

fn surroundings<'c>(files: &'c dyn Files, functions: &'c dyn Functions) -> Surroundings<'c> {
    Surroundings {
        files,
        functions,
        inherited: Additions::default(),
        building: Vec::new(),
        builds: 0,
        objects: 0,
        budget: Rc::new(Budget::new()),
        shared: Shared::default(),
        is_of_kustomization: false,
        keeps_history: false,
        tables: None,
        positions: Positions::default(),
    }
}

impl Surroundings<'_> {
    pub(crate) fn run<'d>(
        &mut self,
        steps: &'d mut [Step],
        mut resources: Vec<Resource<'d>>,
        diagnostics: &mut Diagnostics,
    ) -> (Vec<Resource<'d>>, Vec<Stat>) {
        let mut stats = Vec::new();
        for step in &*steps {
            diagnostics.take(self.check(step));
        }
        if diagnostics.has_errors() {
            return (resources, stats);
        }
        if let Some(first) = steps.first().filter(|first| first.is_of_kustomization) {
            self.shared.set_schema(&first.additions);
        }
        let around = self.shared.namespace.clone();
        if let Some(own) = steps.iter().find_map(namespace) {
            self.shared.namespace = Some(own.to_owned());
        }
        self.positions = Positions::default();
        let mut steps = steps.iter_mut();
        while let Some(step) = steps.next() {
            let start = now();
            let before = resources.len();
            let Step { transformer, runner, additions, is_of_kustomization } = step;
            self.is_of_kustomization = *is_of_kustomization;
            let is_traced = matches!(runner, Runner::Builtin(_) | Runner::Program(_) | Runner::Own);
            let is_generator = runner.is_generator();
            self.one(transformer, runner, additions, &mut resources, diagnostics);
            if is_traced {
                self.follow(transformer, before, &mut resources, diagnostics);
            }
            if self.building.is_empty() {
                let maker = Arc::from(transformer.id.name.as_str());
                let others = if is_generator { before } else { 0 };
                for one in resources.iter_mut().skip(others) {
                    one.set_maker(&maker);
                }
            }
            stats.push(Stat {
                name: transformer.id.to_string(),
                time: start.elapsed(),
                count: resources.len(),
            });
            if diagnostics.has_errors() {
                report_unread(steps.as_slice(), self.files, diagnostics);
                break;
            }
            if resources.is_empty() && before > 0 {
                diagnostics.push(drops_all(transformer, before));
            }
        }
        self.shared.namespace = around;
        (resources, stats)
    }

    /// Counts the resources that a transformer has added to `before` ones, and notes what it did.
    fn follow(
        &mut self,
        transformer: &Transformer,
        before: usize,
        resources: &mut [Resource<'_>],
        diagnostics: &mut Diagnostics,
    ) {
        if transformer.id.kind != ACCUMULATOR {
            let counted = self.count(resources.len().saturating_sub(before));
            diagnostics.take(counted.map_err(|mut problem| {
                problem.place = transformer.place();
                problem
            }));
        }
        if self.keeps_history {
            let setter = Arc::new(setter(transformer));
            for resource in &mut *resources {
                resource.note(&setter);
            }
        }
        if self.is_of_kustomization {
            self.trace(transformer, resources);
        }
    }

    /// Checks that a step can run.
    fn check(&self, step: &Step) -> Result<()> {
        match &step.runner {
            Runner::Starlark => Err(no_starlark(&step.transformer).into()),
            Runner::Program(program) => {
                self.check_mounts(&step.transformer, program)?;
                self.functions.check(&step.transformer, program)
            }
            Runner::Builtin(_) | Runner::Nested(..) | Runner::Own => Ok(()),
        }
    }

    /// Checks that no mount leaves its root by a link.
    fn check_mounts(&self, transformer: &Transformer, program: &Program) -> Result<()> {
        let Program::Container(container) = program else {
            return Ok(());
        };
        for mount in &container.mounts {
            let Some(root) = &mount.root else { continue };
            self.files.check(&mount.source, root).map_err(|mut error| {
                error.place = error.place.take().or_else(|| transformer.place());
                error
            })?;
        }
        Ok(())
    }

    fn one<'d>(
        &mut self,
        transformer: &Transformer,
        runner: &'d mut Runner,
        additions: &Additions,
        resources: &mut Vec<Resource<'d>>,
        diagnostics: &mut Diagnostics,
    ) {
        let tables = self.tables(additions).map_err(|problem| {
            let problem = format!("conflicting fields of Compositions: {problem}");
            transformer.error(&FieldPath::root(), problem).into()
        });
        let Some(tables) = diagnostics.take(tables) else {
            return;
        };
        let is_of_kustomization = self.is_of_kustomization;
        let is_generator = runner.is_generator();
        let budget = Rc::clone(&self.budget);
        let mut context = Context {
            transformer,
            tables: &tables,
            files: self.files,
            functions: self.functions,
            diagnostics,
            budget: &budget,
            builder: self,
            is_of_kustomization,
        };
        match runner {
            Runner::Builtin(builtin) => {
                let before = (!is_generator).then(|| conflicts::renames(resources));
                builtin.apply(resources, &mut context);
                if let Some(problem) = budget.report() {
                    let error = transformer.error(&FieldPath::root(), problem);
                    let hint = "what a directory holds counts each time it is built, and so does each copy that a patch or replacement makes";
                    context.diagnostics.push(error.hint(hint));
                    return;
                }
                let Some(before) = before else {
                    return;
                };
                if conflicts::renames(resources) != before {
                    conflicts::refuse(resources, &mut context);
                }
            }
            Runner::Nested(nested, steps) => {
                let nested = *nested;
                if nested == Nested::Component {
                    // A Component also uses the tables of the directory that names it.
                    self.inherited.append(additions);
                }
                self.nested(nested, transformer, steps, resources, diagnostics);
                self.is_of_kustomization = is_of_kustomization;
            }
            Runner::Starlark => diagnostics.push(no_starlark(transformer)),
            // Our own functions rename nothing.
            Runner::Own => {
                self.functions.run_own(transformer, resources, diagnostics);
            }
            Runner::Program(program) => call(program, resources, &mut context),
        }
        self.positions = Positions::default();
        refuse_damaged(transformer, is_of_kustomization, resources, diagnostics);
    }

    /// Notes where new resources come from, or that all have passed a transformer.
    fn trace(&self, transformer: &Transformer, resources: &mut [Resource<'_>]) {
        let tracing = &self.shared.tracing;
        if !(tracing.origins || tracing.transformations) {
            return;
        }
        let id = &transformer.id;
        let file = transformer.read_from.as_deref();
        let file = file.unwrap_or_else(|| transformer.file());
        let file = match self.files.entry(file) {
            Some(Entry::File) => file,
            _ => &tracing.file,
        };
        let configured = configured(transformer, &tracing.of_file(file));
        if id.is_builtin() && UNTRACED.contains(&id.kind.as_str()) {
            return;
        }
        let adds = id.kind == ACCUMULATOR || id.kind.ends_with("Generator");
        for resource in resources {
            let is_new = resource.trace.as_ref().is_none_or(|trace| trace.origin.is_empty());
            let file = resource.place().map(|place| place.source.name().to_owned());
            let trace = resource.trace.get_or_insert_default();
            if is_new {
                trace.origin = match file.filter(|_| id.kind == ACCUMULATOR) {
                    Some(file) => {
                        let (repository, path) = tracing.of_file(&file);
                        format!("path: {path}\n{repository}")
                    }
                    None => configured.clone(),
                };
            }
            // As in kustomize, a transformer that makes an object is not noted again as one.
            if !adds && !is_new {
                let mut mark = "- ";
                for line in configured.lines() {
                    trace.transformations.extend([mark, line, "\n"]);
                    mark = "  ";
                }
            }
        }
    }

    /// The tables for a step of a Composition or Kustomization that adds these entries.
    fn tables(&mut self, additions: &Additions) -> Result<Arc<Tables>, String> {
        let mut all = additions.clone();
        if self.is_of_kustomization {
            // A Kustomization adds its entries to those of its bases.
            all = self.inherited.clone();
            all.append(additions);
            all.schema.clone_from(&self.shared.schema);
        } else {
            all.append(&self.inherited);
        }
        if let Some((known, tables)) = &self.tables
            && known.is_same(&all)
        {
            return Ok(Arc::clone(tables));
        }
        let tables = Tables::of(&all)?;
        self.tables = Some((all, Arc::clone(&tables)));
        Ok(tables)
    }

    /// Counts a Composition that another one builds.
    pub(crate) fn count_build(&mut self) -> Result<()> {
        self.builds = self.builds.saturating_add(1);
        if self.builds <= MAX_BUILDS {
            return Ok(());
        }
        Err(too_many(&format!(
            "more than {MAX_BUILDS} Compositions and Kustomizations are built within others"
        )))
    }

    /// Passes resources through the steps of another Composition, called `name`.
    pub(crate) fn pass<'d>(
        &mut self,
        steps: &'d mut [Step],
        resources: Vec<Resource<'d>>,
        name: String,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Resource<'d>> {
        if diagnostics.has_errors() {
            return resources;
        }
        self.building.push(name);
        let passed = self.run(steps, resources, diagnostics).0;
        self.building.pop();
        passed
    }
}

impl Builder for Surroundings<'_> {
    fn build<'d>(
        &mut self,
        base: Base<'_>,
        transformer: &Transformer,
        field: &FieldPath,
        steps: &'d mut Vec<Step>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Resource<'d>>> {
        // The error that ends the build is reported.
        if self.builds > MAX_BUILDS || self.objects > MAX_OBJECTS {
            return None;
        }
        let is_of_kustomization = self.is_of_kustomization;
        let mut found = Diagnostics::new();
        let made = match base {
            Base::Composition(file) => {
                self.composition(file, transformer, field, steps, &mut found)
            }
            Base::Kustomization(directory) => self.kustomization(directory, steps, &mut found),
        };
        self.is_of_kustomization = is_of_kustomization;
        let has_failed = found.has_errors();
        if is_of_kustomization {
            found = named_by(found, transformer.place_of(field));
        }
        diagnostics.append(found);
        let mut made = made.filter(|_| !has_failed)?;
        if is_of_kustomization && matches!(base, Base::Composition(_)) {
            // A Composition adds hashes itself, or has none.
            for one in &mut made {
                one.needs_hash = false;
            }
        }
        Some(made)
    }

    fn count(&mut self, objects: usize) -> Result<()> {
        let is_reported = self.objects > MAX_OBJECTS;
        self.objects = self.objects.saturating_add(objects);
        if is_reported || self.objects <= MAX_OBJECTS {
            return Ok(());
        }
        Err(too_many(&format!("the build has more than {MAX_OBJECTS} objects")))
    }

    fn vars(&mut self) -> &mut Vec<Var> {
        &mut self.shared.vars
    }

    fn positions(&mut self) -> &mut Positions {
        &mut self.positions
    }

    fn need_built_in_schema(&mut self) {
        self.shared.needs_built_in |= !self.shared.has_schema;
    }

    fn tracing(&mut self) -> &mut Tracing {
        &mut self.shared.tracing
    }

    fn locate(
        &mut self,
        transformer: &Transformer,
        field: &FieldPath,
        path: &str,
    ) -> Result<String> {
        let from = transformer.directory_of(field);
        let resolved = join(from, path);
        if self.files.entry(&resolved).is_none()
            && let Some(checkout) = self.functions.fetch(path, from)?
        {
            let resolved = join(&checkout.directory, &checkout.path);
            self.shared.tracing.add(checkout);
            return Ok(resolved);
        }
        self.files.check_base(&resolved, from)?;
        Ok(resolved)
    }

    fn namespace(&self) -> Option<&str> {
        self.shared.namespace.as_deref()
    }
}

/// The `namespace` of a Kustomization, if the step is that.
fn namespace(step: &Step) -> Option<&str> {
    let transformer = &step.transformer;
    let is_field = step.is_of_kustomization && transformer.is_field();
    let is_field = is_field && transformer.id.kind == "NamespaceTransformer";
    let namespace = &["metadata", "namespace"];
    is_field.then(|| transformer.config.str_at(namespace))?
}

/// The transformer that reads objects.
const ACCUMULATOR: &str = "ResourceAccumulator";

/// The steps of a Kustomization that are no transformers of kustomize.
const UNTRACED: [&str; 3] = ["Kustomization", "SortOrderTransformer", "Variables"];

/// Describes a transformer, and the file that configures it, with its repository.
fn configured(transformer: &Transformer, (repository, file): &(String, String)) -> String {
    let id = &transformer.id;
    let api_version = match id.group.as_str() {
        "" => id.version.clone(),
        group => format!("{group}/{}", id.version),
    };
    let kind = &id.kind;
    let mut text = format!(
        "{repository}configuredIn: {file}\nconfiguredBy:\n  apiVersion: {api_version}\n  kind: {kind}\n"
    );
    // One that a field of the Kustomization is has no name of its own.
    if !transformer.is_field() {
        for (key, name) in [("name", &id.name), ("namespace", &id.namespace)] {
            if !name.is_empty() {
                text.extend(["  ", key, ": ", name, "\n"]);
            }
        }
    }
    text
}

/// A transformer as what has set a field.
fn setter(transformer: &Transformer) -> Setter {
    let one = transformer.config.get("path").into_iter();
    let several = transformer.config.get("paths").and_then(Value::items);
    let paths = one.chain(several.unwrap_or_default()).filter_map(Value::as_str);
    let is_patch = transformer.id.kind.starts_with("Patch");
    let patches = paths.filter(|_| is_patch).map(|path| join(&transformer.directory, path));
    Setter {
        name: transformer.id.to_string(),
        place: transformer.place(),
        patches: patches.collect(),
    }
}

fn too_many(problem: &str) -> Box<Diagnostic> {
    let hint = "a directory that is named twice is built twice, with all that it names";
    Diagnostic::error(problem).hint(hint).into()
}

/// Adds to errors the place that names the directory in which they are.
pub(crate) fn named_by(found: Diagnostics, place: Option<Place>) -> Diagnostics {
    let Some(place) = place.filter(|_| found.has_errors()) else {
        return found;
    };
    found.map(|one| match one.severity {
        Severity::Error if one.place.is_none() => one.at(place.clone()),
        Severity::Error => one.related(place.clone(), "named here"),
        _ => one,
    })
}

/// Reports the resources that a transformer has changed so that they are no objects any more.
fn refuse_damaged(
    transformer: &Transformer,
    is_of_kustomization: bool,
    resources: &mut [Resource<'_>],
    diagnostics: &mut Diagnostics,
) {
    for resource in resources {
        let Some(problem) = resource.take_damage(is_of_kustomization) else {
            continue;
        };
        let mut wrong = invalid(transformer, resource, &problem);
        if let Some(place) = resource.place() {
            wrong = wrong.related(place, "of this object");
        }
        diagnostics.push(wrong.hint(
            "an object needs `apiVersion`, `kind` and `metadata.name`; a patch with `$patch: delete` removes it",
        ));
    }
}

/// The warning about a transformer that drops all `count` resources.
fn drops_all(transformer: &Transformer, count: usize) -> Diagnostic {
    let all = match count {
        1 => "the only resource".to_owned(),
        _ => format!("all {count} resources"),
    };
    let mut warning = Diagnostic::warning(format!("{}: it drops {all}", transformer.id));
    warning.place = transformer.place();
    warning
}

/// The only maintained crate that runs Starlark would make up most of the program.
fn no_starlark(transformer: &Transformer) -> Diagnostic {
    transformer
        .error(&FieldPath::root(), "this program does not run Starlark")
        .hint("run the script with a program that does: name it under `runtime.exec.path`, or its image under `runtime.container.image`")
        .hint("or use a Template or built-in transformers instead")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time is for statistics, no output depends on it"
)]
fn now() -> Instant {
    Instant::now()
}
