//! Labels and selectors whose values are names.

use crate::export::parameters::maker::Maker;
use krm_core::annotations::remove_empty;
use krm_yaml::{Value, ViewMut};

/// Takes the labels that the Template sets off the metadata of an object.
pub(crate) fn take_common(mut metadata: ViewMut<'_, '_>, maker: &Maker<'_>) {
    if maker.scope.labels.is_empty() {
        return;
    }
    let Some(mut labels) = metadata.by_ref().get("labels") else {
        return;
    };
    for (key, _) in &maker.scope.labels {
        labels.by_ref().remove(key);
    }
    remove_empty(metadata, "labels");
}

/// Changes the values of a mapping or list that are names.
pub(crate) fn rename_values(mut values: ViewMut<'_, '_>, maker: &Maker<'_>) {
    let rename = |value: ViewMut<'_, '_>| {
        let text = value.view().as_str();
        if let Some(renamed) = text.and_then(|text| maker.renamed(&text)) {
            value.set(Value::string(renamed).data);
        }
    };
    values.by_ref().each_item(rename);
    values.each_entry(|_, value| rename(value));
}
