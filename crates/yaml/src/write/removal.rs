//! Items taken out of a list, without reading the others.

use crate::read::document::Cursor;
use crate::table::NodeId;
use crate::write::comments::{end_with_comments, extent, lead_comments, skip_blank_lines};
use crate::write::edited::Edit;
use crate::write::kept::Kept;
use crate::write::rewrite::{Placement, Rewrite};

/// Edits that remove items from `list`, with their comments; at least one other item must stay.
pub fn remove_items(list: Cursor<'_>, is_gone: impl Fn(NodeId) -> bool) -> Vec<Edit> {
    let children: Vec<NodeId> = list.children().map(Cursor::id).collect();
    if list.is_flow() {
        let stay = children.iter().filter(|child| !is_gone(**child));
        let kept =
            Kept { pairs: stay.map(|&child| (child, 0)).collect(), children, inserts: Vec::new() };
        let mut rewrite = Rewrite::new(list, Placement::InPlace);
        rewrite.remove_others(&kept);
        return rewrite.edits;
    }
    let mut before = None;
    let mut edits = Vec::new();
    for item in list.children() {
        if is_gone(item.id()) {
            edits.push(removal(list, before, item));
        }
        before = Some(item);
    }
    edits
}

/// The lines that are a list's in block style: from the first item's comments to after the last
/// item's.
pub fn lines_of_items(list: Cursor<'_>) -> Option<(usize, usize)> {
    let start = head_of(list, None, list.children().next()?);
    Some((start, extent(list.children().last()?)))
}

fn removal(list: Cursor<'_>, before: Option<Cursor<'_>>, item: Cursor<'_>) -> Edit {
    // Blank lines that stay could become part of a block scalar above.
    let end = skip_blank_lines(list.document().text(), extent(item));
    Edit { start: head_of(list, before, item), end, text: String::new() }
}

/// Where an item's own comments above it begin. The range of a deferred item includes the comments
/// below it, so the end of `before` is computed.
fn head_of(list: Cursor<'_>, before: Option<Cursor<'_>>, item: Cursor<'_>) -> usize {
    let document = item.document();
    let line = document.line_start(item.start());
    let floor = before.map_or(list.after_key(), end_with_comments);
    lead_comments(document.text(), line, item.start() - line, floor)
}
