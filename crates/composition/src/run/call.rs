//! Passes resources through functions that read and write a ResourceList.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::program::Program;
use crate::engine::step::Context;
use crate::engine::transformer::Transformer;
use crate::resources::follow;
use crate::resources::print::texts;
use crate::resources::resource::Resource;
use krm_yaml::diagnostic::{Diagnostic, Result, Severity};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, FieldPath, Position};

/// The annotation with the number of an item, as with kustomize and kpt.
const ID: &str = "internal.config.kubernetes.io/id";
/// The position of resources in the input of a function.
const ITEM: Position = Position::Item { column: 0 };

/// Passes the resources through a program, as a ResourceList. They have their number in an
/// annotation while it runs.
pub(crate) fn call<'d>(
    program: &Program,
    resources: &mut Vec<Resource<'d>>,
    context: &mut Context<'_>,
) {
    let texts = texts(&follow::numbered(resources, ID), ITEM);
    let list = list_for(texts, context);
    let Some(output) = run_program(program, list, context) else {
        return;
    };
    let items = output.roots().next().and_then(|root| root.get("items"));
    let items = items.iter().flat_map(|items| items.children());
    let mut back: Vec<Resource<'d>> = Vec::with_capacity(resources.len());
    let mut problems = Vec::with_capacity(resources.len());
    for item in items {
        let resource = Resource::read(&output, item.id(), context.diagnostics);
        let Some(resource) = resource.map(Resource::into_owned) else {
            continue;
        };
        problems.push(resource.incomplete(item));
        back.push(resource);
    }
    warn_of_doubles(&back, context);
    let pairs = follow::pairs(resources, &mut back, ID);
    for (object, pair) in back.iter_mut().zip(pairs) {
        if let Some(before) = pair.and_then(|pair| resources.get(pair)) {
            object.inherit_from(before);
        } else {
            object.take_needs_hash();
        }
    }
    for (object, problem) in back.iter().zip(problems) {
        if let Some((problem, _)) = problem {
            let wrong = invalid(context.transformer, object, &problem);
            context.diagnostics.push(wrong);
        }
    }
    *resources = back;
}

/// The error that a transformer has made an object, or what was one, invalid.
pub(crate) fn invalid(
    transformer: &Transformer,
    object: &Resource<'_>,
    problem: &str,
) -> Diagnostic {
    let mut reference = object.reference();
    let problem = match object.former() {
        Some(former) if !former.name.is_empty() => {
            let problem = format!("it makes `{former}` invalid: {problem}");
            reference.kind = former.kind;
            reference.namespace = former.namespace;
            reference.name = former.name;
            problem
        }
        _ => format!("its output is not valid: {problem}"),
    };
    let mut wrong = transformer.error(&FieldPath::root(), problem);
    wrong.object = Some(reference);
    wrong
}

/// Warns of duplicate objects: a cluster keeps the second one.
fn warn_of_doubles(back: &[Resource<'_>], context: &mut Context<'_>) {
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

/// The output of the program.
fn run_program(
    program: &Program,
    list: Option<String>,
    context: &mut Context<'_>,
) -> Option<Arc<Document>> {
    let transformer = context.transformer;
    let source = Source::new(format!("input of {}", transformer.id), list?);
    let output = context.functions.run(transformer, program, &source);
    let said = transformer.placed(output.diagnostics, |other| Arc::ptr_eq(other, &source));
    context.diagnostics.append(said);
    let list = output.list.filter(|_| !context.diagnostics.has_errors())?;
    let read = Document::parse(&Source::output_of(&transformer.id, list));
    let document = context.diagnostics.take(read)?;
    if !document.roots().next().is_some_and(is_list) {
        let wrong =
            transformer.error(&FieldPath::root(), "the function did not print a ResourceList");
        context.diagnostics.push(wrong);
        return None;
    }
    Some(Arc::new(document))
}

fn is_list(root: Cursor<'_>) -> bool {
    root.text_at(["kind"]).as_deref() == Some("ResourceList")
}

/// The ResourceList of these items.
fn list_for(texts: Vec<Result<String>>, context: &mut Context<'_>) -> Option<String> {
    let mut list = String::from("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n");
    list.push_str(if texts.is_empty() { "items: []\n" } else { "items:\n" });
    let mut is_whole = true;
    for text in texts {
        match context.diagnostics.take(text) {
            Some(text) => list.push_str(&text),
            None => is_whole = false,
        }
    }
    // Without its dash, the text of an item is that of an entry.
    let config = context.diagnostics.take(context.transformer.text(ITEM))?;
    let config = config.strip_prefix("- ").unwrap_or(&config);
    list.push_str("functionConfig:\n  ");
    list.push_str(config);
    is_whole.then_some(list)
}
