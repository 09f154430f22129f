//! Filters that apply other filters and tests to each item of a list.

use minijinja::value::Kwargs;
use minijinja::{Error, State, Value};

use super::common::{Filter, attribute};
use crate::jinja::arguments::{items, split};
use crate::jinja::containers::{Generator, is_undefined};
use crate::jinja::wrong::wrong;

pub(super) const FILTERS: &[(&str, Filter)] = &[
    ("map", map),
    ("select", |state, args| select(state, args, true, false)),
    ("reject", |state, args| select(state, args, false, false)),
    ("selectattr", |state, args| select(state, args, true, true)),
    ("rejectattr", |state, args| select(state, args, false, true)),
];

fn map(state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let (positional, named) = split(args)?;
    let (list, rest) = positional
        .split_first()
        .ok_or_else(|| wrong("`map` needs a list"))?;
    let list = items(list)?;
    if let (Some(named), []) = (&named, rest)
        && named.has("attribute")
    {
        return mapped_attribute(list, named);
    }
    let (filter, rest) = rest
        .split_first()
        .ok_or_else(|| wrong("`map` needs a filter or an attribute"))?;
    let filter = filter
        .as_str()
        .ok_or_else(|| wrong("`map` needs the name of a filter"))?;
    let mut mapped = Vec::with_capacity(list.len());
    for item in list {
        let mut call = vec![item];
        call.extend_from_slice(rest);
        if named.is_some() {
            call.extend(args.last().cloned());
        }
        mapped.push(state.apply_filter(filter, &call)?);
    }
    Ok(Generator::of(mapped))
}

fn mapped_attribute(list: Vec<Value>, named: &Kwargs) -> Result<Value, Error> {
    let path: Value = named.get("attribute")?;
    let default: Option<Value> = named.get("default")?;
    named.assert_all_used()?;
    let mapped = list.into_iter().map(|item| {
        let found = attribute(&item, &path)?;
        Ok(match &default {
            Some(default) if found.is_undefined() => default.clone(),
            _ => found,
        })
    });
    Ok(Generator::of(mapped.collect::<Result<_, Error>>()?))
}

fn select(
    state: &mut State<'_, '_>,
    args: &[Value],
    is_kept: bool,
    by_attribute: bool,
) -> Result<Value, Error> {
    let (list, mut rest) = args.split_first().ok_or_else(|| wrong("expected a list"))?;
    let mut path = None;
    if by_attribute {
        let (first, others) = rest
            .split_first()
            .ok_or_else(|| wrong("expected the name of an attribute"))?;
        (path, rest) = (Some(first), others);
    }
    let test = rest
        .split_first()
        .map(|(test, rest)| {
            let name = test
                .as_str()
                .ok_or_else(|| wrong("expected the name of a test"))?;
            Ok::<_, Error>((name, rest))
        })
        .transpose()?;
    let mut kept = Vec::new();
    for item in items(list)? {
        let value = match path {
            Some(path) => attribute(&item, path)?,
            None => item.clone(),
        };
        let is_true = match test {
            None => !is_undefined(&value) && value.is_true(),
            Some((name, rest)) => {
                let mut call = vec![value];
                call.extend_from_slice(rest);
                state.perform_test(name, &call)?
            }
        };
        if is_true == is_kept {
            kept.push(item);
        }
    }
    Ok(Generator::of(kept))
}
