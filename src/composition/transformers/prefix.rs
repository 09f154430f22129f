//! `PrefixTransformer`: puts a text before the names of objects, and has what names them follow.
//!
//! Source: kustomize 5.8, `plugin/builtin/prefixtransformer`.

use serde::Deserialize;

use crate::composition::chain::Context;
use crate::composition::field_spec::FieldSpec;
use crate::composition::references;
use crate::composition::resource::Resource;
use crate::composition::transformers::affix::{self, End};
use crate::composition::transformers::{defaults, fields_or};

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    #[serde(default)]
    prefix: String,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

pub(super) fn apply(resources: &mut Vec<Resource<'_>>, context: &mut Context<'_, '_>) {
    let Some(config) = context.config::<Config>() else {
        return;
    };
    let fields = fields_or(config.field_specs, defaults::PREFIX);
    affix::add(resources, context, End::Front, &config.prefix, &fields);
    references::update(resources, context);
}
