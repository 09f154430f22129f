//! The `results` of a `ResourceList`.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, ObjectReference};
use krm_yaml::source::{Origin, Place};

use crate::report::shown::{MAX_BYTES, rest};
use crate::secret_places::concealed;

/// The list for `results`: one entry for each diagnostic, in order.
///
/// A result has no room for lines, related places and hints, so its message ends with them.
pub fn results(diagnostics: &Diagnostics) -> Value {
    let diagnostics = &*concealed(diagnostics);
    let mut list = Vec::new();
    let mut bytes = 0;
    for diagnostic in diagnostics {
        if bytes > MAX_BYTES {
            break;
        }
        let result = result(diagnostic);
        bytes += result.to_string().len();
        list.push(result);
    }
    let rest = rest(diagnostics, list.len());
    list.extend(rest.iter().map(result));
    Value::Array(list)
}

fn result(diagnostic: &Diagnostic) -> Value {
    let mut result = Map::new();
    let mut set = |key: &str, value| result.insert(key.to_owned(), value);
    set("message", message(diagnostic).into());
    // Always written: the default is `error` in the specification, but `info` in kpt.
    set("severity", diagnostic.severity.as_str().into());
    let object = diagnostic.object.as_ref();
    if let Some(reference) = object.and_then(resource_reference) {
        set("resourceRef", reference);
        // A field is allowed only with a `resourceRef`.
        if let Some(path) = &diagnostic.field {
            set("field", json!({ "path": path }));
        }
    }
    if let Some((path, object)) = object.and_then(|o| Some((o.path.as_ref()?, o))) {
        // A number: kpt fails on a string.
        set("file", json!({ "path": path, "index": object.index }));
    }
    Value::Object(result)
}

/// `message (place); related: place; hint`. Omits a place that other fields of the result have.
fn message(diagnostic: &Diagnostic) -> String {
    let at = |place: &Place| match place.origin() {
        Some(Origin { file, field }) if field.is_empty() => file.clone(),
        Some(Origin { file, field }) => format!("{file}, field {field}"),
        None => place.to_text(),
    };
    // Writing to a string cannot fail.
    let mut message = diagnostic.message.clone();
    if let Some(place) = diagnostic.place.as_ref().filter(|place| !is_said(diagnostic, place)) {
        let _ = write!(message, " ({})", at(place));
    }
    for (place, label) in &diagnostic.related {
        let _ = write!(message, "; {label}: {}", at(place));
    }
    for hint in &diagnostic.hints {
        message.push_str("; ");
        message.push_str(hint);
    }
    message
}

/// Whether `file` and `field` of the result identify a place.
fn is_said(diagnostic: &Diagnostic, place: &Place) -> bool {
    let object = diagnostic.object.as_ref();
    let Some((origin, object)) = place.origin().zip(object) else {
        return false;
    };
    let field = diagnostic.field.as_deref().unwrap_or_default();
    object.path.as_ref() == Some(&origin.file)
        && field == origin.field
        && (field.is_empty() || resource_reference(object).is_some())
}

/// The object, if all required fields of a `resourceRef` are known.
fn resource_reference(object: &ObjectReference) -> Option<Value> {
    let required = [&object.api_version, &object.kind, &object.name];
    if required.iter().any(|part| part.is_empty()) {
        return None;
    }
    Some(if object.namespace.is_empty() {
        json!({
            "apiVersion": object.api_version,
            "kind": object.kind,
            "name": object.name,
        })
    } else {
        json!({
            "apiVersion": object.api_version,
            "kind": object.kind,
            "namespace": object.namespace,
            "name": object.name,
        })
    })
}
