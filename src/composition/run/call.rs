//! Passes resources through functions that read and write a ResourceList.

use std::collections::BTreeSet;

use crate::composition::engine::context::Context;
use crate::composition::engine::program::Program;
use crate::composition::engine::transformer::Transformer;
use crate::composition::resources::follow;
use crate::composition::resources::print::texts;
use crate::composition::resources::resource::Resource;
use crate::composition::run::heads;
use krm_yaml::diagnostic::{Diagnostics, Result, Severity};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, FieldPath, Position, Words};

/// The annotation with the number of an item, as with kustomize and kpt.
const ID: &str = "internal.config.kubernetes.io/id";
/// The position of resources in the input of a function.
const ITEM: Position = Position::Item { column: 0 };

/// Runs one of our own functions on shortened resources, which works if the function only adds
/// objects. Returns whether it did; if not, nothing has changed.
pub(crate) fn adds<'d>(resources: &mut Vec<Resource<'d>>, context: &mut Context<'_, 'd>) -> bool {
    if resources.is_empty() {
        return false;
    }
    let mut diagnostics = Diagnostics::new();
    let mut inner = Context {
        diagnostics: &mut diagnostics,
        ..*context
    };
    let Some(new) = additions(heads::texts(resources), &mut inner) else {
        return false;
    };
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

/// The resources that one of our own functions adds to these; none if it does anything else.
fn additions<'d>(
    texts: Vec<Result<String>>,
    context: &mut Context<'_, 'd>,
) -> Option<Vec<Resource<'d>>> {
    let transformer = context.transformer;
    let list = list_for(Function::Own, texts, context)?;
    let source = Source::new(format!("input of {}", transformer.id), list);
    let added = context.functions.additions(transformer, &source)?;
    let said = transformer.placed(&added.diagnostics, &source);
    context.diagnostics.append(said);
    let name = format!("output of {}", transformer.id);
    let read = Document::parse(&Source::new(name, added.texts.concat()));
    let document = context.diagnostics.take(read)?;
    let document = context.documents.keep(document);
    let items = document.roots().flat_map(Cursor::children);
    let (documents, diagnostics) = (context.documents, &mut *context.diagnostics);
    let new =
        items.filter_map(|item| Resource::read_with(item, Words::Bools, documents, diagnostics));
    Some(new.collect())
}

/// A function that reads and writes a ResourceList.
#[derive(Clone, Copy)]
pub(crate) enum Function<'p> {
    /// One of our own.
    Own,
    /// Another program. Resources have their number in an annotation while it runs.
    Program(&'p Program),
}

impl Function<'_> {
    const fn id(self) -> Option<&'static str> {
        match self {
            Self::Own => None,
            Self::Program(_) => Some(ID),
        }
    }

    /// How to read words such as `yes` in its output: our own functions print for kubectl, others
    /// for kustomize.
    const fn words(self) -> Words {
        match self {
            Self::Own => Words::Bools,
            Self::Program(_) => Words::Texts,
        }
    }
}

/// Passes the resources through a function, as a ResourceList.
pub(crate) fn call<'d>(
    function: Function<'_>,
    resources: &mut Vec<Resource<'d>>,
    context: &mut Context<'_, 'd>,
) {
    let id = function.id();
    let texts = match id {
        Some(id) => texts(&follow::numbered(resources, id), ITEM),
        None => texts(resources, ITEM),
    };
    let list = list_for(function, texts, context);
    let Some(root) = run_function(function, list, context) else {
        return;
    };
    let items = root.get("items");
    let items = items.iter().flat_map(|items| items.children());
    let mut back: Vec<Resource<'d>> = Vec::with_capacity(resources.len());
    let words = function.words();
    for item in items {
        let resource = Resource::read_with(item, words, context.documents, context.diagnostics);
        let lack = resource.as_ref().and_then(|one| one.incomplete(item));
        if let Some((problem, _)) = lack.filter(|_| id.is_some()) {
            let problem = format!("its output is not valid: {problem}");
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

/// Warns of duplicate objects: a cluster keeps the second one.
fn warn_of_doubles(back: &[Resource<'_>], context: &mut Context<'_, '_>) {
    let mut known = BTreeSet::new();
    for identity in back.iter().filter_map(Resource::identity) {
        if known.contains(&identity) {
            let problem = format!("it returns `{identity}` more than once");
            let mut warning = context.transformer.error(&FieldPath::root(), problem);
            warning.severity = Severity::Warning;
            context.diagnostics.push(warning);
        }
        known.insert(identity);
    }
}

/// The output of the function.
fn run_function<'d>(
    function: Function<'_>,
    list: Option<String>,
    context: &mut Context<'_, 'd>,
) -> Option<Cursor<'d>> {
    let transformer = context.transformer;
    let source = Source::new(format!("input of {}", transformer.id), list?);
    let output = match function {
        Function::Own => context.functions.run_own(transformer, &source),
        Function::Program(program) => context.functions.run(transformer, program, &source),
    };
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
            "the function did not print a ResourceList",
        );
        context.diagnostics.push(wrong);
    }
    root
}

fn is_list(root: Cursor<'_>) -> bool {
    root.text_at(["kind"]).as_deref() == Some("ResourceList")
}

/// The ResourceList of these items.
fn list_for(
    function: Function<'_>,
    texts: Vec<Result<String>>,
    context: &mut Context<'_, '_>,
) -> Option<String> {
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
    // Without its dash, the text of an item is that of an entry.
    let config = function_config(function, context.transformer);
    let config = context.diagnostics.take(config)?;
    let config = config.strip_prefix("- ").unwrap_or(&config);
    list.push_str("functionConfig:\n  ");
    list.push_str(config);
    is_whole.then_some(list)
}

/// The functionConfig, as an item of a list at the left margin. Our own kinds do not get their
/// runtime.
///
/// # Errors
/// As [`krm_yaml::render`].
fn function_config(function: Function<'_>, transformer: &Transformer) -> Result<String> {
    let position = Position::Item { column: 0 };
    if let Function::Program(_) = function {
        return transformer.text(position);
    }
    let mut plain = transformer.clone();
    plain.config.remove("provider");
    plain.config.remove("runtime");
    plain.text(position)
}
