//! Fields of an existing object that stay as they are: the annotation `template.krm.dev/keep`.
//!
//! Paths are separated by commas. The steps of a path are separated by dots, and `[name=web]`
//! chooses an item of a list.

use crate::update::changes::shown;
use krm_core::annotations::KEEP;
use krm_yaml::Value;

/// Keeps the fields that the old object asks for. Returns what to say about those that the Template
/// would have changed. `hides` tells whether the text of a part is a secret.
pub(crate) fn keep<'v>(
    value: &mut Value<'v>,
    old: &Value<'v>,
    hides: &dyn Fn(&Value<'_>) -> bool,
) -> Vec<String> {
    let Some(paths) = old.str_at(&["metadata", "annotations", KEEP]) else {
        return Vec::new();
    };
    let mut kept = Vec::new();
    for path in split(paths, ',') {
        let path = path.trim();
        let steps: Vec<Step<'_>> = split(path, '.').flat_map(steps).collect();
        if steps.is_empty() {
            continue;
        }
        let was = find(old, &steps).cloned();
        let would_be = find(value, &steps).cloned();
        if was.as_ref() == would_be.as_ref() {
            continue;
        }
        if set(value, &steps, was.as_ref()) {
            let text = |one: &Option<Value<'_>>, none: &str| {
                one.as_ref().map_or_else(|| none.to_owned(), shown)
            };
            let is_hidden = would_be.as_ref().is_some_and(hides);
            let is_secret = is_hidden || old.str_at(&["kind"]) == Some("Secret");
            kept.push(if is_secret {
                format!("kept `{path}`")
            } else {
                format!(
                    "kept `{path}` {} (the Template says {})",
                    text(&was, "absent"),
                    text(&would_be, "nothing")
                )
            });
        }
    }
    kept
}

/// A step of a path.
#[derive(Clone, Copy)]
enum Step<'p> {
    Key(&'p str),
    Item(&'p str, &'p str),
    Index(usize),
}

/// The parts of a text between separators that are not in brackets.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == separator && depth == 0
    })
}

/// The steps of `key[a=b][0]`.
fn steps(part: &str) -> Vec<Step<'_>> {
    let (key, rest) = part.split_once('[').map_or((part, ""), |(key, rest)| (key, rest));
    let key = Some(Step::Key(key)).filter(|_| !key.is_empty());
    let brackets = rest.split('[').filter(|_| !rest.is_empty());
    let brackets = brackets.map(|bracket| bracket.trim_end_matches(']'));
    let brackets = brackets.map(|bracket| match bracket.split_once('=') {
        Some((field, text)) => Step::Item(field, text),
        None => bracket.parse().map_or(Step::Key(bracket), Step::Index),
    });
    key.into_iter().chain(brackets).collect()
}

/// The position of an item that a step chooses.
fn position(items: &[Value<'_>], step: Step<'_>) -> Option<usize> {
    match step {
        Step::Key(_) => None,
        Step::Index(index) => (index < items.len()).then_some(index),
        Step::Item(field, text) => items.iter().position(|item| {
            let found = item.get(field);
            found.is_some_and(|found| found.as_str() == Some(text) || found.to_json() == text)
        }),
    }
}

fn find<'f, 'v>(value: &'f Value<'v>, steps: &[Step<'_>]) -> Option<&'f Value<'v>> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        step => {
            let items = value.items()?;
            items.get(position(items, *step)?)
        }
    })
}

/// Sets a field, or removes it; whether its parent is there.
fn set<'v>(value: &mut Value<'v>, steps: &[Step<'_>], new: Option<&Value<'v>>) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        return false;
    };
    match step {
        Step::Key(key) if rest.is_empty() => {
            let Some(new) = new else {
                value.remove(key);
                return true;
            };
            if value.entries().is_none() {
                return false;
            }
            value.insert((*key).to_owned().into(), new.clone());
            true
        }
        Step::Key(key) if new.is_some() && value.entries().is_some() => {
            if value.get(key).is_none_or(Value::is_null) {
                value.insert((*key).to_owned().into(), Value::mapping(Vec::new()));
            }
            value.get_mut(key).is_some_and(|below| set(below, rest, new))
        }
        Step::Key(key) => value.get_mut(key).is_some_and(|below| set(below, rest, new)),
        step => {
            let at = value.items().and_then(|items| position(items, *step));
            let item = at.and_then(|at| value.items_mut()?.get_mut(at));
            match (item, rest.is_empty(), new) {
                (Some(item), true, Some(new)) => {
                    item.clone_from(new);
                    true
                }
                (Some(item), false, new) => set(item, rest, new),
                _ => false,
            }
        }
    }
}
