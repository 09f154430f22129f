//! The methods of lists, mappings and texts in Python.

use std::sync::Arc;

use minijinja::value::Tuple;
use minijinja::{Error, ErrorKind, State, Value};

use super::arguments::{bind, flag, items, required, split, whole};
use super::chars::{position, signed};
use super::containers::{Dict, List, given, weight};
use super::work;
use super::wrong::wrong;
use super::{order, texts};

/// Calls a method that minijinja does not know.
pub(super) fn unknown(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    given(value)?;
    if let Some(list) = value.downcast_object::<List>() {
        return self::list(&list, state, method, args);
    }
    if let Some(dict) = value.downcast_object::<Dict>() {
        return self::dict(&dict, method, args);
    }
    if let Some(text) = value.as_str() {
        return texts::method(text, method, args);
    }
    if value.is_tuple() {
        work::charge(state, weight(value) / 8)?;
        return match method {
            "count" => Ok(Value::from(count(items(value)?, args)?)),
            "index" => index(&items(value)?, args),
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        };
    }
    if value.as_object().is_some() && value.kind() == minijinja::value::ValueKind::Map {
        let pairs = items(value)?
            .into_iter()
            .map(|key| Ok((key.clone(), value.get_item(&key)?)))
            .collect::<Result<Vec<_>, Error>>()?;
        return read(&pairs, method, args);
    }
    Err(Error::from(ErrorKind::UnknownMethod))
}

/// A method of a list.
fn list(
    list: &Arc<List>,
    state: &mut State<'_, '_>,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let none = Value::from(());
    if method != "append" {
        let parts: usize = args.iter().map(weight).sum();
        work::charge(state, list.len() / 8 * parts.max(1))?;
    }
    match method {
        "__setitem__" | "__delitem__" => {
            let [index, item] = bind(args, ["key", "value"])?;
            let at = position(whole(index.as_ref(), 0)?, list.len());
            list.remove(at)
                .ok_or_else(|| wrong("the list has no item in that place"))?;
            if method == "__setitem__" {
                list.insert(at, &required(item, "value")?)?;
            }
        }
        "append" => {
            let [item] = bind(args, ["object"])?;
            list.append(&required(item, "object")?)?;
        }
        "extend" => {
            let [more] = bind(args, ["iterable"])?;
            for item in items(&required(more, "iterable")?)? {
                list.append(&item)?;
            }
        }
        "insert" => {
            let [index, item] = bind(args, ["index", "object"])?;
            let at = position(whole(index.as_ref(), 0)?, list.len());
            list.insert(at, &required(item, "object")?)?;
        }
        "pop" => return pop(list, args),
        "remove" => {
            let found = index(&list.to_vec(), args)?;
            list.remove(found.as_usize().unwrap_or(usize::MAX));
        }
        "clear" => list.reorder(Vec::new()),
        "reverse" => {
            let mut all = list.to_vec();
            all.reverse();
            list.reorder(all);
        }
        "sort" => {
            let [key, reverse] = bind(args, ["key", "reverse"])?;
            if key.is_some_and(|key| !key.is_none()) {
                return Err(wrong("`sort` with a key is not supported in templates"));
            }
            list.reorder(order::sorted(list.to_vec(), flag(reverse.as_ref()))?);
        }
        "copy" => return List::of(list.to_vec()),
        "count" => return Ok(Value::from(count(list.to_vec(), args)?)),
        "index" => return index(&list.to_vec(), args),
        _ => return Err(Error::from(ErrorKind::UnknownMethod)),
    }
    Ok(none)
}

/// Removes an item of a list, and returns it.
fn pop(list: &List, args: &[Value]) -> Result<Value, Error> {
    let [index] = bind(args, ["index"])?;
    let index = whole(index.as_ref(), -1)?;
    let at = if index < 0 {
        index.saturating_add(signed(list.len()))
    } else {
        index
    };
    let at = usize::try_from(at).ok();
    at.and_then(|at| list.remove(at))
        .ok_or_else(|| wrong("the list has no item in that place to pop"))
}

