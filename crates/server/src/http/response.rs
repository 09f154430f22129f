//! Responses: bodies, media types, warnings.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WARNING,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{Response, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use indexmap::IndexSet;
use serde_json::Value;

use crate::codec;
use crate::request::Format;
use krm_template_server_core::{Permit, Status};

/// The body of a response: a document, the pages of a list, or the events of a watch. An error ends
/// the connection, so that the client notices that the rest is missing.
pub type Body = UnsyncBoxBody<Bytes, io::Error>;

pub(crate) type Answer = Response<Body>;

/// The media type of JSON.
pub(crate) const JSON: &str = "application/json";

/// The media type of YAML.
pub(crate) const YAML: &str = "application/yaml";

/// The maximum number of `Warning` headers of a response.
const MAX_WARNINGS: usize = 20;

/// The maximum length of all `Warning` headers of a response, in bytes. If there are more, each
/// warning is cut to [`CUT_WARNING_CHARS`].
///
/// Source: `truncateAtTotalRunes` and `truncateItemRunes` of
/// `k8s.io/apiserver/pkg/endpoints/filters`, which count characters.
const WARNINGS_BYTES: usize = 4_096;
const CUT_WARNING_CHARS: usize = 256;

/// The size of the pieces in which a large body is sent, in bytes.
const PIECE: usize = 64 << 10;

/// Creates a response with a body and its media type.
pub(crate) fn new(code: u16, content_type: &str, body: impl Into<Bytes>) -> Answer {
    with_body(code, content_type, full(body))
}

/// Creates a body that is not a stream.
pub(crate) fn full(body: impl Into<Bytes>) -> Body {
    let body = Full::new(body.into());
    body.map_err(|never| match never {}).boxed_unsync()
}

/// Creates the response to HEAD: hyper sends the body over HTTP/2, which clients reject.
pub(crate) fn without_body(answer: Answer) -> Answer {
    let (mut parts, body) = answer.into_parts();
    if let Some(length) = body.size_hint().exact() {
        parts.headers.insert(CONTENT_LENGTH, length.into());
    }
    Response::from_parts(parts, full(Bytes::new()))
}

/// Keeps the permit of a request until the client has taken its response, except for the last
/// [`PIECE`].
pub(crate) fn held(answer: Answer, permit: Permit) -> Answer {
    let length = answer.body().size_hint().exact();
    if length.is_some_and(|length| length <= PIECE as u64) {
        return answer;
    }
    answer.map(|body| {
        let held = Held { body, rest: Bytes::new(), _permit: permit };
        held.boxed_unsync()
    })
}

