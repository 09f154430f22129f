//! A request without its body.

use http::header::{ACCEPT, HeaderName, USER_AGENT};
use http::{HeaderMap, Method, Uri};
use jiff::Timestamp;

use super::answer::{self, Answer};
use crate::wire::accept::{self, Answer as Shown, Shape};
use crate::wire::path::{Path, Resource};
use crate::wire::query::Query;
use krm_template_server_core::auth::User;
use krm_template_server_core::status::Status;

/// The details of a request for the audit log and the metrics, collected during its handling.
#[derive(Default)]
pub(super) struct AuditFields {
    pub(super) user: User,
    /// The resource, if it differs from the one in the path.
    pub(super) resource: Option<Resource>,
    pub(super) bytes_in: u64,
}

/// A request without its body.
pub(super) struct Incoming {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) query: Query,
    pub(super) path: Path,
    /// The time at which it arrived.
    pub(super) at: Timestamp,
}

impl Incoming {
    pub(super) fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Negotiates the format of a document that has only the plain shape.
    pub(super) fn shown(&self) -> Shown {
        Shown {
            format: accept::format(self.header(ACCEPT)),
            pretty: accept::is_pretty(self.header(USER_AGENT), &self.query),
            shape: Shape::Plain,
        }
    }

    pub(super) fn refusal(&self, status: &Status) -> Answer {
        let is_pretty = accept::is_pretty(self.header(USER_AGENT), &self.query);
        answer::status(status, accept::of_error(self.header(ACCEPT)), is_pretty)
    }
}
