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
    ("resources", "Files with objects, and directories with Kustomizations or Compositions."),
    ("bases", "Directories with Kustomizations."),
    ("components", "Directories with Components."),
    (
        "crds",
        "Files with OpenAPI definitions of kinds: which of their fields hold names, labels and annotations.",
    ),
    ("configurations", "Files that add fields to those that transformers change."),
    ("openapi", "The schema with the merge keys of lists."),
    ("generatorOptions", "Defaults for all generators of this file."),
    ("configMapGenerator", "ConfigMaps to make from files and literals."),
    ("secretGenerator", "Secrets to make from files and literals."),
    ("helmGlobals", "Defaults for all Helm charts of this file."),
    ("helmCharts", "Helm charts to expand."),
    ("helmChartInflationGenerator", "Helm charts to expand, in an older form."),
    ("generators", "Files, directories or texts with generators."),
    ("patchesStrategicMerge", "Files or texts with strategic merge patches."),
    ("patches", "Strategic merge patches and JSON patches."),
    ("namespace", "The namespace of all objects."),
    ("namePrefix", "A prefix for the names of all objects."),
    ("nameSuffix", "A suffix for the names of all objects."),
    ("labels", "Labels of all objects, and of their selectors and templates if that is asked for."),
    ("commonLabels", "Labels of all objects, their selectors and templates."),
    ("commonAnnotations", "Annotations of all objects and their templates."),
    ("patchesJson6902", "JSON patches."),
    ("replicas", "Numbers of replicas."),
    ("images", "New names, tags and digests of images."),
    ("imageTags", "New tags of images."),
    ("replacements", "Values to copy from one object to fields of others."),
    ("transformers", "Files, directories or texts with transformers."),
    ("validators", "Files, directories or texts with transformers that change nothing."),
    ("vars", "Values of objects, for texts with `$(NAME)`."),
    ("sortOptions", "The order of the objects."),
    (
        "buildMetadata",
        "What to note in each object: `originAnnotations`, `transformerAnnotations`, `managedByLabel`.",
    ),
];

/// The schema, as JSON Schema 2020-12, with a line for each field.
pub(super) fn text() -> String {
    let fields = FIELDS.iter();
    let fields = fields.map(|(name, kind)| format!("    {name:?}: {}", field(name, *kind)));
    let fields: Vec<String> = fields.collect();
    let head = r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "description": "What kustomize builds from files with objects, and how it changes these.",
  "type": "object",
  "additionalProperties": false,
  "properties": {"#;
    format!("{head}\n{}\n  }}\n}}\n", fields.join(",\n"))
}

/// The schema of a field at the top; without a value it counts as missing.
fn field(name: &str, kind: Type) -> Value {
    let mut schema = match name {
        "apiVersion" => {
            let [own, of_component] = ["v1beta1", "v1alpha1"].map(|one| format!("{GROUP}/{one}"));
            json!({ "enum": [own, of_component, null] })
        }
        "kind" => json!({ "enum": ["Kustomization", "Component", null] }),
        _ => of(kind),
    };
    let description = DESCRIPTIONS.iter().find(|(field, _)| *field == name);
    let description = description.map_or("", |(_, text)| *text);
    let successor = DEPRECATED.iter().find(|(field, _)| *field == name);
    if let Some(parts) = schema.as_object_mut() {
        if let Some(one) = parts.get_mut("type") {
            *one = json!([one.take(), "null"]);
        }
        let used = successor.map(|(_, successor)| format!(" Use `{successor}` instead."));
        let text = format!("{description}{}", used.unwrap_or_default());
        parts.insert("description".to_owned(), text.into());
        if successor.is_some() {
            parts.insert("deprecated".to_owned(), true.into());
        }
    }
    schema
}

/// The schema of a mapping with these fields.
fn mapping(fields: &[Field]) -> Value {
    let properties = fields.iter().map(|(name, kind)| ((*name).to_owned(), of(*kind)));
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
        Type::StringMap => json!({ "type": "object", "additionalProperties": of(Type::Text) }),
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
