//! Our kinds as Rust types, from which the schemas are made.
//!
//! Nothing is read into these types: reading needs the place of every field in the text. Tests hold
//! that the fields are those that are read. The comment of a field is its `description`.
#![expect(dead_code, reason = "the schemas are made of the declarations")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::{Number, Value, json};

use krm_template::template::ParameterType;

/// A JSON object whose values are all strings, such as labels.
pub(super) type Strings = BTreeMap<String, String>;
/// Parameter names and their values, of any type.
pub(super) type Values = BTreeMap<String, Value>;
/// An object of any kind.
pub(super) type Object = BTreeMap<String, Value>;

/// A Template: parameters, and the objects to create from their values.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Template {
    /// The dialect in which references are written.
    #[schemars(extend("enum" = ["template.krm.dev/v1alpha1", "template.openshift.io/v1", "v1"]))]
    api_version: String,
    /// The kind.
    #[schemars(extend("enum" = ["Template"]))]
    kind: String,
    /// Its name, and annotations that change how it is read.
    metadata: Option<Metadata>,
    /// The values that may differ between expansions.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    parameters: Option<Vec<Parameter>>,
    /// The objects to create, with references to the parameters. May be empty.
    objects: Vec<Object>,
    /// Labels for every object; keys and values may contain references.
    labels: Option<Labels>,
    /// Another name of `labels`.
    object_labels: Option<Labels>,
    /// Printed after the objects; may contain references.
    message: Option<String>,
    /// Values of parameters by name; they override the defaults. A patch can merge this map.
    values: Option<Values>,
}

/// Labels, or groups of labels as in a kustomization.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(super) enum Labels {
    /// Labels for objects, pod templates and selectors.
    Pairs(Strings),
    /// Groups.
    Groups(Vec<LabelGroup>),
}

/// Labels that are set in the same places.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct LabelGroup {
    /// The labels.
    pairs: Strings,
    /// Whether to set them in selectors and pod templates, too.
    include_selectors: Option<bool>,
    /// Whether to set them in pod templates, too.
    include_templates: Option<bool>,
}

/// A parameter of a Template.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Parameter {
    /// The name used in references: letters, digits, `_`, `.` and `-`.
    #[schemars(length(min = 1))]
    name: String,
    /// The name shown in messages and forms.
    display_name: Option<String>,
    /// The purpose of the parameter.
    description: Option<String>,
    /// The default. Quote it: kustomize respells unquoted numbers and dates.
    value: Option<Value>,
    /// Whether the parameter needs a value that is not empty.
    required: Option<bool>,
    /// The type of its value; `string` by default.
    #[schemars(extend("enum" = type_names()))]
    r#type: Option<String>,
    /// Another name of `type`.
    #[schemars(rename = "parameterType", extend("enum" = type_names()))]
    other_type: Option<String>,
    /// `expression`: generates a value that matches `from`, if none is given.
    #[schemars(extend("enum" = ["expression", "", null]))]
    generate: Option<String>,
    /// The expression for a generated value, such as `[a-zA-Z0-9]{16}`.
    from: Option<String>,
    /// The allowed values.
    r#enum: Option<Vec<Value>>,
    /// A regular expression that must match a part of its value.
    pattern: Option<String>,
    /// The least allowed number.
    minimum: Option<Number>,
    /// The greatest allowed number.
    maximum: Option<Number>,
    /// The minimum number of characters.
    min_length: Option<u64>,
    /// The maximum number of characters.
    max_length: Option<u64>,
    /// Whether to leave out a field that is only `$((NAME))` or `${{NAME}}`, if it has no value.
    omit_empty: Option<bool>,
    /// Whether to hide its value in messages.
    secret: Option<bool>,
    /// Forms show the parameters of a group together.
    group: Option<String>,
}

/// A Template to expand and its values: once, or once for each of `instances`.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TemplateInstance {
    /// The version of this kind.
    #[schemars(extend("enum" = ["template.krm.dev/v1alpha1"]))]
    api_version: String,
    /// The kind.
    #[schemars(extend("enum" = ["TemplateInstance"]))]
    kind: String,
    /// Its name.
    metadata: Option<Metadata>,
    /// The Template and its values.
    spec: TemplateInstanceSpec,
}

/// The specification of a `TemplateInstance`.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TemplateInstanceSpec {
    /// The fields of the single expansion, or the defaults for `instances`.
    #[schemars(flatten)]
    expansion: Expansion,
    /// Instances, for each of which the Template is expanded once.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    instances: Option<Vec<Instance>>,
}

