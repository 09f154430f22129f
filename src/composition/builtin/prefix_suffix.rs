//! `PrefixSuffixTransformer`: `PrefixTransformer` and `SuffixTransformer` at once.
//!
//! Source: kustomize 4, `plugin/builtin/prefixsuffixtransformer`; 5.8 has it in tests only.

use serde::Deserialize;

use crate::composition::builtin::affix::{self, End};
use crate::composition::engine::context::Context;
use crate::composition::fields::field_spec::{FieldSpec, fields_or};
use crate::composition::names::references;
use crate::composition::resources::resource::Resource;
use crate::composition::tables::fields as defaults;

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    suffix: String,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

pub(crate) fn apply(resources: &mut Vec<Resource<'_>>, context: &mut Context<'_, '_>) {
    let Some(config) = context.config::<Config>() else {
        return;
    };
    let before = fields_or(config.field_specs.clone(), defaults::PREFIX);
    let behind = fields_or(config.field_specs, defaults::SUFFIX);
    affix::add(resources, context, End::Front, &config.prefix, &before);
    affix::add(resources, context, End::Back, &config.suffix, &behind);
    references::update(resources, context);
}
