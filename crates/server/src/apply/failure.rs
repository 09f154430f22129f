//! A change that came to an end before it was complete.

use std::fmt;

use serde_json::{Value, json};

use super::types::{Recorded, Step};
use crate::status::Status;

/// How long a message of the cluster may be.
const MAX_MESSAGE: usize = 8 << 10;

/// Why a change ended, and what was done before.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The code of the status.
    pub code: u16,
    /// A `v1` `Status`: the answer of the cluster, or one that says why it was not asked.
    pub status: Value,
    /// The object that could not be changed, if it is about one.
    pub object: Option<Box<Recorded>>,
    /// The steps before, in order.
    pub done: Vec<Step>,
}

impl Failure {
    /// The text for people.
    #[must_use]
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

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refusal {
    pub(super) code: u16,
    pub(super) status: Value,
}

impl From<Box<Status>> for Refusal {
    fn from(status: Box<Status>) -> Self {
        Self {
            code: status.code,
            status: status.object(),
        }
    }
}

impl Refusal {
    /// The refusal in an answer of the cluster. A body other than a `Status` is not quoted.
    pub(super) fn of(code: u16, body: Value) -> Self {
        if body.get("kind").and_then(Value::as_str) == Some("Status") {
            return Self { code, status: body }.bounded();
        }
        let why = format!("the cluster answers with the code {code}");
        Self {
            code,
            ..Status::new(code, "", why).into()
        }
    }

    /// Removes messages that may quote a value of a Secret.
    pub(super) fn without_values(mut self) -> Self {
        // These name rights, fields and managers, but no values.
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

    pub(super) fn failure(self, object: Option<Recorded>, done: Vec<Step>) -> Failure {
        Failure {
            code: self.code,
            status: self.status,
            object: object.map(Box::new),
            done,
        }
    }

    /// The same with a message that is not too long.
    fn bounded(mut self) -> Self {
        let text = message(&self.status);
        if text.len() > MAX_MESSAGE {
            let short: String = text.chars().take(MAX_MESSAGE).collect();
            if let Some(fields) = self.status.as_object_mut() {
                fields.insert("message".to_owned(), json!(format!("{short}…")));
            }
        }
        self
    }
}

fn message(status: &Value) -> &str {
    let message = status.get("message").and_then(Value::as_str);
    message.unwrap_or("the cluster gives no reason")
}
