//! The types of fields, with the errors for values of the wrong type and unknown fields.
//!
//! Source: `ObjectMeta` of `k8s.io/apimachinery`, `Template` and `TemplateInstance` of
//! `github.com/openshift/api`.

use serde_json::Value;

use super::json::{self, MAX_COMPLAINTS, Path};
use krm_template_server_core::{Group, Kind};

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    Text,
    /// A string. A number or bool is read as its text.
    Plain,
    Bool,
    /// An integer that fits into 64 bits.
    Integer,
    /// A string with an RFC 3339 time.
    Time,
    /// An object whose values are strings.
    Texts,
    /// An object whose values are lists of strings.
    TextLists,
    /// A list with the type of its items.
    List(&'static Self),
    /// An object with known fields.
    Struct(&'static Struct),
    /// An object with any fields.
    Object,
    Any,
    /// Any value. If it is a list, its items are checked for unknown fields.
    Items(&'static Struct),
}

/// An object with known fields.
#[derive(Debug)]
pub(crate) struct Struct(pub(crate) &'static [(&'static str, Type)]);

impl Struct {
    /// Returns `true` if the object has a field with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| *known == name)
    }
}

const TEXTS: Type = Type::List(&Type::Text);

/// The fields of `metadata`, in the order of upstream.
pub(crate) const OBJECT_META: Struct = Struct(&[
    ("name", Type::Text),
    ("generateName", Type::Text),
    ("namespace", Type::Text),
    ("selfLink", Type::Text),
    ("uid", Type::Text),
    ("resourceVersion", Type::Text),
    ("generation", Type::Integer),
    ("creationTimestamp", Type::Time),
    ("deletionTimestamp", Type::Time),
    ("deletionGracePeriodSeconds", Type::Integer),
    ("labels", Type::Texts),
    ("annotations", Type::Texts),
    ("ownerReferences", Type::List(&Type::Struct(&OWNER))),
    ("finalizers", TEXTS),
    ("managedFields", Type::List(&Type::Struct(&MANAGED))),
]);

/// The group and kind of an object.
pub(crate) type Of = (Group, Kind);

/// Returns the fields of an object.
pub(crate) const fn fields_of(of: Of) -> &'static Struct {
    match of {
        (Group::Krm, Kind::Template) => &KRM,
        (Group::OpenShift, Kind::Template) => &OPENSHIFT,
        (Group::Krm, Kind::Instance) => &KRM_INSTANCE,
        (Group::OpenShift, Kind::Instance) => &OPENSHIFT_INSTANCE,
    }
}

/// Returns `true` if an object has a field with this name.
pub(crate) fn is_field(of: Of, name: &str) -> bool {
    fields_of(of).has(name)
}

/// Returns `true` if a parameter in OpenShift's group has a field with this name.
pub(crate) fn is_openshift_parameter_field(name: &str) -> bool {
    PARAMETER.has(name)
}

/// Returns `true` if a parameter in our group has a field with this name.
pub(crate) fn is_parameter_field(name: &str) -> bool {
    KRM_PARAMETER.has(name)
}

const OWNER: Struct = Struct(&[
    ("apiVersion", Type::Text),
    ("kind", Type::Text),
    ("name", Type::Text),
    ("uid", Type::Text),
    ("controller", Type::Bool),
    ("blockOwnerDeletion", Type::Bool),
]);

const MANAGED: Struct = Struct(&[
    ("manager", Type::Text),
    ("operation", Type::Text),
    ("apiVersion", Type::Text),
    ("time", Type::Time),
    ("fieldsType", Type::Text),
    ("fieldsV1", Type::Object),
    ("subresource", Type::Text),
]);

/// A Template of OpenShift's group.
const OPENSHIFT: Struct = Struct(&[
    ("kind", Type::Text),
    ("apiVersion", Type::Text),
    ("metadata", Type::Struct(&OBJECT_META)),
    ("message", Type::Text),
    ("objects", Type::List(&Type::Any)),
    ("parameters", Type::List(&Type::Struct(&PARAMETER))),
    ("labels", Type::Texts),
]);

