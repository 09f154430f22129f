//! Visits the fields of an object by the paths of the tables.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use krm_yaml::{Data, Value};

/// The first key of a path, and the rest. `%2F` is a slash in a key.
fn step(path: &str) -> (Cow<'_, str>, Option<&str>) {
    let (first, rest) = match memchr::memchr(b'/', path.as_bytes()) {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..)),
        None => (path, None),
    };
    if first.contains('%') {
        return (first.replace("%2F", "/").into(), rest);
    }
    (first.into(), rest)
}

/// Paths of a table, which lead through lists, by their keys.
pub(super) struct Tree<R>(Vec<Branch<R>>);

/// A key on the way to fields.
struct Branch<R> {
    key: String,
    /// The rows of the table for this field.
    rows: Vec<R>,
    below: Tree<R>,
}

impl<R> Tree<R> {
    /// Of the rows of a table, with their paths.
    pub(super) fn of<'p>(rows: impl Iterator<Item = (&'p str, R)>) -> Self {
        let mut tree = Self(Vec::new());
        for (path, row) in rows {
            tree.add(path, row);
        }
        tree
    }

    /// Adds a row for the field at a path.
    pub(super) fn add(&mut self, path: &str, row: R) {
        let (key, rest) = step(path);
        let known = self.0.iter_mut().find(|branch| branch.key == key);
        let branch = match known {
            Some(branch) => branch,
            None => self.0.push_mut(Branch {
                key: key.into_owned(),
                rows: Vec::new(),
                below: Self(Vec::new()),
            }),
        };
        match rest {
            Some(rest) => branch.below.add(rest, row),
            None => branch.rows.push(row),
        }
    }

    /// Calls `visit` with each field that a part has, as the mapping and its key, and with its row.
    /// Fields below a field come before it, and those of one mapping come in the order in which they
    /// were added.
    pub(super) fn each<'s>(
        &self,
        part: &mut Value<'s>,
        visit: &mut dyn FnMut(&mut Value<'s>, &str, &R),
    ) {
        if let Data::Sequence(items) = &mut part.data {
            return items.iter_mut().for_each(|item| self.each(item, visit));
        }
        for branch in self.0.iter().filter(|branch| !branch.below.0.is_empty()) {
            if let Some(field) = part.get_mut(&branch.key) {
                branch.below.each(field, visit);
            }
        }
        for branch in self.0.iter().filter(|branch| !branch.rows.is_empty()) {
            if part.get(&branch.key).is_some() {
                for row in &branch.rows {
                    visit(part, &branch.key, row);
                }
            }
        }
    }
}

/// Values of kinds, made when they are first asked for.
pub(super) struct ByKind<T> {
    kinds: BTreeMap<String, BTreeMap<String, Rc<T>>>,
    count: usize,
}

/// How many values are kept. A cluster has a few hundred kinds.
const MAX_KINDS: usize = 1_000;

impl<T> Default for ByKind<T> {
    fn default() -> Self {
        Self { kinds: BTreeMap::new(), count: 0 }
    }
}

impl<T> ByKind<T> {
    /// The value for a kind of an API group.
    pub(super) fn get(&mut self, (group, kind): (&str, &str), make: impl FnOnce() -> T) -> Rc<T> {
        let known = self.kinds.get(kind).and_then(|groups| groups.get(group));
        if let Some(known) = known {
            return Rc::clone(known);
        }
        let new = Rc::new(make());
        if self.count < MAX_KINDS {
            self.count += 1;
            let groups = self.kinds.entry(kind.to_owned()).or_default();
            groups.insert(group.to_owned(), Rc::clone(&new));
        }
        new
    }
}

/// Calls `visit` with each part at a path, which leads through lists. The last list is one part.
pub(super) fn each<'s>(part: &mut Value<'s>, path: &str, visit: &mut dyn FnMut(&mut Value<'s>)) {
    if let Data::Sequence(items) = &mut part.data {
        return items.iter_mut().for_each(|item| each(item, path, visit));
    }
    let (key, rest) = step(path);
    if let Some(field) = part.get_mut(&key) {
        match rest {
            Some(rest) => each(field, rest, visit),
            None => visit(field),
        }
    }
}

/// As [`each`], to look at the parts.
pub(super) fn look(part: &Value<'_>, path: &str, visit: &mut dyn FnMut(&Value<'_>)) {
    if let Some(items) = part.items() {
        return items.iter().for_each(|item| look(item, path, visit));
    }
    let (key, rest) = step(path);
    if let Some(field) = part.get(&key) {
        match rest {
            Some(rest) => look(field, rest, visit),
            None => visit(field),
        }
    }
}

/// As [`each_scalar`], to look at the scalars.
pub(super) fn look_at_scalars(part: &Value<'_>, path: &str, visit: &mut dyn FnMut(&Value<'_>)) {
    look(part, path, &mut |field| look_below(field, visit));
}

fn look_below(part: &Value<'_>, visit: &mut dyn FnMut(&Value<'_>)) {
    match &part.data {
        Data::Sequence(items) => items.iter().for_each(|item| look_below(item, visit)),
        Data::Mapping(_) => {}
        Data::Scalar(_) => visit(part),
    }
}

/// Calls `visit` with each scalar at a path, also those in lists.
pub(super) fn each_scalar<'s>(
    part: &mut Value<'s>,
    path: &str,
    visit: &mut dyn FnMut(&mut Value<'s>),
) {
    each(part, path, &mut |field| scalars(field, visit));
}

fn scalars<'s>(part: &mut Value<'s>, visit: &mut dyn FnMut(&mut Value<'s>)) {
    match &mut part.data {
        Data::Sequence(items) => items.iter_mut().for_each(|item| scalars(item, visit)),
        Data::Mapping(_) => {}
        Data::Scalar(_) => visit(part),
    }
}

/// The lists of containers in a pod specification.
pub(super) const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// The containers of a pod specification.
pub(super) fn containers<'v, 's>(spec: &'v Value<'s>) -> impl Iterator<Item = &'v Value<'s>> {
    let lists = CONTAINERS.iter();
    lists.filter_map(|list| spec.get(list)?.items()).flatten()
}

/// Calls `visit` with each container of a pod specification.
pub(super) fn each_container<'s>(spec: &mut Value<'s>, visit: &mut dyn FnMut(&mut Value<'s>)) {
    for list in CONTAINERS {
        let containers = spec.get_mut(list).and_then(Value::items_mut);
        containers.into_iter().flatten().for_each(&mut *visit);
    }
}
