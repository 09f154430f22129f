//! The table of the built-in transformers.

use serde::de::DeserializeOwned;

use crate::builtin::kustomize::{helm_chart, iam_policy, kustomization};
use crate::builtin::{
    annotations, config_map, hash, images, labels, legacy_order, namespace, patch, patch_json6902,
    patch_strategic_merge, prefix, prefix_suffix, replacement, replicas, resource_accumulator,
    secret, sort_order, suffix, value_add,
};
use crate::engine::step::Transform;
use crate::engine::transformer::{Transformer, TransformerId};
use crate::read::model::GROUP;
use krm_yaml::diagnostic::Result;

/// A transformer that is built in.
pub(crate) struct Builtin {
    /// Its kinds: its name, then aliases.
    pub(crate) kinds: &'static [&'static str],
    /// Reads the configuration of one.
    pub(crate) read: fn(&Transformer) -> Result<Box<dyn Transform>>,
}

const fn builtin(
    kinds: &'static [&'static str],
    read: fn(&Transformer) -> Result<Box<dyn Transform>>,
) -> Builtin {
    Builtin { kinds, read }
}

/// The kind that a `kustomization.yaml` has.
const KUSTOMIZATION: &str = "Kustomization";

/// All built-in transformers and generators.
pub(crate) const BUILTINS: &[Builtin] = &[
    builtin(
        &["AnnotationsTransformer"],
        read::<annotations::AnnotationsConfig>,
    ),
    builtin(&["LabelTransformer"], read::<labels::LabelsConfig>),
    builtin(&["PrefixTransformer"], read::<prefix::PrefixConfig>),
    builtin(&["SuffixTransformer"], read::<suffix::SuffixConfig>),
    builtin(
        &["PrefixSuffixTransformer"],
        read::<prefix_suffix::PrefixSuffixConfig>,
    ),
    builtin(
        &["NamespaceTransformer"],
        read::<namespace::NamespaceConfig>,
    ),
    builtin(
        &["ReplicaCountTransformer"],
        read::<replicas::ReplicasConfig>,
    ),
    builtin(&["ImageTagTransformer"], read::<images::ImagesConfig>),
    builtin(&["ConfigMapGenerator"], read::<config_map::Generator>),
    builtin(&["SecretGenerator"], read::<secret::Generator>),
    builtin(&["HashTransformer"], read::<hash::HashConfig>),
    builtin(
        &["ResourceAccumulator", "ResourceGenerator"],
        read::<resource_accumulator::ResourceAccumulatorConfig>,
    ),
    builtin(&["HelmChartInflationGenerator"], |_| {
        Ok(Box::new(helm_chart::Generator))
    }),
    builtin(&["IAMPolicyGenerator"], |_| {
        Ok(Box::new(iam_policy::Generator))
    }),
    builtin(&[KUSTOMIZATION], kustomization::read),
    builtin(
        &["PatchJson6902Transformer"],
        read::<patch_json6902::PatchJson6902Config>,
    ),
    builtin(
        &["PatchStrategicMergeTransformer"],
        read::<patch_strategic_merge::PatchStrategicMergeConfig>,
    ),
    builtin(&["PatchTransformer"], read::<patch::PatchConfig>),
    builtin(
        &["ReplacementTransformer"],
        read::<replacement::ReplacementConfig>,
    ),
    builtin(&["ValueAddTransformer"], read::<value_add::ValueAddConfig>),
    builtin(
        &["LegacyOrderTransformer"],
        read::<legacy_order::LegacyOrderConfig>,
    ),
    builtin(
        &["SortOrderTransformer"],
        read::<sort_order::SortOrderConfig>,
    ),
];

/// The names of all built-in transformers.
pub fn builtin_kinds() -> impl Iterator<Item = &'static str> {
    let kinds = BUILTINS.iter().map(|builtin| builtin.kinds.first());
    kinds.flatten().copied()
}

/// The built-in transformer for an id: `apiVersion` is `builtin` or missing. A Kustomization may
/// have its own.
pub(crate) fn find(id: &TransformerId) -> Option<&'static Builtin> {
    if !id.is_builtin() && (id.group.as_str(), id.kind.as_str()) != (GROUP, KUSTOMIZATION) {
        return None;
    }
    let mut all = BUILTINS.iter();
    all.find(|builtin| builtin.kinds.contains(&id.kind.as_str()))
}

/// Reads a configuration of this type.
fn read<T: Transform + DeserializeOwned + 'static>(
    transformer: &Transformer,
) -> Result<Box<dyn Transform>> {
    Ok(Box::new(transformer.read::<T>()?))
}
