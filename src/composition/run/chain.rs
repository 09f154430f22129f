//! Resources pass through transformers, from the first to the last.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::composition::builtin;
use crate::composition::engine::provider::Provider;
use crate::composition::engine::transformer::Transformer;
use crate::composition::names::conflicts;
use crate::composition::read::consolidate::{check_chain, consolidate, consolidate_node};
use crate::composition::resources::follow;
use crate::composition::resources::print::texts;
use crate::composition::resources::resource::{Documents, Resource};
use crate::composition::run::heads;
use crate::files::{Files, join};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Severity};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, FieldPath, NodeId, Position, Words};

/// Where functions find the number of an item, as with kustomize and kpt.
const ID: &str = "internal.config.kubernetes.io/id";
/// How functions get resources.
const ITEM: Position = Position::Item { column: 0 };

/// Runs what is not built in.
pub trait Functions {
    /// Whether it would run a transformer.
    ///
    /// # Errors
    /// If that is not allowed, or there is nothing to run it with.
    fn check(&self, _: &Transformer) -> Result<()> {
        Ok(())
    }

    /// Runs the function that a transformer names on a ResourceList with it as functionConfig.
    fn run(&self, transformer: &Transformer, list: &Arc<Source>) -> FunctionOutput;

    /// The stream of objects that kustomize makes.
    ///
    /// # Errors
    /// If there is no kustomize, or it fails.
    fn kustomize(&self, _: &Kustomize<'_>) -> Result<Arc<Source>> {
        Err(
            Diagnostic::error("this is for kustomize, and a function runs no other programs")
                .hint("on the command line, `krm-template build` runs kustomize")
                .into(),
        )
    }
}

/// What kustomize is to build.
#[derive(Clone, Copy, Debug)]
pub struct Kustomize<'k> {
    /// The directory with the Kustomization, from where files are read.
    pub directory: &'k str,
    /// Names and texts of files that are to stand there instead of those it has. If there are
    /// any, so is the Kustomization.
    pub files: &'k [(&'k str, String)],
    /// Paths of files and directories from elsewhere that are to be found there, and which these
    /// are.
    pub links: &'k [(String, String)],
    /// Other Kustomizations, in which files are to stand, too.
    pub bases: &'k [Base],
    /// Whether kustomize will call helm.
    pub calls_helm: bool,
}

/// The directory of a Kustomization that another one names.
#[derive(Clone, Debug)]
pub struct Base {
    /// The directory, from where files are read.
    pub directory: String,
    /// Names and texts of files that are to stand there instead of those it has.
    pub files: Vec<(String, String)>,
}

/// What a function gave back.
#[derive(Debug)]
pub struct FunctionOutput {
    /// The ResourceList; none if it failed.
    pub list: Option<String>,
    /// What it has to say; with an error it has failed.
    pub diagnostics: Diagnostics,
}

/// What is there besides the resources.
#[derive(Clone)]
struct Surroundings<'c, 'd> {
    files: &'c dyn Files,
    functions: &'c dyn Functions,
    documents: &'d Documents,
    /// The Compositions that are being built, each for the one before.
    building: Vec<String>,
}

/// What transformers may use.
pub(crate) struct Context<'c, 'd> {
    /// The transformer that runs.
    pub(crate) transformer: &'c Transformer,
    /// To look for files with, by paths that the transformer [resolves](Transformer::resolve).
    pub(crate) files: &'c dyn Files,
    /// Runs what is not built in.
    pub(crate) functions: &'c dyn Functions,
    /// Where documents that resources are read from are kept.
    pub(crate) documents: &'d Documents,
    /// What there is to say; with an error, the chain ends behind this transformer.
    pub(crate) diagnostics: &'c mut Diagnostics,
    /// The Compositions that are built around this one.
    pub(crate) building: &'c [String],
}

impl Context<'_, '_> {
    /// The bytes of the file that a field names, in or below the directory it is written in.
    pub(crate) fn read(&self, field: &FieldPath, path: &str) -> Result<Vec<u8>> {
        let root = self.transformer.directory_of(field);
        self.files.read(&join(root, path), root)
    }

