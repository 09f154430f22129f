//! `HashTransformer`: adds a hash of the content to the names of generated objects, so that a
//! changed ConfigMap or Secret is another object and its users are rolled out again.
//!
//! Source: kustomize 5.8, `plugin/builtin/hashtransformer`, `api/hasher`. For kinds other than
//! ConfigMap and Secret, kustomize hashes the internal form of its parser, with the layout, which
//! cannot be reproduced; here it is the object as JSON with sorted keys.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::engine::step::{Context, Transform};
use crate::names::references;
use crate::resources::resource::Resource;
use krm_yaml::{Data, Scalar, Value};

/// The configuration has no fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HashConfig {}

impl Transform for HashConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        for resource in resources.iter_mut() {
            if !std::mem::take(&mut resource.needs_hash) {
                continue;
            }
            let hash = hash(resource.value());
            resource.remember();
            let metadata = resource.value_mut().get_mut("metadata");
            let Some(name) = metadata.and_then(|metadata| metadata.get_mut("name")) else {
                continue;
            };
            if let Some(old) = name.as_str() {
                let new = format!("{old}-{hash}");
                name.set(Value::string(new).data);
            }
        }
        references::update_now(resources, context);
    }
}

/// Ten characters for the content of an object.
fn hash(object: &Value<'_>) -> String {
    let mut json = String::new();
    match object.str_at(&["kind"]) {
        Some("ConfigMap") => {
            let rest = ["binaryData"];
            write_parts(&mut json, object, "ConfigMap", &["data"], &rest);
        }
        Some("Secret") => {
            let rest = ["stringData"];
            write_parts(&mut json, object, "Secret", &["data", "type"], &rest);
        }
        _ => write_json(&mut json, object),
    }
    let digest = Sha256::digest(json.as_bytes());
    let mut hex = String::new();
    for byte in digest.iter().take(5) {
        // Writing to a text cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    // No vowels or digits that look like vowels, so that no words appear.
    let safe = |c| match c {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        c => c,
    };
    hex.chars().map(safe).collect()
}

/// The hashed part of a ConfigMap or Secret, in the order of the keys. Kustomize also means to hash
/// the name but looks in the wrong place, so the name is always empty.
fn write_parts(
    json: &mut String,
    object: &Value<'_>,
    kind: &str,
    always: &[&'static str],
    if_there: &[&'static str],
) {
    let empty = Value::from("");
    let kind = Value::from(kind.to_owned());
    let mut parts: BTreeMap<&str, &Value<'_>> = BTreeMap::new();
    parts.insert("kind", &kind);
    parts.insert("name", &empty);
    for key in always {
        let value = object.get(key).filter(|value| !value.is_null());
        parts.insert(key, value.unwrap_or(&empty));
    }
    for key in if_there {
        let value = object.get(key);
        if let Some(value) = value.filter(|value| value.entries().is_some()) {
            parts.insert(key, value);
        }
    }
    write_entries(json, parts);
}

/// JSON as Go prints it: with sorted keys, and without characters that HTML or JavaScript could
/// misread.
fn write_json(json: &mut String, value: &Value<'_>) {
    match &value.data {
        Data::Scalar(Scalar::Null) => json.push_str("null"),
        Data::Scalar(Scalar::Bool(flag)) => json.push_str(if *flag { "true" } else { "false" }),
        Data::Scalar(Scalar::Number(digits)) => json.push_str(digits),
        Data::Scalar(Scalar::String(text)) => write_text(json, text),
        Data::Sequence(items) => {
            json.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    json.push(',');
                }
                write_json(json, item);
            }
            json.push(']');
        }
        Data::Mapping(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.as_ref(), value));
            write_entries(json, entries.collect());
        }
    }
}

fn write_entries(json: &mut String, entries: BTreeMap<&str, &Value<'_>>) {
    json.push('{');
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        write_text(json, key);
        json.push(':');
        write_json(json, value);
    }
    json.push('}');
}

fn write_text(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\u{8}' => json.push_str("\\b"),
            '\u{c}' => json.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                // Writing to a text cannot fail.
                let _ = write!(json, "\\u{:04x}", u32::from(c));
            }
            c => json.push(c),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::hash;
    use krm_yaml::Value;

    /// The hashes that `kubectl kustomize` makes.
    #[test]
    fn hashes_are_those_of_kustomize() {
        let map = json!({
            "kind": "ConfigMap",
            "metadata": {"name": "a"},
            "data": {"A": "<b> & 'c'", "B": "q", "C": "'x\"", "D": "é\u{2028}"},
        });
        let secret = json!({"kind": "Secret", "data": {}, "type": "foo/bar"});
        for (object, expected) in [
            (map, "htgfdhhtmt"),
            (json!({"kind": "ConfigMap"}), "6ct58987ht"),
            (secret, "5fb6mtdmck"),
        ] {
            assert_eq!(hash(&Value::from(object)), expected);
        }
    }
}
