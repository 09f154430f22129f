//! Reading the whole text after edits of a node.

use crate::diagnostic::{Diagnostics, Result};
use crate::read::document::{Cursor, Document};
use crate::read::values::DuplicateKeys;
use crate::source::Source;
use crate::table::NodeId;
use crate::value::Value;
use crate::write::edited::{Edit, Edited};
use crate::write::guard;

/// Reads the whole text after `edits`, and checks that `node` has `value` and every other node has
/// its old value.
///
/// # Errors
/// If not so.
pub(crate) fn check_edits(node: Cursor<'_>, value: &Value<'_>, edits: Vec<Edit>) -> Result<()> {
    let edited = Edited::unchecked(node.document(), edits)?;
    let source = Source::new("output", edited.to_string());
    let document =
        Document::parse(&source).map_err(|error| guard::wrong(&source, &error.message))?;
    let (mut old, mut new) = (node.document().roots(), document.roots());
    let result = old.find_map(|old| difference(old, new.next(), node, value));
    match result.or_else(|| new.next().map(|_| "unexpected document".to_owned())) {
        Some(difference) => Err(guard::wrong(&source, &difference)),
        None => Ok(()),
    }
}

/// The difference between `new`, which replaces `old`, and its intended value: `meant` for the
/// edited node, and its old one for any other.
fn difference(
    old: Cursor<'_>,
    new: Option<Cursor<'_>>,
    edited: Cursor<'_>,
    meant: &Value<'_>,
) -> Option<String> {
    if old.id() == edited.id() {
        return differs(new, meant);
    }
    let Some(read) = new else {
        return Some("a value is missing".to_owned());
    };
    if (old.id()..NodeId(old.node().next)).contains(&edited.id()) {
        let mut children = read.children();
        for old in old.children() {
            let new = children.next();
            let same_key = new.is_some_and(|new| new.key().ok() == old.key().ok());
            if !same_key {
                return Some("an entry is missing".to_owned());
            }
            if let Some(difference) = difference(old, new, edited, meant) {
                return Some(difference);
            }
        }
        return children.next().map(|_| "unexpected entry".to_owned());
    }
    if old.raw() == read.raw() && !old.document().has_anchors {
        return None;
    }
    // The old text may have had duplicate keys.
    let mut ignored = Diagnostics::new();
    let value = old.value(DuplicateKeys::LastWins, &mut ignored)?;
    if read.value(DuplicateKeys::LastWins, &mut ignored).as_ref() == Some(&value) {
        return None;
    }
    differs(Some(read), &value)
}

/// The difference between a node and its intended value.
fn differs(read: Option<Cursor<'_>>, meant: &Value<'_>) -> Option<String> {
    match read {
        Some(read) if read.holds(meant) => None,
        Some(read) => guard::difference(read, meant),
        None if meant.is_null() => None,
        None => Some("a value is missing".to_owned()),
    }
}
