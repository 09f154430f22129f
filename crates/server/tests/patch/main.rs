//! Patches and managed fields.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test"
)]

mod bounds;
mod managed;
mod properties;
mod recorded;
mod rfc;
mod strategic;
#[path = "../exchanges/words.rs"]
mod words;

use serde_json::{Value, json};

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
            format!(
                "{} {} {}",
                text("manager"),
                text("operation"),
                entry["fieldsV1"]
            )
        })
        .collect()
}
