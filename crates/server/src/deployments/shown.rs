//! Deployments and operations in responses.

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Document, DuplicateKeys};
use serde_json::{Map, Value, json};

use krm_template_server_core::{Result, Status};
use krm_template_server_deployments::{Deployment, Operation};

/// Returns a deployment as JSON: the stored fields, `message`, and `manifests` with the latest
/// manifest, if the user may read it.
pub(super) fn deployment(
    deployment: &Deployment,
    message: &str,
    manifest: Option<&[u8]>,
) -> Vec<u8> {
    let mut fields = match serde_json::to_value(deployment) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    fields.shift_remove("manifests");
    let mut json = b"{".to_vec();
    let mut add = |name: &str, value: &[u8]| {
        if json.len() > 1 {
            json.push(b',');
        }
        json.extend(Value::from(name).to_string().into_bytes());
        json.push(b':');
        json.extend_from_slice(value);
    };
    for (name, value) in &fields {
        add(name, value.to_string().as_bytes());
        if name == "state" {
            add("message", Value::from(message).to_string().as_bytes());
        }
    }
    if let Some(manifest) = manifest {
        let newest = Value::from(deployment.latest_manifest.as_str()).to_string();
        let manifests = [b"{", newest.as_bytes(), b":", manifest, b"}"].concat();
        add("manifests", &manifests);
    }
    json.push(b'}');
    json
}

/// Converts a JSON document to YAML.
pub(super) fn yaml(json: &[u8]) -> Option<String> {
    let source = krm_yaml::decode("answer", json.to_vec()).ok()?;
    let document = Document::parse(&source).ok()?;
    let root = document.roots().next()?;
    let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::default())?;
    Some(krm_yaml::to_string(&value))
}

/// Returns an operation as JSON.
pub(super) fn operation(operation: &Operation) -> Result<Vec<u8>> {
    let json = serde_json::to_vec(operation);
    json.map_err(|_| Status::internal("an operation cannot be written"))
}

/// Returns an operation that has just started as JSON.
pub(super) fn begun(name: &str) -> Vec<u8> {
    json!({"name": name, "state": "pending"}).to_string().into_bytes()
}
