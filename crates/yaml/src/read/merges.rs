//! How many merge keys may lead into one another.

use crate::diagnostic::{Diagnostic, Result};
use crate::limits::MERGE_DEPTH;
use crate::read::document::{Cursor, Document};
use crate::table::{Kind, NONE, NodeId};

/// Refuses mappings that hold others by more than [`MERGE_DEPTH`] merge keys, one in the other.
pub(crate) fn check_merges(document: &Document) -> Result<()> {
    if memchr::memmem::find(document.text().as_bytes(), b"<<").is_none() {
        return Ok(());
    }
    // How many merge keys lead on from each node; those before a node and in it are known first.
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

/// How many merge keys a node leads to; `depths` knows it of what is in the node.
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
