//! Kubernetes `Status` objects, the errors that clients see.

use std::fmt;

use krm_yaml::shorten;
use serde_json::{Value, json};

/// The most causes of an error.
pub const MAX_CAUSES: usize = 100;

/// The most bytes of the message of an error, which may list its causes.
const MAX_MESSAGE: usize = 32 * 1024;

/// The most bytes of all causes as JSON.
const MAX_CAUSE_BYTES: usize = 512 * 1024;

/// The most bytes of a name in the details of an error.
const MAX_NAME: usize = 1_024;

/// The result of handling a request, or of a part of it.
pub type Result<T, E = Box<Status>> = std::result::Result<T, E>;

/// A Kubernetes `Status` with `status: Failure`.
///
/// Source: `metav1.Status` of `k8s.io/apimachinery`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The HTTP status code, from 400 on.
    pub code: u16,
    /// The machine-readable reason, such as `NotFound`; may be empty.
    pub reason: &'static str,
    /// The message, which contains no secrets.
    pub message: String,
    /// The details of the error.
    pub details: Option<Details>,
    /// The field `metadata.continue`, set if a list has expired.
    pub next: Option<String>,
}

/// The details of an error.
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
    /// The causes of the error.
    pub causes: Vec<Cause>,
    /// The number of seconds before a retry; 0 if unset.
    pub retry_after_seconds: u32,
}

/// A cause of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The machine-readable reason, such as `FieldValueRequired`; may be empty.
    pub reason: &'static str,
    /// The message, which contains no secrets.
    pub message: String,
    /// The field path, such as `metadata.name`; empty if there is none.
    pub field: String,
}

impl Cause {
    /// Creates a cause for a field.
    #[must_use]
    pub fn new(reason: &'static str, field: &str, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), field: field.to_owned() }
    }

    /// Returns the first causes, and as the last one how many more there are. `causes` are the
    /// first ones of `total`, or all.
    pub fn list(total: usize, causes: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut list = Vec::new();
        let mut bytes = 0;
        for mut cause in causes.into_iter().take(MAX_CAUSES) {
            cause.shorten();
            bytes += cause.object().to_string().len();
            if bytes > MAX_CAUSE_BYTES {
                break;
            }
            list.push(cause);
        }
        if total > list.len() {
            let message = format!("and {} more errors", total - list.len());
            list.push(Self::new("", "", message));
        }
        list
    }

    fn shorten(&mut self) {
        shorten::message(&mut self.message);
        shorten::cut(&mut self.field, shorten::MAX_MESSAGE);
    }
}

impl Status {
    /// Creates a status without details.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            code,
            reason,
            message: shortened(message.into(), MAX_MESSAGE),
            details: None,
            next: None,
        })
    }

    /// Returns 400 for a malformed request.
    pub fn bad_request(message: impl Into<String>) -> Box<Self> {
        Self::new(400, "BadRequest", message)
    }

    /// Returns 404 for a path that is not served.
    pub fn no_such_path() -> Box<Self> {
        Self::new(404, "NotFound", "the server could not find the requested resource")
            .with(Details::default())
    }

    /// Returns 404 for an object that does not exist. `resource` is the plural name.
    pub fn not_found(group: &str, resource: &str, name: &str) -> Box<Self> {
        let message = format!("{} {name:?} not found", qualified(resource, group));
        Self::new(404, "NotFound", message).with(Details::of(group, resource, name))
    }

    /// Returns 409 for an object that already exists.
    pub fn already_exists(group: &str, resource: &str, name: &str) -> Box<Self> {
        let message = format!("{} {name:?} already exists", qualified(resource, group));
        Self::new(409, "AlreadyExists", message).with(Details::of(group, resource, name))
    }

    /// Returns 409 for a request that conflicts with the state of the object.
    pub fn conflict(group: &str, resource: &str, name: &str, why: &str) -> Box<Self> {
        let message = format!(
            "Operation cannot be fulfilled on {} {name:?}: {why}",
            qualified(resource, group)
        );
        Self::new(409, "Conflict", message).with(Details::of(group, resource, name))
    }

    /// Returns 422 for an object with invalid fields. `kind` is the kind of the object.
    pub fn invalid(group: &str, kind: &str, name: &str, causes: Vec<Cause>) -> Box<Self> {
        let kind_and_group =
            if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        let causes = Cause::list(causes.len(), causes);
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
        Self::new(422, "Invalid", message)
            .with(Details { causes, ..Details::of(group, kind, name) })
    }

    /// Returns 503 for a dependency that is unavailable.
    pub fn unavailable(message: impl Into<String>) -> Box<Self> {
        Self::new(503, "ServiceUnavailable", message)
            .with(Details { retry_after_seconds: 1, ..Details::default() })
    }

    /// Returns 500 for an internal error.
    pub fn internal(message: impl Into<String>) -> Box<Self> {
        Self::new(500, "InternalError", message)
    }

    /// Returns the status with the given details.
    pub fn with(mut self: Box<Self>, mut details: Details) -> Box<Self> {
        details.name = shortened(details.name, MAX_NAME);
        details.kind = shortened(details.kind, MAX_NAME);
        // The last one may count others.
        if details.causes.len() > MAX_CAUSES + 1 {
            details.causes = Cause::list(details.causes.len(), details.causes);
        }
        details.causes.iter_mut().for_each(Cause::shorten);
        self.details = Some(details);
        self
    }

    /// Returns the `Status` object, with its fields in the order of Kubernetes.
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
    /// Creates details that name an object.
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
            fields.insert("causes".to_owned(), self.causes.iter().map(Cause::object).collect());
        }
        if self.retry_after_seconds > 0 {
            fields.insert("retryAfterSeconds".to_owned(), json!(self.retry_after_seconds));
        }
        Value::Object(fields)
    }
}

impl Cause {
    fn object(&self) -> Value {
        let mut fields = serde_json::Map::new();
        let texts =
            [("reason", self.reason), ("message", &self.message), ("field", self.field.as_str())];
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

fn shortened(mut text: String, most: usize) -> String {
    shorten::cut(&mut text, most);
    text
}

/// Formats a resource as `resource.group`, or as `resource` without a group.
fn qualified(resource: &str, group: &str) -> String {
    if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") }
}
