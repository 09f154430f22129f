//! JSON patches, RFC 6902, with JSON pointers, RFC 6901.
//!
//! As in Kubernetes, an absent key of a map counts as null for `replace`, `test` and `copy`, and so
//! does an absent `value` of an operation.
//!
//! Source: `github.com/evanphx/json-patch` 4.12, which kube-apiserver uses.

use krm_core::pointer::{is_index, unescape};
use krm_yaml::MAX_DEPTH;
use serde_json::{Map, Number, Value};

use super::bounds::{MAX_BYTES, count, size};
use super::merge::{read, wrong_type};
use krm_template_server_core::{Details, Result, Status};

/// The maximum number of operations in a patch.
///
/// Source: `maxJSONPatchOperations` of `k8s.io/apiserver`.
pub const MAX_OPERATIONS: usize = 10_000;

/// The maximum number of values that a patch may move within lists and maps, or visit to measure
/// their depth.
///
/// Inserting at the start of a list moves all its items: without a limit, a small patch of a long
/// list takes minutes.
const MAX_WORK: usize = 50_000_000;

/// The operations of a JSON patch, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPatch(Vec<Operation>);

/// An operation of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Operation {
    Add(Pointer, Value),
    Remove(Pointer),
    Replace(Pointer, Value),
    Move { from: Pointer, to: Pointer },
    Copy { from: Pointer, to: Pointer },
    Test(Pointer, Value),
}

/// A JSON pointer (RFC 6901), split into its unescaped tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pointer(Vec<String>);

/// Reads the body of a JSON patch. Ignores members of operations that RFC 6902 does not define.
///
/// # Errors
///
/// 400 unless it is a JSON array of objects, 413 for more than [`MAX_OPERATIONS`] operations, 422
/// for an operation that cannot succeed on any object.
pub fn parse(body: &[u8]) -> Result<JsonPatch> {
    let patch = read(body, &mut Vec::new())?;
    let Value::Array(operations) = patch else {
        return Err(wrong_type("", "array", &patch));
    };
    if operations.len() > MAX_OPERATIONS {
        let message = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is \
             {MAX_OPERATIONS}, got {}",
            operations.len()
        );
        return Err(Status::new(413, "RequestEntityTooLarge", message));
    }
    operations.into_iter().map(operation).collect::<Result<_>>().map(JsonPatch)
}

fn operation(operation: Value) -> Result<Operation> {
    let Value::Object(mut members) = operation else {
        return Err(wrong_type("", "object", &operation));
    };
    let name = text(&members, "op")?.unwrap_or_default().to_owned();
    let path = pointer(&members, "path")?;
    let from = pointer(&members, "from")?;
    let value = members.remove("value").unwrap_or_default();
    let operation = match (name.as_str(), path, from) {
        ("add", Some(path), _) => Operation::Add(path, value),
        ("remove", Some(path), _) => Operation::Remove(path),
        ("replace", Some(path), _) => Operation::Replace(path, value),
        ("move", Some(to), Some(from)) => Operation::Move { from, to },
        ("copy", Some(to), Some(from)) => Operation::Copy { from, to },
        ("test", Some(path), _) => Operation::Test(path, value),
        _ => return Err(failed()),
    };
    Ok(operation)
}

/// Returns a member of an operation that must be a string.
fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong_type(name, "string", other)),
    }
}

fn pointer(members: &Map<String, Value>, name: &str) -> Result<Option<Pointer>> {
    let Some(text) = text(members, name)? else {
        return Ok(None);
    };
    if text.is_empty() {
        return Ok(Some(Pointer(Vec::new())));
    }
    let steps = text.strip_prefix('/').ok_or_else(failed)?;
    steps
        .split('/')
        .map(|step| unescape(step).ok_or_else(failed))
        .collect::<Result<_>>()
        .map(|steps| Some(Pointer(steps)))
}

/// Returns the error for a patch with a failed operation. Kubernetes does not report which one.
fn failed() -> Box<Status> {
    Status::new(422, "Invalid", "the server rejected our request due to an error in our request")
        .with(Details::default())
}

impl JsonPatch {
    /// Applies all operations, or none. Keys keep their order; new ones follow.
    ///
    /// # Errors
    ///
    /// 422 if an operation fails: its path does not exist, its test fails, the copies exceed 3 MiB,
    /// its result is nested too deeply, or the patch moves too many values. 413 for a result of
    /// more than 3 MiB.
    pub fn apply(&self, object: &mut Value) -> Result<()> {
        let mut patching = Patching { object: object.clone(), copied: MAX_BYTES, work: MAX_WORK };
        for operation in &self.0 {
            patching.apply(operation).ok_or_else(failed)?;
        }
        if size(&patching.object, MAX_BYTES).is_none() {
            let message = format!("Request entity too large: limit is {MAX_BYTES}");
            return Err(Status::new(413, "RequestEntityTooLarge", message));
        }
        *object = patching.object;
        Ok(())
    }
}

/// An object between two operations, and the remaining budget.
struct Patching {
    object: Value,
    copied: usize,
    work: usize,
}

