//! Definitions of custom resources: names, versions and structural schemas.

use krm_yaml::{Scalar, View};

use crate::walk::{Part, Walk, entries, get, has, is_true, list, steps, text};

/// Checks a CustomResourceDefinition.
pub(crate) fn definition<'v>(walk: &mut Walk<'v>, object: View<'v>) {
    let spec = get(object, "spec");
    let names = spec.and_then(|spec| get(spec, "names"));
    let (Some(spec), Some(names)) = (spec, names) else {
        return;
    };
    let group = text(spec, "group");
    if let (Some(plural), Some(group), Some(name)) =
        (text(names, "plural"), &group, get(object, "metadata").and_then(|meta| text(meta, "name")))
        && name != format!("{plural}.{group}")
    {
        walk.refuse(
            object,
            steps!["metadata", "name"],
            "must be the plural of `spec.names`, `.` and `spec.group`",
        );
    }
    if let Some(group) = &group {
        let is_own = ["k8s.io", "kubernetes.io"].iter().any(|own| {
            group.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        let annotations = get(object, "metadata").and_then(|meta| get(meta, "annotations"));
        let approval = annotations.and_then(|all| text(all, "api-approved.kubernetes.io"));
        let is_approved =
            approval.is_some_and(|text| text.starts_with("unapproved") || text.contains("://"));
        if is_own && !is_approved {
            let path = steps!["metadata", "annotations", "api-approved.kubernetes.io"];
            walk.refuse(object, path, "is required for a group of Kubernetes");
        }
    }
}

/// Checks the versions of a kind.
pub(crate) fn spec<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let stored = list(spec, "versions").filter(|version| is_true(*version, "storage")).count();
    if stored != 1 && get(spec, "versions").is_none_or(View::is_sequence) {
        walk.refuse(spec, steps!["versions"], "must have exactly one version with `storage: true`");
    }
}

/// Checks the structural schema of a version.
pub(crate) fn schema<'v>(walk: &mut Walk<'v>, validation: View<'v>) {
    let Some(root) = get(validation, "openAPIV3Schema").filter(|root| root.is_mapping()) else {
        return;
    };
    let mut path = vec![Part::from("openAPIV3Schema")];
    if text(root, "type").as_deref() != Some("object") {
        walk.refuse(validation, steps!["openAPIV3Schema", "type"], "must be `object`");
        return;
    }
    structural(walk, validation, root, &mut path, Place::Root);
}

/// The most steps to a schema that is looked at.
const MAX_DEPTH: usize = 200;

/// Where a schema is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    Field,
    Item,
    /// In `allOf`, `anyOf`, `oneOf` and `not`, which do not say types.
    Logic,
}

