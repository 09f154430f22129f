//! `HelmChartInflationGenerator`: adds the objects of a Helm chart, by kustomize and helm.

use crate::builtin::kustomize::kustomized::{self, Paths};
use crate::engine::step::{Context, Transform};
use crate::resources::resource::Resource;

/// Fields with paths, from `api/types/helmchartargs.go` of kustomize 5.8.
const PATHS: Paths = &[
    &["valuesFile"],
    &["additionalValuesFiles", "*"],
    &["chartHome"],
    &["configHome"],
];

/// The generator, whose fields only kustomize validates.
#[derive(Debug)]
pub(crate) struct Generator;

impl Transform for Generator {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        kustomized::generate(PATHS, true, resources, context);
    }
}
