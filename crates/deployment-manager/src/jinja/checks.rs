//! The tests of Jinja2.

use minijinja::value::{Rest, ValueKind};
use minijinja::{Environment, Error, State, Value};

use super::arguments::{bind, items, required};
use super::containers::{Dict, Generator, List, is_sequence, is_undefined};
use super::operators::compared;
use super::wrong::{named, wrong};
use super::{filters, order, print, work};

/// A test of a value alone.
type Check = fn(&Value) -> Result<bool, Error>;
/// A test of a value with another one.
type Comparison = fn(&Value, &Value) -> Result<bool, Error>;

const CHECKS: &[(&str, Check)] = &[
    ("defined", |value| Ok(!is_undefined(value))),
    ("undefined", |value| Ok(is_undefined(value))),
    ("none", |value| Ok(value.is_none())),
    ("boolean", |value| Ok(value.kind() == ValueKind::Bool)),
    ("true", |value| {
        Ok(value.kind() == ValueKind::Bool && value.is_true())
    }),
    ("false", |value| {
        Ok(value.kind() == ValueKind::Bool && !value.is_true())
    }),
    ("integer", |value| Ok(value.is_integer())),
    ("float", |value| {
        Ok(value.kind() == ValueKind::Number && !value.is_integer())
    }),
    ("number", |value| Ok(is_number(value))),
    ("string", |value| Ok(value.as_str().is_some())),
    ("mapping", |value| Ok(value.kind() == ValueKind::Map)),
    ("sequence", |value| {
        Ok(is_iterable(value) && value.downcast_object_ref::<Generator>().is_none())
    }),
    ("iterable", |value| Ok(is_iterable(value))),
    ("callable", |value| Ok(is_callable(value))),
    ("escaped", |value| Ok(value.is_safe())),
    ("lower", |value| {
        let text = print::text(value)?;
        Ok(text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase))
    }),
    ("upper", |value| {
        let text = print::text(value)?;
        Ok(text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase))
    }),
    ("odd", |value| Ok(order_of_two(value)? == 1)),
    ("even", |value| Ok(order_of_two(value)? == 0)),
    ("filter", |value| {
        Ok(filters::names().any(|name| value.as_str() == Some(name)))
    }),
    ("test", |value| {
        Ok(names().any(|name| value.as_str() == Some(name)))
    }),
];

const COMPARISONS: &[(&str, Comparison)] = &[
    ("eq", |a, b| Ok(a == b)),
    ("equalto", |a, b| Ok(a == b)),
    ("==", |a, b| Ok(a == b)),
    ("ne", |a, b| Ok(a != b)),
    ("!=", |a, b| Ok(a != b)),
    ("lt", |a, b| Ok(order::compare(a, b)?.is_lt())),
    ("lessthan", |a, b| Ok(order::compare(a, b)?.is_lt())),
    ("<", |a, b| Ok(order::compare(a, b)?.is_lt())),
    ("le", |a, b| Ok(order::compare(a, b)?.is_le())),
    ("<=", |a, b| Ok(order::compare(a, b)?.is_le())),
    ("gt", |a, b| Ok(order::compare(a, b)?.is_gt())),
    ("greaterthan", |a, b| Ok(order::compare(a, b)?.is_gt())),
    (">", |a, b| Ok(order::compare(a, b)?.is_gt())),
    ("ge", |a, b| Ok(order::compare(a, b)?.is_ge())),
    (">=", |a, b| Ok(order::compare(a, b)?.is_ge())),
    ("in", contains),
    ("sameas", |a, b| Ok(is_same(a, b))),
    ("divisibleby", |a, b| {
        let rest = super::operators::modulo(a, b)?;
        Ok(rest == Value::from(0))
    }),
];

/// Adds the tests.
pub(super) fn add_to(environment: &mut Environment<'_>) {
    for &(name, check) in CHECKS {
        environment.add_test(name, move |_: &State<'_, '_>, args: Rest<Value>| {
            let [value] = bind(&args, ["value"])?;
            check(&required(value, "value")?)
        });
    }
    for &(name, comparison) in COMPARISONS {
        environment.add_test(name, move |state: &State<'_, '_>, args: Rest<Value>| {
            let [value, other] = bind(&args, ["value", "other"])?;
            let (value, other) = (required(value, "value")?, required(other, "other")?);
            compared(state, &value, &other)?;
            if name == "in" {
                let text = other.as_str().map(|text| text.len() / 8);
                work::charge(state, text.or(other.len()).unwrap_or_default())?;
            }
            comparison(&value, &other)
        });
    }
}

/// The names of all tests.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let comparisons = COMPARISONS.iter().map(|(name, _)| *name);
    CHECKS.iter().map(|(name, _)| *name).chain(comparisons)
}

fn is_number(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Number | ValueKind::Bool)
}

fn is_iterable(value: &Value) -> bool {
    is_sequence(value)
        || is_undefined(value)
        || value.as_str().is_some()
        || value.kind() == ValueKind::Map
}

fn is_callable(value: &Value) -> bool {
    value.as_object().is_some_and(|_| {
        let is_data = is_sequence(value) || value.downcast_object_ref::<Dict>().is_some();
        !is_data && (value.kind() == ValueKind::Plain || is_macro(value))
    })
}

/// Whether a value is a macro, which lists its name and its arguments.
fn is_macro(value: &Value) -> bool {
    value
        .get_attr("arguments")
        .is_ok_and(|arguments| !arguments.is_undefined())
}

fn order_of_two(value: &Value) -> Result<i64, Error> {
    if !is_number(value) {
        return Err(wrong(format!("{} is not a number", named(value))));
    }
    let rest = super::operators::modulo(value, &Value::from(2))?;
    Ok(rest.as_i64().unwrap_or(2))
}

fn contains(value: &Value, container: &Value) -> Result<bool, Error> {
    if let Some(text) = container.as_str() {
        return match value.as_str() {
            Some(part) => Ok(text.contains(part)),
            None => Err(wrong(format!("a text cannot contain {}", named(value)))),
        };
    }
    if let Some(dict) = container.downcast_object_ref::<Dict>() {
        return Ok(dict.get(value).is_some());
    }
    Ok(items(container)?.contains(value))
}

/// Whether two values are one.
fn is_same(a: &Value, b: &Value) -> bool {
    let same_list = a
        .downcast_object::<List>()
        .zip(b.downcast_object::<List>())
        .map(|(a, b)| std::sync::Arc::ptr_eq(&a, &b));
    let same_dict = a
        .downcast_object::<Dict>()
        .zip(b.downcast_object::<Dict>())
        .map(|(a, b)| std::sync::Arc::ptr_eq(&a, &b));
    let is_whole = a.is_integer() == b.is_integer();
    same_list
        .or(same_dict)
        .unwrap_or_else(|| a.kind() == b.kind() && is_whole && a == b)
}
