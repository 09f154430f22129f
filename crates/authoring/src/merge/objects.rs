//! The objects of the merged Template: in the order of the files, each once.

use std::collections::BTreeMap;

use crate::merge::part::Part;
use krm_core::identity::Identity;
use krm_template_engine::{has_openshift_reference, legacy, parts as pieces, with_values};
use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

/// Removes objects that an earlier Template has too, and reports different ones with one identity.
pub(super) fn unify(parts: &mut [Part<'_>], found: &mut Diagnostics) {
    let objects: Vec<Vec<Found>> = parts.iter().map(find).collect();
    let mut seen: BTreeMap<&Identity, (usize, &Found)> = BTreeMap::new();
    let mut gone: Vec<(usize, &Found)> = Vec::new();
    for (index, own) in objects.iter().enumerate() {
        for object in own {
            let Some((other, first)) = seen.get(&object.identity).copied() else {
                continue;
            };
            let (Some(part), Some(earlier)) = (parts.get(index), parts.get(other)) else {
                continue;
            };
            if first.value(earlier) == object.value(part) {
                gone.push((index, object));
            } else {
                found.push(conflict(earlier, first, part, object));
            }
        }
        for object in own {
            seen.entry(&object.identity).or_insert((index, object));
        }
    }
    warn_of_defaults(parts, &objects, found);
    for (index, object) in gone.into_iter().rev() {
        if let Some(part) = parts.get_mut(index) {
            object.remove(part);
        }
    }
}

/// Hands on an object, or the objects of the list that it is, each with its field.
pub(super) fn each_mut<'d>(
    object: &mut Value<'d>,
    field: &str,
    run: &mut dyn FnMut(&mut Value<'d>, &str),
) {
    if !is_list(object) {
        run(object, field);
        return;
    }
    let items = object.get_mut("items").and_then(Value::items_mut);
    for (index, item) in items.into_iter().flatten().enumerate() {
        each_mut(item, &format!("{field}.items[{index}]"), run);
    }
}

/// Whether expanding takes the objects out of it.
fn is_list(object: &Value<'_>) -> bool {
    let kind = object.str_at(&["kind"]).unwrap_or_default();
    kind.ends_with("List") && object.get("items").and_then(Value::items).is_some()
}

/// The kind and the name of an object for a message.
pub(super) fn describe(object: &Value<'_>) -> String {
    match Identity::of(object) {
        Some(identity) => format!("`{identity}`"),
        None => "an object without a name".to_owned(),
    }
}

/// An object of a Template, with where it is in the list `objects`.
pub(super) struct Found {
    /// Its index, and those in the lists around it.
    indices: Vec<usize>,
    pub(super) identity: Identity,
}

impl Found {
    pub(super) fn field(&self) -> String {
        let mut indices = self.indices.iter();
        let first = indices.next().copied().unwrap_or_default();
        let field = format!("objects[{first}]");
        indices.fold(field, |field, index| format!("{field}.items[{index}]"))
    }

    pub(super) fn value<'p, 'd>(&self, part: &'p Part<'d>) -> Option<&'p Value<'d>> {
        let (first, inner) = self.indices.split_first()?;
        let object = part.items("objects").get(*first)?;
        inner.iter().try_fold(object, |object, index| object.get("items")?.items()?.get(*index))
    }

    fn remove(&self, part: &mut Part<'_>) {
        let Some((last, above)) = self.indices.split_last() else {
            return;
        };
        let objects = part.items_mut("objects");
        let items = above.iter().try_fold(objects, |items, index| {
            let inner = items?.get_mut(*index)?.get_mut("items")?;
            Some(inner.items_mut())
        });
        if let Some(items) = items.flatten().filter(|items| *last < items.len()) {
            items.remove(*last);
        }
    }

    /// Where its name is written.
    fn place(&self, part: &Part<'_>) -> krm_yaml::source::Place {
        part.place(self.value(part).and_then(|value| value.at(&["metadata", "name"])))
    }
}

/// The objects of a Template that have a kind and a name.
pub(super) fn find(part: &Part<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (index, object) in part.items("objects").iter().enumerate() {
        collect(object, &mut vec![index], &mut found);
    }
    found
}

fn collect(object: &Value<'_>, indices: &mut Vec<usize>, found: &mut Vec<Found>) {
    if is_list(object) {
        let items = object.get("items").and_then(Value::items);
        for (index, item) in items.unwrap_or_default().iter().enumerate() {
            indices.push(index);
            collect(item, indices, found);
            indices.pop();
        }
        return;
    }
    let Some(mut identity) = Identity::of(object).filter(|one| !one.name.is_empty()) else {
        return;
    };
    if identity.group.is_empty() {
        // As expanding: old kinds get the group that they have today.
        let group = legacy::group_of(&identity.kind);
        group.unwrap_or_default().clone_into(&mut identity.group);
    }
    found.push(Found { indices: indices.clone(), identity });
}

fn conflict(earlier: &Part<'_>, first: &Found, part: &Part<'_>, object: &Found) -> Diagnostic {
    let message = format!(
        "`{}` and `{}` both create `{}`, with different fields",
        earlier.label, part.label, object.identity
    );
    let dialect = part.template.dialect();
    let name = &object.identity.name;
    let refers = pieces(name, dialect).any(|piece| piece.name().is_some());
    let hint = if refers {
        format!("{}; or rename the object in one of the files", part.prefix_hint())
    } else {
        "rename the object in one of the files: its name has no reference, so `--prefix` does not help"
            .to_owned()
    };
    let place = object.value(part).and_then(|value| value.at(&["metadata", "name"]));
    part.error(message, place)
        .rule("duplicate-object")
        .related(first.place(earlier), format!("first here in `{}`", earlier.label))
        .field(object.field())
        .hint(hint)
}

/// Warns of objects whose names become equal if no values are given.
fn warn_of_defaults(parts: &[Part<'_>], objects: &[Vec<Found>], found: &mut Diagnostics) {
    let defaults = defaults(parts);
    let mut seen: BTreeMap<Identity, (usize, &Found)> = BTreeMap::new();
    for (index, own) in objects.iter().enumerate() {
        let Some(part) = parts.get(index) else {
            continue;
        };
        let own: Vec<(Identity, &Found)> = own
            .iter()
            .map(|object| (with_defaults(part, &object.identity, &defaults), object))
            .collect();
        for (identity, object) in &own {
            let Some((other, first)) = seen.get(identity).copied() else {
                continue;
            };
            if first.identity == object.identity {
                continue;
            }
            let Some(earlier) = parts.get(other) else {
                continue;
            };
            let message = format!(
                "`{}` of `{}` and `{}` of `{}` are one object unless values differ from the defaults",
                first.identity, earlier.label, object.identity, part.label
            );
            let place = object.value(part).and_then(|value| value.at(&["metadata", "name"]));
            found.push(
                part.warning(message, place)
                    .rule("duplicate-object")
                    .related(first.place(earlier), "the other one")
                    .field(object.field())
                    .hint("change a default, or give values with which the names differ"),
            );
        }
        for (identity, object) in own {
            seen.entry(identity).or_insert((index, object));
        }
    }
}

/// The defaults of the merged Template that are plain texts.
fn defaults(parts: &[Part<'_>]) -> BTreeMap<String, String> {
    let mut defaults = BTreeMap::new();
    for part in parts {
        for parameter in part.items("parameters") {
            let text = |key: &str| parameter.get(key).and_then(Value::as_str);
            if let (Some(name), Some(value)) = (text("name"), text("value")) {
                defaults.entry(name.to_owned()).or_insert_with(|| value.to_owned());
            }
        }
    }
    let values = parts.first().and_then(|first| first.value.get("values")?.entries());
    for (name, value) in values.unwrap_or_default() {
        if let Some(value) = value.as_str() {
            defaults.insert(name.clone().into_owned(), value.to_owned());
        }
    }
    defaults
}

/// An identity with these values put in.
fn with_defaults(
    part: &Part<'_>,
    identity: &Identity,
    defaults: &BTreeMap<String, String>,
) -> Identity {
    let dialect = part.template.dialect();
    let value = |name: &str| {
        let value = defaults.get(name).filter(|value| !value.is_empty());
        value.map(String::as_str)
    };
    let resolved = |text: &str| with_values(text, dialect, value);
    let is_removed =
        part.template.removes_namespaces() && !has_openshift_reference(&identity.namespace);
    Identity {
        group: identity.group.clone(),
        kind: resolved(&identity.kind),
        namespace: if is_removed { String::new() } else { resolved(&identity.namespace) },
        name: resolved(&identity.name),
    }
}
