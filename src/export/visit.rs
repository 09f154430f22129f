//! Visits the fields of an object by the paths of the tables.

use std::borrow::Cow;

use crate::krm::label_fields::{self, Sets, for_template};
use krm_yaml::{View, ViewMut};

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
    /// A bit for the length of each key: most keys of objects have another one.
    lengths: u64,
}

impl<R> Default for Tree<R> {
    fn default() -> Self {
        Self {
            branches: Vec::new(),
            lengths: 0,
        }
    }
}

/// A key on the way to fields.
struct Branch<R> {
    key: String,
    /// The rows of the table for this field.
    rows: Vec<R>,
    below: Tree<R>,
}

impl<R> Tree<R> {
    /// Of the rows of a table, with their paths. Those below a field come before the field itself.
    pub(super) fn of<'p>(rows: impl Iterator<Item = (&'p str, R)>) -> Self {
        let mut tree = Self::default();
        for (path, row) in rows {
            tree.add(path, row);
        }
        tree
    }

    fn add(&mut self, path: &str, row: R) {
        let (key, rest) = step(path);
        let at = self.branches.iter().position(|branch| branch.key == key);
        self.lengths |= length(&key);
        let at = at.unwrap_or_else(|| {
            self.branches.push(Branch {
                key: key.into_owned(),
                rows: Vec::new(),
                below: Self::default(),
            });
            self.branches.len() - 1
        });
        if let Some(branch) = self.branches.get_mut(at) {
            match rest {
                Some(rest) => branch.below.add(rest, row),
                None => branch.rows.push(row),
            }
        }
    }

    /// Puts a tree below a key that has none.
    pub(super) fn put(&mut self, key: &str, below: Self) {
        self.lengths |= length(key);
        self.branches.push(Branch {
            key: key.to_owned(),
            rows: Vec::new(),
            below,
        });
    }

    /// Calls `visit` with each field that a part has, as the mapping and its key, and with its row.
    pub(super) fn each<'s>(
        &self,
        mut part: ViewMut<'_, 's>,
        visit: &mut dyn FnMut(ViewMut<'_, 's>, &str, &R),
    ) {
        if part.view().is_sequence() {
            return part.each_item(|item| self.each(item, visit));
        }
        for branch in self.branches_in(part.view()) {
            let Some(branch) = self.branches.get(branch) else {
                continue;
            };
            if !branch.below.branches.is_empty()
                && let Some(field) = part.by_ref().get(&branch.key)
            {
                branch.below.each(field, visit);
            }
            for row in &branch.rows {
                visit(part.by_ref(), &branch.key, row);
            }
        }
    }

    /// The branches whose keys a mapping has, by their index, in order.
    fn branches_in(&self, mapping: View<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        if self.branches.is_empty() {
            return found;
        }
        mapping.each_key(self.lengths, |key| {
            let mut branches = self.branches.iter();
            found.extend(branches.position(|branch| branch.key == key));
        });
        found.sort_unstable();
        found
    }
}

/// The bit for the length of a key.
const fn length(key: &str) -> u64 {
    1 << (key.len() % 64)
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
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

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

/// Calls `visit` with the labels of the pods of an object, and with those by which it selects.
pub(super) fn each_label_field<'s>(
    mut object: ViewMut<'_, 's>,
    (group, kind): (&str, &str),
    visit: &mut dyn FnMut(ViewMut<'_, 's>),
) {
    for branch in for_template(group, kind) {
        on_branch(object.by_ref(), branch, visit);
    }
}

fn on_branch<'s>(
    part: ViewMut<'_, 's>,
    branch: &label_fields::Branch,
    visit: &mut dyn FnMut(ViewMut<'_, 's>),
) {
    if part.view().is_sequence() {
        return part.each_item(|item| on_branch(item, branch, visit));
    }
    let Some(mut field) = part.get(branch.key) else {
        return;
    };
    if branch.sets != Sets::No {
        visit(field.by_ref());
    }
    for inner in &branch.children {
        on_branch(field.by_ref(), inner, visit);
    }
}
