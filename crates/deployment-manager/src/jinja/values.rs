//! Lists that templates can append to, the mapping `env`, and the sizes of values.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Enumerator, Object, ObjectRepr, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State, Value};

use crate::variables;

/// Lists and mappings nest at most this deep: freeing deeper ones would exhaust the stack.
const MAX_DEPTH: usize = 100;

/// The most parts of a value.
pub(super) const MAX_PARTS: usize = 200_000;

/// The longest text that a template may make, in bytes, and the longest texts of a list together.
pub(super) const MAX_TEXT: usize = 16 << 20;

/// The error of a value or operation that is wrong.
pub(super) fn wrong(detail: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, detail.into())
}

/// The error of a text that is too long.
pub(super) fn too_long() -> Error {
    Error::new(ErrorKind::WriteFailure, "a text is longer than 16 MiB")
}

/// A list, as Python has them.
#[derive(Debug, Default)]
pub(super) struct List {
    items: Mutex<Vec<Value>>,
    /// The greatest number of lists and mappings around it.
    level: AtomicUsize,
}

impl List {
    pub(super) fn of(items: Vec<Value>) -> Value {
        Value::from_object(Self { items: Mutex::new(items), level: AtomicUsize::new(0) })
    }

    fn with<T>(&self, change: impl FnOnce(&mut Vec<Value>) -> T) -> T {
        change(&mut self.items.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds an item at the end, unless the list would then contain itself.
    fn append(&self, state: &State<'_, '_>, item: &Value) -> Result<Value, Error> {
        self.with(|items| items.push(item.clone()));
        let level = self.level.load(Ordering::Relaxed) + 1;
        check_in(state, item, level).inspect_err(|_| _ = self.with(Vec::pop))?;
        Ok(Value::from(()))
    }
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let index = key.as_usize()?;
        self.with(|items| items.get(index).cloned())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.with(|items| items.len()))
    }

    fn call_method(
        self: &Arc<Self>,
        state: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        if method != "append" {
            return Err(Error::from(ErrorKind::UnknownMethod));
        }
        let (item,): (&Value,) = from_args(args)?;
        self.append(state, item)
    }
}

/// Makes a list one that can be appended to, and checks a value that is about to be used.
pub(super) fn checked(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    let is_list = matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    if !is_list || value.is_tuple() || value.downcast_object_ref::<List>().is_some() {
        check(state, &value)?;
        return Ok(value);
    }
    let mut items = Vec::new();
    for item in value.try_iter()?.checked() {
        state.consume_fuel(1)?;
        if items.len() == MAX_PARTS {
            return Err(too_many());
        }
        items.push(item?);
    }
    let value = List::of(items);
    check(state, &value)?;
    Ok(value)
}

/// Counts the parts of a value and the bytes of its texts, and charges for them.
pub(super) fn check(state: &State<'_, '_>, value: &Value) -> Result<(), Error> {
    check_in(state, value, 0)
}

/// Checks a value with so many lists and mappings around it.
fn check_in(state: &State<'_, '_>, value: &Value, level: usize) -> Result<(), Error> {
    let mut size = Size::default();
    let result = size.add(value, level);
    let fuel = size.parts / 4 + size.bytes / 64;
    state.consume_fuel(u64::try_from(fuel).unwrap_or(u64::MAX))?;
    result
}

fn too_many() -> Error {
    wrong("a value has more than 200,000 parts")
}

#[derive(Default)]
struct Size {
    parts: usize,
    bytes: usize,
}

impl Size {
    fn add(&mut self, value: &Value, level: usize) -> Result<(), Error> {
        self.parts += 1;
        self.bytes += value.as_str().map_or(0, str::len);
        if self.parts > MAX_PARTS {
            return Err(too_many());
        }
        if self.bytes > MAX_TEXT {
            return Err(too_long());
        }
        let Some(object) = value.as_object() else {
            return Ok(());
        };
        if level > MAX_DEPTH {
            let detail = "lists and mappings nest more than 100 deep, or contain themselves";
            return Err(wrong(detail));
        }
        if let Some(list) = value.downcast_object_ref::<List>() {
            list.level.fetch_max(level, Ordering::Relaxed);
        } else if object.type_name().ends_with("::Loop") {
            let detail = "`loop` cannot be a part of another value";
            return (level == 0).then_some(()).ok_or_else(|| wrong(detail));
        }
        let is_mapping = object.repr() == ObjectRepr::Map;
        if object.repr() == ObjectRepr::Plain || value.downcast_object_ref::<Env>().is_some() {
            return Ok(());
        }
        for item in value.try_iter()?.checked() {
            let item = item?;
            if is_mapping {
                self.add(&value.get_item(&item)?, level + 1)?;
            }
            self.add(&item, level + 1)?;
        }
        Ok(())
    }
}

/// The mapping `env`. Variables of the service that are not given are values that cannot be used.
#[derive(Debug)]
pub(super) struct Env(pub Vec<(String, Value)>);

impl Env {
    fn given(&self, key: &Value) -> Option<Value> {
        let name = key.as_str()?;
        let mut all = self.0.iter();
        all.find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }
}

impl Object for Env {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let missing = |name: &str| variables::NAMES.iter().find(|known| **known == name);
        self.given(key).or_else(|| Some(Value::from_object(Missing(missing(key.as_str()?)?))))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let names = self.0.iter().map(|(name, _)| Value::from(name.as_str()));
        Enumerator::Values(names.collect())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        if method != "get" {
            return Err(Error::from(ErrorKind::UnknownMethod));
        }
        let (key, default): (&Value, Option<Value>) = from_args(args)?;
        Ok(self.given(key).or(default).unwrap_or_else(|| Value::from(())))
    }
}

/// A variable of `env` that is not given. Its text has a zero byte, so that a text made with it is
/// found when it is printed.
#[derive(Debug)]
pub(super) struct Missing(&'static str);

/// The reason of an error: a variable of `env` that is not given.
#[derive(Debug)]
pub(super) struct NotGiven(pub &'static str);

impl NotGiven {
    /// The error of a text that was made with such a variable.
    pub(super) fn found_in(text: &str) -> Option<Error> {
        let (_, rest) = text.split_once('\0')?;
        let rest = rest.to_lowercase();
        let mut names = variables::NAMES.iter().rev();
        let name = names.find(|name| rest.starts_with(**name))?;
        Some(Self(name).into())
    }
}

impl From<NotGiven> for Error {
    fn from(missing: NotGiven) -> Self {
        wrong(missing.to_string()).with_source(missing)
    }
}

impl fmt::Display for NotGiven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`env` has no `{}`", self.0)
    }
}

impl std::error::Error for NotGiven {}

impl Object for Missing {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, _: &Value) -> Option<Value> {
        Some(Value::from_object(Self(self.0)))
    }

    fn is_true(self: &Arc<Self>) -> bool {
        false
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        _: &str,
        _: &[Value],
    ) -> Result<Value, Error> {
        Err(NotGiven(self.0).into())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\0{}\0", self.0)
    }
}

/// Whether a value is undefined, or a variable of `env` that is not given.
pub(super) fn is_undefined(value: &Value) -> bool {
    value.is_undefined() || value.downcast_object_ref::<Missing>().is_some()
}
