//! Our kinds as Rust types, from which the schemas are made.
//!
//! Nothing is read into these types: reading needs the place of every field in the text. Tests hold
//! that the fields are those that are read. The comment of a field is its `description`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::{Number, Value, json};

use krm_template_engine::ParameterType;

/// A JSON object whose values are all strings, such as labels.
pub type Strings = BTreeMap<String, String>;
/// Parameter names and their values, of any type.
pub type Values = BTreeMap<String, Value>;
/// An object of any kind.
pub type Object = BTreeMap<String, Value>;

/// A Template: parameters, and the objects to create from their values.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Template {
    /// The dialect in which references are written.
    #[schemars(extend("enum" = ["template.krm.dev/v1alpha1", "template.openshift.io/v1", "v1"]))]
    pub api_version: String,
    /// The kind.
    #[schemars(extend("enum" = ["Template"]))]
    pub kind: String,
    /// Its name, and annotations that change how it is read.
    pub metadata: Option<Metadata>,
    /// The values that may differ between expansions.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub parameters: Option<Vec<Parameter>>,
    /// The objects to create, with references to the parameters. May be empty.
    pub objects: Vec<Object>,
    /// Labels for every object; keys and values may contain references.
    pub labels: Option<Strings>,
    /// Another name of `labels`.
    pub object_labels: Option<Strings>,
    /// Printed after the objects; may contain references.
    pub message: Option<String>,
    /// Values of parameters by name; they override the defaults. A patch can merge this map.
    pub values: Option<Values>,
}

/// A parameter of a Template.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Parameter {
    /// The name used in references: letters, digits, `_`, `.` and `-`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The name shown in messages and forms.
    pub display_name: Option<String>,
    /// The purpose of the parameter.
    pub description: Option<String>,
    /// The default. Quote it: kustomize respells unquoted numbers and dates.
    pub value: Option<Value>,
    /// Whether the parameter needs a value that is not empty.
    pub required: Option<bool>,
    /// The type of its value; `string` by default.
    #[schemars(extend("enum" = type_names()))]
    pub r#type: Option<String>,
    /// Another name of `type`.
    #[schemars(extend("enum" = type_names()))]
    pub parameter_type: Option<String>,
    /// `expression`: generates a value that matches `from`, if none is given.
    #[schemars(extend("enum" = ["expression", "", null]))]
    pub generate: Option<String>,
    /// The expression for a generated value, such as `[a-zA-Z0-9]{16}`.
    pub from: Option<String>,
    /// The allowed values.
    pub r#enum: Option<Vec<Value>>,
    /// A regular expression that must match a part of its value.
    pub pattern: Option<String>,
    /// The least allowed number.
    pub minimum: Option<Number>,
    /// The greatest allowed number.
    pub maximum: Option<Number>,
    /// The minimum number of characters.
    pub min_length: Option<u64>,
    /// The maximum number of characters.
    pub max_length: Option<u64>,
    /// Whether to hide its value in messages.
    pub secret: Option<bool>,
    /// Forms show the parameters of a group together.
    pub group: Option<String>,
}

/// A Template to expand and its values: once, or once for each of `instances`.
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
    /// The Template and its values.
    pub spec: TemplateInstanceSpec,
}

/// The specification of a `TemplateInstance`.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateInstanceSpec {
    /// The fields of the single expansion, or the defaults for `instances`.
    #[schemars(flatten)]
    pub expansion: Expansion,
    /// Instances, for each of which the Template is expanded once.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub instances: Option<Vec<Instance>>,
}

/// One of several expansions; `spec` has the defaults of its fields.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Instance {
    /// The name of the instance, unique in the list; also the name of the file with its objects.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    pub name: String,
    /// Its own fields, which override those of `spec`.
    #[schemars(flatten)]
    pub expansion: Expansion,
}

/// One expansion of a Template.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Expansion {
    /// The Template to expand, which must be among the items.
    pub template_ref: Option<TemplateReference>,
    /// The Template to expand, in place of `templateRef`.
    pub template: Option<Template>,
    /// Values by parameter name: strings, numbers, bools, lists and maps.
    pub parameters: Option<Values>,
    /// Objects among the items from which to take values.
    pub parameters_from: Option<Vec<ParametersFrom>>,
    /// Additional labels for every object.
    pub labels: Option<Strings>,
    /// The namespace of every object.
    pub namespace: Option<String>,
}

/// A Template among the items.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateReference {
    /// Its `metadata.name`.
    pub name: String,
}

/// An object with values in its `data`: either a `ConfigMap` or a Secret.
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

/// Adds a Template that is made of the objects of a package, which stay as they are.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateExport {
    /// The version of this kind.
    #[schemars(extend("enum" = ["template.krm.dev/v1alpha1"]))]
    pub api_version: String,
    /// The kind.
    #[schemars(extend("enum" = ["TemplateExport"]))]
    pub kind: String,
    /// Its name.
    pub metadata: Option<Metadata>,
    /// The name and dialect of the Template, its parameters, and the fields that it keeps.
    pub spec: Option<TemplateExportSpec>,
}