fn structural<'v>(
    walk: &mut Walk<'v>,
    top: View<'v>,
    schema: View<'v>,
    path: &mut Vec<Part<'v>>,
    place: Place,
) {
    if !schema.is_mapping() || path.len() > MAX_DEPTH {
        return;
    }
    let refuse = |walk: &mut Walk<'v>, path: &[Part<'v>], field: &'static str, what: &str| {
        walk.refuse(top, &[path, &[Part::from(field)]].concat(), what);
    };
    for field in [
        "$ref",
        "definitions",
        "dependencies",
        "patternProperties",
        "additionalItems",
        "id",
        "$schema",
    ] {
        if has(schema, field) || (field == "additionalItems" && get(schema, field).is_some()) {
            refuse(walk, path, field, "is not supported in the schema of a custom resource");
        }
    }
    if is_true(schema, "uniqueItems") {
        refuse(walk, path, "uniqueItems", "must not be true: use `x-kubernetes-list-type: set`");
    }
    let kind = text(schema, "type");
    let is_either = is_true(schema, "x-kubernetes-int-or-string");
    let keeps = is_true(schema, "x-kubernetes-preserve-unknown-fields");
    if let Some(kind) = &kind {
        let words = ["array", "boolean", "integer", "number", "object", "string"];
        if !words.contains(&kind.as_ref()) {
            walk.not_one_of(top, &[&path[..], &[Part::from("type")]].concat(), kind, &words);
        }
        // `anyOf` of an integer and a string may say both.
        if place == Place::Logic
            && !walk.passes("x-kubernetes-int-or-string")
            && !matches!(kind.as_ref(), "integer" | "string")
        {
            refuse(walk, path, "type", "must not be set here, to be structural");
        }
    } else if place != Place::Logic
        && !is_either
        && !keeps
        && get(schema, "type").is_none_or(|kind| kind.as_str().is_some())
    {
        refuse(walk, path, "type", "is required, to be structural");
    }
    if kind.as_deref() == Some("array") && get(schema, "items").is_none() && place != Place::Logic {
        refuse(walk, path, "items", "is required for an array");
    }
    let properties = has(schema, "properties");
    if properties && get(schema, "additionalProperties").is_some() && place != Place::Logic {
        refuse(walk, path, "additionalProperties", "must not be set next to `properties`");
    }
    if get(schema, "additionalProperties").and_then(View::scalar) == Some(Scalar::Bool(false)) {
        refuse(walk, path, "additionalProperties", "must not be false");
    }
    list_type(walk, top, schema, path);
    for (index, rule) in list(schema, "x-kubernetes-validations").enumerate() {
        if text(rule, "rule").is_none_or(|rule| rule.trim().is_empty()) {
            walk.missing(
                top,
                &[&path[..], steps!["x-kubernetes-validations", index, "rule"]].concat(),
            );
        }
    }
    let mut below = |walk: &mut Walk<'v>, steps: Vec<Part<'v>>, schema: View<'v>, place: Place| {
        let length = path.len();
        path.extend(steps);
        structural(walk, top, schema, path, place);
        path.truncate(length);
    };
    let inner = if place == Place::Logic { Place::Logic } else { Place::Field };
    for (name, property) in entries(schema, "properties") {
        if place == Place::Root && name == "metadata" {
            continue;
        }
        below(walk, vec![Part::from("properties"), Part::Key(name)], property, inner);
    }
    if let Some(items) = get(schema, "items") {
        let inner = if place == Place::Logic { Place::Logic } else { Place::Item };
        below(walk, vec![Part::from("items")], items, inner);
    }
    if let Some(additional) = get(schema, "additionalProperties") {
        below(walk, vec![Part::from("additionalProperties")], additional, inner);
    }
    if is_either {
        return;
    }
    for field in ["allOf", "anyOf", "oneOf"] {
        for (index, one) in list(schema, field).enumerate() {
            below(walk, vec![Part::from(field), Part::from(index)], one, Place::Logic);
        }
    }
    if let Some(not) = get(schema, "not") {
        below(walk, vec![Part::from("not")], not, Place::Logic);
    }
}

fn list_type<'v>(walk: &mut Walk<'v>, top: View<'v>, schema: View<'v>, path: &[Part<'v>]) {
    const TYPE: &str = "x-kubernetes-list-type";
    const KEYS: &str = "x-kubernetes-list-map-keys";
    let has_keys = has(schema, KEYS);
    let at = |field| [path, &[Part::from(field)]].concat();
    match text(schema, TYPE).as_deref() {
        Some("map") if !has_keys => {
            walk.refuse(top, &at(KEYS), "is required for `x-kubernetes-list-type: map`");
        }
        Some("map") => {
            let Some(items) = get(schema, "items") else {
                return;
            };
            let required: Vec<_> = list(items, "required").filter_map(View::as_str).collect();
            for key in list(schema, KEYS).filter_map(View::as_str) {
                let property = get(items, "properties").and_then(|all| get(all, &key));
                if property.is_none() {
                    walk.refuse(top, &at(KEYS), "must name properties of the items");
                } else if property.and_then(|one| get(one, "default")).is_none()
                    && !required.contains(&key)
                {
                    let what = "must name properties that are required or have a default";
                    walk.refuse(top, &at(KEYS), what);
                }
            }
        }
        None | Some("atomic" | "set") if has_keys => {
            walk.refuse(top, &at(TYPE), "must be `map` next to `x-kubernetes-list-map-keys`");
        }
        None | Some("atomic" | "set") => {}
        Some(other) => walk.not_one_of(top, &at(TYPE), other, &["atomic", "map", "set"]),
    }
}
