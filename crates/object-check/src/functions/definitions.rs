//! Definitions of custom resources: names, versions and structural schemas.

use std::collections::BTreeSet;

use krm_yaml::{Scalar, View};

use crate::formats::Format;
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
        if !group.contains('.') {
            walk.refuse(object, steps!["spec", "group"], "must be a domain with a dot");
        }
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
    if is_true(spec, "preserveUnknownFields") {
        walk.refuse(object, steps!["spec", "preserveUnknownFields"], "must be false");
    }
}

/// Checks the names of a kind.
pub(crate) fn names<'v>(walk: &mut Walk<'v>, names: View<'v>) {
    let (kind, list_kind) = (text(names, "kind"), text(names, "listKind"));
    if let Some(list_kind) = &list_kind {
        if !Format::KindName.fits(list_kind) {
            walk.refuse(
                names,
                steps!["listKind"],
                &format!("must be {}", Format::KindName.words()),
            );
        }
        if kind.as_ref() == Some(list_kind) {
            walk.refuse(names, steps!["listKind"], "must differ from `kind`");
        }
    }
    for (index, name) in list(names, "categories").enumerate() {
        if name.as_str().is_some_and(|name| !Format::Label1035.fits(&name)) {
            walk.refuse(
                names,
                steps!["categories", index],
                &format!("must be {}", Format::Label1035.words()),
            );
        }
    }
}

/// Checks the versions of a kind.
pub(crate) fn spec<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let mut seen = BTreeSet::new();
    let mut stored = 0;
    for (index, version) in list(spec, "versions").enumerate() {
        stored += usize::from(is_true(version, "storage"));
        if let Some(name) = text(version, "name")
            && !seen.insert(name)
        {
            walk.refuse(spec, steps!["versions", index, "name"], "must be unique");
        }
        columns(walk, spec, version, index);
    }
    if stored != 1 && get(spec, "versions").is_none_or(View::is_sequence) {
        walk.refuse(spec, steps!["versions"], "must have exactly one version with `storage: true`");
    }
    let Some(conversion) = get(spec, "conversion").filter(|one| one.is_mapping()) else {
        return;
    };
    let strategy = text(conversion, "strategy");
    match (strategy.as_deref(), get(conversion, "webhook")) {
        (Some("Webhook"), None) => {
            walk.refuse(
                spec,
                steps!["conversion", "webhook"],
                "is required for `strategy: Webhook`",
            );
        }
        (Some("Webhook"), Some(webhook)) => {
            if get(webhook, "clientConfig").is_none() {
                walk.missing(spec, steps!["conversion", "webhook", "clientConfig"]);
            }
            if !has(webhook, "conversionReviewVersions") {
                walk.missing(spec, steps!["conversion", "webhook", "conversionReviewVersions"]);
            }
        }
        (Some("None"), Some(_)) => {
            walk.refuse(
                spec,
                steps!["conversion", "webhook"],
                "must not be set for `strategy: None`",
            );
        }
        (None | Some("None"), _) => {}
        (Some(other), _) => {
            walk.not_one_of(spec, steps!["conversion", "strategy"], other, &["None", "Webhook"])
        }
    }
}

fn columns<'v>(walk: &mut Walk<'v>, spec: View<'v>, version: View<'v>, index: usize) {
    for (at, column) in list(version, "additionalPrinterColumns").enumerate() {
        let path = |field: &'static str| {
            [
                Part::from("versions"),
                Part::from(index),
                Part::from("additionalPrinterColumns"),
                Part::from(at),
                Part::from(field),
            ]
        };
        match text(column, "jsonPath") {
            None => {
                if get(column, "jsonPath").is_none_or(|one| one.as_str().is_some()) {
                    walk.missing(spec, &path("jsonPath"));
                }
            }
            Some(text) if !text.starts_with('.') => {
                walk.refuse(
                    spec,
                    &path("jsonPath"),
                    "must be a simple JSON path that begins with `.`",
                );
            }
            Some(_) => {}
        }
        if let Some(kind) = text(column, "type") {
            let words = ["boolean", "date", "integer", "number", "string"];
            if !words.contains(&kind.as_ref()) {
                walk.not_one_of(spec, &path("type"), &kind, &words);
            }
        }
        if let Some(format) = text(column, "format") {
            let words =
                ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
            if !words.contains(&format.as_ref()) {
                walk.not_one_of(spec, &path("format"), &format, &words);
            }
        }
    }
}

