//! The manifests in `deploy/`: kustomize builds them, Kubernetes knows all their fields, and the
//! program knows all their options.
//!
//! The tests are ignored if kubectl is not on the PATH.

use std::path::{Path, PathBuf};
use std::process::Command;

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{
    ConfigMap, Namespace, PersistentVolumeClaim, Secret, Service, ServiceAccount,
};
use k8s_openapi::api::networking::v1::{Ingress, NetworkPolicy};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, RoleBinding};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys};
use libtest_mimic::{Failed, Trial};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The variants, and whether a program without etcd has all their options.
const VARIANTS: [(&str, bool); 4] = [
    ("aggregated", true),
    ("aggregated-apply", true),
    ("aggregated-etcd", false),
    ("standalone", true),
];

type Test = fn(&str) -> Result<(), Failed>;

pub(crate) fn trials() -> Vec<Trial> {
    let kubectl = Command::new("kubectl").args(["version", "--client"]).output();
    let missing = kubectl.is_err().then_some("needs kubectl");
    let mut trials = Vec::new();
    for (variant, without_etcd) in VARIANTS {
        let etcd = without_etcd || cfg!(feature = "etcd");
        let no_etcd = (!etcd).then_some("needs the feature etcd");
        let tests: [(&str, Test, Option<&str>); 6] = [
            ("each_field_is_known_to_kubernetes", known_fields, missing),
            ("the_cluster_finds_and_trusts_the_service", service, missing),
            ("the_container_has_no_rights", container, missing),
            ("the_server_knows_the_members_of_etcd", members, missing),
            ("it_acts_for_others_only_to_apply", impersonation, missing),
            ("its_options_are_known_to_the_program", options, missing.or(no_etcd)),
        ];
        trials.extend(tests.map(|(name, test, reason)| {
            let trial = Trial::test(format!("deploy/{variant}/{name}"), move || test(variant));
            match reason {
                Some(reason) => trial.with_kind(reason).with_ignored_flag(true),
                None => trial,
            }
        }));
    }
    trials
}

/// Builds a variant with kustomize.
fn built(variant: &str) -> Result<Vec<Value>, Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let folder: PathBuf = root.join(variant);
    let output = Command::new("kubectl").arg("kustomize").arg(&folder).output()?;
    let text = String::from_utf8(output.stdout)?;
    if !output.status.success() || text.is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    read(variant, text)
}

/// Reads the objects of a text.
fn read(name: &str, text: String) -> Result<Vec<Value>, Failed> {
    let document =
        Document::parse(&Source::new(name, text)).map_err(|error| format!("{error:?}"))?;
    document
        .roots()
        .map(|root| {
            let mut diagnostics = Diagnostics::default();
            let value = root.value(DuplicateKeys::Refuse, &mut diagnostics);
            let value = value.ok_or_else(|| format!("{diagnostics:?}"))?;
            Ok(serde_json::from_str(&value.to_json())?)
        })
        .collect()
}

/// Reads the objects of the components that a variant names in comments.
fn optional(variant: &str) -> Result<Vec<Value>, Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let file = std::fs::read_to_string(root.join(variant).join("kustomization.yaml"))?;
    let named = file.lines().filter_map(|line| line.strip_prefix("# - ../"));
    let named: Vec<&str> = named.collect();
    same(&json!(named.is_empty()), &json!(variant == "standalone"))?;
    let mut objects = Vec::new();
    for component in named {
        let files = std::fs::read_dir(root.join(component))?;
        for file in files {
            let path = file?.path();
            if !path.ends_with("kustomization.yaml") {
                objects.extend(read(component, std::fs::read_to_string(path)?)?);
            }
        }
    }
    Ok(objects)
}

/// Returns the only object of a kind that is the server's.
fn only(objects: &[Value], kind: &str) -> Result<Value, Failed> {
    let mut found = objects.iter().filter(|object| {
        at(object, "/kind") == kind && at(object, "/metadata/name") == "krm-template-server"
    });
    match (found.next(), found.next()) {
        (Some(object), None) => Ok(object.clone()),
        (first, _) => {
            Err(format!("{} of kind {kind}", if first.is_some() { "several" } else { "none" })
                .into())
        }
    }
}

