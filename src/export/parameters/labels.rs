//! Labels and selectors whose values are names.

use std::sync::LazyLock;

use crate::export::fields::references::{POD_SELECTORS, SELECTORS};
use crate::export::options::Group;
use crate::export::parameters::maker::{Maker, Object};
use crate::export::visit::{self, Tree};
use crate::krm::annotations::remove_empty;
use crate::krm::identity::is_built_in;
use crate::krm::pods;
use krm_yaml::{Value, ViewMut};

/// The selectors in the specification of a pod.
static OF_PODS: LazyLock<Tree<()>> = LazyLock::new(|| {
    let paths = POD_SELECTORS.iter();
    Tree::of(paths.map(|path| (*path, ())))
});

/// Changes the values that are names, wherever the same label is.
pub(crate) fn of_object(mut part: ViewMut<'_, '_>, object: &Object<'_>, maker: &Maker<'_>) {
    take_common(part.by_ref(), maker);
    if !maker.makes(Group::Names) || maker.scope.prefix.is_none() {
        return;
    }
    let (group, kind) = (
        object.identity.group.as_str(),
        object.identity.kind.as_str(),
    );
    let rename = &mut |labels: ViewMut<'_, '_>| rename_values(labels, maker);
    visit::each(part.by_ref(), "metadata/labels", rename);
    let selector = &mut |mut selector: ViewMut<'_, '_>| {
        visit::each(selector.by_ref(), "matchLabels", &mut |labels| {
            rename_values(labels, maker);
        });
        visit::each(selector, "matchExpressions/values", &mut |values| {
            rename_values(values, maker);
        });
    };
    for (_, path) in SELECTORS.iter().filter(|(own, _)| *own == kind) {
        visit::each(part.by_ref(), path, &mut |field| {
            if field.view().is_sequence() {
                field.each_item(&mut *selector);
            } else {
                selector(field);
            }
        });
    }
    if !is_built_in(group) {
        return;
    }
    visit::each_label_field(part.by_ref(), (group, kind), &mut |labels| {
        rename_values(labels, maker);
    });
    let pod = pods::pod(kind).map(|pod| [pod.as_slice(), &["spec"]].concat());
    if let Some(spec) = pod.and_then(|path| part.at(&path)) {
        OF_PODS.each(spec, &mut |parent, key, ()| {
            parent.get(key).into_iter().for_each(&mut *selector);
        });
    }
}

/// Takes off the labels that the Template sets.
fn take_common(part: ViewMut<'_, '_>, maker: &Maker<'_>) {
    let Some(mut metadata) = part.get("metadata") else {
        return;
    };
    let Some(mut labels) = metadata.by_ref().get("labels") else {
        return;
    };
    for (key, _) in &maker.scope.labels {
        labels.by_ref().remove(key);
    }
    if !maker.scope.labels.is_empty() {
        remove_empty(metadata, "labels");
    }
}

/// Changes the values of a mapping or list that are names.
fn rename_values(mut values: ViewMut<'_, '_>, maker: &Maker<'_>) {
    let rename = |value: ViewMut<'_, '_>| {
        let text = value.view().as_str();
        if let Some(renamed) = text.and_then(|text| maker.renamed(&text)) {
            value.set(Value::string(renamed).data);
        }
    };
    values.by_ref().each_item(rename);
    values.each_entry(|_, value| rename(value));
}
