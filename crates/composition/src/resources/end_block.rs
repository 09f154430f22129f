//! Block scalars at the end of a file.
//!
//! Without a line break there, the value has none either. The output ends with one, which would add
//! it, so the scalar is written anew.

use krm_yaml::{Cursor, FieldPath, Value};

/// Whether a document ends, without a line break, in a block scalar.
pub(crate) fn ends_in_block(node: Cursor<'_>) -> bool {
    let text = node.document().text();
    let is_last = !text.ends_with('\n') && node.end() >= text.len();
    is_last && last(node).1.raw().starts_with(['|', '>'])
}

/// Takes the line break off the value of the last scalar.
pub(crate) fn end_block(value: &mut Value<'_>, node: Cursor<'_>) {
    let (path, _) = last(node);
    if let Some(block) = value.lookup_mut(&path)
        && let Some(text) = block.as_str()
    {
        let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
        block.set(Value::from(text).data);
    }
}

/// The last scalar in a node, with its path.
fn last(node: Cursor<'_>) -> (FieldPath, Cursor<'_>) {
    let mut path = FieldPath::root();
    let mut inner = node;
    while let Some((index, last)) = inner.children().enumerate().last() {
        path = match last.key() {
            Ok(key) if inner.is_mapping() => path.key(key),
            _ => path.index(index),
        };
        inner = last;
    }
    (path, inner)
}
