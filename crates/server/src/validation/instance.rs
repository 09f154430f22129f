//! TemplateInstances as API objects: the form in which they are stored, their requester, and
//! validation.
//!
//! Source: `pkg/template/apiserver/registry/templateinstance` and `pkg/template/apis/template` of
//! openshift-apiserver.

use krm_core::validation;
use serde_json::{Map, Value, json};

use crate::codec::Draft;
use crate::codec::normalize::is_empty;
use crate::codec::template_schema::{self, FieldErrors};
use krm_template_server_core::{Cause, Group, Kind, User, units};

/// The fields of our group with a fixed set of values. The first one is the default.
const CHOICES: [(&str, &[&str]); 5] = [
    ("prune", &["Safe", "All", "None"]),
    ("deletionPolicy", &["Delete", "Orphan"]),
    ("conflicts", &["Fail", "Overwrite"]),
    ("wait", &["All", "Annotated", "None"]),
    ("upgrades", &["Manual", "Automatic"]),
];

/// Returns the finalizer that keeps an instance until its objects are deleted.
pub const fn finalizer(group: Group) -> &'static str {
    match group {
        Group::Krm => "template.krm.dev/finalizer",
        Group::OpenShift => "template.openshift.io/finalizer",
    }
}

/// Returns a user as the requester of an instance.
pub fn requester(user: &User) -> Value {
    let mut fields = Map::new();
    fields.insert("username".to_owned(), json!(user.name));
    if !user.uid.is_empty() {
        fields.insert("uid".to_owned(), json!(user.uid));
    }
    if !user.groups.is_empty() {
        fields.insert("groups".to_owned(), json!(user.groups));
    }
    if !user.extra.is_empty() {
        fields.insert("extra".to_owned(), json!(user.extra));
    }
    Value::Object(fields)
}

/// Returns the requester of an instance as a user; `None` if it has no name.
pub fn user(requester: &Value) -> Option<User> {
    let text = |key: &str| requester.get(key).and_then(Value::as_str);
    let list = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let extra = requester.get("extra").and_then(Value::as_object);
    Some(User {
        name: text("username").filter(|name| !name.is_empty())?.to_owned(),
        uid: text("uid").unwrap_or_default().to_owned(),
        groups: requester.get("groups").map(list).unwrap_or_default(),
        extra: extra
            .into_iter()
            .flatten()
            .map(|(key, values)| (key.clone(), list(values)))
            .collect(),
    })
}

/// Returns the names of the stored Templates in the `spec` of an instance.
pub fn templates(spec: &Value) -> Vec<String> {
    let instances = spec.get("instances").and_then(Value::as_array);
    let all = instances.into_iter().flatten().chain([spec]);
    let names = all.filter_map(|one| one.pointer("/templateRef/name")?.as_str());
    names.map(str::to_owned).collect()
}

/// Returns `true` if two specs of our group differ at most in the fields that the server sets.
pub fn is_same_request(one: &Value, other: &Value) -> bool {
    let without = |spec: &Value| {
        let mut spec = spec.as_object().cloned().unwrap_or_default();
        spec.shift_remove("requester");
        spec.shift_remove("templateVersion");
        spec
    };
    without(one) == without(other)
}

/// Makes an empty list of objects null, as Go does when it stores an instance. Before, fields that
/// were set have owners.
pub(crate) fn settle(draft: &mut Draft) {
    if (draft.group, draft.kind) != (Group::OpenShift, Kind::Instance) {
        return;
    }
    let mut spec = draft.value("spec");
    if let Some(objects) = spec.pointer_mut("/template/objects")
        && objects.as_array().is_some_and(Vec::is_empty)
    {
        *objects = Value::Null;
        draft.set("spec", &spec);
    }
}

/// Returns all errors in the `spec` of an instance. In OpenShift's group, it cannot change.
pub(crate) fn check(draft: &Draft, old: Option<&Draft>) -> Vec<Cause> {
    let spec = draft.value("spec");
    let mut found = FieldErrors(Vec::new());
    match draft.group {
        Group::OpenShift => {
            if old.is_some_and(|old| !is_same_spec(&spec, &old.value("spec"))) {
                found.add("FieldValueForbidden", "spec", "Forbidden: field is immutable");
            }
            found.openshift(&spec);
        }
        Group::Krm => found.krm(&spec),
    }
    found.0
}

/// Compares two specs of OpenShift's group. Objects that are empty and null are the same.
fn is_same_spec(new: &Value, old: &Value) -> bool {
    let settled = |spec: &Value| {
        let mut spec = spec.clone();
        if let Some(objects) = spec.pointer_mut("/template/objects")
            && is_empty(objects)
        {
            *objects = Value::Null;
        }
        spec
    };
    new == old || settled(new) == settled(old)
}

/// Returns the errors in a text.
type Check = fn(&str) -> Vec<String>;

/// The errors in a spec.
impl FieldErrors {
    fn invalid(&mut self, field: &str, text: &str, wrong: Vec<String>) {
        for why in wrong {
            let message = format!("Invalid value: {text:?}: {why}");
            self.add("FieldValueInvalid", field, message);
        }
    }

