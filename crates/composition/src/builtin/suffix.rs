//! `SuffixTransformer`: adds a suffix to the names of objects, and updates references to them.
//!
//! Source: kustomize 5.8, `plugin/builtin/suffixtransformer`.

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
pub(crate) struct SuffixConfig {
    #[serde(default)]
    suffix: String,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

impl Transform for SuffixConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let fields = fields_or(self.field_specs.as_deref(), defaults::SUFFIX);
        affix::add(resources, context, End::Back, &self.suffix, &fields);
        references::update(resources, context);
    }
}
