//! A request without its body.

use http::header::{ACCEPT, HeaderName, USER_AGENT};
use http::{HeaderMap, Method, Uri};
use jiff::Timestamp;

use super::answer::{self, Answer};
use crate::wire::accept::{self, Answer as Shown, Shape};
use crate::wire::path::Path;
use crate::wire::query::Query;
use krm_template_server_core::ops::logging::TraceParent;
use krm_template_server_core::status::Status;

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

    pub(super) fn trace_parent(&self) -> Option<TraceParent> {
        TraceParent::read(self.headers.get("traceparent")?.to_str().ok()?)
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
