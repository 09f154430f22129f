//! Evidence in the annotations and managed fields of an object about who chose its fields.

use krm_yaml::{Scalar, Value};

use crate::fields::system::LAST_APPLIED;

/// The manager of fields that nobody chose.
const API_SERVER: &str = "kube-apiserver";

/// Facts about the fields of an object, found before it is stripped.
pub(super) struct Evidence {
    /// The object as `kubectl apply` sent it.
    applied: Option<serde_json::Value>,
    /// The fields of each manager but the API server.
    managed: Vec<serde_json::Value>,
    /// Whether a cluster has the object: of other objects, somebody chose all fields.
    is_of_cluster: bool,
}

impl Evidence {
    /// Of an object; `allocates` says whether the cluster may have chosen numbers for it.
    pub(super) fn of(
        object: &Value<'_>,
        (metadata, annotations): (Option<&Value<'_>>, Option<&Value<'_>>),
        allocates: bool,
    ) -> Self {
        let applied = annotations.and_then(|own| own.str_at(&[LAST_APPLIED]));
        let managed = metadata.filter(|_| allocates);
        let managed = managed.and_then(|metadata| metadata.get("managedFields"));
        let managed = managed.and_then(Value::items).into_iter().flatten();
        let chosen = managed.filter(|one| one.str_at(&["manager"]) != Some(API_SERVER));
        Self {
            applied: applied.and_then(|text| serde_json::from_str(text).ok()),
            managed: chosen
                .filter_map(|one| serde_json::from_str(&one.get("fieldsV1")?.to_json()).ok())
                .collect(),
            is_of_cluster: allocates && is_of_cluster(object, metadata),
        }
    }

    pub(super) const fn is_some(&self) -> bool {
        self.applied.is_some() || !self.managed.is_empty()
    }

    /// Whether somebody chose the `nodePort` of a port of a Service, or its `healthCheckNodePort`.
    pub(super) fn shows_choice(&self, parent: &Value<'_>, field: &Value<'_>) -> bool {
        let Some(Scalar::Number(number)) = field.scalar() else {
            return true;
        };
        if !self.is_of_cluster {
            return true;
        }
        let is_number = |value: &serde_json::Value| {
            let own = value.as_number();
            own.is_some_and(|own| own.as_str() == *number)
        };
        let port = parent.get("port");
        let applied = self.applied.as_ref().and_then(|object| object.get("spec"));
        let is_applied = applied.is_some_and(|spec| {
            let ports = spec.get("ports").and_then(serde_json::Value::as_array);
            let mut ports = ports.into_iter().flatten();
            if port.is_some() {
                ports.any(|port| port.get("nodePort").is_some_and(is_number))
            } else {
                spec.get("healthCheckNodePort").is_some_and(is_number)
            }
        });
        is_applied || self.managed.iter().any(|fields| owns(fields, parent, port))
    }

    /// The names of the containers that `kubectl apply` sent at the field path of the pod's
    /// specification, if it sent the object.
    pub(super) fn containers(&self, spec: &[&str]) -> Option<Vec<&str>> {
        let object = self.applied.as_ref()?;
        let mut keys = spec.iter();
        let spec = keys.try_fold(object, |value, key| value.get(key))?;
        let lists = ["initContainers", "containers"].into_iter();
        let lists = lists.filter_map(|list| spec.get(list)?.as_array());
        let names = lists.flatten().filter_map(|one| one.get("name")?.as_str());
        Some(names.collect())
    }
}

/// Whether an object has fields that only a cluster sets.
fn is_of_cluster(object: &Value<'_>, metadata: Option<&Value<'_>>) -> bool {
    let fields = ["uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink"];
    let has = |key: &&str| {
        let field = metadata.and_then(|metadata| metadata.get(key));
        field.is_some_and(|field| !field.is_null())
    };
    let address = object.str_at(&["spec", "clusterIP"]);
    fields.iter().any(has)
        || object.get("status").is_some()
        || address.is_some_and(|address| address != "None" && !address.is_empty())
}

/// Whether the fields of a manager include the node port of this port.
fn owns(fields: &serde_json::Value, parent: &Value<'_>, port: Option<&Value<'_>>) -> bool {
    let Some(spec) = fields.get("f:spec") else {
        return false;
    };
    let Some(port) = port else {
        return spec.get("f:healthCheckNodePort").is_some();
    };
    let protocol = parent.str_at(&["protocol"]);
    let protocol = protocol.unwrap_or("TCP");
    let ports = spec.get("f:ports").and_then(serde_json::Value::as_object);
    ports.into_iter().flatten().any(|(key, fields)| {
        let key = key.strip_prefix("k:").unwrap_or_default();
        let key: serde_json::Value = serde_json::from_str(key).unwrap_or_default();
        let is_port = key
            .get("port")
            .and_then(serde_json::Value::as_number)
            .is_some_and(|number| number.as_str() == port.to_json());
        let own = key.get("protocol").and_then(|one| one.as_str());
        is_port && own.is_none_or(|own| own == protocol) && fields.get("f:nodePort").is_some()
    })
}
