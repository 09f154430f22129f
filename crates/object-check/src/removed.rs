//! Kinds and API versions that are not served: not any more, not yet, or misspelt.

use krm_core::visible::on_one_line;
use krm_yaml::suggest::closest;
use krm_yaml::{FieldPath, View};

use crate::finding::{Finding, Fix, Rule};
use crate::schema::Schema;

/// A removal: the API version, its kinds, the minor version since which it is not served, the
/// one to use, and what else to change.
const REMOVED: &[(&str, &str, u8, &str, &str)] = &[
    ("extensions/v1beta1", "Deployment", 16, "apps/v1", "`spec.selector` is required"),
    (
        "extensions/v1beta1",
        "DaemonSet",
        16,
        "apps/v1",
        "`spec.selector` is required, and there is no `spec.templateGeneration`",
    ),
    ("extensions/v1beta1", "ReplicaSet", 16, "apps/v1", "`spec.selector` is required"),
    ("extensions/v1beta1", "NetworkPolicy", 16, "networking.k8s.io/v1", ""),
    ("extensions/v1beta1", "PodSecurityPolicy", 16, "", "use Pod Security admission"),
    (
        "extensions/v1beta1",
        "Ingress",
        22,
        "networking.k8s.io/v1",
        "`backend` is `defaultBackend`, `serviceName` and `servicePort` are `service.name` and `service.port`, and `pathType` is required",
    ),
    (
        "apps/v1beta1",
        "Deployment",
        16,
        "apps/v1",
        "`spec.selector` is required, and there is no `spec.rollbackTo`",
    ),
    ("apps/v1beta1", "StatefulSet", 16, "apps/v1", "`spec.selector` is required"),
    ("apps/v1beta2", "Deployment", 16, "apps/v1", ""),
    ("apps/v1beta2", "StatefulSet", 16, "apps/v1", ""),
    ("apps/v1beta2", "DaemonSet", 16, "apps/v1", ""),
    ("apps/v1beta2", "ReplicaSet", 16, "apps/v1", ""),
    (
        "networking.k8s.io/v1beta1",
        "Ingress",
        22,
        "networking.k8s.io/v1",
        "`backend` is `defaultBackend`, `serviceName` and `servicePort` are `service.name` and `service.port`, and `pathType` is required",
    ),
    ("networking.k8s.io/v1beta1", "IngressClass", 22, "networking.k8s.io/v1", ""),
    ("rbac.authorization.k8s.io/v1beta1", "*", 22, "rbac.authorization.k8s.io/v1", ""),
    ("rbac.authorization.k8s.io/v1alpha1", "*", 22, "rbac.authorization.k8s.io/v1", ""),
    (
        "apiextensions.k8s.io/v1beta1",
        "CustomResourceDefinition",
        22,
        "apiextensions.k8s.io/v1",
        "each version has its own `schema`",
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        "MutatingWebhookConfiguration",
        22,
        "admissionregistration.k8s.io/v1",
        "`sideEffects` and `admissionReviewVersions` are required",
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        "ValidatingWebhookConfiguration",
        22,
        "admissionregistration.k8s.io/v1",
        "`sideEffects` and `admissionReviewVersions` are required",
    ),
    ("apiregistration.k8s.io/v1beta1", "APIService", 22, "apiregistration.k8s.io/v1", ""),
    (
        "certificates.k8s.io/v1beta1",
        "CertificateSigningRequest",
        22,
        "certificates.k8s.io/v1",
        "`signerName` and `usages` are required",
    ),
    ("coordination.k8s.io/v1beta1", "Lease", 22, "coordination.k8s.io/v1", ""),
    ("scheduling.k8s.io/v1beta1", "PriorityClass", 22, "scheduling.k8s.io/v1", ""),
    ("scheduling.k8s.io/v1alpha1", "PriorityClass", 17, "scheduling.k8s.io/v1", ""),
    ("storage.k8s.io/v1beta1", "CSIDriver", 22, "storage.k8s.io/v1", ""),
    ("storage.k8s.io/v1beta1", "CSINode", 22, "storage.k8s.io/v1", ""),
    ("storage.k8s.io/v1beta1", "StorageClass", 22, "storage.k8s.io/v1", ""),
    ("storage.k8s.io/v1beta1", "VolumeAttachment", 22, "storage.k8s.io/v1", ""),
    ("storage.k8s.io/v1beta1", "CSIStorageCapacity", 27, "storage.k8s.io/v1", ""),
    ("batch/v1beta1", "CronJob", 25, "batch/v1", ""),
    ("batch/v2alpha1", "CronJob", 21, "batch/v1", ""),
    (
        "discovery.k8s.io/v1beta1",
        "EndpointSlice",
        25,
        "discovery.k8s.io/v1",
        "`topology` is `nodeName` and `zone`",
    ),
    ("events.k8s.io/v1beta1", "Event", 25, "events.k8s.io/v1", ""),
    (
        "autoscaling/v2beta1",
        "HorizontalPodAutoscaler",
        25,
        "autoscaling/v2",
        "`targetAverageUtilization` is `target.averageUtilization`, with `target.type: Utilization`",
    ),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler", 26, "autoscaling/v2", ""),
    (
        "policy/v1beta1",
        "PodDisruptionBudget",
        25,
        "policy/v1",
        "an empty `spec.selector` selects all pods",
    ),
    ("policy/v1beta1", "PodSecurityPolicy", 25, "", "use Pod Security admission"),
    ("node.k8s.io/v1beta1", "RuntimeClass", 25, "node.k8s.io/v1", ""),
    (
        "node.k8s.io/v1alpha1",
        "RuntimeClass",
        22,
        "node.k8s.io/v1",
        "`spec.runtimeHandler` is `handler`",
    ),
    ("flowcontrol.apiserver.k8s.io/v1beta1", "*", 26, "flowcontrol.apiserver.k8s.io/v1", ""),
    ("flowcontrol.apiserver.k8s.io/v1beta2", "*", 29, "flowcontrol.apiserver.k8s.io/v1", ""),
    ("flowcontrol.apiserver.k8s.io/v1beta3", "*", 32, "flowcontrol.apiserver.k8s.io/v1", ""),
    (
        "admissionregistration.k8s.io/v1beta1",
        "ValidatingAdmissionPolicy",
        34,
        "admissionregistration.k8s.io/v1",
        "",
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        "ValidatingAdmissionPolicyBinding",
        34,
        "admissionregistration.k8s.io/v1",
        "",
    ),
];

