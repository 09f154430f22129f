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

/// The body of a request.
pub(crate) enum Request {
    /// Over HTTP/1, of which nothing is kept.
    Whole(Incoming),
    Shared(Kept),
}

/// The body of a request that is shared with its response.
pub(crate) type Kept = Arc<Mutex<Incoming>>;

impl Request {
    /// Returns the body, and what its response keeps of it.
    pub(crate) fn new(body: Incoming, is_two: bool) -> (Self, Option<Kept>) {
        if !is_two {
            return (Self::Whole(body), None);
        }
        let shared = Arc::new(Mutex::new(body));
        (Self::Shared(Arc::clone(&shared)), Some(shared))
    }
}

fn locked(body: &Kept) -> MutexGuard<'_, Incoming> {
    body.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HttpBody for Request {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut *self {
            Self::Whole(body) => Pin::new(body).poll_frame(context),
            Self::Shared(body) => Pin::new(&mut *locked(body)).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Shared(body) => locked(body).is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Shared(body) => locked(body).size_hint(),
        }
    }
}
