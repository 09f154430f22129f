//! Where a part of a configuration is written whose text was printed from its object.

use std::ops::Range;

use krm_template_deployment_manager::yaml::first_line;
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Document, FieldPath};

/// The place in the object for a place in the printed text, and its field.
pub(super) fn written(printed: &Place, config: Cursor<'_>) -> Option<(Place, String)> {
    let node =
        config.at(["spec", "config"]).filter(|node| node.is_mapping() || node.is_sequence())?;
    let document = Document::parse(&printed.source).ok()?;
    let root = document.roots().next()?;
    let field = FieldPath::root().key("spec").key("config");
    let (place, field) = twin(root, node, &printed.range, field);
    Some((place, field.to_string()))
}

/// The place of the part of `node` that is at `range` in `printed`.
fn twin(
    mut printed: Cursor<'_>,
    mut node: Cursor<'_>,
    range: &Range<usize>,
    mut field: FieldPath,
) -> (Place, FieldPath) {
    loop {
        let children = printed.children().enumerate();
        let before = children.take_while(|(_, child)| child.start() <= range.start);
        let Some((index, child)) = before.last() else {
            break;
        };
        let (same, below) = if printed.is_mapping() {
            let key = child.key().unwrap_or_default();
            (node.get(&key), field.clone().key(key))
        } else {
            (node.children().nth(index), field.clone().index(index))
        };
        let Some(same) = same else { break };
        if range.start < child.value_start() {
            // A mapping begins where its first key does.
            if range.end <= child.after_key() {
                return (same.key_place(), below);
            }
            break;
        }
        (printed, node, field) = (child, same, below);
    }
    let place = node.place();
    let place = if node.is_mapping() || node.is_sequence() { first_line(place) } else { place };
    (place, field)
}
