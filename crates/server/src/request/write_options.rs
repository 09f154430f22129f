//! The options of writes and deletions.
//!
//! Source: `validation.go` of `k8s.io/apimachinery/pkg/apis/meta/v1/validation`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::content_type::{self, Format};
use super::query::Query;
use krm_template_server_core::{Cause, Details, Result, Status};

/// The maximum length of the name of a field manager in bytes.
pub const MAX_FIELD_MANAGER: usize = 128;

/// The options of a create or update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether this is a dry run, which stores nothing.
    pub dry_run: bool,
    /// The name of the field manager.
    pub field_manager: Option<String>,
    /// The handling of unknown and duplicate fields.
    pub field_validation: FieldValidation,
}

/// The options of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchOptions {
    /// The options that all writes have.
    pub write: WriteOptions,
    /// Whether an apply takes over fields from other managers.
    pub force: bool,
}

/// The handling of unknown and duplicate fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValidation {
    /// Accept the request without a warning.
    Ignore,
    /// Send a `Warning` header for each.
    Warn,
    /// Reject the request with 400.
    Strict,
}

/// The options of a delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// Whether this is a dry run, which deletes nothing.
    pub dry_run: bool,
    /// The uid that the object must have.
    pub uid: Option<String>,
    /// The `resourceVersion` that the object must have.
    pub resource_version: Option<String>,
    /// The treatment of the dependents, if the client names one.
    pub dependents: Option<Dependents>,
}

/// The treatment, by a garbage collector, of the objects that have a deleted object as their owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependents {
    /// It deletes them after their owner.
    Background,
    /// It deletes them before their owner.
    Foreground,
    /// It removes the reference to the owner from them.
    Orphan,
}

impl WriteOptions {
    /// Parses the options of a create.
    ///
    /// # Errors
    ///
    /// 422 for unsupported values.
    pub fn create(query: &Query) -> Result<Self> {
        Self::parse("CreateOptions", query, Vec::new())
    }

    /// Parses the options of an update.
    ///
    /// # Errors
    ///
    /// 422 for unsupported values.
    pub fn update(query: &Query) -> Result<Self> {
        Self::parse("UpdateOptions", query, Vec::new())
    }

    fn parse(kind: &str, query: &Query, mut causes: Vec<Cause>) -> Result<Self> {
        let field_manager = query.first("fieldManager").filter(|name| !name.is_empty());
        causes.extend(field_manager.and_then(manager_cause));
        let directives: Vec<&str> = query.all("dryRun").collect();
        causes.extend(dry_run_cause(&directives));
        let field_validation = match query.text("fieldValidation") {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let supported = r#""", "Ignore", "Strict", "Warn""#;
                causes.push(unsupported("fieldValidation", &json!(other), supported));
                FieldValidation::Strict
            }
        };
        if !causes.is_empty() {
            return Err(invalid(kind, causes));
        }
        Ok(Self {
            dry_run: !directives.is_empty(),
            field_manager: field_manager.map(str::to_owned),
            field_validation,
        })
    }
}

impl PatchOptions {
    /// Parses the options of a patch. `is_apply` says whether it is an apply.
    ///
    /// # Errors
    ///
    /// 422 for unsupported values, or options that do not fit the kind of patch.
    pub fn parse(query: &Query, is_apply: bool) -> Result<Self> {
        let force = query.flag("force");
        let cause = if !is_apply && force.is_some() {
            let message = "Forbidden: may not be specified for non-apply patch";
            Some(Cause::new("FieldValueForbidden", "force", message))
        } else if is_apply && query.text("fieldManager").is_empty() {
            let message = "Required value: is required for apply patch";
            Some(Cause::new("FieldValueRequired", "fieldManager", message))
        } else {
            None
        };
        let write = WriteOptions::parse("PatchOptions", query, cause.into_iter().collect())?;
        Ok(Self { write, force: force.unwrap_or_default() })
    }
}

impl DeleteOptions {
    /// Parses the options of a delete from its query and its body.
    ///
    /// `gracePeriodSeconds` is validated but has no effect. Unlike in Kubernetes, the query is read
    /// even if there is a body, so that no `dryRun` is ignored.
    ///
    /// # Errors
    ///
    /// 400 for a malformed body, 415 for an unsupported type, 422 for unsupported values.
    pub fn parse(query: &Query, content_type: Option<&str>, body: &[u8]) -> Result<Self> {
        let read = if body.is_empty() { Body::default() } else { Body::read(content_type, body)? };
        query.integer("gracePeriodSeconds")?;
        let mut causes = Vec::new();
        let policy = read.propagation_policy.as_deref();
        let policy = policy.or_else(|| query.first("propagationPolicy"));
        let orphans = read.orphan_dependents.or(query.flag("orphanDependents"));
        if let (Some(policy), Some(_)) = (policy, orphans) {
            let what = "orphanDependents and deletionPropagation cannot be both set";
            let message = format!("Invalid value: {policy:?}: {what}");
            causes.push(Cause::new("FieldValueInvalid", "propagationPolicy", message));
        }
        let dependents = match (policy, orphans) {
            (Some("Foreground"), _) => Some(Dependents::Foreground),
            (Some("Orphan"), _) | (None, Some(true)) => Some(Dependents::Orphan),
            (Some("Background"), _) | (None, Some(false)) => Some(Dependents::Background),
            (None, None) => None,
            (Some(policy), _) => {
                let supported = r#""Foreground", "Background", "Orphan", "nil""#;
                causes.push(unsupported("propagationPolicy", &json!(policy), supported));
                None
            }
        };
        let directives = read.dry_run.iter().flatten().map(String::as_str);
        let directives: Vec<&str> = directives.chain(query.all("dryRun")).collect();
        causes.extend(dry_run_cause(&directives));
        if !causes.is_empty() {
            return Err(invalid("DeleteOptions", causes));
        }
        let mut preconditions = read.preconditions.unwrap_or_default();
        Ok(Self {
            dry_run: !directives.is_empty(),
            uid: preconditions.remove("uid").flatten(),
            resource_version: preconditions.remove("resourceVersion").flatten(),
            dependents,
        })
    }
}

