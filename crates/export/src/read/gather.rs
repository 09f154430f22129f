//! Finds the objects of some documents: those in lists, too.

use std::rc::Rc;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, DuplicateKeys, SharedNode, Value};

/// How deep lists may be nested.
const MAX_LISTS: usize = 16;

/// An object that was found, and may lack its types; or why a list has none.
pub(crate) type Found = Result<Object, Diagnostic>;

/// An object of the input.
pub(crate) struct Object {
    pub(crate) node: SharedNode,
    types: Option<Rc<Types>>,
    /// Whether it is not an item of a list.
    pub(crate) is_document: bool,
}

/// The `apiVersion` and `kind` of the items of a list that do not name them.
pub(crate) struct Types {
    api_version: String,
    pub(crate) kind: String,
}

impl Object {
    /// The value of the object, opened as this node, if it can be read. Errors go to `diagnostics`.
    pub(crate) fn value<'d>(
        &self,
        node: Cursor<'d>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value<'d>> {
        let mut found = Diagnostics::new();
        let value = node.value(DuplicateKeys::Refuse, &mut found);
        // The lines around it may hold a secret.
        found.conceal(&[node.place()]);
        diagnostics.append(found);
        let mut value = value?;
        let types = self.types.as_ref();
        if let Some(types) = types.filter(|_| node.get("kind").is_none()) {
            value.insert("apiVersion".into(), Value::string(types.api_version.clone()));
            value.insert("kind".into(), Value::string(types.kind.clone()));
        }
        Some(value)
    }
}

/// Receives the node of an object, which may lack its types.
type Look<'l> = dyn FnMut(Cursor<'_>, Option<&Types>) + 'l;

/// All objects, in order. `look` sees each of them.
pub(crate) fn objects(roots: impl Iterator<Item = SharedNode>, look: &mut Look<'_>) -> Vec<Found> {
    let mut gatherer = Gatherer { found: Vec::new(), look };
    for root in roots {
        gatherer.below(root, None, 0);
    }
    gatherer.found
}

struct Gatherer<'g, 'l> {
    found: Vec<Found>,
    look: &'g mut Look<'l>,
}

impl Gatherer<'_, '_> {
    fn below(&mut self, node: SharedNode, types: Option<&Rc<Types>>, depth: usize) {
        let opened = node.open();
        let cursor = opened.cursor();
        if cursor.is_null() {
            return;
        }
        let text = |key| cursor.text_at([key]).unwrap_or_default().into_owned();
        let items = cursor.get("items").filter(|items| items.is_sequence());
        let kind = text("kind");
        let Some((items, kind)) = items.zip(kind.strip_suffix("List")) else {
            (self.look)(cursor, types.map(Rc::as_ref));
            self.found.push(Ok(Object { node, types: types.cloned(), is_document: depth == 0 }));
            return;
        };
        if depth >= MAX_LISTS {
            let problem = format!("lists are nested deeper than {MAX_LISTS}");
            let error = Diagnostic::error(problem).at(cursor.key_place());
            self.found.push(Err(error.conceal(true)));
            return;
        }
        let types = (!kind.is_empty() && kind != "Resource")
            .then(|| Rc::new(Types { api_version: text("apiVersion"), kind: kind.to_owned() }));
        for item in items.children() {
            self.below(opened.with(item.id()), types.as_ref(), depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::objects;
    use krm_core::long_lists::MANY_OBJECTS;
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Document, SharedNode};
    use std::sync::Arc;

    #[test]
    fn items_of_a_list_get_its_types() {
        let text = "apiVersion: v1\nkind: ServiceList\nitems:\n- {metadata: {name: a}}\n- metadata:\n    name: b\n";
        let document = Document::open(&Source::new("list.yaml", text), MANY_OBJECTS);
        let document = Arc::new(document.unwrap());
        let mut looks = 0;
        let found = objects(SharedNode::roots(&document), &mut |_, _| looks += 1);
        let read = found.iter().map(|object| {
            let object = object.as_ref().unwrap();
            let node = object.node.open();
            let value = object.value(node.cursor(), &mut Diagnostics::new());
            value.unwrap().to_json()
        });
        let expected = ["a", "b"].map(|name| {
            format!(r#"{{"metadata":{{"name":"{name}"}},"apiVersion":"v1","kind":"Service"}}"#)
        });
        assert_eq!(read.collect::<Vec<_>>(), expected);
        assert_eq!(looks, 2);
    }
}
