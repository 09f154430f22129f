//! Discovery of the resources of a cluster, with a cache.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResourceList};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use tokio::time::Instant;

use super::api::Api;
use super::failure::Refusal;
use super::types::group;
use krm_template_server_core::Status;

/// How long the resources of a version are cached. The absence of a kind is not cached.
const LIFETIME: Duration = Duration::from_mins(1);

/// The maximum number of cached versions.
const CAPACITY: usize = 256;

/// The characters that are percent-encoded in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b':');

/// A resource of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resource {
    /// The path of its group and version.
    base: String,
    pub(super) plural: String,
    pub(super) is_namespaced: bool,
}

impl Resource {
    /// Returns the path of the objects in a namespace, or of all cluster-scoped ones.
    pub(super) fn collection(&self, namespace: &str) -> String {
        let Self { base, plural, .. } = self;
        if namespace.is_empty() {
            return format!("{base}/{plural}");
        }
        let namespace = utf8_percent_encode(namespace, SEGMENT);
        format!("{base}/namespaces/{namespace}/{plural}")
    }

    /// Returns the path of an object. The namespace is empty for a cluster-scoped object.
    pub(super) fn path(&self, namespace: &str, name: &str) -> String {
        let Self { base, plural, .. } = self;
        let name = utf8_percent_encode(name, SEGMENT);
        if namespace.is_empty() {
            return format!("{base}/{plural}/{name}");
        }
        let namespace = utf8_percent_encode(namespace, SEGMENT);
        format!("{base}/namespaces/{namespace}/{plural}/{name}")
    }
}

/// The resources of a version by kind, and the time at which they were read.
type Known = (Instant, Arc<BTreeMap<String, Resource>>);

/// A cache of the resources of a cluster, by API version.
#[derive(Default)]
pub(super) struct Resources(Mutex<BTreeMap<String, Known>>);

impl Resources {
    /// Returns the resource of a kind, or `None` if the cluster does not serve it.
    pub(super) async fn find(
        &self,
        api: &Api,
        api_version: &str,
        kind: &str,
    ) -> Result<Option<Resource>, Refusal> {
        if let Some(resource) = self.remembered(api_version, kind) {
            return Ok(Some(resource));
        }
        let read = Arc::new(read(api, api_version).await?);
        let found = read.get(kind).cloned();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CAPACITY {
            known.clear();
        }
        known.insert(api_version.to_owned(), (Instant::now(), read));
        Ok(found)
    }

    /// Returns the resource of a kind in this version or another version of its group.
    pub(super) async fn find_in_group(
        &self,
        api: &Api,
        api_version: &str,
        kind: &str,
    ) -> Result<Option<Resource>, Refusal> {
        let found = self.find(api, api_version, kind).await?;
        let group = group(api_version);
        if found.is_some() || group.is_empty() {
            return Ok(found);
        }
        let Some(listed) = api.find(None, &format!("/apis/{group}")).await? else {
            return Ok(None);
        };
        for version in decode::<APIGroup>(listed)?.versions {
            let found = self.find(api, &version.group_version, kind).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn remembered(&self, api_version: &str, kind: &str) -> Option<Resource> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (read, kinds) = known.get(api_version)?;
        let is_fresh = read.elapsed() < LIFETIME;
        kinds.get(kind).filter(|_| is_fresh).cloned()
    }
}

/// Reads the resources of a version that support apply.
async fn read(api: &Api, api_version: &str) -> Result<BTreeMap<String, Resource>, Refusal> {
    let base = base(api_version)?;
    let Some(list) = api.find(None, &base).await? else {
        return Ok(BTreeMap::new());
    };
    let mut kinds = BTreeMap::new();
    for listed in decode::<APIResourceList>(list)?.resources {
        let has = |verb: &str| listed.verbs.iter().any(|own| own == verb);
        if listed.name.contains('/') || !has("get") || !has("patch") {
            continue;
        }
        kinds.entry(listed.kind).or_insert(Resource {
            base: base.clone(),
            plural: listed.name,
            is_namespaced: listed.namespaced,
        });
    }
    Ok(kinds)
}

/// Returns the path of a version. Anything else is refused.
fn base(api_version: &str) -> Result<String, Refusal> {
    let is_label = |text: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
        text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.bytes().all(is_plain)
    };
    match api_version.split_once('/') {
        None if is_label(api_version) => Ok(format!("/api/{api_version}")),
        Some((group, version)) if is_label(group) && is_label(version) => {
            Ok(format!("/apis/{group}/{version}"))
        }
        _ => {
            let why = format!(
                "`{api_version}` is not an apiVersion; expected `VERSION` or `GROUP/VERSION`"
            );
            Err(Status::bad_request(why).into())
        }
    }
}

fn decode<T: for<'de> Deserialize<'de>>(value: serde_json::Value) -> Result<T, Refusal> {
    serde_json::from_value(value)
        .map_err(|_| Status::unavailable("the cluster's list of resources cannot be read").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_segment_of_a_path() {
        let resource = Resource {
            base: base("rbac.authorization.k8s.io/v1").unwrap(),
            plural: "roles".to_owned(),
            is_namespaced: true,
        };
        assert_eq!(
            resource.path("shop", "system:a/../b?c#d%"),
            "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles/system:a%2F..%2Fb%3Fc%23d%25"
        );
        assert_eq!(base("v1").unwrap(), "/api/v1");
        for wrong in ["", "v1/", "/v1", "a/b/c", "..", "a/..", "a b/v1", "a?x/v1"] {
            assert!(base(wrong).is_err(), "{wrong}");
        }
    }
}
