//! Conversion of the `OpenAPI` 3 documents to version 2.

use serde_json::{Map, Value, json};

/// Merges all documents into one of version 2.
pub(super) fn document<'d>(documents: impl Iterator<Item = &'d Value>) -> Value {
    let (mut paths, mut definitions) = (Map::new(), Map::new());
    let mut info = Value::Null;
    for document in documents {
        info.clone_from(document.get("info").unwrap_or(&Value::Null));
        let entries = |pointer: &str| document.pointer(pointer).and_then(Value::as_object);
        for (path, item) in entries("/paths").into_iter().flatten() {
            paths.insert(path.clone(), path_item(item));
        }
        for (name, schema) in entries("/components/schemas").into_iter().flatten() {
            definitions.insert(name.clone(), schema_of(schema));
        }
    }
    definitions.sort_keys();
    json!({
        "swagger": "2.0",
        "info": info,
        "paths": paths,
        "definitions": definitions,
        "securityDefinitions": {
            "BearerToken": {
                "type": "apiKey",
                "description": "Bearer Token authentication",
                "name": "authorization",
                "in": "header",
            },
        },
    })
}

fn path_item(item: &Value) -> Value {
    let entries = item.as_object().into_iter().flatten();
    entries
        .map(|(key, value)| match key.as_str() {
            "parameters" => (key.clone(), parameters(value).collect()),
            _ => (key.clone(), operation(value)),
        })
        .collect::<Map<_, _>>()
        .into()
}

/// Converts parameters: version 2 has the fields of `schema` in the parameter itself.
fn parameters(list: &Value) -> impl Iterator<Item = Value> {
    list.as_array().into_iter().flatten().map(|parameter| {
        let mut fields = parameter.as_object().cloned().unwrap_or_default();
        if let Some(Value::Object(schema)) = fields.remove("schema") {
            fields.extend(schema);
        }
        Value::Object(fields)
    })
}

fn operation(operation: &Value) -> Value {
    let mut fields = operation.as_object().cloned().unwrap_or_default();
    let types = |content: Option<&Value>| -> Vec<String> {
        let content = content.and_then(Value::as_object);
        content.into_iter().flat_map(Map::keys).cloned().collect()
    };
    let schema = |content: Option<&Value>| -> Option<Value> {
        let first = content?.as_object()?.values().next()?;
        first.get("schema").map(schema_of)
    };
    let mut listed: Vec<Value> =
        fields.remove("parameters").map(|list| parameters(&list).collect()).unwrap_or_default();
    if let Some(body) = fields.remove("requestBody") {
        let content = body.get("content");
        let required = body.get("required").and_then(Value::as_bool).unwrap_or_default();
        fields.insert("consumes".to_owned(), json!(types(content)));
        listed.insert(
            0,
            json!({"name": "body", "in": "body", "required": required, "schema": schema(content)}),
        );
    }
    fields.insert("parameters".to_owned(), json!(listed));
    let responses = fields.remove("responses");
    let mut produced = Vec::new();
    let responses: Map<String, Value> = responses
        .as_ref()
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(code, response)| {
            let mut fields = response.as_object().cloned().unwrap_or_default();
            let content = fields.remove("content");
            produced.extend(types(content.as_ref()));
            fields.extend(schema(content.as_ref()).map(|schema| ("schema".to_owned(), schema)));
            (code.clone(), Value::Object(fields))
        })
        .collect();
    produced.sort();
    produced.dedup();
    fields.insert("produces".to_owned(), json!(produced));
    fields.insert("responses".to_owned(), Value::Object(responses));
    Value::Object(fields)
}

/// Converts a schema. As in Kubernetes, it has neither `nullable`, which version 2 does not have, nor
/// `default`, and references stand beside descriptions: kubectl follows no `allOf`.
fn schema_of(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut converted = Map::new();
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("nullable" | "default", Value::Bool(_) | Value::String(_)) => {}
                    ("default", Value::Object(value)) if value.is_empty() => {}
                    ("$ref", Value::String(to)) => {
                        let to = to.replace("#/components/schemas/", "#/definitions/");
                        converted.insert(key.clone(), json!(to));
                    }
                    ("allOf", Value::Array(parts)) => {
                        for part in parts {
                            converted.extend(schema_of(part).as_object().unwrap().clone());
                        }
                    }
                    _ => _ = converted.insert(key.clone(), schema_of(value)),
                }
            }
            Value::Object(converted)
        }
        Value::Array(items) => items.iter().map(schema_of).collect(),
        other => other.clone(),
    }
}
