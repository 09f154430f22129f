//! The functions that replace literals, slices and operators.

use std::fmt::Write;
use std::sync::Arc;

use minijinja::value::{Kwargs, Object, ObjectRepr, Rest, Tuple, ValueKind};
use minijinja::{Environment, Error, State, Value};

use super::arguments::{MAX_ITEMS, items, split, whole};
use super::chars::{position, signed};
use super::containers::{Dict, List, given, is_sequence, keep, weight};
use super::print::{self, Bounded, too_long};
use super::work;
use super::wrong::{named, wrong};
use super::{format, order, print::MAX_TEXT};

/// A comparison of two values.
type Comparison = fn(&Value, &Value) -> Result<bool, Error>;

const COMPARISONS: [(&str, Comparison); 6] = [
    ("_eq", |a, b| Ok(a == b)),
    ("_ne", |a, b| Ok(a != b)),
    ("_lt", |a, b| Ok(order::compare(a, b)?.is_lt())),
    ("_le", |a, b| Ok(order::compare(a, b)?.is_le())),
    ("_gt", |a, b| Ok(order::compare(a, b)?.is_gt())),
    ("_ge", |a, b| Ok(order::compare(a, b)?.is_ge())),
];

/// Adds the functions under their reserved names.
pub(super) fn add_to(environment: &mut Environment<'_>) {
    environment.add_function("_list", |value: Value| List::of(items(&value)?));
    environment.add_function("_dict", |value: Value| dict(&value));
    environment.add_function(
        "_slice",
        |state: &State<'_, '_>, value: Value, parts: Rest<Value>| slice(state, &value, &parts),
    );
    environment.add_function("_in", container);
    environment.add_function("_set", |value: Value| keep(&value, false).map(|()| value));
    environment.add_function("_part", |value: Value| keep(&value, true).map(|()| value));
    environment.add_function("_operand", |state: &State<'_, '_>, value: Value| {
        compared(state, &value, &value).map(|()| value)
    });
    environment.add_function("_add", |_: &State<'_, '_>, values: Rest<Value>| {
        fold(&values, add)
    });
    environment.add_function("_mul", |values: Rest<Value>| fold(&values, multiply));
    environment.add_function("_mod", |values: Rest<Value>| fold(&values, modulo));
    environment.add_function("_concat", |values: Rest<Value>| concat(&values));
    environment.add_function("_macro", |value: Value| Value::from_object(Variadic(value)));
    environment.add_function(
        "_item",
        |state: &State<'_, '_>, value: Value, key: Value| item(state, &value, &key),
    );
    for (name, is) in COMPARISONS {
        environment.add_function(name, move |state: &State<'_, '_>, a: Value, b: Value| {
            compared(state, &a, &b)?;
            is(&a, &b)
        });
    }
    environment.add_function("_neg", |value: Value| negated(&value));
}

/// The items of a loop, or of a search.
fn container(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    given(&value)?;
    work::charge(state, weight(&value) / 8)?;
    if value.is_undefined() {
        return Ok(value);
    }
    if let Some(dict) = value.downcast_object::<Dict>() {
        return dict.given();
    }
    let has_items = value.as_str().is_some()
        || matches!(
            value.kind(),
            ValueKind::Map | ValueKind::Seq | ValueKind::Iterable
        );
    if has_items {
        return Ok(value);
    }
    Err(wrong(format!("{} has no items", named(&value))))
}

fn fold(
    values: &[Value],
    operator: fn(&Value, &Value) -> Result<Value, Error>,
) -> Result<Value, Error> {
    let mut values = values.iter();
    let first = values.next().cloned().unwrap_or_default();
    values.try_fold(first, |left, right| operator(&left, right))
}

fn dict(value: &Value) -> Result<Value, Error> {
    let pairs = items(value)?
        .into_iter()
        .map(|key| Ok((key.clone(), value.get_item(&key)?)));
    Dict::of(pairs.collect::<Result<Vec<_>, Error>>()?)
}

/// Whether a value is a number to Python.
fn is_number(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Number | ValueKind::Bool)
}

