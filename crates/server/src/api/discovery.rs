//! Discovery of groups, versions and resources.
//!
//! Source: `k8s.io/apiserver/pkg/endpoints/discovery`.

use base64::engine::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Response;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::http::etag;
use crate::request::resources::{ApiResource, RESOURCES};
use crate::request::{Handler, Path, Verb, accept::DiscoveryVersion};

/// A version of a group, and its resources.
type Version = (&'static str, &'static str, Vec<&'static ApiResource>);

/// The core group, which has no resources. With its version, clients know the kind `List` of
/// `apiVersion: v1`. Behind a cluster, it is the cluster's.
const CORE: Version = ("", "v1", Vec::new());

/// Returns all group versions, including the review groups if `with_reviews` is set.
fn versions(with_reviews: bool) -> Vec<Version> {
    let mut versions: Vec<Version> = Vec::new();
    for resource in RESOURCES.iter().filter(|one| with_reviews || one.is_namespaced()) {
        match versions.last_mut() {
            Some((group, _, resources)) if *group == resource.group => resources.push(resource),
            _ => versions.push((resource.group, resource.version, vec![resource])),
        }
    }
    versions
}

/// Returns the plain discovery document of a path; `None` for an unknown group or version.
///
/// `with_reviews` includes the core group and the review groups.
pub(crate) fn plain(path: &Path, with_reviews: bool) -> Option<Value> {
    let versions = versions(with_reviews);
    let core = with_reviews.then_some(CORE);
    match path {
        Path::Api => {
            let versions: Vec<&str> = core.iter().map(|core| core.1).collect();
            Some(json!({"kind": "APIVersions", "versions": versions}))
        }
        Path::Apis => {
            let groups: Vec<Value> = versions.iter().map(group).collect();
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
        Path::Group(name) => {
            let found = versions.iter().find(|version| version.0 == name)?;
            let mut document = json!({"kind": "APIGroup", "apiVersion": "v1"});
            let fields = document.as_object_mut()?;
            fields.extend(group(found).as_object()?.clone());
            Some(document)
        }
        Path::GroupVersion(group, version) => {
            let mut all = versions.iter().chain(&core);
            all.find(|found| found.0 == group && found.1 == version).map(resource_list)
        }
        _ => None,
    }
}

/// Responds with the aggregated discovery document of `/apis`, or of `/api` if `is_core` is set.
///
/// `with_reviews` includes the core group and the review groups.
pub(crate) fn aggregated(
    is_core: bool,
    version: DiscoveryVersion,
    with_reviews: bool,
    if_none_match: Option<&str>,
) -> Response<Bytes> {
    let all = if is_core {
        with_reviews.then_some(CORE).into_iter().collect()
    } else {
        versions(with_reviews)
    };
    let items: Vec<Value> = all.iter().map(group_discovery).collect();
    let name = version.name();
    let document = json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": format!("apidiscovery.k8s.io/{name}"),
        "metadata": {},
        "items": items,
    });
    let body = format!("{document}\n");
    let content_type =
        format!("application/json;g=apidiscovery.k8s.io;v={name};as=APIGroupDiscoveryList");
    let tag = etag::of(body.as_bytes());
    etag::tagged(&tag, body.into(), &content_type, "public", if_none_match)
}

fn group((group, version, _): &Version) -> Value {
    let only = json!({"groupVersion": format!("{group}/{version}"), "version": version});
    json!({"name": group, "versions": [only], "preferredVersion": only})
}

fn resource_list((group, version, resources): &Version) -> Value {
    let resources: Vec<Value> = resources.iter().flat_map(|resource| listed(resource)).collect();
    json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": format!("{group}/{version}").trim_start_matches('/'),
        "resources": resources,
    })
}

/// Returns the entries of a resource and its subresources.
fn listed(resource: &ApiResource) -> Vec<Value> {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), json!(resource.name));
    fields.insert("singularName".to_owned(), json!(singular(resource)));
    fields.insert("namespaced".to_owned(), json!(resource.is_namespaced()));
    fields.insert("kind".to_owned(), json!(resource.kind));
    fields.insert("verbs".to_owned(), json!(names_of(resource.verbs)));
    fields.extend(names(resource));
    if resource.handler == Handler::Objects {
        let hash = storage_hash(resource);
        fields.insert("storageVersionHash".to_owned(), json!(hash));
    }
    let below = resource.subresources.iter().map(|below| {
        json!({
            "name": format!("{}/{}", resource.name, below.name),
            "singularName": "",
            "namespaced": resource.is_namespaced(),
            "kind": below.kind,
            "verbs": names_of(below.verbs),
        })
    });
    [Value::Object(fields)].into_iter().chain(below).collect()
}

