//! Visits the fields of an object by the paths of the tables.

use crate::krm::label_fields::{Branch, Sets, for_template};
use krm_yaml::{Data, Value};

/// The entry of a mapping that the first key of a path names, and the rest of the path. `%2F` is a
/// slash in a key.
fn step<'p>(value: &Value<'_>, path: &'p str) -> Option<(usize, Option<&'p str>)> {
    let entries = value.entries()?;
    let bytes = path.as_bytes();
    // Most entries differ there already.
    let ends_with = |key: &str| matches!(bytes.get(key.len()), None | Some(b'/'));
    let is_first = |key: &str| ends_with(key) && path.starts_with(key) && !key.contains('/');
    if let Some(index) = entries.iter().position(|(key, _)| is_first(key)) {
        let (key, _) = entries.get(index)?;
        return Some((index, path.get(key.len() + 1..)));
    }
    memchr::memchr(b'%', bytes)?;
    let (first, rest) = path.split_once('/').unzip();
    let first = first.unwrap_or(path).replace("%2F", "/");
    let index = entries.iter().position(|(key, _)| *key == first)?;
    Some((index, rest))
}

/// Calls `visit` with each value at a path, which leads through lists. The last list is one value.
pub(super) fn each<'s>(value: &mut Value<'s>, path: &str, visit: &mut dyn FnMut(&mut Value<'s>)) {
    if let Data::Sequence(items) = &mut value.data {
        for item in items {
            each(item, path, visit);
        }
        return;
    }
    let Some((index, rest)) = step(value, path) else {
        return;
    };
    if let Some(field) = part_mut(value, index) {
        match rest {
            Some(rest) => each(field, rest, visit),
            None => visit(field),
        }
    }
}

fn part_mut<'v, 's>(mapping: &'v mut Value<'s>, index: usize) -> Option<&'v mut Value<'s>> {
    match &mut mapping.data {
        Data::Mapping(entries) => entries.get_mut(index).map(|(_, part)| part),
        Data::Sequence(_) | Data::Scalar(_) => None,
    }
}

/// Calls `visit` with each scalar at a path, also those in lists.
pub(super) fn each_scalar<'s>(
    value: &mut Value<'s>,
    path: &str,
    visit: &mut dyn FnMut(&mut Value<'s>),
) {
    each(value, path, &mut |field| scalars(field, visit));
}

fn scalars<'s>(value: &mut Value<'s>, visit: &mut dyn FnMut(&mut Value<'s>)) {
    match &mut value.data {
        Data::Sequence(items) => {
            for item in items {
                scalars(item, visit);
            }
        }
        Data::Scalar(_) => visit(value),
        Data::Mapping(_) => {}
    }
}

/// Removes each entry at a path for which `drops`, of the mapping and its entry, is true.
pub(super) fn remove<'s>(
    value: &mut Value<'s>,
    path: &str,
    drops: &mut dyn FnMut(&Value<'s>, &Value<'s>) -> bool,
) {
    if let Data::Sequence(items) = &mut value.data {
        for item in items {
            remove(item, path, drops);
        }
        return;
    }
    let Some((index, rest)) = step(value, path) else {
        return;
    };
    if let Some(rest) = rest {
        if let Some(field) = part_mut(value, index) {
            remove(field, rest, drops);
        }
    } else if value
        .part(index)
        .is_some_and(|(_, field)| drops(value, field))
        && let Data::Mapping(entries) = &mut value.data
    {
        entries.remove(index);
    }
}

/// Removes the items of the list at a path for which `drops` is true, and a list that gets empty.
pub(super) fn remove_items<'s>(
    value: &mut Value<'s>,
    path: &str,
    drops: &dyn Fn(&Value<'s>) -> bool,
) {
    each(value, path, &mut |list| {
        if let Data::Sequence(items) = &mut list.data
            && items.iter().any(drops)
        {
            items.retain(|item| !drops(item));
            if items.is_empty() {
                list.data = Data::Scalar(krm_yaml::Scalar::Null);
            }
        }
    });
    remove(value, path, &mut |_, list| list.is_null());
}

/// Calls `visit` with each list of containers of a pod specification.
pub(super) fn each_container<'s>(spec: &mut Value<'s>, visit: &mut dyn FnMut(&mut Value<'s>)) {
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        let items = spec.get_mut(list).and_then(Value::items_mut);
        items.into_iter().flatten().for_each(&mut *visit);
    }
}

/// Calls `visit` with the labels of the pods of an object, and with those by which it selects.
pub(super) fn each_label_field<'s>(
    object: &mut Value<'s>,
    (group, kind): (&str, &str),
    visit: &mut dyn FnMut(&mut Value<'s>),
) {
    for branch in for_template(group, kind) {
        on_branch(object, branch, visit);
    }
}

fn on_branch<'s>(value: &mut Value<'s>, branch: &Branch, visit: &mut dyn FnMut(&mut Value<'s>)) {
    each(value, branch.key, &mut |field| {
        if branch.sets != Sets::No {
            visit(field);
        }
        for inner in &branch.children {
            on_branch(field, inner, visit);
        }
    });
}

/// The value under some keys, to change it.
pub(super) fn at_mut<'v, 's>(value: &'v mut Value<'s>, keys: &[&str]) -> Option<&'v mut Value<'s>> {
    keys.iter().try_fold(value, |value, key| value.get_mut(key))
}