    /// The text of the file that a field names.
    pub(crate) fn source(&self, field: &FieldPath, path: &str) -> Result<Arc<Source>> {
        let root = self.transformer.directory_of(field);
        self.files.source(&join(root, path), root)
    }

    /// The configuration as a type; nothing if it is none, which is reported.
    pub(crate) fn config<T: DeserializeOwned>(&mut self) -> Option<T> {
        let config = self.transformer.read();
        self.diagnostics.take(config)
    }

    /// Warns of what is wrong with a field of the configuration, though the transformer takes it.
    pub(crate) fn warn_of(&mut self, field: &FieldPath, problem: Diagnostic) {
        let place = self.transformer.error(field, &problem.message);
        self.diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            hints: problem.hints,
            ..place
        });
    }

    /// Reports what went wrong with a resource.
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
    /// The resources that the Composition in a file makes of nothing; `field` names it.
    pub(crate) fn build(&mut self, file: &str, field: &FieldPath) -> Option<Vec<Resource<'d>>> {
        let mut building = self.building.to_vec();
        if building.is_empty() {
            building.push(self.transformer.file().to_owned());
        }
        let mut found = Diagnostics::new();
        let chain = check_chain(&building, file, "build");
        let chain = chain.and_then(|()| self.documents.count_build());
        if let Err(mut problem) = chain {
            problem.place = self.transformer.place_of(field);
            self.diagnostics.push(*problem);
            return None;
        }
        let transformers = consolidate(self.files, file, &mut found);
        let made = self.pass(&transformers, Vec::new(), file, &mut found);
        let has_failed = found.has_errors();
        self.diagnostics.append(found);
        (!has_failed).then_some(made)
    }

    /// Has resources pass through the transformers of another Composition, called `name`.
    fn pass(
        &self,
        transformers: &[Transformer],
        resources: Vec<Resource<'d>>,
        name: &str,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Resource<'d>> {
        if diagnostics.has_errors() {
            return resources;
        }
        let mut building = self.building.to_vec();
        building.push(name.to_owned());
        let around = Surroundings {
            files: self.files,
            functions: self.functions,
            documents: self.documents,
            building,
        };
        around.run(transformers, resources, diagnostics).0
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
    around.run(transformers, resources, diagnostics)
}

impl<'d> Surroundings<'_, 'd> {
    fn run(
        &self,
        transformers: &[Transformer],
        mut resources: Vec<Resource<'d>>,
        diagnostics: &mut Diagnostics,
    ) -> (Vec<Resource<'d>>, Vec<Stat>) {
        let mut stats = Vec::new();
        for transformer in transformers {
            diagnostics.take(self.check(transformer));
        }
        if diagnostics.has_errors() {
            return (resources, stats);
        }
        for transformer in transformers {
            let start = now();
            let before = resources.len();
            self.one(transformer, &mut resources, diagnostics);
            stats.push(Stat {
                name: transformer.id.to_string(),
                time: start.elapsed(),
                count: resources.len(),
            });
            if diagnostics.has_errors() {
                break;
            }
            if resources.is_empty() && before > 0 {
                let all = match before {
                    1 => "the only resource there was".to_owned(),
                    _ => format!("all {before} resources there were"),
                };
                let mut warning =
                    Diagnostic::warning(format!("{}: it drops {all}", transformer.id));
                warning.place = transformer.place();
                diagnostics.push(warning);
            }
        }
        (resources, stats)
    }

    /// Whether there will be something to run a transformer.
    fn check(&self, transformer: &Transformer) -> Result<()> {
        match Provider::of(transformer)? {
            Provider::Starlark => Err(no_starlark(transformer).into()),
            Provider::Container(_) | Provider::Exec(_) => self.functions.check(transformer),
            Provider::Builtin | Provider::Composition | Provider::Own => Ok(()),
        }
    }

    fn one(
        &self,
        transformer: &Transformer,
        resources: &mut Vec<Resource<'d>>,
        diagnostics: &mut Diagnostics,
    ) {
        let mut context = Context {
            transformer,
            files: self.files,
            functions: self.functions,
            documents: self.documents,
            diagnostics,
            building: &self.building,
        };
        match Provider::of(transformer) {
            Ok(Provider::Builtin) => {
                if let Some(builtin) = builtin::find(&transformer.id) {
                    let before = conflicts::renames(resources);
                    (builtin.apply)(resources, &mut context);
                    if conflicts::renames(resources) != before {
                        conflicts::refuse(resources, &mut context);
                    }
                }
            }
            Ok(Provider::Composition) => nested(resources, &mut context),
            Ok(Provider::Starlark) => diagnostics.push(no_starlark(transformer)),
            // It gives objects no other names.
            Ok(Provider::Own) => {
                if !adds(resources, &mut context) {
                    call(resources, None, &mut context);
                }
            }
            Ok(Provider::Container(_) | Provider::Exec(_)) => {
                call(resources, Some(ID), &mut context);
            }
            Err(problem) => diagnostics.push(*problem),
        }
    }
}