/// The specification of a `TemplateExport`.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateExportSpec {
    /// The name of the Template; that of the `TemplateExport` by default.
    pub name: Option<String>,
    /// The dialect of the Template; `proposal` by default.
    #[schemars(extend("enum" = ["proposal", "openshift", null]))]
    pub dialect: Option<String>,
    /// The groups of parameters to make, or `all` or `none`. Values of Secrets always become parameters.
    pub parameterize: Option<Vec<String>>,
    /// Whether to drop only the fields that the cluster sets in every object.
    pub exact: Option<bool>,
    /// Fields to keep that would be dropped: field paths, or their last keys.
    pub keep: Option<Vec<String>>,
    /// Fields to drop, too: field paths from the object down.
    pub drop: Option<Vec<String>>,
    /// Whether to `drop` or `keep` fields with the values that the API server fills in.
    #[schemars(extend("enum" = ["drop", "keep", null]))]
    pub defaults: Option<String>,
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
    /// The `metadata.name` of the Template for these values; using another Template is an error.
    pub template: Option<String>,
    /// The values by parameter name.
    pub values: Option<Values>,
    /// Another name of `values`.
    pub data: Option<Values>,
}

/// A Deployment Manager configuration, whose resources become objects.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeploymentConfiguration {
    /// The version of this kind.
    #[schemars(extend("enum" = ["template.krm.dev/v1alpha1"]))]
    pub api_version: String,
    /// The kind.
    #[schemars(extend("enum" = ["DeploymentConfiguration"]))]
    pub kind: String,
    /// Its name, which is the name of the deployment.
    pub metadata: Option<Metadata>,
    /// The configuration, and what it imports.
    pub spec: DeploymentConfigurationSpec,
}

/// The specification of a `DeploymentConfiguration`.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeploymentConfigurationSpec {
    /// The configuration: a mapping with `resources`, or its text.
    pub config: Option<Value>,
    /// The key of a ConfigMap with the configuration, instead of `config`.
    pub config_from: Option<ConfigFrom>,
    /// Templates, schemas and other files by their names.
    pub imports: Option<Vec<DeploymentImport>>,
    /// Variables of templates; `deployment` is `metadata.name` unless it is set.
    pub env: Option<Values>,
    /// Whether properties are checked against schemas; by default they are.
    pub validate_schema: Option<bool>,
    /// Whether `type: int` and its like in schemas are errors.
    pub strict_schemas: Option<bool>,
    /// Whether outputs replace references to them; by default they do.
    pub outputs: Option<bool>,
    /// Whether resources that are not objects of Kubernetes are left out.
    pub skip_others: Option<bool>,
}

/// A key of a ConfigMap.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfigFrom {
    /// The `metadata.name` of a ConfigMap among the items.
    pub config_map: String,
    /// The key whose value is the configuration.
    pub key: String,
}

/// An import: a text, or a ConfigMap whose keys are imports.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeploymentImport {
    /// The name that types and templates refer to; by default the key of the ConfigMap.
    pub name: Option<String>,
    /// The text of the import, instead of a ConfigMap.
    pub content: Option<String>,
    /// The `metadata.name` of a ConfigMap.
    pub config_map: Option<String>,
    /// One key of the ConfigMap; by default all.
    pub key: Option<String>,
    /// The path of the text, whose ending decides the language; by default the name.
    pub path: Option<String>,
}

/// Transformers that generate and change resources in order, with those of other Compositions.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Composition {
    /// The version of this kind; optional in a file.
    #[schemars(extend("enum" = ["kustomize.config.k8s.io/v1alpha1"]))]
    pub api_version: Option<String>,
    /// The kind.
    #[schemars(extend("enum" = ["Composition"]))]
    pub kind: String,
    /// Its name, and the annotation for running it as a function.
    pub metadata: Option<Metadata>,
    /// Other Compositions from which to import transformers.
    pub transformers_from: Option<Vec<Import>>,
    /// Changes to imported transformers, made before they run.
    pub transformer_overrides: Option<Vec<Transformer>>,
    /// The transformers declared here, in their order.
    pub transformers: Option<Vec<Transformer>>,
    /// The order of all transformers; names each of them once.
    pub transformer_order: Option<Vec<TransformerName>>,
}

/// A Composition from which to import transformers.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Import {
    /// A file, or a directory with `composition.yaml`, relative to this file.
    #[schemars(length(min = 1))]
    pub path: String,
    /// Whether its transformers come before those declared here (the default) or after them.
    #[schemars(extend("enum" = ["prepend", "append"]))]
    pub import_mode: Option<String>,
}

/// A transformer: its identity, its runtime, and the fields of its kind.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Transformer {
    /// `builtin` for built-in transformers, where it is optional.
    pub api_version: Option<String>,
    /// The kind.
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Its name, by default the kind in kebab case.
    pub metadata: Option<Metadata>,
    /// Its runtime, unless it is built in: `container`, `exec` or `starlark`.
    pub runtime: Option<Object>,
    /// Another name of `runtime`.
    pub provider: Option<Object>,
    /// The fields of its kind.
    #[schemars(flatten)]
    pub others: Values,
}

/// A transformer in an order: its name, and fields that distinguish it from others.
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

/// The metadata of an object.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Metadata {
    /// Its name.
    pub name: Option<String>,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its own labels, not those of the objects it creates.
    pub labels: Option<Strings>,
    /// Its annotations.
    pub annotations: Option<Strings>,
    /// Other fields that Kubernetes sets.
    #[schemars(flatten)]
    pub others: Values,
}

/// The types of parameters with their aliases; null is the default.
fn type_names() -> Value {
    let names = ParameterType::NAMES.iter().map(|(name, _)| json!(name));
    names.chain([Value::Null]).collect()
}
