//! Entity tags of documents that only change with the program, and their responses.

use std::fmt::Write as _;

use bytes::Bytes;
use http::header::{self, HeaderName};
use http::{HeaderValue, Response, StatusCode};
use sha2::{Digest, Sha512};

/// Returns the SHA-512 hash of a document in uppercase hexadecimal digits.
pub(crate) fn of(document: &[u8]) -> String {
    Sha512::digest(document).iter().fold(String::with_capacity(128), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02X}");
        text
    })
}

/// Returns `true` if `If-None-Match` matches the entity tag (RFC 9110, section 13.1.2).
pub(crate) fn is_known(tag: &str, if_none_match: Option<&str>) -> bool {
    if_none_match.unwrap_or_default().split(',').map(str::trim).any(|known| {
        let known = known.strip_prefix("W/").unwrap_or(known);
        known == "*"
            || known.strip_prefix('"').and_then(|known| known.strip_suffix('"')) == Some(tag)
    })
}

/// Creates the response with a document, or 304 if the client has it.
pub(crate) fn tagged(
    hash: &str,
    body: Bytes,
    content_type: &str,
    caching: &str,
    if_none_match: Option<&str>,
) -> Response<Bytes> {
    let tag = format!("\"{hash}\"");
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, caching),
        (header::ETAG, tag.as_str()),
        (header::VARY, "Accept"),
    ];
    if is_known(hash, if_none_match) {
        return answer(StatusCode::NOT_MODIFIED, Bytes::new(), &headers[1..]);
    }
    answer(StatusCode::OK, body, &headers)
}

/// Creates a response with headers.
pub(crate) fn answer(
    code: StatusCode,
    body: Bytes,
    headers: &[(HeaderName, &str)],
) -> Response<Bytes> {
    let mut answer = Response::new(body);
    *answer.status_mut() = code;
    for (name, value) in headers {
        answer
            .headers_mut()
            .extend(HeaderValue::try_from(*value).ok().map(|value| (name.clone(), value)));
    }
    answer
}
