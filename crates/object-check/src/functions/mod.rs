//! Rules over several fields of an object, by the name of its definition.
#![expect(
    clippy::too_many_lines,
    clippy::float_cmp,
    clippy::items_after_statements,
    clippy::doc_markdown,
    reason = "a function goes through the fields of one kind, and few numbers are written exactly"
)]

mod access;
mod admission;
mod autoscaling;
mod cluster;
mod containers;
mod definitions;
mod metadata;
mod networking;
mod openshift;
mod pods;
mod services;
mod storage;
mod volumes;
mod workloads;

use std::sync::OnceLock;

use krm_yaml::View;

use crate::schema::Schema;
use crate::walk::Walk;

/// A rule over several fields.
type Function = for<'w, 'v> fn(&'w mut Walk<'v>, View<'v>);

/// Applies the rule of the definition with an index, if it has one.
pub(crate) fn apply<'v>(walk: &mut Walk<'v>, definition: usize, view: View<'v>) {
    static FUNCTIONS: OnceLock<Vec<Option<Function>>> = OnceLock::new();
    let functions = FUNCTIONS.get_or_init(|| Schema::get().names().map(function_of).collect());
    if let Some(function) = functions.get(definition).copied().flatten() {
        function(walk, view);
    }
}

/// The rule of a definition.
fn function_of(definition: &str) -> Option<Function> {
    Some(match definition {
        "meta.v1.ObjectMeta" => metadata::object_meta,
        "meta.v1.LabelSelector" => workloads::label_selector,
        "meta.v1.LabelSelectorRequirement" => workloads::selector_requirement,
        "apps.v1.DaemonSetSpec" | "apps.v1.ReplicaSetSpec" | "apps.v1.StatefulSetSpec" => {
            workloads::selected
        }
        "apps.v1.DeploymentSpec" => workloads::deployment,
        "batch.v1.JobSpec" => workloads::job,
        "batch.v1.CronJobSpec" => workloads::cron_job,
        "core.v1.ReplicationControllerSpec" => workloads::controller,
        "policy.v1.PodDisruptionBudgetSpec" => workloads::disruption_budget,
        "core.v1.PodSpec" => pods::pod_spec,
        "core.v1.Toleration" => pods::toleration,
        "core.v1.WeightedPodAffinityTerm" | "core.v1.PreferredSchedulingTerm" => pods::weighted,
        "core.v1.NodeSelectorRequirement" => pods::node_requirement,
        "core.v1.NodeSelector" => pods::node_selector,
        "core.v1.HostAlias" => pods::host_alias,
        "core.v1.SecurityContext" | "core.v1.PodSecurityContext" => pods::security_context,
        "core.v1.SeccompProfile" | "core.v1.AppArmorProfile" => pods::profile,
        "core.v1.ObjectFieldSelector" => pods::field_path,
        "core.v1.Container" => containers::container,
        "core.v1.Lifecycle" => containers::lifecycle,
        "core.v1.EnvVar" => containers::variable,
        "core.v1.EnvFromSource" => containers::variables_from,
        "core.v1.ConfigMapKeySelector" | "core.v1.SecretKeySelector" => containers::key_selector,
        "core.v1.ResourceFieldSelector" => containers::resource_field,
        "core.v1.ResourceRequirements" => containers::resources,
        "core.v1.HTTPGetAction" => containers::http_get,
        "core.v1.TCPSocketAction" | "core.v1.GRPCAction" => containers::port,
        "core.v1.Volume" => volumes::volume,
        "core.v1.KeyToPath" => volumes::key_to_path,
        "core.v1.ProjectedVolumeSource" => volumes::projected,
        "core.v1.VolumeProjection" => volumes::projection,
        "core.v1.DownwardAPIVolumeFile" => volumes::downward_file,
        "core.v1.HostPathVolumeSource" => volumes::host_path,
        "core.v1.ConfigMap" => volumes::data,
        "core.v1.Secret" => volumes::secret,
        "core.v1.ServiceSpec" => services::service,
        "core.v1.EndpointSubset" => services::subset,
        "core.v1.EndpointAddress" => services::address,
        "discovery.v1.EndpointSlice" => services::slice,
        "core.v1.PersistentVolumeSpec" => storage::volume,
        "core.v1.PersistentVolumeClaimSpec" => storage::claim,
        "core.v1.CSIVolumeSource" | "core.v1.CSIPersistentVolumeSource" => storage::csi,
        "storage.v1.StorageClass" => storage::class,
        "storage.v1.VolumeAttributesClass" => storage::attributes_class,
        "storage.v1.CSIDriver" => cluster::csi_driver,
        "autoscaling.v1.HorizontalPodAutoscalerSpec"
        | "autoscaling.v2.HorizontalPodAutoscalerSpec" => autoscaling::spec,
        "autoscaling.v2.HPAScalingRules" => autoscaling::scaling,
        "autoscaling.v2.MetricSpec" => autoscaling::metric,
        "rbac.v1.PolicyRule" => access::rule,
        "rbac.v1.RoleBinding" | "rbac.v1.ClusterRoleBinding" => access::binding,
        "rbac.v1.Subject" => access::subject,
        "networking.v1.IngressSpec" => networking::ingress,
        "networking.v1.HTTPIngressPath" => networking::path,
        "networking.v1.IngressBackend" => networking::backend,
        "networking.v1.NetworkPolicyPort" => networking::policy_port,
        "networking.v1.NetworkPolicyPeer" => networking::peer,
        "networking.v1.IPBlock" => networking::block,
        "networking.v1.IngressClassSpec" => networking::class,
        "admissionregistration.v1.MutatingWebhookConfiguration"
        | "admissionregistration.v1.ValidatingWebhookConfiguration" => admission::configuration,
        "admissionregistration.v1.MutatingWebhook"
        | "admissionregistration.v1.ValidatingWebhook" => admission::webhook,
        "admissionregistration.v1.WebhookClientConfig" => admission::client,
        "admissionregistration.v1.RuleWithOperations"
        | "admissionregistration.v1.NamedRuleWithOperations" => admission::rule,
        "admissionregistration.v1.ValidatingAdmissionPolicySpec"
        | "admissionregistration.v1.MutatingAdmissionPolicySpec" => admission::policy,
        "admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec" => admission::binding,
        "apiextensions.v1.CustomResourceDefinition" => definitions::definition,
        "apiextensions.v1.CustomResourceDefinitionNames" => definitions::names,
        "apiextensions.v1.CustomResourceDefinitionSpec" => definitions::spec,
        "apiextensions.v1.CustomResourceValidation" => definitions::schema,
        "core.v1.LimitRangeSpec" => cluster::limits,
        "core.v1.NamespaceSpec" => cluster::namespace,
        "node.v1.Scheduling" => cluster::scheduling,
        "core.v1.ResourceQuotaSpec" => cluster::quota,
        "scheduling.v1.PriorityClass" => cluster::priority,
        "apiregistration.v1.APIService" => cluster::api_service,
        "certificates.v1.CertificateSigningRequestSpec" => cluster::signing,
        "resource.v1.DeviceClaim" => cluster::device_claim,
        "resource.v1.DeviceRequest" => cluster::device_request,
        "flowcontrol.v1.Subject" => cluster::flow_subject,
        "openshift.route.v1.RouteSpec" => openshift::route,
        "openshift.apps.v1.DeploymentConfigSpec" => openshift::deployment,
        "openshift.build.v1.BuildConfigSpec" => openshift::build,
        "openshift.image.v1.ImageStream" => openshift::stream,
        "openshift.template.v1.Template" => openshift::template,
        "openshift.authorization.v1.RoleBinding"
        | "openshift.authorization.v1.ClusterRoleBinding" => openshift::binding,
        _ => return None,
    })
}
