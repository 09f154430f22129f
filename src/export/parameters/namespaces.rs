//! The namespace of an object.

use crate::export::options::Group;
use crate::export::parameters::maker::Maker;
use crate::export::visit::at_mut;
use krm_yaml::Value;

/// Drops the namespace that all objects have.
pub(crate) fn drop_common(value: &mut Value<'_>, maker: &Maker<'_>) {
    let metadata = value.get_mut("metadata");
    if let Some(metadata) = metadata.filter(|_| maker.scope.namespace.is_some()) {
        metadata.remove("namespace");
    }
}

/// Makes a parameter of the namespace of an object that still has it.
pub(crate) fn of_object(value: &mut Value<'_>, maker: &mut Maker<'_>) {
    if maker.options.keeps(&[], "metadata/namespace") {
        return;
    }
    if let Some(namespace) = at_mut(value, &["metadata", "namespace"]) {
        of_field(namespace, maker);
    }
}

/// Makes a parameter of the name of a namespace in a field.
pub(crate) fn of_field(field: &mut Value<'_>, maker: &mut Maker<'_>) {
    if !maker.makes(Group::Namespace) {
        return;
    }
    if let Some(marked) = field.as_str().and_then(|name| maker.namespace(name)) {
        field.set(Value::string(marked).data);
    }
}
