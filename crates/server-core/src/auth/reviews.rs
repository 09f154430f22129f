//! The self subject reviews of `kubectl auth can-i` and `kubectl auth whoami`.
//!
//! Source: `k8s.io/api/authorization/v1` and `k8s.io/api/authentication/v1`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::authorizer::Authorizer;
use super::rbac::Rule;
use super::request::{Attributes, User};
use crate::protobuf;
use crate::status::{Cause, Result, Status};

/// The API group for authorization.
pub const AUTHORIZATION: &str = "authorization.k8s.io";

/// The API group for authentication.
pub const AUTHENTICATION: &str = "authentication.k8s.io";

/// The `spec` of a `SelfSubjectAccessReview`.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct AccessSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resource_attributes: Option<ResourceAttributes>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    non_resource_attributes: Option<PathAttributes>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct ResourceAttributes {
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    verb: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    resource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    subresource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct PathAttributes {
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    verb: String,
}

/// The `spec` of a `SelfSubjectRulesReview`.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct RulesSpec {
    namespace: String,
}

/// Answers a `SelfSubjectAccessReview`: returns it with its status. `body` is JSON, or protobuf as
/// kubectl sends it.
///
/// # Errors
/// 400 if the body is malformed, 415 for protobuf of another kind, 422 if the spec does not have
/// exactly one kind of attributes.
pub async fn self_subject_access_review(
    authorizer: &Authorizer,
    user: &User,
    body: &[u8],
) -> Result<Value> {
    let kind = "SelfSubjectAccessReview";
    let spec: AccessSpec = read(AUTHORIZATION, kind, body)?;
    let wanted = match (&spec.resource_attributes, &spec.non_resource_attributes) {
        (Some(of), None) => Attributes {
            verb: &of.verb,
            group: &of.group,
            version: &of.version,
            resource: &of.resource,
            subresource: &of.subresource,
            namespace: &of.namespace,
            name: &of.name,
            path: None,
        },
        (None, Some(of)) => Attributes::on_path(&of.verb, &of.path),
        (resource, _) => {
            let value = if resource.is_some() { "the given attributes" } else { "null" };
            let message = format!(
                "Invalid value: {value}: exactly one of nonResourceAttributes or \
                 resourceAttributes must be specified"
            );
            let cause = Cause::new("FieldValueInvalid", "spec.resourceAttributes", message);
            return Err(Status::invalid(AUTHORIZATION, kind, "", vec![cause]));
        }
    };
    let mut status = Map::new();
    let decision = authorizer.decide(user, &wanted).await;
    status.insert("allowed".to_owned(), json!(decision.allowed));
    if !decision.reason.is_empty() {
        status.insert("reason".to_owned(), json!(decision.reason));
    }
    Ok(review(AUTHORIZATION, kind, &spec, &status))
}

/// Answers a `SelfSubjectRulesReview`: returns it with its status.
///
/// # Errors
/// 400 if the body is malformed or has no namespace, 415 for protobuf of another kind.
pub fn self_subject_rules_review(
    authorizer: &Authorizer,
    user: &User,
    body: &[u8],
) -> Result<Value> {
    let kind = "SelfSubjectRulesReview";
    let spec: RulesSpec = read(AUTHORIZATION, kind, body)?;
    if spec.namespace.is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    let rights = authorizer.rules(user, &spec.namespace);
    let (of_paths, of_resources): (Vec<&Rule>, Vec<&Rule>) =
        rights.rules.iter().partition(|rule| !rule.non_resource_urls.is_empty());
    let resource_rules: Value = of_resources
        .into_iter()
        .map(|rule| {
            filled([
                ("verbs", &rule.verbs),
                ("apiGroups", &rule.api_groups),
                ("resources", &rule.resources),
                ("resourceNames", &rule.resource_names),
            ])
        })
        .collect();
    let path_rules: Value = of_paths
        .into_iter()
        .map(|rule| filled([("verbs", &rule.verbs), ("nonResourceURLs", &rule.non_resource_urls)]))
        .collect();
    let mut status = Map::new();
    status.insert("resourceRules".to_owned(), resource_rules);
    status.insert("nonResourceRules".to_owned(), path_rules);
    status.insert("incomplete".to_owned(), json!(rights.is_incomplete));
    if !rights.error.is_empty() {
        status.insert("evaluationError".to_owned(), json!(rights.error));
    }
    Ok(review(AUTHORIZATION, kind, &spec, &status))
}

/// Answers a `SelfSubjectReview`: returns it with its status.
///
/// # Errors
/// 400 if the body is malformed, 415 for protobuf of another kind.
pub fn self_subject_review(user: &User, body: &[u8]) -> Result<Value> {
    let kind = "SelfSubjectReview";
    let _: Value = read(AUTHENTICATION, kind, body)?;
    let mut info = Map::new();
    info.insert("username".to_owned(), json!(user.name));
    if !user.uid.is_empty() {
        info.insert("uid".to_owned(), json!(user.uid));
    }
    if !user.groups.is_empty() {
        info.insert("groups".to_owned(), json!(user.groups));
    }
    if !user.extra.is_empty() {
        info.insert("extra".to_owned(), json!(user.extra));
    }
    Ok(json!({
        "kind": kind,
        "apiVersion": format!("{AUTHENTICATION}/v1"),
        "metadata": {},
        "status": {"userInfo": info},
    }))
}

/// Parses the `spec` of a body, or returns the default if it has none.
fn read<T: for<'de> Deserialize<'de> + Default>(group: &str, kind: &str, body: &[u8]) -> Result<T> {
    let object: Value = if body.starts_with(protobuf::MAGIC) {
        protobuf::to_json(body)?
    } else {
        serde_json::from_slice(body).map_err(|error| malformed(kind, &error))?
    };
    let Value::Object(mut object) = object else {
        return Err(Status::bad_request(format!("expected an object of kind {kind}")));
    };
    let expected = [("apiVersion", format!("{group}/v1")), ("kind", kind.to_owned())];
    for (key, expected) in expected {
        match object.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(found)) if found.is_empty() || *found == expected => {}
            Some(_) => {
                return Err(Status::bad_request(format!(
                    "the {key} in the data does not match the expected {key} ({expected})"
                )));
            }
        }
    }
    match object.remove("spec") {
        None | Some(Value::Null) => Ok(T::default()),
        Some(spec) => serde_json::from_value(spec).map_err(|error| malformed(kind, &error)),
    }
}

fn malformed(kind: &str, error: &serde_json::Error) -> Box<Status> {
    Status::bad_request(format!("{kind} in version \"v1\" cannot be handled as a {kind}: {error}"))
}

fn review(group: &str, kind: &str, spec: &impl Serialize, status: &Map<String, Value>) -> Value {
    json!({
        "kind": kind,
        "apiVersion": format!("{group}/v1"),
        "metadata": {},
        "spec": spec,
        "status": status,
    })
}

/// Returns a JSON object of the lists that are not empty.
fn filled<const N: usize>(lists: [(&str, &Vec<String>); N]) -> Value {
    let filled = lists.into_iter().filter(|(_, list)| !list.is_empty());
    filled.map(|(key, list)| (key.to_owned(), json!(list))).collect()
}
