//! `PatchJson6902Transformer`: applies a JSON patch.
//!
//! Source: kustomize 5.8, `api/internal/builtins/PatchJson6902Transformer.go`.

use serde::Deserialize;

use crate::builtin::patches::{PatchText, identity, select};
use crate::engine::step::{Context, Transform};
use crate::fields::selector::Selector;
use crate::names::{conflicts, references};
use crate::resources::resource::Resource;
use krm_yaml::FieldPath;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct PatchJson6902Config {
    target: Selector,
    #[serde(default)]
    path: String,
    #[serde(default)]
    json_op: String,
}

impl Transform for PatchJson6902Config {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let text = PatchText::of(&self.path, "jsonOp", &self.json_op, context);
        let target = FieldPath::root().key("target");
        if self.target.name.is_empty() {
            let error = context.transformer.error(&target, "`target` has no `name`");
            let error =
                error.hint("a regular expression such as `.*` selects objects of all names");
            context.diagnostics.push(error);
            return;
        }
        let Some(text) = text else { return };
        let Some(operations) = text.operations(context) else {
            return;
        };
        if let Some(selected) = select(&self.target, &target, resources, context) {
            if context.is_of_kustomization {
                // As in kustomize: references do not follow, and no selector finds the old name.
                let before: Vec<_> = selected.iter().map(|at| identity(resources, *at)).collect();
                operations.apply_without_trace(&selected, resources, context);
                let pairs = selected.iter().copied().zip(before);
                let renamed = pairs.filter(|(at, before)| identity(resources, *at) != *before);
                let renamed: Vec<_> = renamed.map(|(at, _)| at).collect();
                conflicts::refuse_renamed(&renamed, resources, context);
                return;
            }
            operations.apply(&selected, resources, context);
            references::update(resources, context);
        }
    }
}
