//! Gets objects with an installed kubectl.

use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Source;

/// The kinds of most applications, all of them Kubernetes' own.
pub(super) const KINDS: &str = "deployments.apps,statefulsets.apps,daemonsets.apps,cronjobs.batch,\
jobs.batch,pods,services,ingresses.networking.k8s.io,networkpolicies.networking.k8s.io,configmaps,\
secrets,persistentvolumeclaims,serviceaccounts,roles.rbac.authorization.k8s.io,\
rolebindings.rbac.authorization.k8s.io,horizontalpodautoscalers.autoscaling,\
poddisruptionbudgets.policy";

/// The query for kubectl.
pub(super) struct Query<'q> {
    pub(super) kinds: &'q str,
    pub(super) context: Option<&'q str>,
    pub(super) namespace: Option<&'q str>,
    pub(super) selector: Option<&'q str>,
}

/// The objects as a List.
pub(super) fn get(query: &Query<'_>) -> Result<Arc<Source>> {
    let mut command = Command::new("kubectl");
    // Managed fields tell which ports somebody chose.
    command.args(["get", query.kinds, "-o", "json", "--show-managed-fields"]);
    let options = [
        ("--context", query.context),
        ("--namespace", query.namespace),
        ("--selector", query.selector),
    ];
    for (option, value) in options {
        command.args(value.map(|value| format!("{option}={value}")));
    }
    let output = command.stdin(Stdio::null()).output().map_err(|error| {
        let missing = error.kind() == ErrorKind::NotFound;
        let problem = if missing {
            "program `kubectl` not found".to_owned()
        } else {
            format!("`kubectl` cannot be run: {error}")
        };
        Diagnostic::error(problem)
            .hint("install it, or give a file with what `kubectl get -o json` printed elsewhere")
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let problem = format!("`kubectl get` failed: {}", said.trim());
        return Err(Diagnostic::error(problem)
            .hint("check the context, the namespace and the kinds; `krm-template export` passes them to kubectl")
            .into());
    }
    krm_yaml::decode("kubectl", output.stdout)
}
