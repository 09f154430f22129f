//! Compression of large responses with gzip.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue, VARY};
use http_body::Body as _;
use http_body_util::BodyExt as _;

use super::answer::{self, Answer};

/// The minimum size of a compressed body, in bytes.
///
/// Source: `gzipContentEncoding` of `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters`.
const SMALLEST: u64 = 128 << 10;

/// Returns `true` if the client accepts gzip.
pub(super) fn is_accepted(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let is_gzip = parts
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
            is_gzip
                && parts.all(|part| part.strip_prefix("q=").is_none_or(|q| q.parse() != Ok(0.0)))
        })
}

/// Compresses a response if `is_wanted` is set and its body is large and not a stream.
pub(super) async fn compressed(answer: Answer, is_wanted: bool) -> Answer {
    let is_large = answer
        .body()
        .size_hint()
        .exact()
        .is_some_and(|bytes| bytes >= SMALLEST);
    if !is_wanted || !is_large || answer.headers().contains_key(CONTENT_ENCODING) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let body = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(never) => match never {},
    };
    let packed = tokio::task::spawn_blocking({
        let body = body.clone();
        move || {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&body).and_then(|()| encoder.finish())
        }
    })
    .await;
    let Ok(Ok(packed)) = packed else {
        return http::Response::from_parts(parts, answer::full(body));
    };
    parts
        .headers
        .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts
        .headers
        .append(VARY, HeaderValue::from_static("Accept-Encoding"));
    http::Response::from_parts(parts, answer::full(packed))
}
