//! Labels and selectors whose values are names.

use crate::parameters::maker::Maker;
use krm_core::annotations::remove_empty;
use krm_yaml::{Data, Value};

/// Takes the labels that the Template sets off the metadata of an object.
pub(crate) fn take_common(metadata: &mut Value<'_>, maker: &Maker<'_>) {
    if maker.scope.labels.is_empty() {
        return;
    }
    let Some(labels) = metadata.get_mut("labels") else {
        return;
    };
    for (key, _) in &maker.scope.labels {
        labels.remove(key);
    }
    remove_empty(metadata, "labels");
}

/// Changes the values of a mapping or list that are names.
pub(crate) fn rename_values(values: &mut Value<'_>, maker: &Maker<'_>) {
    let rename = |value: &mut Value<'_>| {
        let text = value.as_str();
        if let Some(renamed) = text.and_then(|text| maker.renamed(text)) {
            value.set(Value::string(renamed).data);
        }
    };
    match &mut values.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => items.iter_mut().for_each(rename),
        Data::Mapping(entries) => entries.iter_mut().for_each(|(_, value)| rename(value)),
    }
}
