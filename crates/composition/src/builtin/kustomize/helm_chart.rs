//! `HelmChartInflationGenerator`: adds the objects of a Helm chart, by kustomize and helm.

use crate::builtin::kustomize::kustomized::{self, Paths};
use crate::engine::step::{Context, Transform};
use crate::resources::resource::Resource;

/// Source: kustomize 5.8, `api/types/helmchartargs.go`.
const PATHS: Paths = &[
    &["valuesFile"],
    &["additionalValuesFiles", "*"],
    &["chartHome"],
    &["configHome"],
];

/// Kustomize knows the fields.
#[derive(Debug)]
pub(crate) struct Generator;

impl Transform for Generator {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        kustomized::generate(PATHS, true, resources, context);
    }
}
