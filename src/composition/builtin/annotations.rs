//! `AnnotationsTransformer`: sets annotations.
//!
//! Source: kustomize 5.8, `api/filters/annotations`. Annotations are set in the order of their
//! names.

use serde::Deserialize;

use crate::composition::builtin::texts::{Texts, set_entries, warn_of_numbers};
use crate::composition::engine::context::Context;
use crate::composition::fields::field_spec::{FieldSpec, fields_or};
use crate::composition::resources::resource::Resource;
use crate::composition::tables::fields as defaults;
use crate::krm::names;
use krm_yaml::FieldPath;

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default)]
    annotations: Texts,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

pub(crate) fn apply(resources: &mut Vec<Resource<'_>>, context: &mut Context<'_, '_>) {
    let Some(config) = context.config::<Config>() else {
        return;
    };
    warn_of_numbers("annotations", context);
    let fields = fields_or(config.field_specs, defaults::ANNOTATIONS);
    if fields
        .iter()
        .any(|field| field.path.ends_with("annotations"))
    {
        for key in config.annotations.keys() {
            let field = FieldPath::root().key("annotations").key(key.as_str());
            if let Some(problem) = names::check_annotation_key(key) {
                context.warn_of(&field, problem);
            }
        }
    }
    for resource in resources {
        let outcome = set_entries(&mut resource.value, &fields, &config.annotations);
        context.outcome(resource, outcome);
    }
}
