//! `IAMPolicyGenerator`: adds the service account of a workload identity. Kustomize makes it.

use crate::composition::builtin::kustomize::kustomized;
use crate::composition::engine::context::Context;
use crate::composition::resources::resource::Resource;

pub(crate) fn apply<'d>(resources: &mut Vec<Resource<'d>>, context: &mut Context<'_, 'd>) {
    kustomized::generate(&[], false, resources, context);
}