fn names_of(verbs: &[Verb]) -> Vec<&'static str> {
    verbs.iter().map(|verb| verb.name()).collect()
}

fn singular(resource: &ApiResource) -> &str {
    resource.name.strip_suffix('s').unwrap_or(resource.name)
}

/// Returns the short names and categories of a resource, if it has any.
fn names(resource: &ApiResource) -> impl Iterator<Item = (String, Value)> {
    let names = [("shortNames", resource.short_name), ("categories", "krm-template")];
    let has_names = !resource.short_name.is_empty();
    names
        .into_iter()
        .filter(move |_| has_names)
        .map(|(field, name)| (field.to_owned(), json!([name])))
}

/// Returns the hash by which clients recognize resources with the same stored objects.
///
/// Source: `StorageVersionHash` of `k8s.io/apiserver/pkg/endpoints/discovery`.
fn storage_hash(ApiResource { group, version, kind, .. }: &ApiResource) -> String {
    let hash = Sha256::digest(format!("{group}/{version}/{kind}"));
    STANDARD.encode(hash.get(..8).unwrap_or_default())
}

fn group_discovery((group, version, resources): &Version) -> Value {
    let resources: Vec<Value> = resources.iter().map(|resource| discovered(resource)).collect();
    json!({
        "metadata": {"name": group},
        "versions": [{
            "version": version,
            "resources": resources,
            "freshness": "Current",
        }],
    })
}

