//! `IAMPolicyGenerator`: adds the service account of a workload identity, by kustomize.

use crate::composition::builtin::kustomize::kustomized;
use crate::composition::engine::context::Context;
use crate::composition::engine::step::Transform;
use crate::composition::resources::resource::Resource;

/// Kustomize knows the fields.
#[derive(Debug)]
pub(crate) struct Generator;

impl Transform for Generator {
    fn apply<'d>(&self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_, 'd>) {
        kustomized::generate(&[], false, resources, context);
    }
}
