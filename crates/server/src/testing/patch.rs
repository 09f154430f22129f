//! An object and patches of it, separated by NUL. Each patch is read as each type, and the managed
//! fields follow all changes.

use crate::patch::managed_fields::{self, Writer};
use crate::patch::{json, merge, strategic};
use krm_template_server_core::{Group, Kind};
use serde_json::{Value, json as value};

/// The most patches of one input.
const PATCHES: usize = 8;

const TIME: &str = "2026-11-22T03:00:00Z";

/// Holds the property for an input.
///
/// # Panics
/// If it does not hold.
pub fn check(text: &str) {
    let mut parts = text.split('\0');
    let Some(Ok(object)) = parts.next().map(serde_json::from_str::<Value>) else {
        return;
    };
    let patches: Vec<&str> = parts.take(PATCHES).collect();
    for group in Group::ALL {
        let mut owned = template(group, &object);
        for (index, patch) in patches.iter().enumerate() {
            change(group, &object, &mut owned, patch, index);
        }
    }
}

/// The object as one of a group, so that it can be applied.
fn template(group: Group, object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.insert("apiVersion".to_owned(), value!(group.api_version()));
        fields.insert("kind".to_owned(), value!("Template"));
    }
    object
}

fn change(group: Group, object: &Value, owned: &mut Value, patch: &str, index: usize) {
    let managers = ["kubectl", "helm", ""];
    let writer = Writer { manager: managers[index % managers.len()], time: TIME, subresource: "" };
    if let Ok(read) = json::parse(patch.as_bytes()) {
        let mut patched = object.clone();
        let _ = read.apply(&mut patched);
        let mut patched = owned.clone();
        if read.apply(&mut patched).is_ok() && patched.is_object() {
            managed_fields::track_update(group, Some(owned), &mut patched, &writer);
            *owned = patched;
        }
    }
    let Ok((read, _)) = merge::parse(patch.as_bytes()) else {
        return;
    };
    let mut merged = object.clone();
    merge::apply(&mut merged, read.clone());
    let once = merged.clone();
    merge::apply(&mut merged, read.clone());
    assert_eq!(merged, once, "a merge patch changes nothing the second time");
    let mut patched = owned.clone();
    if strategic::apply(&mut patched, &read).is_ok() && patched.is_object() {
        managed_fields::track_update(group, Some(owned), &mut patched, &writer);
        *owned = patched;
    }
    let applied = template(group, &read);
    if let Ok(result) = managed_fields::apply(group, Kind::Template, None, &applied, &writer, false)
    {
        assert!(result.is_object());
    }
    if let Ok(result) = managed_fields::apply(
        group,
        Kind::Template,
        Some(owned),
        &applied,
        &writer,
        index.is_multiple_of(2),
    ) {
        let again =
            managed_fields::apply(group, Kind::Template, Some(&result), &applied, &writer, false);
        assert_eq!(again.as_ref(), Ok(&result), "an apply changes nothing the second time");
        *owned = result;
    }
}
