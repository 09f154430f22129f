//! The namespace of an object.

use crate::options::Group;
use crate::parameters::maker::Maker;
use krm_yaml::Value;

/// Drops the namespace that all objects have from the metadata of one.
pub(crate) fn drop_common(metadata: &mut Value<'_>, maker: &Maker<'_>) {
    if maker.scope.namespace.is_some() {
        metadata.remove("namespace");
    }
}

/// Makes a parameter of the namespace in the metadata of an object that still has it.
pub(crate) fn of_metadata(metadata: &mut Value<'_>, maker: &mut Maker<'_>) {
    if maker.options.keeps(&[], "metadata/namespace") {
        return;
    }
    if let Some(namespace) = metadata.get_mut("namespace") {
        of_field(namespace, maker);
    }
}

/// Makes a parameter of the name of a namespace in a field.
pub(crate) fn of_field(field: &mut Value<'_>, maker: &mut Maker<'_>) {
    if !maker.makes(Group::Namespace) {
        return;
    }
    let name = field.as_str();
    if let Some(marked) = name.and_then(|name| maker.namespace(name)) {
        field.set(Value::string(marked).data);
    }
}
