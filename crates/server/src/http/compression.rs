//! Compression of large responses with gzip.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue, VARY};
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt as _, StreamBody};

use super::response::Answer;

/// The minimum size of a compressed body, in bytes.
///
/// Source: `gzipContentEncoding` of `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters`.
const SMALLEST: u64 = 128 << 10;

/// The size from which compressed bytes are sent.
const PIECE: usize = 16 << 10;

/// Returns `true` if the client accepts gzip.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
            is_gzip
                && parts.all(|part| part.strip_prefix("q=").is_none_or(|q| q.parse() != Ok(0.0)))
        })
}

/// Marks a response that is not compressed because its client waits for each frame.
#[derive(Clone)]
pub(crate) struct Unbuffered;

/// Returns `true` for the response to a watch.
pub(crate) fn is_watch(answer: &Answer) -> bool {
    answer.extensions().get::<Unbuffered>().is_some()
}

/// Compresses a response if `is_wanted` is set and its body is large, piece by piece.
pub(crate) fn compressed(answer: Answer, is_wanted: bool) -> Answer {
    let length = answer.body().size_hint().exact();
    let is_large = length.is_none_or(|bytes| bytes >= SMALLEST);
    let is_encoded = answer.headers().contains_key(CONTENT_ENCODING);
    if !is_wanted || !is_large || is_encoded || is_watch(&answer) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let headers = &mut parts.headers;
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    let encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let pieces = stream::try_unfold((body, Some(encoder)), |(mut body, encoder)| async move {
        let Some(mut encoder) = encoder else {
            return Ok(None);
        };
        while encoder.get_ref().len() < PIECE {
            let Some(frame) = body.frame().await else {
                let last = Frame::data(Bytes::from(encoder.finish()?));
                return Ok(Some((last, (body, None))));
            };
            if let Ok(data) = frame?.into_data() {
                encoder.write_all(&data)?;
            }
        }
        let piece = Frame::data(Bytes::from(std::mem::take(encoder.get_mut())));
        Ok::<_, io::Error>(Some((piece, (body, Some(encoder)))))
    });
    http::Response::from_parts(parts, StreamBody::new(pieces).boxed_unsync())
}
