//! The fields of every object that the cluster or a tool sets.

use krm_yaml::Value;

/// Fields that every object loses, by their paths.
pub(crate) const FIELDS: &[&str] = &[
    "status",
    "metadata/uid",
    "metadata/resourceVersion",
    "metadata/generation",
    "metadata/creationTimestamp",
    "metadata/deletionTimestamp",
    "metadata/deletionGracePeriodSeconds",
    "metadata/selfLink",
    "metadata/managedFields",
    "metadata/ownerReferences",
    "metadata/clusterName",
];

/// Finalizers of the cluster's own controllers; others are reported when they are dropped.
pub(crate) const FINALIZERS: &[&str] = &[
    "foregroundDeletion",
    "orphan",
    "kubernetes",
    "kubernetes.io/pv-protection",
    "kubernetes.io/pvc-protection",
    "service.kubernetes.io/load-balancer-cleanup",
    "batch.kubernetes.io/job-tracking",
];

/// An annotation or label that is dropped. A key that ends with `*` is the beginning of a key.
pub(crate) struct Mark {
    pub(crate) key: &'static str,
    /// The only value that is dropped; any if empty.
    pub(crate) value: &'static str,
    /// The line of the report if it is dropped; none if empty.
    pub(crate) report: &'static str,
    /// Whether pod templates and selectors lose it, too.
    pub(crate) in_pods: bool,
}

const fn mark(key: &'static str) -> Mark {
    Mark { key, value: "", report: "", in_pods: false }
}

const fn in_pods(key: &'static str) -> Mark {
    Mark { in_pods: true, ..mark(key) }
}

const fn reported(key: &'static str, report: &'static str) -> Mark {
    Mark { report, ..mark(key) }
}

/// The annotation with the object as `kubectl apply` sent it. It holds the values of Secrets.
pub(crate) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The annotation of an object that elects a leader.
pub(crate) const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";

/// Annotations that every object loses. The report is that of the first one that fits.
pub(crate) const ANNOTATIONS: &[Mark] = &[
    mark(LAST_APPLIED),
    mark("deployment.kubernetes.io/revision"),
    in_pods("kubectl.kubernetes.io/restartedAt"),
    mark("openshift.io/generated-by"),
    mark(LEADER),
    mark("endpoints.kubernetes.io/last-change-trigger-time"),
    mark("field.cattle.io/*"),
    mark("meta.helm.sh/*"),
    reported(
        "helm.sh/hook*",
        "Helm ran this object as a hook; a Template creates it with the others",
    ),
    mark("helm.sh/*"),
    mark("argocd.argoproj.io/*"),
    mark("kustomize.toolkit.fluxcd.io/*"),
    mark("applyset.kubernetes.io/*"),
    mark("config.kubernetes.io/*"),
    mark("config.k8s.io/*"),
    mark("internal.config.kubernetes.io/*"),
    mark("template.krm.dev/instance"),
    mark("template.krm.dev/keep"),
    mark("template.krm.dev/origin"),
];

/// Labels that are dropped. A selector that has nothing else keeps them.
pub(crate) const LABELS: &[Mark] = &[
    Mark { value: "Helm", ..in_pods("app.kubernetes.io/managed-by") },
    in_pods("pod-template-hash"),
    in_pods("controller-revision-hash"),
    in_pods("controller-uid"),
    in_pods("batch.kubernetes.io/controller-uid"),
    mark("job-name"),
    mark("batch.kubernetes.io/job-name"),
    mark("statefulset.kubernetes.io/pod-name"),
    mark("apps.kubernetes.io/pod-index"),
    mark("kubernetes.io/metadata.name"),
    in_pods("template.openshift.io/template-instance-owner"),
    in_pods("template.krm.dev/instance-id"),
    in_pods("velero.io/*"),
];

/// The labels of the pods of a Job, by which it selects them.
pub(crate) const JOB_LABELS: &[Mark] = &[
    mark("controller-uid"),
    mark("batch.kubernetes.io/controller-uid"),
    mark("job-name"),
    mark("batch.kubernetes.io/job-name"),
];

impl Mark {
    /// Whether a key with a value is meant.
    #[inline]
    pub(crate) fn fits(&self, key: &str, value: &Value<'_>) -> bool {
        // Most keys begin with another letter.
        self.key.as_bytes().first() == key.as_bytes().first() && self.fits_closely(key, value)
    }

    #[inline(never)]
    fn fits_closely(&self, key: &str, value: &Value<'_>) -> bool {
        let is_key = match self.key.strip_suffix('*') {
            Some(start) => key.starts_with(start),
            None => key == self.key,
        };
        is_key && (self.value.is_empty() || value.as_str() == Some(self.value))
    }
}
