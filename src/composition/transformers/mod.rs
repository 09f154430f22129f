//! The built-in transformers, one a file, and the table of them.

mod affix;
mod annotations;
mod config_map;
mod defaults;
mod generator;
mod hash;
mod images;
mod labels;
mod namespace;
mod patch;
mod patch_json6902;
mod patch_strategic_merge;
mod prefix;
mod prefix_suffix;
mod replacement;
mod replicas;
mod resource_accumulator;
mod secret;
mod suffix;
mod value_add;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::composition::chain::Context;
use crate::composition::field_spec::{FieldSpec, Made};
use crate::composition::resource::Resource;
use crate::composition::transformer::TransformerId;
use crate::yaml::{Data, Value};

#[cfg(test)]
pub(super) use defaults::Field;
pub(super) use defaults::{NAME_REFERENCES, Named};

/// Changes the resources, or says what is wrong.
type Apply = for<'c, 'd> fn(&mut Vec<Resource<'d>>, &mut Context<'c, 'd>);

/// A transformer that is built in.
pub(super) struct Builtin {
    /// Its kinds: the first is its name, the others are read as well.
    pub(super) kinds: &'static [&'static str],
    /// What it does.
    pub(super) apply: Apply,
}

/// All of them.
pub(super) const BUILTINS: &[Builtin] = &[
    Builtin {
        kinds: &["AnnotationsTransformer"],
        apply: annotations::apply,
    },
    Builtin {
        kinds: &["LabelTransformer"],
        apply: labels::apply,
    },
    Builtin {
        kinds: &["PrefixTransformer"],
        apply: prefix::apply,
    },
    Builtin {
        kinds: &["SuffixTransformer"],
        apply: suffix::apply,
    },
    Builtin {
        kinds: &["PrefixSuffixTransformer"],
        apply: prefix_suffix::apply,
    },
    Builtin {
        kinds: &["NamespaceTransformer"],
        apply: namespace::apply,
    },
    Builtin {
        kinds: &["ReplicaCountTransformer"],
        apply: replicas::apply,
    },
    Builtin {
        kinds: &["ImageTagTransformer"],
        apply: images::apply,
    },
    Builtin {
        kinds: &["ConfigMapGenerator"],
        apply: config_map::apply,
    },
    Builtin {
        kinds: &["SecretGenerator"],
        apply: secret::apply,
    },
    Builtin {
        kinds: &["HashTransformer"],
        apply: hash::apply,
    },
    Builtin {
        kinds: &["ResourceAccumulator", "ResourceGenerator"],
        apply: resource_accumulator::apply,
    },
    Builtin {
        kinds: &["PatchJson6902Transformer"],
        apply: patch_json6902::apply,
    },
    Builtin {
        kinds: &["PatchStrategicMergeTransformer"],
        apply: patch_strategic_merge::apply,
    },
    Builtin {
        kinds: &["PatchTransformer"],
        apply: patch::apply,
    },
    Builtin {
        kinds: &["ReplacementTransformer"],
        apply: replacement::apply,
    },
    Builtin {
        kinds: &["ValueAddTransformer"],
        apply: value_add::apply,
    },
];

/// The names of all built-in transformers.
pub fn builtin_kinds() -> impl Iterator<Item = &'static str> {
    let kinds = BUILTINS.iter().map(|builtin| builtin.kinds.first());
    kinds.flatten().copied()
}

/// The built-in transformer of this id; `apiVersion` is `builtin`, or missing.
pub(super) fn find(id: &TransformerId) -> Option<&'static Builtin> {
    let mut all = BUILTINS.iter();
    all.find(|builtin| id.is_builtin() && builtin.kinds.contains(&id.kind.as_str()))
}

/// Texts by their keys; numbers and bools are taken as they are spelled.
type Texts = BTreeMap<String, Text>;

/// A text that may be written as a number or bool.
#[derive(Clone, Debug)]
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(Self(text)),
            serde_json::Value::Null => Ok(Self(String::new())),
            value @ (serde_json::Value::Bool(_) | serde_json::Value::Number(_)) => {
                Ok(Self(value.to_string()))
            }
            _ => Err(D::Error::custom("expected a text, found a list or mapping")),
        }
    }
}

/// The fields that the configuration names, or those of kustomize where it names none.
fn fields_or(own: Option<Vec<FieldSpec>>, defaults: &[defaults::Field]) -> Vec<FieldSpec> {
    own.unwrap_or_else(|| defaults.iter().map(FieldSpec::from).collect())
}

/// Sets entries of the mappings that `fields` lead to.
fn set_entries(
    object: &mut Value<'_>,
    fields: &[FieldSpec],
    entries: &Texts,
) -> Result<(), String> {
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