/// One of several expansions; `spec` has the defaults of its fields.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Instance {
    /// The name of the instance, unique in the list; also the name of the file with its objects.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    name: String,
    /// Its own fields, which override those of `spec`.
    #[schemars(flatten)]
    expansion: Expansion,
}

/// One expansion of a Template.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Expansion {
    /// The Template to expand, which must be among the items.
    template_ref: Option<TemplateReference>,
    /// The Template to expand, in place of `templateRef`.
    template: Option<Template>,
    /// Values by parameter name: strings, numbers, bools, lists and maps.
    parameters: Option<Values>,
    /// Objects among the items from which to take values.
    parameters_from: Option<Vec<ParametersFrom>>,
    /// Additional labels for every object.
    labels: Option<Labels>,
    /// The namespace of every object.
    namespace: Option<String>,
    /// How many numbered instances to expand; `$(INDEX)` in their fields is the number, from 0.
    #[schemars(range(max = 1000))]
    count: Option<u16>,
}

/// A Template among the items.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TemplateReference {
    /// Its `metadata.name`.
    name: String,
}

/// An object with values in its `data`: either a `ConfigMap` or a Secret.
#[derive(Debug, JsonSchema)]
#[schemars(
    rename_all = "camelCase",
    deny_unknown_fields,
    extend("minProperties" = 1, "maxProperties" = 1)
)]
pub(super) struct ParametersFrom {
    /// A `ConfigMap` among the items.
    config_map_ref: Option<ValuesReference>,
    /// A Secret among the items.
    secret_ref: Option<ValuesReference>,
}

/// A `ConfigMap` or a Secret among the items.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ValuesReference {
    /// Its `metadata.name`.
    name: String,
    /// Whether it may be missing.
    optional: Option<bool>,
}

/// Adds a Template that is made of the objects of a package, which stay as they are.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TemplateExport {
    /// The version of this kind.
    #[schemars(extend("enum" = ["template.krm.dev/v1alpha1"]))]
    api_version: String,
    /// The kind.
    #[schemars(extend("enum" = ["TemplateExport"]))]
    kind: String,
    /// Its name.
    metadata: Option<Metadata>,
    /// The name and dialect of the Template, its parameters, and the fields that it keeps.
    spec: Option<TemplateExportSpec>,
}

/// The specification of a `TemplateExport`.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TemplateExportSpec {
    /// The name of the Template; that of the `TemplateExport` by default.
    name: Option<String>,
    /// The dialect of the Template; `proposal` by default.
    #[schemars(extend("enum" = ["proposal", "openshift", null]))]
    dialect: Option<String>,
    /// The groups of parameters to make, or `all` or `none`. Values of Secrets always become parameters.
    parameterize: Option<Vec<String>>,
    /// Whether to drop only the fields that the cluster sets in every object.
    exact: Option<bool>,
    /// Fields to keep that would be dropped: field paths, or their last keys.
    keep: Option<Vec<String>>,
    /// Fields to drop, too: field paths from the object down.
    drop: Option<Vec<String>>,
    /// Whether to `drop` or `keep` fields with the values that the API server fills in.
    #[schemars(extend("enum" = ["drop", "keep", null]))]
    defaults: Option<String>,
}

/// Values for the parameters of a Template, as an object: a file for `process -P`.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ParameterValues {
    /// The version of this kind.
    #[schemars(extend("enum" = ["template.krm.dev/v1alpha1"]))]
    api_version: String,
    /// The kind.
    #[schemars(extend("enum" = ["ParameterValues"]))]
    kind: String,
    /// Its name.
    metadata: Option<Metadata>,
    /// The `metadata.name` of the Template for these values; using another Template is an error.
    template: Option<String>,
    /// The values by parameter name.
    values: Option<Values>,
    /// Another name of `values`.
    data: Option<Values>,
}

/// A Deployment Manager configuration, whose resources become objects.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DeploymentConfiguration {
    /// The version of this kind.
    #[schemars(extend("enum" = ["template.krm.dev/v1alpha1"]))]
    api_version: String,
    /// The kind.
    #[schemars(extend("enum" = ["DeploymentConfiguration"]))]
    kind: String,
    /// Its name, which is the name of the deployment.
    metadata: Option<Metadata>,
    /// The configuration, and what it imports.
    spec: DeploymentConfigurationSpec,
}

/// The specification of a `DeploymentConfiguration`.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DeploymentConfigurationSpec {
    /// The configuration: a mapping with `resources`, or its text.
    config: Option<Value>,
    /// The key of a ConfigMap with the configuration, instead of `config`.
    config_from: Option<ConfigFrom>,
    /// Templates, schemas and other files by their names.
    imports: Option<Vec<DeploymentImport>>,
    /// Variables of templates; `deployment` is `metadata.name` unless it is set.
    env: Option<Values>,
    /// Whether properties are checked against schemas; by default they are.
    validate_schema: Option<bool>,
    /// Whether `type: int` and its like in schemas are errors.
    strict_schemas: Option<bool>,
    /// Whether outputs replace references to them; by default they do.
    outputs: Option<bool>,
    /// Whether resources that are not objects of Kubernetes are left out.
    skip_others: Option<bool>,
}

