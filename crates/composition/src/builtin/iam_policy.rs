//! `IAMPolicyGenerator`: adds the service account of a workload identity.
//!
//! Source: kustomize 5.8, `api/filters/iampolicygenerator`.

use serde::Deserialize;

use crate::builtin::known::ResourceIds;
use crate::engine::step::{Context, Transform};
use crate::resources::resource::Resource;
use krm_yaml::{FieldPath, Value};

/// The annotation that names the account in the cloud.
const ACCOUNT: &str = "iam.gke.io/gcp-service-account";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct IamPolicyConfig {
    #[expect(dead_code, reason = "there is only one")]
    cloud: Cloud,
    kubernetes_service: KubernetesService,
    service_account: ServiceAccount,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Cloud {
    Gke,
}

/// The service account to add.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KubernetesService {
    #[serde(default)]
    namespace: String,
    name: String,
}

/// The account in the cloud.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ServiceAccount {
    name: String,
    project_id: String,
}

impl Transform for IamPolicyConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let KubernetesService { namespace, name } = &self.kubernetes_service;
        let ServiceAccount { name: account, project_id } = &self.service_account;
        let account = format!("{account}@{project_id}.iam.gserviceaccount.com");
        let annotations = Value::mapping(vec![(ACCOUNT.into(), Value::from(account))]);
        let mut metadata = Value::mapping(vec![
            ("annotations".into(), annotations),
            ("name".into(), Value::from(name.clone())),
        ]);
        if !namespace.is_empty() {
            metadata.insert("namespace".into(), Value::from(namespace.clone()));
        }
        let new = Resource::new(Value::mapping(vec![
            ("apiVersion".into(), Value::from("v1")),
            ("kind".into(), Value::from("ServiceAccount")),
            ("metadata".into(), metadata),
        ]));
        let mut known = ResourceIds::of(resources, context.is_of_kustomization);
        known.add(
            resources,
            vec![new],
            &FieldPath::root(),
            context.transformer,
            context.diagnostics,
        );
    }
}