/// A body of kind `DeleteOptions`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Body {
    kind: Option<String>,
    #[serde(rename = "gracePeriodSeconds")]
    _grace_period_seconds: Option<i64>,
    propagation_policy: Option<String>,
    orphan_dependents: Option<bool>,
    dry_run: Option<Vec<String>>,
    preconditions: Option<BTreeMap<String, Option<String>>>,
}

impl Body {
    fn read(content_type: Option<&str>, body: &[u8]) -> Result<Self> {
        let json = match content_type::of_object(content_type)? {
            Format::Json => Cow::Borrowed(body),
            Format::Yaml => content_type::json_of_yaml(body)?.into_bytes().into(),
        };
        // A struct is also read from a list. The error has no text from the body.
        let is_list = json.trim_ascii_start().starts_with(b"[");
        let read = serde_json::from_slice::<Option<Self>>(&json).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            Status::bad_request(format!(
                "couldn't get version/kind; json parse error: error at line {line} column {column}"
            ))
        })?;
        let read = read.unwrap_or_default();
        if is_list || !matches!(read.kind.as_deref(), None | Some("" | "DeleteOptions")) {
            return Err(Status::bad_request("the kind of the body is not DeleteOptions"));
        }
        Ok(read)
    }
}

/// Returns the 422 error for invalid options. `kind` is the kind of the options.
pub(super) fn invalid(kind: &str, causes: Vec<Cause>) -> Box<Status> {
    let mut status = Status::invalid("meta.k8s.io", kind, "", causes);
    // Options have no name.
    status.details = status.details.map(|details| Details { name: String::new(), ..details });
    status
}

fn unsupported(field: &str, value: &Value, supported: &str) -> Cause {
    let message = format!("Unsupported value: {value}: supported values: {supported}");
    Cause::new("FieldValueNotSupported", field, message)
}

fn dry_run_cause(directives: &[&str]) -> Option<Cause> {
    let is_known = directives.iter().all(|directive| *directive == "All");
    (!is_known).then(|| unsupported("dryRun", &json!(directives), r#""All""#))
}

fn manager_cause(name: &str) -> Option<Cause> {
    let what = if name.len() > MAX_FIELD_MANAGER {
        let message = format!("Too long: may not be more than {MAX_FIELD_MANAGER} bytes");
        ("FieldValueTooLong", message)
    } else if name.chars().any(char::is_control) {
        let message = format!("Invalid value: {name:?}: should only contain printable characters");
        ("FieldValueInvalid", message)
    } else {
        return None;
    };
    Some(Cause::new(what.0, "fieldManager", what.1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn query(text: &str) -> Query {
        Query::parse(text).unwrap()
    }

    #[test]
    fn a_deletion_takes_its_body_and_its_query() {
        let yaml = b"preconditions:\n  uid: u\n  resourceVersion: \"5\"\n";
        let query = query("dryRun=All&propagationPolicy=Orphan");
        let found = DeleteOptions::parse(&query, Some("application/yaml"), yaml);
        let expected = DeleteOptions {
            dry_run: true,
            uid: Some("u".to_owned()),
            resource_version: Some("5".to_owned()),
            dependents: Some(Dependents::Orphan),
        };
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn a_body_of_a_wrong_form_is_a_mistake_of_the_client() {
        let bodies = [
            "[]",
            "1",
            r#"{"dryRun": "All"}"#,
            r#"{"dryRun": [1]}"#,
            r#"{"preconditions": []}"#,
            r#"{"preconditions": {"uid": 1}}"#,
            r#"{"gracePeriodSeconds": 1.5}"#,
            r#"{"orphanDependents": "yes"}"#,
            r#"{"kind": 1}"#,
            "{}x",
        ];
        for body in bodies {
            let found =
                DeleteOptions::parse(&Query::default(), Some("application/json"), body.as_bytes());
            let status = found.unwrap_err();
            assert_eq!((status.code, status.reason), (400, "BadRequest"), "{body}");
        }
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let name = "m".repeat(MAX_FIELD_MANAGER + 1);
        let text = format!("fieldManager={name}&dryRun=x&fieldValidation=y");
        let status = WriteOptions::update(&query(&text)).unwrap_err();
        let fields: Vec<String> =
            status.details.unwrap().causes.into_iter().map(|cause| cause.field).collect();
        assert_eq!(
            (status.code, fields.join(" ").as_str()),
            (422, "fieldManager dryRun fieldValidation")
        );
        assert!(
            status
                .message
                .starts_with("UpdateOptions.meta.k8s.io \"\" is invalid: [fieldManager: Too long")
        );
    }

    proptest! {
        #[test]
        fn any_body_is_read(body in any::<Vec<u8>>(), text in "[-a-z{}:\\[\\]\", 0-9\\n]{0,40}") {
            for kind in ["application/json", "application/yaml"] {
                let _ = DeleteOptions::parse(&Query::default(), Some(kind), &body);
                let _ = DeleteOptions::parse(&Query::default(), Some(kind), text.as_bytes());
            }
        }
    }
}