pub(super) fn add(left: &Value, right: &Value) -> Result<Value, Error> {
    let is_safe = (left.is_safe(), right.is_safe());
    if let (Some(left), Some(right)) = (left.as_str(), right.as_str()) {
        if left.len() + right.len() > MAX_TEXT {
            return Err(too_long());
        }
        return Ok(match (is_safe.0, is_safe.1) {
            (false, false) => Value::from([left, right].concat()),
            // Escaped text escapes the text that is added to it.
            (true, false) => Value::from_safe_string(left.to_owned() + &escaped(right)),
            (false, true) => Value::from_safe_string(escaped(left) + right),
            (true, true) => Value::from_safe_string([left, right].concat()),
        });
    }
    if is_sequence(left) && is_sequence(right) && left.is_tuple() == right.is_tuple() {
        let mut all = items(left)?;
        all.extend(items(right)?);
        return if left.is_tuple() {
            Ok(Value::from(Tuple::from(all)))
        } else {
            List::of(all)
        };
    }
    if !is_number(left) || !is_number(right) {
        return Err(impossible("+", left, right));
    }
    number(left, right, i128::checked_add, |left, right| left + right)
}

/// A text with the entities of HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            _ => out.push(c),
        }
    }
    out
}

fn multiply(left: &Value, right: &Value) -> Result<Value, Error> {
    let (repeated, times) = if is_number(left) {
        (right, left)
    } else {
        (left, right)
    };
    if is_number(repeated) && is_number(times) {
        return number(left, right, i128::checked_mul, |left, right| left * right);
    }
    let is_whole = times.is_integer() || times.kind() == ValueKind::Bool;
    let is_repeatable = repeated.as_str().is_some() || is_sequence(repeated);
    if !is_whole || !is_repeatable {
        return Err(impossible("*", left, right));
    }
    let times = i128::try_from(times.clone())?.max(0);
    let times = usize::try_from(times).unwrap_or(usize::MAX);
    if let Some(text) = repeated.as_str() {
        if text.len().saturating_mul(times) > MAX_TEXT {
            return Err(too_long());
        }
        return Ok(Value::from(text.repeat(times)));
    }
    let all = items(repeated)?;
    if all.len().saturating_mul(times) > MAX_ITEMS {
        return Err(wrong("a repeated list has more than a million items"));
    }
    let repeated_items: Vec<Value> = std::iter::repeat_n(&all, times)
        .flatten()
        .cloned()
        .collect();
    if repeated.is_tuple() {
        return Ok(Value::from(Tuple::from(repeated_items)));
    }
    List::of(repeated_items)
}

pub(super) fn modulo(left: &Value, right: &Value) -> Result<Value, Error> {
    if let Some(text) = left.as_str() {
        return format::percent(text, right).map(Value::from);
    }
    if !is_number(left) || !is_number(right) {
        return Err(impossible("%", left, right));
    }
    if right == &Value::from(0) {
        return Err(wrong("modulo by zero"));
    }
    let whole = |left: i128, right: i128| {
        let rest = left.checked_rem(right)?;
        Some(if rest != 0 && (rest < 0) != (right < 0) {
            rest + right
        } else {
            rest
        })
    };
    number(left, right, whole, |left, right| {
        let rest = left % right;
        if rest == 0.0 {
            0.0_f64.copysign(right)
        } else if (rest < 0.0) != (right < 0.0) {
            rest + right
        } else {
            rest
        }
    })
}

/// An operator of whole numbers or floats.
fn number(
    left: &Value,
    right: &Value,
    whole: impl Fn(i128, i128) -> Option<i128>,
    float: impl Fn(f64, f64) -> f64,
) -> Result<Value, Error> {
    let is_whole = |value: &Value| value.is_integer() || value.kind() == ValueKind::Bool;
    if is_whole(left) && is_whole(right) {
        let result = whole(
            i128::try_from(left.clone())?,
            i128::try_from(right.clone())?,
        );
        let result = result.ok_or_else(|| wrong("a number is too large"))?;
        return Ok(i64::try_from(result).map_or_else(|_| Value::from(result), Value::from));
    }
    Ok(Value::from(float(to_float(left)?, to_float(right)?)))
}

/// A number as a float.
pub(super) fn to_float(value: &Value) -> Result<f64, Error> {
    if value.is_integer() || value.kind() == ValueKind::Bool {
        return Ok(super::spec::to_float(i128::try_from(value.clone())?));
    }
    f64::try_from(value.clone())
}

/// A macro that takes any arguments.
#[derive(Debug)]
struct Variadic(Value);

