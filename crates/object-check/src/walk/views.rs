//! Access to fields of objects, in which null is like none.

use std::borrow::Cow;

use krm_yaml::{Scalar, View};

use crate::scalars::integer;

/// The value under a key, unless it is null.
pub(crate) fn get<'v>(view: View<'v>, key: &str) -> Option<View<'v>> {
    view.get(key).filter(|value| !value.is_null())
}

/// The value under these keys, unless one of them is null.
pub(crate) fn at<'v>(view: View<'v>, keys: &[&str]) -> Option<View<'v>> {
    keys.iter().try_fold(view, |view, key| get(view, key))
}

/// The text under a key, unless it is empty.
pub(crate) fn text<'v>(view: View<'v>, key: &str) -> Option<Cow<'v, str>> {
    view.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// A scalar as a text, unless it is empty.
pub(crate) fn word(value: Option<View<'_>>) -> Option<Cow<'_, str>> {
    let text = match value?.scalar()? {
        Scalar::String(text) | Scalar::Number(text) => text,
        Scalar::Bool(is_true) => Cow::Borrowed(if is_true { "true" } else { "false" }),
        Scalar::Null => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// The integer under a key.
pub(crate) fn number(view: View<'_>, key: &str) -> Option<i64> {
    match view.get(key)?.scalar()? {
        Scalar::Number(digits) => integer(&digits),
        _ => None,
    }
}

/// Whether a key is true.
pub(crate) fn is_true(view: View<'_>, key: &str) -> bool {
    view.get(key).and_then(View::scalar) == Some(Scalar::Bool(true))
}

/// The items of the list under a key.
pub(crate) fn list<'v>(view: View<'v>, key: &str) -> impl Iterator<Item = View<'v>> {
    view.get(key).and_then(View::items).into_iter().flatten()
}

/// The entries of the mapping under a key.
pub(crate) fn entries<'v>(
    view: View<'v>,
    key: &str,
) -> impl Iterator<Item = (Cow<'v, str>, View<'v>)> {
    view.get(key).and_then(View::entries).into_iter().flatten()
}

/// Whether a value is an empty list or mapping.
pub(crate) fn is_empty(view: View<'_>) -> bool {
    let is_list = view.items().is_some_and(|mut items| items.next().is_none());
    is_list || view.entries().is_some_and(|mut entries| entries.next().is_none())
}

/// Whether a key has a value that is not empty.
pub(crate) fn has(view: View<'_>, key: &str) -> bool {
    get(view, key).is_some_and(is_filled)
}

/// Whether a value is not an empty text, list or mapping.
pub(crate) fn is_filled(value: View<'_>) -> bool {
    !is_empty(value) && value.as_str().is_none_or(|text| !text.is_empty())
}

/// Words in a sentence: "`a`, `b` or `c`".
pub(crate) fn one_of(words: &[String]) -> String {
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}

/// The type of a value, in words.
pub(crate) fn name_of(value: View<'_>) -> &'static str {
    match value.scalar() {
        Some(Scalar::String(_)) => "a string",
        Some(Scalar::Number(_)) => "a number",
        Some(Scalar::Bool(_)) => "a boolean",
        Some(Scalar::Null) => "null",
        None if value.is_mapping() => "a mapping",
        None => "a list",
    }
}
