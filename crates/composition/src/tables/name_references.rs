//! The fields that name other objects.
//!
//! Source: kustomize 5.8, `api/internal/konfig/builtinpluginconsts/namereference.go`.

use krm_core::label_fields::{Field, field};

/// The fields that name an object of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The API group; empty for any.
    pub group: &'static str,
    /// The API version; empty for any.
    pub version: &'static str,
    /// The kind of the object that is referred to.
    pub kind: &'static str,
    /// The fields that hold its name.
    pub fields: &'static [Field],
}

const fn named(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    fields: &'static [Field],
) -> Named {
    Named { group, version, kind, fields }
}

/// A field that is never added.
const fn by(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: &'static str,
) -> Field {
    field(group, version, kind, path, false)
}

/// The fields of a pod that name a ConfigMap. `$pod` is the path of its specification.
#[rustfmt::skip]
macro_rules! config_maps {
    ($version:literal, $kind:literal, $pod:literal) => {
        named("", "v1", "ConfigMap", &[
            by("", $version, $kind, concat!($pod, "/volumes/configMap/name")),
            by("", $version, $kind, concat!($pod, "/containers/env/valueFrom/configMapKeyRef/name")),
            by("", $version, $kind, concat!($pod, "/initContainers/env/valueFrom/configMapKeyRef/name")),
            by("", $version, $kind, concat!($pod, "/containers/envFrom/configMapRef/name")),
            by("", $version, $kind, concat!($pod, "/initContainers/envFrom/configMapRef/name")),
            by("", $version, $kind, concat!($pod, "/volumes/projected/sources/configMap/name")),
        ])
    };
}

/// The fields of a pod that name a Secret, as [`config_maps`].
#[rustfmt::skip]
macro_rules! secrets {
    ($version:literal, $kind:literal, $pod:literal) => {
        named("", "v1", "Secret", &[
            by("", $version, $kind, concat!($pod, "/volumes/secret/secretName")),
            by("", $version, $kind, concat!($pod, "/containers/env/valueFrom/secretKeyRef/name")),
            by("", $version, $kind, concat!($pod, "/initContainers/env/valueFrom/secretKeyRef/name")),
            by("", $version, $kind, concat!($pod, "/containers/envFrom/secretRef/name")),
            by("", $version, $kind, concat!($pod, "/initContainers/envFrom/secretRef/name")),
            by("", $version, $kind, concat!($pod, "/imagePullSecrets/name")),
            by("", $version, $kind, concat!($pod, "/volumes/projected/sources/secret/name")),
        ])
    };
}

/// A field of all pods.
#[rustfmt::skip]
macro_rules! in_pods {
    ($field:literal) => {
        &[
            by("", "", "Pod", concat!("spec/", $field)),
            by("", "", "StatefulSet", concat!("spec/template/spec/", $field)),
            by("", "", "Deployment", concat!("spec/template/spec/", $field)),
            by("", "", "ReplicationController", concat!("spec/template/spec/", $field)),
            by("", "", "CronJob", concat!("spec/jobTemplate/spec/template/spec/", $field)),
            by("", "", "Job", concat!("spec/template/spec/", $field)),
            by("", "", "DaemonSet", concat!("spec/template/spec/", $field)),
        ]
    };
}

