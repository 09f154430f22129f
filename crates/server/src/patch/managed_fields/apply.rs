//! Server-side apply: merges a configuration, and finds conflicts between managers.

use serde_json::{Map, Value, json};

use super::field_set::Fields;
use super::managers::{Id, Managers, Operation, Writer, time};
use super::shape::{Changes, Shape, is_system};
use crate::codec::decode::undeclared;
use crate::patch::merge::with_map;
use krm_template_server_core::{Cause, Details, Group, Kind, Result, Status};

/// The manager of all fields of an object that had no managers before its first apply.
const BEFORE_APPLY: &str = "before-first-apply";

/// The system fields that a client sets on a new object.
const FROM_CLIENTS: [&str; 2] = ["name", "namespace"];

/// Merges an applied object into the current one, and sets `metadata.managedFields`. Removes fields
/// that the writer applied before, unless they still have an owner.
///
/// The result keeps the system fields of the current object, but takes name, namespace, uid and
/// `resourceVersion` from the applied one, so that the validation of an update finds differences.
/// Without a current object, the result is the applied object, with name and namespace as the only
/// system fields.
///
/// # Errors
///
/// 400 if the applied object has another kind or version, `managedFields`, unknown fields, values
/// of the wrong type, or maps and lists that cannot be merged; 409 if other managers own changed
/// fields, unless `force` is set.
pub fn apply(
    group: Group,
    kind: Kind,
    current: Option<&Value>,
    applied: &Value,
    writer: &Writer<'_>,
    force: bool,
) -> Result<Value> {
    check((group, kind), applied)?;
    let nothing = json!({});
    let live = current.unwrap_or(&nothing);
    let mut managers = managers_of(group, live, writer);
    let id = Id::new(group, Operation::Apply, writer);
    let before = managers.0.remove(&id);
    let shape = Shape::of(group, applied);
    let fields = shape.fields(applied);

    let mut object = merged(group, current, applied);
    if let Some(before) = &before {
        let mut owned = fields.clone();
        for managed in managers.0.values() {
            owned.add(managed.fields.clone());
        }
        shape.prune(&mut object, &before.fields, &owned);
    }

    let changes = Changes::between(group, live, &object);
    if !force {
        refuse_conflicts(&managers, &changes)?;
    }
    managers.release(group, &changes);
    if !fields.is_empty() {
        // Applying the same values keeps the time of the last change.
        let time = match before {
            before if *live == object => before.and_then(|before| before.time),
            _ => time(writer.time),
        };
        managers.own(group, id, fields, time);
    }
    managers.write(&mut object);
    Ok(object)
}

/// Returns the managers of the stored object. If it has none, one manager owns all its fields.
fn managers_of(group: Group, live: &Value, writer: &Writer<'_>) -> Managers {
    let mut managers = Managers::of(live).unwrap_or_default();
    if managers.0.is_empty() {
        let changes = Changes::between(group, &json!({}), live);
        if !changes.changed.is_empty() {
            let writer = Writer { manager: BEFORE_APPLY, ..*writer };
            let id = Id::new(group, Operation::Update, &writer);
            managers.own(group, id, changes.changed, time(writer.time));
        }
    }
    managers.release(group, &Changes::default());
    managers
}

/// Merges the applied object into the current one.
fn merged(group: Group, current: Option<&Value>, applied: &Value) -> Value {
    let mut object = current.unwrap_or(applied).clone();
    if let Value::Object(fields) = &mut object {
        with_map(fields.entry("metadata").or_insert(Value::Null), |metadata| match current {
            Some(_) => take_identity(metadata, applied),
            None => {
                metadata
                    .retain(|name, _| !is_system(name) || FROM_CLIENTS.contains(&name.as_str()));
            }
        });
    }
    Shape::of(group, applied).merge(&mut object, applied);
    object
}

/// Copies the fields of the applied object that identify the expected object.
fn take_identity(metadata: &mut Map<String, Value>, applied: &Value) {
    for name in ["name", "namespace", "uid", "resourceVersion"] {
        let value = applied.get("metadata").and_then(|metadata| metadata.get(name));
        if let Some(value) = value.filter(|value| !value.is_null()) {
            metadata.insert(name.to_owned(), value.clone());
        }
    }
}

/// Rejects an object that cannot be applied.
fn check((group, expected): (Group, Kind), applied: &Value) -> Result<()> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let (version, kind) = (text(applied.get("apiVersion")), text(applied.get("kind")));
    if version != group.api_version() || kind != expected.name() {
        let version = if version.contains('/') { version } else { format!("/{version}") };
        return Err(Status::bad_request(format!("invalid object type: {version}, Kind={kind}")));
    }
    let metadata = applied.get("metadata");
    let managers = metadata.and_then(|metadata| metadata.get("managedFields"));
    if managers.is_some_and(|managers| !managers.is_null()) {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    let checked = Shape::of(group, applied).check(applied, "");
    let wrong = checked.err().or_else(|| undeclared((group, expected), applied));
    let Some(why) = wrong else { return Ok(()) };
    let field = |name| text(metadata.and_then(|metadata| metadata.get(name)));
    Err(Status::bad_request(format!(
        "failed to create typed patch object ({}/{}; {version}, Kind={kind}): {why}",
        field("namespace"),
        field("name"),
    )))
}

/// Rejects changes to fields that other managers own.
fn refuse_conflicts(managers: &Managers, changes: &Changes) -> Result<()> {
    let conflicts: Vec<(String, Vec<String>)> = managers
        .0
        .iter()
        .map(|(id, managed)| (id.shown(), managed.fields.intersection(&changes.changed)))
        .filter(|(_, fields)| !Fields::is_empty(fields))
        .map(|(manager, fields)| (manager, fields.paths()))
        .collect();
    let causes: Vec<Cause> = conflicts
        .iter()
        .flat_map(|(manager, paths)| paths.iter().map(move |path| (manager, path)))
        .map(|(manager, path)| {
            Cause::new("FieldManagerConflict", path, format!("conflict with {manager}"))
        })
        .collect();
    let message = match causes.as_slice() {
        [] => return Ok(()),
        [one] => format!("Apply failed with 1 conflict: {}: {}", one.message, one.field),
        all => {
            let list: Vec<String> = conflicts
                .iter()
                .map(|(manager, paths)| {
                    format!("conflicts with {manager}:\n- {}", paths.join("\n- "))
                })
                .collect();
            format!("Apply failed with {} conflicts: {}", all.len(), list.join("\n"))
        }
    };
    Err(Status::new(409, "Conflict", message).with(Details { causes, ..Details::default() }))
}
