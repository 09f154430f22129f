//! `PrefixSuffixTransformer`: `PrefixTransformer` and `SuffixTransformer` at once.
//!
//! Source: kustomize 4, `plugin/builtin/prefixsuffixtransformer`; 5.8 has it in tests only.

use serde::Deserialize;

use crate::builtin::affix::{self, End};
use crate::engine::step::{Context, Transform};
use crate::fields::field_spec::{FieldSpec, fields_or};
use crate::names::references;
use crate::resources::resource::Resource;
use crate::tables::fields as defaults;

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrefixSuffixConfig {
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    suffix: String,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

impl Transform for PrefixSuffixConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let before = fields_or(self.field_specs.as_deref(), defaults::PREFIX);
        let after = fields_or(self.field_specs.as_deref(), defaults::SUFFIX);
        affix::add(resources, context, End::Front, &self.prefix, &before);
        affix::add(resources, context, End::Back, &self.suffix, &after);
        references::update(resources, context);
    }
}
