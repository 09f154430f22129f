//! Adds prefixes and suffixes to names.
//!
//! Source: kustomize 5.8, `plugin/builtin/prefixtransformer` and `suffixtransformer`,
//! `api/filters/prefix`.

use serde::Deserialize;

use crate::engine::step::{Context, Transform};
use crate::fields::field_spec::{FieldSpec, MissingField};
use crate::fields::field_tree::FieldTrees;
use crate::names::references;
use crate::resources::resource::{Resource, changeable};
use krm_core::identity::group;
use krm_core::names;
use krm_core::scalar::text_of;
use krm_yaml::diagnostic::Diagnostic;
use krm_yaml::{Data, FieldPath, Scalar, ViewMut};

/// `PrefixTransformer`: adds a prefix to the names of objects, and updates references to them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrefixConfig {
    #[serde(default)]
    prefix: String,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

impl Transform for PrefixConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        add_all(resources, context, &[(End::Front, &self.prefix)], self.field_specs.as_deref());
    }
}

/// `SuffixTransformer`: adds a suffix to the names of objects, and updates references to them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuffixConfig {
    #[serde(default)]
    suffix: String,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

impl Transform for SuffixConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        add_all(resources, context, &[(End::Back, &self.suffix)], self.field_specs.as_deref());
    }
}

/// `PrefixSuffixTransformer`: `PrefixTransformer` and `SuffixTransformer` at once.
///
/// Source: kustomize 4, `plugin/builtin/prefixsuffixtransformer`; 5.8 has it in tests only.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrefixSuffixConfig {
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    suffix: String,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

impl Transform for PrefixSuffixConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let affixes = [(End::Front, self.prefix.as_str()), (End::Back, &self.suffix)];
        add_all(resources, context, &affixes, self.field_specs.as_deref());
    }
}

/// The end of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

/// Adds affixes to names, by default those in the table, and updates references to them.
fn add_all(
    resources: &mut [Resource<'_>],
    context: &mut Context<'_>,
    affixes: &[(End, &str)],
    fields: Option<&[FieldSpec]>,
) {
    let tables = context.tables.fields();
    for (end, affix) in affixes {
        let known = match end {
            End::Front => &tables.name_prefix,
            End::Back => &tables.name_suffix,
        };
        add(resources, context, *end, affix, fields.unwrap_or(known));
    }
    references::update(resources, context);
}

/// Adds `affix` to one end of the names in `fields`.
fn add(
    resources: &mut [Resource<'_>],
    context: &mut Context<'_>,
    end: End,
    affix: &str,
    fields: &[FieldSpec],
) {
    if affix.is_empty() {
        return;
    }
    let mut refused = None;
    let mut trees = FieldTrees::default();
    for resource in changeable(resources) {
        if keeps_its_name(resource) {
            continue;
        }
        let tree = trees.of_resource(resource, fields.iter());
        // Others must follow only a rename of the object itself.
        let is_renamed = tree.has("metadata/name");
        if is_renamed {
            resource.remember();
            let affixes = match end {
                End::Front => &mut resource.prefixes,
                End::Back => &mut resource.suffixes,
            };
            affixes.push(affix.to_owned());
        }
        let set = &mut |_, name: ViewMut<'_, '_>| {
            if !context.budget.take(affix.len()) {
                return Ok(());
            }
            let name = name.value_mut();
            if !matches!(name.data, Data::Scalar(_)) {
                return Err("expected a string there".to_owned());
            }
            let old = text_of(name).unwrap_or_default();
            let new = match end {
                End::Front => format!("{affix}{old}"),
                End::Back => format!("{old}{affix}"),
            };
            name.set(Data::Scalar(Scalar::String(new.into())));
            Ok(())
        };
        let problems = tree.visit(resource.view_mut(), MissingField::Scalar, set);
        context.problems(resource, problems);
        if is_renamed && refused.is_none() {
            refused = refused_name(resource);
        }
    }
    if let Some(problem) = refused {
        let field = match end {
            End::Front => "prefix",
            End::Back => "suffix",
        };
        context.warn_of(&FieldPath::root().key(field), problem);
    }
}

/// An error in the current name of an object.
fn refused_name(resource: &Resource<'_>) -> Option<Diagnostic> {
    let text = |path: &[&str]| resource.str_at(path).unwrap_or_default();
    let (api_version, kind) = (text(&["apiVersion"]), text(&["kind"]));
    names::check_object_name(group(api_version), kind, text(&["metadata", "name"]))
}

/// Whether an object keeps its name, because the name defines something or is a namespace, for
/// which there is the `NamespaceTransformer`.
fn keeps_its_name(resource: &Resource<'_>) -> bool {
    let now = resource.str_at(&["kind"]);
    let first = resource.previous.first().map(|first| first.kind.as_str());
    let api_version = resource.str_at(&["apiVersion"]).unwrap_or_default();
    match first.or(now) {
        Some("CustomResourceDefinition" | "Namespace") => true,
        Some("APIService") => group(api_version) == "apiregistration.k8s.io",
        _ => false,
    }
}
