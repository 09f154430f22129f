//! A request without its body.

use http::header::{ACCEPT, HeaderName, USER_AGENT};
use http::{HeaderMap, Method, Uri};
use jiff::Timestamp;

use crate::http::{Answer, response};
use crate::request::{Path, Query, Resource, ResponseFormat, Shape, accept};
use krm_template_server_core::{Status, User};

/// The details of a request for the audit log and the metrics, collected during its handling.
#[derive(Default)]
pub(crate) struct AuditFields {
    pub(crate) user: User,
    /// The resource, if it differs from the one in the path.
    pub(crate) resource: Option<Resource>,
    pub(crate) bytes_in: u64,
}

/// A request without its body.
pub(crate) struct Incoming {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) query: Query,
    pub(crate) path: Path,
    /// The time at which it arrived.
    pub(crate) at: Timestamp,
}

impl Incoming {
    pub(crate) fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Negotiates the format of a document that has only the plain shape.
    pub(crate) fn shown(&self) -> ResponseFormat {
        ResponseFormat {
            format: accept::format(self.header(ACCEPT)),
            pretty: accept::is_pretty(self.header(USER_AGENT), &self.query),
            shape: Shape::Plain,
        }
    }

    pub(crate) fn refusal(&self, status: &Status) -> Answer {
        let is_pretty = accept::is_pretty(self.header(USER_AGENT), &self.query);
        response::status(status, accept::of_error(self.header(ACCEPT)), is_pretty)
    }
}
