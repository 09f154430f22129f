//! `HashTransformer`: adds a hash of the content to the names of generated objects, so that a
//! changed ConfigMap or Secret is another object and its users are rolled out again.
//!
//! Source: kustomize 5.8, `plugin/builtin/hashtransformer`, `api/hasher`. For kinds other than
//! ConfigMap and Secret, kustomize hashes the internal form of its parser, with the layout, which
//! cannot be reproduced; here it is the object as JSON with sorted keys.

use std::fmt::Write as _;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::engine::step::{Context, Transform};
use crate::names::references;
use crate::resources::resource::Resource;
use krm_yaml::Value;

/// The configuration has no fields.
#[derive(Deserialize)]
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
    let json = match object.str_at(&["kind"]) {
        Some("ConfigMap") => parts(object, "ConfigMap", &["data"], "binaryData").to_json(),
        Some("Secret") => parts(object, "Secret", &["data", "type"], "stringData").to_json(),
        _ => object.to_json(),
    };
    let json = as_go_prints(&json).unwrap_or(json);
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

/// The hashed part of a ConfigMap or Secret. Kustomize also means to hash the name but looks in the
/// wrong place, so the name is always empty.
fn parts<'v>(
    object: &Value<'v>,
    kind: &'v str,
    always: &[&'v str],
    if_there: &'v str,
) -> Value<'v> {
    let mut parts = Value::mapping(vec![("kind".into(), kind.into()), ("name".into(), "".into())]);
    for key in always {
        let value = object.get(key).filter(|value| !value.is_null());
        parts.insert((*key).into(), value.cloned().unwrap_or_else(|| "".into()));
    }
    if let Some(value) = object.get(if_there).filter(|value| value.entries().is_some()) {
        parts.insert(if_there.into(), value.clone());
    }
    parts
}

/// JSON as Go prints it: with sorted keys, and without characters that HTML or JavaScript could
/// misread.
fn as_go_prints(json: &str) -> Option<String> {
    let mut sorted: serde_json::Value = serde_json::from_str(json).ok()?;
    sorted.sort_all_objects();
    let mut json = sorted.to_string();
    for c in ['<', '>', '&', '\u{2028}', '\u{2029}'] {
        json = json.replace(c, &format!("\\u{:04x}", u32::from(c)));
    }
    Some(json)
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
