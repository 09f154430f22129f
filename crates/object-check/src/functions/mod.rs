//! Rules over several fields of an object, by the name of its definition.
#![expect(
    clippy::too_many_lines,
    clippy::float_cmp,
    clippy::items_after_statements,
    clippy::doc_markdown,
    reason = "a function goes through the fields of one kind, and few numbers are written exactly"
)]

mod admission;
mod cluster;
mod containers;
mod definitions;
mod metadata;
mod networking;
mod openshift;
mod pods;
mod relations;
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
    relations::apply(walk, definition, view);
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
        "apps.v1.DaemonSetSpec"
        | "apps.v1.DeploymentSpec"
        | "apps.v1.ReplicaSetSpec"
        | "apps.v1.StatefulSetSpec" => workloads::selected,
        "core.v1.ReplicationControllerSpec" => workloads::controller,
        "core.v1.PodSpec" => pods::pod_spec,
        "core.v1.Container" => containers::container,
        "core.v1.ResourceFieldSelector" => containers::resource_field,
        "core.v1.ResourceRequirements" => containers::resources,
        "core.v1.ProjectedVolumeSource" => volumes::projected,
        "core.v1.ConfigMap" => volumes::data,
        "core.v1.Secret" => volumes::secret,
        "core.v1.ServiceSpec" => services::service,
        "core.v1.EndpointSubset" => services::named_ports,
        "discovery.v1.EndpointSlice" => services::slice,
        "core.v1.PersistentVolumeSpec" => storage::volume,
        "storage.v1.StorageClass" => storage::class,
        "storage.v1.VolumeAttributesClass" => storage::parameters,
        "networking.v1.IngressSpec" => networking::ingress,
        "networking.v1.HTTPIngressPath" => networking::path,
        "networking.v1.NetworkPolicyPort" => networking::policy_port,
        "networking.v1.IPBlock" => networking::block,
        "admissionregistration.v1.RuleWithOperations"
        | "admissionregistration.v1.NamedRuleWithOperations" => admission::rule,
        "apiextensions.v1.CustomResourceDefinition" => definitions::definition,
        "apiextensions.v1.CustomResourceDefinitionSpec" => definitions::spec,
        "apiextensions.v1.CustomResourceValidation" => definitions::schema,
        "core.v1.LimitRangeSpec" => cluster::limits,
        "core.v1.NamespaceSpec" => metadata::finalizers,
        "core.v1.ResourceQuotaSpec" => cluster::quota,
        "apiregistration.v1.APIService" => cluster::api_service,
        "openshift.apps.v1.DeploymentConfigSpec" => openshift::deployment,
        "openshift.build.v1.BuildConfigSpec" => openshift::build,
        "openshift.authorization.v1.RoleBinding"
        | "openshift.authorization.v1.ClusterRoleBinding" => openshift::binding,
        _ => return None,
    })
}