#[track_caller]
fn same(found: &Value, expected: &Value) -> Result<(), Failed> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("expected {expected}, found {found}").into())
    }
}

fn known_fields(variant: &str) -> Result<(), Failed> {
    let all = [built(variant)?, optional(variant)?].concat();
    for object in all {
        let kind = at(&object, "/kind").as_str().unwrap_or_default();
        match kind {
            "APIService" => strict::<APIService>(&object),
            "ClusterRole" => strict::<ClusterRole>(&object),
            "ClusterRoleBinding" => strict::<ClusterRoleBinding>(&object),
            "ConfigMap" => strict::<ConfigMap>(&object),
            "Deployment" => strict::<Deployment>(&object),
            "Ingress" => strict::<Ingress>(&object),
            "Namespace" => strict::<Namespace>(&object),
            "NetworkPolicy" => strict::<NetworkPolicy>(&object),
            "PersistentVolumeClaim" => strict::<PersistentVolumeClaim>(&object),
            "PodDisruptionBudget" => strict::<PodDisruptionBudget>(&object),
            "RoleBinding" => strict::<RoleBinding>(&object),
            "Secret" => strict::<Secret>(&object),
            "Service" => strict::<Service>(&object),
            "ServiceAccount" => strict::<ServiceAccount>(&object),
            // Its type is not among those of Kubernetes.
            "ServiceMonitor" => Ok(()),
            "StatefulSet" => strict::<StatefulSet>(&object),
            _ => Err(format!("unexpected kind `{kind}`").into()),
        }?;
    }
    Ok(())
}

/// Checks that an object has no unknown fields, which a round trip through its type drops.
fn strict<T: Serialize + DeserializeOwned>(object: &Value) -> Result<(), Failed> {
    let typed: T = serde_json::from_value(object.clone())?;
    same(&serde_json::to_value(typed)?, object)
}

fn service(variant: &str) -> Result<(), Failed> {
    let objects = built(variant)?;
    let deployment = only(&objects, "Deployment")?;
    let labels = at(&deployment, "/spec/template/metadata/labels");
    let service = only(&objects, "Service")?;
    for selector in [
        at(&deployment, "/spec/selector/matchLabels"),
        at(&service, "/spec/selector"),
        at(&only(&objects, "PodDisruptionBudget")?, "/spec/selector/matchLabels"),
        at(&only(&objects, "NetworkPolicy")?, "/spec/podSelector/matchLabels"),
    ] {
        same(selector, labels)?;
    }
    let of_apis: Vec<&Value> =
        objects.iter().filter(|object| at(object, "/kind") == "APIService").collect();
    same(&json!(of_apis.len()), &json!(if variant == "standalone" { 0 } else { 2 }))?;
    for api in of_apis {
        let spec = at(api, "/spec");
        let name = format!("{}.{}", text(at(spec, "/version")), text(at(spec, "/group")));
        same(at(api, "/metadata/name"), &json!(name))?;
        same(at(spec, "/service/name"), at(&service, "/metadata/name"))?;
        same(at(spec, "/service/namespace"), at(&service, "/metadata/namespace"))?;
        same(at(spec, "/service/port"), at(&service, "/spec/ports/0/port"))?;
        let is_openshift = at(spec, "/group") == "template.openshift.io";
        let priority = if is_openshift { 9900 } else { 1000 };
        same(at(spec, "/groupPriorityMinimum"), &json!(priority))?;
        same(at(spec, "/versionPriority"), &json!(15))?;
        same(at(spec, "/insecureSkipTLSVerify"), &Value::Null)?;
    }
    Ok(())
}