/// A body in pieces. hyper takes the next piece when the client has taken most of the last one.
struct Held {
    body: Body,
    /// The rest of the last frame.
    rest: Bytes,
    _permit: Permit,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.rest.is_empty() {
            let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                // No body has trailers.
                Some(Ok(Err(_))) | None => return Poll::Ready(None),
            }
        }
        let length = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (of_body, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(of_body.lower() + rest);
        if let Some(upper) = of_body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

/// Creates a response with a body that may be a stream.
pub(crate) fn with_body(code: u16, content_type: &str, body: Body) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = answer.headers_mut();
    if let Ok(value) = HeaderValue::from_str(content_type)
        && !content_type.is_empty()
    {
        headers.insert(CONTENT_TYPE, value);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

/// Creates a response with a JSON document.
pub(crate) fn json(code: u16, document: &Value) -> Answer {
    let mut text = document.to_string();
    text.push('\n');
    new(code, JSON, text)
}

/// Creates a response with an indented JSON document, without a line feed at the end.
///
/// Source: `WriteRawJSON` of `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters`.
pub(crate) fn raw_json(code: u16, document: &Value) -> Answer {
    new(code, JSON, format!("{document:#}"))
}

/// Creates an error response. Without a format that the client accepts, it is raw JSON.
pub(crate) fn status(status: &Status, format: Option<Format>, is_pretty: bool) -> Answer {
    let object = status.object();
    let mut answer = match format {
        None => raw_json(status.code, &object),
        Some(Format::Yaml) => new(status.code, YAML, codec::yaml(object.to_string().as_bytes())),
        Some(Format::Json) if is_pretty => new(status.code, JSON, format!("{object:#}\n")),
        Some(Format::Json) => json(status.code, &object),
    };
    let headers = answer.headers_mut();
    let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    if seconds > 0 {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if status.code == 401 {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    answer
}

/// Adds `Warning` headers in the form of Kubernetes, `299 - "TEXT"`, without duplicates. The last
/// one says how many are left out.
pub(crate) fn warn(answer: &mut Answer, warnings: &[String]) {
    let warnings: IndexSet<&String> = warnings.iter().collect();
    if warnings.len() <= MAX_WARNINGS {
        let whole = warnings.iter();
        let whole = whole.map(|warning| warning_value(warning, usize::MAX));
        let whole: Vec<String> = whole.collect();
        if whole.iter().map(String::len).sum::<usize>() <= WARNINGS_BYTES {
            return whole.iter().for_each(|value| add_warning(answer, value));
        }
    }
    let left_out = |shown: usize| {
        let count = warnings.len().saturating_sub(shown);
        warning_value(&format!("{count} more warnings are not shown"), usize::MAX)
    };
    let mut free = WARNINGS_BYTES.saturating_sub(left_out(0).len());
    let mut shown = 0;
    for warning in warnings.iter().take(MAX_WARNINGS - 1) {
        let value = warning_value(warning, CUT_WARNING_CHARS);
        let Some(rest) = free.checked_sub(value.len()) else {
            break;
        };
        free = rest;
        shown += 1;
        add_warning(answer, &value);
    }
    if shown < warnings.len() {
        add_warning(answer, &left_out(shown));
    }
}

/// Returns the value of a `Warning` header with at most `chars` characters of a text.
fn warning_value(warning: &str, chars: usize) -> String {
    let mut text = String::with_capacity(warning.len().min(WARNINGS_BYTES) + 16);
    text.push_str("299 - \"");
    for c in warning.chars().take(chars) {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

fn add_warning(answer: &mut Answer, value: &str) {
    if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
        answer.headers_mut().append(WARNING, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(warnings: &[String]) -> Vec<String> {
        let mut answer = new(200, JSON, "");
        warn(&mut answer, warnings);
        let values = answer.headers().get_all(WARNING).iter();
        values.map(|value| String::from_utf8(value.as_bytes().to_vec()).unwrap()).collect()
    }

    #[test]
    fn warnings_are_quoted_strings_in_utf8() {
        let warnings = ["a \"b\" \\ c", "größer\n2", "größer\n2"].map(str::to_owned);
        assert_eq!(warned(&warnings), [r#"299 - "a \"b\" \\ c""#, r#"299 - "größer 2""#]);
    }

    #[test]
    fn many_warnings_are_cut_and_counted() {
        let whole = "ü".repeat(2_000);
        assert_eq!(warned(std::slice::from_ref(&whole)), [format!("299 - \"{whole}\"")]);
        let longer = warned(&["x".repeat(5_000)]);
        assert_eq!(longer, [format!("299 - \"{}\"", "x".repeat(256))]);

        for (length, count) in [(1, 19), (300, 7)] {
            let many = (0..100).map(|n| format!("{n:03}{}", "ü".repeat(length)));
            let many: Vec<String> = many.collect();
            let found = warned(&many);
            let bytes: usize = found.iter().map(String::len).sum();
            assert!(found.len() <= 20 && bytes <= 4_096, "{found:?}");
            let (last, shown) = found.split_last().unwrap();
            assert_eq!(shown.len(), count);
            let left_out = 100 - shown.len();
            assert_eq!(*last, format!("299 - \"{left_out} more warnings are not shown\""));
        }
        let twenty: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        assert_eq!(warned(&twenty).len(), 20);
    }
}