impl Patching {
    /// Applies one operation. Returns `None` if it fails.
    fn apply(&mut self, operation: &Operation) -> Option<()> {
        match operation {
            Operation::Add(path, value) => self.add(path, value.clone()),
            Operation::Remove(path) => self.remove(path).map(drop),
            Operation::Replace(path, value) => self.replace(path, value.clone()),
            Operation::Move { from, to } => self.relocate(from, to),
            Operation::Copy { from, to } => {
                let source = from.find_or_null(&self.object)?;
                self.copied = self.copied.checked_sub(size(source, self.copied)?)?;
                let copy = source.clone();
                self.add(to, copy)
            }
            Operation::Test(path, value) => {
                same(path.find_or_null(&self.object)?, value).then_some(())
            }
        }
    }

    fn replace(&mut self, path: &Pointer, value: Value) -> Option<()> {
        self.spend_depth(path, &value)?;
        let Some((last, parent)) = path.0.split_last() else {
            self.object = value;
            return Some(());
        };
        match find_mut(&mut self.object, parent)? {
            Value::Object(fields) => _ = fields.insert(last.clone(), value),
            Value::Array(items) => *items.get_mut(index(last)?)? = value,
            _ => return None,
        }
        Some(())
    }

    fn relocate(&mut self, from: &Pointer, to: &Pointer) -> Option<()> {
        if from == to && !from.0.is_empty() {
            return from.find(&self.object).map(drop);
        }
        if to.0.starts_with(&from.0) {
            return None;
        }
        let value = self.remove(from)?;
        self.add(to, value)
    }

    fn add(&mut self, path: &Pointer, value: Value) -> Option<()> {
        self.spend_depth(path, &value)?;
        let Some((last, parent)) = path.0.split_last() else {
            self.object = value;
            return Some(());
        };
        match find_mut(&mut self.object, parent)? {
            Value::Object(fields) => {
                fields.insert(last.clone(), value);
            }
            Value::Array(items) => {
                let index = if last == "-" { items.len() } else { index(last)? };
                let moved = items.len().checked_sub(index)?;
                self.work = self.work.checked_sub(moved)?;
                items.insert(index, value);
            }
            _ => return None,
        }
        Some(())
    }

    fn remove(&mut self, path: &Pointer) -> Option<Value> {
        let (last, parent) = path.0.split_last()?;
        match find_mut(&mut self.object, parent)? {
            Value::Object(fields) => {
                self.work = self.work.checked_sub(fields.len())?;
                fields.shift_remove(last)
            }
            Value::Array(items) => {
                let index = index(last).filter(|index| *index < items.len())?;
                self.work = self.work.checked_sub(items.len() - index)?;
                Some(items.remove(index))
            }
            _ => None,
        }
    }

    /// Rejects a value that would nest the object too deeply.
    fn spend_depth(&mut self, path: &Pointer, value: &Value) -> Option<()> {
        let values = count(value, MAX_DEPTH.checked_sub(path.0.len())?)?;
        self.work = self.work.checked_sub(values)?;
        Some(())
    }
}

impl Pointer {
    fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        find(value, &self.0)
    }

    /// Finds a value as [`find`](Self::find) does. An absent key of a map is null.
    fn find_or_null<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        let Some((last, parent)) = self.0.split_last() else {
            return Some(value);
        };
        match find(value, parent)? {
            Value::Object(fields) => Some(fields.get(last).unwrap_or(&Value::Null)),
            Value::Array(items) => items.get(index(last)?),
            _ => None,
        }
    }
}

fn find<'a>(value: &'a Value, steps: &[String]) -> Option<&'a Value> {
    steps.iter().try_fold(value, |value, step| match value {
        Value::Object(fields) => fields.get(step),
        Value::Array(items) => items.get(index(step)?),
        _ => None,
    })
}

fn find_mut<'a>(value: &'a mut Value, steps: &[String]) -> Option<&'a mut Value> {
    steps.iter().try_fold(value, |value, step| match value {
        Value::Object(fields) => fields.get_mut(step),
        Value::Array(items) => items.get_mut(index(step)?),
        _ => None,
    })
}

/// Parses a list index; `None` if it has a sign or leading zeros.
fn index(step: &str) -> Option<usize> {
    step.parse().ok().filter(|_| is_index(step))
}

/// Returns `true` if two values are equal by RFC 6902: it compares numbers by value, and ignores
/// the order of keys.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || decimal(left).is_some_and(|value| Some(value) == decimal(right))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}

/// Returns the sign of a number, its significant digits, and the power of ten of the last digit.
fn decimal(number: &Number) -> Option<(bool, String, i64)> {
    let text = number.to_string();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.as_str()),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let trimmed = digits.trim_end_matches('0');
    if trimmed.is_empty() {
        return Some((false, String::new(), 0));
    }
    let exponent: i64 = exponent.parse().ok()?;
    let shift =
        i64::try_from(digits.len() - trimmed.len()).ok()? - i64::try_from(fraction.len()).ok()?;
    Some((negative, trimmed.to_owned(), exponent.checked_add(shift)?))
}
