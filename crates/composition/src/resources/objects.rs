//! Reads the objects in a stream of documents.

use std::sync::Arc;

use crate::resources::apart;
use crate::resources::resource::Resource;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Data, Document, Scalar};

/// The objects in a stream, with the items of lists. `named` is where the stream is named.
pub fn objects<'d>(
    document: &'d Arc<Document>,
    named: Option<&Place>,
    diagnostics: &mut Diagnostics,
) -> Vec<Resource<'d>> {
    let mut resources = Vec::new();
    for (root, apart) in document.roots().zip(apart::of_roots(document)) {
        let first = resources.len();
        object(document, root, named, &mut resources, diagnostics);
        match (resources.get_mut(first..), apart) {
            (Some([only]), apart) => only.apart = apart.map(Box::new),
            (Some([first, .., last]), Some(apart)) => {
                let [above, below] = apart.split();
                first.apart = above.map(Box::new);
                last.apart = below.map(Box::new);
            }
            _ => {}
        }
    }
    resources
}

/// Adds an object, or the items of a List.
fn object<'d>(
    document: &'d Arc<Document>,
    node: Cursor<'d>,
    named: Option<&Place>,
    resources: &mut Vec<Resource<'d>>,
    diagnostics: &mut Diagnostics,
) {
    let kind = node.text_at(["kind"]).unwrap_or_default();
    let items = node.get("items").filter(|items| items.is_sequence());
    if let Some(items) = items.filter(|_| kind.ends_with("List")) {
        for item in items.children() {
            object(document, item, named, resources, diagnostics);
        }
        return;
    }
    let Some(mut resource) = Resource::read(document, node.id(), diagnostics) else {
        return;
    };
    quote_annotations(&mut resource, node);
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
/// accepts nothing else.
fn quote_annotations(resource: &mut Resource<'_>, node: Cursor<'_>) {
    let annotations = node.at(["metadata", "annotations"]);
    let mut entries = annotations.into_iter().flat_map(Cursor::children);
    if entries.all(|entry| entry.literal().is_some()) {
        return;
    }
    let document = resource.document().cloned();
    let metadata = resource.value_mut().get_mut("metadata");
    let annotations = metadata.and_then(|metadata| metadata.get_mut("annotations"));
    let Some(Data::Mapping(entries)) = annotations.map(|annotations| &mut annotations.data) else {
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
