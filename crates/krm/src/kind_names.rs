//! The names of a kind on a command line, as `kubectl` accepts them.

use crate::kinds::{count, table};

/// The short names of kinds of Kubernetes and OpenShift.
static SHORT: [[&str; 2]; count("short")] = table("short");

/// Whether `asked` may mean the `kind` of an API `group`: `deployment`, `Deployments`, `deploy`,
/// `deployment.apps`, `deployments.v1.apps`.
pub fn is_called(asked: &str, kind: &str, group: &str) -> bool {
    let asked = asked.to_lowercase();
    let kind = kind.to_lowercase();
    let (name, asked_group) = match asked.split_once('.') {
        Some((name, group)) => (name, Some(group)),
        None => (asked.as_str(), None),
    };
    let is_short = || SHORT.contains(&[name, &kind]);
    let is_group = |asked: &str| {
        let after_version = asked.split_once('.').map(|(_, group)| group);
        asked == group || after_version == Some(group)
    };
    (name == kind || name == plural(&kind) || is_short()) && asked_group.is_none_or(is_group)
}

/// The plural of a kind in lower case, as Kubernetes forms it.
pub fn plural(kind: &str) -> String {
    let before_y = kind.strip_suffix('y');
    match before_y {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if kind == "endpoints" => kind.to_owned(),
        _ if ["s", "x", "ch", "sh"].iter().any(|end| kind.ends_with(end)) => format!("{kind}es"),
        _ => format!("{kind}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::is_called;

    #[track_caller]
    fn check(asked: &str, api: (&str, &str), expected: bool) {
        let (kind, group) = api;
        assert_eq!(is_called(asked, kind, group), expected, "{asked}");
    }

    #[test]
    fn a_kind_has_the_names_that_kubectl_knows() {
        let deployment = ("Deployment", "apps");
        for asked in [
            "deployment",
            "Deployment",
            "DEPLOYMENTS",
            "deploy",
            "deployment.apps",
            "deployments.v1.apps",
            "deploy.apps",
        ] {
            check(asked, deployment, true);
        }
        for asked in ["", "deploymen", "deployment.", "deployment.batch", "pod"] {
            check(asked, deployment, false);
        }
    }

    #[test]
    fn plurals_are_those_of_kubernetes() {
        check("networkpolicies", ("NetworkPolicy", "networking.k8s.io"), true);
        check("gateways", ("Gateway", "gateway.networking.k8s.io"), true);
        check("ingresses", ("Ingress", "networking.k8s.io"), true);
        check("endpoints", ("Endpoints", ""), true);
        check("services", ("Service", ""), true);
    }

    #[test]
    fn the_core_group_has_no_name() {
        check("service", ("Service", ""), true);
        check("service.v1", ("Service", ""), false);
        check("service.serving.knative.dev", ("Service", "serving.knative.dev"), true);
        check("service", ("Service", "serving.knative.dev"), true);
    }
}
