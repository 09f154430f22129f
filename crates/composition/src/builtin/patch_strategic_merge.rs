//! `PatchStrategicMergeTransformer`: merges patches into the objects that they name.
//!
//! Source: kustomize 5.8, `api/internal/builtins/PatchStrategicMergeTransformer.go`. An entry of
//! `paths` with several lines, or a mapping in braces, is a patch itself.

use serde::Deserialize;

use crate::builtin::patches::{Allowed, PatchText};
use crate::engine::step::{Context, Transform};
use crate::resources::resource::Resource;
use krm_yaml::FieldPath;

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(crate) struct PatchStrategicMergeConfig {
    paths: Vec<String>,
    patches: String,
}

impl Transform for PatchStrategicMergeConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let root = FieldPath::root;
        let mut texts = Vec::new();
        for (index, path) in self.paths.iter().enumerate() {
            let field = root().key("paths").index(index);
            let is_patch = path.contains('\n') || path.trim_start().starts_with('{');
            texts.extend(if is_patch {
                PatchText::inline(path, field, context)
            } else {
                PatchText::from_file(path, field, context)
            });
        }
        if !self.patches.trim().is_empty() {
            texts.extend(PatchText::inline(&self.patches, root().key("patches"), context));
        } else if self.paths.is_empty() {
            let error = context.transformer.error(&root(), "the patch is missing");
            let error = error.hint("write it under `patches`, or name its file under `paths`");
            context.diagnostics.push(error);
        }
        for text in &texts {
            for patch in text.merge_patches(context).into_iter().flatten() {
                patch.apply_by_name(text, Allowed::default(), resources, context);
            }
        }
    }
}
