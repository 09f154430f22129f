//! `IAMPolicyGenerator`: adds the service account of a workload identity, by kustomize.

use crate::builtin::kustomize::kustomized;
use crate::engine::step::{Context, Transform};
use crate::resources::resource::Resource;

/// The generator, whose fields only kustomize validates.
#[derive(Debug)]
pub(crate) struct Generator;

impl Transform for Generator {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        kustomized::generate(&[], false, resources, context);
    }
}
