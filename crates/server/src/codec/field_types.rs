//! The types of fields, with the errors for values of the wrong type and unknown fields.
//!
//! Source: `ObjectMeta` of `k8s.io/apimachinery`, `Template` and `TemplateInstance` of
//! `github.com/openshift/api`.

use serde_json::Value;

use self::Type::{Any, Bool, Integer, Items, List, Object, Plain, Text, TextLists, Texts, Time};
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

/// Declares objects with known fields.
macro_rules! structs {
    ($($(#[$doc:meta])* $vis:vis $name:ident { $($field:ident: $type:expr,)* })*) => {$(
        $(#[$doc])*
        $vis const $name: Struct = Struct(&[$((stringify!($field), $type)),*]);
    )*};
}

const TEXTS: Type = List(&Text);

structs! {
    /// The fields of `metadata`, in the order of upstream.
    pub(crate) OBJECT_META {
        name: Text, generateName: Text, namespace: Text, selfLink: Text, uid: Text,
        resourceVersion: Text, generation: Integer, creationTimestamp: Time,
        deletionTimestamp: Time, deletionGracePeriodSeconds: Integer, labels: Texts,
        annotations: Texts, ownerReferences: List(&Type::Struct(&OWNER)), finalizers: TEXTS,
        managedFields: List(&Type::Struct(&MANAGED)),
    }

    OWNER {
        apiVersion: Text, kind: Text, name: Text, uid: Text, controller: Bool,
        blockOwnerDeletion: Bool,
    }

    MANAGED {
        manager: Text, operation: Text, apiVersion: Text, time: Time, fieldsType: Text,
        fieldsV1: Object, subresource: Text,
    }

    /// A Template of OpenShift's group.
    OPENSHIFT {
        kind: Text, apiVersion: Text, metadata: Type::Struct(&OBJECT_META), message: Text,
        objects: List(&Any), parameters: List(&Type::Struct(&PARAMETER)), labels: Texts,
    }

    PARAMETER {
        name: Text, displayName: Text, description: Text, value: Plain, generate: Text, from: Text,
        required: Bool,
    }

    /// A Template of our group. The schema checks its other types.
    KRM {
        kind: Text, apiVersion: Text, metadata: Type::Struct(&OBJECT_META),
        parameters: Items(&KRM_PARAMETER), objects: Any, labels: Any, objectLabels: Any,
        message: Any, values: Any,
    }

    KRM_PARAMETER {
        name: Any, displayName: Any, description: Any, value: Any, required: Any, type: Any,
        parameterType: Any, generate: Any, from: Any, enum: Any, pattern: Any, minimum: Any,
        maximum: Any, minLength: Any, maxLength: Any, omitEmpty: Any, secret: Any, group: Any,
    }

    /// A TemplateInstance of OpenShift's group.
    OPENSHIFT_INSTANCE {
        kind: Text, apiVersion: Text, metadata: Type::Struct(&OBJECT_META),
        spec: Type::Struct(&OPENSHIFT_SPEC), status: Type::Struct(&OPENSHIFT_STATUS),
    }

    OPENSHIFT_SPEC {
        template: Type::Struct(&OPENSHIFT), secret: Type::Struct(&NAMED),
        requester: Type::Struct(&REQUESTER),
    }

    NAMED {
        name: Text,
    }

    OPENSHIFT_STATUS {
        conditions: List(&Type::Struct(&CONDITION)), objects: List(&Type::Struct(&OBJECT)),
    }

    OBJECT {
        ref: Type::Struct(&REFERENCE),
    }

    REQUESTER {
        username: Text, uid: Text, groups: TEXTS, extra: TextLists,
    }

    CONDITION {
        type: Text, status: Text, lastTransitionTime: Time, reason: Text, message: Text,
    }

    pub(crate) REFERENCE {
        kind: Text, namespace: Text, name: Text, uid: Text, apiVersion: Text, resourceVersion: Text,
        fieldPath: Text,
    }

    /// A TemplateInstance of our group. The engine checks what the function reads too.
    KRM_INSTANCE {
        kind: Text, apiVersion: Text, metadata: Type::Struct(&OBJECT_META),
        spec: Type::Struct(&KRM_INSTANCE_SPEC), status: Object,
    }

    /// The `spec` of a TemplateInstance of our group: the fields of the function, then those of the
    /// server.
    KRM_INSTANCE_SPEC {
        templateRef: Type::Struct(&NAMED), template: Object, parameters: Object,
        parametersFrom: List(&Object), labels: Any, namespace: Text, instances: List(&Object),
        count: Any, suspend: Bool, prune: Text, deletionPolicy: Text, conflicts: Text, wait: Text,
        timeout: Text, upgrades: Text, requestedAt: Text, templateVersion: Text,
        serviceAccountName: Text, revisionHistoryLimit: Integer,
        requester: Type::Struct(&REQUESTER),
    }
}

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