fn container(variant: &str) -> Result<(), Failed> {
    let objects = built(variant)?;
    only(&objects, "Deployment")?;
    for object in objects {
        let pod = at(&object, "/spec/template/spec");
        if pod.is_null() {
            continue;
        }
        same(at(pod, "/securityContext/runAsNonRoot"), &json!(true))?;
        same(at(pod, "/securityContext/runAsUser"), &json!(65532))?;
        let context = at(pod, "/containers/0/securityContext");
        same(at(context, "/readOnlyRootFilesystem"), &json!(true))?;
        same(at(context, "/allowPrivilegeEscalation"), &json!(false))?;
        same(at(context, "/capabilities/drop"), &json!(["ALL"]))?;
    }
    Ok(())
}

/// Checks that the server of the variant with etcd knows the addresses that the members have.
fn members(variant: &str) -> Result<(), Failed> {
    let objects = built(variant)?;
    let Some(set) = objects.iter().find(|one| at(one, "/kind") == "StatefulSet") else {
        return same(&json!(variant), &json!(variant.trim_end_matches("-etcd")));
    };
    let (name, service) = (at(set, "/metadata/name"), at(set, "/spec/serviceName"));
    let hosts = (0..at(set, "/spec/replicas").as_u64().unwrap_or_default()).map(|member| {
        let (name, service) = (text(name), text(service));
        format!("https://{name}-{member}.{service}.krm-template.svc")
    });
    let hosts: Vec<String> = hosts.collect();
    let with =
        |port: u16| -> Vec<String> { hosts.iter().map(|host| format!("{host}:{port}")).collect() };
    let args = |object: &Value, list: &str| {
        let pointer = format!("/spec/template/spec/containers/0/{list}");
        at(object, &pointer).to_string()
    };
    let server = args(&only(&objects, "Deployment")?, "args");
    let endpoints = format!("--etcd-endpoints={}\"", with(2379).join(","));
    same(&json!(server.contains(&endpoints)), &json!(true))?;
    let peers = with(2380).into_iter().enumerate();
    let peers: Vec<String> = peers.map(|(member, url)| format!("etcd-{member}={url}")).collect();
    let cluster = format!("--initial-cluster={}\"", peers.join(","));
    same(&json!(args(set, "command").contains(&cluster)), &json!(true))
}

/// Checks that only a server with `--apply` may impersonate: users, and the group `editors`, but no
/// service accounts.
fn impersonation(variant: &str) -> Result<(), Failed> {
    let objects = built(variant)?;
    let deployment = only(&objects, "Deployment")?;
    let args = at(&deployment, "/spec/template/spec/containers/0/args").as_array();
    let applies = args.is_some_and(|args| args.contains(&json!("--apply")));
    same(&json!(applies), &json!(variant == "aggregated-apply"))?;
    let mut core = Vec::new();
    for role in objects.iter().filter(|one| at(one, "/kind") == "ClusterRole") {
        for rule in at(role, "/rules").as_array().into_iter().flatten() {
            if at(rule, "/verbs") != &json!(["impersonate"]) {
                continue;
            }
            if at(rule, "/apiGroups") == &json!([""]) {
                core.push(json!([at(rule, "/resources"), at(rule, "/resourceNames")]));
            }
        }
    }
    let expected =
        if applies { json!([[["users"], null], [["groups"], ["editors"]]]) } else { json!([]) };
    same(&json!(core), &expected)
}

/// Checks the options of the container: with `--help` after them, the program exits with 0 only if
/// it can parse them.
fn options(variant: &str) -> Result<(), Failed> {
    let deployment = only(&built(variant)?, "Deployment")?;
    let container = at(&deployment, "/spec/template/spec/containers/0");
    let options: Vec<&str> =
        at(container, "/args").as_array().into_iter().flatten().map(text).collect();
    let server = || Command::new(env!("CARGO_BIN_EXE_krm-template-server"));
    let unknown = server().args(["--no-such-option", "--help"]).output()?;
    if unknown.status.success() {
        return Err("an unknown option is taken, so this test holds nothing".into());
    }
    let output = server().args(&options).arg("--help").output()?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
    }
}

fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
