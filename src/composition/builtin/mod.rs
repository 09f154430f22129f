//! The built-in transformers, one a file, and the table of them.

mod affix;
mod annotations;
mod config_map;
mod generator;
mod hash;
mod images;
pub(crate) mod known;
mod kustomize;
mod labels;
mod legacy_order;
mod namespace;
mod patch;
mod patch_json6902;
mod patch_strategic_merge;
mod patches;
mod prefix;
mod prefix_suffix;
mod replacement;
mod replicas;
pub(crate) mod resource_accumulator;
mod secret;
mod sort_order;
mod suffix;
mod value_add;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};

use crate::composition::engine::transformer::{Transformer, TransformerId};
use crate::composition::fields::field_spec::{FieldSpec, Made};
use crate::composition::read::model::GROUP;
use crate::composition::resources::resource::Resource;
use crate::composition::run::chain::Context;
use crate::composition::tables::fields::Field;
use crate::composition::values::quote::text_of_number;
use krm_yaml::diagnostic::{Result, Severity};
use krm_yaml::{Data, FieldPath, Scalar, Value};

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
        apply: kustomize::helm_chart::apply,
    },
    Builtin {
        kinds: &["IAMPolicyGenerator"],
        check: reads::<Any>,
        apply: kustomize::iam_policy::apply,
    },
    Builtin {
        kinds: &[KUSTOMIZATION],
        check: kustomize::kustomization::check,
        apply: kustomize::kustomization::apply,
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

/// Texts by their keys; numbers and bools are spelled as kustomize spells them.
type Texts = BTreeMap<String, Text>;

/// A text that may be written as a number or bool.
#[derive(Clone, Debug)]
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(Self(text)),
            serde_json::Value::Null => Ok(Self(String::new())),
            serde_json::Value::Bool(flag) => Ok(Self(flag.to_string())),
            serde_json::Value::Number(number) => Ok(Self(text_of_number(&number))),
            _ => Err(D::Error::custom(
                "expected a string, found a list or mapping",
            )),
        }
    }
}

/// Warns of numbers under `key` that are spelled otherwise as texts: `1.10` would be `1.1`.
fn warn_of_numbers(key: &'static str, context: &mut Context<'_, '_>) {
    let transformer = context.transformer;
    let entries = transformer.config.get(key).and_then(Value::entries);
    for (name, value) in entries.unwrap_or_default() {
        let Data::Scalar(Scalar::Number(digits)) = &value.data else {
            continue;
        };
        let text = serde_json::from_str(digits).map(|number| text_of_number(&number));
        let field = FieldPath::root().key(key).key(name.as_ref());
        let place = transformer.place_of(&field);
        let written = place.as_ref().and_then(|place| {
            let text = place.source.text();
            text.get(place.range.clone())
        });
        if let (Ok(text), Some(written)) = (text, written)
            && text != written
        {
            let problem = format!("`{written}` is a number, and becomes the string `{text}`");
            let mut warning = transformer.error(&field, problem);
            warning.severity = Severity::Warning;
            context.diagnostics.push(warning.hint("put it in quotes"));
        }
    }
}

/// The fields that the configuration names, or those of kustomize where it names none.
fn fields_or(own: Option<Vec<FieldSpec>>, defaults: &[Field]) -> Vec<FieldSpec> {
    own.unwrap_or_else(|| defaults.iter().map(FieldSpec::from).collect())
}

/// Sets entries of the mappings that `fields` lead to.
fn set_entries(
    object: &mut Value<'_>,
    fields: &[FieldSpec],
    entries: &Texts,
) -> std::result::Result<(), String> {
    let fields = fields.iter().filter(|field| field.is_for(object));
    for field in fields.collect::<Vec<_>>() {
        field.visit(object, Made::Mapping, &mut |mapping| {
            if !matches!(mapping.data, Data::Mapping(_)) {
                return Err("expected a mapping there".to_owned());
            }
            for (key, Text(text)) in entries {
                mapping.insert(Cow::Owned(key.clone()), Value::string(text.clone()));
            }
            Ok(())
        })?;
    }
    Ok(())
}
