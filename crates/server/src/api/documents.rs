//! Non-resource requests: discovery, `OpenAPI`, version, health, metrics.

use http::Method;
use http::header::{ACCEPT, IF_NONE_MATCH};
use serde_json::{Value, json};

use super::request_head::Incoming;
use super::state::State;
use super::{discovery, render};
use crate::http::{Answer, response};
use crate::request::{Discovery, Path, accept, resources};
use krm_template_server_core::telemetry::{health, metrics};
use krm_template_server_core::{Phase, Result, Status, reload};

/// The paths that `/` lists.
const PATHS: &[&str] = &[
    "/api",
    "/apis",
    "/apis/template.krm.dev",
    "/apis/template.krm.dev/v1alpha1",
    "/apis/template.openshift.io",
    "/apis/template.openshift.io/v1",
    "/deployments",
    "/expand",
    "/healthz",
    "/livez",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/processedtemplates",
    "/readyz",
    "/store/dump",
    "/templates",
    "/types",
    "/version",
    "/version/",
];

/// Handles a request for a document.
pub(crate) fn answer(state: &State, incoming: &Incoming) -> Result<Answer> {
    if matches!(incoming.path, Path::Deployments(_) | Path::Other(_)) {
        return Err(Status::no_such_path());
    }
    if !is_read(&incoming.method) {
        return Err(resources::not_allowed());
    }
    let accepted = incoming.header(ACCEPT);
    let if_none_match = incoming.header(IF_NONE_MATCH);
    match &incoming.path {
        Path::Root => Ok(response::raw_json(200, &json!({"paths": PATHS}))),
        Path::Version => Ok(response::raw_json(200, &version())),
        Path::Metrics => {
            let text = state.metrics.text();
            let text = text.map_err(|error| Status::internal(error.to_string()))?;
            Ok(response::new(200, metrics::CONTENT_TYPE, text))
        }
        Path::Api | Path::Apis => match accept::discovery(accepted)? {
            Discovery::Aggregated(version) => {
                let is_core = incoming.path == Path::Api;
                let reviews = state.is_standalone;
                let answer = discovery::aggregated(is_core, version, reviews, if_none_match);
                Ok(answer.map(response::full))
            }
            Discovery::Plain(_) => plain(state, incoming),
        },
        Path::OpenApiV3Index => Ok(state.documents.index().map(response::full)),
        Path::OpenApiV3(path) => {
            let hash = incoming.query.first("hash");
            let answer = state.documents.v3(path, hash, accepted, if_none_match);
            Ok(answer.map(response::full))
        }
        Path::OpenApiV2 => Ok(state.documents.v2(accepted, if_none_match).map(response::full)),
        Path::Group(_) | Path::GroupVersion(..) => plain(state, incoming),
        _ => Err(Status::no_such_path()),
    }
}

/// Responds with a list of groups, versions or resources.
fn plain(state: &State, incoming: &Incoming) -> Result<Answer> {
    let document = discovery::plain(&incoming.path, state.is_standalone);
    let document = document.ok_or_else(Status::no_such_path)?;
    Ok(shown(incoming, &document))
}

/// Responds with a Namespace. Namespaces need not be created, so each name exists.
pub(crate) fn namespace(incoming: &Incoming, name: &str) -> Answer {
    let metadata = json!({"name": name});
    shown(incoming, &json!({"kind": "Namespace", "apiVersion": "v1", "metadata": metadata}))
}

fn shown(incoming: &Incoming, document: &Value) -> Answer {
    let mut text = document.to_string().into_bytes();
    text.push(b'\n');
    render::finished(200, incoming.shown(), text)
}

/// Handles a health check with any method. It needs no authentication.
pub(crate) async fn health(
    state: &State,
    incoming: &Incoming,
    kind: health::Kind,
    check: Option<&str>,
) -> Result<Answer> {
    let mut results = vec![("ping", Ok(()))];
    if kind != health::Kind::Live {
        results.push(("store", state.store.ready().await.map_err(|error| error.to_string())));
        let authentication = state.authenticator.ready().map_err(str::to_owned);
        results.push(("authentication", authentication));
        results.push(("files", reload::ready(&state.files)));
    }
    if kind == health::Kind::Ready {
        let is_running = state.shutdown.phase() == Phase::Running;
        let shutdown =
            is_running.then_some(()).ok_or_else(|| "process is shutting down".to_owned());
        results.push(("shutdown", shutdown));
        if let Some(aggregation) = &state.aggregation {
            results.push(("apiservice", aggregation.api_service.ready()));
        }
    }
    let excluded: Vec<&str> = incoming.query.all("exclude").collect();
    let verbose = incoming.query.first("verbose").is_some();
    let (code, content_type, text) = health::answer(kind, check, verbose, &excluded, &results);
    Ok(response::new(code, content_type, text))
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// The minor version of Kubernetes 1 whose API the server implements. kubectl warns if its own
/// minor version differs by more than one.
const MINOR: &str = "33";

/// Returns the document at `/version`: `Info` of `k8s.io/apimachinery/pkg/version`.
fn version() -> Value {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    json!({
        "major": "1",
        "minor": MINOR,
        "gitVersion": format!("v1.{MINOR}.0+krm-template.{}", env!("CARGO_PKG_VERSION")),
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{arch}", std::env::consts::OS),
    })
}
