//! Finds the objects of some documents: those in lists, too.

use std::rc::Rc;

use crate::export::draft::Draft;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, DuplicateKeys, SharedNode, Value};

/// How deep lists may be nested.
const MAX_LISTS: usize = 16;

/// How many bytes of text stay open after the first look at the objects. What is beyond is opened
/// again, because tables, and the values of objects in braces, need memory.
pub(super) const MAX_OPEN: usize = 4 << 20;

/// An object that was found, and may lack its types; or why a list has none.
pub(super) type Found = Result<Object, Diagnostic>;

/// An object of the input.
pub(super) struct Object {
    pub(super) node: SharedNode,
    /// Whether the node stays open.
    pub(super) is_open: bool,
    types: Option<Rc<Types>>,
}

/// The `apiVersion` and `kind` of the items of a list that do not name them.
pub(super) struct Types {
    api_version: String,
    pub(super) kind: String,
}

impl Object {
    /// The object, to be changed, if it can be read. Errors go to `diagnostics`.
    pub(super) fn draft<'d>(
        &self,
        node: Cursor<'d>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Draft<'d>> {
        let types = self.types.as_ref();
        let types = types.filter(|_| node.get("kind").is_none());
        if types.is_none()
            && let Some(draft) = Draft::of(node)
        {
            return Some(draft);
        }
        let mut found = Diagnostics::new();
        let value = node.value(DuplicateKeys::Refuse, &mut found);
        // The lines around it may hold a secret.
        found.conceal(&[node.place()]);
        diagnostics.append(found);
        let mut value = value?;
        if let Some(types) = types {
            value.insert(
                "apiVersion".into(),
                Value::string(types.api_version.clone()),
            );
            value.insert("kind".into(), Value::string(types.kind.clone()));
        }
        Some(Draft::Value(value))
    }
}

/// Receives the node of an object, which may lack its types.
type Look<'l> = dyn FnMut(Cursor<'_>, Option<&Types>) + 'l;

/// All objects, in order. `look` sees each of them; `max_open` bytes of them stay open.
pub(super) fn objects(
    roots: impl Iterator<Item = SharedNode>,
    max_open: usize,
    look: &mut Look<'_>,
) -> Vec<Found> {
    let mut gatherer = Gatherer {
        max_open,
        found: Vec::new(),
        look,
    };
    for root in roots {
        gatherer.below(root, None, 0);
    }
    gatherer.found
}

struct Gatherer<'g, 'l> {
    max_open: usize,
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
            let length = cursor.raw().len();
            let stays_open = length <= self.max_open;
            self.max_open = self.max_open.saturating_sub(length);
            self.found.push(Ok(Object {
                node: if stays_open { opened } else { node },
                is_open: stays_open,
                types: types.cloned(),
            }));
            return;
        };
        if depth >= MAX_LISTS {
            let problem = format!("lists are nested deeper than {MAX_LISTS}");
            let error = Diagnostic::error(problem).at(cursor.key_place());
            self.found.push(Err(error.conceal(true)));
            return;
        }
        let types = (!kind.is_empty() && kind != "Resource").then(|| {
            Rc::new(Types {
                api_version: text("apiVersion"),
                kind: kind.to_owned(),
            })
        });
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
    fn objects_that_do_not_stay_open_read_the_same() {
        let text = "apiVersion: v1\nkind: ServiceList\nitems:\n- {metadata: {name: a}}\n- metadata:\n    name: b\n";
        let document = Document::open(&Source::new("list.yaml", text), MANY_OBJECTS);
        let document = Arc::new(document.unwrap());
        for max_open in [0, 30, 1_000] {
            let mut looks = 0;
            let roots = SharedNode::roots(&document);
            let found = objects(roots, max_open, &mut |_, _| looks += 1);
            let read = found.iter().map(|object| {
                let object = object.as_ref().unwrap();
                let node = object.node.open();
                let draft = object.draft(node.cursor(), &mut Diagnostics::new());
                draft.unwrap().view().to_json()
            });
            let expected = ["a", "b"].map(|name| {
                format!(r#"{{"metadata":{{"name":"{name}"}},"apiVersion":"v1","kind":"Service"}}"#)
            });
            assert_eq!(read.collect::<Vec<_>>(), expected);
            assert_eq!(looks, 2);
        }
    }
}
