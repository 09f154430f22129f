//! Errors as a client sees them: `Status` objects.

use std::fmt;

use serde_json::{Value, json};

/// The result of handling a request, or of a part of it.
pub type Result<T, E = Box<Status>> = std::result::Result<T, E>;

/// A Kubernetes `Status` with `status: Failure`.
///
/// Source: `metav1.Status` of `k8s.io/apimachinery`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The HTTP status code.
    pub code: u16,
    /// The word for programs, such as `NotFound`; empty if there is none.
    pub reason: &'static str,
    /// The text for people.
    pub message: String,
    /// What the error is about.
    pub details: Option<Details>,
    /// The fields of `metadata`: `resourceVersion` is not set, `continue` is in answers to lists
    /// that expired.
    pub next: Option<String>,
}

/// What an error is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The name of the object; empty if there is none.
    pub name: String,
    /// The API group; empty if there is none.
    pub group: String,
    /// The resource or kind; empty if there is none.
    pub kind: String,
    /// The uid of the object; empty if there is none.
    pub uid: String,
    /// Everything that is wrong.
    pub causes: Vec<Cause>,
    /// After how many seconds the client may try again; 0 for no advice.
    pub retry_after_seconds: u32,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The word for programs, such as `FieldValueRequired`; empty if there is none.
    pub reason: &'static str,
    /// The text for people.
    pub message: String,
    /// The field path, such as `metadata.name`; empty if there is none.
    pub field: String,
}

impl Cause {
    /// A cause about a field.
    #[must_use]
    pub fn new(reason: &'static str, field: &str, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            field: field.to_owned(),
        }
    }
}

impl Status {
    /// A status without details.
    #[must_use]
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            code,
            reason,
            message: message.into(),
            details: None,
            next: None,
        })
    }

    /// 400: the request is malformed.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Box<Self> {
        Self::new(400, "BadRequest", message)
    }

    /// 404 for a path that is not served.
    #[must_use]
    pub fn no_such_path() -> Box<Self> {
        Self::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        )
        .with(Details::default())
    }

    /// 404: there is no such object. `resource` is the plural name.
    #[must_use]
    pub fn not_found(group: &str, resource: &str, name: &str) -> Box<Self> {
        let message = format!("{} {name:?} not found", qualified(resource, group));
        Self::new(404, "NotFound", message).with(Details::of(group, resource, name))
    }

    /// 409: there is such an object already.
    #[must_use]
    pub fn already_exists(group: &str, resource: &str, name: &str) -> Box<Self> {
        let message = format!("{} {name:?} already exists", qualified(resource, group));
        Self::new(409, "AlreadyExists", message).with(Details::of(group, resource, name))
    }

    /// 409: the object is not as the client expects it.
    #[must_use]
    pub fn conflict(group: &str, resource: &str, name: &str, why: &str) -> Box<Self> {
        let message = format!(
            "Operation cannot be fulfilled on {} {name:?}: {why}",
            qualified(resource, group)
        );
        Self::new(409, "Conflict", message).with(Details::of(group, resource, name))
    }

    /// 422: fields of an object are wrong. `kind` is the kind of the object.
    #[must_use]
    pub fn invalid(group: &str, kind: &str, name: &str, causes: Vec<Cause>) -> Box<Self> {
        let kind_and_group = if group.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}.{group}")
        };
        let listed: Vec<String> = causes
            .iter()
            .map(|cause| {
                if cause.field.is_empty() {
                    cause.message.clone()
                } else {
                    format!("{}: {}", cause.field, cause.message)
                }
            })
            .collect();
        let list = match listed.as_slice() {
            [one] => one.clone(),
            all => format!("[{}]", all.join(", ")),
        };
        let message = format!("{kind_and_group} {name:?} is invalid: {list}");
        Self::new(422, "Invalid", message).with(Details {
            causes,
            ..Details::of(group, kind, name)
        })
    }

    /// 503: something that the answer needs is away.
    #[must_use]
    pub fn unavailable(message: impl Into<String>) -> Box<Self> {
        Self::new(503, "ServiceUnavailable", message).with(Details {
            retry_after_seconds: 1,
            ..Details::default()
        })
    }

    /// 500: a mistake of the server.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Box<Self> {
        Self::new(500, "InternalError", message)
    }

    /// The same with details.
    #[must_use]
    pub fn with(mut self: Box<Self>, details: Details) -> Box<Self> {
        self.details = Some(details);
        self
    }

    /// The object of kind `Status`, with its fields in the order of Kubernetes.
    #[must_use]
    pub fn object(&self) -> Value {
        let mut metadata = json!({});
        if let (Some(next), Some(metadata)) = (&self.next, metadata.as_object_mut()) {
            metadata.insert("continue".to_owned(), json!(next));
        }
        let mut object = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata,
            "status": "Failure",
            "message": self.message,
        });
        if let Some(fields) = object.as_object_mut() {
            if !self.reason.is_empty() {
                fields.insert("reason".to_owned(), json!(self.reason));
            }
            if let Some(details) = &self.details {
                fields.insert("details".to_owned(), details.object());
            }
            fields.insert("code".to_owned(), json!(self.code));
        }
        object
    }
}

impl Details {
    /// Details that name an object.
    #[must_use]
    pub fn of(group: &str, kind: &str, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            ..Self::default()
        }
    }

    fn object(&self) -> Value {
        let mut fields = serde_json::Map::new();
        let texts = [
            ("name", &self.name),
            ("group", &self.group),
            ("kind", &self.kind),
            ("uid", &self.uid),
        ];
        for (key, text) in texts {
            if !text.is_empty() {
                fields.insert(key.to_owned(), json!(text));
            }
        }
        if !self.causes.is_empty() {
            fields.insert(
                "causes".to_owned(),
                self.causes.iter().map(Cause::object).collect(),
            );
        }
        if self.retry_after_seconds > 0 {
            fields.insert(
                "retryAfterSeconds".to_owned(),
                json!(self.retry_after_seconds),
            );
        }
        Value::Object(fields)
    }
}

impl Cause {
    fn object(&self) -> Value {
        let mut fields = serde_json::Map::new();
        let texts = [
            ("reason", self.reason),
            ("message", &self.message),
            ("field", self.field.as_str()),
        ];
        for (key, text) in texts {
            if !text.is_empty() {
                fields.insert(key.to_owned(), json!(text));
            }
        }
        Value::Object(fields)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}

/// A resource or kind with its group, as messages name it.
fn qualified(resource: &str, group: &str) -> String {
    if group.is_empty() {
        resource.to_owned()
    } else {
        format!("{resource}.{group}")
    }
}
