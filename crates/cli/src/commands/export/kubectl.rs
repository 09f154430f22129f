//! Gets objects with an installed kubectl.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use krm_template_exec::interruption::Interruption;
use krm_template_exec::subprocess::{self, Failure, Limits, said, unsuccessful};
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Source;

/// The kinds of most applications, all of them Kubernetes' own.
pub(super) const KINDS: &str = "deployments.apps,statefulsets.apps,daemonsets.apps,cronjobs.batch,\
jobs.batch,pods,services,ingresses.networking.k8s.io,networkpolicies.networking.k8s.io,configmaps,\
secrets,persistentvolumeclaims,serviceaccounts,roles.rbac.authorization.k8s.io,\
rolebindings.rbac.authorization.k8s.io,horizontalpodautoscalers.autoscaling,\
poddisruptionbudgets.policy";

/// The time of a kubectl that logs in first, and of a list of many thousand objects.
const LIMITS: Limits = Limits { time: Duration::from_mins(5), output: 256 << 20 };

/// The kubectl on the `PATH`.
pub(super) struct Kubectl<'k> {
    program: &'k str,
    limits: Limits,
    interruption: &'k Interruption,
}

/// Arguments of one `kubectl get`.
pub(super) struct Query<'q> {
    pub(super) kinds: &'q str,
    pub(super) context: Option<&'q str>,
    pub(super) namespace: Option<&'q str>,
    pub(super) selector: Option<&'q str>,
}

impl<'k> Kubectl<'k> {
    pub(super) const fn new(interruption: &'k Interruption) -> Self {
        Self { program: "kubectl", limits: LIMITS, interruption }
    }

    /// The objects as a List, and what kubectl wrote to standard error.
    pub(super) fn get(&self, query: &Query<'_>) -> Result<(Arc<Source>, Option<String>)> {
        let mut command = Command::new(self.program);
        // Managed fields tell which ports somebody chose.
        command.args(["get", "--output=json", "--show-managed-fields"]);
        let options = [
            ("--context", query.context),
            ("--namespace", query.namespace),
            ("--selector", query.selector),
        ];
        for (option, value) in options {
            command.args(value.map(|value| format!("{option}={value}")));
        }
        command.args(["--", query.kinds]);
        let ended = subprocess::run(&mut command, String::new(), self.limits, self.interruption);
        let ended = ended.map_err(|failure| self.failure(&failure))?;
        if !ended.status.success() {
            return Err(unsuccessful("kubectl get", &ended)
                .hint("check the context and the namespace, and name only kinds that exist and that you may read, as in `--from-cluster deployments,services`")
                .into());
        }
        let source = krm_yaml::decode("kubectl", ended.stdout)?;
        Ok((source, said(&ended.stderr)))
    }

    fn failure(&self, failure: &Failure) -> Diagnostic {
        let hint = match failure {
            Failure::Missing | Failure::System(_) => {
                Some("install it, or give a file with what `kubectl get -o json` printed elsewhere")
            }
            Failure::TimedOut(_) => {
                Some("to see whether the cluster answers, run `kubectl version`")
            }
            Failure::TooMuch => Some("export one namespace at a time with `-n`, or fewer kinds"),
            Failure::Interrupted => None,
        };
        failure.diagnostic("kubectl", self.limits).maybe_hint(hint.map(str::to_owned))
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use super::{Kubectl, LIMITS, Limits, Query};
    use krm_template_exec::interruption::Interruption;

    /// The error of a kubectl that is this shell script, with a limit.
    fn error(script: &str, limits: Limits) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubectl");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let interruption = Interruption::listen();
        let kubectl =
            Kubectl { program: path.to_str().unwrap(), limits, interruption: &interruption };
        let query = Query { kinds: "secrets", context: None, namespace: None, selector: None };
        let error = kubectl.get(&query).map(|_| ()).unwrap_err();
        format!("{}\n{}", error.message, error.hints.join("\n"))
    }

    #[test]
    fn a_program_that_hangs_is_stopped() {
        let limits = Limits { time: Duration::from_secs(1), ..LIMITS };
        let error = error("echo waiting >&2; sleep 600", limits);
        let expected = "`kubectl` ran for more than 1 s and was stopped\n\
                        it wrote to standard error:\nwaiting\n\
                        to see whether the cluster answers, run `kubectl version`";
        assert_eq!(error, expected);
    }

    #[test]
    fn a_program_that_prints_too_much_is_stopped() {
        let limits = Limits { output: 1 << 20, ..LIMITS };
        let error = error("head -c 1048577 /dev/zero; sleep 600", limits);
        let expected = "`kubectl` wrote more than 1 MiB to standard output and was stopped\n\
                        export one namespace at a time with `-n`, or fewer kinds";
        assert_eq!(error, expected);
    }
}
