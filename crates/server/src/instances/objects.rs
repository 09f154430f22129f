//! The objects of an instance: in its status, and in the cluster.

use std::collections::BTreeMap;

use base64::engine::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use krm_core::names::SUBDOMAIN;
use krm_core::visible::hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::status::{KEYED, Status};
use super::store::Instance;
use krm_template_cluster::readiness::State;
use krm_template_cluster::types::Key;
use krm_template_cluster::{Cluster, Failure, Object, Owner, Recorded};
use krm_template_server_core::{Kind, User};

/// Returns a name with a suffix, which has at most [`SUBDOMAIN`] bytes: a name that is too long is cut,
/// and gets a hash.
pub(super) fn suffixed(name: &str, suffix: &str) -> String {
    let most = SUBDOMAIN.saturating_sub(suffix.len());
    if name.len() <= most {
        return format!("{name}{suffix}");
    }
    let hash = hex(Sha256::digest(name).get(..4).unwrap_or_default());
    let head = name.get(..most.saturating_sub(hash.len() + 1)).unwrap_or_default();
    format!("{}-{hash}{suffix}", head.trim_end_matches(['-', '.']))
}

/// The maximum number of objects that a message names.
pub(super) const NAMED: usize = 10;

/// Returns the owner of the objects of an instance.
pub(super) fn owner(instance: &Instance) -> Owner {
    Owner {
        kind: format!("{}.{}", Kind::Instance.name(), instance.group().name()),
        namespace: instance.namespace().to_owned(),
        name: instance.name().to_owned(),
    }
}

/// Returns the recorded objects in a status.
pub(super) fn objects_of(status: &Status) -> Vec<Recorded> {
    let objects = status.fields.get("objects").and_then(Value::as_array);
    objects.into_iter().flatten().map(recorded_of).collect()
}

/// Returns the objects in a status that the Template creates.
pub(super) fn wanted_of(status: &Status) -> Vec<Recorded> {
    let objects = status.fields.get("objects").and_then(Value::as_array);
    let objects = objects.into_iter().flatten();
    objects
        .filter(|object| object.get("phase").and_then(Value::as_str) != Some("Dropped"))
        .map(recorded_of)
        .collect()
}

pub(super) fn recorded_of(object: &Value) -> Recorded {
    // OpenShift's status has a reference.
    let object = object.get("ref").unwrap_or(object);
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    Recorded {
        uid: text("uid").to_owned(),
        ..Recorded::new(text("apiVersion"), text("kind"), text("namespace"), text("name"))
    }
}

/// Writes objects into a status. What is known of each is kept.
pub(super) fn write(status: &mut Status, recorded: &[Recorded]) {
    let before = status.fields.get("objects").and_then(Value::as_array);
    let before: Vec<_> =
        before.into_iter().flatten().map(|shown| (recorded_of(shown), shown)).collect();
    let known: BTreeMap<Key<'_>, _> = before.iter().map(|known| (known.0.key(), known)).collect();
    let objects: Vec<Value> = recorded
        .iter()
        .map(|one| {
            let known = known.get(&one.key());
            if let Some((_, shown)) = known.filter(|(known, _)| known == one) {
                return (*shown).clone();
            }
            let phase = if one.uid.is_empty() { "Pending" } else { "Applied" };
            let order = known.and_then(|(_, shown)| order_of(shown));
            ordered(object(one, phase, None), order)
        })
        .collect();
    status.fields.insert("objects".to_owned(), json!(objects));
}

/// Removes the objects that are gone from a status.
pub(super) fn retain(status: &mut Status, rest: &[Recorded]) {
    let objects = status.fields.get("objects").and_then(Value::as_array);
    let objects = objects.into_iter().flatten();
    let is_left = |shown: &&Value| rest.iter().any(|one| one.is_same(&recorded_of(shown)));
    let kept: Vec<Value> = objects.filter(is_left).cloned().collect();
    status.fields.insert("objects".to_owned(), json!(kept));
}

/// Returns the number of the wave in which an object of a status was applied.
pub(super) fn order_of(shown: &Value) -> Option<u64> {
    shown.get("order").and_then(Value::as_u64)
}

/// Sets the number of the wave in which an object is applied.
pub(super) fn ordered(mut shown: Value, order: Option<u64>) -> Value {
    if let (Some(fields), Some(order)) = (shown.as_object_mut(), order) {
        fields.insert("order".to_owned(), json!(order));
    }
    shown
}

pub(super) fn shown_object(one: &Recorded, is_wanted: bool, state: Option<State>) -> Value {
    let phase = match (is_wanted, one.uid.is_empty()) {
        (false, _) => "Dropped",
        (true, true) => "Pending",
        (true, false) => "Applied",
    };
    object(one, phase, Some(state.map_or("Missing", State::name)))
}

