//! `LabelTransformer`: sets labels, and the selectors that look for them.
//!
//! Source: kustomize 5.8, `api/filters/labels`. Where no fields are named, they are those of
//! `commonLabels`: the labels of the object, of what it makes, and its selectors.

use serde::Deserialize;

use crate::composition::chain::Context;
use crate::composition::field_spec::FieldSpec;
use crate::composition::resource::Resource;
use crate::composition::transformers::{Texts, defaults, fields_or, set_entries};

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    #[serde(default)]
    labels: Texts,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

pub(super) fn apply(resources: &mut Vec<Resource<'_>>, context: &mut Context<'_, '_>) {
    let Some(config) = context.config::<Config>() else {
        return;
    };
    let defaults = [
        defaults::METADATA_LABELS,
        defaults::LABELS,
        defaults::VOLUME_CLAIM_LABELS,
    ];
    let fields = fields_or(config.field_specs, &defaults.concat());
    for resource in resources {
        let outcome = set_entries(&mut resource.value, &fields, &config.labels);
        context.outcome(resource, outcome);
    }
}
