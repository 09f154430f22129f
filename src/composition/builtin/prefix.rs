//! `PrefixTransformer`: puts a text before the names of objects, and has what names them follow.
//!
//! Source: kustomize 5.8, `plugin/builtin/prefixtransformer`.

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
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

pub(crate) fn apply(resources: &mut Vec<Resource<'_>>, context: &mut Context<'_, '_>) {
    let Some(config) = context.config::<Config>() else {
        return;
    };
    let fields = fields_or(config.field_specs, defaults::PREFIX);
    affix::add(resources, context, End::Front, &config.prefix, &fields);
    references::update(resources, context);
}
