//! Resources pass through transformers, from the first to the last.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::composition::resource::{Documents, Resource};
use crate::composition::transformer::Transformer;
use crate::composition::transformers;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::files::Files;
use crate::source::Source;
use crate::yaml::{Document, FieldPath, Position};

/// Runs the functions that are not built in.
pub trait Functions {
    /// Runs the function that a transformer names on a ResourceList with it as functionConfig.
    fn run(&self, transformer: &Transformer, list: &Arc<Source>) -> FunctionOutput;
}

/// What a function gave back.
#[derive(Debug)]
pub struct FunctionOutput {
    /// The ResourceList; none if it failed.
    pub list: Option<String>,
    /// What it has to say; with an error it has failed.
    pub diagnostics: Diagnostics,
}

/// What transformers may use.
pub(super) struct Context<'c, 'd> {
    /// The transformer that runs.
    pub(super) transformer: &'c Transformer,
    /// To read files with, by paths that are joined to the transformer's directory.
    pub(super) files: &'c dyn Files,
    /// Where documents that resources are read from are kept.
    pub(super) documents: &'d Documents,
    /// What there is to say; with an error, the chain ends behind this transformer.
    pub(super) diagnostics: &'c mut Diagnostics,
}

impl Context<'_, '_> {
    /// The configuration as a type; nothing if it is none, which is reported.
    pub(super) fn config<T: DeserializeOwned>(&mut self) -> Option<T> {
        let config = self.transformer.read();
        self.diagnostics.take(config)
    }

    /// Reports what went wrong with a resource.
    pub(super) fn outcome(&mut self, resource: &Resource<'_>, outcome: Result<(), String>) {
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

/// What one transformer took.
#[derive(Debug)]
pub struct Stat {
    /// The transformer.
    pub name: String,
    /// How long it ran.
    pub time: Duration,
    /// How many resources there are behind it.
    pub count: usize,
}

/// Has `resources` pass through all transformers. After an error they are what they were when it
/// came up, and are not to be used.
pub fn run<'d>(
    transformers: &[Transformer],
    mut resources: Vec<Resource<'d>>,
    files: &dyn Files,
    functions: &dyn Functions,
    documents: &'d Documents,
    diagnostics: &mut Diagnostics,
) -> (Vec<Resource<'d>>, Vec<Stat>) {
    let mut stats = Vec::new();
    for transformer in transformers {
        let start = Instant::now();
        let before = resources.len();
        let mut context = Context {
            transformer,
            files,
            documents,
            diagnostics: &mut *diagnostics,
        };
        match transformers::find(&transformer.id) {
            Some(builtin) => (builtin.apply)(&mut resources, &mut context),
            None => call(&mut resources, functions, &mut context),
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
            let mut warning = Diagnostic::warning(format!(
                "{} drops all {before} resources there were",
                transformer.id
            ));
            warning.place = transformer.place();
            diagnostics.push(warning);
        }
    }
    (resources, stats)
}

/// Passes the resources through a function, as a ResourceList.
fn call<'d>(
    resources: &mut Vec<Resource<'d>>,
    functions: &dyn Functions,
    context: &mut Context<'_, 'd>,
) {
    let mut list = String::from("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n");
    list.push_str(if resources.is_empty() {
        "items: []\n"
    } else {
        "items:\n"
    });
    for resource in resources.iter() {
        let text = resource.text(Position::Item { column: 0 });
        list.extend(context.diagnostics.take(text));
    }
    list.push_str("functionConfig: ");
    list.push_str(&context.transformer.config.to_json());
    list.push('\n');
    if context.diagnostics.has_errors() {
        return;
    }
    let source = Source::new(context.transformer.id.to_string(), list);
    let mut output = functions.run(context.transformer, &source);
    context
        .diagnostics
        .append(std::mem::take(&mut output.diagnostics));
    let Some(list) = output.list else { return };
    if context.diagnostics.has_errors() {
        return;
    }
    let name = format!("output of {}", context.transformer.id);
    let read = Document::parse(&Source::new(name, list));
    let Some(document) = context.diagnostics.take(read) else {
        return;
    };
    let document = context.documents.keep(document);
    let items = document.roots().next().and_then(|root| root.get("items"));
    resources.clear();
    for item in items.iter().flat_map(|items| items.children()) {
        resources.extend(Resource::read(item, context.documents, context.diagnostics));
    }
}
