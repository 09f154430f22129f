//! Reads the objects in a stream of documents.

use std::sync::Arc;

use crate::resources::end_block::{end_block, ends_in_block};
use crate::resources::resource::Resource;
use crate::resources::stream_comments;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Data, Document, Scalar};

/// The objects in a stream, with the items of lists. `named` is where the stream is named. As in
/// kustomize, items come after all other documents, unless the only document is a list.
pub fn objects<'d>(
    document: &'d Arc<Document>,
    named: Option<&Place>,
    diagnostics: &mut Diagnostics,
) -> Vec<Resource<'d>> {
    let mut resources = Vec::new();
    let mut items = Vec::new();
    for (root, apart) in document.roots().zip(stream_comments::of_roots(document)) {
        if root.is_null() {
            continue;
        }
        let all = match items_of(root) {
            Some(_) => &mut items,
            None => &mut resources,
        };
        let first = all.len();
        object(document, root, named, all, diagnostics);
        match (all.get_mut(first..), apart) {
            (Some([only]), apart) => only.apart = apart.map(Box::new),
            (Some([first, .., last]), Some(apart)) => {
                let [above, below] = apart.split();
                first.apart = above.map(Box::new);
                last.apart = below.map(Box::new);
            }
            _ => {}
        }
    }
    resources.append(&mut items);
    resources
}

/// The items of a list of objects; none if it is an object itself.
fn items_of(node: Cursor<'_>) -> Option<Cursor<'_>> {
    let items = node.get("items")?;
    let items = Some(items).filter(|items| items.is_sequence() || items.is_null())?;
    let kind = node.text_at(["kind"]).unwrap_or_default();
    kind.ends_with("List").then_some(items)
}

/// Adds an object, or the items of a List.
fn object<'d>(
    document: &'d Arc<Document>,
    node: Cursor<'d>,
    named: Option<&Place>,
    resources: &mut Vec<Resource<'d>>,
    diagnostics: &mut Diagnostics,
) {
    if let Some(items) = items_of(node) {
        for item in items.children() {
            object(document, item, named, resources, diagnostics);
        }
        return;
    }
    let Some(mut resource) = Resource::read(document, node.id(), diagnostics) else {
        return;
    };
    quote_annotations(&mut resource, node);
    if ends_in_block(node) {
        end_block(resource.value_mut(), node);
    }
    if let Some((problem, place)) = resource.incomplete(node) {
        let mut wrong = Diagnostic::error(problem).at(place);
        if let Some(place) = named {
            wrong = wrong.related(place.clone(), "named here");
        }
        diagnostics.push(wrong);
    }
    resources.push(resource);
}

/// Turns numbers and bools among annotations into strings with the same spelling: Kubernetes
/// accepts nothing else. Drops an empty mapping of them, as kustomize.
fn quote_annotations(resource: &mut Resource<'_>, node: Cursor<'_>) {
    let Some(annotations) = node.at(["metadata", "annotations"]) else {
        return;
    };
    let mut entries = annotations.children().peekable();
    if annotations.is_null() || (annotations.is_mapping() && entries.peek().is_none()) {
        if let Some(metadata) = resource.view_mut().get_mut("metadata") {
            metadata.value_mut().remove("annotations");
        }
        return;
    }
    if entries.all(|entry| entry.literal().is_some()) {
        return;
    }
    let document = resource.document().cloned();
    let metadata = resource.view_mut().get_mut("metadata");
    let annotations = metadata.and_then(|metadata| metadata.get_mut("annotations"));
    let annotations = annotations.map(|annotations| &mut annotations.value_mut().data);
    let Some(Data::Mapping(entries)) = annotations else {
        return;
    };
    for (_, value) in entries {
        if let Data::Scalar(Scalar::Bool(_) | Scalar::Number(_)) = value.data
            && let Some((document, origin)) = document.as_ref().zip(value.origin)
            && let Ok(Some(text)) = document.cursor(origin).text()
        {
            value.set(Data::Scalar(Scalar::String(text.into_owned().into())));
        }
    }
}
