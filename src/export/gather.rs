//! Finds the objects of some documents: those in lists, too.

use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, DuplicateKeys, Value};

/// How deep lists may be nested.
const MAX_LISTS: usize = 16;

/// An object as it was read.
pub(super) struct Read<'d> {
    pub(super) node: Cursor<'d>,
    pub(super) value: Value<'d>,
}

/// The `apiVersion` and `kind` of the items of a list that do not name them.
pub(super) struct Types {
    api_version: String,
    pub(super) kind: String,
}

/// Receives the node of an object, which may lack its types.
type Visit<'v> = dyn FnMut(Cursor<'_>, Option<&Types>, &mut Diagnostics) + 'v;

/// Calls `visit` with each object. Errors of objects that cannot be read go to `diagnostics`.
pub(super) fn each<'d>(
    roots: impl Iterator<Item = Cursor<'d>>,
    diagnostics: &mut Diagnostics,
    visit: &mut dyn FnMut(Read<'_>, &mut Diagnostics),
) {
    each_node(roots, diagnostics, &mut |node, types, diagnostics| {
        let mut found = Diagnostics::new();
        let value = node.value(DuplicateKeys::Refuse, &mut found);
        // The lines around it may hold a secret.
        found.conceal(&[node.place()]);
        diagnostics.append(found);
        let Some(mut value) = value else { return };
        if let Some(types) = types.filter(|_| value.get("kind").is_none()) {
            value.insert(
                "apiVersion".into(),
                Value::string(types.api_version.clone()),
            );
            value.insert("kind".into(), Value::string(types.kind.clone()));
        }
        visit(Read { node, value }, diagnostics);
    });
}

/// As [`each`], without reading the values.
pub(super) fn each_node<'d>(
    roots: impl Iterator<Item = Cursor<'d>>,
    diagnostics: &mut Diagnostics,
    visit: &mut Visit<'_>,
) {
    for root in roots {
        below(root, None, 0, diagnostics, visit);
    }
}

fn below(
    node: Cursor<'_>,
    types: Option<&Types>,
    depth: usize,
    diagnostics: &mut Diagnostics,
    visit: &mut Visit<'_>,
) {
    let opened = node.open();
    let node = opened.cursor();
    if node.is_null() {
        return;
    }
    let text = |key| node.text_at([key]).unwrap_or_default().into_owned();
    let items = node.get("items").filter(|items| items.is_sequence());
    if let Some((items, kind)) = items.zip(text("kind").strip_suffix("List")) {
        if depth >= MAX_LISTS {
            let problem = format!("lists are nested deeper than {MAX_LISTS}");
            diagnostics.push(
                Diagnostic::error(problem)
                    .at(node.key_place())
                    .conceal(true),
            );
            return;
        }
        let types = (!kind.is_empty() && kind != "Resource").then(|| Types {
            api_version: text("apiVersion"),
            kind: kind.to_owned(),
        });
        for item in items.children() {
            below(item, types.as_ref(), depth + 1, diagnostics, visit);
        }
        return;
    }
    visit(node, types, diagnostics);
}
