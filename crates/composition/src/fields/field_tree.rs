//! The fields that objects of a kind have, as a tree: keys that several paths begin with are followed
//! once.
//!
//! A Deployment has dozens of fields that may name a ConfigMap or a Secret, most of them below
//! `spec/template/spec`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::fields::field_spec::{FieldSpec, Key, MissingField};
use crate::resources::resource::Resource;
use krm_yaml::{Data, Scalar, ViewMut};

/// The number of keys among which one is looked for that a path goes on with.
const MAX_LOOKED_AT: usize = 64;
/// The number of fields in all trees that are kept: a stream may have many kinds.
const MAX_KEPT: usize = 100_000;

/// The trees of some fields, by the API version and the kind of the objects that have them.
#[derive(Default)]
pub(crate) struct FieldTrees {
    by_kind: BTreeMap<String, BTreeMap<String, Rc<FieldTree>>>,
    /// The number of fields in them.
    kept: usize,
}

impl FieldTrees {
    /// The tree of those of `fields` that a resource has. They must be the same each time.
    pub(crate) fn of_resource<'f>(
        &mut self,
        resource: &Resource<'_>,
        fields: impl Iterator<Item = &'f FieldSpec>,
    ) -> Rc<FieldTree> {
        let text = |key| resource.str_at(&[key]).unwrap_or_default();
        self.of_kind(text("apiVersion"), text("kind"), fields)
    }

    /// As [`of_resource`](Self::of_resource), for the objects of an API version and kind.
    pub(crate) fn of_kind<'f>(
        &mut self,
        api_version: &str,
        kind: &str,
        fields: impl Iterator<Item = &'f FieldSpec>,
    ) -> Rc<FieldTree> {
        let known = self.by_kind.get(api_version);
        if let Some(known) = known.and_then(|kinds| kinds.get(kind)) {
            return Rc::clone(known);
        }
        if self.kept > MAX_KEPT {
            *self = Self::default();
        }
        let mut tree = FieldTree::default();
        for (index, field) in fields.enumerate() {
            if field.is_for_type(api_version, kind) {
                tree.add(index, field);
                self.kept += 1;
            }
        }
        let tree = Rc::new(tree);
        let kinds = self.by_kind.entry(api_version.to_owned()).or_default();
        kinds.insert(kind.to_owned(), Rc::clone(&tree));
        tree
    }
}

/// Fields, arranged by the keys of their paths.
#[derive(Debug, Default)]
pub struct FieldTree {
    /// The fields whose path ends here.
    ends: Vec<End>,
    /// The parts of those whose path goes on.
    inner: Vec<(Key, Self)>,
    /// Whether a field here or in the parts is added where it is missing.
    creates: bool,
}

#[derive(Debug)]
struct End {
    /// The position of the field among all.
    index: usize,
    path: Arc<str>,
    creates: bool,
}

/// A field that could not be changed.
pub(crate) struct Problem {
    pub(crate) path: Arc<str>,
    pub(crate) text: String,
}

/// Changes the part of an object at the path of a field, which is named by its position.
pub(crate) type Set<'f, 's> = &'f mut dyn FnMut(usize, ViewMut<'_, 's>) -> Result<(), String>;

impl FieldTree {
    /// Whether it has no fields.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.inner.is_empty()
    }

    /// Whether it has a field with this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        let mut inner = self.inner.iter();
        self.ends.iter().any(|end| &*end.path == path) || inner.any(|(_, tree)| tree.has(path))
    }

    fn add(&mut self, index: usize, field: &FieldSpec) {
        let mut tree = self;
        for key in field.path.keys() {
            tree.creates |= field.create;
            let mut last = tree.inner.iter().rev().take(MAX_LOOKED_AT);
            let known = last.position(|(known, _)| known == key);
            if known.is_none() {
                tree.inner.push((key.clone(), Self::default()));
            }
            let at = tree.inner.len() - 1 - known.unwrap_or_default();
            let Some((_, inner)) = tree.inner.get_mut(at) else {
                return;
            };
            tree = inner;
        }
        tree.creates |= field.create;
        tree.ends.push(End { index, path: field.path.text(), creates: field.create });
    }

    /// Calls `set` with each part of an object that is at the path of a field. Returns its errors, and
    /// one for each path that leads through a scalar.
    pub(crate) fn visit<'s>(
        &self,
        object: ViewMut<'_, 's>,
        missing: MissingField,
        set: Set<'_, 's>,
    ) -> Vec<Problem> {
        let mut visit = Visit { missing, set, problems: Vec::new() };
        visit.part(self, object, false);
        visit.problems
    }

    /// The first field in the tree.
    fn first(&self) -> Option<&End> {
        let inner = || self.inner.first().and_then(|(_, tree)| tree.first());
        self.ends.first().or_else(inner)
    }
}

struct Visit<'v, 's> {
    missing: MissingField,
    set: Set<'v, 's>,
    problems: Vec<Problem>,
}

