//! `LegacyOrderTransformer`: sorts resources by kind, as `SortOrderTransformer` does by default.
//!
//! Source: kustomize 5.8, `api/internal/builtins/LegacyOrderTransformer.go`.

use serde::Deserialize;

use crate::builtin::sort_order;
use crate::engine::step::{Context, Transform};
use crate::resources::resource::Resource;

/// The configuration has no fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LegacyOrderConfig {}

impl Transform for LegacyOrderConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, _: &mut Context<'_>) {
        sort_order::by_kind(resources);
    }
}
