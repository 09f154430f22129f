//! Filters that compare items.

use std::cmp::Ordering;

use minijinja::value::{Tuple, ValueKind};
use minijinja::{Error, State, Value};

use super::common::{Filter, attribute, folded};
use crate::jinja::arguments::{bind, flag, items, required, word};
use crate::jinja::containers::{Generator, Group, List};
use crate::jinja::wrong::{named, wrong};
use crate::jinja::{methods, order};

pub(super) const FILTERS: &[(&str, Filter)] = &[
    ("sort", sort),
    ("dictsort", dictsort),
    ("groupby", groupby),
    ("unique", unique),
    ("min", |_, args| extreme(args, Ordering::Less)),
    ("max", |_, args| extreme(args, Ordering::Greater)),
];

/// The key by which an item is compared.
fn key(item: &Value, path: Option<&Value>, is_case_sensitive: bool) -> Result<Value, Error> {
    let Some(path) = path.filter(|path| !path.is_none()) else {
        return Ok(folded(item.clone(), is_case_sensitive));
    };
    Ok(folded(attribute(item, path)?, is_case_sensitive))
}

/// As [`key`], with several attributes as `a,b`.
fn keys(item: &Value, path: Option<&Value>, is_case_sensitive: bool) -> Result<Value, Error> {
    let paths = path
        .and_then(Value::as_str)
        .filter(|path| path.contains(','));
    let Some(paths) = paths else {
        return key(item, path, is_case_sensitive);
    };
    let keys = paths
        .split(',')
        .map(|path| key(item, Some(&Value::from(path)), is_case_sensitive));
    Ok(Value::from(Tuple::from(
        keys.collect::<Result<Vec<_>, Error>>()?,
    )))
}

fn sort(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let names = ["value", "reverse", "case_sensitive", "attribute"];
    let [list, reverse, case, path] = bind(args, names)?;
    let mut keyed = Vec::new();
    for item in items(&required(list, "value")?)? {
        keyed.push((keys(&item, path.as_ref(), flag(case.as_ref()))?, item));
    }
    List::of(order::sorted_by_key(keyed, flag(reverse.as_ref()))?)
}

fn dictsort(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, case, by, reverse] = bind(args, ["value", "case_sensitive", "by", "reverse"])?;
    let value = required(value, "value")?;
    if value.kind() != ValueKind::Map {
        return Err(wrong(format!("{} has no entries", named(&value))));
    }
    let by_value = match word(by.as_ref(), "key")? {
        "key" => false,
        "value" => true,
        _ => return Err(wrong("`by` is `key` or `value`")),
    };
    let keyed = methods::pairs(&[value])?.into_iter().map(|(key, item)| {
        let compared = if by_value { item.clone() } else { key.clone() };
        let pair = Value::from(Tuple::from([key, item]));
        (folded(compared, flag(case.as_ref())), pair)
    });
    List::of(order::sorted_by_key(
        keyed.collect(),
        flag(reverse.as_ref()),
    )?)
}

fn groupby(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let names = ["value", "attribute", "default", "case_sensitive"];
    let [list, path, default, case] = bind(args, names)?;
    let path = required(path, "attribute")?;
    let mut keyed = Vec::new();
    for item in items(&required(list, "value")?)? {
        let found = attribute(&item, &path)?;
        let found = match &default {
            Some(default) if found.is_undefined() => default.clone(),
            _ => found,
        };
        let pair = Value::from(Tuple::from([found.clone(), item]));
        keyed.push((folded(found, flag(case.as_ref())), pair));
    }
    let mut groups: Vec<(Value, Value, Vec<Value>)> = Vec::new();
    for pair in order::sorted_by_key(keyed, false)? {
        let (found, item) = (pair.get_item_by_index(0)?, pair.get_item_by_index(1)?);
        let compared = folded(found.clone(), flag(case.as_ref()));
        match groups.last_mut() {
            Some((previous, _, group)) if *previous == compared => group.push(item),
            _ => groups.push((compared, found, vec![item])),
        }
    }
    let groups = groups.into_iter().map(|(_, grouper, group)| {
        let list = List::of(group)?;
        Ok(Value::from_object(Group { grouper, list }))
    });
    List::of(groups.collect::<Result<_, Error>>()?)
}

fn unique(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [list, case, path] = bind(args, ["value", "case_sensitive", "attribute"])?;
    let mut seen = std::collections::BTreeSet::new();
    let mut kept = Vec::new();
    for item in items(&required(list, "value")?)? {
        let compared = key(&item, path.as_ref(), flag(case.as_ref()))?;
        let is_unhashable = compared.as_object().is_some() && !compared.is_tuple();
        if is_unhashable {
            let detail = format!("{} cannot be compared by `unique`", named(&compared));
            return Err(wrong(detail));
        }
        if seen.insert(compared) {
            kept.push(item);
        }
    }
    Ok(Generator::of(kept))
}

/// The least or greatest item.
fn extreme(args: &[Value], wanted: Ordering) -> Result<Value, Error> {
    let [list, case, path] = bind(args, ["value", "case_sensitive", "attribute"])?;
    let mut found: Option<(Value, Value)> = None;
    for item in items(&required(list, "value")?)? {
        let compared = key(&item, path.as_ref(), flag(case.as_ref()))?;
        let is_better = match &found {
            None => true,
            Some((best, _)) => order::compare(&compared, best)? == wanted,
        };
        if is_better {
            found = Some((compared, item));
        }
    }
    Ok(found.map(|(_, item)| item).unwrap_or_default())
}
