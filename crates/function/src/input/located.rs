//! Maps locations in a ResourceList to the user's files.
//!
//! An orchestrator names the file of an object in its annotations. It does not hand over the text
//! of the file: blank lines are missing and annotations were added, so the line in the file is
//! unknown, but the file and the field are.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::input::items::path_of;
use krm_core::identity;
use krm_core::resource_list::ResourceList;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::{Origin, Source};
use krm_yaml::{Cursor, FieldPath};

/// Finds the files and fields of all places that `diagnostics` have in the list.
pub(crate) fn locate(list: &ResourceList<'_>, source: &Source, diagnostics: &Diagnostics) {
    let mut places: Vec<(usize, usize)> = diagnostics
        .iter()
        .flat_map(|one| one.place.iter().chain(one.related.iter().map(|(at, _)| at)))
        .filter(|place| std::ptr::eq(Arc::as_ptr(&place.source), source))
        .map(|place| (place.range.start, place.range.end))
        .collect();
    places.sort_unstable();
    places.dedup();
    if places.is_empty() {
        return;
    }
    let mut origins = BTreeMap::new();
    let mut add = |object: Cursor<'_>, path: &dyn Fn() -> Option<String>| {
        let range = object.place().range;
        let first = places.partition_point(|(start, _)| *start < range.start);
        let inside = places.get(first..).unwrap_or_default().iter();
        let mut inside = inside.take_while(|(start, _)| *start < range.end).peekable();
        if inside.peek().is_none() {
            return;
        }
        let Some(file) = path() else { return };
        for (start, end) in inside {
            let field = field_at(object, &(*start..*end), FieldPath::root()).to_string();
            let file = file.clone();
            origins.insert((*start, *end), Origin { file, field });
        }
    };
    if let Some(config) = list.function_config() {
        add(config, &|| path_of_config(list, config));
    }
    for item in list.items() {
        add(item, &|| path_of(item));
    }
    source.set_origins(origins);
}

/// The file of the functionConfig. kpt names the whole path on the copy among the items only.
fn path_of_config(list: &ResourceList<'_>, config: Cursor<'_>) -> Option<String> {
    let own = identity::reference(config);
    let may_be_copy = |item: &Cursor<'_>| !own.name.is_empty() && item.raw().contains(&own.name);
    let mut items = list.items().filter(may_be_copy);
    let copy = items.find_map(|item| {
        let other = identity::reference(item.open().cursor());
        let is_copy = (&other.api_version, &other.kind, &other.namespace, &other.name)
            == (&own.api_version, &own.kind, &own.namespace, &own.name);
        other.path.filter(|_| is_copy)
    });
    copy.or(own.path)
}

/// The innermost field of an object that a place is in.
fn field_at(node: Cursor<'_>, at: &Range<usize>, path: FieldPath) -> FieldPath {
    let opened = node.open();
    let node = opened.cursor();
    if node.place().range == *at {
        return path;
    }
    for (index, child) in node.children().enumerate() {
        let start = child.key_place().range.start;
        let end = child.place().range.end.max(child.key_place().range.end);
        if at.start < start || end < at.end {
            continue;
        }
        let path = match child.key() {
            _ if node.is_sequence() => path.index(index),
            // In a key such as `value:TEXT`, a space is missing.
            Ok(key) if key.contains([':', ' ']) => return path,
            Ok(key) => path.key(key),
            Err(_) => return path,
        };
        return field_at(child, at, path);
    }
    path
}
