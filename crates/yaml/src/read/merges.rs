//! How many merge keys may refer to one another.

use crate::diagnostic::{Diagnostic, Result};
use crate::limits::MERGE_DEPTH;
use crate::read::document::{Cursor, Document};
use crate::table::{Kind, NONE, NodeId};

/// Refuses mappings that merge one another more than [`MERGE_DEPTH`] levels deep.
pub(crate) fn check_merges(document: &Document) -> Result<()> {
    if memchr::memmem::find(document.text().as_bytes(), b"<<").is_none() {
        return Ok(());
    }
    // The depth of merge keys of each node; nodes before a node and inside it come first.
    let mut depths = vec![0; document.nodes.len()];
    let mut open: Vec<NodeId> = Vec::new();
    for at in 0..=u32::try_from(document.nodes.len()).unwrap_or(NONE) {
        while let Some(id) = open.pop_if(|id| document.node(*id).next <= at) {
            let depth = merge_depth(document.cursor(id), &depths)?;
            if let Some(slot) = depths.get_mut(id.0 as usize) {
                *slot = depth;
            }
        }
        open.push(NodeId(at));
    }
    Ok(())
}

/// The depth of merge keys of a node; `depths` has those of the nodes inside it.
fn merge_depth(node: Cursor<'_>, depths: &[usize]) -> Result<usize> {
    let of = |node: Cursor<'_>| depths.get(node.resolved().id().0 as usize).copied();
    let mut children = node.document().children(node.id());
    match node.node().kind {
        Kind::Sequence => return Ok(children.filter_map(of).max().unwrap_or_default()),
        Kind::Mapping => {}
        _ => return Ok(0),
    }
    let too_deep = children.find(|entry| entry.is_merge_key() && of(*entry) >= Some(MERGE_DEPTH));
    if let Some(merge) = too_deep {
        let message = format!("merge keys refer to one another more than {MERGE_DEPTH} times");
        return Err(Diagnostic::error(message)
            .at(merge.key_place())
            .hint("write the entries out instead of using `<<`")
            .into());
    }
    let entries = node.document().children(node.id());
    let merged = entries.filter(|entry| entry.is_merge_key()).filter_map(of);
    Ok(merged.max().map_or(0, |deepest| deepest + 1))
}
