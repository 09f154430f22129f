//! Passes resources through transformers, from the first to the last.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::field_tables::{Additions, Tables};
use crate::engine::functions::Functions;
use crate::engine::program::Program;
use crate::engine::state::State;
use crate::engine::step::{Base, Context, Nested, Runner, Step};
use crate::engine::transformer::Transformer;
use crate::names::conflicts;
use crate::resources::history::Setter;
use crate::resources::positions::Positions;
use crate::resources::resource::Resource;
use crate::run::call::{call, invalid};
use crate::values::budget::Budget;
use krm_core::files::{Entry, Files, join};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Severity};
use krm_yaml::source::Place;
use krm_yaml::{FieldPath, Value};

pub use crate::run::unread::report_unread;

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

/// Runs steps.
#[derive(Clone, Copy)]
pub struct Build<'b> {
    /// The files that transformers read.
    pub files: &'b dyn Files,
    /// Runs transformers that are not built in.
    pub functions: &'b dyn Functions,
    /// Whether the resources know which transformer has set each [field](Resource::setter).
    pub keeps_history: bool,
}

/// The outcome of a build.
#[derive(Debug)]
pub struct Built<'d> {
    /// The resources after the last step. After an error, do not use them.
    pub resources: Vec<Resource<'d>>,
    /// The time and the output of each step.
    pub stats: Vec<Stat>,
    /// The number of objects and directories that were read.
    pub count: usize,
}

impl<'b> Build<'b> {
    /// A build that keeps no history.
    #[must_use]
    pub const fn new(files: &'b dyn Files, functions: &'b dyn Functions) -> Self {
        Self { files, functions, keeps_history: false }
    }

    /// Passes resources through all steps, from which new resources borrow.
    pub fn run<'d>(
        self,
        steps: &'d mut [Step],
        resources: Vec<Resource<'d>>,
        diagnostics: &mut Diagnostics,
    ) -> Built<'d> {
        let Self { files, functions, keeps_history } = self;
        let state = &mut State { keeps_history, ..State::default() };
        let budget = &Budget::new();
        let mut around = Surroundings { files, functions, budget, state };
        let (resources, times) = around.run(steps, resources, diagnostics);
        let count = state.objects.saturating_add(state.builds);
        Built { resources, stats: times, count }
    }
}

/// The surroundings of all transformers of a build.
pub(crate) struct Surroundings<'c> {
    pub(crate) files: &'c dyn Files,
    pub(crate) functions: &'c dyn Functions,
    budget: &'c Budget,
    pub(crate) state: &'c mut State,
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
            self.state.shared.set_schema(&first.additions);
        }
        let around = (self.state.shared.namespace.clone(), self.state.is_of_kustomization);
        if let Some(own) = steps.iter().find_map(namespace) {
            self.state.shared.namespace = Some(own.to_owned());
        }
        self.state.positions = Positions::default();
        let mut steps = steps.iter_mut();
        while let Some(step) = steps.next() {
            let start = now();
            let before = resources.len();
            let Step { transformer, runner, additions, is_of_kustomization } = step;
            self.state.is_of_kustomization = *is_of_kustomization;
            let is_traced = matches!(runner, Runner::Builtin(_) | Runner::Program(_) | Runner::Own);
            let is_generator = runner.is_generator();
            self.one(transformer, runner, additions, &mut resources, diagnostics);
            if is_traced {
                self.record_step(transformer, before, &mut resources, diagnostics);
            }
            if self.state.building.is_empty() {
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
        (self.state.shared.namespace, self.state.is_of_kustomization) = around;
        (resources, stats)
    }

    /// Counts the resources that a transformer has added to `before` ones, and notes what it did.
    fn record_step(
        &mut self,
        transformer: &Transformer,
        before: usize,
        resources: &mut [Resource<'_>],
        diagnostics: &mut Diagnostics,
    ) {
        if transformer.id.kind != ACCUMULATOR {
            let counted = self.state.count(resources.len().saturating_sub(before));
            diagnostics.take(counted.map_err(|mut problem| {
                problem.place = transformer.place();
                problem
            }));
        }
        if self.state.keeps_history {
            let setter = Arc::new(setter(transformer));
            for resource in &mut *resources {
                if transformer.id.kind == ACCUMULATOR {
                    resource.begin_history();
                }
                resource.note(&setter);
            }
        }
        if self.state.is_of_kustomization {
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
        let is_of_kustomization = self.state.is_of_kustomization;
        let is_generator = runner.is_generator();
        let mut context = Context {
            transformer,
            tables: &tables,
            files: self.files,
            functions: self.functions,
            diagnostics,
            budget: self.budget,
            build,
            state: &mut *self.state,
            is_of_kustomization,
        };
        match runner {
            Runner::Builtin(builtin) => {
                let before = (!is_generator).then(|| conflicts::renames(resources));
                builtin.apply(resources, &mut context);
                if let Some(problem) = self.budget.report() {
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
                    self.state.inherited.append(additions);
                }
                self.nested(nested, transformer, steps, resources, diagnostics);
            }
            Runner::Starlark => diagnostics.push(no_starlark(transformer)),
            // Our own functions rename nothing.
            Runner::Own => {
                self.functions.run_own(transformer, resources, diagnostics);
            }
            Runner::Program(program) => call(program, resources, &mut context),
        }
        self.state.positions = Positions::default();
        refuse_damaged(transformer, is_of_kustomization, resources, diagnostics);
    }

    /// Notes where new resources come from, or that all have passed a transformer.
    fn trace(&self, transformer: &Transformer, resources: &mut [Resource<'_>]) {
        let tracing = &self.state.shared.tracing;
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
        if self.state.is_of_kustomization {
            // A Kustomization adds its entries to those of its bases.
            all = self.state.inherited.clone();
            all.append(additions);
            all.schema.clone_from(&self.state.shared.schema);
        } else {
            all.append(&self.state.inherited);
        }
        if let Some((known, tables)) = &self.state.tables
            && known.is_same(&all)
        {
            return Ok(Arc::clone(tables));
        }
        let tables = Tables::of(&all)?;
        self.state.tables = Some((all, Arc::clone(&tables)));
        Ok(tables)
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
        self.state.building.push(name);
        let passed = self.run(steps, resources, diagnostics).0;
        self.state.building.pop();
        passed
    }

    /// As [`Context::build`].
    pub(crate) fn build<'d>(
        &mut self,
        base: Base<'_>,
        transformer: &Transformer,
        field: &FieldPath,
        steps: &'d mut Vec<Step>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Resource<'d>>> {
        if self.state.is_too_large() {
            return None;
        }
        let is_of_kustomization = self.state.is_of_kustomization;
        let mut found = Diagnostics::new();
        let made = match base {
            Base::Composition(file) => {
                self.composition(file, transformer, field, steps, &mut found)
            }
            Base::Kustomization(directory) => self.kustomization(directory, steps, &mut found),
        };
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

    /// Does something apart from the state that Kustomizations of one build share.
    pub(crate) fn apart<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::take(&mut self.state.shared);
        let done = work(self);
        self.state.shared = before;
        done
    }
}

/// Builds what a transformer names.
fn build<'d>(
    context: &mut Context<'_>,
    base: Base<'_>,
    field: &FieldPath,
    steps: &'d mut Vec<Step>,
) -> Option<Vec<Resource<'d>>> {
    let Context {
        transformer, files, functions, budget, ref mut state, ref mut diagnostics, ..
    } = *context;
    let mut around = Surroundings { files, functions, budget, state };
    around.build(base, transformer, field, steps, diagnostics)
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
        let Some(problem) = resource.lost_field(is_of_kustomization) else {
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