/// A method of a mapping.
fn dict(dict: &Arc<Dict>, method: &str, args: &[Value]) -> Result<Value, Error> {
    let key = || {
        let [key, default] = bind(args, ["key", "default"])?;
        Ok::<_, Error>((required(key, "key")?, default))
    };
    match method {
        "get" => {
            let (key, default) = key()?;
            Ok(dict
                .get(&key)
                .or(default)
                .unwrap_or_else(|| Value::from(())))
        }
        "__setitem__" => {
            let (key, value) = key()?;
            dict.insert(&key, &required(value, "value")?)?;
            Ok(Value::from(()))
        }
        "__delitem__" => {
            let (key, _) = key()?;
            dict.remove(&key)
                .map(|_| Value::from(()))
                .ok_or_else(|| wrong(format!("the mapping has no key {key}")))
        }
        "setdefault" => {
            let (key, default) = key()?;
            if let Some(value) = dict.get(&key) {
                return Ok(value);
            }
            let value = default.unwrap_or_else(|| Value::from(()));
            dict.insert(&key, &value)?;
            Ok(value)
        }
        "pop" => {
            let (key, default) = key()?;
            dict.remove(&key)
                .or(default)
                .ok_or_else(|| wrong(format!("the mapping has no key {key}")))
        }
        "popitem" => {
            let (key, value) = dict.pop().ok_or_else(|| wrong("the mapping is empty"))?;
            Ok(Value::from(Tuple::from([key, value])))
        }
        "update" => {
            for (key, value) in pairs(args)? {
                dict.insert(&key, &value)?;
            }
            Ok(Value::from(()))
        }
        "clear" => {
            dict.clear();
            Ok(Value::from(()))
        }
        "copy" => Dict::of(dict.pairs()),
        _ => read(&dict.pairs(), method, args),
    }
}

/// A method that only reads a mapping.
fn read(pairs: &[(Value, Value)], method: &str, args: &[Value]) -> Result<Value, Error> {
    match method {
        "keys" | "iterkeys" => {
            let [] = bind(args, [])?;
            let keys = pairs.iter().map(|(key, _)| key.clone());
            Ok(List::view("dict_keys", keys.collect()))
        }
        "values" | "itervalues" => {
            let [] = bind(args, [])?;
            let values = pairs.iter().map(|(_, value)| value.clone());
            Ok(List::view("dict_values", values.collect()))
        }
        "items" | "iteritems" => {
            let [] = bind(args, [])?;
            let pair = |(key, value): &(Value, Value)| Tuple::from([key.clone(), value.clone()]);
            let items = pairs.iter().map(|entry| Value::from(pair(entry)));
            Ok(List::view("dict_items", items.collect()))
        }
        "has_key" | "__contains__" => {
            let [key] = bind(args, ["key"])?;
            let key = required(key, "key")?;
            Ok(Value::from(pairs.iter().any(|(known, _)| *known == key)))
        }
        "get" => {
            let [key, default] = bind(args, ["key", "default"])?;
            let key = required(key, "key")?;
            let found = pairs.iter().find(|(known, _)| *known == key);
            let found = found.map(|(_, value)| value.clone());
            Ok(found.or(default).unwrap_or_else(|| Value::from(())))
        }
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

/// The entries that `dict(…)` and `update(…)` are called with.
pub(super) fn pairs(args: &[Value]) -> Result<Vec<(Value, Value)>, Error> {
    let (positional, named) = split(args)?;
    let mut pairs = Vec::new();
    for value in positional {
        if value.kind() == minijinja::value::ValueKind::Map {
            for key in items(value)? {
                let item = value.get_item(&key)?;
                pairs.push((key, item));
            }
            continue;
        }
        for pair in items(value)? {
            match items(&pair)?.as_slice() {
                [key, value] => pairs.push((key.clone(), value.clone())),
                _ => return Err(wrong("expected pairs of a key and a value")),
            }
        }
    }
    if let Some(named) = named {
        for name in named.args() {
            pairs.push((Value::from(name), named.peek::<Value>(name)?));
        }
    }
    Ok(pairs)
}

fn count(list: Vec<Value>, args: &[Value]) -> Result<usize, Error> {
    let [item] = bind(args, ["value"])?;
    let item = required(item, "value")?;
    Ok(list.into_iter().filter(|known| *known == item).count())
}

fn index(list: &[Value], args: &[Value]) -> Result<Value, Error> {
    let [item, start, stop] = bind(args, ["value", "start", "stop"])?;
    let item = required(item, "value")?;
    let start = position(whole(start.as_ref(), 0)?, list.len());
    let stop = position(whole(stop.as_ref(), i64::MAX)?, list.len());
    list.iter()
        .enumerate()
        .take(stop)
        .skip(start)
        .find(|(_, known)| **known == item)
        .map(|(at, _)| Value::from(at))
        .ok_or_else(|| wrong(format!("{item} is not in the list")))
}