/// The finding about an object whose kind is not served in a version; `None` if it is not known.
pub(crate) fn finding(
    object: View<'_>,
    api_version: &str,
    kind: &str,
    version: u8,
) -> Option<Finding> {
    let known = REMOVED.iter().find(|(api, name, since, ..)| {
        *api == api_version && (*name == kind || *name == "*") && version >= *since
    });
    let mut fix = None;
    let (message, hint) = if let Some((_, _, since, to, change)) = known {
        if change.is_empty() && !to.is_empty() {
            fix = Some(Fix { old: api_version.to_owned(), new: (*to).to_owned() });
        }
        let to = (!to.is_empty()).then(|| format!("use {to}"));
        let change = (!change.is_empty()).then(|| (*change).to_owned());
        let hint: Vec<String> = to.into_iter().chain(change).collect();
        (
            format!("{api_version} {kind} is not served since Kubernetes 1.{since}"),
            Some(hint.join("; ")),
        )
    } else {
        let schema = Schema::get();
        let Some(served) = schema.kind(api_version, kind) else {
            return misspelt(object, api_version, kind);
        };
        let range = if version < served.since {
            format!("before Kubernetes 1.{}", served.since)
        } else {
            format!("since Kubernetes 1.{}", served.until + 1)
        };
        (format!("{api_version} {kind} is not served {range}"), None)
    };
    let at = object.get("apiVersion").and_then(View::origin);
    Some(Finding {
        rule: Rule::RemovedApi,
        path: FieldPath::root().key("apiVersion"),
        origin: at.or_else(|| object.origin()),
        message,
        hint,
        fix,
    })
}

/// The finding about a kind that an API version does not have, if it is clear which is meant.
fn misspelt(object: View<'_>, api_version: &str, kind: &str) -> Option<Finding> {
    let kinds = || Schema::get().kinds();
    let own = || kinds().filter(|(api, _)| *api == api_version);
    own().next()?;
    // OpenShift's old kinds had no group.
    let mut elsewhere = kinds().filter(|(api, name)| *name == kind && !api.contains("beta"));
    let hint = match elsewhere.next() {
        Some((api, _)) if api.contains(".openshift.io") => return None,
        Some((api, _)) => format!("use {api}"),
        None => format!("did you mean `{}`?", closest(kind, own().map(|(_, name)| name))?),
    };
    let at = object.get("kind").and_then(View::origin);
    Some(Finding {
        rule: Rule::RemovedApi,
        path: FieldPath::root().key("kind"),
        origin: at.or_else(|| object.origin()),
        message: format!("{api_version} has no kind `{}`", on_one_line(kind)),
        hint: Some(hint),
        fix: None,
    })
}
