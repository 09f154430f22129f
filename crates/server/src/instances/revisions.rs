//! Earlier versions of an instance: when each was applied, by whom, and how it ended.

use serde_json::{Value, json};

use super::status::without_digest;
use super::store::{Context, Instance, Plan, Stop, beside, unavailable};
use crate::api::{Call, State, render};
use crate::http::Answer;
use crate::request::Scope;
use krm_template_server_core::{Group, Item, Result as Answered, Status, rfc3339, store::Error};

/// The number of revisions that are kept, unless `spec.revisionHistoryLimit` says another one.
const KEPT: usize = 10;

/// The largest number of revisions of an instance that are read at once.
const MOST: usize = 200;

/// Returns the key of a revision. Keys have the order of their numbers.
fn key(instance: &Instance, number: u64) -> String {
    format!("{}/{number:010}", instance.beside("instancerevisions"))
}

/// Reads a revision.
async fn item(context: &Context, key: &str) -> Result<Option<(Item, Value)>, Stop> {
    let item = context.state.store.get(key).await;
    let item = item.map_err(|error| unavailable(&error))?;
    Ok(item.map(|item| {
        let revision = serde_json::from_slice(&item.value).unwrap_or_default();
        (item, revision)
    }))
}

fn of_uid(revision: &Value, uid: &str) -> bool {
    revision.get("uid").and_then(Value::as_str) == Some(uid)
}

/// Records the beginning of a revision.
pub(super) async fn begin(
    context: &Context,
    instance: &Instance,
    plan: &Plan,
    hash: &str,
) -> Result<(), Stop> {
    let mut spec = instance.spec();
    let requester = spec.as_object_mut().and_then(|spec| spec.shift_remove("requester"));
    let username = requester.as_ref().and_then(|one| one.get("username").cloned());
    let revision = json!({
        "revision": plan.revision,
        "uid": instance.uid,
        "generation": instance.generation(),
        "time": rfc3339(jiff::Timestamp::now()),
        "requester": username.unwrap_or_default(),
        "templateHash": hash,
        "outcome": "Progressing",
        "spec": spec,
    });
    let store = &context.state.store;
    let key = key(instance, plan.revision);
    let bytes = revision.to_string();
    let written = match item(context, &key).await? {
        Some((_, known)) if of_uid(&known, &instance.uid) => Ok(0),
        // It belongs to an instance of this name that is gone.
        Some((item, _)) => store.update(&key, bytes.into(), item.revision).await,
        None => store.create(&key, bytes.into()).await,
    };
    match written {
        Ok(_) | Err(Error::Exists | Error::Missing | Error::Stale(_)) => {}
        Err(error) => return Err(unavailable(&error)),
    }
    forget(context, instance).await
}

/// Records how a revision ended.
pub(super) async fn end(
    context: &Context,
    instance: &Instance,
    number: u64,
    outcome: &str,
) -> Result<(), Stop> {
    let store = &context.state.store;
    let found = item(context, &key(instance, number)).await?;
    let found = found.filter(|(_, revision)| of_uid(revision, &instance.uid));
    let Some((item, mut revision)) = found else {
        return Ok(());
    };
    if let Some(fields) = revision.as_object_mut() {
        fields.insert("outcome".to_owned(), json!(outcome));
    }
    // Only for people, so that a lost write does no harm.
    let _ = store.update(&item.key, revision.to_string().into(), item.revision).await;
    Ok(())
}

/// Deletes the oldest revisions, if there are too many.
async fn forget(context: &Context, instance: &Instance) -> Result<(), Stop> {
    let spec = instance.spec();
    let limit = spec.get("revisionHistoryLimit").and_then(Value::as_u64);
    // The current one is always kept.
    let kept = limit.map_or(KEPT, |limit| usize::try_from(limit).unwrap_or(KEPT)).max(1);
    let store = &context.state.store;
    let prefix = format!("{}/", instance.beside("instancerevisions"));
    let page = store.list(&prefix, None, 0, None).await;
    let page = page.map_err(|error| unavailable(&error))?;
    let surplus = page.items.len().saturating_sub(kept);
    for item in page.items.iter().take(surplus) {
        match store.delete(&item.key, item.revision).await {
            Ok(_) | Err(Error::Missing | Error::Stale(_)) => {}
            Err(error) => return Err(unavailable(&error)),
        }
    }
    Ok(())
}

/// Returns the revisions of an instance with a uid, oldest first.
pub(crate) async fn list(
    state: &State,
    (group, namespace, name): (Group, &str, &str),
    uid: &str,
) -> Answered<Vec<Value>> {
    let prefix = format!("{}/", beside(group, "instancerevisions", namespace, name));
    let page = state.store.list(&prefix, None, MOST, None).await;
    let page = page.map_err(|error| Status::unavailable(error.to_string()))?;
    let revisions = page.items.iter();
    let revisions = revisions
        .filter_map(|item| serde_json::from_slice::<Value>(&item.value).ok())
        .filter(|revision| of_uid(revision, uid));
    let mut revisions: Vec<Value> = revisions.collect();
    let all = revisions.iter_mut().filter_map(Value::as_object_mut);
    all.for_each(without_digest);
    Ok(revisions)
}

/// Answers with the revisions of an instance, oldest first.
pub(crate) async fn answer(call: &Call<'_>, name: &str) -> Answered<Answer> {
    let shown = call.shown(Scope::One)?;
    let item = call.found(name).await?;
    let stored = crate::api::resource_request::stored(&item)?;
    let at = (call.group, call.namespace, name);
    let revisions = self::list(call.state, at, stored.uid()).await?;
    let list = json!({
        "kind": "TemplateInstanceRevisionList",
        "apiVersion": call.group.api_version(),
        "metadata": {},
        "items": revisions,
    });
    let text = format!("{list}\n").into_bytes();
    Ok(render::finished(200, shown, text))
}
