//! `PrefixTransformer`: adds a prefix to the names of objects, and updates references to them.
//!
//! Source: kustomize 5.8, `plugin/builtin/prefixtransformer`.

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
pub(crate) struct PrefixConfig {
    #[serde(default)]
    prefix: String,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

impl Transform for PrefixConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let fields = fields_or(self.field_specs.as_deref(), defaults::PREFIX);
        affix::add(resources, context, End::Front, &self.prefix, &fields);
        references::update(resources, context);
    }
}
