//! The version of the server, as `/version` reports it.

use serde_json::{Value, json};

/// The minor version of Kubernetes 1 whose API the server implements. kubectl warns if its own
/// minor version differs by more than one.
const MINOR: &str = "33";

/// Returns the document at `/version`: `Info` of `k8s.io/apimachinery/pkg/version`.
pub(crate) fn document() -> Value {
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
