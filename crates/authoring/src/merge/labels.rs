//! The labels of the merged Template: those of all Templates, or those of each on its own objects.

use crate::merge::objects::{describe, each_mut};
use crate::merge::options::Options;
use crate::merge::part::Part;
use crate::merge::references::as_text;
use krm_core::identity::group;
use krm_core::label_fields::{Branch, for_template};
use krm_template_engine::labels::{Selecting, Set, on_object, on_selectors};
use krm_template_engine::{Dialect, KnownPods, Label, Scope, parts as pieces};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{NodeId, Value};

/// Keeps equal labels in the Template, and moves different ones to the objects.
pub(super) fn unify(parts: &mut [Part<'_>], options: &Options, found: &mut Diagnostics) {
    let all: Vec<Vec<Label>> = parts.iter().map(labels_of).collect();
    let Some(first) = all.first() else { return };
    let are_equal = |labels: &Vec<Label>| {
        let is_in = |label| first.contains(label);
        labels.len() == first.len() && labels.iter().all(is_in)
    };
    if all.iter().all(are_equal) {
        // Even an empty mapping would be put on the objects of the others.
        let is_everywhere = parts.iter().all(|part| field_of(&part.value).is_some());
        if let (Some(part), false) = (parts.first_mut(), is_everywhere)
            && let Some(key) = field_of(&part.value)
        {
            part.value.remove(key);
        }
        return;
    }
    if options.keep_first_labels {
        for (part, labels) in parts.iter().zip(&all).skip(1) {
            let dropped: Vec<&Label> =
                labels.iter().filter(|label| !first.contains(label)).collect();
            if !dropped.is_empty() {
                found.push(part.warning(
                    format!(
                        "{} of Template `{}` are left out, as `--labels keep-first` asks",
                        listed(&dropped),
                        part.label
                    ),
                    field_of(&part.value).and_then(|key| part.value.get(key)),
                ));
            }
        }
        return;
    }
    for (part, labels) in parts.iter_mut().zip(&all) {
        move_to_objects(part, labels, found);
    }
}

/// The field with the labels, which has two names.
fn field_of(template: &Value<'_>) -> Option<&'static str> {
    let is_set = |key: &&str| template.get(key).is_some_and(|labels| !labels.is_null());
    ["labels", "objectLabels"].into_iter().find(is_set)
}

fn labels_of(part: &Part<'_>) -> Vec<Label> {
    let Some(labels) = field_of(&part.value).and_then(|key| part.value.get(key)) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let mut add = |pairs: &Value<'_>, scope| {
        let pairs = pairs.entries().unwrap_or_default().iter();
        all.extend(pairs.map(|(key, value)| Label {
            key: key.clone().into_owned(),
            value: value.as_str().unwrap_or_default().to_owned(),
            scope,
        }));
    };
    add(labels, Scope::Selectors);
    for group in labels.items().unwrap_or_default() {
        if let Some(pairs) = group.get("pairs") {
            add(pairs, Scope::of_group(group.into()));
        }
    }
    all
}

fn listed(labels: &[&Label]) -> String {
    let keys: Vec<String> = labels.iter().map(|one| format!("`{}`", one.key)).collect();
    let noun = if keys.len() == 1 { "label" } else { "labels" };
    format!("{noun} {}", keys.join(", "))
}

/// Puts the labels of a Template on its objects.
fn move_to_objects(part: &mut Part<'_>, labels: &[Label], found: &mut Diagnostics) {
    let Some(key) = field_of(&part.value).filter(|_| !labels.is_empty()) else {
        return;
    };
    let dialect = part.template.dialect();
    let texts = labels.iter().map(|one| Label {
        key: as_text(&one.key, dialect),
        value: as_text(&one.value, dialect),
        scope: one.scope,
    });
    let moved = put_on_objects(part, &texts.collect::<Vec<_>>());
    for (object, path) in &moved.refused {
        let field = format!("{}.{path}", object.field);
        let message = format!("the labels of `{}` cannot be put on {}", part.label, object.title);
        found.push(
            part.error(message, Some(&object.origin()))
                .hint(format!("write `{path}` of the object without a reference"))
                .hint("to keep the labels of the first Template and drop the others, add `--labels keep-first`")
                .field(field),
        );
    }
    for object in &moved.dropped {
        let message = format!(
            "the labels of {} are dropped: they are not a mapping of strings",
            object.title
        );
        found.push(
            part.warning(message, Some(&object.origin()))
                .rule("string-expected")
                .field(format!("{}.metadata.labels", object.field))
                .hint("put the values of labels in quotes"),
        );
    }
    if moved.refused.is_empty() {
        found.push(notice(part, key, labels, &moved));
    }
    part.value.remove(key);
}

/// Says where the labels of a Template are now.
fn notice(part: &Part<'_>, key: &str, labels: &[Label], moved: &Moved) -> Diagnostic {
    let labels: Vec<&Label> = labels.iter().collect();
    let message = format!(
        "the Templates have different labels, so only the objects of `{}` get its {}",
        part.label,
        listed(&labels)
    );
    let selectors = if moved.selecting.is_empty() {
        "selectors and pod templates are as before".to_owned()
    } else {
        let titles = moved.selecting.join(", ");
        format!("selectors and pod templates get them too, in {titles}")
    };
    part.warning(message, part.value.get(key))
        .field(key)
        .hint(selectors)
        .hint("to put the labels of the first Template on all objects, add `--labels keep-first`")
}

/// An object for a message.
struct Named {
    node: Option<NodeId>,
    field: String,
    title: String,
}

impl Named {
    /// A value with its place.
    fn origin(&self) -> Value<'static> {
        Value { origin: self.node, ..Value::string("") }
    }
}

