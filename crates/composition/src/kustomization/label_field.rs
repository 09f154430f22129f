//! An entry of `labels`: as a `LabelTransformer`, with the fields that the tables have for it.
//!
//! Source: kustomize 5.8, `configureBuiltinLabelTransformer` in
//! `api/internal/target/kusttarget_configplugin.go`.

use std::borrow::Cow;

use serde::Deserialize;

use crate::builtin::labels::set;
use crate::builtin::texts::StringMap;
use crate::engine::field_tables::FieldTables;
use crate::engine::merged_fields::MergedFields;
use crate::engine::step::{Context, Transform};
use crate::fields::field_spec::FieldSpec;
use crate::resources::resource::Resource;
use krm_yaml::FieldPath;

/// An entry of `labels`.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[derive(Default)]
pub(crate) struct LabelField {
    labels: StringMap,
    include_selectors: bool,
    include_templates: bool,
    fields: Vec<FieldSpec>,
}

impl LabelField {
    /// The fields to set.
    fn specs<'f>(&self, tables: &'f FieldTables) -> Result<Cow<'f, [FieldSpec]>, String> {
        if self.include_selectors && self.fields.is_empty() && tables.labels.is_empty() {
            return Ok(Cow::Borrowed(&tables.common_labels));
        }
        let own =
            FieldSpec { path: "metadata/labels".into(), create: true, ..FieldSpec::default() };
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
        Ok(Cow::Owned(specs.fields()))
    }
}

impl Transform for LabelField {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        match self.specs(context.tables.fields()) {
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

#[cfg(test)]
mod tests {
    use super::LabelField;
    use crate::engine::field_tables::{Additions, FieldTables, Tables};

    #[test]
    fn fields_of_selectors_are_those_of_the_table() {
        let entry = LabelField { include_selectors: true, ..LabelField::default() };
        let tables = Tables::of(&Additions::default()).unwrap();
        let with_one_more = FieldTables {
            labels: vec![tables.fields().common_labels[0].clone()],
            ..tables.fields().clone()
        };
        let merged = entry.specs(&with_one_more).unwrap();
        assert_eq!(entry.specs(tables.fields()).unwrap(), merged);
    }
}
