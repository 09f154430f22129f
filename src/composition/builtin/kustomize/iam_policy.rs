//! `IAMPolicyGenerator`: adds the service account of a workload identity. Kustomize makes it.

use crate::composition::builtin::kustomize::kustomized;
use crate::composition::resources::resource::Resource;
use crate::composition::run::chain::Context;

pub(crate) fn apply<'d>(resources: &mut Vec<Resource<'d>>, context: &mut Context<'_, 'd>) {
    kustomized::generate(&[], false, resources, context);
}
