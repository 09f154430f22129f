//! System fields of an object and validation of its `metadata`, on create, update and delete.
//!
//! Source: `k8s.io/apiserver/pkg/registry/rest` and `ValidateObjectMeta` of `k8s.io/apimachinery`.

use jiff::Timestamp;
use krm_core::validation;
use serde_json::{Value, json};

use super::instance;
use crate::codec::Draft;
use crate::codec::json;
use crate::codec::template_schema;
use crate::request::Dependents;
use krm_template_server_core::{Cause, Group, Kind, Result, Revision, Status, rfc3339};

/// The inputs for the system fields of a new object.
#[derive(Clone, Copy, Debug)]
pub struct Create<'a> {
    /// The namespace of the URL.
    pub namespace: &'a str,
    /// The time for the field `creationTimestamp`.
    pub now: Timestamp,
    /// The new `metadata.uid`, which no other object has.
    pub uid: &'a str,
    /// Five random characters for a generated name.
    pub suffix: &'a str,
}

/// The characters of generated names.
pub const SUFFIX_CHARACTERS: &str = "bcdfghjklmnpqrstvwxz2456789";

/// The length of the random suffix of a generated name.
pub const SUFFIX_LENGTH: usize = 5;

/// The maximum length of a generated name before its suffix.
const MAX_PREFIX: usize = 63 - SUFFIX_LENGTH;

/// The maximum total size of the annotations of an object in bytes.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Sets the system fields of a new object, and validates it.
///
/// # Errors
/// 400 if it has another namespace or a `resourceVersion`; 422 with all errors in its fields.
pub fn create(draft: &mut Draft, how: &Create<'_>) -> Result<()> {
    in_namespace(draft, how.namespace)?;
    if !draft.text("resourceVersion").is_empty() {
        return Err(Status::bad_request(
            "resourceVersion should not be set on objects to be created",
        ));
    }
    for key in ["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        draft.metadata.shift_remove(key);
    }
    set(draft, "uid", how.uid.to_owned());
    set(draft, "creationTimestamp", rfc3339(how.now));
    if draft.group == Group::Krm {
        draft.metadata.insert("generation".to_owned(), Value::from(1));
    }
    let prefix = draft.text("generateName");
    if draft.name().is_empty() && !prefix.is_empty() {
        let prefix = prefix.get(..prefix.floor_char_boundary(MAX_PREFIX)).unwrap_or_default();
        let name = format!("{prefix}{}", how.suffix);
        set(draft, "name", name);
    }
    if draft.kind == Kind::Instance {
        instance::settle(draft);
        draft.set("status", &json!({}));
    }
    let mut causes = check(draft, None);
    if (draft.group, draft.kind) == (Group::OpenShift, Kind::Template) {
        causes.extend(instance::parameter_names(&draft.value("parameters"), ""));
    }
    finish(draft, causes)
}

/// Keeps what a write cannot change: of an instance its `status`, or through the subresource all but
/// `status` and metadata.
pub fn keep_other_part(draft: &mut Draft, old: &Draft, is_status: bool) {
    if draft.kind == Kind::Instance {
        let key = if is_status { "spec" } else { "status" };
        draft.set(key, &old.value(key));
    }
}

