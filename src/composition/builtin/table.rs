//! The table of the built-in transformers.

use serde::de::DeserializeOwned;

use crate::composition::builtin::kustomize::{helm_chart, iam_policy, kustomization};
use crate::composition::builtin::{
    annotations, config_map, generator, hash, images, labels, legacy_order, namespace, patch,
    patch_json6902, patch_strategic_merge, prefix, prefix_suffix, replacement, replicas,
    resource_accumulator, secret, sort_order, suffix, value_add,
};
use crate::composition::engine::context::Context;
use crate::composition::engine::transformer::{Transformer, TransformerId};
use crate::composition::read::model::GROUP;
use crate::composition::resources::resource::Resource;
use krm_yaml::diagnostic::Result;

/// Changes the resources, or says what is wrong.
type Apply = for<'c, 'd> fn(&mut Vec<Resource<'d>>, &mut Context<'c, 'd>);

/// The kind that a `kustomization.yaml` has.
const KUSTOMIZATION: &str = "Kustomization";

/// A transformer that is built in.
pub(crate) struct Builtin {
    /// Its kinds: the first is its name, the others are read as well.
    pub(crate) kinds: &'static [&'static str],
    /// Whether the configuration of one says what it must.
    pub(crate) check: fn(&Transformer) -> Result<()>,
    /// What it does.
    pub(crate) apply: Apply,
}

/// All of them.
pub(crate) const BUILTINS: &[Builtin] = &[
    Builtin {
        kinds: &["AnnotationsTransformer"],
        check: reads::<annotations::Config>,
        apply: annotations::apply,
    },
    Builtin {
        kinds: &["LabelTransformer"],
        check: reads::<labels::Config>,
        apply: labels::apply,
    },
    Builtin {
        kinds: &["PrefixTransformer"],
        check: reads::<prefix::Config>,
        apply: prefix::apply,
    },
    Builtin {
        kinds: &["SuffixTransformer"],
        check: reads::<suffix::Config>,
        apply: suffix::apply,
    },
    Builtin {
        kinds: &["PrefixSuffixTransformer"],
        check: reads::<prefix_suffix::Config>,
        apply: prefix_suffix::apply,
    },
    Builtin {
        kinds: &["NamespaceTransformer"],
        check: reads::<namespace::Config>,
        apply: namespace::apply,
    },
    Builtin {
        kinds: &["ReplicaCountTransformer"],
        check: reads::<replicas::Config>,
        apply: replicas::apply,
    },
    Builtin {
        kinds: &["ImageTagTransformer"],
        check: reads::<images::Config>,
        apply: images::apply,
    },
    Builtin {
        kinds: &["ConfigMapGenerator"],
        check: reads::<generator::Config>,
        apply: config_map::apply,
    },
    Builtin {
        kinds: &["SecretGenerator"],
        check: reads::<generator::Config>,
        apply: secret::apply,
    },
    Builtin {
        kinds: &["HashTransformer"],
        check: reads::<hash::Config>,
        apply: hash::apply,
    },
    Builtin {
        kinds: &["ResourceAccumulator", "ResourceGenerator"],
        check: reads::<resource_accumulator::Config>,
        apply: resource_accumulator::apply,
    },
    Builtin {
        kinds: &["HelmChartInflationGenerator"],
        check: reads::<Any>,
        apply: helm_chart::apply,
    },
    Builtin {
        kinds: &["IAMPolicyGenerator"],
        check: reads::<Any>,
        apply: iam_policy::apply,
    },
    Builtin {
        kinds: &[KUSTOMIZATION],
        check: kustomization::check,
        apply: kustomization::apply,
    },
    Builtin {
        kinds: &["PatchJson6902Transformer"],
        check: reads::<patch_json6902::Config>,
        apply: patch_json6902::apply,
    },
    Builtin {
        kinds: &["PatchStrategicMergeTransformer"],
        check: reads::<patch_strategic_merge::Config>,
        apply: patch_strategic_merge::apply,
    },
    Builtin {
        kinds: &["PatchTransformer"],
        check: reads::<patch::Config>,
        apply: patch::apply,
    },
    Builtin {
        kinds: &["ReplacementTransformer"],
        check: reads::<replacement::Config>,
        apply: replacement::apply,
    },
    Builtin {
        kinds: &["ValueAddTransformer"],
        check: reads::<value_add::Config>,
        apply: value_add::apply,
    },
    Builtin {
        kinds: &["LegacyOrderTransformer"],
        check: reads::<legacy_order::Config>,
        apply: legacy_order::apply,
    },
    Builtin {
        kinds: &["SortOrderTransformer"],
        check: reads::<sort_order::Config>,
        apply: sort_order::apply,
    },
];

/// The names of all built-in transformers.
pub fn builtin_kinds() -> impl Iterator<Item = &'static str> {
    let kinds = BUILTINS.iter().map(|builtin| builtin.kinds.first());
    kinds.flatten().copied()
}

/// The built-in transformer of this id; `apiVersion` is `builtin`, or missing. A Kustomization may
/// have its own.
pub(crate) fn find(id: &TransformerId) -> Option<&'static Builtin> {
    if !id.is_builtin() && (id.group.as_str(), id.kind.as_str()) != (GROUP, KUSTOMIZATION) {
        return None;
    }
    let mut all = BUILTINS.iter();
    all.find(|builtin| builtin.kinds.contains(&id.kind.as_str()))
}

/// Whether the configuration is one of these.
fn reads<Config: DeserializeOwned>(transformer: &Transformer) -> Result<()> {
    transformer.read::<Config>().map(drop)
}

/// The fields of what kustomize reads: it knows them.
type Any = serde::de::IgnoredAny;
