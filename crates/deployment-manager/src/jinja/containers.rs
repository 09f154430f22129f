//! Lists and mappings that templates can change, as in Python.

use std::cmp;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{DynObject, Enumerator, Object, ObjectRepr, ValueKind};
use minijinja::{Error, ErrorKind, Value};

use super::work;

/// Containers nest at most this deep.
const MAX_DEPTH: usize = 100;

/// The most parts of a value.
pub(super) const MAX_PARTS: usize = 1_000_000;

/// What a list counts as in [`work::visit`], without its items.
const COST: usize = 10;
/// What a mapping counts as, without its entries.
const COST_OF_MAPPING: usize = 50;

/// The most parts of a tuple that is a key.
const MAX_KEY: usize = 100;

/// A list.
#[derive(Debug, Default)]
pub(super) struct List {
    items: Mutex<Vec<Value>>,
    level: Level,
    /// The name that it is printed with, as `dict_keys([…])`.
    name: Option<&'static str>,
}

/// A mapping, in the order in which its keys were added.
#[derive(Debug, Default)]
pub(super) struct Dict {
    entries: Mutex<Entries>,
    level: Level,
    /// Keys whose absence is an error.
    expected: &'static [&'static str],
}

/// The greatest number of containers around a container.
#[derive(Debug, Default)]
struct Level(AtomicUsize);

/// The entries of a mapping.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    by_age: BTreeMap<u64, (Value, Value)>,
    ages: BTreeMap<Value, u64>,
    next: u64,
}

