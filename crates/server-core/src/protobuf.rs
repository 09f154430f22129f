//! The Kubernetes protobuf encoding, as far as `kubectl auth` uses it.
//!
//! Source: `k8s.io/apimachinery/pkg/runtime/serializer/protobuf`, and `generated.proto` of
//! `k8s.io/apimachinery/pkg/runtime`, `k8s.io/api/authorization/v1` and
//! `k8s.io/api/authentication/v1`.

use prost::Message;
use serde_json::{Map, Value, json};

use crate::status::{Result, Status};

/// The prefix of a body in the Kubernetes protobuf encoding.
pub const MAGIC: &[u8] = b"k8s\0";

/// The media type of this encoding.
pub const CONTENT_TYPE: &str = "application/vnd.kubernetes.protobuf";

#[derive(Clone, PartialEq, Message)]
struct Unknown {
    #[prost(message, optional, tag = "1")]
    type_meta: Option<TypeMeta>,
    #[prost(bytes = "vec", tag = "2")]
    raw: Vec<u8>,
    #[prost(string, tag = "3")]
    content_encoding: String,
}

#[derive(Clone, PartialEq, Message)]
struct TypeMeta {
    #[prost(string, tag = "1")]
    api_version: String,
    #[prost(string, tag = "2")]
    kind: String,
}

#[derive(Clone, PartialEq, Message)]
struct AccessReview {
    #[prost(message, optional, tag = "2")]
    spec: Option<AccessReviewSpec>,
}

#[derive(Clone, PartialEq, Message)]
struct AccessReviewSpec {
    #[prost(message, optional, tag = "1")]
    resource_attributes: Option<ResourceAttributes>,
    #[prost(message, optional, tag = "2")]
    non_resource_attributes: Option<NonResourceAttributes>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceAttributes {
    #[prost(string, tag = "1")]
    namespace: String,
    #[prost(string, tag = "2")]
    verb: String,
    #[prost(string, tag = "3")]
    group: String,
    #[prost(string, tag = "4")]
    version: String,
    #[prost(string, tag = "5")]
    resource: String,
    #[prost(string, tag = "6")]
    subresource: String,
    #[prost(string, tag = "7")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct NonResourceAttributes {
    #[prost(string, tag = "1")]
    path: String,
    #[prost(string, tag = "2")]
    verb: String,
}

#[derive(Clone, PartialEq, Message)]
struct RulesReview {
    #[prost(message, optional, tag = "2")]
    spec: Option<RulesReviewSpec>,
}

#[derive(Clone, PartialEq, Message)]
struct RulesReviewSpec {
    #[prost(string, tag = "1")]
    namespace: String,
}

/// Converts a protobuf body to JSON: a `SelfSubjectAccessReview`, `SelfSubjectRulesReview` or
/// `SelfSubjectReview`. Metadata is left out because the server ignores it.
///
/// # Errors
/// 400 for a malformed body; 415 for another kind or a compressed body.
pub fn to_json(body: &[u8]) -> Result<Value> {
    let Some(message) = body.strip_prefix(MAGIC) else {
        return Err(Status::bad_request("provided data does not appear to be a protobuf message"));
    };
    let unknown: Unknown = decode(message)?;
    if !unknown.content_encoding.is_empty() {
        return Err(unsupported("the body is compressed"));
    }
    let type_meta = unknown.type_meta.unwrap_or_default();
    let mut object = Map::new();
    object.insert("kind".to_owned(), json!(type_meta.kind));
    object.insert("apiVersion".to_owned(), json!(type_meta.api_version));
    let spec = match type_meta.kind.as_str() {
        "SelfSubjectAccessReview" => {
            decode::<AccessReview>(&unknown.raw)?.spec.map(AccessReviewSpec::into_json)
        }
        "SelfSubjectRulesReview" => decode::<RulesReview>(&unknown.raw)?
            .spec
            .map(|spec| fields([("namespace", spec.namespace)])),
        "SelfSubjectReview" => None,
        _ => {
            return Err(unsupported("objects of this kind are read as JSON or YAML only"));
        }
    };
    if let Some(spec) = spec {
        object.insert("spec".to_owned(), spec);
    }
    Ok(Value::Object(object))
}

impl AccessReviewSpec {
    fn into_json(self) -> Value {
        let mut spec = Map::new();
        if let Some(of) = self.resource_attributes {
            let attributes = fields([
                ("namespace", of.namespace),
                ("verb", of.verb),
                ("group", of.group),
                ("version", of.version),
                ("resource", of.resource),
                ("subresource", of.subresource),
                ("name", of.name),
            ]);
            spec.insert("resourceAttributes".to_owned(), attributes);
        }
        if let Some(of) = self.non_resource_attributes {
            let attributes = fields([("path", of.path), ("verb", of.verb)]);
            spec.insert("nonResourceAttributes".to_owned(), attributes);
        }
        Value::Object(spec)
    }
}

/// Returns a JSON object of the strings that are not empty.
fn fields<const N: usize>(texts: [(&str, String); N]) -> Value {
    let filled = texts.into_iter().filter(|(_, text)| !text.is_empty());
    filled.map(|(key, text)| (key.to_owned(), Value::String(text))).collect()
}

fn decode<T: Message + Default>(bytes: &[u8]) -> Result<T> {
    T::decode(bytes).map_err(|error| {
        Status::bad_request(format!("the body is not a valid review in protobuf: {error}"))
    })
}

fn unsupported(why: &str) -> Box<Status> {
    Status::new(415, "UnsupportedMediaType", why)
}
