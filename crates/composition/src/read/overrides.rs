//! `transformerOverrides`: changes parts of an imported transformer.

use std::borrow::Cow;
use std::sync::Arc;

use crate::engine::transformer::{Layer, RUNTIME, Transformer};
use crate::patch::merge::{self, DIRECTIVE, Directive, Merged, Problem};
use crate::read::model::Declared;
use krm_core::scalar::text_of;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Data, Document, FieldPath, Scalar, Step, Value};

/// Lists whose items have a key: the kind, the list, the key.
const KEYED: &[(&str, &[&str], &str)] =
    &[("Template", &["parameters"], "name"), ("TemplateInstance", &["spec", "instances"], "name")];

/// The fields that identify a transformer; an override repeats them and cannot change them.
const IDENTITY: [&str; 4] = ["apiVersion", "kind", "metadata.name", "metadata.namespace"];

/// Keys for the items of other lists, if every item has one and no two are equal: those that kyaml
/// infers (`kyaml/yaml/const.go`), with the name before the type.
const INFERRED: [&str; 7] =
    ["mountPath", "devicePath", "ip", "topologyKey", "name", "containerPort", "type"];

/// Merges `change` into a transformer, as a strategic merge patch. Mappings merge deeply; lists are
/// replaced unless their items have a key. Null removes a field, and `$patch` sets what to do with
/// a mapping, an item or a list. Returns whether the transformer stays.
pub(crate) fn apply(
    transformer: &mut Transformer,
    change: &Declared,
    diagnostics: &mut Diagnostics,
) -> Merged {
    let mut merging = Merging {
        kind: &transformer.id.kind,
        document: &change.document,
        layers: &mut transformer.layers,
        diagnostics,
    };
    let value = change.value.clone().without_origin();
    let node = change.cursor();
    match merging.directive(&value, node) {
        None => {}
        Some(Directive::Delete) => return Merged::Deleted,
        Some(Directive::Replace) => merging.whole(&mut transformer.config, value, node),
        Some(Directive::Merge) => {
            merging.mapping(&mut transformer.config, value, node, &FieldPath::root());
        }
    }
    Merged::Kept
}

struct Merging<'m, 'd> {
    kind: &'m str,
    /// The document of the change.
    document: &'d Arc<Document>,
    /// The layers of the transformer.
    layers: &'m mut Vec<Layer>,
    diagnostics: &'m mut Diagnostics,
}

