//! Our kinds as Rust types, from which the schemas are made.
//!
//! Nothing is read into these types: reading needs the place of every field in the text. Tests hold
//! that the fields are those that are read. What stands above a field is its `description`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::{Number, Value, json};

use crate::template::ParameterType;

/// Names of strings.
pub type Strings = BTreeMap<String, String>;
/// Parameter names and their values, of any shape.
pub type Values = BTreeMap<String, Value>;
/// An object of any kind.
pub type Object = BTreeMap<String, Value>;

/// A Template: parameters, and the objects to make from their values.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Template {
    /// Decides the dialect that references are written in.
    #[schemars(extend("enum" = ["template.krm.dev/v1alpha1", "template.openshift.io/v1", "v1"]))]
    pub api_version: String,
    /// The kind.
    #[schemars(extend("enum" = ["Template"]))]
    pub kind: String,
    /// Its name, and annotations that change how it is read.
    pub metadata: Option<Metadata>,
    /// What may differ from one expansion to the next.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub parameters: Option<Vec<Parameter>>,
    /// The objects to make, with references to the parameters. May be empty.
    pub objects: Vec<Object>,
    /// Labels for every object; keys and values may hold references.
    pub labels: Option<Strings>,
    /// Another name of `labels`.
    pub object_labels: Option<Strings>,
    /// Said when the objects have been made; may hold references.
    pub message: Option<String>,
    /// Values for parameters by name, stronger than their defaults. A patch merges this map.
    pub values: Option<Values>,
}

/// A parameter of a Template.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Parameter {
    /// What references call it: letters, digits, `_`, `.` and `-`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What messages and forms call it.
    pub display_name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The default. Put it in quotes: kustomize respells unquoted numbers and dates.
    pub value: Option<Value>,
    /// Whether its value must be there and not empty.
    pub required: Option<bool>,
    /// What its value must be; `string` if left out.
    #[schemars(extend("enum" = type_names()))]
    pub r#type: Option<String>,
    /// Another name of `type`.
    #[schemars(extend("enum" = type_names()))]
    pub parameter_type: Option<String>,
    /// `expression`: makes a value that fits `from`, if none is given.
    #[schemars(extend("enum" = ["expression", "", null]))]
    pub generate: Option<String>,
    /// What a generated value looks like, such as `[a-zA-Z0-9]{16}`.
    pub from: Option<String>,
    /// The only values it may have.
    pub r#enum: Option<Vec<Value>>,
    /// A regular expression that must match somewhere in its value.
    pub pattern: Option<String>,
    /// The least number it may be.
    pub minimum: Option<Number>,
    /// The greatest number it may be.
    pub maximum: Option<Number>,
    /// The least number of characters.
    pub min_length: Option<u64>,
    /// The greatest number of characters.
    pub max_length: Option<u64>,
    /// Whether messages must not show its value.
    pub secret: Option<bool>,
    /// Parameters of one group stand together in forms.
    pub group: Option<String>,
}

/// Which Template to expand, with which values: once, or once for each of `instances`.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateInstance {
    /// The version of this kind.
    #[schemars(extend("enum" = ["template.krm.dev/v1alpha1"]))]
    pub api_version: String,
    /// The kind.
    #[schemars(extend("enum" = ["TemplateInstance"]))]
    pub kind: String,
    /// Its name.
    pub metadata: Option<Metadata>,
    /// What to expand.
    pub spec: TemplateInstanceSpec,
}

/// What a `TemplateInstance` asks for.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateInstanceSpec {
    /// Of the one expansion, or the defaults of each of `instances`.
    #[schemars(flatten)]
    pub expansion: Expansion,
    /// Expands the Template once for each.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub instances: Option<Vec<Instance>>,
}

/// One of several expansions; what it leaves out it has from `spec`.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Instance {
    /// Tells it from the others of the list, and names the file of its objects.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    pub name: String,
    /// What it does not have from `spec`.
    #[schemars(flatten)]
    pub expansion: Expansion,
}

/// One expansion of a Template.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Expansion {
    /// The Template to expand, one among the items.
    pub template_ref: Option<TemplateReference>,
    /// The Template to expand, in place of `templateRef`.
    pub template: Option<Template>,
    /// Values by the names of parameters: strings, numbers, bools, lists and maps.
    pub parameters: Option<Values>,
    /// Objects among the items that hold values.
    pub parameters_from: Option<Vec<ParametersFrom>>,
    /// More labels for every object made.
    pub labels: Option<Strings>,
    /// The namespace of every object made.
    pub namespace: Option<String>,
}