/// A variable of `env` that was not given.
#[derive(Debug)]
pub(super) struct Missing(String);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Level {
    /// Notes that the container is inside one of this level. False if that was known, and so for
    /// everything in it.
    fn rises_to(&self, level: usize) -> bool {
        self.0.fetch_max(level, Ordering::Relaxed) < level
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Notes that a value is now inside of a container of this level.
fn settle(value: &Value, above: usize) -> Result<(), Error> {
    settle_part(value, above + 1, &mut 0)
}

/// Checks a value that becomes a variable, or with `is_part` an attribute of a namespace. Values
/// that nest too deep would exhaust the stack when they are freed.
pub(super) fn keep(value: &Value, is_part: bool) -> Result<(), Error> {
    settle_part(value, usize::from(is_part), &mut 0)
}

fn settle_part(value: &Value, level: usize, visited: &mut usize) -> Result<(), Error> {
    *visited += 1;
    if *visited > MAX_PARTS {
        let detail = "a value has more than a million parts";
        return Err(Error::new(ErrorKind::InvalidOperation, detail));
    }
    work::visit(2 + value.as_str().map_or(0, str::len) / 16)?;
    let Some(object) = value.as_object() else {
        return Ok(());
    };
    if level > MAX_DEPTH {
        let detail = "lists and mappings nest more than 100 deep, or contain themselves";
        return Err(Error::new(ErrorKind::InvalidOperation, detail));
    }
    if let Some(list) = value.downcast_object_ref::<List>() {
        if list.level.rises_to(level) {
            for item in list.to_vec() {
                settle_part(&item, level + 1, visited)?;
            }
        }
    } else if let Some(dict) = value.downcast_object_ref::<Dict>() {
        if dict.level.rises_to(level) {
            for (_, item) in dict.pairs() {
                settle_part(&item, level + 1, visited)?;
            }
        }
    } else if value.is_tuple() || value.downcast_object_ref::<Group>().is_some() {
        for item in value.try_iter()? {
            settle_part(&item, level + 1, visited)?;
        }
    } else if let Some(generator) = value.downcast_object_ref::<Generator>() {
        for item in generator.left() {
            settle_part(&item, level + 1, visited)?;
        }
    } else if object.type_name().ends_with("::Loop") {
        if level > 0 {
            let detail = "`loop` cannot be a part of another value";
            return Err(Error::new(ErrorKind::InvalidOperation, detail));
        }
    } else if value.kind() == ValueKind::Map {
        for key in value.try_iter().into_iter().flatten() {
            settle_part(&value.get_item(&key)?, level + 1, visited)?;
        }
    } else if object.repr() == ObjectRepr::Plain
        && let Enumerator::Values(parts) = object.enumerate()
    {
        for part in parts {
            settle_part(&part, level + 1, visited)?;
        }
    }
    Ok(())
}

/// The number of parts of tuples in a value, or in the items of a list: comparing these is not
/// charged otherwise.
pub(super) fn weight(value: &Value) -> usize {
    let mut parts = 0;
    if let Some(list) = value.downcast_object_ref::<List>() {
        for item in locked(&list.items).iter() {
            weigh(item, &mut parts);
        }
    } else {
        weigh(value, &mut parts);
    }
    parts
}

fn weigh(value: &Value, parts: &mut usize) {
    *parts += 1;
    if *parts > MAX_PARTS || !value.is_tuple() {
        return;
    }
    for item in value.try_iter().into_iter().flatten() {
        weigh(&item, parts);
    }
}

impl List {
    /// A new list.
    pub(super) fn of(items: Vec<Value>) -> Result<Value, Error> {
        work::visit(COST)?;
        let list = Self::default();
        for item in &items {
            settle(item, 0)?;
        }
        *locked(&list.items) = items;
        Ok(Value::from_object(list))
    }

    /// A new list of texts, numbers and the like.
    pub(super) fn of_scalars(items: Vec<Value>) -> Value {
        Value::from_object(Self {
            items: Mutex::new(items),
            ..Self::default()
        })
    }

    /// Keys, values or entries of a mapping.
    pub(super) fn view(name: &'static str, items: Vec<Value>) -> Value {
        Value::from_object(Self {
            items: Mutex::new(items),
            name: Some(name),
            ..Self::default()
        })
    }

    /// The name that it is printed with, if it has one.
    pub(super) const fn name(&self) -> Option<&'static str> {
        self.name
    }

    /// The items.
    pub(super) fn to_vec(&self) -> Vec<Value> {
        locked(&self.items).clone()
    }

    /// The number of items.
    pub(super) fn len(&self) -> usize {
        locked(&self.items).len()
    }

    fn get(&self, index: usize) -> Option<Value> {
        locked(&self.items).get(index).cloned()
    }

    /// Adds an item before this place.
    pub(super) fn insert(&self, index: usize, item: &Value) -> Result<(), Error> {
        let at = {
            let mut items = locked(&self.items);
            let at = index.min(items.len());
            items.insert(at, item.clone());
            at
        };
        settle(item, self.level.get()).inspect_err(|_| {
            locked(&self.items).remove(at);
        })
    }

    /// Adds an item at the end.
    pub(super) fn append(&self, item: &Value) -> Result<(), Error> {
        self.insert(usize::MAX, item)
    }

    /// Removes the item in this place.
    pub(super) fn remove(&self, index: usize) -> Option<Value> {
        let mut items = locked(&self.items);
        (index < items.len()).then(|| items.remove(index))
    }

    /// Replaces all items by items that were in the list.
    pub(super) fn reorder(&self, items: Vec<Value>) {
        *locked(&self.items) = items;
    }
}

/// The items of a list as it is when they are reached.
struct Live {
    list: Arc<List>,
    next: usize,
}

impl Iterator for Live {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let item = self.list.get(self.next)?;
        self.next += 1;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.list.len().saturating_sub(self.next);
        (left, Some(left))
    }
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get(key.as_usize()?)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Iter(Box::new(Live {
            list: Arc::clone(self),
            next: 0,
        }))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.len())
    }

    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<cmp::Ordering> {
        let other = other.downcast_ref::<Self>()?;
        (!work::compare(self.len().min(other.len()))).then_some(cmp::Ordering::Less)
    }
}

impl Entries {
    fn get(&self, key: &Value) -> Option<&Value> {
        let age = self.ages.get(key)?;
        Some(&self.by_age.get(age)?.1)
    }

