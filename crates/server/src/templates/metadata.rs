//! The metadata of a processed Template.

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, DuplicateKeys, Value};

use super::json::Writer;

/// The fields that a processed Template keeps, in the order of Kubernetes.
///
/// Source: `metav1.ObjectMeta` of `k8s.io/apimachinery`.
const FIELDS: [&str; 10] = [
    "name",
    "generateName",
    "namespace",
    "resourceVersion",
    "generation",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
];

/// The system fields that processing removes.
pub(super) const REMOVED: [&str; 5] =
    ["selfLink", "uid", "creationTimestamp", "deletionTimestamp", "managedFields"];

/// Writes the metadata of `template`, with `namespace` as its namespace.
pub(super) fn write(out: &mut Writer, template: Cursor<'_>, namespace: &str) {
    let metadata = template.get("metadata");
    out.raw("{");
    let mut is_first = true;
    for name in FIELDS {
        let value = if name == "namespace" {
            Some(Value::from(namespace))
        } else {
            metadata.and_then(|metadata| value_of(metadata.get(name)?))
        };
        if let Some(value) = value.filter(|value| !is_empty(value)) {
            out.key(is_first, name);
            out.value(&value);
            is_first = false;
        }
    }
    out.raw("}");
}

/// Returns the value of a node. The last of duplicate keys wins, as in Go.
pub(super) fn value_of(node: Cursor<'_>) -> Option<Value<'_>> {
    node.value(DuplicateKeys::LastWins, &mut Diagnostics::new())
}

/// Returns `true` if Go omits the value: it is null, empty or zero.
fn is_empty(value: &Value<'_>) -> bool {
    value.is_null()
        || value.as_str() == Some("")
        || value.items().is_some_and(<[_]>::is_empty)
        || value.entries().is_some_and(<[_]>::is_empty)
        || *value == Value::number("0")
}
