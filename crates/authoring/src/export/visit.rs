//! Visits the fields of an object by the paths of the tables.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use krm_yaml::{KeyIndex, View, ViewMut};

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
pub(super) struct Tree<R> {
    branches: Vec<Branch<R>>,
    /// The keys of the branches.
    keys: KeyIndex,
}

impl<R> Default for Tree<R> {
    fn default() -> Self {
        Self {
            branches: Vec::new(),
            keys: KeyIndex::default(),
        }
    }
}

/// A key on the way to fields.
struct Branch<R> {
    /// The rows of the table for this field.
    rows: Vec<R>,
    below: Tree<R>,
}

impl<R> Tree<R> {
    /// Of the rows of a table, with their paths.
    pub(super) fn of<'p>(rows: impl Iterator<Item = (&'p str, R)>) -> Self {
        let mut tree = Self::default();
        for (path, row) in rows {
            tree.add(path, row);
        }
        tree
    }

    #[cfg(test)]
    pub(super) const fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Adds a row for the field at a path.
    pub(super) fn add(&mut self, path: &str, row: R) {
        let (key, rest) = step(path);
        let at = self.keys.add(&key);
        debug_assert!(at.is_some(), "too many keys beside {path}");
        let Some(at) = at else { return };
        if at == self.branches.len() {
            self.branches.push(Branch {
                rows: Vec::new(),
                below: Self::default(),
            });
        }
        if let Some(branch) = self.branches.get_mut(at) {
            match rest {
                Some(rest) => branch.below.add(rest, row),
                None => branch.rows.push(row),
            }
        }
    }

    /// Calls `visit` with each field that a part has, as the mapping and its key, and with its row.
    /// Fields below a field come before it, and those of one mapping come in the order in which they
    /// were added.
    pub(super) fn each<'s>(
        &self,
        mut part: ViewMut<'_, 's>,
        visit: &mut dyn FnMut(ViewMut<'_, 's>, &str, &R),
    ) {
        if part.view().is_sequence() {
            return part.each_item(|item| self.each(item, visit));
        }
        // A bit for each branch with rows that the mapping has.
        let mut found = 0_u64;
        part.by_ref().each_entry_of(&self.keys, |at, field| {
            if let Some(branch) = self.branches.get(at) {
                if !branch.below.branches.is_empty() {
                    branch.below.each(field, visit);
                }
                found |= u64::from(!branch.rows.is_empty()) << at;
            }
        });
        while found != 0 {
            let at = found.trailing_zeros() as usize;
            if let (Some(branch), Some(key)) = (self.branches.get(at), self.keys.key(at)) {
                for row in &branch.rows {
                    visit(part.by_ref(), key, row);
                }
            }
            found &= found - 1;
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
        Self {
            kinds: BTreeMap::new(),
            count: 0,
        }
    }
}

impl<T> ByKind<T> {
    /// That of a kind of an API group.
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
pub(super) fn each<'s>(part: ViewMut<'_, 's>, path: &str, visit: &mut dyn FnMut(ViewMut<'_, 's>)) {
    if part.view().is_sequence() {
        return part.each_item(|item| each(item, path, visit));
    }
    let (key, rest) = step(path);
    if let Some(field) = part.get(&key) {
        match rest {
            Some(rest) => each(field, rest, visit),
            None => visit(field),
        }
    }
}

/// As [`each`], to look at the parts.
pub(super) fn look(part: View<'_>, path: &str, visit: &mut dyn FnMut(View<'_>)) {
    if let Some(items) = part.items() {
        items.for_each(|item| look(item, path, visit));
        return;
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
pub(super) fn look_at_scalars(part: View<'_>, path: &str, visit: &mut dyn FnMut(View<'_>)) {
    look(part, path, &mut |field| look_below(field, visit));
}

fn look_below(part: View<'_>, visit: &mut dyn FnMut(View<'_>)) {
    match part.items() {
        Some(items) => items.for_each(|item| look_below(item, visit)),
        None if part.is_mapping() => {}
        None => visit(part),
    }
}

/// Calls `visit` with each scalar at a path, also those in lists.
pub(super) fn each_scalar<'s>(
    part: ViewMut<'_, 's>,
    path: &str,
    visit: &mut dyn FnMut(ViewMut<'_, 's>),
) {
    each(part, path, &mut |field| scalars(field, visit));
}

fn scalars<'s>(part: ViewMut<'_, 's>, visit: &mut dyn FnMut(ViewMut<'_, 's>)) {
    if part.view().is_sequence() {
        part.each_item(|item| scalars(item, visit));
    } else if !part.view().is_mapping() {
        visit(part);
    }
}

/// The lists of containers in a pod specification.
pub(super) const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// The containers of a pod specification.
pub(super) fn containers(spec: View<'_>) -> impl Iterator<Item = View<'_>> {
    let lists = CONTAINERS.iter();
    let lists = lists.filter_map(move |list| spec.get(list)?.items());
    lists.flatten()
}

/// Calls `visit` with each container of a pod specification.
pub(super) fn each_container<'s>(
    mut spec: ViewMut<'_, 's>,
    visit: &mut dyn FnMut(ViewMut<'_, 's>),
) {
    for list in CONTAINERS {
        if let Some(containers) = spec.by_ref().get(list) {
            containers.each_item(&mut *visit);
        }
    }
}
