//! Passes resources through transformers, from the first to the last.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::composition::engine::context::{Builder, Context};
use crate::composition::engine::functions::Functions;
use crate::composition::engine::step::{Runner, Step};
use crate::composition::engine::transformer::Transformer;
use crate::composition::names::conflicts;
use crate::composition::read::nesting::check_chain;
use crate::composition::resources::resource::{Documents, Resource};
use crate::composition::run::call::{Function, adds, call};
use crate::composition::run::steps::{consolidate, consolidate_node};
use crate::files::Files;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, FieldPath, Position};

/// What all transformers of a chain share.
#[derive(Clone)]
struct Surroundings<'c, 'd> {
    files: &'c dyn Files,
    functions: &'c dyn Functions,
    documents: &'d Documents,
    /// The Compositions that are being built, each by the one before.
    building: Vec<String>,
}

/// Statistics of one transformer.
#[derive(Debug)]
pub struct Stat {
    /// The transformer.
    pub name: String,
    /// How long it ran.
    pub time: Duration,
    /// The number of resources after it.
    pub count: usize,
}

/// Passes `resources` through all steps. After an error, do not use the result.
pub fn run<'d>(
    steps: &[Step],
    resources: Vec<Resource<'d>>,
    files: &dyn Files,
    functions: &dyn Functions,
    documents: &'d Documents,
    diagnostics: &mut Diagnostics,
) -> (Vec<Resource<'d>>, Vec<Stat>) {
    let around = Surroundings {
        files,
        functions,
        documents,
        building: Vec::new(),
    };
    around.run(steps, resources, diagnostics)
}

impl<'d> Surroundings<'_, 'd> {
    fn run(
        &self,
        steps: &[Step],
        mut resources: Vec<Resource<'d>>,
        diagnostics: &mut Diagnostics,
    ) -> (Vec<Resource<'d>>, Vec<Stat>) {
        let mut stats = Vec::new();
        for step in steps {
            diagnostics.take(self.check(step));
        }
        if diagnostics.has_errors() {
            return (resources, stats);
        }
        for step in steps {
            let start = now();
            let before = resources.len();
            self.one(step, &mut resources, diagnostics);
            stats.push(Stat {
                name: step.transformer.id.to_string(),
                time: start.elapsed(),
                count: resources.len(),
            });
            if diagnostics.has_errors() {
                break;
            }
            if resources.is_empty() && before > 0 {
                diagnostics.push(drops_all(&step.transformer, before));
            }
        }
        (resources, stats)
    }

    /// Checks that a step can run.
    fn check(&self, step: &Step) -> Result<()> {
        match &step.runner {
            Runner::Starlark => Err(no_starlark(&step.transformer).into()),
            Runner::Program(program) => self.functions.check(&step.transformer, program),
            Runner::Builtin(_) | Runner::Composition | Runner::Own => Ok(()),
        }
    }

    fn one(&self, step: &Step, resources: &mut Vec<Resource<'d>>, diagnostics: &mut Diagnostics) {
        let transformer = &step.transformer;
        let mut context = Context {
            transformer,
            files: self.files,
            functions: self.functions,
            documents: self.documents,
            diagnostics,
            builder: self,
        };
        match &step.runner {
            Runner::Builtin(builtin) => {
                let before = conflicts::renames(resources);
                builtin.apply(resources, &mut context);
                if conflicts::renames(resources) != before {
                    conflicts::refuse(resources, &mut context);
                }
            }
            Runner::Composition => self.nested(transformer, resources, diagnostics),
            Runner::Starlark => diagnostics.push(no_starlark(transformer)),
            // Our own functions rename nothing.
            Runner::Own => {
                if !adds(resources, &mut context) {
                    call(Function::Own, resources, &mut context);
                }
            }
            Runner::Program(program) => {
                call(Function::Program(program), resources, &mut context);
            }
        }
    }

    /// Passes the resources through the transformers of a Composition that is itself a transformer.
    fn nested(
        &self,
        transformer: &Transformer,
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
        let list = self.steps_of(transformer, &name, &mut found);
        *resources = self.pass(&list, std::mem::take(resources), name, &mut found);
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

    /// Passes resources through the steps of another Composition, called `name`.
    fn pass(
        &self,
        steps: &[Step],
        resources: Vec<Resource<'d>>,
        name: String,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Resource<'d>> {
        if diagnostics.has_errors() {
            return resources;
        }
        let mut inner = self.clone();
        inner.building.push(name);
        inner.run(steps, resources, diagnostics).0
    }
}

impl<'d> Builder<'d> for Surroundings<'_, 'd> {
    fn build(
        &self,
        file: &str,
        transformer: &Transformer,
        field: &FieldPath,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Resource<'d>>> {
        let mut building = self.building.clone();
        if building.is_empty() {
            building.push(transformer.file().to_owned());
        }
        let chain = check_chain(&building, file, "build");
        let chain = chain.and_then(|()| self.documents.count_build());
        if let Err(mut problem) = chain {
            problem.place = transformer.place_of(field);
            diagnostics.push(*problem);
            return None;
        }
        let mut found = Diagnostics::new();
        let steps = consolidate(self.files, file, &mut found);
        let made = self.pass(&steps, Vec::new(), file.to_owned(), &mut found);
        let has_failed = found.has_errors();
        diagnostics.append(found);
        (!has_failed).then_some(made)
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