/// Checks that the object of an update has the name and namespace of the URL. Sets a missing
/// namespace.
///
/// # Errors
/// 400 if the name or the namespace differs.
pub fn named(draft: &mut Draft, namespace: &str, name: &str) -> Result<()> {
    match draft.name() {
        "" => Err(Status::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        other if other != name => Err(Status::bad_request(format!(
            "the name of the object ({other}) does not match the name on the URL ({name})"
        ))),
        _ => in_namespace(draft, namespace),
    }
}

/// Returns the expected revision of the object, from `metadata.resourceVersion`. Returns `None` if
/// it is missing or 0.
///
/// # Errors
/// 400 if it is not a number.
pub fn expected(draft: &Draft) -> Result<Option<Revision>> {
    let text = draft.text("resourceVersion");
    if text.is_empty() {
        return Ok(None);
    }
    let revision = text.parse::<Revision>().map_err(|_| {
        Status::bad_request(format!("metadata.resourceVersion: {text:?} is not a number"))
    })?;
    Ok((revision > 0).then_some(revision))
}

/// Returns the expected revision for an update, which requires one.
///
/// # Errors
/// 422 if there is none, 400 if it is not a number.
pub fn must_expect(draft: &Draft) -> Result<Revision> {
    expected(draft)?.ok_or_else(|| {
        let cause = Cause::new(
            "FieldValueInvalid",
            "metadata.resourceVersion",
            "Invalid value: 0: must be specified for an update",
        );
        let resource = draft.kind.resource();
        Status::invalid(draft.group.name(), resource, draft.name(), vec![cause])
    })
}

/// Checks that the uid of a replacement, if it is set, matches the old object.
///
/// # Errors
/// 409 if it does not match.
pub fn same_uid(draft: &Draft, old: &Draft) -> Result<()> {
    let (given, uid) = (draft.text("uid"), old.text("uid"));
    if given.is_empty() || given == uid {
        return Ok(());
    }
    let group = match draft.group {
        Group::OpenShift => "openshift.io",
        Group::Krm => draft.group.name(),
    };
    let resource = draft.kind.resource();
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /{group}/{resource}/{}/{}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: {given}, UID in object meta: {uid}",
        old.namespace(),
        old.name(),
    );
    Err(Status::conflict(draft.group.name(), resource, draft.name(), &why))
}

/// Copies the system fields of the old object to the new one, and validates it. In our group,
/// `generation` counts changes outside `metadata`; of an instance, those of its `spec` only: whoever
/// changes it is its requester.
///
/// # Errors
/// 422 with all errors in its fields.
pub fn update(draft: &mut Draft, old: &Draft) -> Result<()> {
    let is_counted = |key: &str| old.kind == Kind::Template || key == "spec";
    let keep = |draft: &mut Draft, key: &str| match old.metadata.get(key) {
        Some(value) => _ = draft.metadata.insert(key.to_owned(), value.clone()),
        None => _ = draft.metadata.shift_remove(key),
    };
    for key in ["creationTimestamp", "generation", "selfLink"] {
        keep(draft, key);
    }
    for key in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        if !draft.metadata.contains_key(key) {
            keep(draft, key);
        }
    }
    if draft.group == Group::Krm && !same_fields(draft, old, is_counted) {
        let generation = old.metadata.get("generation").and_then(Value::as_i64).unwrap_or(0);
        draft.metadata.insert("generation".to_owned(), Value::from(generation.saturating_add(1)));
    }
    let mut causes = Vec::new();
    for key in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let (new, old) = (draft.metadata.get(key), old.metadata.get(key));
        if new != old {
            let value = new.map(ToString::to_string).unwrap_or_default();
            let message = format!("Invalid value: {value}: field is immutable");
            causes.push(Cause::new("FieldValueInvalid", &format!("metadata.{key}"), message));
        }
    }
    new_finalizers(draft, old, &mut causes);
    causes.extend(check(draft, Some(old)));
    finish(draft, causes)
}

/// The finalizers that a garbage collector removes after its work.
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// Sets the finalizer for what a garbage collector does with the dependents of a deleted object.
/// Without a choice, the finalizers stay. Returns `true` if they change.
///
/// Source: `deletionFinalizersForGarbageCollection` of `k8s.io/apiserver/pkg/registry/generic`.
pub fn choose_dependents(draft: &mut Draft, dependents: Option<Dependents>) -> bool {
    let Some(dependents) = dependents else {
        return false;
    };
    let wanted = match dependents {
        Dependents::Background => None,
        Dependents::Foreground => Some(FOREGROUND),
        Dependents::Orphan => Some(ORPHAN),
    };
    let old: Vec<&str> = draft.finalizers().collect();
    let others = old.iter().copied();
    let others = others.filter(|finalizer| ![ORPHAN, FOREGROUND].contains(finalizer));
    let mut new: Vec<&str> = others.collect();
    new.extend(wanted);
    let is_same = new.len() == old.len() && new.iter().all(|finalizer| old.contains(finalizer));
    if is_same {
        return false;
    }
    let new = Value::from(new);
    draft.metadata.insert("finalizers".to_owned(), new);
    true
}

/// Marks an object with finalizers as being deleted.
pub fn delete(draft: &mut Draft, now: Timestamp) {
    if draft.is_being_deleted() {
        return;
    }
    set(draft, "deletionTimestamp", rfc3339(now));
    draft.metadata.insert("deletionGracePeriodSeconds".to_owned(), Value::from(0));
    if let Some(generation) = draft.metadata.get("generation").and_then(Value::as_i64) {
        draft.metadata.insert("generation".to_owned(), Value::from(generation.saturating_add(1)));
    }
}

