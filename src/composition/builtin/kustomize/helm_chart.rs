//! `HelmChartInflationGenerator`: adds the objects of a Helm chart. Kustomize makes them, with
//! helm.

use crate::composition::builtin::kustomize::kustomized::{self, Paths};
use crate::composition::engine::context::Context;
use crate::composition::resources::resource::Resource;

/// Source: kustomize 5.8, `api/types/helmchartargs.go`.
const PATHS: Paths = &[
    &["valuesFile"],
    &["additionalValuesFiles", "*"],
    &["chartHome"],
    &["configHome"],
];

pub(crate) fn apply<'d>(resources: &mut Vec<Resource<'d>>, context: &mut Context<'_, 'd>) {
    kustomized::generate(PATHS, true, resources, context);
}