impl<'s> Visit<'_, 's> {
    /// Visits the fields of a part; a new one has only those that are added.
    fn part(&mut self, tree: &FieldTree, mut part: ViewMut<'_, 's>, is_new: bool) {
        for end in tree.ends.iter().filter(|end| end.creates || !is_new) {
            if let Err(text) = (self.set)(end.index, part.reborrow()) {
                self.problem(Some(end), text);
            }
        }
        if !tree.inner.is_empty() {
            self.inside(tree, part);
        }
    }

    /// Visits the fields inside of a part: of a list, inside of its items up to the first with an
    /// error.
    fn inside(&mut self, tree: &FieldTree, part: ViewMut<'_, 's>) {
        let view = part.view();
        if view.is_mapping() {
            self.in_mapping(tree, part);
        } else if view.is_sequence() {
            let before = self.problems.len();
            let _ = part.try_each_item(|item| {
                self.inside(tree, item);
                if self.problems.len() > before { Err(()) } else { Ok(()) }
            });
        } else if !view.is_null()
            && let Some((key, tree)) = tree.inner.first()
        {
            self.problem(tree.first(), format!("there is no `{key}` in a scalar"));
        }
    }

    fn in_mapping(&mut self, tree: &FieldTree, mut mapping: ViewMut<'_, 's>) {
        for (key, tree) in &tree.inner {
            let name = key.name();
            if name.is_empty() {
                self.problem(tree.first(), "the path has an empty key".to_owned());
                continue;
            }
            let creates = tree.creates && self.missing != MissingField::Nothing && !key.is_list();
            if creates && mapping.view().get(name).is_none() {
                let null = Data::Scalar(Scalar::Null).into();
                let mapping = mapping.reborrow().value_mut();
                mapping.insert(Cow::Owned(name.to_owned()), null);
            }
            let Some(mut field) = mapping.reborrow().get_mut(name) else {
                continue;
            };
            let is_new = field.view().is_null();
            if is_new && !creates {
                continue;
            }
            if is_new && !(tree.inner.is_empty() && self.missing == MissingField::Scalar) {
                field.reborrow().value_mut().set(Data::Mapping(Vec::new()));
            }
            self.part(tree, field, is_new);
        }
    }

    fn problem(&mut self, field: Option<&End>, text: String) {
        let path = field.map(|field| Arc::clone(&field.path)).unwrap_or_default();
        self.problems.push(Problem { path, text });
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldTrees, MAX_KEPT};
    use crate::fields::field_spec::{FieldSpec, MissingField};
    use krm_yaml::{Value, ViewMut};

    fn fields(paths: &[(&str, bool)]) -> Vec<FieldSpec> {
        let fields = paths.iter().map(|(path, create)| FieldSpec {
            path: (*path).into(),
            create: *create,
            ..FieldSpec::default()
        });
        fields.collect()
    }

    /// Sets each field to its position.
    fn set(object: &str, paths: &[(&str, bool)]) -> (String, Vec<String>) {
        let mut object: Value<'_> =
            serde_json::from_str::<serde_json::Value>(object).unwrap().into();
        let tree = FieldTrees::default().of_kind("v1", "Pod", fields(paths).iter());
        let set = &mut |index: usize, part: ViewMut<'_, '_>| {
            part.value_mut().set(Value::number(index.to_string()).data);
            Ok(())
        };
        let problems = tree.visit((&mut object).into(), MissingField::Scalar, set);
        let problems = problems.into_iter();
        let problems = problems.map(|problem| format!("{}: {}", problem.path, problem.text));
        (object.to_json(), problems.collect())
    }

    #[test]
    fn fields_that_begin_alike_are_set_each() {
        let paths = [("a/b/c", false), ("a/d", true), ("a/b/e", true), ("f/g", false)];
        let (object, problems) = set(r#"{"a":[{"b":{"c":7}},{"b":null}]}"#, &paths);
        assert_eq!(object, r#"{"a":[{"b":{"c":0,"e":2},"d":1},{"b":{"e":2},"d":1}]}"#);
        assert!(problems.is_empty());
    }

    #[test]
    fn a_path_through_a_scalar_is_one_error() {
        let paths = [("a/b/c", true), ("a/b/d", false), ("a/e", false)];
        let (object, problems) = set(r#"{"a":[{"b":1,"e":1},{"b":1,"e":1}]}"#, &paths);
        assert_eq!(object, r#"{"a":[{"b":1,"e":2},{"b":1,"e":1}]}"#);
        assert_eq!(problems, ["a/b/c: there is no `c` in a scalar"]);
    }

    #[test]
    fn trees_of_many_kinds_are_not_all_kept() {
        let fields = fields(&[("a", true); 100]);
        let mut trees = FieldTrees::default();
        for kind in 0..2 * MAX_KEPT / fields.len() {
            trees.of_kind("v1", &kind.to_string(), fields.iter());
            assert!(trees.kept <= MAX_KEPT + fields.len());
        }
        assert!(trees.by_kind.values().all(|kinds| kinds.len() <= MAX_KEPT / 100 + 1));
    }
}