/// The effect of the labels on the objects.
#[derive(Default)]
struct Moved {
    /// The objects whose selectors or pod templates got them too.
    selecting: Vec<String>,
    /// Objects that cannot get them, with the field that is a reference.
    refused: Vec<(Named, String)>,
    /// Objects that lost their own labels.
    dropped: Vec<Named>,
}

/// Puts labels on the objects of a Template as expanding it would.
fn put_on_objects(part: &mut Part<'_>, labels: &[Label]) -> Moved {
    let [all, templates, selectors] = [Scope::Objects, Scope::Templates, Scope::Selectors]
        .map(|scope| pairs(labels.iter().filter(|one| one.scope >= scope)));
    let selects = part.template.labels_selectors();
    let dialect = part.template.dialect();
    let mut moved = Moved::default();
    let mut pods = KnownPods::default();
    for object in part.items_mut("objects").into_iter().flatten() {
        each_mut(object, "", &mut |object, _| {
            pods.add((&*object).into(), &all, &templates);
        });
    }
    let objects = part.items_mut("objects").into_iter().flatten();
    for (index, object) in objects.enumerate() {
        each_mut(object, &format!("objects[{index}]"), &mut |object, field| {
            let named =
                || Named { node: object.origin, field: field.to_owned(), title: describe(object) };
            if let Some(path) = blocked(object, dialect, selects) {
                moved.refused.push((named(), path));
                return;
            }
            let named = named();
            if selects {
                let before = object.clone();
                let selecting = Selecting {
                    templates: Set::of(&templates),
                    selectors: Set::of(&selectors),
                    pods: &|| &pods,
                };
                on_selectors(object.into(), selecting);
                if *object != before {
                    moved.selecting.push(named.title.clone());
                }
            }
            if !on_object(object.into(), Set::of(&all)) {
                moved.dropped.push(named);
            }
        });
    }
    moved
}

fn pairs<'l>(labels: impl Iterator<Item = &'l Label>) -> Vec<(String, String)> {
    labels.map(|one| (one.key.clone(), one.value.clone())).collect()
}

/// The field of an object that is a reference where labels must be put into a mapping.
fn blocked(object: &Value<'_>, dialect: Dialect, with_selectors: bool) -> Option<String> {
    let is_reference = |value: Option<&Value<'_>>| {
        let text = value.and_then(Value::as_str).unwrap_or_default();
        pieces(text, dialect).any(|piece| piece.name().is_some())
    };
    if object.entries().is_none() {
        return Some("metadata".to_owned());
    }
    for path in [&["metadata"][..], &["metadata", "labels"]] {
        if is_reference(object.at(path)) {
            return Some(path.join("."));
        }
    }
    if !with_selectors {
        return None;
    }
    if is_reference(object.get("kind")) {
        return Some("kind".to_owned());
    }
    let kind = object.str_at(&["kind"]).unwrap_or_default();
    let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
    let mut branches = for_template(group(api_version), kind).iter();
    branches.find_map(|branch| reference_on(object, branch, &is_reference))
}

/// The path down a branch to a reference, if there is one.
fn reference_on(
    value: &Value<'_>,
    branch: &Branch,
    is_reference: &dyn Fn(Option<&Value<'_>>) -> bool,
) -> Option<String> {
    if let Some(items) = value.items() {
        return items.iter().find_map(|item| reference_on(item, branch, is_reference));
    }
    let next = value.get(branch.key)?;
    if is_reference(Some(next)) {
        return Some(branch.key.to_owned());
    }
    let mut inner = branch.children.iter();
    let rest = inner.find_map(|inner| reference_on(next, inner, is_reference))?;
    Some(format!("{}.{rest}", branch.key))
}