/// Returns `true` if the objects differ only in `resourceVersion` and the times of managers, so
/// that nothing needs to be stored.
///
/// YAML texts are compared too, unless the new object has none.
///
/// Source: `IgnoreManagedFieldsTimestampsTransformer` of `k8s.io/apiserver`.
pub fn is_same(new: &Draft, old: &Draft) -> bool {
    let fields = |draft: &Draft| {
        let mut metadata = draft.metadata.clone();
        metadata.shift_remove("resourceVersion");
        let managers = metadata.get_mut("managedFields").and_then(Value::as_array_mut);
        for manager in managers.into_iter().flatten() {
            if let Some(manager) = manager.as_object_mut() {
                manager.shift_remove("time");
            }
        }
        metadata
    };
    let is_text = new.yaml().is_none() || new.yaml() == old.yaml();
    is_text && same_fields(new, old, |_| true) && fields(new) == fields(old)
}

/// Returns `true` if the fields that count are equal, except `metadata`. Ignores the order of keys.
fn same_fields(new: &Draft, old: &Draft, counts: impl Fn(&str) -> bool) -> bool {
    let count = |draft: &Draft| draft.fields().filter(|(key, _)| counts(key)).count();
    count(new) == count(old)
        && new.stored_fields().filter(|(key, _)| counts(key)).all(|(key, text)| {
            let mut fields = old.stored_fields();
            let old = fields.find(|(name, _)| *name == key);
            old.is_some_and(|(_, old)| old == text || json::value(old) == json::value(text))
        })
}

fn set(draft: &mut Draft, key: &str, text: String) {
    draft.metadata.insert(key.to_owned(), Value::String(text));
}

/// Returns `true` if a namespace can have this name.
pub fn is_namespace(namespace: &str) -> bool {
    validation::dns_label(namespace).is_empty()
}

/// Validates the namespace in a path.
///
/// # Errors
/// 422 if no namespace can have this name.
pub fn namespace(draft: &Draft, namespace: &str) -> Result<()> {
    let wrong = validation::dns_label(namespace);
    finish(draft, invalid("metadata.namespace", namespace, wrong).collect())
}

fn in_namespace(draft: &mut Draft, namespace: &str) -> Result<()> {
    if !matches!(draft.namespace(), "") && draft.namespace() != namespace {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    set(draft, "namespace", namespace.to_owned());
    Ok(())
}

fn finish(draft: &Draft, mut causes: Vec<Cause>) -> Result<()> {
    causes.extend(draft.refused.iter().cloned());
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(draft.group.name(), draft.kind.name(), draft.name(), causes))
}

/// Converts the errors in a field to causes. Each quotes the text of the field.
fn invalid(field: &str, text: &str, wrong: Vec<String>) -> impl Iterator<Item = Cause> {
    wrong.into_iter().map(move |why| {
        let message = format!("Invalid value: {text:?}: {why}");
        Cause::new("FieldValueInvalid", field, message)
    })
}

/// Returns all errors in the fields of a new or updated object.
fn check(draft: &Draft, old: Option<&Draft>) -> Vec<Cause> {
    let mut causes = Vec::new();
    name(draft, &mut causes);
    if let Some(generation) =
        draft.metadata.get("generation").filter(|value| value.as_i64() < Some(0))
    {
        let message = format!("Invalid value: {generation}: must be greater than or equal to 0");
        causes.push(Cause::new("FieldValueInvalid", "metadata.generation", message));
    }
    for (key, value) in texts(draft, "labels") {
        causes.extend(invalid("metadata.labels", key, validation::qualified(key)));
        causes.extend(invalid("metadata.labels", value, validation::label_value(value)));
    }
    let mut size = 0;
    for (key, value) in texts(draft, "annotations") {
        let wrong = validation::qualified(&key.to_lowercase());
        causes.extend(invalid("metadata.annotations", key, wrong));
        size += key.len() + value.len();
    }
    if size > MAX_ANNOTATIONS {
        let message = format!("Too long: may not be more than {MAX_ANNOTATIONS} bytes");
        causes.push(Cause::new("FieldValueTooLong", "metadata.annotations", message));
    }
    owners(draft, &mut causes);
    finalizers(draft, &mut causes);
    match (draft.group, draft.kind) {
        (Group::Krm, Kind::Template) => {
            causes.extend(template_schema::check(&draft.to_known_value()));
        }
        (Group::OpenShift, Kind::Template) => {}
        (_, Kind::Instance) => causes.extend(instance::check(draft, old)),
    }
    causes
}

