//! `AnnotationsTransformer`: sets annotations.
//!
//! Source: kustomize 5.8, `api/filters/annotations`. Annotations are set in the order of their
//! names.

use serde::Deserialize;

use crate::builtin::texts::{StringMap, keep_spelling, set_entries};
use crate::engine::step::{Context, Transform};
use crate::fields::field_spec::FieldSpec;
use crate::resources::resource::Resource;
use krm_core::names;
use krm_yaml::FieldPath;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnnotationsConfig {
    #[serde(default)]
    annotations: StringMap,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

impl Transform for AnnotationsConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        keep_spelling("annotations", &mut self.annotations, context);
        let tables = context.tables.fields();
        let fields = self.field_specs.as_deref().unwrap_or(&tables.common_annotations);
        if fields.iter().any(|field| field.path.ends_with("annotations")) {
            for key in self.annotations.keys() {
                let field = FieldPath::root().key("annotations").key(key.as_str());
                if let Some(problem) = names::check_annotation_key(key) {
                    context.warn_of(&field, problem);
                }
            }
        }
        set_entries(resources, fields, &self.annotations, context);
    }
}
