//! The error of a change.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use krm_core::secrets::KnownSecrets;
use serde_json::{Value, json};

use super::types::{Recorded, Step, What};
use krm_template_server_core::{Status, status::MAX_CAUSES};

/// The maximum length of a message from the cluster.
const MAX_MESSAGE: usize = 8 << 10;

/// The cause of an error that this server has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Any other, also all that the cluster reports.
    Other,
    /// The cluster does not have the kind of the object.
    UnknownKind,
    /// The object belongs to another owner.
    OwnedByOther,
}

/// The error that ended a change, and the steps before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The HTTP status code for the client.
    pub code: u16,
    /// A `v1` `Status` from the cluster, or one that this server created.
    pub status: Value,
    /// The cause, if this server has found the error.
    pub cause: Cause,
    /// The object that the error is about, if any.
    pub object: Option<Box<Recorded>>,
    /// The steps before the error, in order.
    pub done: Vec<Step>,
    /// Whether the cluster has changed, or may have changed.
    pub has_changed: bool,
}

impl Failure {
    /// Returns the message of the status.
    pub fn message(&self) -> &str {
        message(&self.status)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(object) = &self.object {
            write!(f, "{} `{}`: ", object.kind, object.name)?;
        }
        f.write_str(self.message())
    }
}

impl std::error::Error for Failure {}

/// The error of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refusal {
    pub(super) code: u16,
    pub(super) status: Value,
    pub(super) cause: Cause,
    /// Whether the cluster may have made the requested change nevertheless.
    pub(super) is_unclear: bool,
}

impl From<Box<Status>> for Refusal {
    fn from(status: Box<Status>) -> Self {
        let cause = Cause::Other;
        Self { code: status.code, status: status.object(), cause, is_unclear: false }
    }
}

impl Refusal {
    /// Reads an error response of the cluster. A body other than a `Status` is not quoted.
    pub(super) fn of(code: u16, body: Value) -> Self {
        if body.get("kind").and_then(Value::as_str) == Some("Status") {
            let cause = Cause::Other;
            return Self { code, status: body, cause, is_unclear: false }.bounded();
        }
        let why = format!("the cluster returned the code {code}");
        Self { code, ..Status::new(code, "", why).into() }
    }

    /// Marks the error of a request after which the cluster may have changed.
    pub(super) fn unclear(self) -> Self {
        Self { is_unclear: true, ..self }
    }

    /// Replaces a message that may quote a value of a Secret.
    pub(super) fn without_values(mut self) -> Self {
        // These messages name permissions, fields and field managers, but no values.
        if [401, 403, 404, 409, 429].contains(&self.code) {
            return self;
        }
        let reason = self.status.get("reason").cloned().unwrap_or_default();
        self.status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "the cluster refuses the Secret; its message is not shown, because it may \
                        quote a value",
            "reason": reason,
            "code": self.code,
        });
        self
    }

    /// Masks secret values in all texts, also in the causes.
    pub(super) fn masked(mut self, secrets: &KnownSecrets) -> Self {
        for field in ["message", "details"] {
            if let Some(value) = self.status.get_mut(field) {
                mask(value, secrets);
            }
        }
        self
    }

    pub(super) fn failure(self, object: Option<Recorded>, done: Vec<Step>) -> Failure {
        let is_change = |step: &Step| matches!(step.what, What::Applied | What::Deleted);
        Failure {
            code: self.code,
            status: self.status,
            cause: self.cause,
            object: object.map(Box::new),
            has_changed: self.is_unclear || done.iter().any(is_change),
            done,
        }
    }

    /// Truncates the message to [`MAX_MESSAGE`] characters, and the list of causes. Masking knows the
    /// mark of a cut, before which a part of a value may be.
    fn bounded(mut self) -> Self {
        let causes = self.status.pointer_mut("/details/causes");
        if let Some(causes) = causes.and_then(Value::as_array_mut) {
            causes.truncate(MAX_CAUSES);
            for cause in causes {
                for key in ["message", "field"] {
                    cut(cause, key);
                }
            }
        }
        cut(&mut self.status, "message");
        self
    }
}

fn cut(fields: &mut Value, key: &str) {
    if let Some(Value::String(text)) = fields.get_mut(key)
        && text.len() > MAX_MESSAGE
    {
        let short: String = text.chars().take(MAX_MESSAGE).collect();
        *text = format!("{short}…");
    }
}

fn mask(value: &mut Value, secrets: &KnownSecrets) {
    match value {
        Value::String(text) => *text = secrets.masked(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, secrets)),
        Value::Object(fields) => fields.values_mut().for_each(|field| mask(field, secrets)),
        _ => {}
    }
}

/// Adds the values of an object to the known ones if it is a Secret.
pub fn add_values(secrets: &mut KnownSecrets, object: &Value) {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    if (text("apiVersion"), text("kind")) != (Some("v1"), Some("Secret")) {
        return;
    }
    let entries = |field: &str| object.get(field).and_then(Value::as_object);
    let data = entries("data").into_iter().flatten();
    for text in data.filter_map(|(_, value)| value.as_str()) {
        secrets.add(text);
        let decoded = STANDARD.decode(text.trim());
        if let Ok(decoded) = decoded.map(String::from_utf8).map(Result::unwrap_or_default) {
            secrets.add(&decoded);
        }
    }
    let texts = entries("stringData").into_iter().flatten();
    for text in texts.filter_map(|(_, value)| value.as_str()) {
        secrets.add(text);
    }
}

fn message(status: &Value) -> &str {
    let message = status.get("message").and_then(Value::as_str);
    message.unwrap_or("the cluster gives no reason")
}