impl<'d> Merging<'_, 'd> {
    fn put(&mut self, at: FieldPath, node: Cursor<'d>) {
        self.layers.push(Layer { document: Arc::clone(self.document), node: node.id(), at });
    }

    /// The directive of the change; none if it is malformed, which is reported.
    fn directive(&mut self, change: &Value<'_>, node: Cursor<'_>) -> Option<Directive> {
        self.reported(merge::directive(change), node)
    }

    fn reported<T>(&mut self, outcome: Result<T, Problem>, node: Cursor<'_>) -> Option<T> {
        match outcome {
            Ok(found) => Some(found),
            Err(problem) => {
                let place = node.lookup(&problem.path()).unwrap_or(node).place();
                let wrong = Diagnostic::error(problem.message).at(place);
                self.diagnostics.push(wrong.maybe_hint(problem.hint));
                None
            }
        }
    }

    /// Replaces a transformer, except for its identity.
    fn whole(&mut self, base: &mut Value<'static>, change: Value<'static>, node: Cursor<'d>) {
        if let Data::Mapping(entries) = &mut base.data {
            entries.retain(|(key, _)| matches!(key.as_ref(), "apiVersion" | "kind" | "metadata"));
        }
        if let Some(Data::Mapping(entries)) = base.get_mut("metadata").map(|value| &mut value.data)
        {
            entries.retain(|(key, _)| matches!(key.as_ref(), "name" | "namespace"));
        }
        self.mapping(base, change, node, &FieldPath::root());
    }

    fn mapping(
        &mut self,
        base: &mut Value<'static>,
        change: Value<'static>,
        node: Cursor<'d>,
        at: &FieldPath,
    ) {
        let both = RUNTIME.iter().all(|key| change.get(key).is_some());
        let Data::Mapping(entries) = change.data else {
            return;
        };
        for (mut key, value) in entries {
            let node = node.get(&key).unwrap_or(node);
            // The two names of the runtime mean the same: the imported one stays.
            if at.steps().is_empty() && !both && RUNTIME.contains(&key.as_ref()) {
                let mut names = RUNTIME.iter().filter(|name| **name != key);
                let other = names.find(|name| base.get(name).is_some_and(|one| !one.is_null()));
                key = other.map_or(key, |other| Cow::Borrowed(*other));
            }
            let path = at.clone().key(key.as_ref());
            if IDENTITY.contains(&path.to_string().as_str()) || key == DIRECTIVE {
                continue;
            }
            self.field(base, key, value, node, &path);
        }
    }

    fn field(
        &mut self,
        base: &mut Value<'static>,
        key: Cow<'static, str>,
        value: Value<'static>,
        node: Cursor<'d>,
        path: &FieldPath,
    ) {
        match &value.data {
            Data::Scalar(Scalar::Null) => drop(base.remove(&key)),
            Data::Mapping(entries) if !entries.is_empty() => {
                self.field_of_parts(base, &key, value, node, path);
            }
            Data::Sequence(_) => self.field_of_items(base, key, value, node, path),
            _ => {
                base.insert(key, value);
                self.put(path.clone(), node);
            }
        }
    }

    fn field_of_parts(
        &mut self,
        base: &mut Value<'static>,
        key: &str,
        value: Value<'static>,
        node: Cursor<'d>,
        path: &FieldPath,
    ) {
        let Some(directive) = self.directive(&value, node) else {
            return;
        };
        if directive == Directive::Delete {
            base.remove(key);
            return;
        }
        let is_mapping = base.get(key).is_some_and(|base| base.entries().is_some());
        if directive == Directive::Replace || !is_mapping {
            base.insert(key.to_owned().into(), Value::mapping(Vec::new()));
            if directive == Directive::Replace {
                self.put(path.clone(), node);
            }
        }
        if let Some(base) = base.get_mut(key) {
            self.mapping(base, value, node, path);
        }
    }

    fn field_of_items(
        &mut self,
        base: &mut Value<'static>,
        key: Cow<'static, str>,
        value: Value<'static>,
        node: Cursor<'d>,
        path: &FieldPath,
    ) {
        let Data::Sequence(items) = value.data else {
            return;
        };
        let directive = merge::directive_of_list(&items);
        let Some(directive) = self.reported(directive, node) else {
            return;
        };
        if directive == Directive::Delete {
            base.remove(&key);
            return;
        }
        let items: Vec<_> = items.into_iter().zip(node.children()).collect();
        let count = items.len();
        let (_, items): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|(item, _)| merge::is_for_list(item));
        let is_whole = items.len() == count;
        if directive == Directive::Merge
            && let Some(base) = base.get_mut(&key).and_then(Value::items_mut)
            && let Some(item_key) = self.item_key(base, &items, path)
        {
            self.items(base, items, item_key, path);
            return;
        }
        self.put(path.clone(), node);
        let mut new = Vec::with_capacity(items.len());
        for (item, node) in items {
            match item.get(DIRECTIVE) {
                None => {
                    // The index differs from that in the file if a directive comes before the item.
                    if !is_whole {
                        self.put(path.clone().index(new.len()), node);
                    }
                    new.push(item);
                }
                Some(_) => self.undirected(node),
            }
        }
        base.insert(key, Value::sequence(new));
    }

    /// Reports a directive in a list whose items have no key.
    fn undirected(&mut self, item: Cursor<'_>) {
        let place = item.get(DIRECTIVE).unwrap_or(item).place();
        let wrong = Diagnostic::error("`$patch` is not allowed in an item of this list").at(place);
        let hint = "the list is replaced as a whole, because its items have no key";
        self.diagnostics.push(wrong.hint(hint));
    }

    /// Warns of a new parameter that has only a value, which is probably a typing error.
    fn warn_of_new(&mut self, base: &[Value<'_>], item: &Value<'_>, node: Cursor<'_>) {
        let mut fields = item.entries().unwrap_or_default().iter();
        let declares = fields.any(|(key, _)| !matches!(key.as_ref(), "name" | "value"));
        let Some(name) = item.str_at(&["name"]).filter(|_| !declares) else {
            return;
        };
        let known = base.iter().filter_map(|one| one.str_at(&["name"]));
        let hint = closest(name, known).map(|known| format!("did you mean `{known}`?"));
        let problem =
            format!("the imported Template has no parameter `{name}`: a new one is added");
        let warning = Diagnostic::warning(problem).at(node.key_place());
        self.diagnostics.push(warning.maybe_hint(hint));
    }

    /// The key for the items of both lists.
    fn item_key(
        &self,
        base: &[Value<'_>],
        change: &[(Value<'_>, Cursor<'_>)],
        path: &FieldPath,
    ) -> Option<&'static str> {
        let is_here = |list: &[&str]| path.to_string() == list.join(".");
        let mut keyed = KEYED.iter();
        let known = keyed.find(|(kind, list, _)| *kind == self.kind && is_here(list));
        if let Some((_, _, key)) = known {
            return Some(key);
        }
        let change: Vec<&Value<'_>> = change.iter().map(|(item, _)| item).collect();
        let base: Vec<&Value<'_>> = base.iter().collect();
        let mut keys = INFERRED.iter().copied();
        keys.find(|key| tells_apart(key, &base) && tells_apart(key, &change))
    }

    fn items(
        &mut self,
        base: &mut Vec<Value<'static>>,
        items: Vec<(Value<'static>, Cursor<'d>)>,
        key: &str,
        path: &FieldPath,
    ) {
        for (item, node) in items {
            let Some(directive) = self.directive(&item, node) else {
                continue;
            };
            let same = |old: &Value<'_>| old.get(key).is_some() && old.get(key) == item.get(key);
            let found = base.iter().position(same);
            match (found, directive) {
                (Some(index), Directive::Delete) => {
                    base.remove(index);
                    remove_item(self.layers, path, index, base.len());
                }
                (None, Directive::Delete) => {}
                (Some(index), directive) => {
                    let path = path.clone().index(index);
                    if let Some(old) = base.get_mut(index) {
                        if directive == Directive::Replace {
                            *old = Value::mapping(Vec::new());
                            self.put(path.clone(), node);
                        }
                        self.mapping(old, item, node, &path);
                    }
                }
                (None, _) => {
                    if self.kind == "Template" && path.to_string() == "parameters" {
                        self.warn_of_new(base, &item, node);
                    }
                    self.put(path.clone().index(base.len()), node);
                    let mut item = item;
                    item.remove(DIRECTIVE);
                    base.push(item);
                }
            }
        }
    }
}

