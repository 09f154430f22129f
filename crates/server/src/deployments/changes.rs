//! Requests that change a deployment.

use std::time::Duration;

use http::header::{HeaderName, HeaderValue, LOCATION};
use krm_template_deployment_manager::model::Request;

use super::call::Call;
use super::shown;
use crate::codec;
use crate::http::response::{self, new, warn};
use crate::http::{Answer, JSON, YAML};
use crate::request::{Format, accept};
use krm_template_cluster::Prune;
use krm_template_server_core::{Details, Result, Status};
use krm_template_server_deployments::{
    ChangeKind, ChangeRequest, ChangeResult, Input, Problem, Started,
};

/// The share of the request timeout to wait for a change. The rest is for the timeout response.
const SHARE: u32 = 49;
const OF: u32 = 50;

const PREFER: HeaderName = HeaderName::from_static("prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Checks that the name in the body, if any, is the name in the path.
pub(super) fn check_name(input: &Input, name: &str) -> Result<()> {
    let Some(found) = input.name.as_ref().filter(|found| *found != name) else {
        return Ok(());
    };
    let message =
        format!("the name in the body ({found}) does not match the name in the URL ({name})");
    Err(Status::bad_request(message))
}

/// Starts a change. Waits for its result unless the client wants an asynchronous response.
pub(super) async fn make(
    call: &Call<'_>,
    name: &str,
    change: ChangeKind,
    request: Option<Request>,
) -> Result<Answer> {
    call.refuse_dry_run()?;
    let query = &call.incoming.query;
    let prune = match query.text("prune") {
        "" => Prune::Default,
        "all" => Prune::All,
        _ => return Err(Status::bad_request("prune must be 'all'")),
    };
    let wanted =
        ChangeRequest { change, request, prune, abandon: query.flag("abandon") == Some(true) };
    let target = call.target(name);
    let started = call.state.deployments.start(call.user, &target, wanted);
    let Started { operation, done } = started.await?;
    let prefers = prefers_async(call);
    if prefers || query.flag("async") == Some(true) {
        let mut answer = call.shown(202, shown::begun(&operation)).await;
        locate(&mut answer, &operation);
        if prefers {
            let applied = HeaderValue::from_static("respond-async");
            answer.headers_mut().insert(PREFERENCE_APPLIED, applied);
        }
        return Ok(answer);
    }
    let limit = call.state.limits.request_timeout;
    let ended = match tokio::time::timeout(limit * SHARE / OF, done).await {
        Ok(Ok(ended)) => ended,
        Ok(Err(_)) => Err(Status::internal("the operation ended without a result").into()),
        Err(_) => return Err(goes_on(&operation, limit)),
    };
    let code = if change == ChangeKind::Create { 201 } else { 200 };
    let mut answer = match ended {
        Ok(ChangeResult { deployment, manifest, warnings, message }) => {
            let json = shown::deployment(&deployment, &message, Some(&manifest));
            let mut answer = call.shown(code, json).await;
            warn(&mut answer, &warnings);
            answer
        }
        Err(problem) => refused(call, &problem),
    };
    locate(&mut answer, &operation);
    Ok(answer)
}

/// Returns `true` if the client prefers an asynchronous response (RFC 7240).
fn prefers_async(call: &Call<'_>) -> bool {
    let all = call.incoming.headers.get_all(PREFER).iter();
    all.filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|preference| preference.split(';').next())
        .any(|preference| preference.trim().eq_ignore_ascii_case("respond-async"))
}

/// Sets the `Location` header to the operation.
fn locate(answer: &mut Answer, operation: &str) {
    if let Ok(value) = HeaderValue::from_str(&format!("/operations/{operation}")) {
        answer.headers_mut().insert(LOCATION, value);
    }
}

/// Returns the 504 error for a change that takes longer than the request timeout.
fn goes_on(operation: &str, limit: Duration) -> Box<Status> {
    let message = format!(
        "Timeout: the change did not complete within {} s; it continues as /operations/{operation}",
        limit.as_secs_f64()
    );
    Status::new(504, "Timeout", message).with(Details::default())
}

/// Creates the response to a failed change. Its error may come from a cluster.
fn refused(call: &Call<'_>, problem: &Problem) -> Answer {
    let incoming = call.incoming;
    let json = problem.status.to_string();
    let accepted = accept::of_error(incoming.header(http::header::ACCEPT));
    let is_pretty = incoming.shown().pretty;
    match accepted {
        Some(Format::Yaml) => new(problem.code, YAML, codec::yaml(json.as_bytes())),
        Some(Format::Json) if !is_pretty => new(problem.code, JSON, json + "\n"),
        _ => response::raw_json(problem.code, &problem.status),
    }
}