/// Checks the structural schema of a version.
pub(crate) fn schema<'v>(walk: &mut Walk<'v>, validation: View<'v>) {
    let Some(root) = get(validation, "openAPIV3Schema").filter(|root| root.is_mapping()) else {
        return;
    };
    let mut path = vec![Part::from("openAPIV3Schema")];
    match text(root, "type").as_deref() {
        Some("object") => {}
        None if get(root, "type").is_none_or(|kind| kind.as_str().is_some()) => {
            path.push(Part::from("type"));
            walk.refuse(validation, &path, "must be `object`");
            return;
        }
        _ => {
            path.push(Part::from("type"));
            walk.refuse(validation, &path, "must be `object`");
            return;
        }
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
        let mut path = path.to_vec();
        path.push(Part::from(field));
        walk.refuse(top, &path, what);
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
            let mut path = path.clone();
            path.push(Part::from("type"));
            walk.not_one_of(top, &path, kind, &words);
        }
        if place == Place::Logic {
            let is_allowed = false;
            if !is_allowed
                && !walk.passes("x-kubernetes-int-or-string")
                && !is_either_around(schema)
            {
                // `anyOf` of an integer and a string may say both.
                if !matches!(kind.as_ref(), "integer" | "string") {
                    refuse(walk, path, "type", "must not be set here, to be structural");
                }
            }
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
            let mut path = path.clone();
            path.extend([
                Part::from("x-kubernetes-validations"),
                Part::from(index),
                Part::from("rule"),
            ]);
            walk.missing(top, &path);
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

fn is_either_around(_schema: View<'_>) -> bool {
    false
}

fn list_type<'v>(walk: &mut Walk<'v>, top: View<'v>, schema: View<'v>, path: &[Part<'v>]) {
    let kind = text(schema, "x-kubernetes-list-type");
    let keys = has(schema, "x-kubernetes-list-map-keys");
    let at = |field: &'static str| {
        let mut path = path.to_vec();
        path.push(Part::from(field));
        path
    };
    match kind.as_deref() {
        Some("map") if !keys => {
            walk.refuse(
                top,
                &at("x-kubernetes-list-map-keys"),
                "is required for `x-kubernetes-list-type: map`",
            );
        }
        Some("map") => {
            let Some(items) = get(schema, "items") else {
                return;
            };
            let required: Vec<_> = list(items, "required").filter_map(View::as_str).collect();
            for key in list(schema, "x-kubernetes-list-map-keys").filter_map(View::as_str) {
                let property = get(items, "properties").and_then(|all| get(all, &key));
                match property {
                    None => walk.refuse(
                        top,
                        &at("x-kubernetes-list-map-keys"),
                        "must name properties of the items",
                    ),
                    Some(property) => {
                        if get(property, "default").is_none() && !required.contains(&key) {
                            let what = "must name properties that are required or have a default";
                            walk.refuse(top, &at("x-kubernetes-list-map-keys"), what);
                        }
                    }
                }
            }
        }
        None | Some("atomic" | "set") => {
            if keys {
                walk.refuse(
                    top,
                    &at("x-kubernetes-list-type"),
                    "must be `map` next to `x-kubernetes-list-map-keys`",
                );
            }
        }
        Some(other) => {
            walk.not_one_of(top, &at("x-kubernetes-list-type"), other, &["atomic", "map", "set"])
        }
    }
}
