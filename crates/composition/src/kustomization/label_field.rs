//! An entry of `labels`: as a `LabelTransformer`, with the fields that the tables have for it.
//!
//! Source: kustomize 5.8, `configureBuiltinLabelTransformer` in
//! `api/internal/target/kusttarget_configplugin.go`.

use serde::Deserialize;

use crate::builtin::labels::set;
use crate::builtin::texts::Texts;
use crate::engine::merged_fields::MergedFields;
use crate::engine::step::{Context, Transform};
use crate::fields::field_spec::FieldSpec;
use crate::resources::resource::Resource;
use krm_yaml::FieldPath;

/// An entry of `labels`.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[derive(Default)]
pub(crate) struct LabelField {
    labels: Texts,
    include_selectors: bool,
    include_templates: bool,
    fields: Vec<FieldSpec>,
}

impl LabelField {
    /// The fields to set.
    fn specs(&self, context: &Context<'_>) -> Result<Vec<FieldSpec>, String> {
        let tables = context.tables.fields();
        let own = FieldSpec {
            path: "metadata/labels".into(),
            create: true,
            ..FieldSpec::default()
        };
        let mut specs = MergedFields::default();
        specs.extend(&self.fields);
        if self.include_selectors {
            specs.add_all(&tables.common_labels)?;
        } else {
            if self.include_templates {
                specs.add_all(&tables.template_labels)?;
            }
            specs.add(&own, false)?;
        }
        specs.add_all(&tables.labels)?;
        Ok(specs.fields())
    }
}

impl Transform for LabelField {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        match self.specs(context) {
            Ok(specs) => set(&mut self.labels, &specs, resources, context),
            Err(problem) => {
                let field = FieldPath::root().key("fields");
                let problem = format!("conflicting fields: {problem}");
                let wrong = context.transformer.error(&field, problem);
                context.diagnostics.push(wrong);
            }
        }
    }
}