fn name(draft: &Draft, causes: &mut Vec<Cause>) {
    let prefix = draft.text("generateName");
    if !prefix.is_empty() {
        let wrong = validation::subdomain_prefix(prefix);
        causes.extend(invalid("metadata.generateName", prefix, wrong));
    }
    match draft.name() {
        "" => causes.push(Cause::new(
            "FieldValueRequired",
            "metadata.name",
            "Required value: name or generateName is required",
        )),
        name => causes.extend(invalid("metadata.name", name, validation::subdomain(name))),
    }
    let namespace = draft.namespace();
    causes.extend(invalid("metadata.namespace", namespace, validation::dns_label(namespace)));
}

fn texts<'d>(draft: &'d Draft, key: &str) -> impl Iterator<Item = (&'d str, &'d str)> {
    let map = draft.metadata.get(key).and_then(Value::as_object);
    map.into_iter().flatten().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
}

fn owners(draft: &Draft, causes: &mut Vec<Cause>) {
    const FIELD: &str = "metadata.ownerReferences";
    const RULES: [(&str, &str); 4] = [
        ("apiVersion", "version must not be empty"),
        ("kind", "must not be empty"),
        ("name", "must not be empty"),
        ("uid", "must not be empty"),
    ];
    let owners = draft.metadata.get("ownerReferences").and_then(Value::as_array);
    let mut controllers = Vec::new();
    for owner in owners.into_iter().flatten() {
        let text = |key: &str| owner.get(key).and_then(Value::as_str).unwrap_or_default();
        for (key, why) in RULES {
            if text(key).is_empty() {
                let field = format!("{FIELD}.{key}");
                causes.push(Cause::new(
                    "FieldValueInvalid",
                    &field,
                    format!("Invalid value: \"\": {why}"),
                ));
            }
        }
        if owner.get("controller").and_then(Value::as_bool) == Some(true) {
            controllers.push(text("name"));
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let message = format!(
            "Invalid value: Only one reference can have Controller set to true. Found \"true\" in \
             references for {first} and {second}"
        );
        causes.push(Cause::new("FieldValueInvalid", FIELD, message));
    }
}

fn finalizers(draft: &Draft, causes: &mut Vec<Cause>) {
    const FIELD: &str = "metadata.finalizers";
    const STANDARD: [&str; 3] = ["kubernetes", "foregroundDeletion", "orphan"];
    for (index, finalizer) in draft.finalizers().enumerate() {
        causes.extend(invalid(FIELD, finalizer, validation::qualified(finalizer)));
        let is_known = finalizer.contains('/') || STANDARD.contains(&finalizer);
        if draft.group == Group::OpenShift && !is_known {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            let field = format!("{FIELD}[{index}]");
            causes.extend(invalid(&field, finalizer, vec![why.to_owned()]));
        }
    }
    let has = |name: &str| draft.finalizers().any(|finalizer| finalizer == name);
    if has("orphan") && has("foregroundDeletion") {
        let message = "Invalid value: finalizer orphan and foregroundDeletion cannot be both set";
        causes.push(Cause::new("FieldValueInvalid", FIELD, message));
    }
}

/// Rejects new finalizers on an object that is being deleted.
fn new_finalizers(draft: &Draft, old: &Draft, causes: &mut Vec<Cause>) {
    if !old.is_being_deleted() {
        return;
    }
    let is_new = |finalizer: &&str| !old.finalizers().any(|known| known == *finalizer);
    let new: Vec<String> =
        draft.finalizers().filter(is_new).map(|finalizer| format!("{finalizer:?}")).collect();
    if !new.is_empty() {
        let message = format!(
            "Forbidden: no new finalizers can be added if the object is being deleted, found new \
             finalizers []string{{{}}}",
            new.join(", ")
        );
        causes.push(Cause::new("FieldValueForbidden", "metadata.finalizers", message));
    }
}