const PARAMETER: Struct = Struct(&[
    ("name", Type::Text),
    ("displayName", Type::Text),
    ("description", Type::Text),
    ("value", Type::Plain),
    ("generate", Type::Text),
    ("from", Type::Text),
    ("required", Type::Bool),
]);

/// A Template of our group. The schema checks its other types.
const KRM: Struct = Struct(&[
    ("kind", Type::Text),
    ("apiVersion", Type::Text),
    ("metadata", Type::Struct(&OBJECT_META)),
    ("parameters", Type::Items(&KRM_PARAMETER)),
    ("objects", Type::Any),
    ("labels", Type::Any),
    ("objectLabels", Type::Any),
    ("message", Type::Any),
    ("values", Type::Any),
]);

const KRM_PARAMETER: Struct = Struct(&[
    ("name", Type::Any),
    ("displayName", Type::Any),
    ("description", Type::Any),
    ("value", Type::Any),
    ("required", Type::Any),
    ("type", Type::Any),
    ("parameterType", Type::Any),
    ("generate", Type::Any),
    ("from", Type::Any),
    ("enum", Type::Any),
    ("pattern", Type::Any),
    ("minimum", Type::Any),
    ("maximum", Type::Any),
    ("minLength", Type::Any),
    ("maxLength", Type::Any),
    ("omitEmpty", Type::Any),
    ("secret", Type::Any),
    ("group", Type::Any),
]);

/// A TemplateInstance of OpenShift's group.
const OPENSHIFT_INSTANCE: Struct = Struct(&[
    ("kind", Type::Text),
    ("apiVersion", Type::Text),
    ("metadata", Type::Struct(&OBJECT_META)),
    (
        "spec",
        Type::Struct(&Struct(&[
            ("template", Type::Struct(&OPENSHIFT)),
            ("secret", Type::Struct(&Struct(&[("name", Type::Text)]))),
            ("requester", Type::Struct(&REQUESTER)),
        ])),
    ),
    (
        "status",
        Type::Struct(&Struct(&[
            ("conditions", Type::List(&Type::Struct(&CONDITION))),
            ("objects", Type::List(&Type::Struct(&Struct(&[("ref", Type::Struct(&REFERENCE))])))),
        ])),
    ),
]);

const REQUESTER: Struct = Struct(&[
    ("username", Type::Text),
    ("uid", Type::Text),
    ("groups", TEXTS),
    ("extra", Type::TextLists),
]);

const CONDITION: Struct = Struct(&[
    ("type", Type::Text),
    ("status", Type::Text),
    ("lastTransitionTime", Type::Time),
    ("reason", Type::Text),
    ("message", Type::Text),
]);

pub(crate) const REFERENCE: Struct = Struct(&[
    ("kind", Type::Text),
    ("namespace", Type::Text),
    ("name", Type::Text),
    ("uid", Type::Text),
    ("apiVersion", Type::Text),
    ("resourceVersion", Type::Text),
    ("fieldPath", Type::Text),
]);

/// A TemplateInstance of our group. The engine checks what the function reads too.
const KRM_INSTANCE: Struct = Struct(&[
    ("kind", Type::Text),
    ("apiVersion", Type::Text),
    ("metadata", Type::Struct(&OBJECT_META)),
    ("spec", Type::Struct(&KRM_INSTANCE_SPEC)),
    ("status", Type::Object),
]);

/// The `spec` of a TemplateInstance of our group: the fields of the function, then those of the
/// server.
const KRM_INSTANCE_SPEC: Struct = Struct(&[
    ("templateRef", Type::Struct(&Struct(&[("name", Type::Text)]))),
    ("template", Type::Object),
    ("parameters", Type::Object),
    ("parametersFrom", Type::List(&Type::Object)),
    ("labels", Type::Any),
    ("namespace", Type::Text),
    ("instances", Type::List(&Type::Object)),
    ("count", Type::Any),
    ("suspend", Type::Bool),
    ("prune", Type::Text),
    ("deletionPolicy", Type::Text),
    ("conflicts", Type::Text),
    ("wait", Type::Text),
    ("timeout", Type::Text),
    ("upgrades", Type::Text),
    ("requestedAt", Type::Text),
    ("templateVersion", Type::Text),
    ("serviceAccountName", Type::Text),
    ("revisionHistoryLimit", Type::Integer),
    ("requester", Type::Struct(&REQUESTER)),
]);

