//! Requests about single objects: reading, creating, permissions, events.

use http::Method;
use krm_core::secrets::KnownSecrets;
use serde_json::{Value, json};

use super::api::Ask;
use super::cluster::Cluster;
use super::failure::{Failure, Refusal, add_values};
use super::run::text;
use super::types::Recorded;
use krm_template_server_core::auth::User;

/// A kind of objects in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The plural name of the resource.
    pub resource: String,
    /// Whether its objects are in namespaces.
    pub is_namespaced: bool,
}

impl Cluster {
    /// Returns the kind of an object, or `None` if the cluster does not serve it.
    ///
    /// # Errors
    /// If the cluster does not answer.
    pub async fn kind(&self, object: &Recorded) -> Result<Option<Kind>, Failure> {
        let found = self.resources.find(&self.api, &object.api_version, &object.kind);
        let found = found.await.map_err(|refusal| of(refusal, object))?;
        Ok(found.map(|resource| Kind {
            resource: resource.plural,
            is_namespaced: resource.is_namespaced,
        }))
    }

    /// Reads an object on behalf of a user. Returns `None` if it, or its kind, does not exist.
    ///
    /// # Errors
    /// If the cluster refuses it.
    pub async fn live(&self, user: &User, object: &Recorded) -> Result<Option<Value>, Failure> {
        let found = async {
            let caller = self.caller(user).await?;
            let Recorded { api_version, kind, .. } = object;
            let resource = self.resources.find_in_group(&self.api, api_version, kind);
            let Some(resource) = resource.await? else {
                return Ok(None);
            };
            let path = resource.path(&object.namespace, &object.name);
            self.api.find(Some(&caller), &path).await
        };
        found.await.map_err(|refusal| of(refusal, object))
    }

    /// Creates an object on behalf of a user. Returns it as recorded.
    ///
    /// # Errors
    /// If the cluster refuses it.
    pub async fn create(
        &self,
        user: &User,
        object: &Recorded,
        value: &Value,
    ) -> Result<Recorded, Failure> {
        let created = async {
            let caller = self.caller(user).await?;
            let found = self.resources.find(&self.api, &object.api_version, &object.kind);
            let Some(resource) = found.await? else {
                return Err(super::wait::unknown(object));
            };
            let ask = Ask {
                method: &Method::POST,
                path: &resource.collection(&object.namespace),
                content_type: "application/json",
                body: &value.to_string(),
            };
            self.api.send(Some(&caller), ask).await
        };
        let mut secrets = KnownSecrets::default();
        add_values(&mut secrets, value);
        let created = created.await;
        let created = created.map_err(|refusal| of(refusal.masked(&secrets), object))?;
        Ok(Recorded {
            uid: text(&created, "uid").to_owned(),
            name: text(&created, "name").to_owned(),
            ..object.clone()
        })
    }

    /// Returns `true` if a user may do something with an object. `resource` is its plural name.
    ///
    /// # Errors
    /// If the cluster does not answer.
    pub async fn may(
        &self,
        user: &User,
        verb: &str,
        resource: &str,
        object: &Recorded,
    ) -> Result<bool, Failure> {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {
                "verb": verb,
                "group": object.group(),
                "version": object.api_version.rsplit('/').next().unwrap_or_default(),
                "resource": resource,
                "namespace": object.namespace,
                "name": object.name,
            }},
        });
        let asked = async {
            let caller = self.caller(user).await?;
            let ask = Ask {
                method: &Method::POST,
                path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                content_type: "application/json",
                body: &review.to_string(),
            };
            self.api.send(Some(&caller), ask).await
        };
        let answer = asked.await.map_err(|refusal| of(refusal, object))?;
        let allowed = answer.pointer("/status/allowed").and_then(Value::as_bool);
        Ok(allowed == Some(true))
    }

    /// Creates an event with the server's own account. It is lost if the cluster refuses it.
    pub async fn tell(&self, namespace: &str, event: &Value) {
        let ask = Ask {
            method: &Method::POST,
            path: &format!("/api/v1/namespaces/{namespace}/events"),
            content_type: "application/json",
            body: &event.to_string(),
        };
        if let Err(refusal) = self.api.send(None, ask).await {
            tracing::debug!(code = refusal.code, "the cluster does not take an event");
        }
    }
}

fn of(mut refusal: Refusal, object: &Recorded) -> Failure {
    if (object.group(), object.kind.as_str()) == ("", "Secret") {
        refusal = refusal.without_values();
    }
    refusal.failure(Some(object.clone()), Vec::new())
}
