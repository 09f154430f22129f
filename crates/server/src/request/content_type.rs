//! The formats of request bodies, from `Content-Type`.

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Document, DuplicateKeys};

use krm_template_server_core::{Details, Group, Result, Status};

const UNSUPPORTED: &str = "UnsupportedMediaType";

/// A format of objects in bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON: `application/json`.
    Json,
    /// YAML: `application/yaml`, as kubectl accepts it.
    Yaml,
}

/// A format of self-subject reviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewFormat {
    /// JSON: `application/json`.
    Json,
    /// YAML: `application/yaml`, with one document.
    Yaml,
    /// Kubernetes protobuf. kubectl sends it for reviews even if the server does not announce it.
    Protobuf,
}

/// A type of patch, by its media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// A JSON patch (RFC 6902): `application/json-patch+json`.
    Json,
    /// A merge patch (RFC 7396): `application/merge-patch+json`.
    Merge,
    /// A strategic merge patch, only for OpenShift's group:
    /// `application/strategic-merge-patch+json`.
    Strategic,
    /// Server-side apply: `application/apply-patch+yaml`.
    Apply,
}

/// Returns the format of a body with an object.
///
/// # Errors
///
/// 415 for any other type, and without a `Content-Type`.
pub fn of_object(content_type: Option<&str>) -> Result<Format> {
    match media_type(content_type).as_str() {
        "" => Err(untyped()),
        "application/json" => Ok(Format::Json),
        "application/yaml" | "application/x-yaml" | "text/yaml" => Ok(Format::Yaml),
        _ => Err(unknown("application/json, application/yaml")),
    }
}

/// Returns the format of a body with a Template, which may be a configuration to apply.
///
/// # Errors
///
/// 415 for any other type.
pub fn of_template(content_type: Option<&str>) -> Result<Format> {
    match media_type(content_type).as_str() {
        "application/apply-patch+yaml" => Ok(Format::Yaml),
        _ => of_object(content_type),
    }
}

/// Returns the format of a body with a review.
///
/// # Errors
///
/// 415 for any other type.
pub fn of_review(content_type: Option<&str>) -> Result<ReviewFormat> {
    match media_type(content_type).as_str() {
        "" => Err(untyped()),
        "application/vnd.kubernetes.protobuf" => Ok(ReviewFormat::Protobuf),
        _ => match of_object(content_type) {
            Ok(Format::Json) => Ok(ReviewFormat::Json),
            Ok(Format::Yaml) => Ok(ReviewFormat::Yaml),
            Err(_) => Err(unknown(
                "application/json, application/yaml, application/vnd.kubernetes.protobuf",
            )),
        },
    }
}

/// Returns the kind of a patch.
///
/// # Errors
///
/// 415 for any other type, and for a type that the group does not support.
pub fn of_patch(content_type: Option<&str>, group: Group) -> Result<PatchType> {
    match (media_type(content_type).as_str(), group) {
        ("application/json-patch+json", _) => Ok(PatchType::Json),
        ("application/merge-patch+json", _) => Ok(PatchType::Merge),
        ("application/apply-patch+yaml", _) => Ok(PatchType::Apply),
        ("application/strategic-merge-patch+json", Group::OpenShift) => Ok(PatchType::Strategic),
        (_, Group::OpenShift) => {
            let message = "415: Unsupported Media Type";
            Err(Status::new(415, UNSUPPORTED, message).with(Details::default()))
        }
        (_, Group::Krm) => Err(unknown(
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
        )),
    }
}

/// Converts a YAML body to JSON.
///
/// # Errors
///
/// 400 if it is not YAML.
pub fn json_of_yaml(body: &[u8]) -> Result<String> {
    let error = || Status::bad_request("couldn't get version/kind; the body is not valid YAML");
    let source = krm_yaml::decode("body", body.to_vec()).map_err(|_| error())?;
    let document = Document::parse(&source).map_err(|_| error())?;
    let Some(root) = document.roots().next() else {
        return Ok("null".to_owned());
    };
    let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::default());
    Ok(value.ok_or_else(error)?.to_json())
}

/// Returns the media type without its parameters, in lower case. Empty if there is none.
fn media_type(content_type: Option<&str>) -> String {
    let text = content_type.unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn untyped() -> Box<Status> {
    let message = "the body of the request has no type: send the header Content-Type, such as \
                   `Content-Type: application/json`";
    Status::new(415, UNSUPPORTED, message)
}

fn unknown(accepted: &str) -> Box<Status> {
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {accepted}"
    );
    Status::new(415, UNSUPPORTED, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviews_may_be_protobuf_and_objects_not() {
        let protobuf = Some("application/vnd.kubernetes.protobuf");
        assert_eq!(of_review(protobuf), Ok(ReviewFormat::Protobuf));
        assert_eq!(of_review(Some("text/yaml; charset=utf-8")), Ok(ReviewFormat::Yaml));
        assert_eq!(of_review(Some("application/json")), Ok(ReviewFormat::Json));
        assert_eq!(of_object(protobuf).unwrap_err().code, 415);
        assert_eq!(of_review(Some("text/plain")).unwrap_err().code, 415);
    }

    #[test]
    fn a_body_without_a_type_is_refused() {
        for none in [None, Some(""), Some(";charset=utf-8")] {
            assert_eq!(of_object(none).unwrap_err().code, 415);
            assert_eq!(of_review(none).unwrap_err().code, 415);
            for group in [Group::Krm, Group::OpenShift] {
                assert_eq!(of_patch(none, group).unwrap_err().code, 415);
            }
        }
        let message = of_object(None).unwrap_err().message.clone();
        assert!(message.contains("Content-Type"), "{message}");
    }
}