/// A Template among the items.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateReference {
    /// Its `metadata.name`.
    pub name: String,
}

/// An object whose `data` are values: either a `ConfigMap` or a Secret.
#[derive(Debug, JsonSchema)]
#[schemars(
    rename_all = "camelCase",
    deny_unknown_fields,
    extend("minProperties" = 1, "maxProperties" = 1)
)]
pub struct ParametersFrom {
    /// A `ConfigMap` among the items.
    pub config_map_ref: Option<ValuesReference>,
    /// A Secret among the items.
    pub secret_ref: Option<ValuesReference>,
}

/// A `ConfigMap` or a Secret among the items.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct ValuesReference {
    /// Its `metadata.name`.
    pub name: String,
    /// Whether it may be missing.
    pub optional: Option<bool>,
}

/// Values for the parameters of a Template, as an object: a file for `process -P`.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParameterValues {
    /// The version of this kind.
    #[schemars(extend("enum" = ["template.krm.dev/v1alpha1"]))]
    pub api_version: String,
    /// The kind.
    #[schemars(extend("enum" = ["ParameterValues"]))]
    pub kind: String,
    /// Its name.
    pub metadata: Option<Metadata>,
    /// The `metadata.name` of the Template that the values are for; another one is an error.
    pub template: Option<String>,
    /// The values, by the names of parameters.
    pub values: Option<Values>,
    /// Another name of `values`.
    pub data: Option<Values>,
}

/// Transformers that make and change resources in order, with those of other Compositions.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Composition {
    /// The version of this kind; may be missing in a file.
    #[schemars(extend("enum" = ["kustomize.config.k8s.io/v1alpha1"]))]
    pub api_version: Option<String>,
    /// The kind.
    #[schemars(extend("enum" = ["Composition"]))]
    pub kind: String,
    /// Its name, and what runs it as a function.
    pub metadata: Option<Metadata>,
    /// Other Compositions whose transformers are imported.
    pub transformers_from: Option<Vec<Import>>,
    /// Parts of imported transformers that are changed before these run.
    pub transformer_overrides: Option<Vec<Transformer>>,
    /// Its own transformers.
    pub transformers: Option<Vec<Transformer>>,
    /// The order of all transformers, in which each is named once.
    pub transformer_order: Option<Vec<TransformerName>>,
}

/// A Composition whose transformers are imported.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Import {
    /// A file, or a directory with `composition.yaml`; relative to the file it stands in.
    #[schemars(length(min = 1))]
    pub path: String,
    /// Whether its transformers come before those declared here, as by default, or behind them.
    #[schemars(extend("enum" = ["prepend", "append"]))]
    pub import_mode: Option<String>,
}

/// A transformer: what it is known by, what runs it, and the fields of its kind.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Transformer {
    /// `builtin` for those that are built in, where it may be missing.
    pub api_version: Option<String>,
    /// The kind.
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Its name, by default the kind in kebab case.
    pub metadata: Option<Metadata>,
    /// What runs it, unless it is built in: `container`, `exec` or `starlark`.
    pub runtime: Option<Object>,
    /// Another name of `runtime`.
    pub provider: Option<Object>,
    /// The fields of its kind.
    #[schemars(flatten)]
    pub others: Values,
}

/// A transformer in an order: its name, and what else tells it from others.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransformerName {
    /// Its `metadata.name`, or its kind in kebab case.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Its kind.
    pub kind: Option<String>,
    /// Its `apiVersion`, in place of `group` and `version`.
    pub api_version: Option<String>,
    /// The group of its `apiVersion`.
    pub group: Option<String>,
    /// The version of its `apiVersion`.
    pub version: Option<String>,
    /// Its `metadata.namespace`.
    pub namespace: Option<String>,
}

/// What every object has.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Metadata {
    /// Its name.
    pub name: Option<String>,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its own labels, not those of the objects made.
    pub labels: Option<Strings>,
    /// Its annotations.
    pub annotations: Option<Strings>,
    /// Whatever else Kubernetes puts there.
    #[schemars(flatten)]
    pub others: Values,
}

/// The types of parameters with their aliases; null is the default.
fn type_names() -> Value {
    let names = ParameterType::NAMES.iter().map(|(name, _)| json!(name));
    names.chain([Value::Null]).collect()
}