pub(super) fn object(one: &Recorded, phase: &str, readiness: Option<&str>) -> Value {
    let mut object = json!({"apiVersion": one.api_version, "kind": one.kind});
    if let Some(fields) = object.as_object_mut() {
        let texts = [
            ("namespace", one.namespace.as_str()),
            ("name", &one.name),
            ("uid", &one.uid),
            ("phase", phase),
            ("readiness", readiness.unwrap_or_default()),
        ];
        for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            fields.insert(key.to_owned(), json!(text));
        }
    }
    object
}

/// Returns objects, also those in `v1` Lists.
pub(super) fn flat<'o>(objects: impl Iterator<Item = &'o Object>) -> Vec<&'o Value> {
    let mut all = Vec::new();
    let mut left: Vec<&Value> = objects.map(|Object(value)| value).collect();
    left.reverse();
    while let Some(value) = left.pop() {
        let is_list = value.get("kind").and_then(Value::as_str) == Some("List");
        match value.get("items").and_then(Value::as_array) {
            Some(items) if is_list => left.extend(items.iter().rev()),
            _ => all.push(value),
        }
    }
    all
}

/// Finds the uids of recorded objects that have none, because the server stopped before it learnt
/// them. An object of another owner keeps none, and is never deleted.
pub(super) async fn with_uids(
    cluster: &Cluster,
    user: &User,
    owner: &Owner,
    recorded: &[Recorded],
) -> Result<Vec<Recorded>, Failure> {
    let mut known = recorded.to_vec();
    for one in known.iter_mut().filter(|one| one.uid.is_empty()) {
        let live = cluster.live(user, one).await?;
        let uid = live
            .filter(|live| owner.has(live))
            .and_then(|live| Some(live.pointer("/metadata/uid")?.as_str()?.to_owned()));
        one.uid = uid.unwrap_or_default();
    }
    Ok(known)
}

pub(super) fn named(one: &Recorded) -> String {
    let Recorded { kind, namespace, name, .. } = one;
    if namespace.is_empty() {
        return format!("{kind} {name}");
    }
    format!("{kind} {namespace}/{name}")
}

pub(super) fn list(names: &[String]) -> String {
    let mut all: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let more = format!("and {} more", names.len().saturating_sub(NAMED));
    if names.len() > NAMED {
        all.push(&more);
    }
    all.join(", ")
}

/// Returns a hash of the objects that a user installs, with a secret key: else who reads it could
/// find out the values in Secrets, and so could who installs objects with tried values.
pub(super) fn hash(objects: &[Object], key: &str, user: &str) -> String {
    let mut hash = Sha256::new().chain_update(json!([key, user]).to_string());
    for Object(value) in objects {
        hash.update(value.to_string().as_bytes());
        hash.update(b"\n");
    }
    let hash = hash.finalize();
    let hash = STANDARD_NO_PAD.encode(hash.get(..16).unwrap_or_default());
    format!("{KEYED}{hash}")
}

#[cfg(test)]
mod tests {
    use super::super::store::Plan;
    use super::*;

    #[test]
    fn a_long_name_is_cut() {
        assert_eq!(suffixed("web", "-generated"), "web-generated");
        let long = |end: &str| "a".repeat(253 - end.len()) + end;
        assert_eq!(suffixed(&"a".repeat(243), "-generated"), long("-generated"));
        let cut = suffixed(&long("b"), "-generated");
        assert_eq!(cut.len(), SUBDOMAIN);
        assert!(cut.ends_with("-generated"));
        assert_ne!(cut, suffixed(&long("c"), "-generated"));
        let dots = format!("{}.{}", "a".repeat(233), "b".repeat(19));
        assert!(!suffixed(&dots, "-generated").contains(".-"));
    }

    #[test]
    fn a_hash_does_not_tell_of_the_values_of_secrets() {
        let secret = |pin: &str| {
            let secret = json!({"kind": "Secret", "stringData": {"pin": pin}});
            [Object(secret)]
        };
        let shown = hash(&secret("4711"), "key", "jane");
        assert_eq!(shown, hash(&secret("4711"), "key", "jane"));
        assert_ne!(shown, hash(&secret("4712"), "key", "jane"));
        // Whoever tries all values needs the key, also as a user who installs them.
        assert_ne!(shown, hash(&secret("4711"), "", "jane"));
        assert_ne!(shown, hash(&secret("4711"), "other", "jane"));
        assert_ne!(shown, hash(&secret("4711"), "key", "eve"));
        let mut plans = [Plan::default(), Plan::default()];
        for plan in &mut plans {
            plan.generate_key();
            assert_eq!(plan.key.len(), 3 * 36);
        }
        assert_ne!(plans[0].key, plans[1].key);
    }
}
