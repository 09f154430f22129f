//! Bodies of requests that are kept until the response is sent.
//!
//! If a handler drops a body that it has not read, such as that of a request without a valid user,
//! HTTP/2 resets the stream. The client then loses the response, unless all of it is sent before.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;

use super::answer::Body;

/// The body of a request. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Kept(Arc<Mutex<Incoming>>);

impl Kept {
    pub(super) fn new(body: Incoming) -> Self {
        Self(Arc::new(Mutex::new(body)))
    }

    fn body(&self) -> MutexGuard<'_, Incoming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpBody for Kept {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut *self.body()).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body().size_hint()
    }
}

/// The body of a response, which keeps that of its request.
pub(super) struct Response {
    body: Body,
    _request: Option<Kept>,
}

impl Response {
    pub(super) const fn new(body: Body, request: Option<Kept>) -> Self {
        Self {
            body,
            _request: request,
        }
    }
}

impl HttpBody for Response {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::io::Result<Frame<Bytes>>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
