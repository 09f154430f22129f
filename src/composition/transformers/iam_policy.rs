//! `IAMPolicyGenerator`: adds the service account of a workload identity. Kustomize makes it.

use crate::composition::chain::Context;
use crate::composition::resource::Resource;
use crate::composition::transformers::kustomized;

pub(super) fn apply<'d>(resources: &mut Vec<Resource<'d>>, context: &mut Context<'_, 'd>) {
    kustomized::generate(&[], false, resources, context);
}
