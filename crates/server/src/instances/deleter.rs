//! The user who deletes an instance, or who last asked for it: its objects are deleted with their
//! permissions if the requester may not do it.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::standing;
use super::store::{Context, Instance, Stop, beside, unavailable};
use crate::api::Call;
use crate::validation::instance;
use krm_template_server_core::{Item, Result as Answered, User, store::Error};

/// The resource in the keys of the store.
const KEYS: &str = "instancedeleters";

/// The users of the cluster's own controllers. They delete what is in a namespace again and again, and
/// this server never acts as one of them.
const CONTROLLERS: &str = "system:serviceaccount:kube-system:";

/// Records the user of a request that deletes an instance, before the instance is marked. Whoever
/// deletes it again takes over.
pub(crate) async fn note(call: &Call<'_>, name: &str, uid: &str) -> Answered<()> {
    let store = &call.state.store;
    let key = beside(call.group, KEYS, call.namespace, name);
    let is_listed = call.state.authenticator.lists(call.user);
    let user = instance::requester(call.user);
    let deleter = json!({"uid": uid, "user": user, "time": now(), "isListed": is_listed});
    let bytes = deleter.to_string();
    let found = store.get(&key).await;
    let written = match found.map_err(|error| call.refused(name, &error))? {
        Some(item) if call.user.name.starts_with(CONTROLLERS) && of_uid(&item, uid).is_some() => {
            return Ok(());
        }
        Some(item) => store.update(&key, bytes.into(), item.revision).await,
        None => store.create(&key, bytes.into()).await,
    };
    match written {
        // Another deletion at the same time has written its user.
        Ok(_) | Err(Error::Stale(_) | Error::Exists | Error::Missing) => Ok(()),
        Err(error) => Err(call.refused(name, &error)),
    }
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

/// Returns a record if it is about an instance with this uid.
fn of_uid(item: &Item, uid: &str) -> Option<Value> {
    let deleter = serde_json::from_slice::<Value>(&item.value).ok()?;
    (deleter.get("uid")?.as_str()? == uid).then_some(deleter)
}

/// Returns the user who deletes an instance, if it is recorded and still counts.
pub(super) async fn of(context: &Context, instance: &Instance) -> Result<Option<User>, Stop> {
    let item = context.state.store.get(&instance.beside(KEYS)).await;
    let item = item.map_err(|error| unavailable(&error))?;
    let deleter = item.and_then(|item| of_uid(&item, &instance.uid));
    let deleter = deleter.unwrap_or_default();
    // Earlier versions did not record it.
    let since = deleter.get("time").and_then(Value::as_i64);
    let since = since.unwrap_or_else(|| instance.time("deletionTimestamp"));
    let is_listed = deleter.get("isListed").and_then(Value::as_bool);
    let is_listed = is_listed.unwrap_or_else(|| context.state.authenticator.lists_all());
    let user = deleter.get("user").and_then(instance::user);
    let user = user.filter(|user| standing::ended(context, user, since, is_listed).is_none());
    Ok(user.map(super::store::without_tokens))
}