impl Object for Variadic {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get_item(key).ok()
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        let (positional, named) = split(args)?;
        let parameters = items(&self.0.get_attr("arguments")?)?;
        // The last two are `varargs` and `kwargs`.
        let count = parameters.len().saturating_sub(2);
        let is_known = |name: &str| {
            let mut known = parameters.iter().take(count);
            name == "caller" || known.any(|known| known.as_str() == Some(name))
        };
        let (own, rest) = positional.split_at(positional.len().min(count));
        let mut given = Vec::new();
        let mut others = Vec::new();
        if let Some(named) = &named {
            for name in named.args() {
                let value: Value = named.peek(name)?;
                if is_known(name) {
                    given.push((name.to_owned(), value));
                } else {
                    others.push((Value::from(name), value));
                }
            }
        }
        given.push(("varargs".to_owned(), Value::from(Tuple::from(rest))));
        given.push(("kwargs".to_owned(), Dict::of(others)?));
        let mut call = own.to_vec();
        call.push(Value::from(Kwargs::from_iter(given)));
        self.0.call(state, &call)
    }
}

fn negated(value: &Value) -> Result<Value, Error> {
    if !is_number(value) {
        return Err(wrong(format!("{} cannot be negated", named(value))));
    }
    number(
        value,
        value,
        |value, _| value.checked_neg(),
        |value, _| -value,
    )
}

fn impossible(operator: &str, left: &Value, right: &Value) -> Error {
    if let Err(error) = given(left).and_then(|()| given(right)) {
        return error;
    }
    wrong(format!(
        "`{operator}` does not work on {} and {}",
        named(left),
        named(right)
    ))
}

fn concat(values: &[Value]) -> Result<Value, Error> {
    let mut out = Bounded::default();
    for value in values {
        print::print(&mut out as &mut dyn Write, value)?;
    }
    Ok(Value::from(out.into_text()))
}

/// Charges for the parts of two values that a comparison reads.
pub(super) fn compared(state: &State<'_, '_>, a: &Value, b: &Value) -> Result<(), Error> {
    let size = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.len().unwrap_or(0), str::len)
    };
    let work = size(a).min(size(b)) / 64;
    work::charge(state, work + (weight(a) + weight(b)) / 8)
}

/// `value[key]`.
fn item(state: &State<'_, '_>, value: &Value, key: &Value) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(wrong("an undefined value has no items"));
    }
    work::charge(state, value.as_str().map_or(0, str::len) / 64)?;
    value.get_item(key)
}

/// `value[start:stop:step]`, with these three in a row.
fn slice(state: &State<'_, '_>, value: &Value, parts: &[Value]) -> Result<Value, Error> {
    let part = |index: usize| {
        let part = parts.get(index).filter(|part| !part.is_none());
        part.map(|part| whole(Some(part), 0)).transpose()
    };
    let (from, to, by) = (part(0)?, part(1)?, part(2)?.unwrap_or(1));
    let length = value
        .as_str()
        .map_or_else(|| value.len().unwrap_or_default(), str::len);
    work::charge(state, length / 8)?;
    if by == 0 {
        return Err(wrong("the step of a slice is zero"));
    }
    if let Some(text) = value.as_str() {
        let chars: Vec<char> = text.chars().collect();
        let chosen = places(chars.len(), from, to, by);
        let chosen = chosen.filter_map(|at| chars.get(at));
        return Ok(Value::from(chosen.collect::<String>()));
    }
    if !is_sequence(value) {
        return Err(wrong(format!("{} cannot be sliced", named(value))));
    }
    let all = items(value)?;
    let chosen = places(all.len(), from, to, by);
    let chosen: Vec<Value> = chosen.filter_map(|at| all.get(at).cloned()).collect();
    if value.is_tuple() {
        return Ok(Value::from(Tuple::from(chosen)));
    }
    List::of(chosen)
}

/// The places that a slice chooses.
fn places(
    length: usize,
    from: Option<i64>,
    to: Option<i64>,
    by: i64,
) -> Box<dyn Iterator<Item = usize>> {
    let size = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX);
    if by > 0 {
        let from = position(from.unwrap_or(0), length);
        let to = position(to.unwrap_or(i64::MAX), length);
        return Box::new((from..to).step_by(size));
    }
    // Counts from the end: the first place is at most the last item, the end may be before all.
    let place = |index: i64| {
        let at = if index < 0 {
            index.saturating_add(signed(length))
        } else {
            index
        };
        at.clamp(-1, signed(length) - 1)
    };
    let from = from.map_or(signed(length) - 1, place);
    let to = to.map_or(-1, place);
    let count = usize::try_from(from - to).unwrap_or(0);
    let from = usize::try_from(from).unwrap_or(0);
    Box::new((0..count).step_by(size).map(move |back| from - back))
}