/// Each kind with fields that name it.
#[rustfmt::skip]
pub const NAME_REFERENCES: &[Named] = &[
    named("", "", "Deployment", &[
        by("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ]),
    named("", "", "ReplicationController", &[
        by("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ]),
    named("", "", "ReplicaSet", &[
        by("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ]),
    named("", "", "StatefulSet", &[
        by("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ]),
    config_maps!("v1", "Pod", "spec"),
    config_maps!("", "PodTemplate", "template/spec"),
    config_maps!("", "Deployment", "spec/template/spec"),
    config_maps!("", "ReplicaSet", "spec/template/spec"),
    config_maps!("", "DaemonSet", "spec/template/spec"),
    config_maps!("", "StatefulSet", "spec/template/spec"),
    config_maps!("", "Job", "spec/template/spec"),
    named("", "v1", "ConfigMap", &[
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/configMap/name"),
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/projected/sources/configMap/name"),
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/envFrom/configMapRef/name"),
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/envFrom/configMapRef/name"),
        by("", "", "Node", "spec/configSource/configMap"),
        by("", "", "Role", "rules/resourceNames"),
        by("", "", "ClusterRole", "rules/resourceNames"),
        by("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap"),
    ]),
    secrets!("v1", "Pod", "spec"),
    secrets!("", "PodTemplate", "template/spec"),
    secrets!("", "Deployment", "spec/template/spec"),
    secrets!("", "ReplicaSet", "spec/template/spec"),
    secrets!("", "DaemonSet", "spec/template/spec"),
    secrets!("", "StatefulSet", "spec/template/spec"),
    secrets!("", "Job", "spec/template/spec"),
    named("", "v1", "Secret", &[
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/secret/secretName"),
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/projected/sources/secret/name"),
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/envFrom/secretRef/name"),
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/envFrom/secretRef/name"),
        by("", "", "CronJob", "spec/jobTemplate/spec/template/spec/imagePullSecrets/name"),
        by("", "", "Ingress", "spec/tls/secretName"),
        by("", "", "Ingress", "metadata/annotations/ingress.kubernetes.io\\/auth-secret"),
        by("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret"),
        by("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret"),
        by("", "", "Ingress", "spec/tls/secretName"),
        by("", "", "ServiceAccount", "imagePullSecrets/name"),
        by("", "", "StorageClass", "parameters/secretName"),
        by("", "", "StorageClass", "parameters/adminSecretName"),
        by("", "", "StorageClass", "parameters/userSecretName"),
        by("", "", "StorageClass", "parameters/secretRef"),
        by("", "", "Role", "rules/resourceNames"),
        by("", "", "ClusterRole", "rules/resourceNames"),
        by("serving.knative.dev", "v1", "Service", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        by("", "", "PersistentVolume", "spec/azureFile/secretName"),
    ]),
    named("", "v1", "Service", &[
        by("apps", "", "StatefulSet", "spec/serviceName"),
        by("", "", "Ingress", "spec/rules/http/paths/backend/serviceName"),
        by("", "", "Ingress", "spec/backend/serviceName"),
        by("", "", "Ingress", "spec/rules/http/paths/backend/service/name"),
        by("", "", "Ingress", "spec/defaultBackend/service/name"),
        by("apiregistration.k8s.io", "", "APIService", "spec/service/name"),
        by("admissionregistration.k8s.io", "", "ValidatingWebhookConfiguration", "webhooks/clientConfig/service"),
        by("admissionregistration.k8s.io", "", "MutatingWebhookConfiguration", "webhooks/clientConfig/service"),
    ]),
    named("rbac.authorization.k8s.io", "", "Role", &[
        by("rbac.authorization.k8s.io", "", "RoleBinding", "roleRef/name"),
    ]),
    named("rbac.authorization.k8s.io", "", "ClusterRole", &[
        by("rbac.authorization.k8s.io", "", "RoleBinding", "roleRef/name"),
        by("rbac.authorization.k8s.io", "", "ClusterRoleBinding", "roleRef/name"),
    ]),
    named("", "v1", "ServiceAccount", &[
        by("rbac.authorization.k8s.io", "", "RoleBinding", "subjects"),
        by("rbac.authorization.k8s.io", "", "ClusterRoleBinding", "subjects"),
    ]),
    named("", "v1", "ServiceAccount", in_pods!("serviceAccountName")),
    named("", "v1", "PersistentVolumeClaim", in_pods!("volumes/persistentVolumeClaim/claimName")),
    named("", "v1", "PersistentVolume", &[
        by("", "", "PersistentVolumeClaim", "spec/volumeName"),
        by("", "", "ClusterRole", "rules/resourceNames"),
    ]),
    named("storage.k8s.io", "v1", "StorageClass", &[
        by("", "", "PersistentVolume", "spec/storageClassName"),
        by("", "", "PersistentVolumeClaim", "spec/storageClassName"),
        by("", "", "StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
    ]),
    named("scheduling.k8s.io", "v1", "PriorityClass", in_pods!("priorityClassName")),
    named("networking.k8s.io/v1", "v1", "IngressClass", &[
        by("", "", "Ingress", "spec/ingressClassName"),
    ]),
    named("admissionregistration.k8s.io", "", "ValidatingAdmissionPolicy", &[
        by("admissionregistration.k8s.io", "", "ValidatingAdmissionPolicyBinding", "spec/policyName"),
    ]),
];
