//! Patches and managed fields.

mod bounds;
mod managed;
mod properties;
mod recorded;
mod rfc;
mod strategic;

use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    [
        bounds::trials(),
        managed::trials(),
        properties::trials(),
        recorded::trials(),
        rfc::trials(),
        strategic::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Parses JSON.
#[track_caller]
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns the managed fields of an object, each entry as `MANAGER OPERATION FIELDS`.
fn managers(object: &Value) -> Vec<String> {
    let none = json!([]);
    let entries = object["metadata"].get("managedFields").unwrap_or(&none);
    entries
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            format!("{} {} {}", text("manager"), text("operation"), entry["fieldsV1"])
        })
        .collect()
}
