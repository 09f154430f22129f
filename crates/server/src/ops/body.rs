//! Reads the body of a request, up to a size and a time.

use std::time::Duration;

use bytes::Bytes;
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time;

use crate::status::{Details, Result, Status};

/// Reads a body of at most `max` bytes that arrives within `limit`.
///
/// A body that announces more is refused before any of it is read.
///
/// # Errors
///
/// - 413 if the body is too large.
/// - 408 if it does not arrive in time.
/// - 400 if it ends early or is not framed correctly.
///
/// Each of them leaves a part of the body unread, so the connection cannot be used again.
pub async fn read<B>(body: B, max: usize, limit: Duration) -> Result<Bytes>
where
    B: Body,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    if usize::try_from(body.size_hint().lower()).map_or(true, |announced| announced > max) {
        return Err(too_large(max));
    }
    let whole = Limited::new(body, max).collect();
    match time::timeout(limit, whole).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(max)),
        Ok(Err(_)) => Err(Status::bad_request(
            "the body of the request is not complete",
        )),
        Err(_) => Err(too_slow()),
    }
}

/// 413 for a body of more than `max` bytes.
#[must_use]
pub fn too_large(max: usize) -> Box<Status> {
    Status::new(
        413,
        "RequestEntityTooLarge",
        format!("Request entity too large: limit is {max}"),
    )
}

fn too_slow() -> Box<Status> {
    Status::new(
        408,
        "Timeout",
        "Timeout: the body of the request did not arrive in time",
    )
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
            parts
                .into_iter()
                .map(|part| part.map(|text| Frame::data(Bytes::from(text)))),
        ))
    }

    #[tokio::test]
    async fn a_body_may_be_as_large_as_the_limit() {
        assert_eq!(
            read(Full::<Bytes>::from("1234"), 4, LONG).await,
            Ok(Bytes::from("1234"))
        );
        assert_eq!(
            read(chunks(vec![Ok("12"), Ok("34")]), 4, LONG).await,
            Ok(Bytes::from("1234"))
        );
    }

    #[tokio::test]
    async fn a_larger_one_is_refused_with_the_text_of_kubernetes() {
        let expected = Status::new(
            413,
            "RequestEntityTooLarge",
            "Request entity too large: limit is 3145728",
        );
        let announced = Full::<Bytes>::from(vec![b'x'; 3_145_729]);
        assert_eq!(
            read(announced, 3_145_728, LONG).await,
            Err(expected.clone())
        );
        assert_eq!(too_large(3_145_728), expected);
        let status = read(chunks(vec![Ok("12"), Ok("345")]), 4, LONG).await;
        assert_eq!(status, Err(too_large(4)));
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_a_bad_request() {
        let broken = chunks(vec![Ok("12"), Err(io::ErrorKind::UnexpectedEof.into())]);
        let status = read(broken, 4, LONG).await;
        assert_eq!(
            status,
            Err(Status::bad_request(
                "the body of the request is not complete"
            ))
        );
    }

    #[tokio::test]
    async fn a_body_that_never_comes_is_given_up() {
        let silent = StreamBody::new(stream::pending::<
            Result<Frame<Bytes>, std::convert::Infallible>,
        >());
        let status = read(silent, 4, Duration::from_millis(1)).await;
        assert_eq!(status.map_err(|status| status.code), Err(408));
    }
}
