//! `HelmChartInflationGenerator`: adds the objects of a Helm chart. Kustomize makes them, with
//! helm.

use crate::composition::chain::Context;
use crate::composition::resource::Resource;
use crate::composition::transformers::kustomized::{self, Paths};

/// Source: kustomize 5.8, `api/types/helmchartargs.go`.
const PATHS: Paths = &[
    &["valuesFile"],
    &["additionalValuesFiles", "*"],
    &["chartHome"],
    &["configHome"],
];

pub(super) fn apply<'d>(resources: &mut Vec<Resource<'d>>, context: &mut Context<'_, 'd>) {
    kustomized::generate(PATHS, true, resources, context);
}
