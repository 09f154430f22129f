//! The effect of a change of an instance on its objects: a dry run with the permissions of the user
//! who asks, as unified diffs. Values of Secrets are shown as hashes, which are new in each response.

use std::collections::BTreeSet;

use krm_core::report::unified;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::expansion::{self, Problem};
use super::kept_values::{self, secret};
use super::objects::{flat, objects_of, owner};
use super::reconcile::conflicts;
use super::status::Status as InstanceStatus;
use super::store::{Instance, Plan, Planned, Stop, without_tokens};
use super::used_templates::Templates;
use crate::api::{Call, State, render};
use crate::codec::yaml;
use crate::http::Answer;
use crate::request::Scope;
use crate::validation::instance;
use krm_template_cluster::{Object, Preview, Recorded, holds_others};
use krm_template_server_core::{Item, Result, Status, User};

/// The fields of `metadata` that a cluster sets.
const OF_CLUSTER: [&str; 5] =
    ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"];

/// The annotation in which kubectl keeps what it applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The maximum length of a diff in bytes.
const MAX_DIFF: usize = 256 << 10;

/// Answers with the changes that the instance in the body, or the stored one, would make.
pub(crate) async fn answer(call: &Call<'_>, name: &str) -> Result<Answer> {
    let shown = call.shown(Scope::One)?;
    let item = call.found(name).await?;
    let mut new = None;
    if !call.body.is_empty() {
        let body: std::result::Result<Value, _> = serde_json::from_slice(&call.body);
        let body = body.map_err(|error| Status::bad_request(format!("the body: {error}")))?;
        let spec = body.get("spec").filter(|spec| spec.is_object());
        let Some(spec) = spec else {
            return Err(Status::bad_request("the body has no TemplateInstance with a `spec`"));
        };
        new = Some(spec.clone());
    }
    let changes = changes(call.state, call.user, item, new.as_ref()).await?;
    let text = format!("{changes}\n").into_bytes();
    Ok(render::finished(200, shown, text))
}

/// Returns the changes that a stored instance, or one with another `spec`, would make on behalf of a
/// user.
pub(crate) async fn changes(
    state: &State,
    user: &User,
    item: Item,
    spec: Option<&Value>,
) -> Result<Value> {
    let mut instance = Instance::of(item)?;
    let is_kept = spec.is_none_or(|new| instance::is_same_request(new, &instance.spec()));
    if let Some(spec) = spec {
        instance.draft.set("spec", spec);
    }
    let Some(cluster) = &state.cluster else {
        let why = "the server runs without --apply, so nothing would change";
        return Err(Status::bad_request(why));
    };
    let mut spec = instance.spec();
    if let Some(fields) = spec.as_object_mut() {
        fields.insert("requester".to_owned(), instance::requester(user));
    }
    instance.draft.set("spec", &spec);
    // With a ServiceAccount, nobody sees more than they may themselves.
    let user = without_tokens(user.clone());
    let planned = Planned::read(state, &instance).await.map_err(stopped)?;
    let stored = Templates::shown(state, &instance, &user, &planned.plan, is_kept).await;
    let stored = &stored.map_err(refused)?;
    // Values that the user may not read are generated anew.
    let kept = kept_values::of(cluster, &instance, &user, &planned.plan, false).await;
    let plan = Plan {
        generated: kept.values,
        // An upgrade takes the current values.
        values: None,
        ..planned.plan
    };
    let expanded = expansion::of(state, &instance, &user, &plan, stored, Vec::new()).await;
    let expansion = expanded.map_err(refused)?;
    let secret = secret(&instance, &expansion.generated);
    let objects: Vec<Object> =
        secret.into_iter().chain(expansion.objects.into_iter().map(Object)).collect();
    let owner = owner(&instance);
    let tried = cluster.preview(&user, &owner, &objects, conflicts(&spec), false);
    let (previews, failures) = tried.await;
    let failures = failures.iter().map(ToString::to_string);
    let masked = |text: String| expansion.secrets.masked(&text).into_owned();
    let failures: Vec<String> = failures.map(masked).collect();
    let flat = flat(objects.iter()).into_iter();
    let mut wanted: Vec<Recorded> = flat.map(Recorded::of).collect();
    wanted.extend(previews.iter().map(|preview| preview.object.clone()));
    let recorded = objects_of(&InstanceStatus::of(&instance));
    let dropped = dropped(&spec, &recorded, &wanted, &owner.namespace);
    let mut items = all_compared(state, previews).await?;
    items.extend(dropped);
    Ok(json!({
        "kind": "TemplateInstancePreview",
        "apiVersion": instance.group().api_version(),
        "metadata": {"name": instance.name(), "namespace": instance.namespace()},
        "items": items,
        "failures": failures,
    }))
}

