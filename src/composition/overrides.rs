//! `transformerOverrides`: changes parts of an imported transformer.

use std::borrow::Cow;

use crate::composition::model::Declared;
use crate::composition::transformer::{Layer, Transformer};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::suggest::closest;
use crate::yaml::{Cursor, Data, FieldPath, Value};

/// Lists whose items are told apart by a key: kind, the list, the key.
const KEYED: &[(&str, &[&str], &str)] = &[
    ("Template", &["parameters"], "name"),
    ("TemplateInstance", &["spec", "instances"], "name"),
];

/// Fields by which a transformer is found; an override says them, and does not change them.
const IDENTITY: [&str; 4] = ["apiVersion", "kind", "metadata.name", "metadata.namespace"];

/// Merges what `change` says into a transformer: mappings deeply, lists as a whole unless their
/// items have a key, and null takes a field out.
pub(super) fn apply(
    transformer: &mut Transformer,
    change: &Declared,
    diagnostics: &mut Diagnostics,
) {
    let mut merging = Merging {
        kind: &transformer.id.kind,
        layers: Vec::new(),
        diagnostics,
    };
    let value = change.value.clone().without_origin();
    merging.mapping(
        &mut transformer.config,
        value,
        change.cursor(),
        &FieldPath::root(),
    );
    let layers = merging.layers.into_iter();
    let layers = layers.map(|(at, node)| Layer {
        document: std::sync::Arc::clone(&change.document),
        node: node.id(),
        at,
    });
    transformer.layers.extend(layers);
}

struct Merging<'m, 'd> {
    kind: &'m str,
    /// The parts that were put in, with their nodes.
    layers: Vec<(FieldPath, Cursor<'d>)>,
    diagnostics: &'m mut Diagnostics,
}

impl<'d> Merging<'_, 'd> {
    fn mapping(
        &mut self,
        base: &mut Value<'static>,
        change: Value<'static>,
        node: Cursor<'d>,
        at: &FieldPath,
    ) {
        let Data::Mapping(entries) = change.data else {
            return;
        };
        for (key, value) in entries {
            let path = at.clone().key(key.as_ref());
            if IDENTITY.contains(&path.to_string().as_str()) {
                continue;
            }
            let node = node.get(&key).unwrap_or(node);
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
        if value.is_null() {
            base.remove(&key);
            return;
        }
        let has_parts = value.entries().is_some_and(|entries| !entries.is_empty());
        let is_mapping = |value: &Value<'_>| value.entries().is_some();
        if has_parts {
            if !base.get(&key).is_some_and(is_mapping) {
                base.insert(key.clone(), Value::mapping(Vec::new()));
            }
            if let Some(base) = base.get_mut(&key) {
                self.mapping(base, value, node, path);
            }
            return;
        }
        if let Some(item_key) = self.item_key(path)
            && let Some(base) = base.get_mut(&key)
            && base.items().is_some()
            && value.items().is_some()
        {
            self.items(base, value, item_key, node, path);
            return;
        }
        base.insert(key, value);
        self.layers.push((path.clone(), node));
    }

    /// A parameter that the Template does not have, of which only the value is said, is a slip.
    fn warn_of_new(&mut self, base: &[Value<'_>], item: &Value<'_>, node: Cursor<'_>) {
        let mut fields = item.entries().unwrap_or_default().iter();
        let declares = fields.any(|(key, _)| !matches!(key.as_ref(), "name" | "value"));
        let Some(name) = item.str_at(&["name"]).filter(|_| !declares) else {
            return;
        };
        let known = base.iter().filter_map(|one| one.str_at(&["name"]));
        let hint = closest(name, known).map(|known| format!("did you mean `{known}`?"));
        let problem = format!("the imported Template has no parameter `{name}`: it is a new one");
        let warning = Diagnostic::warning(problem).at(node.key_place());
        self.diagnostics.push(warning.maybe_hint(hint));
    }

    /// The key that tells the items of the list at `path` apart.
    fn item_key(&self, path: &FieldPath) -> Option<&'static str> {
        let is_here = |list: &[&str]| path.to_string() == list.join(".");
        KEYED
            .iter()
            .find(|(kind, list, _)| *kind == self.kind && is_here(list))
            .map(|(_, _, key)| *key)
    }

    fn items(
        &mut self,
        base: &mut Value<'static>,
        change: Value<'static>,
        key: &str,
        node: Cursor<'d>,
        path: &FieldPath,
    ) {
        let (Data::Sequence(items), Some(base)) = (change.data, base.items_mut()) else {
            return;
        };
        for (item, node) in items.into_iter().zip(node.children()) {
            let same = |old: &Value<'_>| old.get(key).is_some() && old.get(key) == item.get(key);
            if let Some(index) = base.iter().position(same) {
                let path = path.clone().index(index);
                if let Some(old) = base.get_mut(index) {
                    self.mapping(old, item, node, &path);
                }
            } else {
                if path.to_string() == "parameters" {
                    self.warn_of_new(base, &item, node);
                }
                self.layers.push((path.clone().index(base.len()), node));
                base.push(item);
            }
        }
    }
}