/// The one well-kept crate that runs Starlark would be most of the program.
fn no_starlark(transformer: &Transformer) -> Diagnostic {
    transformer
        .error(&FieldPath::root(), "this program runs no Starlark")
        .hint("run the script with a program that does: `runtime.exec.path`, or an image under `runtime.container.image`")
        .hint("or let a Template, or the built-in transformers, do what it does")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time is for statistics, no output depends on it"
)]
fn now() -> Instant {
    Instant::now()
}

/// Passes the resources through the transformers of a Composition that is itself a transformer.
fn nested<'d>(resources: &mut Vec<Resource<'d>>, context: &mut Context<'_, 'd>) {
    let transformer = context.transformer;
    let name = format!("{} in {}", transformer.id, transformer.file());
    if let Err(mut problem) = check_chain(context.building, &name, "build") {
        problem.place = transformer.place();
        context.diagnostics.push(*problem);
        return;
    }
    let mut found = Diagnostics::new();
    let list = if let Some((document, node)) = transformer.written_as_is() {
        transformers_of(document, Some(node), context, &mut found)
    } else {
        // Parts were overridden: what it is now stands in no file.
        let text = found.take(transformer.text(Position::Document));
        let source = text.map(|text| Source::new(name.clone(), text));
        let document = source.and_then(|source| found.take(Document::parse(&source)));
        let document = document.map(Arc::new);
        document.map_or_else(Vec::new, |document| {
            let root = document.roots().next().map(Cursor::id);
            transformers_of(&document, root, context, &mut found)
        })
    };
    *resources = context.pass(&list, std::mem::take(resources), &name, &mut found);
    context.diagnostics.append(found);
}

/// The transformers of the Composition under a node.
fn transformers_of(
    document: &Arc<Document>,
    node: Option<NodeId>,
    context: &Context<'_, '_>,
    found: &mut Diagnostics,
) -> Vec<Transformer> {
    let directory = &context.transformer.directory;
    node.map_or_else(Vec::new, |node| {
        consolidate_node(context.files, document, node, directory, found)
    })
}

/// Runs one of our own functions on the resources in short, which does if all that it does is to
/// add others behind them. Tells whether it did; if not, nothing has happened.
fn adds<'d>(resources: &mut Vec<Resource<'d>>, context: &mut Context<'_, 'd>) -> bool {
    if resources.is_empty() {
        return false;
    }
    let mut diagnostics = Diagnostics::new();
    let mut inner = Context {
        diagnostics: &mut diagnostics,
        ..*context
    };
    let list = list_for(heads::texts(resources), &mut inner);
    let kept = list.as_ref().map_or(0, |list| list.items);
    let Some((input, output)) = run_function(list, &mut inner) else {
        return false;
    };
    let before = input.text().get(..kept);
    let after = output.document().source().text().get(..kept);
    if before.is_none() || before != after {
        return false;
    }
    let items = output.get("items");
    let new = items.iter().flat_map(|items| items.children());
    let new = new.skip(resources.len());
    let new: Vec<Resource<'d>> = new
        .filter_map(|item| {
            Resource::read_with(item, Words::Bools, inner.documents, inner.diagnostics)
        })
        .collect();
    if diagnostics.has_errors() {
        return false;
    }
    context.diagnostics.append(diagnostics);
    let new = new.into_iter().map(|mut one| {
        one.take_needs_hash();
        one
    });
    resources.extend(new);
    true
}