/// Compares all objects before and after, with a key of this response for hidden values.
async fn all_compared(state: &State, previews: Vec<Preview>) -> Result<Vec<Value>> {
    let mut key = [0; 32];
    let filled = getrandom::fill(&mut key);
    filled.map_err(|_| Status::internal("cannot generate random numbers"))?;
    let compared = state.limited(move |limits| {
        let mut items = Vec::new();
        for preview in previews {
            if (limits.is_late)() {
                let why = "the objects take too long to compare";
                return Err(Status::new(504, "Timeout", why));
            }
            items.push(compared(preview, &key));
        }
        Ok(items)
    });
    compared.await
}

/// Returns the objects that the instance would not create any more.
fn dropped(spec: &Value, recorded: &[Recorded], wanted: &[Recorded], own: &str) -> Vec<Value> {
    let mut keys = BTreeSet::new();
    for one in wanted {
        let (group, kind, namespace, name) = one.key();
        keys.insert((group, kind, namespace, name));
        if namespace.is_empty() {
            keys.insert((group, kind, own, name));
        }
    }
    let prune = spec.get("prune").and_then(Value::as_str).unwrap_or_default();
    let all = recorded.iter().filter(|one| !keys.contains(&one.key()));
    all.map(|one| {
        let is_kept = match prune {
            "All" => false,
            "None" => true,
            _ => holds_others(one),
        };
        item(one, if is_kept { "Keep" } else { "Delete" }, "")
    })
    .collect()
}

fn item(one: &Recorded, action: &str, diff: &str) -> Value {
    let mut item = json!(one);
    if let Some(fields) = item.as_object_mut() {
        fields.shift_remove("uid");
        fields.insert("action".to_owned(), json!(action));
        if !diff.is_empty() {
            fields.insert("diff".to_owned(), json!(diff));
        }
    }
    item
}

/// Compares an object before and after.
fn compared(preview: Preview, key: &[u8]) -> Value {
    let Preview { object, before, after } = preview;
    let is_secret = (object.group(), object.kind.as_str()) == ("", "Secret");
    let key = [key, format!("{:?}", object.key()).as_bytes()].concat();
    let text = |value: Value| {
        let value = shown(value, is_secret.then_some(&key));
        String::from_utf8_lossy(&yaml(value.to_string().as_bytes())).into_owned()
    };
    let action = if before.is_some() { "Change" } else { "Create" };
    let before = before.map(text).unwrap_or_default();
    let mut diff = unified(&before, &text(after), "", "");
    if diff.is_empty() {
        return item(&object, "Unchanged", "");
    }
    // Its header has names of files.
    diff = diff.lines().skip(2).fold(String::new(), |diff, line| diff + line + "\n");
    if diff.len() > MAX_DIFF {
        diff.truncate(diff.floor_char_boundary(MAX_DIFF));
        diff.push_str("…\n");
    }
    item(&object, action, &diff)
}

/// Removes from an object what the cluster writes, and replaces the values of a Secret.
fn shown(mut value: Value, key: Option<&[u8]>) -> Value {
    let Some(fields) = value.as_object_mut() else {
        return value;
    };
    fields.shift_remove("status");
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in OF_CLUSTER {
            metadata.shift_remove(field);
        }
    }
    let Some(key) = key else {
        return value;
    };
    // It has the values, too.
    if let Some(metadata) = fields.get_mut("metadata")
        && let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut)
    {
        annotations.shift_remove(LAST_APPLIED);
    }
    for field in ["data", "stringData"] {
        let entries = fields.get_mut(field).and_then(Value::as_object_mut);
        for (name, value) in entries.into_iter().flatten() {
            *value = json!(hidden(&json!([name, value]).to_string(), key));
        }
    }
    value
}

/// Returns a text that is equal for equal values of an entry of an object, and tells nothing else: who
/// adds objects with tried values learns nothing.
fn hidden(value: &str, key: &[u8]) -> String {
    let hash = Sha256::new().chain_update(key).chain_update(value).finalize();
    let [a, b, c, d, ..] = hash.0;
    format!("hidden ({:08x})", u32::from_be_bytes([a, b, c, d]))
}

fn refused(problem: Problem) -> Box<Status> {
    match problem.reason {
        "Forbidden" => Status::new(403, "Forbidden", problem.message),
        _ => Status::new(422, "Invalid", problem.message),
    }
}

fn stopped(stop: Stop) -> Box<Status> {
    match stop {
        Stop::Store(status) => status,
        Stop::Changed => Status::unavailable("the instance has changed; try again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_equal_only_in_one_entry_of_a_response() {
        let secret = json!({"kind": "Secret", "data": {"pin": "NDcxMQ==", "tried": "NDcxMQ=="}});
        let one = shown(secret.clone(), Some(b"key"));
        assert_eq!(one, shown(secret.clone(), Some(b"key")));
        assert_ne!(one["data"]["pin"], one["data"]["tried"]);
        let other = shown(secret, Some(b"other"));
        assert_ne!(one["data"]["pin"], other["data"]["pin"]);
    }
}