    fn openshift(&mut self, spec: &Value) {
        if let Some(template) = spec.get("template") {
            self.metadata(template.get("metadata").unwrap_or(&Value::Null));
            let parameters = template.get("parameters").unwrap_or(&Value::Null);
            self.0.extend(parameter_names(parameters, "spec.template."));
        }
        if let Some(secret) = spec.get("secret") {
            match text(secret, "name") {
                "" => self.required("spec.secret.name"),
                name => self.invalid("spec.secret.name", name, validation::subdomain(name)),
            }
        }
        let requester = spec.get("requester").unwrap_or(&Value::Null);
        if text(requester, "username").is_empty() {
            self.required("spec.requester.username");
        }
    }

    fn metadata(&mut self, metadata: &Value) {
        let at = |key: &str| format!("spec.template.metadata.{key}");
        let texts: [(&str, Check); 3] = [
            ("generateName", validation::subdomain_prefix),
            ("name", validation::subdomain),
            ("namespace", validation::dns_label),
        ];
        for (key, check) in texts {
            let value = text(metadata, key);
            if !value.is_empty() {
                self.invalid(&at(key), value, check(value));
            }
        }
        let entries = |key| metadata.get(key).and_then(Value::as_object);
        for (key, value) in entries("labels").into_iter().flatten() {
            let value = value.as_str().unwrap_or_default();
            self.invalid(&at("labels"), key, validation::qualified(key));
            self.invalid(&at("labels"), value, validation::label_value(value));
        }
        for key in entries("annotations").into_iter().flat_map(Map::keys) {
            let wrong = validation::qualified(&key.to_lowercase());
            self.invalid(&at("annotations"), key, wrong);
        }
    }

    fn krm(&mut self, spec: &Value) {
        let is_set = |node: &Value, key| node.get(key).is_some_and(|value| !value.is_null());
        let has_template = |node: &Value| is_set(node, "template") || is_set(node, "templateRef");
        if is_set(spec, "template") && is_set(spec, "templateRef") {
            let message = "Forbidden: may not be set together with `templateRef`";
            self.add("FieldValueForbidden", "spec.template", message);
        }
        let instances = spec.get("instances").and_then(Value::as_array);
        let all_have = instances.is_some_and(|list| list.iter().all(has_template));
        if !has_template(spec) && !all_have {
            let message = "Required value: name a Template of this namespace, or put one under \
                           `spec.template`";
            self.add("FieldValueRequired", "spec.templateRef", message);
        }
        if let Some(named) = spec.get("templateRef").filter(|named| !named.is_null())
            && text(named, "name").is_empty()
        {
            self.required("spec.templateRef.name");
        }
        if let Some(template) = spec.get("template").filter(|template| template.is_object())
            && text(template, "apiVersion") == Group::Krm.api_version()
        {
            self.0.extend(template_schema::check(template).into_iter().map(|cause| {
                let field = format!("spec.template.{}", cause.field);
                Cause::new(cause.reason, &field, cause.message)
            }));
        }
        for (key, known) in CHOICES {
            match spec.get(key).and_then(Value::as_str) {
                Some(value) if !known.contains(&value) => {
                    let known: Vec<String> = known.iter().map(|one| format!("{one:?}")).collect();
                    let message = format!(
                        "Unsupported value: {value:?}: supported values: {}",
                        known.join(", ")
                    );
                    self.add("FieldValueNotSupported", &format!("spec.{key}"), &message);
                }
                _ => {}
            }
        }
        self.krm_values(spec);
    }

    fn krm_values(&mut self, spec: &Value) {
        if let Some(text) = spec.get("timeout").and_then(Value::as_str)
            && units::duration(text).is_err()
        {
            let why = vec!["must be a duration, such as `30m` or `1h`".to_owned()];
            self.invalid("spec.timeout", text, why);
        }
        let limit = spec.get("revisionHistoryLimit").and_then(Value::as_i64);
        if limit.is_some_and(|limit| !(0..=100).contains(&limit)) {
            let message = "Invalid value: must be between 0 and 100";
            self.add("FieldValueInvalid", "spec.revisionHistoryLimit", message);
        }
        for (key, check) in [
            ("namespace", validation::dns_label as Check),
            ("serviceAccountName", validation::subdomain),
        ] {
            let value = text(spec, key);
            if !value.is_empty() {
                self.invalid(&format!("spec.{key}"), value, check(value));
            }
        }
    }
}

fn text<'v>(object: &'v Value, key: &str) -> &'v str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Rejects parameter names with characters other than letters, digits and underscores. `parent` is
/// the path of the Template, with a dot.
pub(crate) fn parameter_names(parameters: &Value, parent: &str) -> Vec<Cause> {
    let mut found = FieldErrors(Vec::new());
    for (index, parameter) in parameters.as_array().into_iter().flatten().enumerate() {
        let field = format!("{parent}parameters[{index}].name");
        let name = text(parameter, "name");
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() {
            found.required(&field);
        } else if !name.bytes().all(is_plain) {
            let why = vec!["does not match ^[a-zA-Z0-9_]+$".to_owned()];
            found.invalid(&field, name, why);
        }
    }
    found.0
}
