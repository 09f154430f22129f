//! The table of the built-in transformers.

use serde::de::DeserializeOwned;

use crate::builtin::{
    affix, annotations, config_map, hash, iam_policy, images, labels, legacy_order, namespace,
    patch, patch_json6902, patch_strategic_merge, replacement, replicas, resource_accumulator,
    secret, sort_order, value_add,
};
use crate::engine::functions::HelmChart;
use crate::engine::step::Transform;
use crate::engine::transformer::{Transformer, TransformerId};
use krm_core::typed::AnyCase;
use krm_yaml::diagnostic::Result;

/// Reads a configuration, perhaps in any case of its keys.
type Read = fn(&Transformer, Option<&AnyCase>) -> Result<Box<dyn Transform>>;

/// A transformer that is built in.
pub(crate) struct Builtin {
    /// Its kinds: its name, then aliases.
    pub(crate) kinds: &'static [&'static str],
    /// Reads the configuration of one.
    pub(crate) read: Read,
}

const fn builtin<T: DeserializeOwned + Transform + 'static>(
    kinds: &'static [&'static str],
) -> Builtin {
    Builtin { kinds, read: read::<T> }
}

/// All built-in transformers and generators.
pub(crate) const BUILTINS: &[Builtin] = &[
    builtin::<annotations::AnnotationsConfig>(&["AnnotationsTransformer"]),
    builtin::<labels::LabelsConfig>(&["LabelTransformer"]),
    builtin::<affix::PrefixConfig>(&["PrefixTransformer"]),
    builtin::<affix::SuffixConfig>(&["SuffixTransformer"]),
    builtin::<affix::PrefixSuffixConfig>(&["PrefixSuffixTransformer"]),
    builtin::<namespace::NamespaceConfig>(&["NamespaceTransformer"]),
    builtin::<replicas::ReplicasConfig>(&["ReplicaCountTransformer"]),
    builtin::<images::ImagesConfig>(&["ImageTagTransformer"]),
    builtin::<config_map::Generator>(&["ConfigMapGenerator"]),
    builtin::<secret::Generator>(&["SecretGenerator"]),
    builtin::<hash::HashConfig>(&["HashTransformer"]),
    builtin::<resource_accumulator::ResourceAccumulatorConfig>(&[
        "ResourceAccumulator",
        "ResourceGenerator",
    ]),
    builtin::<HelmChart>(&["HelmChartInflationGenerator"]),
    builtin::<iam_policy::IamPolicyConfig>(&["IAMPolicyGenerator"]),
    builtin::<patch_json6902::PatchJson6902Config>(&["PatchJson6902Transformer"]),
    builtin::<patch_strategic_merge::PatchStrategicMergeConfig>(&[
        "PatchStrategicMergeTransformer",
    ]),
    builtin::<patch::PatchConfig>(&["PatchTransformer"]),
    builtin::<replacement::ReplacementConfig>(&["ReplacementTransformer"]),
    builtin::<value_add::ValueAddConfig>(&["ValueAddTransformer"]),
    builtin::<legacy_order::LegacyOrderConfig>(&["LegacyOrderTransformer"]),
    builtin::<sort_order::SortOrderConfig>(&["SortOrderTransformer"]),
];

/// The names of all built-in transformers.
pub fn builtin_kinds() -> impl Iterator<Item = &'static str> {
    let kinds = BUILTINS.iter().map(|builtin| builtin.kinds.first());
    kinds.flatten().copied()
}

/// The built-in transformer for an id: `apiVersion` is `builtin` or missing.
pub(crate) fn find(id: &TransformerId) -> Option<&'static Builtin> {
    if !id.is_builtin() {
        return None;
    }
    let mut all = BUILTINS.iter();
    all.find(|builtin| builtin.kinds.contains(&id.kind.as_str()))
}

/// Reads a configuration of this type.
fn read<T: Transform + DeserializeOwned + 'static>(
    transformer: &Transformer,
    any_case: Option<&AnyCase>,
) -> Result<Box<dyn Transform>> {
    Ok(Box::new(transformer.read_as::<T>(any_case)?))
}
