//! The edits that give one item, entry or root another value in place.

use crate::diagnostic::{Diagnostics, Result};
use crate::edit::edits::check_edits;
use crate::edit::pairing::ItemKeys;
use crate::read::document::Cursor;
use crate::read::values::DuplicateKeys;
use crate::table::{Flags, KeyKind, Kind};
use crate::value::Value;
use crate::write::comments;
use crate::write::edited::{self, Edit};
use crate::write::render::{Position, check};
use crate::write::rewrite::{Placement, Rewrite};

/// Edits that make an item, entry or root hold `value` in its own place: its comments, order and quotes
/// stay where its data does.
///
/// ```
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, Edited, ItemKeys, update};
///
/// let text = "# The shop.\nreplicas: 2\n---\n# The cache.\nreplicas: 2 # one a node\n";
/// let document = Document::parse(&Source::new("all.yaml", text))?;
/// let mut edits = Vec::new();
/// for root in document.roots() {
///     if let Some(replicas) = root.get("replicas") {
///         edits.extend(update(replicas, 3.into(), &ItemKeys::NONE)?);
///     }
/// }
/// assert_eq!(
///     Edited::new(&document, edits)?.to_string(),
///     "# The shop.\nreplicas: 3\n---\n# The cache.\nreplicas: 3 # one a node\n"
/// );
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
///
/// # Errors
/// As [`render`](crate::render), and if an alias elsewhere refers to a changed value.
pub fn update(old: Cursor<'_>, mut value: Value<'_>, keys: &ItemKeys) -> Result<Vec<Edit>> {
    match old.value(DuplicateKeys::LastWins, &mut Diagnostics::new()) {
        Some(old) => value.adopt(&old, keys),
        None => value = Value { origin: Some(old.id()), ..value.without_origin() },
    }
    edits_of(old, value)
}

/// As [`update`], for a value that was read from this node and changed: each part stays with the
/// text it was read from.
///
/// ```
/// use krm_yaml::diagnostic::Diagnostics;
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, DuplicateKeys, Edited, ItemKeys, update_read};
///
/// let text = "args:\n- -v # talks\n- -q # does not\n";
/// let document = Document::parse(&Source::new("a.yaml", text))?;
/// let args = document.roots().next().and_then(|root| root.get("args")).expect("args");
/// let mut value = args.value(DuplicateKeys::Refuse, &mut Diagnostics::new()).expect("valid");
/// value.items_mut().expect("a list").reverse();
/// let edits = update_read(args, value, &ItemKeys::NONE)?;
/// assert_eq!(Edited::new(&document, edits)?.to_string(), "args:\n- -q # does not\n- -v # talks\n");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
///
/// # Errors
/// As [`update`].
pub fn update_read(old: Cursor<'_>, value: Value<'_>, keys: &ItemKeys) -> Result<Vec<Edit>> {
    if value.origin == Some(old.id()) { edits_of(old, value) } else { update(old, value, keys) }
}

fn edits_of(old: Cursor<'_>, value: Value<'_>) -> Result<Vec<Edit>> {
    let edits = Rewrite::edits(old, &value, Placement::InPlace)?;
    if edits.is_empty() {
        return Ok(edits);
    }
    let is_root = old.document().roots.binary_search(&old.id().0).is_ok();
    if is_root || !stands_alone(old) {
        check_edits(old, &value, edits.clone())?;
        return Ok(edits);
    }
    let (document, node) = (old.document(), old.node());
    let range = if node.has(Flags::IN_FLOW) {
        node.props as usize..old.end()
    } else {
        document.line_start(old.start())..comments::end_with_comments(old)
    };
    let text = edited::apply(document.text(), range, &mut edits.clone());
    if node.has(Flags::IN_FLOW) {
        // Alone, the text may be JSON, whose strings have other rules. JSON has no comments.
        let comment = if document.is_json { "" } else { " #" };
        let text = format!("[{text}]{comment}");
        check(text, &value, Position::Item { column: 0 })?;
    } else if node.key_kind == KeyKind::None {
        check(text, &value, Position::Item { column: 0 })?;
    } else {
        let entry = Value::mapping(vec![(old.key()?, value)]);
        check(text, &entry, Position::Document)?;
    }
    Ok(edits)
}

/// Whether the value of a node depends only on its own text, and no other value depends on it.
fn stands_alone(item: Cursor<'_>) -> bool {
    let document = item.document();
    if document.has_tag_directives {
        return false;
    }
    let own = item.id().0..item.node().next;
    let stays = |references: &[(u32, u32)]| {
        let start = references.partition_point(|(at, _)| *at < own.start);
        let end = references.partition_point(|(at, _)| *at < own.end);
        let mut inside = references.get(start..end).unwrap_or_default().iter();
        inside.all(|(_, other)| own.contains(other))
    };
    let nodes = document.nodes.get(own.start as usize..own.end as usize);
    let mut nodes = nodes.unwrap_or_default().iter();
    nodes.all(|node| node.kind != Kind::Alias || own.contains(&node.target))
        && stays(&document.key_targets)
        && stays(&document.referred)
}