fn discovered(resource: &ApiResource) -> Value {
    let (group, version) = (resource.group, resource.version);
    let kind = |kind: &str| json!({"group": group, "version": version, "kind": kind});
    let mut fields = Map::new();
    fields.insert("resource".to_owned(), json!(resource.name));
    fields.insert("responseKind".to_owned(), kind(resource.kind));
    let scope = if resource.is_namespaced() { "Namespaced" } else { "Cluster" };
    fields.insert("scope".to_owned(), json!(scope));
    fields.insert("singularResource".to_owned(), json!(singular(resource)));
    fields.insert("verbs".to_owned(), json!(names_of(resource.verbs)));
    fields.extend(names(resource));
    let below: Vec<Value> = resource
        .subresources
        .iter()
        .map(|below| {
            let verbs = names_of(below.verbs);
            json!({"subresource": below.name, "responseKind": kind(below.kind), "verbs": verbs})
        })
        .collect();
    if !below.is_empty() {
        fields.insert("subresources".to_owned(), json!(below));
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test reads recorded files")]

    use super::*;
    use crate::request::resources::AUTHORIZATION;
    use krm_template_server_core::groups::Group;

    fn recorded(name: &str) -> Value {
        let root = std::env::var_os("KRM_TEMPLATE_SHARED").expect("KRM_TEMPLATE_SHARED");
        let file = std::path::Path::new(&root).join("corpus/template-api").join(name);
        let exchange: Value =
            serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        serde_json::from_str(exchange["response"]["body"].as_str().unwrap()).unwrap()
    }

    /// Returns the items of a list whose field names one of our resources.
    fn served(list: &Value, field: &str) -> Vec<Value> {
        let items = list.as_array().unwrap().iter();
        items
            .filter(|item| {
                let name = item[field].as_str().unwrap();
                {
                    let known = [
                        "templates",
                        "processedtemplates",
                        "templateinstances",
                        "templateinstances/status",
                    ];
                    known.contains(&name)
                }
            })
            .cloned()
            .collect()
    }

    #[test]
    #[ignore = "needs KRM_TEMPLATE_SHARED"]
    fn openshifts_group_is_described_as_it_was_recorded() {
        let (group, version) = (Group::OpenShift.name().to_owned(), "v1".to_owned());
        let document = plain(&Path::Group(group.clone()), false).unwrap();
        assert_eq!(document, recorded("003-group.json"));
        let ours = plain(&Path::GroupVersion(group, version), false).unwrap();
        let theirs = recorded("005-resources.json");
        assert_eq!(served(&ours["resources"], "name"), served(&theirs["resources"], "name"));
        // Our CRD has the same kind, so it has the same hash.
        let ours = resource_list(versions(false).last().unwrap());
        let theirs = recorded("664-crd-resources.json");
        let hash = |list: &Value| {
            served(&list["resources"], "name").last().unwrap()["storageVersionHash"].clone()
        };
        assert_eq!(hash(&ours), hash(&theirs));
    }

    #[test]
    #[ignore = "needs KRM_TEMPLATE_SHARED"]
    fn the_aggregated_document_has_the_recorded_form() {
        let answer = aggregated(false, DiscoveryVersion::V2, false, None);
        let ours: Value = serde_json::from_slice(answer.body()).unwrap();
        let theirs = recorded("015-kube-apis-aggregated-v2.json");
        let version = |list: &Value| {
            let groups = list["items"].as_array().unwrap().iter();
            let mut groups =
                groups.filter(|item| item["metadata"]["name"] == Group::OpenShift.name());
            groups.next().unwrap()["versions"][0].clone()
        };
        let (mut ours, mut theirs) = (version(&ours), version(&theirs));
        let resources = |version: &mut Value| served(&version["resources"].take(), "resource");
        let expected: Vec<Value> = resources(&mut theirs)
            .into_iter()
            .map(|mut resource| {
                // OpenShift leaves the group of a kind empty; clients use the group of the list.
                resource["responseKind"]["group"] = json!(Group::OpenShift.name());
                resource["responseKind"]["version"] = json!("v1");
                let below = resource.get_mut("subresources").and_then(Value::as_array_mut);
                for subresource in below.into_iter().flatten() {
                    subresource["responseKind"]["group"] = json!(Group::OpenShift.name());
                    subresource["responseKind"]["version"] = json!("v1");
                }
                resource
            })
            .collect();
        assert_eq!(resources(&mut ours), expected);
        assert_eq!(ours, theirs);
    }

    #[test]
    fn stored_templates_are_listed_last() {
        for (_, _, resources) in versions(false) {
            let names: Vec<&str> = resources.iter().map(|one| one.name).collect();
            assert_eq!(names, ["processedtemplates", "templateinstances", "templates"]);
        }
    }

    #[test]
    fn openshifts_group_comes_first() {
        let plain = plain(&Path::Apis, true).unwrap();
        let aggregated = aggregated(false, DiscoveryVersion::V2, true, None);
        let aggregated: Value = serde_json::from_slice(aggregated.body()).unwrap();
        assert_eq!(plain["groups"][0]["name"], Group::OpenShift.name());
        let first = &aggregated["items"][0]["metadata"]["name"];
        assert_eq!(*first, Group::OpenShift.name());
    }

    #[test]
    fn the_aggregated_document_has_an_entity_tag() {
        let first = aggregated(false, DiscoveryVersion::V2Beta1, true, None);
        assert_eq!(
            first.headers()["content-type"],
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
        );
        let document: Value = serde_json::from_slice(first.body()).unwrap();
        assert_eq!(document["apiVersion"], "apidiscovery.k8s.io/v2beta1");
        assert_eq!(document["items"].as_array().unwrap().len(), 4);
        let tag = first.headers()["etag"].to_str().unwrap();
        let again = aggregated(false, DiscoveryVersion::V2Beta1, true, Some(tag));
        assert_eq!((again.status().as_u16(), again.body().len()), (304, 0));
        assert_eq!(aggregated(false, DiscoveryVersion::V2, true, Some(tag)).status(), 200);
    }

    #[test]
    fn reviews_are_served_only_where_no_other_server_does() {
        let groups = |with_reviews| {
            let list = plain(&Path::Apis, with_reviews).unwrap();
            list["groups"].as_array().unwrap().len()
        };
        assert_eq!((groups(false), groups(true)), (2, 4));
        let core = Path::GroupVersion(String::new(), "v1".to_owned());
        assert_eq!(plain(&core, false), None);
        let core = plain(&core, true).unwrap();
        assert_eq!((&core["groupVersion"], &core["resources"]), (&json!("v1"), &json!([])));
        let path = Path::GroupVersion(AUTHORIZATION.to_owned(), "v1".to_owned());
        assert_eq!(plain(&path, false), None);
        assert_eq!(plain(&path, true).unwrap()["resources"].as_array().unwrap().len(), 2);
        assert_eq!(
            plain(&Path::GroupVersion(Group::Krm.name().to_owned(), "v1".to_owned()), true),
            None
        );
    }
}
