//! Labels and selectors whose values are names.

use crate::export::fields::references::{POD_SELECTORS, SELECTORS};
use crate::export::options::Group;
use crate::export::parameters::maker::{Maker, Object};
use crate::export::visit::{self, at_mut};
use crate::krm::annotations::remove_empty;
use crate::krm::identity::is_built_in;
use crate::krm::pods;
use krm_yaml::{Data, Value};

/// Changes the values that are names, wherever the same label is.
pub(crate) fn of_object(value: &mut Value<'_>, object: &Object<'_>, maker: &Maker<'_>) {
    take_common(value, maker);
    if !maker.makes(Group::Names) || maker.scope.prefix.is_none() {
        return;
    }
    let (group, kind) = (
        object.identity.group.as_str(),
        object.identity.kind.as_str(),
    );
    let rename = &mut |labels: &mut Value<'_>| rename_values(labels, maker);
    visit::each(value, "metadata/labels", rename);
    let selector = &mut |selector: &mut Value<'_>| {
        visit::each(selector, "matchLabels", &mut |labels| {
            rename_values(labels, maker);
        });
        visit::each(selector, "matchExpressions/values", &mut |values| {
            rename_values(values, maker);
        });
    };
    for (_, path) in SELECTORS.iter().filter(|(own, _)| *own == kind) {
        visit::each(value, path, &mut |field| match &mut field.data {
            Data::Sequence(items) => items.iter_mut().for_each(&mut *selector),
            _ => selector(field),
        });
    }
    if !is_built_in(group) {
        return;
    }
    visit::each_label_field(value, (group, kind), &mut |labels| {
        rename_values(labels, maker);
    });
    let pod = pods::pod(kind).map(|pod| [pod.as_slice(), &["spec"]].concat());
    if let Some(spec) = pod.and_then(|path| at_mut(value, &path)) {
        for path in POD_SELECTORS {
            visit::each(spec, path, selector);
        }
    }
}

/// Takes off the labels that the Template sets.
fn take_common(value: &mut Value<'_>, maker: &Maker<'_>) {
    let Some(metadata) = value.get_mut("metadata") else {
        return;
    };
    let Some(labels) = metadata.get_mut("labels") else {
        return;
    };
    for (key, _) in &maker.scope.labels {
        labels.remove(key);
    }
    if !maker.scope.labels.is_empty() {
        remove_empty(metadata, "labels");
    }
}

/// Changes the values of a mapping or list that are names.
fn rename_values(values: &mut Value<'_>, maker: &Maker<'_>) {
    let rename = |value: &mut Value<'_>| {
        if let Some(renamed) = value.as_str().and_then(|text| maker.renamed(text)) {
            value.set(Value::string(renamed).data);
        }
    };
    match &mut values.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => items.iter_mut().for_each(rename),
        Data::Mapping(entries) => entries.iter_mut().map(|(_, value)| value).for_each(rename),
    }
}
