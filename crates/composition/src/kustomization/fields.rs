//! The fields of a Kustomization, with their types.
//!
//! Source: kustomize 5.8, `api/types`.

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// A string; numbers and booleans are refused.
    Text,
    /// A boolean.
    Bool,
    /// A whole number.
    Number,
    /// Anything: values for other programs.
    Any,
    /// Strings by their keys.
    StringMap,
    /// Booleans by their keys.
    Bools,
    /// A list.
    List(&'static Self),
    /// A mapping with these fields.
    Mapping(&'static [Field]),
}

/// A field with its type.
pub type Field = (&'static str, Type);

use Type::{Any, Bool, Bools, List, Mapping, Number, StringMap, Text};

const LIST: Type = List(&Text);

/// The fields of a Kustomization or Component.
pub const FIELDS: &[Field] = &[
    ("apiVersion", Text),
    ("kind", Text),
    ("metadata", Mapping(METADATA)),
    ("resources", LIST),
    ("bases", LIST),
    ("components", LIST),
    ("crds", LIST),
    ("configurations", LIST),
    ("openapi", Mapping(&[("path", Text), ("version", Text)])),
    ("generatorOptions", Mapping(OPTIONS)),
    ("configMapGenerator", List(&Mapping(GENERATOR))),
    ("secretGenerator", List(&Mapping(SECRET))),
    ("helmGlobals", Mapping(&[("chartHome", Text), ("configHome", Text)])),
    ("helmCharts", List(&Mapping(HELM_CHART))),
    ("helmChartInflationGenerator", List(&Mapping(HELM_ARGUMENTS))),
    ("generators", LIST),
    ("patchesStrategicMerge", LIST),
    ("patches", List(&Mapping(PATCH))),
    ("namespace", Text),
    ("namePrefix", Text),
    ("nameSuffix", Text),
    ("labels", List(&Mapping(LABEL))),
    ("commonLabels", StringMap),
    ("commonAnnotations", StringMap),
    ("patchesJson6902", List(&Mapping(PATCH))),
    ("replicas", List(&Mapping(&[("name", Text), ("count", Number)]))),
    ("images", List(&Mapping(IMAGE))),
    ("imageTags", List(&Mapping(IMAGE))),
    ("replacements", List(&Mapping(REPLACEMENT))),
    ("transformers", LIST),
    ("validators", LIST),
    ("vars", List(&Mapping(VAR))),
    ("sortOptions", Mapping(SORT_OPTIONS)),
    ("buildMetadata", LIST),
];

/// The fields that have a successor: with it, and a note about the way there.
pub const DEPRECATED: &[(&str, &str)] = &[
    ("bases", "resources"),
    ("commonLabels", "labels"),
    ("imageTags", "images"),
    ("patchesJson6902", "patches"),
    ("patchesStrategicMerge", "patches"),
    ("vars", "replacements"),
];

const METADATA: &[Field] =
    &[("name", Text), ("namespace", Text), ("labels", StringMap), ("annotations", StringMap)];
const OPTIONS: &[Field] = &[
    ("labels", StringMap),
    ("annotations", StringMap),
    ("disableNameSuffixHash", Bool),
    ("immutable", Bool),
];
const GENERATOR: &[Field] = &[
    ("name", Text),
    ("namespace", Text),
    ("behavior", Text),
    ("literals", LIST),
    ("files", LIST),
    ("envs", LIST),
    ("env", Text),
    ("options", Mapping(OPTIONS)),
];
const SECRET: &[Field] = &[
    ("name", Text),
    ("namespace", Text),
    ("behavior", Text),
    ("type", Text),
    ("literals", LIST),
    ("files", LIST),
    ("envs", LIST),
    ("env", Text),
    ("options", Mapping(OPTIONS)),
];
const HELM_CHART: &[Field] = &[
    ("name", Text),
    ("version", Text),
    ("repo", Text),
    ("releaseName", Text),
    ("namespace", Text),
    ("valuesFile", Text),
    ("valuesInline", Any),
    ("valuesMerge", Text),
    ("includeCRDs", Bool),
    ("skipHooks", Bool),
    ("additionalValuesFiles", LIST),
    ("skipTests", Bool),
    ("apiVersions", LIST),
    ("kubeVersion", Text),
    ("nameTemplate", Text),
    ("debug", Bool),
    ("devel", Bool),
];
const HELM_ARGUMENTS: &[Field] = &[
    ("chartName", Text),
    ("chartVersion", Text),
    ("chartRepoUrl", Text),
    ("chartHome", Text),
    ("chartRepoName", Text),
    ("helmBin", Text),
    ("helmHome", Text),
    ("values", Text),
    ("valuesLocal", Any),
    ("valuesMerge", Text),
    ("extraArgs", LIST),
    ("releaseName", Text),
    ("releaseNamespace", Text),
];
const SELECTOR: &[Field] = &[
    ("group", Text),
    ("version", Text),
    ("kind", Text),
    ("name", Text),
    ("namespace", Text),
    ("labelSelector", Text),
    ("annotationSelector", Text),
];
const PATCH: &[Field] =
    &[("path", Text), ("patch", Text), ("target", Mapping(SELECTOR)), ("options", Bools)];
const FIELD_SPEC: &[Field] =
    &[("path", Text), ("group", Text), ("version", Text), ("kind", Text), ("create", Bool)];
const LABEL: &[Field] = &[
    ("pairs", StringMap),
    ("includeSelectors", Bool),
    ("includeTemplates", Bool),
    ("fields", List(&Mapping(FIELD_SPEC))),
];
const IMAGE: &[Field] =
    &[("name", Text), ("newName", Text), ("newTag", Text), ("tagSuffix", Text), ("digest", Text)];
const REPLACEMENT: &[Field] = &[
    ("path", Text),
    ("source", Mapping(SOURCE)),
    ("sourceValue", Text),
    ("targets", List(&Mapping(TARGET))),
];
const FIELD_OPTIONS: Type =
    Mapping(&[("delimiter", Text), ("index", Number), ("encoding", Text), ("create", Bool)]);
const SOURCE: &[Field] = &[
    ("group", Text),
    ("version", Text),
    ("kind", Text),
    ("name", Text),
    ("namespace", Text),
    ("fieldPath", Text),
    ("options", FIELD_OPTIONS),
];
const TARGET: &[Field] = &[
    ("select", Mapping(SELECTOR)),
    ("reject", List(&Mapping(SELECTOR))),
    ("fieldPaths", LIST),
    ("options", FIELD_OPTIONS),
];
const VAR: &[Field] = &[
    ("name", Text),
    (
        "objref",
        Mapping(&[
            ("apiVersion", Text),
            ("group", Text),
            ("version", Text),
            ("kind", Text),
            ("name", Text),
            ("namespace", Text),
        ]),
    ),
    ("fieldref", Mapping(&[("fieldPath", Text)])),
];
const SORT_OPTIONS: &[Field] = &[
    ("order", Text),
    ("legacySortOptions", Mapping(&[("orderFirst", LIST), ("orderLast", LIST)])),
];
