//! The schema of `kustomization.yaml`, made from the types by which the program reads it.

use krm_template::composition::GROUP;
use krm_template::composition::kustomization_fields::{DEPRECATED, FIELDS, Field, Type};
use libtest_mimic::Failed;
use serde_json::{Map, Value, json};

/// The fields at the top, as a user needs them.
const DESCRIPTIONS: &[(&str, &str)] = &[
    ("apiVersion", "The version of the kind; optional."),
    (
        "kind",
        "A Component changes the objects of the Kustomization that names it; optional for a Kustomization.",
    ),
    ("metadata", "Has no effect."),
    (
        "resources",
        "Files with objects, and directories with Kustomizations or Compositions.",
    ),
    ("bases", "Directories with Kustomizations."),
    ("components", "Directories with Components."),
    (
        "crds",
        "Files with OpenAPI definitions of kinds: which of their fields hold names, labels and annotations.",
    ),
    (
        "configurations",
        "Files that add fields to those that transformers change.",
    ),
    ("openapi", "The schema with the merge keys of lists."),
    (
        "generatorOptions",
        "Defaults for all generators of this file.",
    ),
    (
        "configMapGenerator",
        "ConfigMaps to make from files and literals.",
    ),
    (
        "secretGenerator",
        "Secrets to make from files and literals.",
    ),
    ("helmGlobals", "Defaults for all Helm charts of this file."),
    ("helmCharts", "Helm charts to expand."),
    (
        "helmChartInflationGenerator",
        "Helm charts to expand, in an older form.",
    ),
    ("generators", "Files, directories or texts with generators."),
    (
        "patchesStrategicMerge",
        "Files or texts with strategic merge patches.",
    ),
    ("patches", "Strategic merge patches and JSON patches."),
    ("namespace", "The namespace of all objects."),
    ("namePrefix", "A prefix for the names of all objects."),
    ("nameSuffix", "A suffix for the names of all objects."),
    (
        "labels",
        "Labels of all objects, and of their selectors and templates if that is asked for.",
    ),
    (
        "commonLabels",
        "Labels of all objects, their selectors and templates.",
    ),
    (
        "commonAnnotations",
        "Annotations of all objects and their templates.",
    ),
    ("patchesJson6902", "JSON patches."),
    ("replicas", "Numbers of replicas."),
    ("images", "New names, tags and digests of images."),
    ("imageTags", "New tags of images."),
    (
        "replacements",
        "Values to copy from one object to fields of others.",
    ),
    (
        "transformers",
        "Files, directories or texts with transformers.",
    ),
    (
        "validators",
        "Files, directories or texts with transformers that change nothing.",
    ),
    ("vars", "Values of objects, for texts with `$(NAME)`."),
    ("sortOptions", "The order of the objects."),
    (
        "buildMetadata",
        "What to note in each object: `originAnnotations`, `transformerAnnotations`, `managedByLabel`.",
    ),
];

/// The schema, as JSON Schema 2020-12, with a line for each field.
pub(super) fn text() -> String {
    let mut schema = schema();
    let fields = schema["properties"].take();
    let fields = fields.as_object().into_iter().flatten();
    let fields: Vec<String> = fields
        .map(|(name, one)| format!("    {name:?}: {one}"))
        .collect();
    let fields = format!("\"properties\": {{\n{}\n  }}", fields.join(",\n"));
    format!("{schema:#}\n").replace("\"properties\": null", &fields)
}

fn schema() -> Value {
    let mut schema = mapping(FIELDS);
    for property in schema["properties"].as_object_mut().into_iter().flatten() {
        // A field without a value counts as missing.
        let kind = property.1["type"].take();
        property.1["type"] = json!([kind, "null"]);
    }
    let versions = ["v1beta1", "v1alpha1"].map(|version| format!("{GROUP}/{version}"));
    for (field, words) in [
        ("apiVersion", versions),
        ("kind", ["Kustomization", "Component"].map(str::to_owned)),
    ] {
        schema["properties"][field] = json!({ "enum": [words[0], words[1], null] });
    }
    for (field, description) in DESCRIPTIONS {
        schema["properties"][field]["description"] = json!(description);
    }
    for (field, successor) in DEPRECATED {
        let part = &mut schema["properties"][field];
        part["deprecated"] = json!(true);
        let description = part["description"].as_str().unwrap_or_default();
        part["description"] = json!(format!("{description} Use `{successor}` instead."));
    }
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["description"] =
        json!("What kustomize builds from files with objects, and how it changes these.");
    schema
}

/// The schema of a mapping with these fields.
fn mapping(fields: &[Field]) -> Value {
    let properties = fields
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), of(*kind)));
    let properties: Map<String, Value> = properties.collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

/// The schema of a value of this type.
fn of(kind: Type) -> Value {
    match kind {
        Type::Text => json!({ "type": "string" }),
        Type::Bool => json!({ "type": "boolean" }),
        Type::Number => json!({ "type": "integer" }),
        Type::Any => json!({}),
        Type::Texts => json!({ "type": "object", "additionalProperties": of(Type::Text) }),
        Type::Bools => json!({ "type": "object", "additionalProperties": of(Type::Bool) }),
        Type::List(item) => json!({ "type": "array", "items": of(*item) }),
        Type::Mapping(fields) => mapping(fields),
    }
}

/// Checks that exactly the fields that are read have a description.
pub(super) fn all_fields_are_described() -> Result<(), Failed> {
    let described: Vec<&str> = DESCRIPTIONS.iter().map(|(name, _)| *name).collect();
    let fields: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
    if described != fields {
        return Err(format!("{described:?} instead of {fields:?}").into());
    }
    Ok(())
}