/// The errors in the fields of an object.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    /// The error of the first value with the wrong type.
    pub(crate) mismatch: Option<String>,
    /// The paths of unknown fields.
    pub(crate) unknown: Vec<String>,
    /// The error of the first number or bool that is read as its text.
    as_text: Option<String>,
}

impl Complaints {
    /// Returns the error that prevents a server-side apply: an unknown field, or a wrong type.
    ///
    /// Source: `typed` of `sigs.k8s.io/structured-merge-diff`, without values.
    pub(crate) fn undeclared(self) -> Option<String> {
        let unknown = self.unknown.first();
        unknown
            .map(|path| format!("{path}: field not declared in schema"))
            .or(self.mismatch)
            .or(self.as_text)
            .map(|why| format!(".{why}"))
    }
}

/// Checks all values of an object. In OpenShift's group, the value of a parameter may be a number
/// or bool.
pub(crate) fn check_values(object: &Value, of: Of) -> Complaints {
    let mut complaints = Complaints::default();
    fields(object, fields_of(of), &Path::Root, &mut complaints);
    complaints
}

fn fields(object: &Value, of: &'static Struct, path: &Path<'_>, complaints: &mut Complaints) {
    for (key, value) in object.as_object().into_iter().flatten() {
        let path = &Path::Key(path, key);
        match of.0.iter().find(|(name, _)| name == key) {
            Some((_, wanted)) => value_of(value, *wanted, path, complaints),
            None if complaints.unknown.len() < MAX_COMPLAINTS => {
                complaints.unknown.push(path.to_string());
            }
            None => {}
        }
    }
}

fn value_of(value: &Value, wanted: Type, path: &Path<'_>, complaints: &mut Complaints) {
    let mut mismatch = |wanted: &str| {
        let error = || json::wrong_type(&path.to_string(), wanted, value);
        complaints.mismatch.get_or_insert_with(error);
    };
    match (value, wanted) {
        (Value::Null, _)
        | (_, Type::Any)
        | (Value::String(_), Type::Text | Type::Plain)
        | (Value::Bool(_), Type::Bool)
        | (Value::Object(_), Type::Object) => {}
        (Value::Number(_) | Value::Bool(_), Type::Plain) => {
            let error = || json::wrong_type(&path.to_string(), "string", value);
            complaints.as_text.get_or_insert_with(error);
        }
        (Value::Number(number), Type::Integer) if number.as_i64().is_some() => {}
        (Value::String(text), Type::Time) => {
            if !text.is_empty() && text.parse::<jiff::Timestamp>().is_err() {
                let error = || format!("{path}: the time must be in RFC 3339 format");
                complaints.mismatch.get_or_insert_with(error);
            }
        }
        (Value::Object(entries), Type::Texts) => {
            for (key, value) in entries {
                value_of(value, Type::Text, &Path::Key(path, key), complaints);
            }
        }
        (Value::Object(entries), Type::TextLists) => {
            for (key, value) in entries {
                value_of(value, TEXTS, &Path::Key(path, key), complaints);
            }
        }
        (Value::Object(_), Type::Struct(of)) => fields(value, of, path, complaints),
        (Value::Array(items), Type::List(item)) => {
            for (index, value) in items.iter().enumerate() {
                value_of(value, *item, &Path::Index(path, index), complaints);
            }
        }
        (_, Type::Items(of)) => {
            for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                fields(item, of, &Path::Index(path, index), complaints);
            }
        }
        (_, Type::Text | Type::Plain) => mismatch("string"),
        (_, Type::Time) => mismatch("time"),
        (_, Type::Bool) => mismatch("bool"),
        (_, Type::Integer) => mismatch("64-bit integer"),
        (_, Type::List(_)) => mismatch("array"),
        (_, Type::Texts | Type::TextLists | Type::Struct(_) | Type::Object) => mismatch("object"),
    }
}