/// Whether all items have a scalar under a key, and no two the same. An empty list has no key.
fn tells_apart(key: &str, items: &[&Value<'_>]) -> bool {
    let mut known: Vec<&str> = items.iter().filter_map(|item| text_of(item.get(key)?)).collect();
    known.sort_unstable();
    known.dedup();
    !items.is_empty() && known.len() == items.len()
}

/// Updates the layers after an item of a list was removed: the `left` others keep their places in
/// the files.
fn remove_item(layers: &mut Vec<Layer>, list: &FieldPath, gone: usize, left: usize) {
    let moved = |at: &FieldPath| {
        let [Step::Index(index), rest @ ..] = at.steps().strip_prefix(list.steps())? else {
            return None;
        };
        let index = *index;
        let start = list.clone().index(index.saturating_sub(usize::from(index > gone)));
        Some((index, start.join(rest)))
    };
    for index in 0..=left {
        let at = list.clone().index(index);
        let covers = |layer: &&Layer| layer.find(&at).is_some();
        let depth = |layer: &&Layer| layer.at.steps().len();
        let own = layers.iter().filter(covers).max_by_key(depth);
        let own = own.filter(|layer| layer.at != at).and_then(|layer| {
            let node = layer.find(&at)?.id();
            let document = Arc::clone(&layer.document);
            Some(Layer { document, node, at })
        });
        layers.extend(own);
    }
    layers.retain_mut(|layer| match moved(&layer.at) {
        Some((index, _)) if index == gone => false,
        Some((_, at)) => {
            layer.at = at;
            true
        }
        None => true,
    });
}
