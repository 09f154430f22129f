//! Reads request bodies, with a maximum size and a timeout.

use std::pin::{Pin, pin};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time;

use crate::status::{Details, Result, Status};

/// How long the rest of a body that is too large is drained.
///
/// Source: `rstAvoidanceDelay` of Go's `net/http`.
const DRAIN: Duration = Duration::from_millis(500);

/// Reads a body of at most `max` bytes that arrives within `limit`.
///
/// If a body is too large, up to `max` further bytes are drained: closing the connection while the
/// client still sends would reset it, and the client may never see the response. A body that
/// announces an even larger size is rejected at once.
///
/// # Errors
///
/// - 413 if the body is too large.
/// - 408 if it does not arrive in time.
/// - 400 if it ends early or is not framed correctly.
///
/// An error may leave a part of the body unread, so the connection cannot be reused.
pub async fn read(
    body: impl Body<Error: std::error::Error + Send + Sync + 'static>,
    max: usize,
    limit: Duration,
) -> Result<Bytes> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut body = pin!(body);
    if announced > max {
        if announced / 2 <= max {
            drain(body, max.saturating_mul(2)).await;
        }
        return Err(too_large(max));
    }
    let whole = Limited::new(body.as_mut(), max).collect();
    match time::timeout(limit, whole).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            drain(body, max).await;
            Err(too_large(max))
        }
        Ok(Err(_)) => Err(Status::bad_request("the body of the request is not complete")),
        Err(_) => Err(too_slow()),
    }
}

/// Drains at most `most` bytes, for at most [`DRAIN`].
async fn drain<B: Body>(mut body: Pin<&mut B>, mut most: usize) {
    let dropped = async {
        while let Some(Ok(frame)) = body.frame().await {
            let bytes = frame.data_ref().map_or(0, Buf::remaining);
            let Some(left) = most.checked_sub(bytes) else {
                return;
            };
            most = left;
        }
    };
    // A timeout does not change the response.
    let _ = time::timeout(DRAIN, dropped).await;
}

/// Returns 413 for a body of more than `max` bytes.
pub fn too_large(max: usize) -> Box<Status> {
    Status::new(413, "RequestEntityTooLarge", format!("Request entity too large: limit is {max}"))
}

fn too_slow() -> Box<Status> {
    Status::new(408, "Timeout", "Timeout: the body of the request did not arrive in time")
        .with(Details::default())
}

#[cfg(test)]
mod tests {
    use std::io;

    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::{Full, StreamBody};

    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    fn chunks(parts: Vec<io::Result<&'static str>>) -> impl Body<Data = Bytes, Error = io::Error> {
        StreamBody::new(stream::iter(
            parts.into_iter().map(|part| part.map(|text| Frame::data(Bytes::from(text)))),
        ))
    }

    #[tokio::test]
    async fn a_body_may_be_as_large_as_the_limit() {
        assert_eq!(read(Full::<Bytes>::from("1234"), 4, LONG).await, Ok(Bytes::from("1234")));
        assert_eq!(read(chunks(vec![Ok("12"), Ok("34")]), 4, LONG).await, Ok(Bytes::from("1234")));
    }

    #[tokio::test]
    async fn a_larger_one_is_refused_with_the_text_of_kubernetes() {
        let expected =
            Status::new(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728");
        let announced = Full::<Bytes>::from(vec![b'x'; 3_145_729]);
        assert_eq!(read(announced, 3_145_728, LONG).await, Err(expected.clone()));
        assert_eq!(too_large(3_145_728), expected);
        let status = read(chunks(vec![Ok("12"), Ok("345")]), 4, LONG).await;
        assert_eq!(status, Err(too_large(4)));
    }

    /// Returns how many of `parts` are read if the body announces `announced` bytes and may have 4.
    async fn parts_read(parts: usize, announced: u64) -> usize {
        let mut read_parts = 0;
        let counted = stream::iter((0..parts).map(|_| {
            read_parts += 1;
            Ok::<_, io::Error>(Frame::data(Bytes::from("123")))
        }));
        let body = Announced(StreamBody::new(counted), announced);
        assert_eq!(read(body, 4, LONG).await, Err(too_large(4)));
        read_parts
    }

    #[tokio::test]
    async fn the_rest_of_a_body_that_is_too_large_is_dropped_up_to_the_limit() {
        assert_eq!(parts_read(2, 6).await, 2);
        assert_eq!(parts_read(9, 0).await, 4);
        assert_eq!(parts_read(9, 27).await, 0);
    }

    /// A body that announces its size.
    struct Announced<B>(B, u64);

    impl<B: Body + Unpin> Body for Announced<B> {
        type Data = B::Data;
        type Error = B::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<Frame<B::Data>, B::Error>>> {
            Pin::new(&mut self.0).poll_frame(context)
        }

        fn size_hint(&self) -> http_body::SizeHint {
            let mut hint = http_body::SizeHint::new();
            hint.set_lower(self.1);
            hint
        }
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_a_bad_request() {
        let broken = chunks(vec![Ok("12"), Err(io::ErrorKind::UnexpectedEof.into())]);
        let status = read(broken, 4, LONG).await;
        assert_eq!(status, Err(Status::bad_request("the body of the request is not complete")));
    }

    #[tokio::test]
    async fn a_body_that_never_comes_is_given_up() {
        let silent =
            StreamBody::new(stream::pending::<Result<Frame<Bytes>, std::convert::Infallible>>());
        let status = read(silent, 4, Duration::from_millis(1)).await;
        assert_eq!(status.map_err(|status| status.code), Err(408));
    }
}
