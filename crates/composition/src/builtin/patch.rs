//! `PatchTransformer`: applies strategic merge patches or a JSON patch.
//!
//! Source: kustomize 5.8, `api/internal/builtins/PatchTransformer.go`. A list is a JSON patch. A
//! strategic merge patch without `target` is for the object that it names; one text may then hold
//! several.

use serde::Deserialize;

use crate::builtin::patches::{Allowed, PatchText, select};
use crate::engine::step::{Context, Transform};
use crate::fields::selector::Selector;
use crate::names::references;
use crate::resources::resource::Resource;
use krm_yaml::FieldPath;
use krm_yaml::diagnostic::Severity;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PatchConfig {
    path: String,
    patch: String,
    target: Option<Selector>,
    options: Options,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Options {
    allow_name_change: bool,
    allow_kind_change: bool,
}

impl Transform for PatchConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let Some(text) = PatchText::of(&self.path, "patch", &self.patch, context) else {
            return;
        };
        let Some(first) = text.documents().next() else {
            let mut warning = text.error(context, None, "the patch is empty");
            warning.severity = Severity::Warning;
            context.diagnostics.push(warning);
            return;
        };
        if first.is_sequence() {
            do_operations(&text, self, resources, context);
        } else {
            merge(&text, self, resources, context);
        }
        references::update(resources, context);
    }
}

fn do_operations(
    text: &PatchText,
    config: &PatchConfig,
    resources: &mut [Resource<'_>],
    context: &mut Context<'_>,
) {
    let Some(target) = &config.target else {
        let error = text.error(context, None, "a JSON patch needs a `target`");
        let error = error.hint("it does not name its object, as a strategic merge patch does");
        context.diagnostics.push(error);
        return;
    };
    let Some(operations) = text.operations(context) else {
        return;
    };
    let field = FieldPath::root().key("target");
    if let Some(selected) = select(target, &field, resources, context) {
        operations.apply(&selected, resources, context);
    }
}

fn merge(
    text: &PatchText,
    config: &PatchConfig,
    resources: &mut Vec<Resource<'_>>,
    context: &mut Context<'_>,
) {
    let Some(patches) = text.merge_patches(context) else {
        return;
    };
    let allowed = Allowed {
        name_change: config.options.allow_name_change,
        kind_change: config.options.allow_kind_change,
    };
    let Some(target) = &config.target else {
        for patch in patches {
            patch.apply_by_name(text, allowed, resources, context);
        }
        return;
    };
    let field = FieldPath::root().key("target");
    let [patch] = patches.as_slice() else {
        let problem = "`target` is not allowed with several patches in one text: they are for the objects that they name";
        context.diagnostics.push(context.transformer.error(&field, problem));
        return;
    };
    if let Some(selected) = select(target, &field, resources, context) {
        patch.apply(text, allowed, &selected, resources, context);
    }
}
