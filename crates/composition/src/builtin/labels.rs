//! `LabelTransformer`: sets labels and the selectors for them.
//!
//! Source: kustomize 5.8, `api/filters/labels`. By default the fields are those of `commonLabels`:
//! the labels of the object and of its templates, and its selectors.

use serde::Deserialize;

use crate::builtin::texts::{StringMap, Text, keep_spelling, set_entries};
use crate::engine::step::{Context, Transform};
use crate::fields::field_spec::FieldSpec;
use crate::resources::resource::Resource;
use krm_core::names;
use krm_yaml::FieldPath;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LabelsConfig {
    #[serde(default)]
    labels: StringMap,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

impl Transform for LabelsConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let tables = context.tables;
        let fields = self.field_specs.as_deref();
        let fields = fields.unwrap_or(&tables.fields().common_labels);
        set(&mut self.labels, fields, resources, context);
    }
}

/// Sets labels in these fields.
pub(crate) fn set(
    labels: &mut StringMap,
    fields: &[FieldSpec],
    resources: &mut [Resource<'_>],
    context: &mut Context<'_>,
) {
    keep_spelling("labels", labels, context);
    if fields.iter().any(holds_labels) {
        warn_about(labels, context);
    }
    set_entries(resources, fields, labels, context);
}

/// Whether a field holds labels for Kubernetes.
fn holds_labels(field: &FieldSpec) -> bool {
    let last = field.path.rsplit('/').next();
    matches!(last, Some("labels" | "matchLabels" | "selector"))
}

/// Warns of labels that Kubernetes refuses. Kustomize accepts any text.
fn warn_about(labels: &StringMap, context: &mut Context<'_>) {
    for (key, Text(value)) in labels {
        let field = FieldPath::root().key("labels").key(key.as_str());
        for problem in names::check_label(key, value).into_iter().flatten() {
            context.warn_of(&field, problem);
        }
    }
}