/// Passes the resources through a function, as a ResourceList; numbered in the annotation `id`.
fn call<'d>(
    resources: &mut Vec<Resource<'d>>,
    id: Option<&'static str>,
    context: &mut Context<'_, 'd>,
) {
    let texts = match id {
        Some(id) => texts(&follow::numbered(resources, id), ITEM),
        None => texts(resources, ITEM),
    };
    let list = list_for(texts, context);
    let Some((_, root)) = run_function(list, context) else {
        return;
    };
    let items = root.get("items");
    let items = items.iter().flat_map(|items| items.children());
    let mut back: Vec<Resource<'d>> = Vec::with_capacity(resources.len());
    // Our own functions write what kubectl reads, others what kustomize reads.
    let words = id.map_or(Words::Bools, |_| Words::Texts);
    for item in items {
        let resource = Resource::read_with(item, words, context.documents, context.diagnostics);
        let lack = resource.as_ref().and_then(|one| one.incomplete(item));
        if let Some((problem, _)) = lack.filter(|_| id.is_some()) {
            let problem = format!("what it gives back is wrong: {problem}");
            let mut wrong = context.transformer.error(&FieldPath::root(), problem);
            wrong.object = resource.as_ref().map(Resource::reference);
            context.diagnostics.push(wrong);
        }
        back.extend(resource);
    }
    warn_of_doubles(&back, context);
    let pairs = follow::pairs(resources, &mut back, id);
    for (object, pair) in back.iter_mut().zip(pairs) {
        if let Some(before) = pair.and_then(|pair| resources.get(pair)) {
            object.succeed(before);
        } else {
            object.take_needs_hash();
        }
    }
    *resources = back;
}

/// Of two objects of one name, a cluster keeps the second.
fn warn_of_doubles(back: &[Resource<'_>], context: &mut Context<'_, '_>) {
    let mut known = BTreeSet::new();
    for identity in back.iter().filter_map(Resource::identity) {
        if known.contains(&identity) {
            let problem = format!("it gives back `{identity}` more than once");
            let mut warning = context.transformer.error(&FieldPath::root(), problem);
            warning.severity = Severity::Warning;
            context.diagnostics.push(warning);
        }
        known.insert(identity);
    }
}

/// What the function made of a ResourceList, beside the list.
fn run_function<'d>(
    list: Option<List>,
    context: &mut Context<'_, 'd>,
) -> Option<(Arc<Source>, Cursor<'d>)> {
    let transformer = context.transformer;
    let list = list?.text;
    let source = Source::new(format!("input of {}", transformer.id), list);
    let output = context.functions.run(transformer, &source);
    let said = transformer.placed(&output.diagnostics, &source);
    context.diagnostics.append(said);
    let list = output.list.filter(|_| !context.diagnostics.has_errors())?;
    let name = format!("output of {}", transformer.id);
    let read = Document::parse(&Source::new(name, list));
    let document = context.diagnostics.take(read)?;
    let document = context.documents.keep(document);
    let root = document.roots().next().filter(|root| is_list(*root));
    if root.is_none() {
        let wrong = transformer.error(
            &FieldPath::root(),
            "the function wrote no ResourceList to its standard output",
        );
        context.diagnostics.push(wrong);
    }
    Some((source, root?))
}

fn is_list(root: Cursor<'_>) -> bool {
    root.text_at(["kind"]).as_deref() == Some("ResourceList")
}

/// The ResourceList that a function reads.
struct List {
    text: String,
    /// Where its items end.
    items: usize,
}

/// The ResourceList of these items.
fn list_for(texts: Vec<Result<String>>, context: &mut Context<'_, '_>) -> Option<List> {
    let mut list = String::from("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n");
    list.push_str(if texts.is_empty() {
        "items: []\n"
    } else {
        "items:\n"
    });
    let mut is_whole = true;
    for text in texts {
        match context.diagnostics.take(text) {
            Some(text) => list.push_str(&text),
            None => is_whole = false,
        }
    }
    let items = list.len();
    // The text of an item, without its dash, is that of an entry.
    let config = context.transformer.function_config();
    let config = context.diagnostics.take(config)?;
    let config = config.strip_prefix("- ").unwrap_or(&config);
    list.push_str("functionConfig:\n  ");
    list.push_str(config);
    is_whole.then_some(List { text: list, items })
}