/// A key of a ConfigMap.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ConfigFrom {
    /// The `metadata.name` of a ConfigMap among the items.
    config_map: String,
    /// The key whose value is the configuration.
    key: String,
}

/// An import: a text, or a ConfigMap whose keys are imports.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DeploymentImport {
    /// The name that types and templates refer to; by default the key of the ConfigMap.
    name: Option<String>,
    /// The text of the import, instead of a ConfigMap.
    content: Option<String>,
    /// The `metadata.name` of a ConfigMap.
    config_map: Option<String>,
    /// One key of the ConfigMap; by default all.
    key: Option<String>,
    /// The path of the text, whose ending decides the language; by default the name.
    path: Option<String>,
}

/// Transformers that generate and change resources in order, with those of other Compositions.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Composition {
    /// The version of this kind; optional in a file.
    #[schemars(extend("enum" = ["kustomize.config.k8s.io/v1alpha1"]))]
    api_version: Option<String>,
    /// The kind.
    #[schemars(extend("enum" = ["Composition"]))]
    kind: String,
    /// Its name, and the annotation for running it as a function.
    metadata: Option<Metadata>,
    /// Other Compositions from which to import transformers.
    transformers_from: Option<Vec<Import>>,
    /// Changes to imported transformers, made before they run.
    transformer_overrides: Option<Vec<Transformer>>,
    /// The transformers declared here, in their order.
    transformers: Option<Vec<Entered>>,
    /// The order of all transformers; names each of them once.
    transformer_order: Option<Vec<TransformerName>>,
    /// Files with fields that transformers change and that name objects, as in a Kustomization.
    configurations: Option<Vec<String>>,
    /// Files with definitions of types, as in a Kustomization.
    crds: Option<Vec<String>>,
    /// The schema with the merge keys of lists, as in a Kustomization.
    openapi: Option<OpenApi>,
}

/// A transformer, or the path of a file that holds some.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(super) enum Entered {
    Transformer(Box<Transformer>),
    File(String),
}

/// A schema.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OpenApi {
    /// Its file.
    path: Option<String>,
    /// The version of Kubernetes whose built-in schema is used.
    version: Option<String>,
}

/// A Composition from which to import transformers.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Import {
    /// A file, or a directory with `composition.yaml`, relative to this file.
    #[schemars(length(min = 1))]
    path: String,
    /// Whether its transformers come before those declared here (the default) or after them.
    #[schemars(extend("enum" = ["prepend", "append"]))]
    import_mode: Option<String>,
}

/// A transformer: its identity, its runtime, and the fields of its kind.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Transformer {
    /// `builtin` for built-in transformers, where it is optional.
    api_version: Option<String>,
    /// The kind.
    #[schemars(length(min = 1))]
    kind: String,
    /// Its name, by default the kind in kebab case.
    metadata: Option<Metadata>,
    /// Its runtime, unless it is built in: `container`, `exec` or `starlark`.
    runtime: Option<Object>,
    /// Another name of `runtime`.
    provider: Option<Object>,
    /// The fields of its kind.
    #[schemars(flatten)]
    others: Values,
}

/// A transformer in an order: its name, and fields that distinguish it from others.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TransformerName {
    /// Its `metadata.name`, or its kind in kebab case.
    #[schemars(length(min = 1))]
    name: String,
    /// Its kind.
    kind: Option<String>,
    /// Its `apiVersion`, in place of `group` and `version`.
    api_version: Option<String>,
    /// The group of its `apiVersion`.
    group: Option<String>,
    /// The version of its `apiVersion`.
    version: Option<String>,
    /// Its `metadata.namespace`.
    namespace: Option<String>,
}

/// The metadata of an object.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Metadata {
    /// Its name.
    name: Option<String>,
    /// Its namespace.
    namespace: Option<String>,
    /// Its own labels, not those of the objects it creates.
    labels: Option<Strings>,
    /// Its annotations.
    annotations: Option<Strings>,
    /// Other fields that Kubernetes sets.
    #[schemars(flatten)]
    others: Values,
}

/// The types of parameters with their aliases; null is the default.
fn type_names() -> Value {
    let names = ParameterType::NAMES.iter().map(|(name, _)| json!(name));
    names.chain([Value::Null]).collect()
}
