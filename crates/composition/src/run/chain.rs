//! Passes resources through transformers, from the first to the last.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::field_tables::{Additions, Tables};
use crate::engine::functions::Functions;
use crate::engine::program::Program;
use crate::engine::step::{Builder, Context, Runner, Step};
use crate::engine::transformer::Transformer;
use crate::names::conflicts;
use crate::read::nesting::check_chain;
use crate::resources::resource::Resource;
use crate::run::call::{call, invalid};
use crate::run::steps::{consolidate, consolidate_node};
use krm_core::files::Files;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, FieldPath, Position};

/// The maximum number of Compositions built by others.
const MAX_BUILDS: usize = 10_000;

/// State that all transformers of a chain share.
struct Surroundings<'c> {
    files: &'c dyn Files,
    functions: &'c dyn Functions,
    /// The entries that Compositions built on the way add to the tables, for those that build
    /// them.
    inherited: Additions,
    /// The Compositions that are being built, each by the one before.
    building: Vec<String>,
    /// The number of Compositions built by others.
    builds: usize,
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
    let mut around = Surroundings {
        files,
        functions,
        inherited: Additions::default(),
        building: Vec::new(),
        builds: 0,
    };
    around.run(steps, resources, diagnostics)
}

impl Surroundings<'_> {
    fn run<'d>(
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
        for step in steps {
            let start = now();
            let before = resources.len();
            let Step {
                transformer,
                runner,
                additions,
            } = step;
            self.one(transformer, runner, additions, &mut resources, diagnostics);
            if self.building.is_empty() {
                let maker = Arc::from(transformer.id.name.as_str());
                for one in &mut resources {
                    one.set_maker(&maker);
                }
            }
            stats.push(Stat {
                name: transformer.id.to_string(),
                time: start.elapsed(),
                count: resources.len(),
            });
            if diagnostics.has_errors() {
                break;
            }
            if resources.is_empty() && before > 0 {
                diagnostics.push(drops_all(transformer, before));
            }
        }
        (resources, stats)
    }

    /// Checks that a step can run.
    fn check(&self, step: &Step) -> Result<()> {
        match &step.runner {
            Runner::Starlark => Err(no_starlark(&step.transformer).into()),
            Runner::Program(program) => {
                self.check_mounts(&step.transformer, program)?;
                self.functions.check(&step.transformer, program)
            }
            Runner::Builtin(_) | Runner::Composition(_) | Runner::Own => Ok(()),
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
        let mut all = additions.clone();
        all.append(&self.inherited);
        let tables = Tables::of(&all).map_err(|problem| {
            let problem = format!("conflicting fields of Compositions: {problem}");
            transformer.error(&FieldPath::root(), problem).into()
        });
        let Some(tables) = diagnostics.take(tables) else {
            return;
        };
        let mut context = Context {
            transformer,
            tables: &tables,
            files: self.files,
            functions: self.functions,
            diagnostics,
            builder: self,
        };
        match runner {
            Runner::Builtin(builtin) => {
                let before = conflicts::renames(resources);
                builtin.apply(resources, &mut context);
                if conflicts::renames(resources) != before {
                    conflicts::refuse(resources, &mut context);
                }
            }
            Runner::Composition(steps) => self.nested(transformer, steps, resources, diagnostics),
            Runner::Starlark => diagnostics.push(no_starlark(transformer)),
            // Our own functions rename nothing.
            Runner::Own => {
                self.functions.run_own(transformer, resources, diagnostics);
            }
            Runner::Program(program) => call(program, resources, &mut context),
        }
        refuse_damaged(transformer, resources, diagnostics);
    }

    /// Passes the resources through the transformers of a Composition that is itself a transformer.
    fn nested<'d>(
        &mut self,
        transformer: &Transformer,
        steps: &'d mut Vec<Step>,
        resources: &mut Vec<Resource<'d>>,
        diagnostics: &mut Diagnostics,
    ) {
        let name = format!("{} in {}", transformer.id, transformer.file());
        if let Err(mut problem) = check_chain(&self.building, &name, "build") {
            problem.place = transformer.place();
            diagnostics.push(*problem);
            return;
        }
        let mut found = Diagnostics::new();
        *steps = self.steps_of(transformer, &name, &mut found);
        *resources = self.pass(steps, std::mem::take(resources), name, &mut found);
        diagnostics.append(found);
    }

    /// The steps of a Composition that is itself a transformer.
    fn steps_of(
        &self,
        transformer: &Transformer,
        name: &str,
        found: &mut Diagnostics,
    ) -> Vec<Step> {
        let directory = &transformer.directory;
        if let Some((document, node)) = transformer.written_as_is() {
            return consolidate_node(self.files, document, node, directory, found);
        }
        // With overrides, no file holds the Composition.
        let text = found.take(transformer.text(Position::Document));
        let source = text.map(|text| Source::new(name, text));
        let document = source.and_then(|source| found.take(Document::parse(&source)));
        let document = document.map(Arc::new);
        let root = document.as_ref().and_then(|document| {
            let root = document.roots().next().map(Cursor::id)?;
            Some((document, root))
        });
        root.map_or_else(Vec::new, |(document, root)| {
            consolidate_node(self.files, document, root, directory, found)
        })
    }

    /// Counts a Composition that another one builds.
    fn count_build(&mut self) -> Result<()> {
        self.builds = self.builds.saturating_add(1);
        if self.builds <= MAX_BUILDS {
            return Ok(());
        }
        Err(Diagnostic::error(format!(
            "more than {MAX_BUILDS} Compositions are built within others"
        ))
        .hint("a Composition that is added twice is built twice, with all that it adds")
        .into())
    }

    /// Passes resources through the steps of another Composition, called `name`.
    fn pass<'d>(
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
        file: &str,
        transformer: &Transformer,
        field: &FieldPath,
        steps: &'d mut Vec<Step>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Resource<'d>>> {
        let mut building = self.building.clone();
        if building.is_empty() {
            building.push(transformer.file().to_owned());
        }
        let chain = check_chain(&building, file, "build");
        if let Err(mut problem) = chain.and_then(|()| self.count_build()) {
            problem.place = transformer.place_of(field);
            diagnostics.push(*problem);
            return None;
        }
        let mut found = Diagnostics::new();
        *steps = consolidate(self.files, file, &mut found);
        let own = steps.first().map(|step| Arc::clone(&step.additions));
        let others = std::mem::take(&mut self.inherited);
        let made = self.pass(steps, Vec::new(), file.to_owned(), &mut found);
        let inner = std::mem::replace(&mut self.inherited, others);
        if let Some(own) = own {
            self.inherited.append(&own);
        }
        self.inherited.append(&inner);
        let has_failed = found.has_errors();
        diagnostics.append(found);
        (!has_failed).then_some(made)
    }
}

/// Reports the resources that a transformer has changed so that they are no objects any more.
fn refuse_damaged(
    transformer: &Transformer,
    resources: &mut [Resource<'_>],
    diagnostics: &mut Diagnostics,
) {
    for resource in resources {
        let Some(problem) = resource.take_damage() else {
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
