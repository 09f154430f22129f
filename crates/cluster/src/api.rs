//! Requests to a cluster, and its responses.

use std::time::Duration;

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Limited};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::caller::Caller;
use super::failure::Refusal;
use krm_template_server_core::Status;

/// The maximum size of a response in bytes.
const MAX_BYTES: usize = 8 << 20;

/// The maximum number of attempts to send a request.
const TRIES: u32 = 5;

/// The longest `Retry-After` that is honored. A longer one ends the retries.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// The path that names the user of a request. It only reads.
const SELF_REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    pub(super) method: &'a Method,
    /// The path with the query, from the root of the cluster's URL.
    pub(super) path: &'a str,
    pub(super) content_type: &'static str,
    pub(super) body: &'a str,
}

impl<'a> Ask<'a> {
    pub(super) const fn get(path: &'a str) -> Self {
        Self { method: &Method::GET, path, content_type: "application/json", body: "" }
    }
}

/// The outcome of one attempt.
enum Outcome {
    Answered { code: StatusCode, body: Value, retry_after: Option<Duration> },
    Lost,
}

/// The API of a cluster.
pub(super) struct Api {
    pub(super) client: Client,
    /// The timeout of one response.
    pub(super) timeout: Duration,
    /// The delay before the first retry of a read.
    pub(super) pause: Duration,
}

impl Api {
    /// Sends a request, on behalf of the caller if there is one. Retries if the cluster asks for
    /// it, or if a read gets no response.
    pub(super) async fn send(
        &self,
        caller: Option<&Caller>,
        ask: Ask<'_>,
    ) -> Result<Value, Refusal> {
        let is_read = ask.method == Method::GET || ask.path == SELF_REVIEWS;
        let mut pause = self.pause;
        let mut tries = 1;
        loop {
            let outcome = self.once(caller, ask).await?;
            let again = match &outcome {
                Outcome::Answered { retry_after, .. } => *retry_after,
                Outcome::Lost => is_read.then_some(pause),
            };
            match again {
                Some(again) if tries < TRIES && again <= MAX_PAUSE => {
                    tries += 1;
                    pause *= 2;
                    sleep(again).await;
                }
                _ => return outcome.result(is_read),
            }
        }
    }

    /// Reads an object. Returns `None` if it does not exist.
    pub(super) async fn find(
        &self,
        caller: Option<&Caller>,
        path: &str,
    ) -> Result<Option<Value>, Refusal> {
        match self.send(caller, Ask::get(path)).await {
            Ok(found) => Ok(Some(found)),
            Err(refusal) if refusal.code == 404 => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    /// Returns the name of the server's own account; `None` if the cluster is too old to tell it.
    pub(super) async fn own_name(&self) -> Result<Option<String>, Refusal> {
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let ask =
            Ask { method: &Method::POST, body: &review.to_string(), ..Ask::get(SELF_REVIEWS) };
        match self.send(None, ask).await {
            Ok(review) => Ok(review
                .pointer("/status/userInfo/username")
                .and_then(Value::as_str)
                .map(str::to_owned)),
            Err(refusal) if refusal.code == 404 => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    async fn once(&self, caller: Option<&Caller>, ask: Ask<'_>) -> Result<Outcome, Refusal> {
        let mut request = Request::builder()
            .method(ask.method)
            .uri(ask.path)
            .header(CONTENT_TYPE, ask.content_type);
        for (name, value) in caller.map(Caller::headers).unwrap_or_default() {
            request = request.header(name, value);
        }
        let request = request.body(Body::from(ask.body.as_bytes().to_vec())).map_err(|_| {
            Status::bad_request("the name of the object is not a valid path segment")
        })?;
        let answer = async {
            let response = self.client.send(request).await.ok()?;
            let code = response.status();
            let again = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
            let retry_after = response.headers().get(RETRY_AFTER);
            let retry_after = retry_after.filter(|_| again.contains(&code));
            let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
            let body = Limited::new(response.into_body(), MAX_BYTES).collect();
            let body = body.await.ok()?.to_bytes();
            Some(Outcome::Answered {
                code,
                body: serde_json::from_slice(&body).unwrap_or_default(),
                retry_after: retry_after.map(Duration::from_secs),
            })
        };
        let answer = timeout(self.timeout, answer).await.ok().flatten();
        Ok(answer.unwrap_or(Outcome::Lost))
    }
}

impl Outcome {
    fn result(self, is_read: bool) -> Result<Value, Refusal> {
        match self {
            Self::Answered { code, body, .. } if code.is_success() => Ok(body),
            Self::Answered { code, body, .. } => {
                let refusal = Refusal::of(code.as_u16(), body);
                if is_read || !code.is_server_error() {
                    return Err(refusal);
                }
                Err(refusal.unclear())
            }
            Self::Lost if is_read => {
                Err(Status::unavailable("the cluster does not answer; try again").into())
            }
            Self::Lost => {
                let refusal = Refusal::from(Status::unavailable(
                    "the cluster does not answer, so the change may or may not be complete; run it \
                     again to complete it",
                ));
                Err(refusal.unclear())
            }
        }
    }
}

/// Serializes an object as JSON that is also YAML of the same value: it escapes characters that
/// YAML reads as line breaks or refuses.
pub(super) fn yaml_safe(object: &Value) -> String {
    let text = object.to_string();
    let is_unsafe = |c: char| {
        matches!(
            c,
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
    };
    if !text.contains(is_unsafe) {
        return text;
    }
    text.chars()
        .map(|c| if is_unsafe(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_yaml_reads_differently_are_escaped() {
        let object = json!({"a\u{85}": "\u{7f}\u{2028}\u{feff}ä😀\n"});
        let text = yaml_safe(&object);
        assert_eq!(text, r#"{"a\u0085":"\u007f\u2028\ufeffä😀\n"}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), object);
    }
}
