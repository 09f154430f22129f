//! Compares values as Python 3 does.

use std::cmp::Ordering;
use std::collections::VecDeque;

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::arguments::items;
use super::containers::is_sequence;
use super::wrong::{named, wrong};

/// The order of two values; an error if Python has none.
pub(super) fn compare(a: &Value, b: &Value) -> Result<Ordering, Error> {
    let is_number = |value: &Value| matches!(value.kind(), ValueKind::Number | ValueKind::Bool);
    if is_number(a) && is_number(b) || a.as_str().is_some() && b.as_str().is_some() {
        return Ok(a.cmp(b));
    }
    if is_sequence(a) && is_sequence(b) && a.is_tuple() == b.is_tuple() {
        let (a, b) = (items(a)?, items(b)?);
        for (a, b) in a.iter().zip(&b) {
            if a != b {
                return compare(a, b);
            }
        }
        return Ok(a.len().cmp(&b.len()));
    }
    Err(wrong(format!(
        "{} and {} cannot be compared",
        named(a),
        named(b)
    )))
}

/// Sorts values; equal ones keep their order.
pub(super) fn sorted(values: Vec<Value>, reverse: bool) -> Result<Vec<Value>, Error> {
    let keyed = values
        .into_iter()
        .map(|value| (value.clone(), value))
        .collect();
    sorted_by_key(keyed, reverse)
}

/// Sorts values by keys; those of equal keys keep their order.
///
/// The standard library's sort may panic if an order is not total, so this one merges.
pub(super) fn sorted_by_key(
    keyed: Vec<(Value, Value)>,
    reverse: bool,
) -> Result<Vec<Value>, Error> {
    let mut runs: VecDeque<VecDeque<(Value, Value)>> = keyed
        .into_iter()
        .map(|pair| VecDeque::from([pair]))
        .collect();
    let mut left = runs.len();
    while runs.len() > 1 {
        // Only neighbours are merged, so that equal values keep their order.
        if left < 2 {
            if left == 1 {
                runs.rotate_left(1);
            }
            left = runs.len();
        }
        if let (Some(a), Some(b)) = (runs.pop_front(), runs.pop_front()) {
            runs.push_back(merged(a, b, reverse)?);
            left -= 2;
        }
    }
    let sorted = runs.pop_front().unwrap_or_default();
    Ok(sorted.into_iter().map(|(_, value)| value).collect())
}

type Run = VecDeque<(Value, Value)>;

fn merged(mut a: Run, mut b: Run, reverse: bool) -> Result<Run, Error> {
    let mut out = Run::with_capacity(a.len() + b.len());
    while let (Some((first, _)), Some((second, _))) = (a.front(), b.front()) {
        let order = compare(first, second)?;
        let is_second = if reverse {
            order.is_lt()
        } else {
            order.is_gt()
        };
        out.extend(if is_second {
            b.pop_front()
        } else {
            a.pop_front()
        });
    }
    out.append(&mut a);
    out.append(&mut b);
    Ok(out)
}