    fn insert(&mut self, key: Value, value: Value) {
        if let Some((_, old)) = self.ages.get(&key).and_then(|age| self.by_age.get_mut(age)) {
            *old = value;
            return;
        }
        self.ages.insert(key.clone(), self.next);
        self.by_age.insert(self.next, (key, value));
        self.next += 1;
    }

    fn remove(&mut self, key: &Value) -> Option<Value> {
        let age = self.ages.remove(key)?;
        Some(self.by_age.remove(&age)?.1)
    }

    fn pop(&mut self) -> Option<(Value, Value)> {
        let (_, (key, value)) = self.by_age.pop_last()?;
        self.ages.remove(&key);
        Some((key, value))
    }
}

/// Whether a tuple is too large for a key.
fn is_heavy(key: &Value) -> bool {
    key.is_tuple() && weight(key) > MAX_KEY
}

impl Dict {
    /// A new mapping.
    pub(super) fn of(pairs: impl IntoIterator<Item = (Value, Value)>) -> Result<Value, Error> {
        work::visit(COST_OF_MAPPING)?;
        let dict = Self::default();
        for (key, value) in pairs {
            dict.insert(&key, &value)?;
        }
        Ok(Value::from_object(dict))
    }

    /// The variables of an expansion: reading one of the service's own that is not given is an
    /// error.
    pub(super) fn env(pairs: impl IntoIterator<Item = (Value, Value)>) -> Result<Value, Error> {
        let dict = Self {
            expected: &[
                "deployment",
                "project",
                "project_number",
                "current_time",
                "username",
            ],
            ..Self::default()
        };
        for (key, value) in pairs {
            dict.insert(&key, &value)?;
        }
        Ok(Value::from_object(dict))
    }

    /// The mapping without errors for keys that are not there.
    pub(super) fn given(self: &Arc<Self>) -> Result<Value, Error> {
        if self.expected.is_empty() {
            return Ok(Value::from_dyn_object(Arc::clone(self)));
        }
        Self::of(self.pairs())
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &Value) -> Option<Value> {
        if is_heavy(key) {
            return None;
        }
        locked(&self.entries).get(key).cloned()
    }

    /// Sets the value of a key.
    pub(super) fn insert(&self, key: &Value, value: &Value) -> Result<(), Error> {
        if is_heavy(key) {
            let detail = format!("a key of a mapping has more than {MAX_KEY} parts");
            return Err(Error::new(ErrorKind::InvalidOperation, detail));
        }
        let is_unhashable = key.downcast_object_ref::<List>().is_some()
            || key.downcast_object_ref::<Self>().is_some();
        if is_unhashable {
            let detail = format!("a {} cannot be a key of a mapping", key.kind());
            return Err(Error::new(ErrorKind::InvalidOperation, detail));
        }
        locked(&self.entries).insert(key.clone(), value.clone());
        settle(value, self.level.get()).inspect_err(|_| {
            locked(&self.entries).remove(key);
        })
    }

    /// Removes a key.
    pub(super) fn remove(&self, key: &Value) -> Option<Value> {
        if is_heavy(key) {
            return None;
        }
        locked(&self.entries).remove(key)
    }

    /// Removes the newest entry.
    pub(super) fn pop(&self) -> Option<(Value, Value)> {
        locked(&self.entries).pop()
    }

    /// Removes all entries.
    pub(super) fn clear(&self) {
        *locked(&self.entries) = Entries::default();
    }

    /// The entries in order.
    pub(super) fn pairs(&self) -> Vec<(Value, Value)> {
        locked(&self.entries).by_age.values().cloned().collect()
    }

    /// The keys in order.
    pub(super) fn keys(&self) -> Vec<Value> {
        let entries = locked(&self.entries);
        entries
            .by_age
            .values()
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        locked(&self.entries).by_age.len()
    }
}

impl Object for Dict {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get(key).or_else(|| {
            let name = key.as_str().filter(|name| self.expected.contains(name))?;
            Some(Value::from_object(Missing(name.to_owned())))
        })
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.keys())
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.len())
    }

    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<cmp::Ordering> {
        let other = other.downcast_ref::<Self>()?;
        (!work::compare(self.len().min(other.len()))).then_some(cmp::Ordering::Less)
    }
}

/// Why reading it is an error.
#[derive(Debug)]
pub(super) struct NotGiven(pub String);

impl fmt::Display for NotGiven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`env` has no `{}`", self.0)
    }
}

impl std::error::Error for NotGiven {}

impl Missing {
    /// The error of reading it.
    pub(super) fn error(&self) -> Error {
        let reason = NotGiven(self.0.clone());
        Error::new(ErrorKind::UndefinedError, reason.to_string()).with_source(reason)
    }
}

impl Object for Missing {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn is_true(self: &Arc<Self>) -> bool {
        false
    }

    fn get_value(self: &Arc<Self>, _: &Value) -> Option<Value> {
        Some(Value::from_dyn_object(Arc::clone(self)))
    }

    fn render(self: &Arc<Self>, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// Items that can be read once.
#[derive(Debug)]
pub(super) struct Generator(Mutex<std::vec::IntoIter<Value>>);

impl Generator {
    /// Items that can be read once.
    pub(super) fn of(items: Vec<Value>) -> Value {
        Value::from_object(Self(Mutex::new(items.into_iter())))
    }

    /// The items that were not read.
    fn left(&self) -> Vec<Value> {
        locked(&self.0).as_slice().to_vec()
    }
}

/// The remaining items of a generator.
struct Rest(Arc<Generator>);

impl Iterator for Rest {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        locked(&self.0.0).next()
    }
}

impl Object for Generator {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Iter(Box::new(Rest(Arc::clone(self))))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        None
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<generator object>")
    }
}

/// Items that have the same value of an attribute.
#[derive(Debug)]
pub(super) struct Group {
    /// The value.
    pub grouper: Value,
    /// The items.
    pub list: Value,
}

impl Object for Group {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match (key.as_str(), key.as_usize()) {
            (Some("grouper"), _) | (_, Some(0)) => Some(self.grouper.clone()),
            (Some("list"), _) | (_, Some(1)) => Some(self.list.clone()),
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(vec![self.grouper.clone(), self.list.clone()])
    }
}

/// The numbers of a `range`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub start: i64,
    pub stop: i64,
    pub step: i64,
}

impl Range {
    fn get(self, index: usize) -> Option<i64> {
        let index = i64::try_from(index).ok()?;
        let number = self.start.checked_add(self.step.checked_mul(index)?)?;
        let is_inside = if self.step > 0 {
            number < self.stop
        } else {
            number > self.stop
        };
        is_inside.then_some(number)
    }

    fn len(self) -> usize {
        let distance = if self.step > 0 {
            i128::from(self.stop) - i128::from(self.start)
        } else {
            i128::from(self.start) - i128::from(self.stop)
        };
        let size = i128::from(self.step.unsigned_abs());
        let length = distance.max(0).saturating_add(size - 1) / size.max(1);
        usize::try_from(length).unwrap_or(usize::MAX)
    }
}

impl Object for Range {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get(key.as_usize()?).map(Value::from)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.len())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "range({}, {}", self.start, self.stop)?;
        if self.step != 1 {
            write!(f, ", {}", self.step)?;
        }
        f.write_str(")")
    }
}

/// Whether a value counts as undefined.
pub(super) fn is_undefined(value: &Value) -> bool {
    value.is_undefined() || value.downcast_object_ref::<Missing>().is_some()
}

/// Fails for a variable of `env` that was not given.
pub(super) fn given(value: &Value) -> Result<(), Error> {
    match value.downcast_object_ref::<Missing>() {
        Some(missing) => Err(missing.error()),
        None => Ok(()),
    }
}

/// Whether a value is a sequence.
pub(super) fn is_sequence(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}
